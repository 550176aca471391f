//! `-o values`: a file of plain values to fill in.
//!
//! It contains everything that can be set, with its documentation and its default. Optional values
//! are commented out, so that the file changes only what its user wants to change: without the
//! leading `#`, a line is a value.
//!
//! A file that was not edited must not be accepted as complete: required values are empty in it,
//! which is an error, or are commented out if null would be valid.

use ytterby_diag::Pos;

use super::defaults::default_holds;
use super::keywords::array;
use super::markdown::json_text;
use super::model::{charge_texts, lists_null, must_be, rules, type_name};
use crate::limits::working_at;
use crate::node::{Document, DocumentSet, FileDocuments, Map, MapItem, Node, Scalar};
use crate::output;
use crate::schema::{AllowedKeys, MapItemType, MapType, Presence, ScalarType, Schema, Slot, Type, redact};
use crate::validate::Detail;

/// The file for a schema.
pub(crate) fn values_file(schema: &Schema) -> String {
    let root = &schema.root;
    let mut file = OptionsFile { lines: Vec::new(), depth: 0, is_active: true, is_secret: root.secret };
    file.remarks(root);
    match &root.ty {
        Type::Map(map) => file.items(map, &root.default, 0, true),
        Type::Array(array) if is_empty(&root.default) => file.sample(&array.item, 0),
        _ => file.value(None, &file.shown(&root.default, root), 0, false),
    }
    file.into_text()
}

/// A line, without the indentation and comment mark of its position.
struct ValuesLine {
    depth: usize,
    /// Whether it is active, not commented out.
    is_active: bool,
    text: String,
}

struct OptionsFile {
    lines: Vec<ValuesLine>,
    /// The indentation of remarks.
    depth: usize,
    is_active: bool,
    /// Whether something around the current node is secret.
    is_secret: bool,
}

impl OptionsFile {
    /// All items of a map, and further items of its default.
    fn items(&mut self, map: &MapType, default: &Node, depth: usize, is_active: bool) {
        let given = |key: &Scalar| default.as_map().and_then(|default| default.get(key)).map(|item| &item.value);
        for item in map.all_items() {
            if !matches!(item.presence, Presence::Removed(_)) {
                let outer = self.is_secret;
                self.is_secret |= item.slot.secret;
                let value = given(&item.key).unwrap_or(&item.slot.default);
                crate::deep(|| self.item(item, value, depth, is_active && must_be_given(item)));
                self.is_secret = outer;
            }
        }
        let is_secret = self.is_secret || map.patterns.iter().any(|item| item.slot.secret);
        for item in default.as_map().into_iter().flat_map(Map::iter).filter(|_| !is_secret) {
            if map.literal(&item.key).is_none() {
                self.value(Some(&item.key), &item.value, depth, false);
            }
        }
    }

    fn item(&mut self, item: &MapItemType, default: &Node, depth: usize, is_active: bool) {
        let slot = &item.slot;
        let _working = working_at(slot.pos);
        if depth == 0 && !self.lines.is_empty() {
            self.lines.push(ValuesLine { depth: 0, is_active: true, text: String::new() });
        }
        (self.depth, self.is_active) = (depth, is_active);
        if slot.required.is_some() {
            self.remark("Required.");
        }
        if let Presence::Pattern(rule) = &item.presence {
            self.remark(&format!("Keys: {}.", rule.allowed.as_ref().map(AllowedKeys::keys).unwrap_or_default()));
        }
        self.remarks(slot);
        // The placeholder of a secret might satisfy its rules.
        let is_blank = is_active && (slot.required.is_some() || self.is_secret);
        let shown = if is_blank { Node::NULL } else { self.shown(default, slot) };
        if let (true, Some(shape)) = (slot.required.is_some() && default.is_null(), first_shape(&slot.ty)) {
            self.key(&item.key, depth, false);
            (self.depth, self.is_active) = (depth + 1, false);
            self.remark("The first shape:");
            return self.items(shape, &shape.default, depth + 1, false);
        }
        match (&slot.ty, slot.ty.as_map()) {
            (_, Some(map)) if map.all_items().any(|item| !matches!(item.presence, Presence::Removed(_))) => {
                // The items of a nullable map are shown as documentation.
                let is_map = !default.is_null();
                self.key(&item.key, depth, is_active);
                let inner = if is_map { default } else { &map.default };
                self.items(map, inner, depth + 1, is_active && is_map);
            }
            (Type::Array(array), _) if is_empty(default) || default.is_null() => {
                self.key(&item.key, depth, is_active);
                self.sample(&array.item, depth);
            }
            _ if is_blank => self.key(&item.key, depth, true),
            _ => self.value(Some(&item.key), &shown, depth, is_active),
        }
    }

    /// A value of a slot without its secrets.
    fn shown(&self, value: &Node, slot: &Slot) -> Node {
        if !self.is_secret && !slot.secret {
            return redact(value, slot);
        }
        match slot.ty {
            Type::Scalar(ScalarType::Int) => Node::Scalar(Scalar::Int(0)),
            Type::Scalar(ScalarType::Float) => Node::Scalar(Scalar::Float(0.0)),
            Type::Scalar(ScalarType::Bool) => Node::Scalar(Scalar::Bool(false)),
            _ => Node::str(""),
        }
    }

