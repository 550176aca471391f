//! `@schema/secret`: values that are never shown.
//!
//! [`gather`] collects the values that inputs give for secret nodes in the run's [`SecretValues`].
//! [`redact`] returns a copy of values without secrets, for inspection.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ytterby_diag::{FileId, Pos, REDACTED, Sources};
use ytterby_starlark::Value;
use ytterby_text::spelling;

use super::{MapType, Slot, Type};
use crate::annotation::Ann;
use crate::node::{Annotated, Document, FragmentData, Node, Scalar, from_value, key_text, scalar_to_value};
use crate::secrets::SecretValues;

/// Collects secrets from values and their schema.
struct Gatherer<'s> {
    secrets: &'s mut SecretValues,
    /// For maps with undeclared keys: the items that contain secrets, by their indexes in the type.
    secret_items: HashMap<*const MapType, Rc<[usize]>>,
}

/// Maximum number of names to compare undeclared keys with; beyond that, every undeclared value
/// counts as secret.
const COMPARISONS: usize = 200_000;

/// Collects the scalars of `node` that `slot` declares secret, and those under keys with similar
/// names.
pub(crate) fn gather(secrets: &mut SecretValues, node: &Node, slot: &Slot) {
    Gatherer::new(secrets).value(node, Some(slot), false);
}

/// Collects the secrets in a schema document itself.
pub(crate) fn gather_annotated(secrets: &mut SecretValues, doc: &Document) {
    Gatherer::new(secrets).annotated(doc, false);
}

impl Gatherer<'_> {
    fn new(secrets: &mut SecretValues) -> Gatherer<'_> {
        Gatherer { secrets, secret_items: HashMap::new() }
    }

    fn value(&mut self, node: &Node, slot: Option<&Slot>, secret: bool) {
        // A map instead of an array, or the other way round, may contain anything.
        let is_misplaced = |slot: &Slot| !is_of_kind(node, slot) && holds_secret(slot);
        let secret = secret || slot.is_some_and(|slot| slot.secret || is_misplaced(slot));
        if let Some(Type::Shapes(shapes)) = slot.map(|slot| &slot.ty) {
            shapes.slots.iter().for_each(|shape| crate::deep(|| self.value(node, Some(shape), secret)));
        }
        match node {
            Node::Scalar(scalar) if secret => self.scalar(scalar),
            Node::Scalar(_) => {}
            Node::Map(map) => {
                let ty = slot.and_then(Slot::as_map);
                for item in map.iter() {
                    let slot = ty.and_then(|ty| declared(ty, &item.key).or_else(|| self.meant(ty, &item.key)));
                    self.item(item.pos, &item.value, slot, secret);
                }
            }
            Node::Array(array) => {
                let slot = slot.and_then(Slot::as_array).map(|ty| &ty.item);
                array.items.iter().for_each(|item| self.item(item.pos, &item.value, slot, secret));
            }
        }
    }

    fn item(&mut self, pos: Pos, value: &Node, slot: Option<&Slot>, secret: bool) {
        let secret = secret || slot.is_some_and(|slot| slot.secret);
        if secret && pos.is_known() {
            self.secrets.items.insert(pos);
        }
        if secret || slot.is_some() {
            crate::deep(|| self.value(value, slot, secret));
        }
    }

    /// The item with secrets whose name is similar to an undeclared key.
    fn meant<'t>(&mut self, ty: &'t Rc<MapType>, key: &Scalar) -> Option<&'t Slot> {
        let find =
            || ty.items.iter().enumerate().filter(|(_, item)| holds_secret(&item.slot)).map(|(at, _)| at).collect();
        let secret_items = self.secret_items.entry(Rc::as_ptr(ty)).or_insert_with(find).clone();
        let first = secret_items.first()?;
        self.secrets.compared += secret_items.len();
        if self.secrets.compared > COMPARISONS {
            return Some(&ty.items[*first].slot);
        }
        let key = key_text(key);
        let is_near = |at: &&usize| is_near(&key, &key_text(&ty.items[**at].key));
        secret_items.iter().find(is_near).map(|at| &ty.items[*at].slot)
    }

    fn scalar(&mut self, scalar: &Scalar) {
        if scalar.is_null() {
            return;
        }
        let value = scalar_to_value(scalar);
        self.secrets.texts.add(&value.to_text().to_string());
        let repr = value.repr().to_string();
        if repr != "\"\"" {
            self.secrets.texts.add(&repr);
        }
    }

    fn annotated(&mut self, item: &dyn Annotated, secret: bool) {
        let secret = secret || item.has(Ann::SchemaSecret);
        if secret {
            if item.pos().is_known() && matches!(item.value(), Node::Scalar(_)) {
                self.secrets.items.insert(item.pos());
            }
            for ann in item.annotations().iter().filter(|ann| ann.ann == Some(Ann::SchemaDefault)) {
                ann.args.iter().for_each(|arg| self.argument(arg));
            }
        }
        match item.value() {
            Node::Scalar(scalar) if secret => self.scalar(scalar),
            Node::Scalar(_) => {}
            Node::Map(map) => map.iter().for_each(|item| crate::deep(|| self.annotated(item, secret))),
            Node::Array(array) => array.items.iter().for_each(|item| crate::deep(|| self.annotated(item, secret))),
        }
    }

    fn argument(&mut self, value: &Value) {
        if let Ok(FragmentData::Node(node)) = from_value(value) {
            self.value(&node, None, true);
        }
    }
}

