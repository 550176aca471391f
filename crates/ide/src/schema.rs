//! The schema as written: types, defaults, descriptions, rules and the place of each declaration.
//!
//! It comes from the recovering model, so that completion and hover work while a schema is being
//! edited. The engine checks values.

use std::collections::HashSet;
use std::sync::Arc;

use ytterby::facts::is_prose;
use ytterby_yaml::Scalar;

use crate::TextRange;
use crate::file::File;
use crate::model::{Model, ModelKind, TokenKind, YamlItem, outline, string_content};
use crate::project::{FileRange, FileRole, SnapshotFile};

/// The data values that a library declares.
#[derive(Clone, Debug, Default)]
pub struct LibrarySchema {
    /// All keys; parents come before their children.
    pub nodes: Vec<SchemaNode>,
    /// The keys at the top.
    pub top: Vec<usize>,
    /// Whether a schema declares them; otherwise they come from data values documents.
    pub is_declared: bool,
}

/// A declared data value.
#[derive(Clone, Debug, Default)]
pub struct SchemaNode {
    /// The key; empty for items of arrays.
    pub key: String,
    /// The node that contains it.
    pub parent: Option<usize>,
    /// The keys of a map.
    pub children: Vec<usize>,
    /// The item type of an array.
    pub element: Option<usize>,
    /// `integer`, `string`, `map`, …
    pub type_name: String,
    /// The default as written; `None` for maps.
    pub default: Option<String>,
    /// `@schema/title`.
    pub title: Option<String>,
    /// `@schema/desc`.
    pub description: Option<String>,
    /// Examples as written.
    pub examples: Option<String>,
    /// The arguments of `@schema/validation`, as text: `min=1`.
    pub rules: Vec<String>,
    /// The members of `one_of`, as code.
    pub members: Vec<String>,
    /// Texts of other annotations that document, with their names: `("deprecated", "use port")`.
    pub remarks: Vec<(String, String)>,
    /// Whether it has `@schema/deprecated` or `@schema/removed`.
    pub is_retired: bool,
    /// `@schema/nullable`.
    pub is_nullable: bool,
    /// `@schema/required`.
    pub is_required: bool,
    /// Whether it or a parent has `@schema/secret`.
    pub is_secret: bool,
    /// Whether undeclared keys are allowed: any type, code, shapes.
    pub is_open: bool,
    /// Whether values may have other keys in its place: `@schema/any-key`, `@schema/key allowed=…`.
    pub is_pattern: bool,
    /// Where it is declared, the first time first.
    pub places: Vec<FileRange>,
}

impl LibrarySchema {
    /// The schema in these files, or their data values if there is none.
    pub fn of(files: &[Arc<File>]) -> LibrarySchema {
        let mut schema = LibrarySchema::default();
        schema.add_all(files, Model::is_schema);
        schema.is_declared = !schema.top.is_empty() || has_document(files, Model::is_schema);
        if !schema.is_declared {
            schema.add_all(files, Model::is_values);
        }
        schema
    }

    fn add_all(&mut self, files: &[Arc<File>], is_it: fn(&Model, usize) -> bool) {
        for file in files {
            let model = file.model();
            for document in (0..model.documents.len()).filter(|document| is_it(model, *document)) {
                if model.is_annotated(document, &["library/ref"]) {
                    continue;
                }
                for item in model.children(document, None) {
                    self.add(file, item, None, false);
                }
            }
        }
    }

