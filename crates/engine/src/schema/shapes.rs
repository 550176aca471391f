//! `@schema/one-of`, `@schema/any-of`, `@schema/all-of`: a value that has one of several shapes.
//!
//! While inputs are merged, such a node accepts anything. After the merge, [`Shapes::matching`]
//! finds the shapes that the value matches, and the first of them adds its defaults.

use std::rc::Rc;

use ytterby_diag::{Failure, Pos, SchemaBlock as Block};

use super::check::{self, CheckContext, Fit};
use super::compile::{Compiler, distribute_defaults_for_strings};
use super::placed;
use super::{Presence, Slot, Type};
use crate::annotation::{Ann, Annotation};
use crate::node::{Annotated, Document, Fragment, FragmentData, Map, Node, key_text};

/// How many of the shapes a value must match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Combination {
    /// Exactly one.
    One,
    /// At least one.
    Any,
    /// All; each applies to the keys that it declares.
    All,
}

/// The shapes of a node.
#[derive(Debug)]
pub(crate) struct Shapes {
    pub combination: Combination,
    pub slots: Vec<Slot>,
    /// The position of the annotation.
    pub pos: Pos,
}

const ANNOTATIONS: [(Ann, Combination); 3] =
    [(Ann::SchemaOneOf, Combination::One), (Ann::SchemaAnyOf, Combination::Any), (Ann::SchemaAllOf, Combination::All)];

/// Reads the annotations of a node, if it has one of these.
pub(super) fn read(compiler: &mut Compiler<'_>, node: &dyn Annotated) -> Result<Option<Slot>, Failure> {
    let mut found = ANNOTATIONS.iter().filter_map(|(ann, how)| node.annotation(*ann).map(|ann| (ann, *how)));
    let Some((ann, combination)) = found.next() else { return Ok(None) };
    let other = found.next().map(|(other, _)| other).or_else(|| node.annotation(Ann::SchemaType));
    if let Some(other) = other {
        let (one, two) = (ann.canonical_name(), other.canonical_name());
        let title = format!("Invalid schema - @{one} cannot be combined with @{two}");
        let block = Block::at(node.pos(), format!("@{one} and @{two}"), "one of them");
        return Err(block.annotation(ann.pos).annotation(other.pos).under(title));
    }
    if ann.args.len() < 2 || !ann.kwargs.is_empty() {
        return Err(syntax_error(ann, node.pos()));
    }
    let mut slots = Vec::with_capacity(ann.args.len());
    for value in &ann.args {
        let Some(fragment) = value.downcast::<Fragment>() else {
            let found = format!("{} in @{}", value.type_name(), ann.canonical_name());
            let block = Block::at(node.pos(), placed(found, "by", ann.pos), "2 or more schemas (yamlfragments)")
                .about(format!("syntax error in @{} annotation", ann.canonical_name()))
                .annotation(ann.pos);
            return Err(block.under("Invalid schema"));
        };
        let mut doc = shape_document(fragment, node.pos());
        if let Some(inherited) = node.annotation(Ann::SchemaValidationDefaultsForStrings)
            && !doc.has(Ann::SchemaValidationDefaultsForStrings)
        {
            doc.annotate(inherited.clone());
        }
        distribute_defaults_for_strings(compiler.cx.run, &mut doc)?;
        slots.push(compiler.slot(&doc)?);
    }
    compiler.check_inside_any(node.value())?;
    let shapes = Shapes { combination, slots, pos: ann.pos };
    let mut slot = Slot::of(Type::Shapes(Rc::new(shapes)), node.pos(), node.value().clone());
    slot.nullable = node.value().is_null() || node.has(Ann::SchemaNullable);
    if node.has(Ann::SchemaNullable) {
        slot.default = Node::NULL;
    }
    Ok(Some(slot))
}

