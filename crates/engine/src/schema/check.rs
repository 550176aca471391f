//! Fills in what a value leaves out and checks its types, in one pass.
//!
//! [`fit`] answers quickly whether a value fits and what it is with all defaults in; nothing is copied that stays as it
//! is. Only where it does not fit, [`problems`] goes through the value again and finds out everything there is to say,
//! in the reference's order: collections of the wrong kind first and alone, then scalars and unknown keys.

use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::Eval;
use ytterby_text::{gofloat, quote, spelling};

use super::advice::{Misfit, advice, declared_keys};
use super::report::{Block, Shown, source_text};
use super::secrets::hide_lines;
use super::{Item, MapType, Presence, Slot, Type};
use crate::api::Failure;
use crate::node::{Array, ArrayItem, Map, MapItem, Node, Scalar, key_text};
use crate::run::Run;
use crate::template;

/// What a check needs besides the value: functions may decide about keys.
pub(crate) struct Context<'a> {
    pub eval: &'a mut Eval,
    pub run: &'a Run,
}

impl Context<'_> {
    /// The item of a map type that decides about a key.
    pub fn item_for<'t>(&mut self, ty: &'t MapType, key: &Scalar) -> Result<Option<&'t Item>, Failure> {
        ty.item_for(self.eval, key).map_err(|error| template::failure_of_error(self.run, &error, &|_| true))
    }
}

/// How a value fits into its place.
#[derive(Debug)]
pub(crate) enum Fit {
    /// It does not.
    Not,
    /// As it is.
    AsIs,
    /// With these defaults in.
    Filled(Node),
}

/// Whether a value fits, and what it is with all defaults in.
pub(crate) fn fit(cx: &mut Context<'_>, node: &Node, slot: &Slot) -> Result<Fit, Failure> {
    match node {
        Node::Scalar(scalar) => {
            let fits = scalar.is_null() && slot.nullable || slot.ty.fits(scalar);
            Ok(if fits { Fit::AsIs } else { Fit::Not })
        }
        Node::Map(map) => match slot.as_map() {
            Some(ty) => crate::deep(|| fit_map(cx, map, ty)),
            None => Ok(free(slot)),
        },
        Node::Array(array) => match slot.as_array() {
            Some(ty) => crate::deep(|| fit_array(cx, array, &ty.item)),
            None => Ok(free(slot)),
        },
    }
}

/// The fit of a collection where none is declared.
fn free(slot: &Slot) -> Fit {
    match slot.ty {
        Type::Any | Type::Shapes(_) => Fit::AsIs,
        _ => Fit::Not,
    }
}

fn fit_map(cx: &mut Context<'_>, map: &Rc<Map>, ty: &MapType) -> Result<Fit, Failure> {
    let mut filled: Option<Map> = None;
    let mut present = 0;
    for (at, item) in map.iter().enumerate() {
        let Some(declared) = cx.item_for(ty, &item.key)? else { return Ok(Fit::Not) };
        match declared.presence {
            Presence::Always => present += 1,
            Presence::Removed(_) => return Ok(Fit::Not),
            Presence::Optional(_) | Presence::Pattern(_) => {}
        }
        match fit(cx, &item.value, &declared.slot)? {
            Fit::Not => return Ok(Fit::Not),
            Fit::AsIs => {}
            Fit::Filled(value) => filled.get_or_insert_with(|| (**map).clone()).item_mut(at).value = value,
        }
    }
    if present < ty.always() {
        let filled = filled.get_or_insert_with(|| (**map).clone());
        for item in missing(map, ty) {
            filled.push(item);
        }
    }
    if !ty.is_in_order(filled.as_ref().unwrap_or(map)) {
        ty.put_in_order(filled.get_or_insert_with(|| (**map).clone()));
    }
    Ok(filled.map_or(Fit::AsIs, |map| Fit::Filled(Node::map(map))))
}

/// The items that are always there and that a map lacks, in the order of the schema.
fn missing<'a>(map: &'a Map, ty: &'a MapType) -> impl Iterator<Item = MapItem> + 'a {
    let lacks = |item: &&Item| matches!(item.presence, Presence::Always) && map.find(&item.key).is_none();
    ty.items.iter().filter(lacks).map(Item::default)
}

fn fit_array(cx: &mut Context<'_>, array: &Rc<Array>, slot: &Slot) -> Result<Fit, Failure> {
    let mut filled: Option<Array> = None;
    for (at, item) in array.items.iter().enumerate() {
        match fit(cx, &item.value, slot)? {
            Fit::Not => return Ok(Fit::Not),
            Fit::AsIs => {}
            Fit::Filled(value) => filled.get_or_insert_with(|| (**array).clone()).items[at].value = value,
        }
    }
    Ok(filled.map_or(Fit::AsIs, |array| Fit::Filled(Node::array(array))))
}

/// In which order problems are told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The reference's.
    Reference,
    /// That of the document, root to leaf.
    Document,
}