    fn add(&mut self, file: &File, item: usize, parent: Option<usize>, is_secret: bool) {
        let model = file.model();
        let YamlItem { key, key_range, is_array_item, .. } = &model.items[item];
        let place = FileRange { path: file.path.clone(), range: *key_range };
        let node = if *is_array_item {
            let Some(parent) = parent else { return };
            match self.nodes[parent].element {
                Some(element) => element,
                None => {
                    let element = self.new_node(String::new(), Some(parent));
                    self.nodes[parent].element = Some(element);
                    element
                }
            }
        } else {
            let Some(key) = key.clone().filter(|_| model.items[item].has_colon) else { return };
            let siblings = parent.map_or(&self.top, |parent| &self.nodes[parent].children);
            match siblings.iter().copied().find(|node| self.nodes[*node].key == key) {
                Some(node) => node,
                None => {
                    let node = self.new_node(key, parent);
                    match parent {
                        Some(parent) => self.nodes[parent].children.push(node),
                        None => self.top.push(node),
                    }
                    node
                }
            }
        };
        self.nodes[node].places.push(place);
        self.nodes[node].is_secret |= is_secret;
        self.describe(file, item, node);
        if self.nodes.len() < 100_000 {
            let is_secret = self.nodes[node].is_secret;
            for child in model.children(model.items[item].document, Some(item)) {
                self.add(file, child, Some(node), is_secret);
            }
        }
        let has_array = self.nodes[node].element.is_some();
        let has_map = !self.nodes[node].children.is_empty();
        let described = &mut self.nodes[node];
        match (has_array, has_map) {
            (true, _) => described.type_name = "array".to_owned(),
            (_, true) => described.type_name = "map".to_owned(),
            _ => {}
        }
        if has_array {
            described.default =
                Some(described.default.take().filter(|text| text.contains('#')).unwrap_or("[]".to_owned()));
        } else if has_map {
            described.default = None;
        }
    }

    fn new_node(&mut self, key: String, parent: Option<usize>) -> usize {
        self.nodes.push(SchemaNode { key, parent, ..SchemaNode::default() });
        self.nodes.len() - 1
    }

    fn describe(&mut self, file: &File, item: usize, node: usize) {
        let (model, text) = (file.model(), &*file.text);
        let mut opens_parent = false;
        let node = &mut self.nodes[node];
        let value = model.items[item].value.of(text);
        let code = code_of_value(model, item).map(|range| range.of(text).trim().to_owned());
        match (&code, value) {
            (Some(code), _) => {
                node.type_name = "any".to_owned();
                node.default = Some(format!("#@ {code}"));
                node.is_open = true;
            }
            (None, "") => {
                node.type_name = "null".to_owned();
                node.default = Some("null".to_owned());
            }
            (None, value) => {
                node.type_name = type_of(value).to_owned();
                node.default = Some(value.to_owned());
            }
        }
        for annotation in &model.items[item].annotations {
            let annotation = &model.annotations[*annotation];
            let arguments = arguments(model, text, annotation.arguments);
            let first = arguments.first().map(|argument| argument_text(&argument.value));
            match annotation.name.as_str() {
                "schema/desc" | "schema/doc" => node.description = first,
                "schema/title" => node.title = first,
                "schema/example" | "schema/examples" => {
                    node.examples = Some(annotation.arguments.of(text).trim().to_owned());
                }
                "schema/nullable" => {
                    node.is_nullable = true;
                    node.default = Some("null".to_owned());
                }
                "schema/required" => node.is_required = true,
                "schema/secret" => node.is_secret = true,
                "schema/default" => {
                    node.default = Some(annotation.arguments.of(text).trim().to_owned());
                }
                "schema/type" => {
                    if arguments.iter().any(|argument| argument.name.as_deref() == Some("any")) {
                        node.type_name = "any".to_owned();
                        node.is_open = true;
                    }
                    if arguments.iter().any(|argument| argument.name.as_deref() != Some("any")) {
                        node.is_open = true;
                        node.type_name = union_name(&arguments, &node.type_name);
                    }
                }
                "schema/any-key" => {
                    node.is_pattern = true;
                    opens_parent = true;
                }
                "schema/key" => {
                    node.is_pattern = arguments.iter().any(|argument| argument.name.as_deref() == Some("allowed"));
                    opens_parent = true;
                }
                "schema/one-of" | "schema/any-of" | "schema/all-of" => node.is_open = true,
                "schema/validation" | "schema/validate" => {
                    for argument in arguments {
                        if matches!(argument.name.as_deref(), Some("one_of" | "enum")) {
                            node.members = list_members(&argument.value);
                        }
                        node.rules.push(argument.text.clone());
                    }
                }
                other => {
                    node.is_retired |= matches!(other, "schema/deprecated" | "schema/removed");
                    if let Some(("schema", name)) = other.split_once('/')
                        && is_prose(other)
                    {
                        node.remarks.push((name.to_owned(), first.unwrap_or_default()));
                    }
                }
            }
        }
        // A key that represents several: its map may contain others.
        if let Some(parent) = node.parent.filter(|_| opens_parent) {
            self.nodes[parent].is_open = true;
        }
    }

