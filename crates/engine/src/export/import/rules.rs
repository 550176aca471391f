//! From keywords that restrict values to the arguments of `@schema/validation`.

use super::Notes;
use super::flat::{Flat, number};
use super::print::{Kind, Place, Sample, kind_of, literal, quoted};
use super::recognise::Language;
use crate::node::{Map, Node, Scalar};
use crate::regexp::Regexp;
use crate::validate::cel::Program;
use crate::validate::formats;

/// The named rules in the order in which they are written.
const ORDER: [&str; 15] = [
    "min",
    "max",
    "above",
    "below",
    "min_len",
    "max_len",
    "one_of",
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
pub(super) struct Validation {
    positional: Vec<String>,
    named: Vec<(&'static str, String)>,
}

impl Validation {
    /// Adds a named rule.
    pub fn named(&mut self, name: &'static str, argument: String) {
        self.named.push((name, argument));
    }

    /// Adds a rule whose name may be taken already; then it becomes an assertion, which this tells.
    pub fn again(&mut self, name: &'static str, argument: Option<String>) -> bool {
        let Some(argument) = argument else { return false };
        let is_taken = self.named.iter().any(|(other, _)| *other == name);
        if is_taken {
            self.positional.push(format!("assert.{name}({argument})"));
        } else {
            self.named(name, argument);
        }
        is_taken
    }

    /// The arguments as written; none where there are no rules.
    pub fn text(&self) -> Option<String> {
        let mut named = self.named.clone();
        named.sort_by_key(|(name, _)| ORDER.iter().position(|known| known == name));
        let named = named.into_iter().map(|(name, argument)| format!("{name}={argument}"));
        let all: Vec<String> = self.positional.iter().cloned().chain(named).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// What a place holds, as far as keywords depend on it. Places for several types have no rules of one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    Number,
    List,
    Map,
    Other,
}

fn holds(place: &Place) -> Holds {
    if place.besides.any || !place.besides.kinds.is_empty() {
        return Holds::Other;
    }
    match &place.value {
        Sample::Array(_) => Holds::List,
        Sample::Map(_) => Holds::Map,
        Sample::Scalar(scalar) => match kind_of(scalar) {
            Some(Kind::String) => Holds::Text,
            Some(Kind::Int | Kind::Float) => Holds::Number,
            _ => Holds::Other,
        },
    }
}

/// Takes the keywords that are rules off `flat`. Says whether some became assertions.
pub(super) fn read(
    flat: &mut Flat,
    place: &Place,
    language: Language,
    path: &str,
    validation: &mut Validation,
    notes: &mut Notes,
) -> bool {
    let mut reader = Reader { holds: holds(place), language, path, validation, notes, uses_assert: false };
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

/// Keywords that say in part what a format says.
fn implied(format: &str, holds: Holds) -> &'static [&'static str] {
    match (format, holds) {
        ("port", Holds::Number) => &["minimum", "maximum"],
        ("port" | "percent" | "quantity", _) => &["pattern"],
        _ => &[],
    }
}

struct Reader<'a> {
    holds: Holds,
    language: Language,
    path: &'a str,
    validation: &'a mut Validation,
    notes: &'a mut Notes,
    uses_assert: bool,
}

impl Reader<'_> {
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

    /// Reads a keyword; false where it is none of ours.
    fn keyword(&mut self, name: &str, value: &Node, exclusive: &[bool]) -> bool {
        match name {
            "minimum" if exclusive[0] => self.bound("above", Holds::Number, value),
            "maximum" if exclusive[1] => self.bound("below", Holds::Number, value),
            "minimum" => self.bound("min", Holds::Number, value),
            "maximum" => self.bound("max", Holds::Number, value),
            "exclusiveMinimum" | "exclusiveMaximum" if matches!(value, Node::Scalar(Scalar::Bool(_))) => true,
            "exclusiveMinimum" => self.bound("above", Holds::Number, value),
            "exclusiveMaximum" => self.bound("below", Holds::Number, value),
            "multipleOf" => number(value).is_some_and(|number| number > 0.0) && self.repeatable("multiple_of", value),
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
                Some("atomic") => true,
                _ => false,
            },
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
            "not" => match value.as_map() {
                Some(map) if map.len() == 1 && self.holds == Holds::Number => {
                    let two = map.get_str("multipleOf").and_then(|item| number(&item.value));
                    two == Some(2.0) && self.flag("odd")
                }
                _ => false,
            },
            "contains" => match value.as_map() {
                Some(map) if map.len() == 1 && self.holds == Holds::List => match map.get_str("const") {
                    Some(item) => self.repeatable("contains", &item.value),
                    None => false,
                },
                _ => false,
            },
            "x-kubernetes-validations" => self.cel(value),
            // What these say is for readers of the schema, or was read already.
            "$schema" | "$id" | "id" | "$comment" | "$defs" | "definitions" | "$anchor" | "$vocabulary"
            | "components" | "openapi" => true,
            _ => false,
        }
    }

    fn bound(&mut self, rule: &'static str, of: Holds, value: &Node) -> bool {
        let is_length = of != Holds::Number;
        let fits = number(value).is_some_and(|number| !is_length || (number >= 0.0 && number.fract() == 0.0));
        if self.holds != of {
            // About values of another type, which this place does not take.
            return fits && self.holds != Holds::Other;
        }
        let value = match number(value) {
            Some(length) if is_length => Node::Scalar(Scalar::Int(length as i64)),
            _ => value.clone(),
        };
        match literal(&value) {
            Some(text) if fits && !self.validation.named.iter().any(|(name, _)| *name == rule) => {
                self.validation.named(rule, text);
                true
            }
            _ => false,
        }
    }

    fn flag(&mut self, rule: &'static str) -> bool {
        if !self.validation.named.iter().any(|(name, _)| *name == rule) {
            self.validation.named(rule, "True".to_owned());
        }
        true
    }

    fn repeatable(&mut self, rule: &'static str, value: &Node) -> bool {
        let text = literal(value);
        let fits = text.is_some();
        self.uses_assert |= self.validation.again(rule, text);
        fits
    }

    fn one_of(&mut self, values: Vec<Node>) -> bool {
        // Null is skipped by rules, wherever it is allowed.
        let texts: Option<Vec<String>> = values.iter().filter(|value| !value.is_null()).map(literal).collect();
        match texts {
            Some(texts) if !texts.is_empty() => {
                let list = format!("[{}]", texts.join(", "));
                self.uses_assert |= self.validation.again("one_of", Some(list));
                true
            }
            Some(_) => !values.is_empty(),
            None => false,
        }
    }

    fn format_keyword(&mut self, name: &str) -> bool {
        match (name, self.language) {
            // These say how numbers are stored, which YAML does not.
            ("float" | "double" | "int32" | "int64", _) if self.holds != Holds::Text => true,
            ("int-or-string", _) => true,
            ("duration", Language::JsonSchema | Language::OpenApi) => self.format("iso-duration"),
            ("iso-duration" | "password", _) => false,
            (name, _) => self.format(name),
        }
    }

    fn format(&mut self, name: &str) -> bool {
        let is_known = formats::find(name).is_some();
        if is_known {
            self.uses_assert |= self.validation.again("format", Some(quoted(name)));
        }
        is_known
    }

    /// `x-kubernetes-validations`: one expression holds all.
    fn cel(&mut self, value: &Node) -> bool {
        let Node::Array(list) = value else { return false };
        let mut rules = Vec::new();
        let mut messages = Vec::new();
        for item in list.items.iter().filter_map(|item| item.value.as_map()) {
            let text = |name: &str| item.get_str(name).and_then(|item| item.value.as_text());
            match text("rule") {
                // Names that Kubernetes escapes are written otherwise in our rules.
                Some(rule) if Program::compile(&rule).is_ok() && !rule.contains("__") => {
                    messages.push(text("message").unwrap_or_else(|| rule.clone()));
                    rules.push(rule);
                }
                _ => self.notes.unsupported("x-kubernetes-validations", self.path),
            }
        }
        let expression = match &rules[..] {
            [] => return true,
            [one] => one.clone(),
            several => several.iter().map(|rule| format!("({rule})")).collect::<Vec<_>>().join(" && "),
        };
        let argument = format!("({}, {})", quoted(&messages.join("; ")), quoted(&expression));
        let is_taken = self.validation.named.iter().any(|(name, _)| *name == "cel");
        if !is_taken {
            self.validation.named("cel", argument);
        }
        !is_taken
    }
}

