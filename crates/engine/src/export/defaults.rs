//! Defaults that violate their own rules.
//!
//! `name: ""` with `min_len=1` is how authors make a value required. Kubernetes refuses a schema
//! with invalid defaults, so such nodes have no default in a CRD: they are required, and so are the
//! maps around them.

use std::borrow::Cow;
use std::collections::HashSet;

use super::cel;
use super::schema::is_made_of_items;
use crate::node::{Map, MapItem, Node, Scalar};
use crate::schema::{AllowedKeys, MapItemType, MapType, Presence, Schema, Slot, Type};
use crate::validate::cel::CelProgram;

/// The slots with an invalid default.
pub(super) struct Unfit(HashSet<*const Slot>);

impl Unfit {
    pub fn in_schema(schema: &Schema) -> Unfit {
        let mut unfit = Unfit(HashSet::new());
        unfit.visit(&schema.root);
        unfit
    }

    pub fn contains(&self, slot: &Slot) -> bool {
        self.0.contains(&std::ptr::from_ref(slot))
    }

    /// Visits a slot and all below it.
    fn visit(&mut self, slot: &Slot) {
        crate::deep(|| {
            let is_whole = self.visit_type(&slot.ty);
            let is_made = slot.ty.as_map().is_some_and(|ty| is_made_of_items(&slot.default, ty));
            let stands = match is_made {
                true => is_whole && rules_hold(slot, &slot.default),
                false => holds(slot, &slot.default),
            };
            if !stands {
                self.0.insert(std::ptr::from_ref(slot));
            }
        });
    }

    /// Whether the default of a map, composed of its items' defaults, is valid as far as these are.
    fn visit_type(&mut self, ty: &Type) -> bool {
        match ty {
            Type::Map(map) => {
                let mut is_whole = true;
                for item in map.all_items() {
                    self.visit(&item.slot);
                    let must_be_given = item.slot.required.is_some() || self.contains(&item.slot);
                    is_whole &= match item.presence {
                        Presence::Always => !must_be_given,
                        _ => !item.presence.must_be_given(),
                    };
                }
                is_whole && count_fits(map, 0)
            }
            Type::Array(array) => {
                self.visit(&array.item);
                true
            }
            Type::Union(union) => {
                let mut is_whole = true;
                for member in &union.members {
                    is_whole &= self.visit_type(member);
                }
                is_whole
            }
            Type::Any | Type::Scalar(_) | Type::Shapes(_) => true,
        }
    }
}

/// Whether this number of keys is allowed in a map without declared keys.
fn count_fits(ty: &MapType, count: usize) -> bool {
    let ([], [MapItemType { presence: Presence::Pattern(rule), .. }]) = (&ty.items[..], &ty.patterns[..]) else {
        return true;
    };
    let (lowest, highest) = rule.expects.bounds();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    lowest.is_none_or(|lowest| count >= lowest) && highest.is_none_or(|highest| count <= highest)
}

/// Whether a value is valid for a slot, by everything in a CRD.
fn holds(slot: &Slot, value: &Node) -> bool {
    crate::deep(|| rules_hold(slot, value) && parts_hold(&slot.ty, value))
}

fn parts_hold(ty: &Type, value: &Node) -> bool {
    match value {
        Node::Scalar(_) => true,
        Node::Array(list) => match ty.as_array() {
            Some(ty) => list.items.iter().all(|item| holds(&ty.item, &item.value)),
            None => true,
        },
        Node::Map(map) => match ty.as_map() {
            Some(ty) => {
                count_fits(ty, map.len())
                    && map.iter().all(|item| match declared(ty, &item.key) {
                        Some(declared) => holds(&declared.slot, &item.value),
                        None => true,
                    })
            }
            None => true,
        },
    }
}

/// The item that decides about a key, unless a function does.
fn declared<'t>(ty: &'t MapType, key: &Scalar) -> Option<&'t MapItemType> {
    let accepts = |item: &&MapItemType| match (&item.presence, key) {
        (Presence::Pattern(rule), Scalar::Str(text)) => match &rule.allowed {
            Some(AllowedKeys::Any) => true,
            Some(AllowedKeys::Matching(regexp, _)) => regexp.is_match(text),
            _ => false,
        },
        _ => false,
    };
    ty.literal(key).or_else(|| ty.patterns.iter().find(accepts))
}

/// Whether a value satisfies the rules of a slot, as far as exports contain them.
pub(super) fn rules_hold(slot: &Slot, value: &Node) -> bool {
    hold(slot, &without_nulls(value, slot))
}

/// Whether the default of a slot satisfies its rules, as far as known without running code.
pub(super) fn default_holds(slot: &Slot) -> bool {
    hold(slot, &slot.default)
}

fn hold(slot: &Slot, value: &Node) -> bool {
    let Some(rules) = &slot.rules else { return true };
    rules.hold_in_exports(value, |function| {
        let expression = cel::translate(function, slot)?;
        Some(
            CelProgram::compile(&expression)
                .is_ok_and(|program| program.holds(&without_nulls(value, slot)) == Ok(true)),
        )
    })
}

/// A map as Kubernetes sees it: fields whose default is null are absent.
fn without_nulls<'v>(value: &'v Node, slot: &Slot) -> Cow<'v, Node> {
    match (value, slot.ty.as_map()) {
        (Node::Map(map), Some(ty)) => {
            let is_absent = |item: &&MapItem| item.value.is_null() && ty.literal(&item.key).is_some();
            match map.iter().any(|item| is_absent(&item)) {
                true => Cow::Owned(Node::map(map.iter().filter(|item| !is_absent(item)).cloned().collect::<Map>())),
                false => Cow::Borrowed(value),
            }
        }
        _ => Cow::Borrowed(value),
    }
}
