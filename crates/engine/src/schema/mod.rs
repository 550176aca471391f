//! Schemas: which data values exist, with their types and defaults.
//!
//! A schema document is compiled once ([`compile`]) into a tree of [`Slot`]s. The tree contains all
//! information about a schema, so that checking, validation, warnings and exports read the same
//! structure. [`check`] completes and checks a value in one pass; only if that fails, a second pass
//! finds the errors.

mod advice;
pub(crate) mod check;
mod compile;
mod docs;
mod keys;
mod secrets;
pub(crate) mod shapes;
mod types;

use std::cell::OnceCell;
use std::rc::Rc;

use ytterby_diag::{By, Id, Part, Path, Pos, SchemaBlock as Block, Text};
use ytterby_text::Str;

pub(crate) use advice::coerced;
pub(crate) use compile::{DocumentRole, compile, distribute_defaults_for_strings, samples};
pub(crate) use docs::{DEPRECATED, Docs, Example, Remark};
pub(crate) use keys::{AllowedKeys, KeyRule};
pub(crate) use secrets::{hide_lines_naming, redact, redact_misfit, secret_names};
pub(crate) use shapes::{Combination, Shapes};

use crate::node::{Document, Map, MapItem, Node, Scalar, key_text};
use crate::run::Run;
use crate::validate::Rules;

/// A text with a position in parentheses: `null (by schema.yml:3)`.
fn placed(text: impl Into<Text>, word: &'static str, pos: Pos) -> Text {
    text.into().then(" (").then(word).then(" ").at(pos).then(")")
}

/// A compiled schema document.
#[derive(Debug)]
pub(crate) struct Schema {
    /// The content of the document.
    pub root: Slot,
    /// Which kinds of declarations occur, so that runs pay only for those.
    pub uses: Uses,
}

/// Which declarations beyond plain types occur in a schema.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Uses {
    /// `@schema/key` that makes keys optional, or matches many.
    pub keys: bool,
    /// `@schema/type` with several types.
    pub unions: bool,
    /// `@schema/one-of` and similar annotations.
    pub shapes: bool,
    pub deprecated: bool,
    pub removed: bool,
    pub required: bool,
    pub secrets: bool,
    pub rules: bool,
}

/// The declaration of a value: in a document, under a key, in an array.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub ty: Type,
    /// Whether null is allowed too.
    pub nullable: bool,
    /// Where it is declared.
    pub pos: Pos,
    /// The default value.
    pub default: Node,
    pub docs: Docs,
    pub rules: Option<Rc<Rules>>,
    pub required: Option<Rc<Required>>,
    /// Whether the value and all below it are secret.
    pub secret: bool,
    /// Whether it has a `@schema/…` annotation.
    pub annotated: bool,
}

/// The type of a slot.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    Any,
    Scalar(ScalarType),
    Map(Rc<MapType>),
    Array(Rc<ArrayType>),
    Union(Rc<Union>),
    Shapes(Rc<Shapes>),
}

/// A kind of scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScalarType {
    Bool,
    Float,
    Int,
    Null,
    String,
}

/// A map and its keys.
#[derive(Debug, Default)]
pub(crate) struct MapType {
    pub pos: Option<Pos>,
    /// The items with literal keys, in the order of the schema.
    pub items: Vec<MapItemType>,
    /// Items that apply to any matching key, in the order of the schema.
    pub patterns: Vec<MapItemType>,
    /// The literal keys, for fast lookup: parallel to `items`.
    index: Map,
    /// The number of items that are always present.
    always: usize,
    /// Whether there are optional items; then the order of items must be maintained.
    has_order: bool,
    /// The default of the map.
    pub default: Node,
    names: OnceCell<Vec<String>>,
}

/// An item of a map.
#[derive(Debug)]
pub(crate) struct MapItemType {
    pub key: Scalar,
    pub slot: Slot,
    pub presence: Presence,
}

/// When an item is present.
#[derive(Debug)]
pub(crate) enum Presence {
    /// Always: it has a default.
    Always,
    /// Optional; the rule says whether it must be given.
    Optional(Rc<KeyRule>),
    /// For each key that matches.
    Pattern(Rc<KeyRule>),
    /// Never: giving it is an error that contains the remedy.
    Removed(Removed),
}

/// `@schema/removed`.
#[derive(Debug)]
pub(crate) struct Removed {
    pub remedy: Str,
    pub pos: Pos,
}

