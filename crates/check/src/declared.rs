//! The values that a schema declares, as a table for following code.

use std::collections::HashMap;

use ytterby::facts::{DeclaredShape, DeclaredValue, PlainData};
use ytterby_diag::Pos;

/// The index of a [`TrackedValue`] in a [`TrackedValues`].
pub(crate) type ValueId = usize;

/// All values of a schema; the first one is the document.
pub(crate) struct TrackedValues {
    pub values: Vec<TrackedValue>,
}

/// One declared value.
pub(crate) struct TrackedValue {
    pub key: String,
    pub parent: Option<ValueId>,
    pub pos: Pos,
    pub shape: TrackedType,
    pub nullable: bool,
    pub optional: bool,
    pub required: bool,
    pub secret: bool,
    pub deprecated: bool,
    pub default: PlainData,
}

/// The type of a value, as far as code can be followed into it.
pub(crate) enum TrackedType {
    /// Any type, or one of several.
    Any,
    Scalar,
    Map {
        items: Vec<ValueId>,
        /// The first item with each key.
        keys: HashMap<String, ValueId>,
        open: bool,
    },
    Array(ValueId),
}

/// Builds the table of a schema.
pub(crate) fn table(root: DeclaredValue) -> TrackedValues {
    let mut table = TrackedValues { values: Vec::new() };
    table.add(root, None);
    table
}

impl TrackedValues {
    fn add(&mut self, value: DeclaredValue, parent: Option<ValueId>) -> ValueId {
        let id = self.values.len();
        let DeclaredValue { key, pos, shape, nullable, optional, required, secret, deprecated, default } = value;
        let secret = secret || parent.is_some_and(|parent| self.values[parent].secret);
        self.values.push(TrackedValue {
            key,
            parent,
            pos,
            shape: TrackedType::Any,
            nullable,
            optional,
            required,
            secret,
            deprecated,
            default,
        });
        let shape = stacker::maybe_grow(64 << 10, 1 << 20, || self.shape(shape, id));
        self.values[id].shape = shape;
        id
    }

    fn shape(&mut self, shape: DeclaredShape, id: ValueId) -> TrackedType {
        match shape {
            DeclaredShape::Any => TrackedType::Any,
            DeclaredShape::Scalar => TrackedType::Scalar,
            DeclaredShape::Map { items, open } => {
                let items: Vec<ValueId> = items.into_iter().map(|item| self.add(item, Some(id))).collect();
                let keys = items.iter().rev().map(|item| (self.values[*item].key.clone(), *item)).collect();
                TrackedType::Map { items, keys, open }
            }
            DeclaredShape::Array(item) => TrackedType::Array(self.add(*item, Some(id))),
            DeclaredShape::OneOf(members) => {
                // Scalar alternatives of a collection do not matter to code that reads its parts.
                let is_scalar = |member: &DeclaredShape| matches!(member, DeclaredShape::Scalar);
                let mut others: Vec<DeclaredShape> = members.into_iter().filter(|member| !is_scalar(member)).collect();
                match (others.pop(), others.is_empty()) {
                    (None, _) => TrackedType::Scalar,
                    (Some(one), true) => self.shape(one, id),
                    (Some(_), false) => TrackedType::Any,
                }
            }
        }
    }

    /// The child of a value with this key.
    pub fn child(&self, id: ValueId, key: &str) -> Option<ValueId> {
        match &self.values[id].shape {
            TrackedType::Map { keys, .. } => keys.get(key).copied(),
            _ => None,
        }
    }

    /// Whether it is a map with declared keys only.
    pub fn is_closed(&self, id: ValueId) -> bool {
        matches!(self.values[id].shape, TrackedType::Map { open: false, .. })
    }

    /// The children of a value.
    pub fn below(&self, id: ValueId) -> &[ValueId] {
        match &self.values[id].shape {
            TrackedType::Map { items, .. } => items,
            TrackedType::Array(item) => std::slice::from_ref(item),
            TrackedType::Any | TrackedType::Scalar => &[],
        }
    }

    /// Example: `db.ports[].name`.
    pub fn path(&self, id: ValueId) -> String {
        let value = &self.values[id];
        let Some(parent) = value.parent else { return String::new() };
        let above = self.path(parent);
        match (value.key.is_empty(), above.is_empty()) {
            (true, _) => format!("{above}[]"),
            (false, true) => value.key.clone(),
            (false, false) => format!("{above}.{}", value.key),
        }
    }

    /// The keys on the path to a value; `None` if the path contains an array.
    pub fn keys(&self, id: ValueId) -> Option<Vec<&str>> {
        let mut keys = Vec::new();
        let mut at = id;
        while let Some(parent) = self.values[at].parent {
            if self.values[at].key.is_empty() {
                return None;
            }
            keys.push(self.values[at].key.as_str());
            at = parent;
        }
        keys.reverse();
        Some(keys)
    }
}
