//! Reads YAML maps and lists and reports wrong types and unknown keys, with suggestions.
//!
//! If the text is YAML, a reader never stops at a problem: it reports it and continues, so that one
//! run shows all problems of a file.

use std::sync::Arc;

use ytterby_diag::{Diagnostic, Edit, Help, Id, Label, Part, Pos, Readers, Role, Safety, Source, Sources};
use ytterby_text::{Str, spelling};
use ytterby_yaml::{NodeId, ReadOptions, Style, Tree, View, parse};

use crate::keys::{self, Key};
use crate::value::{Data, DataScalar, Placed, PlacedData, problem};

/// Maximum nesting of data in a project file.
const MAX_DEPTH: usize = 100;

/// The diagnostic ids of a kind of file.
#[derive(Clone, Copy)]
pub(crate) struct Ids {
    pub unknown_key: Id,
    pub wrong_type: Id,
    pub wrong_value: Id,
}

/// A file that is being read, and its problems so far.
pub(crate) struct Reader {
    pub tree: Tree,
    pub source: Arc<Source>,
    pub ids: Ids,
    pub problems: Vec<Diagnostic>,
}

/// An item of a map or a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedNode {
    pub pos: Pos,
    pub node: NodeId,
}

impl Reader {
    /// Parses a file. Its text becomes a source named `name`.
    ///
    /// # Errors
    /// If the text is not YAML.
    pub fn new(name: &str, text: Str, ids: Ids, sources: &Sources) -> Result<Reader, Box<Diagnostic>> {
        let readers = Readers { outline: ytterby_yaml::outline, ..Readers::default() };
        let file = sources.add(Source::new(name, text.clone()).with_place(Some(name)).with_readers(readers));
        let source = sources.get(file).expect("the source was just added");
        let tree = parse(&text, file, &ReadOptions { comments: false, ..ReadOptions::default() })
            .map_err(|error| parse_problem(error.into()))?;
        Ok(Reader { tree, source, ids, problems: Vec::new() })
    }

    /// The content of the only document; `None` for an empty file.
    pub fn root(&mut self) -> Option<PlacedNode> {
        let documents = self.tree.documents().to_vec();
        let is_empty = |node| matches!(self.tree.value(node), View::Scalar(ytterby_yaml::Scalar::Null));
        let mut filled = documents.iter().filter(|document| !is_empty(document.value));
        let first = filled.next()?;
        let pos = Pos::new(self.tree.file(), self.tree.span(first.value).start);
        if let Some(second) = filled.next() {
            let hint = Some("join the documents into one".to_owned());
            self.problems.push(problem(
                self.ids.wrong_type,
                "expected one document, found several",
                second.pos,
                Part::Line,
                hint,
            ));
        }
        Some(PlacedNode { pos, node: first.value })
    }

    /// Adds a problem.
    pub fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// Adds a problem about the value of an item.
    pub fn wrong_value(&mut self, pos: Pos, message: impl Into<String>, hint: Option<String>) {
        self.problems.push(problem(self.ids.wrong_value, message, pos, Part::Value, hint));
    }

