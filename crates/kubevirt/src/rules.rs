//! Parses rules from the text of an annotation.
//!
//! A text that is not a JSON array of objects cannot be parsed at all. Otherwise rules are
//! independent: an invalid one becomes an entry with its problem and offset, and the others remain
//! valid. Offsets are bytes in the annotation.

use std::collections::HashMap;

use ytterby_text::{Decimal, quantity, spelling};

use crate::json::{self, JsonError, JsonKind, JsonNode};
use crate::jsonpath::{JsonPath, PREFIX};
use crate::lints::Lint;
use crate::pattern::Pattern;
use crate::shape;

/// The annotation with the rules of a VM.
pub const ANNOTATION: &str = "vm.kubevirt.io/validations";

/// Keys of a rule, in the order of messages.
pub const KEYS: [&str; 12] = [
    "name",
    "rule",
    "path",
    "message",
    "valid",
    "justWarning",
    "min",
    "max",
    "minLength",
    "maxLength",
    "values",
    "regex",
];

/// All entries of an annotation in order.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// One per object of the array.
    pub entries: Vec<RuleEntry>,
}

/// One object of the array.
#[derive(Clone, Debug)]
pub struct RuleEntry {
    /// Its index in the array, from 0.
    pub index: usize,
    /// Its `name`, if it has a valid one.
    pub name: Box<str>,
    /// The offset of the object.
    pub offset: usize,
    /// The offset of its `name`.
    pub name_offset: usize,
    /// The rule, or the reason for there being none.
    pub state: EntryState,
    /// Unknown keys.
    pub unknown_keys: Vec<UnknownKey>,
}

/// An unknown key.
#[derive(Clone, Debug)]
pub struct UnknownKey {
    /// The key.
    pub key: Box<str>,
    /// Its offset.
    pub offset: usize,
    /// A similar known key.
    pub nearest: Option<&'static str>,
}

/// The result of parsing an object.
#[derive(Clone, Debug)]
pub enum EntryState {
    /// A rule to evaluate.
    Rule(Box<Rule>),
    /// An unknown kind of rule, which the format says to ignore.
    UnknownKind {
        /// Its `rule`.
        kind: Box<str>,
        /// Its offset.
        offset: usize,
        /// Its `message`, if any.
        message: Box<str>,
    },
    /// Something required is missing or wrong.
    Broken {
        /// All problems.
        faults: Vec<RuleDefect>,
        /// Its `path`, if it has one.
        path: Box<str>,
        /// Its `message`, if it has one.
        message: Box<str>,
    },
}

/// A problem of a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleDefect {
    /// The kind of problem.
    pub lint: Lint,
    /// Its offset.
    pub offset: usize,
    /// The problem.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

/// A valid rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The message for violations.
    pub message: Box<str>,
    /// The path of the values to check.
    pub path: JsonPath,
    /// The offset of the path.
    pub path_offset: usize,
    /// The rule is skipped if this does not exist.
    pub valid: Option<JsonPath>,
    /// The offset of `valid`.
    pub valid_offset: usize,
    /// Whether a violation is only a warning.
    pub just_warning: bool,
    /// The requirement.
    pub check: Check,
    /// Argument keys that this kind of rule does not use, and their offsets.
    pub unused: Vec<(&'static str, usize)>,
    /// Uses of extensions that the reference rejects: offset and reason.
    pub extensions: Vec<(usize, &'static str)>,
}

/// The requirement of a rule on each value.
#[derive(Clone, Debug)]
pub enum Check {
    /// An integer in a range.
    Integer(NumberRange),
    /// A string whose length is in a range.
    String(NumberRange),
    /// One of these values.
    Enum(Vec<RuleArgument<Box<str>>>),
    /// A match; without a pattern, anything matches.
    Regex(Option<RuleArgument<Result<Pattern, RuleDefect>>>),
}

impl Check {
    /// The name in `rule`.
    pub fn kind(&self) -> &'static str {
        match self {
            Check::Integer(_) => "integer",
            Check::String(_) => "string",
            Check::Enum(_) => "enum",
            Check::Regex(_) => "regex",
        }
    }
}

