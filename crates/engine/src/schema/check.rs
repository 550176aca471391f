//! Adds defaults to a value and checks its types, in one pass.
//!
//! [`fit`] quickly decides whether a value matches, and returns it with all defaults added;
//! unchanged parts are not copied. Only if it does not match, [`problems`] walks the value again
//! and collects all errors, in the reference's order: collections of the wrong kind first and
//! alone, then scalars and unknown keys.

use std::rc::Rc;

use ytterby_diag::{
    By, Edit, Exhibit, Failure, Help, Id, Origin as DiagOrigin, Part, Pos, REDACTED, Safety, SchemaBlock as Block,
    Text, ValueForm,
};
use ytterby_starlark::Eval;
use ytterby_text::{budget, gofloat, quote, spelling};

use super::advice::{Misfit, advice, declared_keys};
use super::{MapItemType, MapType, Presence, Slot, Type};
use crate::node::{Array, Map, MapItem, Node, Scalar, key_text};
use crate::path::Way;
use crate::run::Run;

/// What a check needs besides the value: functions may decide about keys.
pub(crate) struct CheckContext<'a> {
    pub eval: &'a mut Eval,
    pub run: &'a Run,
}

impl CheckContext<'_> {
    /// The item of a map type that decides about a key.
    pub fn item_for<'t>(&mut self, ty: &'t MapType, key: &Scalar) -> Result<Option<&'t MapItemType>, Failure> {
        ty.item_for(self.eval, key).map_err(|error| Failure::of_code(error.into_code_problem(&|_| false)))
    }
}

/// Approximate bytes of a copied item of a map or an array.
const MAP_BYTES: usize = 96;

/// How a value matches its slot.
#[derive(Debug)]
pub(crate) enum Fit {
    /// It does not match.
    Not,
    /// It matches without changes.
    AsIs,
    /// It matches with these defaults added.
    Filled(Node),
}