fn syntax_error(ann: &Annotation, node: Pos) -> Failure {
    let count = ann.args.len();
    let name = ann.canonical_name();
    let found = match (ann.kwargs.is_empty(), count) {
        (false, _) => format!("keyword argument in @{name}"),
        (true, 0) => format!("missing value in @{name}"),
        (true, 1) => format!("1 value in @{name}"),
        (true, count) => format!("{count} values in @{name}"),
    };
    Block::at(node, placed(found, "by", ann.pos), "2 or more schemas")
        .about(format!("syntax error in @{name} annotation"))
        .annotation(ann.pos)
        .under("Invalid schema")
}

/// A fragment as a separate document. Its position is that of its first item.
pub(crate) fn shape_document(fragment: &Fragment, default_pos: Pos) -> Document {
    let value = match fragment.data() {
        FragmentData::Node(node) => node.clone(),
        FragmentData::Documents(docs) => match docs.items.first() {
            Some(doc) => return doc.clone(),
            None => Node::NULL,
        },
    };
    let first = match &value {
        Node::Map(map) => map.items().first().map(|item| item.pos),
        Node::Array(array) => array.items.first().map(|item| item.pos),
        Node::Scalar(_) => None,
    };
    Document::new(value, first.unwrap_or(default_pos))
}

/// The shapes that a value matches.
#[derive(Debug)]
pub(crate) struct Matching {
    /// The indexes of the shapes, from 0.
    pub shapes: Vec<usize>,
    /// The value with the defaults of the first of them (all-of: of all).
    pub filled: Node,
    /// Whether all-of fails for a reason that belongs to no single shape, such as keys that none
    /// declares.
    pub stray: bool,
}

/// Maximum number of keys to list of a shape.
const NAMED: usize = 20;

impl Shapes {
    /// The requirement, for documentation: `one of 2 shapes`.
    pub fn type_name(&self) -> String {
        let which = match self.combination {
            Combination::One => "one of",
            Combination::Any => "any of",
            Combination::All => "all of",
        };
        format!("{which} {} shapes", self.slots.len())
    }

    /// The shapes in words: `{kind, bucket (required)}, or {path}`.
    pub fn in_words(&self) -> String {
        let shapes: Vec<String> = self.slots.iter().map(shape_in_words).collect();
        shapes.join(if self.combination == Combination::All { ", and " } else { ", or " })
    }

    /// The required number of shapes.
    pub fn must_be(&self) -> String {
        let count = self.slots.len();
        match self.combination {
            Combination::One => format!("exactly one of the {count} shapes"),
            Combination::Any => format!("at least one of the {count} shapes"),
            Combination::All => format!("all of the {count} shapes"),
        }
    }

    /// Whether a value matches enough shapes, otherwise what was found.
    pub fn verdict(&self, matching: &Matching) -> Result<(), String> {
        let numbers: Vec<String> = matching.shapes.iter().map(|at| (at + 1).to_string()).collect();
        match (self.combination, &numbers[..]) {
            (Combination::One, [_]) => Ok(()),
            (Combination::One | Combination::Any, []) => Err("matches no shape".to_owned()),
            (Combination::Any, _) => Ok(()),
            (Combination::One, many) => Err(format!("matches shapes {}", list(many))),
            (Combination::All, all) if all.len() == self.slots.len() && !matching.stray => Ok(()),
            (Combination::All, all) if all.len() == self.slots.len() => {
                Err("has a key that no shape declares".to_owned())
            }
            (Combination::All, _) => {
                let lacking = (0..self.slots.len()).filter(|at| !matching.shapes.contains(at));
                let lacking: Vec<String> = lacking.map(|at| (at + 1).to_string()).collect();
                let noun = if lacking.len() == 1 { "shape" } else { "shapes" };
                Err(format!("does not match {noun} {}", list(&lacking)))
            }
        }
    }

