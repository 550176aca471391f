//! Converts keywords that restrict values to the arguments of `@schema/validation`.
//!
//! Most keywords correspond to a named rule. If the name is in use already, the rule becomes an
//! assertion (`assert.min(1)`), and `x-kubernetes-validations` become the rule `cel=`.

use super::Notes;
use super::flat::{Flat, number};
use super::print::{ImportedNode, Sample, SampleKind, kind_of, literal, quoted};
use super::recognise::SchemaLanguage;
use crate::annotation::Level;
use crate::export::keywords::array;
use crate::node::{Map, Node, Scalar, to_plain_value};
use crate::validate::cel::CelProgram;
use crate::validate::formats;
use crate::validate::rules::{self as named_rules, Subject, cel_literal};
use ytterby_regexp::Regexp;
use ytterby_text::cel;

/// The named rules in output order.
const ORDER: [&str; 16] = [
    "min",
    "max",
    "above",
    "below",
    "min_len",
    "max_len",
    "one_of",
    "not_null",
    "one_not_null",
    "contains",
    "matches",
    "format",
    "odd",
    "multiple_of",
    "unique",
    "cel",
];

/// The arguments of one `@schema/validation`.
#[derive(Default)]
pub(super) struct ValidationArguments {
    positional: Vec<String>,
    named: Vec<(&'static str, String)>,
    /// Rules in CEL, each with its description; one argument contains all.
    expressions: Vec<(String, String)>,
    /// All rules with their arguments, to test what they accept.
    rules: Vec<(&'static str, Node)>,
}

impl ValidationArguments {
    fn has(&self, name: &str) -> bool {
        self.named.iter().any(|(other, _)| *other == name)
    }

    /// Adds a named rule with its text.
    fn named(&mut self, name: &'static str, text: String, argument: Node) {
        self.named.push((name, text));
        self.rules.push((name, argument));
    }

    /// Adds a rule without an argument.
    pub fn flag(&mut self, name: &'static str) {
        if !self.has(name) {
            self.named(name, "True".to_owned(), Node::Scalar(Scalar::Bool(true)));
        }
    }

    /// Adds a rule whose name may be in use; then it becomes an assertion, and this returns true.
    pub fn again(&mut self, name: &'static str, argument: &Node) -> bool {
        let Some(text) = literal(argument) else { return false };
        let is_taken = self.has(name);
        if is_taken {
            self.positional.push(format!("assert.{name}({text})"));
            self.rules.push((name, argument.clone()));
        } else {
            self.named(name, text, argument.clone());
        }
        is_taken
    }

    /// The arguments as written; `None` if there are no rules.
    pub fn text(&self) -> Option<String> {
        let mut named = self.named.clone();
        let (descriptions, expressions): (Vec<&str>, Vec<&str>) =
            self.expressions.iter().map(|(description, expression)| (&**description, &**expression)).unzip();
        let expression = match expressions[..] {
            [] => None,
            [one] => Some(one.to_owned()),
            _ => Some(expressions.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" && ")),
        };
        named.extend(
            expression
                .map(|expression| ("cel", format!("({}, {})", quoted(&descriptions.join("; ")), quoted(&expression)))),
        );
        named.sort_by_key(|(name, _)| ORDER.iter().position(|known| known == name));
        let named = named.into_iter().map(|(name, argument)| format!("{name}={argument}"));
        let all: Vec<String> = self.positional.iter().cloned().chain(named).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// Whether a value satisfies the named rules.
    pub fn accepts(&self, value: &Node) -> bool {
        self.rules.iter().all(|(name, argument)| {
            let Some((_, entry)) = named_rules::find(name, Level::Ytterby) else { return true };
            match (entry.make)(&to_plain_value(argument), Subject::Keyword(name)) {
                Ok(Some(rule)) => rule.accepts(value),
                Ok(None) | Err(_) => true,
            }
        })
    }
}

/// The type of a node's values, as far as keywords depend on it. Nodes of several types have no
/// rules for one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Text,
    Number,
    List,
    Map,
    Other,
}

fn holds(place: &ImportedNode) -> Holds {
    if place.besides.any || !place.besides.kinds.is_empty() {
        return Holds::Other;
    }
    match &place.value {
        Sample::Array(_) => Holds::List,
        Sample::Map(_) => Holds::Map,
        Sample::Scalar(scalar) => match kind_of(scalar) {
            Some(SampleKind::String) => Holds::Text,
            Some(SampleKind::Int | SampleKind::Float) => Holds::Number,
            _ => Holds::Other,
        },
    }
}

/// The type that a keyword applies to, if it is only one.
pub(super) fn subject(keyword: &str) -> Option<Holds> {
    match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => Some(Holds::Number),
        "minLength" | "maxLength" | "pattern" => Some(Holds::Text),
        "minItems" | "maxItems" | "uniqueItems" | "contains" => Some(Holds::List),
        "minProperties" | "maxProperties" => Some(Holds::Map),
        _ => None,
    }
}