    /// The node at a path from the root; `None` if it is not declared.
    pub fn find(&self, path: &[Option<impl AsRef<str>>]) -> Option<usize> {
        let mut at: Option<usize> = None;
        for step in path {
            at = Some(self.step(at, step.as_ref().map(AsRef::as_ref))?);
        }
        at
    }

    /// The child of a node: a key, or its items.
    pub fn step(&self, from: Option<usize>, key: Option<&str>) -> Option<usize> {
        match (from, key) {
            (Some(from), None) => self.nodes[from].element,
            (from, Some(key)) => {
                let mut keys = self.keys(from).iter().copied();
                // A key that nothing declares is one of those that a pattern allows.
                let pattern = || self.keys(from).iter().copied().find(|node| self.nodes[*node].is_pattern);
                keys.find(|node| self.nodes[*node].key == key).or_else(pattern)
            }
            (None, None) => None,
        }
    }

    /// Whether a node, or the root, declares exactly this key.
    pub fn declares(&self, of: Option<usize>, key: &str) -> bool {
        self.keys(of).iter().any(|node| self.nodes[*node].key == key)
    }

    /// The keys of a node, or of the root.
    pub fn keys(&self, of: Option<usize>) -> &[usize] {
        of.map_or(&self.top, |of| &self.nodes[of].children)
    }

    /// The dotted path of a node.
    pub fn path(&self, node: usize) -> String {
        let mut pieces = Vec::new();
        let mut next = Some(node);
        while let Some(index) = next {
            let node = &self.nodes[index];
            pieces.push(if node.key.is_empty() { "[]" } else { &node.key });
            next = node.parent;
        }
        pieces.reverse();
        pieces.join(".").replace(".[]", "[]")
    }
}

fn has_document(files: &[Arc<File>], is_it: fn(&Model, usize) -> bool) -> bool {
    files.iter().any(|file| {
        let model = file.model();
        (0..model.documents.len()).any(|document| is_it(model, document))
    })
}

/// The code of a value.
pub fn code_of_value(model: &Model, item: usize) -> Option<TextRange> {
    let line = model.items[item].line;
    let from = model.regions.partition_point(|region| region.line < line);
    let on_line = model.regions[from..].iter().take_while(|region| region.line == line);
    let mut on_line = on_line.filter(|region| region.kind == crate::model::RegionKind::Value { item: Some(item) });
    on_line.next().map(|region| region.range)
}

/// The schema's name for the type of a scalar.
pub fn type_of(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'"' | b'\'' | b'|' | b'>') => return "string",
        Some(b'[') => return "array",
        Some(b'{') => return "map",
        Some(b'*') => return "any",
        _ => {}
    }
    match ytterby_yaml::resolve(value.as_bytes()) {
        Scalar::Null => "null",
        Scalar::Bool(_) => "boolean",
        Scalar::Int(_) | Scalar::UInt(_) => "integer",
        Scalar::Float(_) => "float",
        _ => "string",
    }
}

/// An argument of an annotation or call.
#[derive(Clone, Debug)]
pub struct WrittenArgument {
    /// Its name.
    pub name: Option<String>,
    /// The whole argument: `min=1`.
    pub text: String,
    /// Its value as written.
    pub value: String,
    /// Its range.
    pub range: TextRange,
}

/// The arguments in a range of code, split at commas outside of brackets.
pub fn arguments(model: &Model, text: &str, range: TextRange) -> Vec<WrittenArgument> {
    let from = model.tokens.partition_point(|token| token.range.start < range.start);
    let tokens: Vec<_> = model.tokens[from..].iter().take_while(|token| token.range.end <= range.end).collect();
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0_i32;
    for index in 0..=tokens.len() {
        let word = tokens.get(index).map(|token| token.range.of(text));
        match word {
            Some("(" | "[" | "{") => depth += 1,
            Some(")" | "]" | "}") => depth -= 1,
            Some(",") if depth > 0 => {}
            Some(",") | None => {
                let part = &tokens[start..index];
                start = index + 1;
                let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
                let whole = TextRange::new(first.range.start, last.range.end);
                let is_named = part.len() > 1 && first.kind == TokenKind::Name && part[1].range.of(text) == "=";
                let value = match part.get(2).filter(|_| is_named) {
                    Some(token) => TextRange::new(token.range.start, last.range.end).of(text),
                    None if is_named => "",
                    None => whole.of(text),
                };
                found.push(WrittenArgument {
                    name: is_named.then(|| first.range.of(text).to_owned()),
                    text: whole.of(text).to_owned(),
                    value: value.to_owned(),
                    range: whole,
                });
            }
            _ => {}
        }
    }
    found
}