/// Everything that is wrong with a value that stands at `pos`.
pub(crate) fn problems(
    cx: &mut Context<'_>,
    node: &Node,
    pos: Pos,
    slot: &Slot,
    order: Order,
) -> Result<Vec<Block>, Failure> {
    let mut found = search(cx, node, Place { pos, label: Label::Document, path: "", secret: false }, slot, order)?;
    hide_lines(cx.run, &mut found, node, slot);
    Ok(found)
}

/// Everything that is wrong with a value that an annotation gives for a place.
pub(super) fn problems_of(cx: &mut Context<'_>, node: &Node, slot: &Slot) -> Result<Vec<Block>, Failure> {
    let place = Place { pos: slot.pos, label: Label::Annotated, path: "", secret: false };
    search(cx, node, place, slot, Order::Reference)
}

fn search(
    cx: &mut Context<'_>,
    node: &Node,
    place: Place<'_>,
    slot: &Slot,
    order: Order,
) -> Result<Vec<Block>, Failure> {
    let mut search = Search { order, collections: Vec::new(), values: Vec::new() };
    search.value(cx, node, place, slot)?;
    Ok(if search.collections.is_empty() { search.values } else { search.collections })
}

struct Search {
    order: Order,
    collections: Vec<Block>,
    values: Vec<Block>,
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    pos: Pos,
    label: Label<'a>,
    path: &'a str,
    secret: bool,
}

/// What stands in front of a value.
#[derive(Clone, Copy)]
enum Label<'a> {
    Document,
    /// Nothing: an annotation gives the value.
    Annotated,
    Key(&'a Scalar),
    Dash,
}

impl Search {
    fn value(&mut self, cx: &mut Context<'_>, node: &Node, place: Place<'_>, slot: &Slot) -> Result<(), Failure> {
        let place = Place { secret: place.secret || slot.secret, ..place };
        match node {
            Node::Scalar(scalar) => {
                if !(scalar.is_null() && slot.nullable || slot.ty.fits(scalar)) {
                    self.values.push(mismatch(cx.run, node, place, slot));
                }
                Ok(())
            }
            Node::Map(map) => match slot.as_map() {
                Some(ty) => crate::deep(|| self.map(cx, map, place, ty)),
                None => self.free(cx, node, place, slot),
            },
            Node::Array(array) => match slot.as_array() {
                Some(ty) => crate::deep(|| self.array(cx, array, place, &ty.item)),
                None => self.free(cx, node, place, slot),
            },
        }
    }

    fn free(&mut self, cx: &mut Context<'_>, node: &Node, place: Place<'_>, slot: &Slot) -> Result<(), Failure> {
        if matches!(free(slot), Fit::Not) {
            let found = match self.order {
                Order::Reference => &mut self.collections,
                Order::Document => &mut self.values,
            };
            found.push(mismatch(cx.run, node, place, slot));
        }
        Ok(())
    }

    fn map(&mut self, cx: &mut Context<'_>, map: &Map, place: Place<'_>, ty: &MapType) -> Result<(), Failure> {
        let mut later = Vec::with_capacity(map.len());
        for item in map.iter() {
            match cx.item_for(ty, &item.key)? {
                None => {
                    let path = join_key(place.path, &item.key);
                    let label = Label::Key(&item.key);
                    let place = Place { pos: item.pos, label, path: &path, secret: place.secret };
                    self.values.push(undeclared(cx.run, item, place, ty));
                }
                Some(declared) if self.order == Order::Document => self.item(cx, item, place, declared)?,
                // Keys that are not declared come first.
                Some(declared) => later.push((item, declared)),
            }
        }
        later.into_iter().try_for_each(|(item, declared)| self.item(cx, item, place, declared))
    }

    fn item(&mut self, cx: &mut Context<'_>, item: &MapItem, place: Place<'_>, declared: &Item) -> Result<(), Failure> {
        let path = join_key(place.path, &item.key);
        let place = Place { pos: item.pos, label: Label::Key(&item.key), path: &path, secret: place.secret };
        self.value(cx, &item.value, place, &declared.slot)
    }

    fn array(&mut self, cx: &mut Context<'_>, array: &Array, place: Place<'_>, slot: &Slot) -> Result<(), Failure> {
        for (at, item) in array.items.iter().enumerate() {
            let path = format!("{}[{at}]", place.path);
            let ArrayItem { pos, .. } = *item;
            self.value(cx, &item.value, Place { pos, label: Label::Dash, path: &path, secret: place.secret }, slot)?;
        }
        Ok(())
    }
}

/// The path of an item below a path.
pub(crate) fn join_key(path: &str, key: &Scalar) -> String {
    match path {
        "" => key_text(key).into_owned(),
        path => format!("{path}.{}", key_text(key)),
    }
}

