//! Converts the keywords of a schema to nodes with annotations.
//!
//! Each schema is flattened first, so that its keywords are in one map. Every keyword that is
//! understood is removed from the map; those that are left at the end are reported as unsupported.

use std::collections::HashSet;

use ytterby_text::Str;

use super::Notes;
use super::flat::{Flat, flatten};
use super::print::{Besides, ImportedNode, Keys, Sample, SampleKind, SchemaFile, kind_of, literal, quoted};
use super::recognise::{RecognisedSchema, SchemaLanguage};
use super::rules::{self, ValidationArguments};
use super::shapes::{Alternatives, Names};
use crate::node::{Map, MapItem, Node, Scalar, key_text};
use ytterby_diag::{Failure, Id};

/// References can multiply: no schema that people write has this many nodes.
const MAX_PLACES: usize = 200_000;

/// The schema file for a schema in another language.
pub(super) fn file(document: &Node, found: &RecognisedSchema, notes: &mut Notes) -> Result<SchemaFile, Failure> {
    let mut importer = Importer {
        document,
        language: found.language,
        notes,
        uses_assert: false,
        open: Vec::new(),
        places: 0,
        shapes: Vec::new(),
        names: Names::default(),
    };
    let root = importer.place(&found.schema, "", ItemRole::Document)?;
    Ok(SchemaFile { root, shapes: importer.shapes, uses_assert: importer.uses_assert })
}

/// The path of an item.
pub(super) fn step(path: &str, key: &Scalar) -> String {
    if path.is_empty() { key_text(key).into_owned() } else { format!("{path}.{}", key_text(key)) }
}

pub(super) struct Importer<'a> {
    document: &'a Node,
    language: SchemaLanguage,
    pub notes: &'a mut Notes,
    pub uses_assert: bool,
    /// The references that are being followed.
    open: Vec<String>,
    places: usize,
    /// Functions that return shapes, in the order of their definition.
    pub shapes: Vec<(String, ImportedNode)>,
    pub names: Names,
}

/// The effect of `x-kubernetes-preserve-unknown-fields` on undeclared items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnknownFields {
    Kept,
    Unsaid,
}

/// The role of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemRole {
    Document,
    Item { required: bool },
    FreeItem,
    ArrayItem,
}

/// The types of a schema, with null separate.
#[derive(Default)]
pub(super) struct Types {
    pub null: bool,
    pub kinds: Vec<SampleKind>,
    pub object: bool,
    pub array: bool,
}

impl Types {
    pub fn count(&self) -> usize {
        self.kinds.len() + usize::from(self.object) + usize::from(self.array)
    }

    fn add(&mut self, name: &str) -> bool {
        let kind = match name {
            "null" => {
                self.null = true;
                return true;
            }
            "object" => {
                self.object = true;
                return true;
            }
            "array" => {
                self.array = true;
                return true;
            }
            "string" => SampleKind::String,
            "integer" => SampleKind::Int,
            "number" => SampleKind::Float,
            "boolean" => SampleKind::Bool,
            _ => return false,
        };
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        true
    }
}