/// The keys of which one must not be null, where the alternatives say just that.
pub(super) fn one_not_null(members: &[&Map]) -> Option<String> {
    let key = |member: &&Map| {
        let [name] = &member.get_str("required")?.value.as_array()?.items[..] else { return None };
        let rest = member.len() - 1 - usize::from(member.get_str("properties").is_some());
        let says_more = member.get_str("properties").and_then(|item| item.value.as_map()).is_some_and(|properties| {
            properties.iter().any(|item| item.value.as_map().is_none_or(|map| map.get_str("not").is_none()))
        });
        (rest == 0 && !says_more).then(|| literal(&name.value)).flatten()
    };
    let keys: Option<Vec<String>> = members.iter().map(key).collect();
    keys.filter(|keys| !keys.is_empty()).map(|keys| format!("[{}]", keys.join(", ")))
}

/// Whether the alternatives are both kinds of IP addresses.
pub(super) fn is_ip(members: &[&Map]) -> bool {
    let format = |member: &&Map| member.get_str("format").and_then(|item| item.value.as_text());
    let formats: Vec<Option<String>> = members.iter().map(format).collect();
    let is = |name: &str| formats.iter().any(|format| format.as_deref() == Some(name));
    members.len() == 2 && members.iter().all(|member| member.len() == 1) && is("ipv4") && is("ipv6")
}

/// A regular expression that matches a whole key where `pattern` matches some of it.
pub(super) fn whole_key_pattern(pattern: &str) -> Option<String> {
    let inner = pattern.strip_prefix("^(?:").and_then(|rest| rest.strip_suffix(")$"));
    let whole = match inner.filter(|inner| Regexp::new(inner.as_bytes()).is_ok()) {
        Some(inner) => inner.to_owned(),
        None => format!("(?s:.*)(?:{pattern})(?s:.*)"),
    };
    Regexp::new(whole.as_bytes()).is_ok().then_some(whole)
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