    /// The items of a map with string keys. Reports other values, other keys and duplicate keys.
    /// Null is an empty map.
    pub fn map(&mut self, item: PlacedNode, what: &str) -> Vec<(String, PlacedNode)> {
        let items = match self.tree.value(item.node) {
            View::Map(items) => items.to_vec(),
            View::Scalar(ytterby_yaml::Scalar::Null) => return Vec::new(),
            _ => {
                self.wrong_type(item, &format!("a map for {what}"), None);
                return Vec::new();
            }
        };
        let mut found: Vec<(String, PlacedNode)> = Vec::with_capacity(items.len());
        let mut seen = std::collections::HashMap::new();
        for map_item in items {
            let ytterby_yaml::Scalar::Str(key) = &map_item.key else {
                let written = self.key_text(map_item.pos);
                let quoted = format!("\"{written}\"");
                let message = format!("expected a string as key in {what}, found {}", scalar_kind(&map_item.key));
                let edit = Edit::replace(map_item.pos, Part::Key, quoted.clone());
                let hint = format!("quote it: {quoted}");
                let help = Help::new(hint.clone()).fixed_by(format!("Quote {written}"), vec![edit], Safety::Safe);
                let mut wrong = problem(self.ids.wrong_type, message, map_item.pos, Part::Key, Some(hint));
                wrong.helps = vec![help];
                self.problems.push(wrong);
                continue;
            };
            let key = key.to_str().into_owned();
            if let Some(first) = seen.insert(key.clone(), map_item.pos) {
                let label = Label::new(Role::Related, first, Part::Key).text("first given here");
                let hint = Some("remove one of the two".to_owned());
                let message = format!("duplicate key \"{key}\"");
                let twice = problem(Id::YAML_DUPLICATE_KEY, message, map_item.pos, Part::Key, hint);
                self.problems.push(twice.label(label));
                continue;
            }
            found.push((key, PlacedNode { pos: map_item.pos, node: map_item.value }));
        }
        found
    }

    /// The items of a map that allows only the keys of a table.
    pub fn table(&mut self, item: PlacedNode, what: &str, table: &'static [Key]) -> Vec<(&'static Key, PlacedNode)> {
        let mut found = Vec::new();
        for (name, item) in self.map(item, what) {
            match keys::find(table, &name) {
                Some(key) => found.push((key, item)),
                None => {
                    let unknown = unknown_key(self.ids.unknown_key, &name, item.pos, what, table);
                    self.problems.push(unknown);
                }
            }
        }
        found
    }

    /// The items of a list. Reports other values. Null is an empty list.
    pub fn list(&mut self, item: PlacedNode, what: &str) -> Vec<PlacedNode> {
        match self.tree.value(item.node) {
            View::Array(items) => items.iter().map(|item| PlacedNode { pos: item.pos, node: item.value }).collect(),
            View::Scalar(ytterby_yaml::Scalar::Null) => Vec::new(),
            View::Scalar(_) => {
                let written = self.text_of(item.node);
                let help = Help::new(format!("write it as a list: [{written}]"));
                let edit = Edit::replace(item.pos, Part::Value, format!("[{written}]"));
                let is_short = !written.contains(['\n', ',', '[', ']', '{', '}', '#']);
                let help = if is_short {
                    help.fixed_by("Write it as a list".to_owned(), vec![edit], Safety::Safe)
                } else {
                    help
                };
                self.wrong_type(item, &format!("a list for {what}"), Some(help));
                Vec::new()
            }
            View::Map(_) => {
                self.wrong_type(item, &format!("a list for {what}"), None);
                Vec::new()
            }
        }
    }

    /// A list of non-empty texts.
    pub fn texts(&mut self, item: PlacedNode, what: &str) -> Vec<Placed<String>> {
        let items = self.list(item, what);
        items.into_iter().filter_map(|item| self.text(item, what)).collect()
    }

    /// A non-empty text.
    pub fn text(&mut self, item: PlacedNode, what: &str) -> Option<Placed<String>> {
        match self.tree.value(item.node) {
            View::Scalar(ytterby_yaml::Scalar::Str(text)) if !text.as_bytes().is_empty() => {
                Some(Placed::new(text.to_str().into_owned(), item.pos))
            }
            View::Scalar(ytterby_yaml::Scalar::Str(_)) => {
                let hint = Some("write a text, or remove the key".to_owned());
                self.wrong_value(item.pos, format!("expected a text for {what}, found an empty one"), hint);
                None
            }
            View::Scalar(ytterby_yaml::Scalar::Null) | View::Map(_) | View::Array(_) => {
                self.wrong_type(item, &format!("a string for {what}"), None);
                None
            }
            View::Scalar(_) => {
                let written = format!("\"{}\"", self.text_of(item.node));
                let edit = Edit::replace(item.pos, Part::Value, written.clone());
                let help = Help::new(format!("quote it: {written}"));
                let help = help.fixed_by(format!("Write {written}"), vec![edit], Safety::Safe);
                self.wrong_type(item, &format!("a string for {what}"), Some(help));
                None
            }
        }
    }