/// Removes the keywords that are rules from `flat`. Returns whether some became assertions.
pub(super) fn read(
    flat: &mut Flat,
    place: &ImportedNode,
    language: SchemaLanguage,
    path: &str,
    validation: &mut ValidationArguments,
    notes: &mut Notes,
) -> bool {
    let mut reader = ConstraintReader { holds: holds(place), language, path, validation, notes, uses_assert: false };
    let format = match flat.remove("x-ytt-format") {
        Some(Node::Scalar(Scalar::Str(name))) => Some(name.to_string()),
        _ => None,
    };
    if let Some(name) = format {
        for keyword in implied(&name, reader.holds) {
            flat.remove(keyword);
        }
        reader.format(&name);
    }
    reader.keywords(&mut flat.keywords);
    for mut more in std::mem::take(&mut flat.more) {
        reader.keywords(&mut more);
        for item in more.iter() {
            reader.notes.unsupported(&crate::node::key_text(&item.key), path);
        }
    }
    reader.uses_assert
}

/// Keywords that a format already implies.
fn implied(format: &str, holds: Holds) -> &'static [&'static str] {
    match (format, holds) {
        ("port", Holds::Number) => &["minimum", "maximum"],
        ("port" | "percent" | "quantity", _) => &["pattern"],
        _ => &[],
    }
}

struct ConstraintReader<'a> {
    holds: Holds,
    language: SchemaLanguage,
    path: &'a str,
    validation: &'a mut ValidationArguments,
    notes: &'a mut Notes,
    uses_assert: bool,
}