impl Importer<'_> {
    pub fn place(&mut self, schema: &Node, path: &str, role: ItemRole) -> Result<ImportedNode, Failure> {
        self.places += 1;
        if self.places > MAX_PLACES {
            return Err(Failure::new(
                Id::SCHEMA_IMPORT,
                format!("Expected at most {MAX_PLACES} places in the schema to import"),
            ));
        }
        let Some(map) = schema.as_map() else {
            if !is_true(schema) {
                self.notes.unsupported(&literal(schema).unwrap_or_default().to_lowercase(), path);
            }
            return Ok(bare_any());
        };
        let flat = flatten(self.document, map, &self.open, path, self.notes);
        if flat.is_cyclic {
            self.notes.unsupported("$ref", path);
            return Ok(bare_any());
        }
        let depth = self.open.len();
        self.open.extend(flat.refs.iter().cloned());
        let place = crate::deep(|| self.described(flat, path, role));
        self.open.truncate(depth);
        place
    }

    fn described(&mut self, mut flat: Flat, path: &str, role: ItemRole) -> Result<ImportedNode, Failure> {
        let mut validation = ValidationArguments::default();
        let mut types = Types::default();
        let alternatives = self.alternatives(&mut flat, &mut types, path, &mut validation);
        let alternatives = alternatives.or_else(|| {
            let mut alternatives = Alternatives::of_types(&mut flat)?;
            types.null |= alternatives.take_null();
            Some(alternatives)
        });
        let shaped = match alternatives {
            Some(alternatives) => self.shaped(&mut flat, &mut types, alternatives, path)?,
            None => None,
        };
        let mut place = match shaped {
            Some(place) => place,
            None => {
                self.types(&mut flat, &mut types, path);
                self.sample(&mut flat, &mut types, path, &mut validation)?
            }
        };
        self.uses_assert |= rules::read(&mut flat, &place, self.language, path, &mut validation, self.notes);
        self.annotate(&mut place, &mut flat, &types, path, role, &mut validation);
        for item in flat.keywords.iter() {
            self.notes.unsupported(&key_text(&item.key), path);
        }
        Ok(place)
    }

    /// The types of a schema.
    fn types(&mut self, flat: &mut Flat, types: &mut Types, path: &str) {
        if flat.remove("nullable").is_some_and(|value| is_true(&value)) {
            types.null = true;
        }
        if flat.remove("x-kubernetes-int-or-string").is_some_and(|value| is_true(&value)) {
            types.kinds.extend([SampleKind::Int, SampleKind::String]);
        }
        let names_type = flat.get("type").is_some();
        match flat.remove("type") {
            Some(Node::Scalar(Scalar::Str(name))) => self.add_type(types, &name.to_str(), path),
            Some(Node::Array(list)) => {
                for item in &list.items {
                    match &item.value {
                        Node::Scalar(Scalar::Str(name)) => self.add_type(types, &name.to_str(), path),
                        _ => self.notes.unsupported("type", path),
                    }
                }
            }
            Some(_) => self.notes.unsupported("type", path),
            None => {}
        }
        if types.count() == 0 {
            let has = |name: &str| flat.get(name).is_some();
            types.object = has("properties") || has("patternProperties") || has("additionalProperties");
            types.array = has("items") || has("prefixItems");
        }
        if types.count() == 0 && !names_type {
            let values = match (flat.get("enum"), flat.get("const")) {
                (Some(Node::Array(list)), _) => list.items.iter().map(|item| item.value.clone()).collect(),
                (_, Some(value)) => vec![value.clone()],
                _ => Vec::new(),
            };
            for value in values {
                match value {
                    Node::Scalar(scalar) => match kind_of(&scalar) {
                        Some(kind) if !types.kinds.contains(&kind) => types.kinds.push(kind),
                        Some(_) => {}
                        None => types.null = true,
                    },
                    _ => {
                        types.kinds.clear();
                        break;
                    }
                }
            }
            // Without other types anything is allowed, including null.
            types.null &= types.count() > 0;
        }
    }

    fn add_type(&mut self, types: &mut Types, name: &str, path: &str) {
        if !types.add(name) {
            self.notes.unsupported("type", path);
        }
    }

    /// `oneOf` and `anyOf`: if a single node can express them, they are removed from the schema.
    /// Returns those that need several shapes.
    fn alternatives(
        &mut self,
        flat: &mut Flat,
        types: &mut Types,
        path: &str,
        validation: &mut ValidationArguments,
    ) -> Option<Alternatives> {
        if flat.get("x-kubernetes-int-or-string").is_some_and(is_true) {
            flat.remove("anyOf");
            flat.remove("oneOf");
        }
        for name in ["oneOf", "anyOf"] {
            let Some(list) = flat.get(name).cloned() else { continue };
            let alternatives = Alternatives::read(name, &list);
            let Some(mut alternatives) = alternatives else { continue };
            types.null |= alternatives.take_null();
            let members: Vec<&Map> = alternatives.members.iter().collect();
            if let Some(keys) = rules::one_not_null(&members, flat.get("properties")) {
                self.uses_assert |= validation.again("one_not_null", &keys);
            } else if rules::is_ip(&members) {
                self.uses_assert |= validation.again("format", &Node::str("ip"));
            } else if let [one] = members[..] {
                flat.merge(one, path, self.notes);
            } else if let Some(values) = alternatives.values() {
                let mut wanted = Map::new();
                wanted.push_new("enum", values);
                flat.merge(&wanted, path, self.notes);
            } else {
                let only_type = |member: &&Map| {
                    let name = text(member, "type").filter(|name| name != "object" && name != "array");
                    (member.len() == 1).then_some(name).flatten()
                };
                let (plain, rest): (Vec<&Map>, Vec<&Map>) = members.iter().partition(|map| only_type(map).is_some());
                let is_collection = |map: &&Map| matches!(text(map, "type").as_deref(), Some("object" | "array"));
                if rest.len() > 1 || !rest.iter().all(is_collection) || flat.get("type").is_some() {
                    flat.remove(name);
                    return Some(alternatives);
                }
                for name in plain.iter().filter_map(only_type) {
                    self.add_type(types, &name, path);
                }
                if let [one] = rest[..] {
                    flat.merge(one, path, self.notes);
                }
            }
            flat.remove(name);
        }
        None
    }

    /// The sample value of the types, and the nodes below it.
    fn sample(
        &mut self,
        flat: &mut Flat,
        types: &mut Types,
        path: &str,
        validation: &mut ValidationArguments,
    ) -> Result<ImportedNode, Failure> {
        let unknown_fields = match flat.remove("x-kubernetes-preserve-unknown-fields") {
            Some(value) if is_true(&value) => UnknownFields::Kept,
            _ => UnknownFields::Unsaid,
        };
        let is_open = unknown_fields == UnknownFields::Kept && flat.get("properties").is_none();
        let collections = usize::from(types.object) + usize::from(types.array);
        if is_open || (types.count() == 0 && !types.null) || collections > 1 {
            if collections > 1 {
                self.notes.unsupported("type", path);
            }
            for name in ["properties", "items", "additionalProperties", "patternProperties", "required"] {
                if flat.remove(name).is_some_and(|_| !matches!(name, "required" | "additionalProperties")) {
                    self.notes.unsupported(name, path);
                }
            }
            types.null = true;
            return Ok(ANY);
        }
        let value = if types.object {
            Sample::Map(self.items(flat, path, unknown_fields, validation)?)
        } else if types.array {
            let item = match flat.remove("items") {
                Some(schema @ Node::Map(_)) => self.place(&schema, &format!("{path}[]"), ItemRole::ArrayItem)?,
                Some(Node::Scalar(Scalar::Bool(true))) | None => bare_any(),
                Some(_) => {
                    self.notes.unsupported("items", path);
                    bare_any()
                }
            };
            Sample::Array(Box::new(item))
        } else {
            let only = flat.get("const").cloned().filter(|value| !value.is_null());
            let sample = match only {
                Some(Node::Scalar(scalar)) if kind_of(&scalar).is_some_and(|kind| types.kinds.contains(&kind)) => {
                    scalar
                }
                _ => types.kinds.first().map_or(Scalar::Null, |kind| zero(*kind)),
            };
            Sample::Scalar(sample)
        };
        let kinds = if types.count() == 1 && !types.kinds.is_empty() { Vec::new() } else { types.kinds.clone() };
        Ok(ImportedNode {
            value,
            besides: Besides { null: types.null, kinds, ..Besides::default() },
            ..ImportedNode::default()
        })
    }

    /// The items of a map: the named ones, those whose keys match a pattern, and the one for all
    /// others.
    fn items(
        &mut self,
        flat: &mut Flat,
        path: &str,
        unknown_fields: UnknownFields,
        validation: &mut ValidationArguments,
    ) -> Result<Vec<(Scalar, ImportedNode)>, Failure> {
        let mut required = self.required(flat, path);
        let mut items = Vec::new();
        let mut refused = Vec::new();
        let properties = flat.remove("properties");
        let is_closed = properties.is_some();
        if let Some(properties) = properties.as_ref().and_then(Node::as_map) {
            for item in properties.iter() {
                if matches!(item.value, Node::Scalar(Scalar::Bool(false))) {
                    refused.push(item.key.clone());
                    continue;
                }
                let role = ItemRole::Item { required: required.find(&item.key).is_some() };
                items.push((item.key.clone(), self.place(&item.value, &step(path, &item.key), role)?));
            }
            required.edit(|names| names.retain(|name| properties.get(&name.key).is_none()));
        }
        let own_keys = items.iter().map(|(key, _)| key).chain(&refused).chain(required.iter().map(|name| &name.key));
        let mut free_keys = FreeKeys::besides(own_keys);
        let key_pattern = self.key_pattern(flat, path);
        let patterns = flat.remove("patternProperties");
        let has_patterns = patterns.is_some();
        for item in patterns.iter().filter_map(Node::as_map).flat_map(Map::iter) {
            if let Some(place) = self.matching_items(item, path)? {
                items.push((free_keys.next(), place));
            }
        }
        if flat.remove("unevaluatedProperties").is_some_and(|value| is_true(&value)) {
            self.notes.unsupported("unevaluatedProperties", path);
        }
        let additional = flat.remove("additionalProperties");
        let refuses_others = matches!(additional, Some(Node::Scalar(Scalar::Bool(false))));
        let others = match additional {
            Some(schema @ Node::Map(_)) => Some(self.place(&schema, &format!("{path}.*"), ItemRole::FreeItem)?),
            Some(Node::Scalar(Scalar::Bool(false))) => None,
            Some(_) => Some(bare_any()),
            None if unknown_fields == UnknownFields::Kept || (!is_closed && !has_patterns) => Some(bare_any()),
            None => None,
        };
        let takes_others = others.is_some() || has_patterns;
        if takes_others {
            for key in refused {
                let annotations = vec!["key expects=0".to_owned(), "type any=True".to_owned()];
                items.push((key, ImportedNode { annotations, ..ANY }));
            }
        }
        for name in required.iter() {
            match &name.key {
                Scalar::Str(_) if takes_others || refuses_others => {
                    self.uses_assert |= validation.again("contains", &Node::Scalar(name.key.clone()));
                }
                // It is not declared otherwise, but required.
                Scalar::Str(_) => {
                    let annotations = vec!["type any=True".to_owned(), "required".to_owned()];
                    items.push((name.key.clone(), ImportedNode { annotations, is_unsound: true, ..ANY }));
                }
                _ => self.notes.unsupported("required", path),
            }
        }
        if let Some(mut place) = others {
            let (keys, annotation) = match &key_pattern {
                Some(pattern) => (Keys::Matching, matching_keys(pattern)),
                None => (Keys::Any, "any-key".to_owned()),
            };
            place.annotations.insert(0, annotation);
            place.besides.keys = keys;
            items.push((free_keys.next(), place));
        }
        Ok(items)
    }

    /// The node for all items of one of `patternProperties`.
    fn matching_items(&mut self, item: &MapItem, path: &str) -> Result<Option<ImportedNode>, Failure> {
        let mut place = self.place(&item.value, &format!("{path}.*"), ItemRole::FreeItem)?;
        let Some(pattern) = rules::whole_key_pattern(&key_text(&item.key)) else {
            self.notes.unsupported("patternProperties", path);
            return Ok(None);
        };
        place.besides.keys = Keys::Matching;
        place.annotations.insert(0, matching_keys(&pattern));
        Ok(Some(place))
    }

    /// The required names, without duplicates.
    fn required(&mut self, flat: &mut Flat, path: &str) -> Map {
        let mut names = Map::new();
        match flat.remove("required") {
            Some(Node::Array(list)) => {
                for item in &list.items {
                    if let Node::Scalar(name) = &item.value
                        && names.find(name).is_none()
                    {
                        names.push_new(name.clone(), Node::NULL);
                    }
                }
            }
            Some(_) => self.notes.unsupported("required", path),
            None => {}
        }
        names
    }

    /// `propertyNames`, if it is a pattern.
    fn key_pattern(&mut self, flat: &mut Flat, path: &str) -> Option<String> {
        let value = flat.remove("propertyNames")?;
        let pattern = value.as_map().filter(|map| map.iter().all(|item| item.key == Scalar::from("pattern")));
        let pattern = pattern.and_then(|map| text(map, "pattern")).and_then(|text| rules::whole_key_pattern(&text));
        if pattern.is_none() {
            self.notes.unsupported("propertyNames", path);
        }
        pattern
    }
}