impl Removed {
    /// The error if the key is given.
    pub fn block(&self, key: &Scalar, pos: Pos, path: Path) -> Block {
        let expected = Text::new("no value (removed by ").at(self.pos).then(")");
        let block = Block::at(pos, key_text(key).into_owned(), expected)
            .about("Given data value was removed from schema")
            .by(By::Named(self.pos))
            .hint(self.remedy.to_string());
        Block { id: Id::SCHEMA_REMOVED, path: Some(path), part: Part::Key, ..block }
    }
}

/// An array and its items.
#[derive(Debug)]
pub(crate) struct ArrayType {
    pub pos: Pos,
    pub item: Slot,
}

/// `@schema/type` with several types, in the order written; an inferred one comes last.
#[derive(Debug)]
pub(crate) struct Union {
    pub members: Vec<Type>,
}

/// `@schema/required`.
#[derive(Debug)]
pub(crate) struct Required {
    pub description: Option<Str>,
    pub pos: Pos,
}

impl Schema {
    /// Registers the secrets in data values, so that no diagnostic of the run shows them.
    pub fn keep_secrets(&self, run: &Run, values: &Node) {
        if self.uses.secrets {
            secrets::gather(&mut run.secrets.borrow_mut(), values, &self.root);
        }
    }

    /// The schema of data values without a schema: everything is allowed.
    pub fn absent() -> Schema {
        Schema { root: Slot::of(Type::Any, Pos::UNKNOWN, Node::NULL), uses: Uses::default() }
    }

    /// The document of all defaults.
    pub fn defaults(&self) -> Document {
        Document::new(self.root.default.clone(), self.root.pos)
    }
}

impl Slot {
    /// A slot without further declarations.
    pub fn of(ty: Type, pos: Pos, default: Node) -> Slot {
        Slot {
            ty,
            nullable: false,
            pos,
            default,
            docs: Docs::default(),
            rules: None,
            required: None,
            secret: false,
            annotated: false,
        }
    }

    /// The position of its type's declaration.
    pub fn declared_at(&self) -> Pos {
        match &self.ty {
            Type::Map(map) => map.place(),
            Type::Array(array) => array.pos,
            _ => self.pos,
        }
    }

    /// Whether null is allowed.
    pub fn allows_null(&self) -> bool {
        self.nullable || self.ty.allows_null()
    }

    /// The type of a map value. Use [`MapType::item_for`] to find the item for a key, including
    /// patterns that are functions.
    pub fn as_map(&self) -> Option<&Rc<MapType>> {
        self.ty.as_map()
    }

    pub fn as_array(&self) -> Option<&Rc<ArrayType>> {
        self.ty.as_array()
    }
}

impl Type {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Type::Any | Type::Shapes(_) => "any".to_owned(),
            Type::Scalar(kind) => kind.name().to_owned(),
            Type::Map(_) => "map".to_owned(),
            Type::Array(_) => "array".to_owned(),
            Type::Union(union) => any_of(union.members.iter()),
        }
    }

    /// The same without null, unless null is the only type.
    pub fn name_besides_null(&self) -> String {
        let is_null = |member: &Type| matches!(member, Type::Scalar(ScalarType::Null));
        match self {
            Type::Union(union) if !union.members.iter().all(is_null) => {
                any_of(union.members.iter().filter(|member| !is_null(member)))
            }
            other => other.name(),
        }
    }

    /// Whether null is a value of this type.
    pub fn allows_null(&self) -> bool {
        match self {
            Type::Any | Type::Scalar(ScalarType::Null) => true,
            Type::Union(union) => union.members.iter().any(Type::allows_null),
            Type::Shapes(_) | Type::Scalar(_) | Type::Map(_) | Type::Array(_) => false,
        }
    }

    /// The type of a map value.
    pub fn as_map(&self) -> Option<&Rc<MapType>> {
        match self {
            Type::Map(map) => Some(map),
            Type::Union(union) => union.members.iter().find_map(Type::as_map),
            _ => None,
        }
    }

    /// The type of an array value.
    pub fn as_array(&self) -> Option<&Rc<ArrayType>> {
        match self {
            Type::Array(array) => Some(array),
            Type::Union(union) => union.members.iter().find_map(Type::as_array),
            _ => None,
        }
    }

    /// Whether a scalar is a value of this type. A float also accepts an integer.
    pub fn fits(&self, scalar: &Scalar) -> bool {
        match self {
            Type::Any | Type::Shapes(_) => true,
            Type::Map(_) | Type::Array(_) => false,
            Type::Union(union) => union.members.iter().any(|member| member.fits(scalar)),
            Type::Scalar(kind) => match scalar {
                Scalar::Null => *kind == ScalarType::Null,
                Scalar::Bool(_) => *kind == ScalarType::Bool,
                Scalar::Int(_) | Scalar::UInt(_) => matches!(kind, ScalarType::Int | ScalarType::Float),
                Scalar::Float(_) => *kind == ScalarType::Float,
                Scalar::Str(_) => *kind == ScalarType::String,
                Scalar::Complex(_) => false,
            },
        }
    }

    /// Whether it accepts only strings.
    pub fn is_string(&self) -> bool {
        matches!(self, Type::Scalar(ScalarType::String))
    }
}