/// Bounds, both inclusive.
#[derive(Clone, Debug, Default)]
pub struct NumberRange {
    /// The minimum.
    pub min: Option<RuleArgument<Decimal>>,
    /// The maximum.
    pub max: Option<RuleArgument<Decimal>>,
}

/// An argument: a literal, or a path on the VM.
#[derive(Clone, Debug)]
pub enum RuleArgument<T> {
    /// A literal.
    Literal(T),
    /// `jsonpath::…`.
    Path(JsonPath),
}

/// The reason that an annotation cannot be parsed at all.
#[derive(Clone, PartialEq, Debug)]
pub enum Unreadable {
    /// It is not JSON.
    Json(JsonError),
    /// It is not text: a common mistake is to write rules as YAML.
    Stray {
        /// A description of the value.
        found: &'static str,
    },
    /// It is JSON, but not an array of objects.
    Shape {
        /// The offset of the wrong value.
        offset: usize,
        /// The actual and the expected type.
        message: String,
    },
}

impl Unreadable {
    /// The byte offset.
    pub fn offset(&self) -> usize {
        match self {
            Unreadable::Json(error) => error.cause(),
            Unreadable::Shape { offset, .. } => *offset,
            Unreadable::Stray { .. } => 0,
        }
    }

    /// The problem.
    pub fn message(&self) -> String {
        match self {
            Unreadable::Json(error) => error.message(),
            Unreadable::Shape { message, .. } => message.clone(),
            Unreadable::Stray { found } => format!("the annotation must be a string that contains JSON, found {found}"),
        }
    }

    /// How to fix it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Unreadable::Json(error) => error.hint(),
            Unreadable::Shape { .. } => Some("write a JSON array of objects: [{\"name\": …}, …]".to_owned()),
            Unreadable::Stray { .. } => Some("put `|` after its key and write JSON below".to_owned()),
        }
    }
}

/// Parses the text of an annotation. The empty text has no rules.
pub fn parse(text: &str) -> Result<Rules, Unreadable> {
    let (rules, strangers) = parse_each(text)?;
    strangers.into_iter().next().map_or(Ok(rules), Err)
}

/// Maximum compiled size of all patterns of an annotation, see [`shape::size`]: about 20 MB and
/// 100 ms. Those of shipped templates have some hundred.
const MAX_PATTERNS: u64 = 2_000_000;

/// Parses the text of an annotation, even if some elements of the array are no objects; these are
/// returned separately.
pub fn parse_each(text: &str) -> Result<(Rules, Vec<Unreadable>), Unreadable> {
    if text.is_empty() {
        return Ok(Default::default());
    }
    let root = json::parse(text).map_err(Unreadable::Json)?;
    let shape = |node: &JsonNode, wanted: &str| Unreadable::Shape {
        offset: node.start,
        message: format!("{wanted}, found {}", node.to_value().what()),
    };
    let items = match &root.kind {
        JsonKind::Null => return Ok(Default::default()),
        JsonKind::Array(items) => items,
        _ => return Err(shape(&root, "the annotation must be a JSON array of rules")),
    };
    let mut first: HashMap<Box<str>, usize> = HashMap::new();
    let mut room = MAX_PATTERNS;
    let mut entries = Vec::with_capacity(items.len());
    let mut strangers = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let JsonKind::Object(members) = &item.kind else {
            strangers.push(shape(item, "each rule must be a JSON object"));
            continue;
        };
        let mut entry = entry(index, item.start, members, &mut room);
        if !entry.name.is_empty() {
            if let Some(&earlier) = first.get(&entry.name) {
                let fault = RuleDefect {
                    lint: Lint::DuplicateName,
                    offset: entry.name_offset,
                    message: format!("rule {} has this name already; this rule is not evaluated", earlier + 1),
                    hint: Some("names of rules must be unique".to_owned()),
                };
                entry.spoil(fault);
            } else {
                first.insert(entry.name.clone(), index);
            }
        }
        entries.push(entry);
    }
    Ok((Rules { entries }, strangers))
}