/// The types that the arguments of `@schema/type` name, in words: `string or integer`.
fn union_name(arguments: &[WrittenArgument], inferred: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for argument in arguments {
        match argument.name.as_deref() {
            None => names.push(argument.value.clone()),
            Some("one_of") if argument.value.starts_with(['[', '(']) => names.extend(list_members(&argument.value)),
            Some("one_of") => names.push(argument.value.clone()),
            _ => {}
        }
    }
    let is_inferred = |argument: &WrittenArgument| argument.name.as_deref() == Some("or_inferred");
    let with_own = arguments.iter().any(|argument| is_inferred(argument) && argument.value == "True");
    let word = |name: &String| match argument_text(name).as_str() {
        "int" => "integer".to_owned(),
        "bool" => "boolean".to_owned(),
        "None" => "null".to_owned(),
        other => other.to_owned(),
    };
    let mut words: Vec<String> = names.iter().map(word).collect();
    if with_own || words.is_empty() {
        words.insert(0, inferred.to_owned());
    }
    let mut unique = HashSet::new();
    words.retain(|word| unique.insert(word.clone()));
    words.join(" or ")
}

/// The text of a string literal, or the code itself.
fn argument_text(code: &str) -> String {
    if code.starts_with(['"', '\'']) {
        return string_content(code).replace("\\\"", "\"").replace("\\n", "\n");
    }
    code.to_owned()
}

/// The members of a list literal, as code.
fn list_members(code: &str) -> Vec<String> {
    let Some(inner) = code.trim().strip_prefix(['[', '(']) else { return Vec::new() };
    let inner = inner.strip_suffix([']', ')']).unwrap_or(inner);
    let file = Model::new(inner, ModelKind::Starlark, true);
    arguments(&file, inner, TextRange::new(0, inner.len())).into_iter().map(|argument| argument.text).collect()
}

/// Converts a literal of code to a YAML scalar.
pub fn yaml_literal(code: &str) -> String {
    match code {
        "True" => "true".to_owned(),
        "False" => "false".to_owned(),
        "None" => "null".to_owned(),
        _ if code.starts_with(['"', '\'']) => {
            let content = argument_text(code);
            let is_plain = !content.is_empty()
                && type_of(&content) == "string"
                && content.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
                && content.starts_with(|c: char| c.is_alphanumeric());
            if is_plain { content } else { format!("\"{}\"", content.replace('\\', "\\\\").replace('"', "\\\"")) }
        }
        _ => code.to_owned(),
    }
}

/// The top-level keys of all schemas.
pub(crate) fn top_keys(files: &[SnapshotFile]) -> HashSet<String> {
    let mut keys = HashSet::new();
    for file in files.iter().filter(|file| file.file.text.contains("#@data/values-schema")) {
        let model = file.file.model();
        for document in (0..model.documents.len()).filter(|document| model.is_schema(*document)) {
            keys.extend(model.children(document, None).filter_map(|item| model.items[item].key.clone()));
        }
    }
    keys
}

/// Whether a plain file has only keys that a schema declares, so that it is probably not a
/// template.
pub(crate) fn looks_like_values(file: &SnapshotFile, declared: &HashSet<String>) -> bool {
    let File { text, .. } = &*file.file;
    if file.role != FileRole::Input || file.file.kind() != ModelKind::Yaml || text.contains("#@") || declared.is_empty()
    {
        return false;
    }
    let model = file.file.model();
    let mut keys = model.items.iter().filter(|item| item.parent.is_none()).map(|item| item.key.as_deref()).peekable();
    let is_declared = |key: Option<&str>| key.is_some_and(|key| declared.contains(key) && !matches!(key, "kind"));
    keys.peek().is_some() && keys.all(is_declared)
}

/// The text of a scalar without quotes.
pub fn scalar_text(value: &str) -> String {
    outline::unquoted(value)
}