    /// The shapes that `value` matches. `holds` decides whether the value, completed from a shape,
    /// satisfies its rules and has all required items.
    pub fn matching(
        &self,
        cx: &mut CheckContext<'_>,
        value: &Node,
        holds: &mut dyn FnMut(&mut CheckContext<'_>, &Node, &Slot) -> Result<bool, Failure>,
    ) -> Result<Matching, Failure> {
        let mut matching = Matching { shapes: Vec::new(), filled: value.clone(), stray: false };
        for (at, slot) in self.slots.iter().enumerate() {
            let part = self.part(cx, value, slot)?;
            let filled = match check::fit(cx, &part, slot)? {
                Fit::Not => continue,
                Fit::AsIs => part,
                Fit::Filled(filled) => filled,
            };
            if !holds(cx, &filled, slot)? {
                continue;
            }
            match self.combination {
                Combination::All => fill_more(cx, &mut matching.filled, slot)?,
                _ if matching.shapes.is_empty() => matching.filled = filled,
                _ => {}
            }
            matching.shapes.push(at);
        }
        if self.combination == Combination::All {
            matching.stray = self.has_stray_key(cx, value)?;
        }
        Ok(matching)
    }

    /// The part of a value that a shape applies to: with all-of the keys that it declares,
    /// otherwise everything.
    pub fn part(&self, cx: &mut CheckContext<'_>, value: &Node, slot: &Slot) -> Result<Node, Failure> {
        match self.combination {
            Combination::All => declared_part(cx, value, slot),
            Combination::One | Combination::Any => Ok(value.clone()),
        }
    }

    fn has_stray_key(&self, cx: &mut CheckContext<'_>, value: &Node) -> Result<bool, Failure> {
        let Node::Map(map) = value else { return Ok(false) };
        for item in map.iter() {
            let mut known = false;
            for slot in &self.slots {
                known |= match slot.as_map() {
                    Some(ty) => cx.item_for(ty, &item.key)?.is_some(),
                    None => matches!(slot.ty, Type::Any),
                };
            }
            if !known {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn shape_in_words(slot: &Slot) -> String {
    let null = if slot.nullable { " or null" } else { "" };
    let Type::Map(map) = &slot.ty else { return format!("{}{null}", slot.ty.name_besides_null()) };
    let items = map.all_items().filter(|item| !matches!(item.presence, Presence::Removed(_)));
    let named = items.map(|item| match (&item.presence, &item.slot.required) {
        (Presence::Pattern(rule), _) => rule.allowed.as_ref().map(super::AllowedKeys::keys).unwrap_or_default(),
        (_, Some(_)) => format!("{} (required)", key_text(&item.key)),
        (_, None) => key_text(&item.key).into_owned(),
    });
    let mut named: Vec<String> = named.take(NAMED + 1).collect();
    if named.len() > NAMED {
        named[NAMED] = "…".to_owned();
    }
    format!("{{{}}}{null}", named.join(", "))
}

/// The items of a map that a shape declares; other values unchanged.
fn declared_part(cx: &mut CheckContext<'_>, value: &Node, slot: &Slot) -> Result<Node, Failure> {
    let (Node::Map(map), Some(ty)) = (value, slot.as_map()) else { return Ok(value.clone()) };
    let mut part = Map::with_capacity(map.len());
    for item in map.iter() {
        if cx.item_for(ty, &item.key)?.is_some() {
            part.push(item.clone());
        }
    }
    Ok(Node::map(part))
}

/// Adds the defaults of a shape that the value still lacks.
fn fill_more(cx: &mut CheckContext<'_>, value: &mut Node, slot: &Slot) -> Result<(), Failure> {
    let part = declared_part(cx, value, slot)?;
    if let Fit::Filled(filled) = check::fit(cx, &part, slot)? {
        fill_from(value, &filled);
    }
    Ok(())
}

/// Adds the items that only the other map has. Items of both are taken from the other map, which
/// has more defaults.
fn fill_from(node: &mut Node, filled: &Node) {
    match (node, filled) {
        (Node::Map(map), Node::Map(filled)) => {
            let map = Rc::make_mut(map);
            for item in filled.iter() {
                match map.find(&item.key) {
                    Some(at) => map.item_mut(at).value = item.value.clone(),
                    None => map.push(item.clone()),
                }
            }
        }
        (node, filled) => *node = filled.clone(),
    }
}

fn list(numbers: &[String]) -> String {
    match numbers.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
