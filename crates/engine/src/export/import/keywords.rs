//! From the keywords of a schema to places with annotations.

use super::Notes;
use super::flat::{Flat, flatten};
use super::print::{Besides, Keys, Kind, Place, Sample, kind_of, literal, quoted};
use super::recognise::{Found, Language};
use super::rules::{self, Validation};
use crate::api::Failure;
use crate::node::{Map, Node, Scalar, key_text};

/// References can multiply: no schema that people write has this many places.
const MAX_PLACES: usize = 200_000;

/// The place that a schema describes, and whether its annotations use `@ytt:assert`.
pub(super) fn place(document: &Node, found: &Found, notes: &mut Notes) -> Result<(Place, bool), Failure> {
    let mut importer =
        Importer { document, language: found.language, notes, uses_assert: false, open: Vec::new(), places: 0 };
    let place = importer.place(&found.schema, "", Role::Document)?;
    Ok((place, importer.uses_assert))
}

/// The path of an item.
pub(super) fn step(path: &str, key: &Scalar) -> String {
    if path.is_empty() { key_text(key).into_owned() } else { format!("{path}.{}", key_text(key)) }
}

struct Importer<'a> {
    document: &'a Node,
    language: Language,
    notes: &'a mut Notes,
    uses_assert: bool,
    /// The references that are being followed.
    open: Vec<String>,
    places: usize,
}

/// What a place is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Document,
    Item { required: bool },
    FreeItem,
    ArrayItem,
}

/// The types that a schema names, null apart.
#[derive(Default)]
struct Types {
    null: bool,
    kinds: Vec<Kind>,
    object: bool,
    array: bool,
}

impl Types {
    fn count(&self) -> usize {
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
            "string" => Kind::String,
            "integer" => Kind::Int,
            "number" => Kind::Float,
            "boolean" => Kind::Bool,
            _ => return false,
        };
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        true
    }
}