    /// A boolean.
    pub fn bool(&mut self, item: PlacedNode, what: &str) -> Option<bool> {
        match self.tree.value(item.node) {
            View::Scalar(ytterby_yaml::Scalar::Bool(value)) => Some(*value),
            _ => {
                self.wrong_type(item, &format!("true or false for {what}"), None);
                None
            }
        }
    }

    /// A non-negative integer.
    pub fn count(&mut self, item: PlacedNode, what: &str) -> Option<u64> {
        match self.tree.value(item.node) {
            View::Scalar(ytterby_yaml::Scalar::Int(value)) if *value >= 0 => Some(*value as u64),
            View::Scalar(ytterby_yaml::Scalar::UInt(value)) => Some(*value),
            View::Scalar(ytterby_yaml::Scalar::Int(value)) => {
                let message = format!("expected a number that is not negative for {what}, found {value}");
                self.wrong_value(item.pos, message, Some("write 0 or more".to_owned()));
                None
            }
            _ => {
                self.wrong_type(item, &format!("a whole number for {what}"), None);
                None
            }
        }
    }

    /// Any value.
    pub fn value(&mut self, item: PlacedNode, what: &str) -> Option<PlacedData> {
        self.value_within(item, what, MAX_DEPTH)
    }

    fn value_within(&mut self, item: PlacedNode, what: &str, depth: usize) -> Option<PlacedData> {
        if depth == 0 {
            let message = format!("{what} is nested more than {MAX_DEPTH} levels deep");
            self.wrong_value(item.pos, message, Some("give large values in a values file".to_owned()));
            return None;
        }
        let data = match self.tree.value(item.node) {
            View::Scalar(value) => Data::Scalar(scalar(value)),
            View::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                let items = items.to_vec();
                for item in items {
                    list.push(self.value_within(PlacedNode { pos: item.pos, node: item.value }, what, depth - 1)?);
                }
                Data::List(list)
            }
            View::Map(items) => {
                let mut map: Vec<(DataScalar, PlacedData)> = Vec::with_capacity(items.len());
                let mut seen = std::collections::HashSet::new();
                let items = items.to_vec();
                for item in items {
                    if let ytterby_yaml::Scalar::Complex(_) = item.key {
                        let message = format!("a key in {what} is a map or a list");
                        let hint = Some("quote what contains braces: \"{name}\"".to_owned());
                        self.problems.push(problem(self.ids.wrong_type, message, item.pos, Part::Line, hint));
                        return None;
                    }
                    let key = scalar(&item.key);
                    if !seen.insert(format!("{key:?}")) {
                        let message = format!("duplicate key \"{}\"", self.key_text(item.pos));
                        let hint = Some("remove one of the two".to_owned());
                        self.problems.push(problem(Id::YAML_DUPLICATE_KEY, message, item.pos, Part::Key, hint));
                        continue;
                    }
                    let below = PlacedNode { pos: item.pos, node: item.value };
                    map.push((key, self.value_within(below, what, depth - 1)?));
                }
                Data::Map(map)
            }
        };
        Some(Placed::new(data, item.pos))
    }

    /// A scalar as written, without quotes.
    pub fn text_of(&self, node: NodeId) -> String {
        if let (View::Scalar(ytterby_yaml::Scalar::Str(text)), true) =
            (self.tree.value(node), self.tree.style(node) != Style::Plain)
        {
            return text.to_str().into_owned();
        }
        let span = self.tree.span(node);
        String::from_utf8_lossy(&self.source.text()[span.start as usize..span.end as usize]).into_owned()
    }

    /// Adds a problem about the type of an item.
    pub fn wrong_type(&mut self, item: PlacedNode, expected: &str, help: Option<Help>) {
        let found = match self.tree.value(item.node) {
            View::Scalar(value) => scalar_kind(value),
            View::Array(_) => "a list",
            View::Map(_) => "a map",
        };
        let message = format!("expected {expected}, found {found}");
        let help = help.or_else(|| form_of(expected).map(Help::new));
        let hint = help.as_ref().map(|help| help.text.plain().into_owned());
        let mut wrong = problem(self.ids.wrong_type, message, item.pos, Part::Value, hint);
        if let (Some(help), Some(own)) = (help, wrong.helps.first_mut()) {
            *own = help;
        }
        self.problems.push(wrong);
    }

    /// The key of the item at a position, as written.
    fn key_text(&self, pos: Pos) -> String {
        let range = self.source.part(pos.offset, &Part::Key).unwrap_or(pos.offset..pos.offset);
        String::from_utf8_lossy(&self.source.text()[range.start as usize..range.end as usize]).into_owned()
    }
}