/// Whether a name is so similar to another that it may have been meant.
fn is_near(name: &str, other: &str) -> bool {
    let by_letters = spelling::closest(name, [other], spelling::tolerance_of_short(name));
    by_letters.is_some() || spelling::nearest(name, [other]).is_some()
}

/// The names of all secrets of a schema. If a values file cannot be parsed, lines with such a name
/// are not shown.
pub(crate) fn secret_names(slot: &Slot) -> HashSet<String> {
    fn visit(slot: &Slot, found: &mut HashSet<String>) {
        match &slot.ty {
            Type::Map(map) => {
                for item in map.all_items() {
                    if holds_secret(&item.slot) {
                        found.insert(key_text(&item.key).into_owned());
                        crate::deep(|| visit(&item.slot, found));
                    }
                }
            }
            Type::Array(array) => crate::deep(|| visit(&array.item, found)),
            Type::Shapes(shapes) => shapes.slots.iter().for_each(|shape| crate::deep(|| visit(shape, found))),
            Type::Any | Type::Scalar(_) | Type::Union(_) => {}
        }
    }
    let mut found = HashSet::new();
    visit(slot, &mut found);
    found
}

/// Hides the lines of an unparsable source that contain the name of a secret, and the lines below
/// that belong to them.
pub(crate) fn hide_lines_naming(sources: &Sources, file: FileId, names: &HashSet<String>) {
    let Some(source) = sources.get(file) else { return };
    let names_secret = |line: &str| {
        let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
        words.filter(|word| !word.is_empty()).any(|word| names.iter().any(|name| word == name || is_near(word, name)))
    };
    // The indentation of a hidden line: following lines with a deeper indentation belong to it.
    let mut hidden_from: Option<usize> = None;
    for number in 1.. {
        let (Some(range), Some(line)) = (source.line_range(number), source.line_text(number)) else { break };
        let indent = line.len() - line.trim_start().len();
        let belongs = hidden_from.is_some_and(|from| indent > from || line.trim().is_empty());
        if names_secret(&line) {
            hidden_from = Some(hidden_from.filter(|from| belongs && *from < indent).unwrap_or(indent));
        } else if !belongs {
            hidden_from = None;
            continue;
        }
        sources.hide(file, std::iter::once((range.start + indent.min(range.len())) as u32..range.end as u32));
    }
}

/// Whether a slot contains something secret.
fn holds_secret(slot: &Slot) -> bool {
    fn inside(ty: &Type) -> bool {
        match ty {
            Type::Any | Type::Scalar(_) => false,
            Type::Map(map) => map.all_items().any(|item| crate::deep(|| holds_secret(&item.slot))),
            Type::Array(array) => crate::deep(|| holds_secret(&array.item)),
            Type::Union(union) => union.members.iter().any(inside),
            Type::Shapes(shapes) => shapes.slots.iter().any(|shape| crate::deep(|| holds_secret(shape))),
        }
    }
    slot.secret || inside(&slot.ty)
}