/// Whether a value matches, and the value with all defaults added.
pub(crate) fn fit(cx: &mut CheckContext<'_>, node: &Node, slot: &Slot) -> Result<Fit, Failure> {
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

/// The result for a collection where none is declared.
fn free(slot: &Slot) -> Fit {
    match slot.ty {
        Type::Any | Type::Shapes(_) => Fit::AsIs,
        _ => Fit::Not,
    }
}

fn fit_map(cx: &mut CheckContext<'_>, map: &Rc<Map>, ty: &MapType) -> Result<Fit, Failure> {
    let mut filled: Option<Map> = None;
    let mut present = 0;
    for (at, item) in map.iter().enumerate() {
        budget::work(1)?;
        let Some(declared) = cx.item_for(ty, &item.key)? else { return Ok(Fit::Not) };
        match declared.presence {
            Presence::Always => present += 1,
            Presence::Removed(_) => return Ok(Fit::Not),
            Presence::Optional(_) | Presence::Pattern(_) => {}
        }
        match fit(cx, &item.value, &declared.slot)? {
            Fit::Not => return Ok(Fit::Not),
            Fit::AsIs => {}
            Fit::Filled(value) => {
                budget::memory(MAP_BYTES)?;
                filled.get_or_insert_with(|| (**map).clone()).item_mut(at).value = value;
            }
        }
    }
    if present < ty.always() {
        budget::memory(MAP_BYTES * (1 + ty.always()))?;
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

/// The items with defaults that a map lacks, in the order of the schema.
fn missing<'a>(map: &'a Map, ty: &'a MapType) -> impl Iterator<Item = MapItem> + 'a {
    let lacks = |item: &&MapItemType| matches!(item.presence, Presence::Always) && map.find(&item.key).is_none();
    ty.items.iter().filter(lacks).map(MapItemType::default)
}

fn fit_array(cx: &mut CheckContext<'_>, array: &Rc<Array>, slot: &Slot) -> Result<Fit, Failure> {
    let mut filled: Option<Array> = None;
    for (at, item) in array.items.iter().enumerate() {
        budget::work(1)?;
        match fit(cx, &item.value, slot)? {
            Fit::Not => return Ok(Fit::Not),
            Fit::AsIs => {}
            Fit::Filled(value) => {
                budget::memory(MAP_BYTES)?;
                filled.get_or_insert_with(|| (**array).clone()).items[at].value = value;
            }
        }
    }
    Ok(filled.map_or(Fit::AsIs, |array| Fit::Filled(Node::array(array))))
}

/// The order in which problems are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The reference's order.
    Reference,
    /// The order of the document, root to leaf.
    Document,
}

/// Everything that is wrong with a value at `pos`.
pub(crate) fn problems(
    cx: &mut CheckContext<'_>,
    node: &Node,
    pos: Pos,
    slot: &Slot,
    order: Order,
) -> Result<Vec<Block>, Failure> {
    search(cx, node, ValueLocation { pos, label: Label::Document, way: &Way::Document, secret: false }, slot, order)
}

/// Everything that is wrong with a value that an annotation specifies for a node.
pub(super) fn problems_of(cx: &mut CheckContext<'_>, node: &Node, slot: &Slot) -> Result<Vec<Block>, Failure> {
    let place = ValueLocation { pos: slot.pos, label: Label::Annotated, way: &Way::Document, secret: false };
    search(cx, node, place, slot, Order::Reference)
}

fn search(
    cx: &mut CheckContext<'_>,
    node: &Node,
    place: ValueLocation<'_>,
    slot: &Slot,
    order: Order,
) -> Result<Vec<Block>, Failure> {
    let mut search = MismatchSearch { order, collections: Vec::new(), values: Vec::new() };
    search.value(cx, node, place, slot)?;
    Ok(if search.collections.is_empty() { search.values } else { search.collections })
}

struct MismatchSearch {
    order: Order,
    collections: Vec<Block>,
    values: Vec<Block>,
}

/// Where a value is.
#[derive(Clone, Copy)]
struct ValueLocation<'a> {
    pos: Pos,
    label: Label<'a>,
    way: &'a Way<'a>,
    secret: bool,
}

/// The text before a value.
#[derive(Clone, Copy)]
enum Label<'a> {
    Document,
    /// Nothing: the value comes from an annotation.
    Annotated,
    Key(&'a Scalar),
    Dash,
}

impl MismatchSearch {
    fn value(
        &mut self,
        cx: &mut CheckContext<'_>,
        node: &Node,
        place: ValueLocation<'_>,
        slot: &Slot,
    ) -> Result<(), Failure> {
        let place = ValueLocation { secret: place.secret || slot.secret, ..place };
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

    fn free(
        &mut self,
        cx: &mut CheckContext<'_>,
        node: &Node,
        place: ValueLocation<'_>,
        slot: &Slot,
    ) -> Result<(), Failure> {
        if matches!(free(slot), Fit::Not) {
            let found = match self.order {
                Order::Reference => &mut self.collections,
                Order::Document => &mut self.values,
            };
            found.push(mismatch(cx.run, node, place, slot));
        }
        Ok(())
    }

    fn map(
        &mut self,
        cx: &mut CheckContext<'_>,
        map: &Map,
        place: ValueLocation<'_>,
        ty: &MapType,
    ) -> Result<(), Failure> {
        let mut later = Vec::with_capacity(map.len());
        for item in map.iter() {
            match cx.item_for(ty, &item.key)? {
                None => {
                    let way = Way::Key(place.way, &item.key);
                    let place = ValueLocation { pos: item.pos, label: Label::Key(&item.key), way: &way, ..place };
                    self.values.push(undeclared(cx.run, item, place, ty));
                }
                Some(declared) if self.order == Order::Document => self.item(cx, item, place, declared)?,
                // Undeclared keys come first.
                Some(declared) => later.push((item, declared)),
            }
        }
        later.into_iter().try_for_each(|(item, declared)| self.item(cx, item, place, declared))
    }

    fn item(
        &mut self,
        cx: &mut CheckContext<'_>,
        item: &MapItem,
        place: ValueLocation<'_>,
        declared: &MapItemType,
    ) -> Result<(), Failure> {
        let way = Way::Key(place.way, &item.key);
        let place = ValueLocation { pos: item.pos, label: Label::Key(&item.key), way: &way, ..place };
        if let Presence::Removed(removed) = &declared.presence {
            self.values.push(removed.block(&item.key, item.pos, way.path()));
            return Ok(());
        }
        self.value(cx, &item.value, place, &declared.slot)
    }

    fn array(
        &mut self,
        cx: &mut CheckContext<'_>,
        array: &Array,
        place: ValueLocation<'_>,
        slot: &Slot,
    ) -> Result<(), Failure> {
        for (at, item) in array.items.iter().enumerate() {
            let way = Way::Index(place.way, at);
            let place = ValueLocation { pos: item.pos, label: Label::Dash, way: &way, ..place };
            self.value(cx, &item.value, place, slot)?;
        }
        Ok(())
    }
}

/// Bytes of a problem: code can make a million values that do not fit.
const BLOCK: usize = 1 << 10;

fn mismatch(run: &Run, node: &Node, place: ValueLocation<'_>, slot: &Slot) -> Block {
    budget::or_unwind(budget::text(BLOCK));
    let by = slot.declared_at();
    let name = if by.is_known() { slot.ty.name() } else { String::new() };
    let is_item = matches!(place.label, Label::Dash);
    let misfit = Misfit { value: node, pos: place.pos, is_secret: place.secret, is_item };
    let advice = if matches!(place.label, Label::Annotated) { None } else { advice(run, misfit, slot) };
    Block {
        id: Id::SCHEMA_TYPE,
        exhibit: exhibit(run, node, place),
        helps: advice.into_iter().collect(),
        path: Some(place.way.path()),
        by: Some(By::Type(by)),
        ..Block::at(place.pos, node.type_name(), name)
    }
}

/// Maximum number of declared keys to list.
const LISTED: usize = 9;

fn undeclared(run: &Run, item: &MapItem, place: ValueLocation<'_>, ty: &MapType) -> Block {
    budget::or_unwind(budget::text(BLOCK));
    let names = ty.names();
    let key = key_text(&item.key).into_owned();
    let patterns = ty.patterns.iter().filter_map(|item| match &item.presence {
        Presence::Pattern(rule) => rule.allowed.as_ref().map(super::AllowedKeys::text),
        _ => None,
    });
    let all: Vec<String> = names.iter().take(LISTED + 1).cloned().chain(patterns).collect();
    let is_listed = (1..=LISTED).contains(&all.len());
    let expected = match &all[..] {
        [name] if ty.patterns.is_empty() => format!("a map item with the key named \"{name}\""),
        some if is_listed => format!("one of {{ {} }}", some.join(", ")),
        _ => "a key declared in map".to_owned(),
    };
    let mut block = Block {
        id: Id::SCHEMA_UNKNOWN_KEY,
        part: Part::Key,
        exhibit: match exhibit(run, &item.value, place) {
            Exhibit::FlagCollection => Exhibit::Line,
            other => other,
        },
        path: Some(place.way.path()),
        ..Block::at(item.pos, key.clone(), expected)
            .by(By::Keys(ty.place()))
            .about("Given data value is not declared in schema")
    };
    if !matches!(item.key, Scalar::Str(_) | Scalar::Complex(_)) && takes_text(ty, &key) {
        let quoted = quote::quote(&ytterby_text::Str::from(key.as_str()));
        let help = Help::new(format!("keys are strings: write {quoted}"));
        let edit = Edit::replace(item.pos, Part::Key, quoted.to_string());
        block.helps.push(help.fixed_by("Quote the key", vec![edit], Safety::Likely));
    } else if run.may_compare(names.len()) {
        let nearest = spelling::nearest(&key, names.iter().map(String::as_str));
        if let Some(name) = nearest {
            block = block.hint(did_you_mean(name));
        }
        let near = nearest.or_else(|| {
            // ytt has no hint for `nmae`.
            spelling::closest(&key, names.iter().map(String::as_str), spelling::tolerance_of_short(&key))
        });
        block.near = near.map(str::to_owned);
        block.helps.extend(match near {
            Some(name) => Some(rename(run, item.pos, &key, name)),
            None if !is_listed => declared_keys(&key, names).map(Help::new),
            None => Some(Help::new(format!("declared keys are {}", all.join(", ")))),
        });
    }
    block
}

/// Whether a map accepts this key as a string.
fn takes_text(ty: &MapType, key: &str) -> bool {
    let takes = |item: &MapItemType| match &item.presence {
        Presence::Pattern(rule) => match &rule.allowed {
            Some(super::AllowedKeys::Any) => true,
            Some(super::AllowedKeys::Matching(regexp, _)) => regexp.is_match(&ytterby_text::Str::from(key)),
            _ => false,
        },
        _ => false,
    };
    ty.literal(&Scalar::from(key)).is_some() || ty.patterns.iter().any(takes)
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean \"{name}\"?")
}

/// Advice to rename a key.
fn rename(run: &Run, pos: Pos, key: &str, name: &str) -> Help {
    let help = Help::new(did_you_mean(name));
    let origin = run.sources.get(pos.file).map(|source| source.origin());
    match origin {
        // The key of a flag can be one of several in its path, so there is no edit for it.
        Some(DiagOrigin::File | DiagOrigin::Stdin) => {
            let edit = Edit::replace(pos, Part::Key, yaml_key(name));
            help.fixed_by(format!("Change \"{key}\" to \"{name}\""), vec![edit], Safety::Likely)
        }
        _ => help,
    }
}

/// A key as YAML can write it in a block or flow map.
fn yaml_key(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let reads_as_itself = matches!(ytterby_yaml::resolve(name.as_bytes()), Scalar::Str(_));
    match !name.is_empty() && name.chars().all(is_plain) && !name.starts_with(['-', '.', '/']) && reads_as_itself {
        true => name.to_owned(),
        false => quote::quote(&ytterby_text::Str::from(name)).to_string(),
    }
}

fn exhibit(run: &Run, node: &Node, place: ValueLocation<'_>) -> Exhibit {
    if !place.pos.is_known() {
        // ytt shows nothing for a whole document that code created.
        if matches!((place.label, node), (Label::Document, Node::Scalar(_))) {
            return Exhibit::Nothing;
        }
        let value = if place.secret { REDACTED.to_owned() } else { literal(node) };
        return Exhibit::Calculated(match place.label {
            Label::Document | Label::Annotated => Text::of_value(value),
            Label::Key(key) => Text::new(format!("{}: ", key_text(key))).value(value),
            Label::Dash => Text::new("- ").value(value),
        });
    }
    let Some(source) = run.sources.get(place.pos.file) else { return Exhibit::Line };
    let is_yaml_flag =
        matches!(source.origin(), DiagOrigin::Flag(ValueForm::Yaml) | DiagOrigin::Variable(ValueForm::Yaml));
    if !matches!(node, Node::Scalar(_)) && is_yaml_flag && !source.is_nameless() {
        return Exhibit::FlagCollection;
    }
    let starts_document =
        || source.text().get(place.pos.offset as usize..).is_some_and(|text| text.starts_with(b"---"));
    match place.label {
        // ytt has no line for a document without a leading `---`.
        Label::Document if !starts_document() => Exhibit::EmptyLine,
        _ => Exhibit::Line,
    }
}

/// A value that code created, as ytt shows it.
fn literal(node: &Node) -> String {
    match node {
        Node::Scalar(Scalar::Null) => "<nil>".to_owned(),
        Node::Scalar(Scalar::Bool(value)) => value.to_string(),
        Node::Scalar(Scalar::Int(value)) => value.to_string(),
        Node::Scalar(Scalar::UInt(value)) => value.to_string(),
        Node::Scalar(Scalar::Float(value)) => gofloat::format_g(*value),
        Node::Scalar(Scalar::Str(text)) => quote::quote(text).to_string(),
        Node::Scalar(key @ Scalar::Complex(_)) => key_text(key).into_owned(),
        Node::Map(map) => {
            let items = map.iter().map(|item| format!("{}: {}", key_text(&item.key), literal(&item.value)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
        }
        Node::Array(array) => {
            format!("[{}]", array.items.iter().map(|item| literal(&item.value)).collect::<Vec<_>>().join(", "))
        }
    }
}