impl RuleEntry {
    fn spoil(&mut self, fault: RuleDefect) {
        let empty = EntryState::Broken { faults: Vec::new(), path: "".into(), message: "".into() };
        self.state = match std::mem::replace(&mut self.state, empty) {
            EntryState::Rule(rule) => {
                EntryState::Broken { faults: vec![fault], path: rule.path.text, message: rule.message }
            }
            EntryState::UnknownKind { message, .. } => {
                EntryState::Broken { faults: vec![fault], path: "".into(), message }
            }
            EntryState::Broken { mut faults, path, message } => {
                faults.push(fault);
                EntryState::Broken { faults, path, message }
            }
        };
    }

    /// The name, or the index in the array if there is none.
    pub fn label(&self) -> String {
        if self.name.is_empty() { format!("#{}", self.index + 1) } else { self.name.to_string() }
    }
}

/// Parses a rule. Its patterns are compiled as long as there is `room` for them.
fn entry(index: usize, offset: usize, members: &[(JsonNode, JsonNode)], room: &mut u64) -> RuleEntry {
    let mut object = RuleMembers { offset, members: HashMap::new(), faults: Vec::new(), extensions: Vec::new(), room };
    let mut unknown_keys = Vec::new();
    for (key, value) in members {
        let name = key.as_str().unwrap_or_default();
        match KEYS.iter().find(|known| **known == name) {
            Some(known) => {
                object.members.insert(known, value);
            }
            None => unknown_keys.push(UnknownKey {
                key: name.into(),
                offset: key.start,
                nearest: spelling::nearest(name, KEYS),
            }),
        }
    }
    let name_offset = object.members.get("name").map_or(offset, |node| node.start);
    let name: Box<str> = object.mandatory_text("name").unwrap_or_default().into();
    let message: Box<str> = object.mandatory_text("message").unwrap_or_default().into();
    let kind = object.mandatory_text("rule").unwrap_or_default();
    let kind_offset = object.members.get("rule").map_or(offset, |node| node.start);
    if !kind.is_empty() && !["integer", "string", "enum", "regex"].contains(&kind.as_str()) {
        let state = EntryState::UnknownKind { kind: kind.into(), offset: kind_offset, message };
        return RuleEntry { index, name, offset, name_offset, state, unknown_keys };
    }
    let path_offset = object.members.get("path").map_or(offset, |node| node.start);
    let path_text = object.mandatory_text("path");
    let path = path_text.as_deref().and_then(|text| object.path("path", text));
    let valid_offset = object.members.get("valid").map_or(offset, |node| node.start);
    let valid = object.text("valid").and_then(|text| object.path("valid", &text));
    let just_warning = object.flag("justWarning");
    let (check, used): (Check, &[&str]) = match kind.as_str() {
        "string" => (Check::String(object.range("minLength", "maxLength")), &["minLength", "maxLength"]),
        "enum" => (Check::Enum(object.values()), &["values"]),
        "regex" => (Check::Regex(object.regex()), &["regex"]),
        _ => (Check::Integer(object.range("min", "max")), &["min", "max"]),
    };
    let arguments = &KEYS[6..];
    let mut unused: Vec<(&'static str, usize)> = arguments
        .iter()
        .filter(|key| !used.contains(key))
        .filter_map(|key| object.members.get(key).map(|node| (*key, node.start)))
        .collect();
    unused.sort_by_key(|&(_, offset)| offset);
    let state = match path {
        Some(path) if object.faults.is_empty() => EntryState::Rule(Box::new(Rule {
            message,
            path,
            path_offset,
            valid,
            valid_offset,
            just_warning,
            check,
            unused,
            extensions: object.extensions,
        })),
        _ => {
            let path = path_text.unwrap_or_default();
            let path = path.strip_prefix(PREFIX).unwrap_or(&path).into();
            EntryState::Broken { faults: object.faults, path, message }
        }
    };
    RuleEntry { index, name, offset, name_offset, state, unknown_keys }
}

/// The members of a rule that is being parsed, with problems so far.
struct RuleMembers<'a> {
    offset: usize,
    members: HashMap<&'static str, &'a JsonNode>,
    faults: Vec<RuleDefect>,
    extensions: Vec<(usize, &'static str)>,
    /// The remaining size for compiled patterns.
    room: &'a mut u64,
}

impl<'a> RuleMembers<'a> {
    fn fault(&mut self, lint: Lint, offset: usize, message: String, hint: Option<String>) {
        self.faults.push(RuleDefect { lint, offset, message, hint });
    }

    fn wrong_type(&mut self, key: &str, node: &JsonNode, wanted: &str) {
        let message = format!("`{key}` must be {wanted}, found {}", node.to_value().what());
        self.fault(Lint::WrongType, node.start, message, None);
    }

    fn given(&self, key: &str) -> Option<&'a JsonNode> {
        self.members.get(key).copied().filter(|node| !matches!(node.kind, JsonKind::Null))
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let node = self.given(key)?;
        match node.as_str() {
            Some(text) => Some(text.to_owned()),
            None => {
                self.wrong_type(key, node, "a string");
                None
            }
        }
    }

    fn mandatory_text(&mut self, key: &str) -> Option<String> {
        let given = self.given(key).is_some();
        let text = self.text(key).filter(|text| !text.is_empty());
        if text.is_none() && (!given || self.given(key).is_some_and(|node| node.as_str().is_some())) {
            let offset = self.members.get(key).map_or(self.offset, |node| node.start);
            let what = if given { "is empty" } else { "is missing" };
            self.fault(Lint::MissingKey, offset, format!("the mandatory key `{key}` {what}"), None);
        }
        text
    }

    fn flag(&mut self, key: &str) -> bool {
        let Some(node) = self.given(key) else { return false };
        match node.kind {
            JsonKind::Bool(value) => value,
            _ => {
                self.wrong_type(key, node, "true or false");
                false
            }
        }
    }

    fn path(&mut self, key: &str, text: &str) -> Option<JsonPath> {
        let offset = self.members.get(key).map_or(self.offset, |node| node.start);
        match JsonPath::parse(text) {
            Ok(path) => Some(path),
            Err(_) if !text.starts_with(PREFIX) => {
                let message = format!("`{key}` must begin with `{PREFIX}`, found {}", crate::value::quoted(text));
                let hint = text.starts_with(['.', '$']).then(|| format!("write \"{PREFIX}{text}\""));
                self.fault(Lint::NoJsonpathPrefix, offset, message, hint);
                None
            }
            Err(error) => {
                // The offset inside the quotes, exact if there is no escape before it.
                let at = offset + 1 + error.offset;
                self.fault(Lint::BadPath, at, format!("`{key}` is no path: {}", error.go), None);
                None
            }
        }
    }

    fn range(&mut self, min: &str, max: &str) -> NumberRange {
        NumberRange { min: self.bound(min), max: self.bound(max) }
    }

    fn bound(&mut self, key: &str) -> Option<RuleArgument<Decimal>> {
        let node = self.given(key)?;
        match &node.kind {
            JsonKind::Number(text) => Decimal::parse(text).map(RuleArgument::Literal),
            JsonKind::String(text) if text.starts_with(PREFIX) => self.path(key, text).map(RuleArgument::Path),
            JsonKind::String(text) => match quantity(text) {
                Some(value) => {
                    self.extensions.push((node.start, "a quantity as a bound"));
                    Some(RuleArgument::Literal(value))
                }
                None => {
                    let found = crate::value::quoted(text);
                    let message = format!("`{key}` must be a number or a `{PREFIX}` path, found the string {found}");
                    self.fault(Lint::WrongType, node.start, message, None);
                    None
                }
            },
            _ => {
                self.wrong_type(key, node, &format!("a number or a `{PREFIX}` path"));
                None
            }
        }
    }

    fn values(&mut self) -> Vec<RuleArgument<Box<str>>> {
        let Some(node) = self.given("values") else { return Vec::new() };
        let nodes = match &node.kind {
            JsonKind::Array(nodes) => nodes.as_slice(),
            JsonKind::String(text) if text.starts_with(PREFIX) => {
                self.extensions.push((node.start, "a path in place of the list"));
                std::slice::from_ref(node)
            }
            _ => {
                self.wrong_type("values", node, &format!("an array or a `{PREFIX}` path"));
                return Vec::new();
            }
        };
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            match &node.kind {
                JsonKind::String(text) if text.starts_with(PREFIX) => {
                    self.members.insert("values", node);
                    values.extend(self.path("values", text).map(RuleArgument::Path));
                }
                JsonKind::Null => values.push(RuleArgument::Literal("".into())),
                JsonKind::Array(_) | JsonKind::Object(_) => self.wrong_type("values", node, "a list of scalars"),
                _ => {
                    if node.as_str().is_none() {
                        self.extensions.push((node.start, "a value that is no string"));
                    }
                    values.extend(node.to_value().render().map(|text| RuleArgument::Literal(text.into())));
                }
            }
        }
        values
    }

    fn regex(&mut self) -> Option<RuleArgument<Result<Pattern, RuleDefect>>> {
        let offset = self.given("regex")?.start;
        let text = self.text("regex")?;
        if text.starts_with(PREFIX) {
            self.extensions.push((offset, "a regular expression from a path"));
            return self.path("regex", &text).map(RuleArgument::Path);
        }
        let fault = |message| RuleDefect { lint: Lint::BadRegex, offset, message, hint: None };
        let size = shape::size(&text);
        if size > *self.room {
            let message = "the regular expressions of this annotation are too large together".to_owned();
            return Some(RuleArgument::Literal(Err(fault(message))));
        }
        *self.room -= size;
        Some(RuleArgument::Literal(Pattern::new(&text).map_err(fault)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let shown = match parse(text) {
            Err(unreadable) => format!("{}: {}", unreadable.offset(), unreadable.message()),
            Ok(rules) => rules
                .entries
                .iter()
                .map(|entry| match &entry.state {
                    EntryState::Rule(rule) => format!("{} {} {}", entry.label(), rule.check.kind(), rule.path.text),
                    EntryState::UnknownKind { kind, .. } => format!("{} ignored {kind}", entry.label()),
                    EntryState::Broken { faults, .. } => {
                        let faults: Vec<String> =
                            faults.iter().map(|fault| format!("{}: {}", fault.offset, fault.message)).collect();
                        format!("{} broken {}", entry.label(), faults.join("; "))
                    }
                })
                .collect::<Vec<_>>()
                .join("\n"),
        };
        assert_eq!(shown, expect, "{text}");
    }

    #[test]
    fn every_required_key_is_checked() {
        check(
            "[{\"min\":1}]",
            "#1 broken 1: the mandatory key `name` is missing; 1: the mandatory key `message` is missing; 1: the \
             mandatory key `rule` is missing; 1: the mandatory key `path` is missing",
        );
    }

    #[test]
    fn one_invalid_rule_does_not_affect_the_others() {
        check(
            r#"[{"name":"a","rule":"integer","path":".spec","message":"m"},{"name":"b","rule":"integer","path":"jsonpath::.spec","message":"m"}]"#,
            "a broken 37: `path` must begin with `jsonpath::`, found \".spec\"\nb integer .spec",
        );
        check(
            r#"[{"name":"a","rule":"float","path":7}, {"name":"b","rule":"integer","path":"jsonpath::.a[","message":"m","min":true}]"#,
            "a ignored float\nb broken 88: `path` is no path: unterminated array; 111: `min` must be a number or a `jsonpath::` path, found a boolean",
        );
    }

    #[test]
    fn duplicates_name_the_first() {
        let rule = r#"{"name":"a","rule":"string","path":"jsonpath::.a","message":"m"}"#;
        check(
            &format!("[{rule},{rule}]"),
            "a string .a\na broken 74: rule 1 has this name already; this rule is not evaluated",
        );
    }

    #[test]
    fn only_arrays_of_objects_are_parsed() {
        check("", "");
        check("[]", "");
        check("{}", "0: the annotation must be a JSON array of rules, found an object");
        check("[1]", "1: each rule must be a JSON object, found a number");
        check(
            "[{\"a\u{201d}: 1}]",
            "4: typographic quote \u{201d} (U+201D right double quotation mark) where JSON needs the straight quote \"",
        );
    }
}