impl Importer<'_> {
    fn place(&mut self, schema: &Node, path: &str, role: Role) -> Result<Place, Failure> {
        self.places += 1;
        if self.places > MAX_PLACES {
            return Err(Failure::new(format!("Expected at most {MAX_PLACES} places in the schema to import")));
        }
        let Some(map) = schema.as_map() else {
            if !matches!(schema, Node::Scalar(Scalar::Bool(true))) {
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

    fn described(&mut self, mut flat: Flat, path: &str, role: Role) -> Result<Place, Failure> {
        let mut validation = Validation::default();
        let mut types = self.types(&mut flat, path, &mut validation);
        let mut place = self.sample(&mut flat, &mut types, path, &mut validation)?;
        self.uses_assert |= rules::read(&mut flat, &place, self.language, path, &mut validation, self.notes);
        self.annotate(&mut place, &mut flat, &types, path, role, &validation);
        for item in flat.keywords.iter() {
            self.notes.unsupported(&key_text(&item.key), path);
        }
        Ok(place)
    }

    /// The types of a schema; alternatives that are types are taken off it.
    fn types(&mut self, flat: &mut Flat, path: &str, validation: &mut Validation) -> Types {
        let mut types = Types::default();
        if let Some(Node::Scalar(Scalar::Bool(true))) = flat.remove("nullable") {
            types.null = true;
        }
        if let Some(Node::Scalar(Scalar::Bool(true))) = flat.remove("x-kubernetes-int-or-string") {
            flat.remove("anyOf");
            flat.remove("oneOf");
            types.kinds.extend([Kind::Int, Kind::String]);
        }
        self.alternatives(flat, &mut types, path, validation);
        let names_type = flat.get("type").is_some();
        match flat.remove("type") {
            Some(Node::Scalar(Scalar::Str(name))) => self.add_type(&mut types, &name.to_str(), path),
            Some(Node::Array(list)) => {
                for item in &list.items {
                    match &item.value {
                        Node::Scalar(Scalar::Str(name)) => self.add_type(&mut types, &name.to_str(), path),
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
            // Null besides nothing is null besides anything.
            types.null &= types.count() > 0;
        }
        types
    }

    fn add_type(&mut self, types: &mut Types, name: &str, path: &str) {
        if !types.add(name) {
            self.notes.unsupported("type", path);
        }
    }

    /// `oneOf` and `anyOf` where they say what one place can say.
    fn alternatives(&mut self, flat: &mut Flat, types: &mut Types, path: &str, validation: &mut Validation) {
        for name in ["oneOf", "anyOf"] {
            let Some(Node::Array(list)) = flat.get(name).cloned() else { continue };
            let members: Option<Vec<&Map>> = list.items.iter().map(|item| item.value.as_map()).collect();
            let Some(mut members) = members else { continue };
            members.retain(|member| {
                let is_null = member.len() == 1 && text(member, "type").as_deref() == Some("null");
                types.null |= is_null;
                !is_null
            });
            if let Some(keys) = rules::one_not_null(&members) {
                self.uses_assert |= validation.again("one_not_null", Some(keys));
            } else if rules::is_ip(&members) {
                self.uses_assert |= validation.again("format", Some(quoted("ip")));
            } else if let [one] = members[..] {
                flat.merge(one, path, self.notes);
            } else {
                let only_type = |member: &&Map| {
                    let name = text(member, "type").filter(|name| name != "object" && name != "array");
                    (member.len() == 1).then_some(name).flatten()
                };
                let (plain, rest): (Vec<&Map>, Vec<&Map>) = members.iter().partition(|map| only_type(map).is_some());
                let rest_is_collection = |map: &&Map| matches!(text(map, "type").as_deref(), Some("object" | "array"));
                if rest.len() > 1 || !rest.iter().all(rest_is_collection) {
                    continue;
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
    }

    /// The sample value of the types, and what stands below it.
    fn sample(
        &mut self,
        flat: &mut Flat,
        types: &mut Types,
        path: &str,
        validation: &mut Validation,
    ) -> Result<Place, Failure> {
        let preserves = flat.remove("x-kubernetes-preserve-unknown-fields").is_some_and(|value| is_true(&value));
        let alternatives = ["oneOf", "anyOf"].iter().any(|name| flat.get(name).is_some());
        let is_open = preserves && flat.get("properties").is_none();
        let collections = usize::from(types.object) + usize::from(types.array);
        if alternatives || is_open || (types.count() == 0 && !types.null) || collections > 1 {
            if collections > 1 {
                self.notes.unsupported("type", path);
            }
            for name in
                ["properties", "items", "additionalProperties", "patternProperties", "required", "oneOf", "anyOf"]
            {
                if flat.remove(name).is_some_and(|_| !matches!(name, "required" | "additionalProperties")) {
                    self.notes.unsupported(name, path);
                }
            }
            types.null = true;
            return Ok(ANY);
        }
        let value = if types.object {
            Sample::Map(self.items(flat, path, preserves, validation)?)
        } else if types.array {
            let item = match flat.remove("items") {
                Some(schema @ Node::Map(_)) => self.place(&schema, &format!("{path}[]"), Role::ArrayItem)?,
                Some(Node::Scalar(Scalar::Bool(true))) | None => bare_any(),
                Some(_) => {
                    self.notes.unsupported("items", path);
                    bare_any()
                }
            };
            Sample::Array(Box::new(item))
        } else {
            Sample::Scalar(types.kinds.first().map_or(Scalar::Null, |kind| zero(*kind)))
        };
        let kinds = if types.count() == 1 && !types.kinds.is_empty() { Vec::new() } else { types.kinds.clone() };
        Ok(Place { value, besides: Besides { null: types.null, kinds, ..Besides::default() }, ..Place::default() })
    }

    fn items(
        &mut self,
        flat: &mut Flat,
        path: &str,
        preserves: bool,
        validation: &mut Validation,
    ) -> Result<Vec<(Scalar, Place)>, Failure> {
        let required = match flat.remove("required") {
            Some(Node::Array(list)) => list.items.iter().map(|item| item.value.clone()).collect(),
            Some(_) => {
                self.notes.unsupported("required", path);
                Vec::new()
            }
            None => Vec::new(),
        };
        let mut names = Map::new();
        for name in required {
            if let Node::Scalar(name) = name
                && names.find(&name).is_none()
            {
                names.push_new(name, Node::NULL);
            }
        }
        let mut items = Vec::new();
        let properties = flat.remove("properties");
        let is_closed = properties.is_some();
        if let Some(properties) = properties.as_ref().and_then(Node::as_map) {
            for item in properties.iter() {
                let required = names.find(&item.key).is_some();
                let place = self.place(&item.value, &step(path, &item.key), Role::Item { required })?;
                items.push((item.key.clone(), place));
            }
            names.edit(|names| names.retain(|name| properties.get(&name.key).is_none()));
        }
        let patterns = flat.remove("patternProperties");
        let has_patterns = patterns.is_some();
        for item in patterns.iter().filter_map(Node::as_map).flat_map(Map::iter) {
            let mut place = self.place(&item.value, &format!("{path}.*"), Role::FreeItem)?;
            match rules::whole_key_pattern(&key_text(&item.key)) {
                Some(pattern) => {
                    place.besides.keys = Keys::Matching;
                    place.annotations.insert(0, format!("key allowed={}, expects=\"0+\"", quoted(&pattern)));
                    items.push((free_name(&items), place));
                }
                None => self.notes.unsupported("patternProperties", path),
            }
        }
        if let Some(value) = flat.remove("unevaluatedProperties")
            && is_true(&value)
        {
            self.notes.unsupported("unevaluatedProperties", path);
        }
        let free = match flat.remove("additionalProperties") {
            Some(schema @ Node::Map(_)) => Some(self.place(&schema, &format!("{path}.*"), Role::FreeItem)?),
            Some(Node::Scalar(Scalar::Bool(false))) => None,
            Some(_) => Some(bare_any()),
            None if preserves || (!is_closed && !has_patterns) => Some(bare_any()),
            None => None,
        };
        let is_free = free.is_some() || has_patterns;
        if let Some(mut place) = free {
            place.annotations.insert(0, "any-key".to_owned());
            place.besides.keys = Keys::Any;
            items.push((free_name(&items), place));
        }
        for name in names.iter() {
            match (&name.key, is_free) {
                (Scalar::Str(_), true) => {
                    self.uses_assert |= validation.again("contains", literal(&Node::Scalar(name.key.clone())));
                }
                _ => self.notes.unsupported("required", path),
            }
        }
        Ok(items)
    }

    /// Writes the annotations of a place, in their order.
    fn annotate(
        &mut self,
        place: &mut Place,
        flat: &mut Flat,
        types: &Types,
        path: &str,
        role: Role,
        validation: &Validation,
    ) {
        let mut lines = Vec::new();
        for (keyword, annotation) in [("title", "title"), ("description", "desc")] {
            match flat.remove(keyword) {
                Some(Node::Scalar(Scalar::Str(text))) => lines.push(format!("{annotation} {}", quoted(&text.to_str()))),
                Some(_) => self.notes.unsupported(keyword, path),
                None => {}
            }
        }
        match flat.remove("deprecated") {
            Some(value) if is_true(&value) && role != Role::Document => lines.push("deprecated \"deprecated\"".into()),
            Some(value) if is_true(&value) => self.notes.unsupported("deprecated", path),
            _ => {}
        }
        lines.extend(self.examples(place, flat, path));
        let is_any = place.besides.any;
        let only_null = types.count() == 0 && types.null && !is_any;
        if types.null && !is_any && !only_null {
            lines.push("nullable".to_owned());
        }
        if is_any {
            lines.push("type any=True".to_owned());
        } else if only_null {
            lines.push("type one_of=\"null\"".to_owned());
        } else if types.count() > 1 {
            let names: Vec<String> = types.kinds.iter().map(|kind| quoted(kind.name())).collect();
            let inferred = if types.object || types.array { ", or_inferred=True" } else { "" };
            lines.push(format!("type one_of=[{}]{inferred}", names.join(", ")));
        }
        let has_default = self.default(place, flat, types, path, role, &mut lines);
        if role == (Role::Item { required: true }) && !has_default {
            lines.push("required".to_owned());
        }
        let write_only = flat.remove("writeOnly").is_some_and(|value| is_true(&value));
        let is_password = text(&flat.keywords, "format").as_deref() == Some("password");
        if is_password {
            flat.remove("format");
        }
        if write_only || is_password {
            lines.push("secret".to_owned());
        }
        if let Some(rules) = validation.text() {
            lines.push(format!("validation {rules}"));
        }
        place.annotations.extend(lines);
    }

    fn examples(&mut self, place: &Place, flat: &mut Flat, path: &str) -> Option<String> {
        let description = match flat.remove("x-example-description") {
            Some(Node::Scalar(Scalar::Str(text))) => Some(text.to_string()),
            _ => None,
        };
        let mut values = Vec::new();
        values.extend(flat.remove("example"));
        match flat.remove("examples") {
            Some(Node::Array(list)) => values.extend(list.items.iter().map(|item| item.value.clone())),
            Some(_) => self.notes.unsupported("examples", path),
            None => {}
        }
        let mut texts = Vec::new();
        for value in values {
            let value = self.fitted(place, value);
            match literal(&value).filter(|_| place.takes(&value)) {
                Some(text) => texts.push(text),
                None => self.notes.unsupported("examples", path),
            }
        }
        match (&texts[..], &description) {
            ([], _) => None,
            ([one], None) => Some(format!("example {one}")),
            (texts, _) => {
                let name = quoted(description.as_deref().unwrap_or_default());
                let pairs: Vec<String> = texts.iter().map(|text| format!("({name}, {text})")).collect();
                Some(format!("examples {}", pairs.join(", ")))
            }
        }
    }

    /// Puts the default where it belongs: into the sample, or into an annotation. Says whether there is one.
    fn default(
        &mut self,
        place: &mut Place,
        flat: &mut Flat,
        types: &Types,
        path: &str,
        role: Role,
        lines: &mut Vec<String>,
    ) -> bool {
        let Some(default) = flat.remove("default") else { return false };
        let default = self.fitted(place, default);
        if !place.takes(&default) {
            self.notes.unsupported("default", path);
            return false;
        }
        match (&default, &mut place.value) {
            (Node::Scalar(scalar), Sample::Scalar(sample)) => {
                if place.besides.any || !scalar.is_null() {
                    *sample = scalar.clone();
                }
                if types.null && !scalar.is_null() && !place.besides.any && role != Role::ArrayItem {
                    lines.extend(literal(&default).map(|text| format!("default {text}")));
                }
                true
            }
            (Node::Scalar(Scalar::Null), _) => true,
            (Node::Map(map), Sample::Map(_)) if map.is_empty() && types.count() == 1 && !types.null => true,
            (Node::Array(list), Sample::Array(_)) if list.items.is_empty() && types.count() == 1 && !types.null => true,
            _ if role == Role::ArrayItem => {
                self.notes.unsupported("default", path);
                false
            }
            _ => match literal(&default) {
                Some(text) => {
                    lines.push(format!("default {text}"));
                    true
                }
                None => {
                    self.notes.unsupported("default", path);
                    false
                }
            },
        }
    }

    /// A value as this place holds it: JSON does not tell 5 from 5.0.
    fn fitted(&self, place: &Place, value: Node) -> Node {
        let is = |kind: Kind| matches!(&place.value, Sample::Scalar(sample) if kind_of(sample) == Some(kind));
        match value {
            Node::Scalar(Scalar::Float(float)) if is(Kind::Int) && float.fract() == 0.0 && float.abs() < 9e15 => {
                Node::Scalar(Scalar::Int(float as i64))
            }
            Node::Scalar(Scalar::Int(int)) if is(Kind::Float) && place.besides.kinds.is_empty() => {
                Node::Scalar(Scalar::Float(int as f64))
            }
            other => other,
        }
    }
}

/// A place that takes everything, to be annotated.
const ANY: Place = Place {
    annotations: Vec::new(),
    value: Sample::Scalar(Scalar::Null),
    besides: Besides { any: true, null: true, kinds: Vec::new(), keys: Keys::Own },
};

/// A place that takes everything and of which nothing else is known.
fn bare_any() -> Place {
    Place { annotations: vec!["type any=True".to_owned()], ..ANY }
}

fn zero(kind: Kind) -> Scalar {
    match kind {
        Kind::Bool => Scalar::Bool(false),
        Kind::Int => Scalar::Int(0),
        Kind::Float => Scalar::Float(0.0),
        Kind::String => Scalar::from(""),
    }
}

/// A key for an item that stands for others: `_`, or `__` where that is taken.
fn free_name(items: &[(Scalar, Place)]) -> Scalar {
    let mut name = "_".to_owned();
    while items.iter().any(|(key, _)| key.as_str().is_some_and(|key| *key == *name)) {
        name.push('_');
    }
    Scalar::from(&*name)
}

fn text(map: &Map, name: &str) -> Option<String> {
    match &map.get_str(name)?.value {
        Node::Scalar(Scalar::Str(text)) => Some(text.to_string()),
        _ => None,
    }
}

fn is_true(node: &Node) -> bool {
    matches!(node, Node::Scalar(Scalar::Bool(true)))
}