fn matching_keys(pattern: &str) -> String {
    format!("key allowed={}, expects=\"0+\"", quoted(pattern))
}

/// A node that accepts everything, to be annotated.
pub(super) const ANY: ImportedNode = ImportedNode {
    annotations: Vec::new(),
    value: Sample::Scalar(Scalar::Null),
    besides: Besides { any: true, null: true, kinds: Vec::new(), keys: Keys::Own, shapes: None },
    is_unsound: false,
};

/// A node that accepts everything, without further declarations.
pub(super) fn bare_any() -> ImportedNode {
    ImportedNode { annotations: vec!["type any=True".to_owned()], ..ANY }
}

fn zero(kind: SampleKind) -> Scalar {
    match kind {
        SampleKind::Bool => Scalar::Bool(false),
        SampleKind::Int => Scalar::Int(0),
        SampleKind::Float => Scalar::Float(0.0),
        SampleKind::String => Scalar::from(""),
    }
}

/// Keys for items that represent others: `_`, `__`, `___`, `_4`, `_5`, …, unless they are in use.
struct FreeKeys {
    taken: HashSet<Str>,
    tried: usize,
}

impl FreeKeys {
    fn besides<'a>(keys: impl Iterator<Item = &'a Scalar>) -> FreeKeys {
        let taken = keys.filter_map(Scalar::as_str).filter(|key| key.starts_with(b"_")).cloned().collect();
        FreeKeys { taken, tried: 0 }
    }

    fn next(&mut self) -> Scalar {
        loop {
            self.tried += 1;
            let key = match self.tried {
                few @ 1..=3 => "_".repeat(few),
                many => format!("_{many}"),
            };
            if !self.taken.contains(key.as_bytes()) {
                return Scalar::from(&*key);
            }
        }
    }
}

pub(super) fn text(map: &Map, name: &str) -> Option<String> {
    match &map.get_str(name)?.value {
        Node::Scalar(Scalar::Str(text)) => Some(text.to_string()),
        _ => None,
    }
}

pub(super) fn is_true(node: &Node) -> bool {
    matches!(node, Node::Scalar(Scalar::Bool(true)))
}