/// An example of the expected form.
fn form_of(expected: &str) -> Option<&'static str> {
    let forms = [
        ("a map ", "write a key and its value on each line, or {key: value}"),
        ("a list ", "write each item on its own line after a dash, or [item, item]"),
        ("a string ", "write a text"),
        ("a whole number ", "write a number without quotes: 3"),
        ("true or false ", "write true or false without quotes"),
        ("strings, numbers or booleans ", "write single values: [eu, us], [1, 2]"),
    ];
    forms.into_iter().find(|(start, _)| expected.starts_with(start)).map(|(_, form)| form)
}

/// The problem of an unknown key.
fn unknown_key(id: Id, name: &str, pos: Pos, what: &str, table: &'static [Key]) -> Diagnostic {
    let names = || table.iter().map(|key| key.name);
    let near = spelling::closest(name, names(), spelling::tolerance(name).max(2));
    let message = format!("unknown key \"{name}\" in {what}");
    match near {
        Some(near) => {
            let hint = format!("did you mean \"{near}\"?");
            let edit = Edit::replace(pos, Part::Key, near);
            let help = Help::new(hint.clone());
            let help = help.fixed_by(format!("Change \"{name}\" to \"{near}\""), vec![edit], Safety::Likely);
            let mut unknown = problem(id, message, pos, Part::Key, Some(hint));
            unknown.helps = vec![help];
            unknown
        }
        None => {
            let names: Vec<&str> = names().collect();
            problem(id, message, pos, Part::Key, Some(format!("keys are {}", names.join(", "))))
        }
    }
}

/// A syntax error, with its position in the text rendering. ytt's text for it lacks the last
/// bracket, and ytt does not read this file.
fn parse_problem(error: Diagnostic) -> Diagnostic {
    let Some(pos) = error.primary().map(|label| label.pos) else { return error };
    let words = error.message.clone();
    error.reference(words.then(" (").at(pos).then(")"))
}

fn scalar(value: &ytterby_yaml::Scalar) -> DataScalar {
    match value {
        ytterby_yaml::Scalar::Null | ytterby_yaml::Scalar::Complex(_) => DataScalar::Null,
        ytterby_yaml::Scalar::Bool(value) => DataScalar::Bool(*value),
        ytterby_yaml::Scalar::Int(value) => DataScalar::Int(*value),
        ytterby_yaml::Scalar::UInt(value) => DataScalar::UInt(*value),
        ytterby_yaml::Scalar::Float(value) => DataScalar::Float(*value),
        ytterby_yaml::Scalar::Str(text) => DataScalar::Text(text.to_str().into_owned()),
    }
}

fn scalar_kind(value: &ytterby_yaml::Scalar) -> &'static str {
    match value {
        ytterby_yaml::Scalar::Complex(_) => "a map or a list",
        other => Data::Scalar(scalar(other)).kind(),
    }
}