impl ConstraintReader<'_> {
    fn keywords(&mut self, keywords: &mut Map) {
        let exclusive: Vec<bool> = ["exclusiveMinimum", "exclusiveMaximum"]
            .iter()
            .map(|name| {
                matches!(keywords.get_str(name).map(|item| &item.value), Some(Node::Scalar(Scalar::Bool(true))))
            })
            .collect();
        let items = std::mem::take(keywords).into_items();
        let mut rest = Vec::new();
        for item in items {
            let name = item.key.as_str().map(ToString::to_string).unwrap_or_default();
            if !self.keyword(&name, &item.value, &exclusive) {
                rest.push(item);
            }
        }
        *keywords = Map::from_items(rest);
    }

    /// Reads a keyword; returns false if it is unknown.
    fn keyword(&mut self, name: &str, value: &Node, exclusive: &[bool]) -> bool {
        if subject(name).is_some_and(|of| self.holds != of && self.holds != Holds::Other) {
            // It applies to values of another type, which this node does not accept.
            return true;
        }
        match name {
            "minimum" if exclusive[0] => self.bound("above", Holds::Number, value),
            "maximum" if exclusive[1] => self.bound("below", Holds::Number, value),
            "minimum" => self.bound("min", Holds::Number, value),
            "maximum" => self.bound("max", Holds::Number, value),
            "exclusiveMinimum" | "exclusiveMaximum" if matches!(value, Node::Scalar(Scalar::Bool(_))) => true,
            "exclusiveMinimum" => self.bound("above", Holds::Number, value),
            "exclusiveMaximum" => self.bound("below", Holds::Number, value),
            "multipleOf" => {
                let fits = number(value).is_some_and(|number| number > 0.0) && self.holds == Holds::Number;
                fits && self.repeatable("multiple_of", value)
            }
            "minLength" => self.bound("min_len", Holds::Text, value),
            "maxLength" => self.bound("max_len", Holds::Text, value),
            "minItems" => self.bound("min_len", Holds::List, value),
            "maxItems" => self.bound("max_len", Holds::List, value),
            "minProperties" => self.bound("min_len", Holds::Map, value),
            "maxProperties" => self.bound("max_len", Holds::Map, value),
            "uniqueItems" => match value {
                Node::Scalar(Scalar::Bool(true)) if self.holds == Holds::List => self.flag("unique"),
                Node::Scalar(Scalar::Bool(value)) => !value,
                _ => false,
            },
            "x-kubernetes-list-type" => match value.as_text().as_deref() {
                Some("set") if self.holds == Holds::List => self.flag("unique"),
                Some("atomic" | "map") => true,
                _ => false,
            },
            "x-kubernetes-list-map-keys" => self.holds == Holds::List && self.unique_keys(value),
            // These control merging and do not restrict values.
            "x-kubernetes-map-type" | "x-kubernetes-patch-merge-key" | "x-kubernetes-patch-strategy" => true,
            "pattern" => match value.as_text() {
                Some(text) if self.holds == Holds::Text && Regexp::new(text.as_bytes()).is_ok() => {
                    self.repeatable("matches", value)
                }
                _ => false,
            },
            "format" => value.as_text().is_some_and(|name| self.format_keyword(&name)),
            "enum" => match value {
                Node::Array(list) => self.one_of(list.items.iter().map(|item| item.value.clone()).collect()),
                _ => false,
            },
            "const" => self.one_of(vec![value.clone()]),
            "not" => value.as_map().is_some_and(|schema| self.not(schema)),
            "contains" => match value.as_map() {
                Some(map) if map.len() == 1 && self.holds == Holds::List => match map.get_str("const") {
                    Some(item) => self.repeatable("contains", &item.value),
                    None => false,
                },
                _ => false,
            },
            "x-kubernetes-validations" => self.cel(value),
            // These are for readers of the schema, or were read already.
            "$schema" | "$id" | "id" | "$comment" | "$defs" | "definitions" | "$anchor" | "$vocabulary"
            | "components" | "openapi" => true,
            _ => false,
        }
    }

    fn bound(&mut self, rule: &'static str, of: Holds, value: &Node) -> bool {
        let is_length = of != Holds::Number;
        let fits = number(value).is_some_and(|number| !is_length || (number >= 0.0 && number.fract() == 0.0));
        if self.holds != of {
            return false;
        }
        let value = match number(value) {
            Some(length) if is_length => Node::Scalar(Scalar::Int(length as i64)),
            _ => value.clone(),
        };
        match literal(&value) {
            Some(text) if fits && !self.validation.has(rule) => {
                self.validation.named(rule, text, value);
                true
            }
            _ => false,
        }
    }

    fn flag(&mut self, rule: &'static str) -> bool {
        self.validation.flag(rule);
        true
    }

    fn repeatable(&mut self, rule: &'static str, value: &Node) -> bool {
        self.uses_assert |= self.validation.again(rule, value);
        literal(value).is_some()
    }

    fn one_of(&mut self, values: Vec<Node>) -> bool {
        // Rules skip null if it is allowed.
        let count = values.len();
        let values: Vec<Node> = values.into_iter().filter(|value| !value.is_null()).collect();
        if values.is_empty() {
            return count > 0;
        }
        self.repeatable("one_of", &array(values))
    }

    /// `not`, as far as a rule can express it.
    fn not(&mut self, schema: &Map) -> bool {
        let [item] = schema.items() else { return false };
        let name = item.key.as_str().map(ToString::to_string).unwrap_or_default();
        match (&*name, &item.value) {
            ("multipleOf", value) if self.holds == Holds::Number => number(value) == Some(2.0) && self.flag("odd"),
            ("type", value) if value.as_text().as_deref() == Some("null") => self.flag("not_null"),
            ("const", value) => self.none_of(&array([value.clone()])),
            ("enum", list @ Node::Array(_)) => self.none_of(list),
            ("pattern", value) if self.holds == Holds::Text => match value.as_text() {
                Some(pattern) if Regexp::new(pattern.as_bytes()).is_ok() => {
                    let expression = format!("!self.matches({})", cel_literal(value));
                    self.expression(&format!("string not matching {}", quoted(&pattern)), &expression)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn none_of(&mut self, values: &Node) -> bool {
        let Some(text) = literal(values) else { return false };
        let rule = format!("({}, lambda v: v not in {text})", quoted(&format!("none of {text}")));
        self.validation.positional.push(rule);
        true
    }

    /// Requires that no two items of a list have the same values of these keys.
    fn unique_keys(&mut self, keys: &Node) -> bool {
        let names: Option<Vec<String>> = match keys {
            Node::Array(list) => list.items.iter().map(|item| item.value.as_text()).collect(),
            _ => None,
        };
        let Some(names) = names.filter(|names| !names.is_empty()) else { return false };
        let fields: Option<Vec<String>> = names.iter().map(|name| cel::escaped(name)).collect();
        let Some(fields) = fields else { return false };
        let same: Vec<String> = fields.iter().map(|field| format!("x.{field} == y.{field}")).collect();
        let expression = format!("self.all(x, self.exists_one(y, {}))", same.join(" && "));
        self.expression(&format!("items with different {}", names.join(" and ")), &expression)
    }

    /// A rule in CEL, with its description.
    fn expression(&mut self, description: &str, expression: &str) -> bool {
        self.validation.expressions.push((description.to_owned(), expression.to_owned()));
        self.validation.rules.push(("cel", Node::str(expression)));
        true
    }

    fn format_keyword(&mut self, name: &str) -> bool {
        match (name, self.language) {
            // These define how numbers are stored, which YAML does not.
            ("float" | "double" | "int32" | "int64", _) if self.holds != Holds::Text => true,
            ("int-or-string", _) => true,
            ("duration", SchemaLanguage::JsonSchema | SchemaLanguage::OpenApi) => self.format("iso-duration"),
            ("iso-duration" | "password", _) => false,
            // Formats apply only to strings.
            (name, _) if matches!(self.holds, Holds::Number | Holds::List | Holds::Map) => {
                formats::find(name).is_some()
            }
            (name, _) => self.format(name),
        }
    }

    fn format(&mut self, name: &str) -> bool {
        let is_known = formats::find(name).is_some();
        if is_known {
            self.uses_assert |= self.validation.again("format", &Node::str(name));
        }
        is_known
    }

    /// `x-kubernetes-validations`.
    fn cel(&mut self, value: &Node) -> bool {
        let Node::Array(list) = value else { return false };
        for item in list.items.iter().filter_map(|item| item.value.as_map()) {
            let text = |name: &str| item.get_str(name).and_then(|item| item.value.as_text());
            match text("rule") {
                Some(rule) if CelProgram::compile(&rule).is_ok() => {
                    let message = text("message").unwrap_or_else(|| rule.clone());
                    self.expression(&message, &rule);
                }
                _ => self.notes.unsupported("x-kubernetes-validations", self.path),
            }
        }
        true
    }
}

/// The keys of which exactly one must not be null, if the alternatives express just that.
/// `properties` are those beside them.
pub(super) fn one_not_null(members: &[&Map], properties: Option<&Node>) -> Option<Node> {
    let allows_null = |name: &Node| {
        let Node::Scalar(key) = name else { return false };
        let schema =
            properties.and_then(Node::as_map).and_then(|map| map.get(key)).and_then(|item| item.value.as_map());
        schema.is_some_and(|schema| {
            let value = |name: &str| schema.get_str(name).map(|item| &item.value);
            let is_null = |node: &Node| node.as_text().as_deref() == Some("null");
            let lists_null =
                |list: &Node| list.as_array().is_some_and(|list| list.items.iter().any(|item| is_null(&item.value)));
            matches!(value("nullable"), Some(Node::Scalar(Scalar::Bool(true)))) || value("type").is_some_and(lists_null)
        })
    };
    let key = |member: &&Map| {
        let [name] = &member.get_str("required")?.value.as_array()?.items[..] else { return None };
        let inner = member.get_str("properties").and_then(|item| item.value.as_map());
        let refuses_null = inner.is_some_and(|properties| {
            properties.iter().all(|item| item.value.as_map().is_some_and(|map| map.get_str("not").is_some()))
        });
        let rest = member.len() - 1 - usize::from(inner.is_some());
        let fits = if inner.is_some() { refuses_null } else { allows_null(&name.value) };
        (rest == 0 && fits).then(|| name.value.clone())
    };
    let keys: Option<Vec<Node>> = members.iter().map(key).collect();
    keys.filter(|keys| !keys.is_empty()).map(array)
}

/// Whether the alternatives are the two kinds of IP addresses.
pub(super) fn is_ip(members: &[&Map]) -> bool {
    let format = |member: &&Map| member.get_str("format").and_then(|item| item.value.as_text());
    let formats: Vec<Option<String>> = members.iter().map(format).collect();
    let is = |name: &str| formats.iter().any(|format| format.as_deref() == Some(name));
    members.len() == 2 && members.iter().all(|member| member.len() == 1) && is("ipv4") && is("ipv6")
}

/// A regular expression that matches a whole key if `pattern` matches a part of it.
pub(super) fn whole_key_pattern(pattern: &str) -> Option<String> {
    let inner = pattern.strip_prefix("^(?:").and_then(|rest| rest.strip_suffix(")$"));
    let inner = inner.or_else(|| after_exception(pattern)?.strip_suffix(")$"));
    let whole = match inner.filter(|inner| Regexp::new(inner.as_bytes()).is_ok()) {
        Some(inner) => inner.to_owned(),
        None if has_alternatives(pattern) => format!(".*(?:{pattern}).*"),
        None => {
            let (start, rest) = pattern.strip_prefix('^').map_or((".*", pattern), |rest| ("", rest));
            let is_end = rest.ends_with('$') && !rest.ends_with("\\$");
            let (rest, end) = if is_end { (&rest[..rest.len() - 1], "") } else { (rest, ".*") };
            format!("{start}{rest}{end}")
        }
    };
    Regexp::new(whole.as_bytes()).is_ok().then_some(whole)
}

/// Whether there is a `|` outside of all groups and classes.
fn has_alternatives(pattern: &str) -> bool {
    let (mut depth, mut in_class) = (0i32, false);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            ']' => in_class = false,
            _ if in_class => {}
            '[' => in_class = true,
            '(' => depth += 1,
            ')' => depth -= 1,
            '|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// The rest of an exported pattern after its exception, `^(?!(?:a|b)$)(?:`. In our schemas, keys
/// and patterns that come first are separate items, so the exception is not needed.
fn after_exception(pattern: &str) -> Option<&str> {
    let rest = pattern.strip_prefix("^(?!(?:")?;
    let is_regexp = |text: &str| Regexp::new(text.as_bytes()).is_ok();
    rest.match_indices(")$)(?:").find(|(at, _)| is_regexp(&rest[..*at])).map(|(at, mark)| &rest[at + mark.len()..])
}

impl Node {
    /// The text of a string.
    fn as_text(&self) -> Option<String> {
        match self {
            Node::Scalar(Scalar::Str(text)) => text.as_str().map(str::to_owned),
            _ => None,
        }
    }
}