/// The names of several types: `integer, string or null`.
fn any_of<'a>(types: impl Iterator<Item = &'a Type>) -> String {
    let names: Vec<String> = types.map(Type::name).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

impl ScalarType {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::Bool => "boolean",
            ScalarType::Float => "float",
            ScalarType::Int => "integer",
            ScalarType::Null => "null",
            ScalarType::String => "string",
        }
    }
}

impl MapType {
    fn new(items: Vec<MapItemType>, patterns: Vec<MapItemType>, pos: Pos) -> MapType {
        let index = items.iter().map(|item| MapItem::new(item.key.clone(), Node::NULL, Pos::UNKNOWN)).collect();
        let present = items.iter().filter(|item| matches!(item.presence, Presence::Always));
        let default: Map = present.map(MapItemType::default).collect();
        let is_optional = |item: &MapItemType| matches!(item.presence, Presence::Optional(_));
        let has_order = !patterns.is_empty() || items.iter().any(is_optional);
        MapType {
            pos: Some(pos),
            items,
            patterns,
            index,
            always: default.len(),
            has_order,
            default: Node::map(default),
            names: OnceCell::new(),
        }
    }

    /// Whether the items of a map are in order: literal ones in the order of the schema, others
    /// after them.
    fn is_in_order(&self, map: &Map) -> bool {
        !self.has_order || map.iter().is_sorted_by_key(|item| self.rank(&item.key))
    }

    /// Whether the item at an index is in order with its neighbours.
    pub fn is_in_order_at(&self, map: &Map, at: usize) -> bool {
        let around = at.saturating_sub(1)..(at + 2).min(map.len());
        !self.has_order || map.items()[around].is_sorted_by_key(|item| self.rank(&item.key))
    }

    /// Sorts the items of a map into that order.
    pub fn put_in_order(&self, map: &mut Map) {
        if !self.is_in_order(map) {
            map.edit(|items| items.sort_by_key(|item| self.rank(&item.key)));
        }
    }

    fn rank(&self, key: &Scalar) -> usize {
        self.index.find(key).unwrap_or(usize::MAX)
    }

    /// The number of items that are always present.
    fn always(&self) -> usize {
        self.always
    }

    /// The literal keys that may be given, sorted.
    pub fn names(&self) -> &[String] {
        self.names.get_or_init(|| {
            let declared = self.items.iter().filter(|item| !matches!(item.presence, Presence::Removed(_)));
            let mut names: Vec<String> = declared.map(|item| key_text(&item.key).into_owned()).collect();
            names.sort_unstable();
            names
        })
    }

    /// The item with this literal key.
    pub fn literal(&self, key: &Scalar) -> Option<&MapItemType> {
        self.index.find(key).map(|at| &self.items[at])
    }

    /// The item that decides about a key: the literal one, otherwise the first pattern that accepts
    /// it.
    ///
    /// # Errors
    /// If a function of a pattern fails.
    pub fn item_for(
        &self,
        eval: &mut ytterby_starlark::Eval,
        key: &Scalar,
    ) -> Result<Option<&MapItemType>, ytterby_starlark::Error> {
        if let Some(item) = self.literal(key) {
            return Ok(Some(item));
        }
        for item in &self.patterns {
            let Presence::Pattern(rule) = &item.presence else { continue };
            if rule.accepts(eval, key, &item.key)? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// All items, literal ones first.
    pub fn all_items(&self) -> impl Iterator<Item = &MapItemType> {
        self.items.iter().chain(&self.patterns)
    }

    /// The position of the map's declaration.
    pub fn place(&self) -> Pos {
        self.pos.unwrap_or(Pos::UNKNOWN)
    }
}

/// The type of a map without a schema: its own keys, each with a default.
pub(crate) fn inferred_map(map: &Map, slot: &mut dyn FnMut(&Node) -> Slot) -> MapType {
    let item =
        |item: &MapItem| MapItemType { key: item.key.clone(), slot: slot(&item.value), presence: Presence::Always };
    MapType::new(map.iter().map(item).collect(), Vec::new(), Pos::UNKNOWN)
}

impl MapItemType {
    /// The item with its default value.
    pub fn default(&self) -> MapItem {
        MapItem::new(self.key.clone(), self.slot.default.clone(), self.slot.pos)
    }
}