fn mismatch(run: &Run, node: &Node, place: Place<'_>, slot: &Slot) -> Block {
    let by = slot.declared_at();
    let name = if by.is_known() { slot.ty.name() } else { String::new() };
    let block = Block::at(place.pos, node.type_name(), format!("{name} (by {})", run.locate(by)));
    let is_item = matches!(place.label, Label::Dash);
    let misfit = Misfit { value: node, pos: place.pos, is_secret: place.secret, is_item };
    let advice = if matches!(place.label, Label::Annotated) { None } else { advice(run, misfit, slot) };
    Block {
        shown: shown(run, node, place),
        rich_hints: advice.into_iter().collect(),
        kind: ytterby_diag::Kind::Type,
        path: Some(path_or_document(place.path)),
        by: Some(by),
        ..block
    }
}

fn path_or_document(path: &str) -> String {
    if path.is_empty() { "(document)".to_owned() } else { path.to_owned() }
}

fn undeclared(run: &Run, item: &MapItem, place: Place<'_>, ty: &MapType) -> Block {
    let names = ty.names();
    let key = key_text(&item.key).into_owned();
    let from = run.locate(ty.place());
    let patterns = ty.patterns.iter().filter_map(|item| match &item.presence {
        Presence::Pattern(rule) => rule.allowed.as_ref().map(super::Allowed::text),
        _ => None,
    });
    // Longer lists are not shown.
    let all: Vec<String> = names.iter().take(10).cloned().chain(patterns).collect();
    let expected = match &all[..] {
        [name] if ty.patterns.is_empty() => format!("a map item with the key named \"{name}\" (from {from})"),
        // As many as one can keep in mind at once.
        some if (1..=9).contains(&some.len()) => format!("one of {{ {} }} (from {from})", some.join(", ")),
        _ => format!("a key declared in map (from {from})"),
    };
    let mut block = Block {
        shown: match shown(run, &item.value, place) {
            Shown::Nowhere => Shown::Source,
            shown => shown,
        },
        kind: ytterby_diag::Kind::UnknownKey,
        path: Some(place.path.to_owned()),
        by: Some(ty.place()),
        ..Block::at(item.pos, key.clone(), expected).about("Given data value is not declared in schema")
    };
    if run.may_compare(names.len()) {
        let names = || names.iter().map(String::as_str);
        let hint = |name: &str| format!("did you mean \"{name}\"?");
        if let Some(name) = spelling::nearest(&key, names()) {
            block = block.hint(hint(name));
        } else {
            // The reference has no hint for `nmae`.
            let limit = spelling::tolerance_of_short(&key);
            let similar = spelling::closest(&key, names(), limit).map(hint);
            let is_listed = (1..=9).contains(&all.len());
            block.rich_hints.extend(similar.or_else(|| (!is_listed).then(|| declared_keys(&key, ty.names()))?));
        }
    }
    block
}

fn shown(run: &Run, node: &Node, place: Place<'_>) -> Shown {
    if !place.pos.is_known() {
        // Of a whole document that code made, the reference shows nothing.
        if matches!((place.label, node), (Label::Document, Node::Scalar(_))) {
            return Shown::Nowhere;
        }
        let value = if place.secret { super::REDACTED.to_owned() } else { literal(node) };
        return Shown::Calculated(match place.label {
            Label::Document | Label::Annotated => value,
            Label::Key(key) => format!("{}: {value}", key_text(key)),
            Label::Dash => format!("- {value}"),
        });
    }
    if !matches!(node, Node::Scalar(_)) && is_yaml_flag(run, place.pos) && !run.options.rich {
        return Shown::Nowhere;
    }
    if place.secret {
        // Until it is known which part of the line may be shown.
        return Shown::Line(super::REDACTED.to_owned());
    }
    match place.label {
        // The reference has no line for a document that no `---` begins.
        Label::Document if !source_text(run, place.pos).starts_with("---") => Shown::Line(String::new()),
        _ => Shown::Source,
    }
}

fn is_yaml_flag(run: &Run, pos: Pos) -> bool {
    let is_flag =
        |name: &str| ["(data-value-yaml arg)", "(data-values-env-yaml arg)"].iter().any(|f| name.starts_with(f));
    run.sources.get(pos.file).is_some_and(|source| is_flag(source.name()))
}

/// A value that code made, as the reference shows it.
fn literal(node: &Node) -> String {
    match node {
        Node::Scalar(Scalar::Null) => "<nil>".to_owned(),
        Node::Scalar(Scalar::Bool(value)) => value.to_string(),
        Node::Scalar(Scalar::Int(value)) => value.to_string(),
        Node::Scalar(Scalar::UInt(value)) => value.to_string(),
        Node::Scalar(Scalar::Float(value)) => gofloat::format_g(*value),
        Node::Scalar(Scalar::Str(text)) => quote::quote(text).to_string(),
        Node::Map(map) => {
            let items = map.iter().map(|item| format!("{}: {}", key_text(&item.key), literal(&item.value)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
        }
        Node::Array(array) => {
            format!("[{}]", array.items.iter().map(|item| literal(&item.value)).collect::<Vec<_>>().join(", "))
        }
    }
}