    /// The key of a value that follows on separate lines.
    fn key(&mut self, key: &Scalar, depth: usize, is_active: bool) {
        self.value(Some(key), &Node::NULL, depth, is_active);
        if let Some(line) = self.lines.last_mut() {
            line.text.truncate(line.text.len() - " null".len());
        }
    }

    /// A sample item of a list, commented out.
    fn sample(&mut self, slot: &Slot, depth: usize) {
        (self.depth, self.is_active) = (depth + 1, false);
        self.remarks(slot);
        let Some(map) = slot.ty.as_map().filter(|map| map.all_items().next().is_some()) else {
            return self.value(None, &array([self.shown(&slot.default, slot)]), depth, false);
        };
        let first = self.lines.len();
        self.items(map, &map.default, depth + 1, false);
        // The first line that is not a remark follows the dash.
        if let Some(line) = self.lines[first..].iter_mut().find(|line| !line.text.starts_with('#')) {
            (line.depth, line.text) = (depth, format!("- {}", line.text));
        }
    }

    /// The documentation of a slot.
    fn remarks(&mut self, slot: &Slot) {
        let docs = &slot.docs;
        charge_texts(docs);
        for text in [&docs.title, &docs.description].into_iter().flatten() {
            self.remark(&text.to_str());
        }
        if slot.secret {
            self.remark("Secret.");
        }
        for remark in docs.remarks() {
            self.remark(&format!("{}: {}", remark.label(), remark.text));
        }
        if matches!(slot.ty, Type::Union(_) | Type::Shapes(_)) || slot.nullable {
            let null = if slot.nullable || lists_null(&slot.ty) { " or null" } else { "" };
            self.remark(&format!("Type: {}{null}.", type_name(&slot.ty)));
        }
        if let Some(text) = must_be(&rules(slot, Detail::Texts)) {
            self.remark(&text);
        }
        let is_secret = self.is_secret;
        for example in docs.examples.iter().filter(|_| !is_secret) {
            self.remark(&format!("Example: {}", json_text(&redact(&example.value, slot))));
        }
    }

    /// A comment; texts may have several lines.
    fn remark(&mut self, text: &str) {
        for line in text.trim().lines() {
            let text = format!("# {line}").trim_end().to_owned();
            self.lines.push(ValuesLine { depth: self.depth, is_active: self.is_active, text });
        }
    }

    /// A value as YAML, for the map item of a key.
    fn value(&mut self, key: Option<&Scalar>, value: &Node, depth: usize, is_active: bool) {
        let value = match key {
            Some(key) => {
                Node::map([MapItem::new(key.clone(), value.clone(), Pos::UNKNOWN)].into_iter().collect::<Map>())
            }
            None => value.clone(),
        };
        let items = vec![Document::new(value, Pos::UNKNOWN)];
        match output::yaml([FileDocuments::Nodes(DocumentSet { items })]) {
            Ok(yaml) => {
                let lines = String::from_utf8_lossy(&yaml).into_owned();
                self.lines.extend(lines.lines().map(|line| ValuesLine { depth, is_active, text: line.to_owned() }));
            }
            Err(failure) => self.remark(&failure.to_string()),
        }
    }

    fn into_text(self) -> String {
        let mut out = String::new();
        // The comment mark is in the column where the outermost commented-out value begins.
        let mut comment_depth = None;
        for ValuesLine { depth, is_active, text } in self.lines {
            comment_depth = if is_active { None } else { Some(comment_depth.map_or(depth, |at: usize| at.min(depth))) };
            let (outer, inner) = match comment_depth {
                Some(at) => (at, depth - at),
                None => (depth, 0),
            };
            out.push_str(&"  ".repeat(outer));
            // Remarks are comments already.
            if comment_depth.is_some() && (inner > 0 || !text.starts_with('#')) {
                out.push('#');
            }
            out.push_str(&"  ".repeat(inner));
            out.push_str(&text);
            out.push('\n');
        }
        out
    }
}

/// The first of several shapes, where it is a map.
fn first_shape(ty: &Type) -> Option<&MapType> {
    match ty {
        Type::Shapes(shapes) => shapes.slots.first().and_then(|slot| slot.ty.as_map()).map(|map| &**map),
        _ => None,
    }
}

fn is_empty(node: &Node) -> bool {
    matches!(node, Node::Array(array) if array.items.is_empty())
}

/// Whether a run fails if an item is not given, and a line can express that.
fn must_be_given(item: &MapItemType) -> bool {
    let slot = &item.slot;
    let is_always = matches!(item.presence, Presence::Always);
    if slot.required.is_some() {
        // Null would be valid, and so would an empty map or array: these stay comments.
        return is_always
            && match &slot.ty {
                Type::Map(map) => crate::deep(|| map.items.iter().any(must_be_given)) && !slot.allows_null(),
                _ => !slot.allows_null() && !matches!(slot.ty, Type::Shapes(_)),
            };
    }
    is_always
        && (!default_holds(slot)
            || match &slot.ty {
                Type::Map(map) if !slot.default.is_null() => crate::deep(|| map.items.iter().any(must_be_given)),
                _ => false,
            })
}