/// Whether a map is where a map is allowed, or an array where an array is allowed.
fn is_of_kind(node: &Node, slot: &Slot) -> bool {
    match (node, &slot.ty) {
        (Node::Scalar(_), _) | (_, Type::Any) => true,
        (_, Type::Shapes(shapes)) => shapes.slots.iter().any(|shape| is_of_kind(node, shape)),
        (Node::Map(_), _) => slot.as_map().is_some(),
        (Node::Array(_), _) => slot.as_array().is_some(),
    }
}

/// The slot of a key, without calling functions: a key that patterns may match is secret if any
/// pattern is.
fn declared<'a>(ty: &'a MapType, key: &Scalar) -> Option<&'a Slot> {
    let literal = ty.literal(key);
    literal
        .or_else(|| ty.patterns.iter().find(|item| item.slot.secret))
        .or_else(|| ty.patterns.first())
        .map(|i| &i.slot)
}

/// A value with secrets replaced.
pub(crate) fn redact(node: &Node, slot: &Slot) -> Node {
    redact_beside(node, slot, Unknown::Shown)
}

/// The same for a value that may not match the schema: undeclared parts are replaced too, because
/// they may be secrets under a misspelt key.
pub(crate) fn redact_misfit(node: &Node, slot: &Slot) -> Node {
    redact_beside(node, slot, Unknown::Hidden)
}

/// How to treat undeclared items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Shown,
    Hidden,
}

fn redact_beside(node: &Node, slot: &Slot, unknown: Unknown) -> Node {
    if slot.secret {
        return hidden(node);
    }
    match (node, &slot.ty) {
        (Node::Map(map), ty) if ty.as_map().is_some() => {
            let ty = ty.as_map().expect("just seen");
            let mut result = (**map).clone();
            for item in result.iter_mut() {
                match declared(ty, &item.key) {
                    Some(slot) => item.value = crate::deep(|| redact_beside(&item.value, slot, unknown)),
                    None if unknown == Unknown::Hidden => item.value = hidden(&item.value),
                    None => {}
                }
            }
            Node::map(result)
        }
        (Node::Array(array), ty) if ty.as_array().is_some() => {
            let ty = ty.as_array().expect("just seen");
            let mut result = (**array).clone();
            for item in &mut result.items {
                item.value = crate::deep(|| redact_beside(&item.value, &ty.item, unknown));
            }
            Node::array(result)
        }
        // Another shape may declare what one shape does not.
        (_, Type::Shapes(shapes)) => {
            let shown = shapes.slots.iter().fold(node.clone(), |node, slot| crate::deep(|| redact(&node, slot)));
            let holds_secret = unknown == Unknown::Hidden && shapes.slots.iter().any(holds_secret);
            if holds_secret { without_undeclared(shown, &shapes.slots.iter().collect::<Vec<_>>()) } else { shown }
        }
        _ if unknown == Unknown::Hidden && !is_of_kind(node, slot) && holds_secret(slot) => hidden(node),
        _ => node.clone(),
    }
}

/// A value without the parts that none of these slots declares.
fn without_undeclared(node: Node, slots: &[&Slot]) -> Node {
    let below = |value: &Node, inner: Vec<&Slot>| match inner.as_slice() {
        [] => hidden(value),
        inner => crate::deep(|| without_undeclared(value.clone(), inner)),
    };
    match &node {
        Node::Scalar(_) => node,
        Node::Map(map) => {
            let mut result = (**map).clone();
            for item in result.iter_mut() {
                let inner = slots.iter().filter_map(|slot| declared(slot.ty.as_map()?, &item.key)).collect();
                item.value = below(&item.value, inner);
            }
            Node::map(result)
        }
        Node::Array(array) => {
            let mut result = (**array).clone();
            for item in &mut result.items {
                let inner = slots.iter().filter_map(|slot| Some(&slot.ty.as_array()?.item)).collect();
                item.value = below(&item.value, inner);
            }
            Node::array(result)
        }
    }
}

fn hidden(node: &Node) -> Node {
    match node {
        Node::Scalar(_) => Node::str(REDACTED),
        Node::Map(map) => {
            let mut result = (**map).clone();
            result.iter_mut().for_each(|item| item.value = crate::deep(|| hidden(&item.value)));
            Node::map(result)
        }
        Node::Array(array) => {
            let mut result = (**array).clone();
            result.items.iter_mut().for_each(|item| item.value = crate::deep(|| hidden(&item.value)));
            Node::array(result)
        }
    }
}
