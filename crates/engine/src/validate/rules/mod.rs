//! Named rules: `min=1`, `format="hostname"`.
//!
//! One file per rule (opposite pairs share one): it parses the argument, checks a node, explains a
//! violation, and exports the rule to schemas. A rule is created once per annotation; nothing is
//! compiled or converted while values are checked.

mod cel;
mod compare;
mod contains;
mod format;
mod length;
mod matches;
mod multiple_of;
pub(crate) mod names;
mod not_null;
mod one_not_null;
mod one_of;
mod parity;
mod prefix;
mod unique;

use std::fmt::Debug;
use std::rc::Rc;

use ytterby_diag::{Help, Pos};
use ytterby_starlark::Value;
use ytterby_text::{Str, gofloat};

use crate::annotation::Level;
use crate::deep::deep;
use crate::validate::formats::Format;
use ytterby_regexp::Regexp;

use crate::node::{self, Array, ArrayItem, Map, MapItem, Node, Origin, Scalar};

/// A rule with its argument.
pub(crate) trait NamedRule: Debug {
    /// The description of a valid value: `a value >= 1`.
    fn must_be(&self) -> String;

    /// Whether the value is valid.
    fn accepts(&self, value: &Node) -> bool;

    /// Whether it can hold for values of this one's type. If not, the schema has a mistake.
    fn suits(&self, _value: &Node) -> bool {
        true
    }

    /// The problem with an invalid value, without the value.
    fn found(&self, value: &Node) -> RuleViolation;

    /// Its keywords in an exported schema; empty if there is none.
    fn export(&self, _target: ExportTarget, _shape: &NodeType) -> Vec<Keyword> {
        Vec::new()
    }

    /// The rule as numbers or lists, to decide whether another rule is stricter. The rule is
    /// equivalent to all of them together; empty if that is not possible.
    fn limits(&self) -> Vec<Limit> {
        Vec::new()
    }

    /// Its requirement besides [`NamedRule::limits`], for generators of values.
    fn wants(&self) -> Option<Want<'_>> {
        None
    }

    /// Its argument; `None` if it is only switched on.
    fn argument(&self) -> Option<Node> {
        let number = |bound: Bound| match bound.number {
            number if number.fract() == 0.0 => Scalar::Int(number as i64),
            number => Scalar::Float(number),
        };
        match (self.wants(), self.limits().into_iter().next()) {
            (Some(Want::Prefix(text) | Want::Suffix(text)), _) => Some(Node::str(text.clone())),
            (Some(Want::Part(node) | Want::MultipleOf(node) | Want::Near(node) | Want::KeyOf(node)), _) => {
                Some(node.clone())
            }
            (Some(Want::Format(format)), _) => Some(Node::str(format.name)),
            (_, Some(Limit::AtLeast(_, bound) | Limit::AtMost(_, bound))) => Some(Node::Scalar(number(bound))),
            (_, Some(Limit::OneOf(values))) => {
                let items = values.into_iter().map(|value| ArrayItem::new(value, Pos::UNKNOWN)).collect();
                Some(Node::array(Array { items, ..Array::default() }))
            }
            (Some(Want::Pattern(_) | Want::Unique) | None, None) => None,
        }
    }

    /// Whether it holds for every suitable value, so that it need not be documented: `min_len=0`,
    /// which cancels another rule.
    fn is_void(&self) -> bool {
        false
    }

    /// Whether it holds for every suitable value, although it is not [void](NamedRule::is_void) for
    /// readers.
    fn accepts_all(&self) -> bool {
        false
    }

    /// Whether its result for integers depends only on being even or odd.
    fn has_period_two(&self) -> bool {
        false
    }

    /// A hint for people who read documentation or rich messages.
    fn hint(&self) -> Option<String> {
        None
    }

    /// Whether it checks null, before all other rules, instead of skipping it.
    fn is_about_null(&self) -> bool {
        false
    }

    /// Whether it is a built-in function in the reference; then `.check()` fails with `check: ` in
    /// front.
    fn is_native(&self) -> bool {
        false
    }
}

/// The requirement of a rule.
#[derive(Clone, Copy)]
pub(crate) enum Want<'r> {
    Prefix(&'r Str),
    Suffix(&'r Str),
    /// A text with this part, a list with this item or a map with this key.
    Part(&'r Node),
    Pattern(&'r Regexp),
    Format(&'static Format),
    MultipleOf(&'r Node),
    /// A value that is compared with this one.
    Near(&'r Node),
    /// One of the keys of this map.
    KeyOf(&'r Node),
    /// Items that differ.
    Unique,
}

/// A limit on values.
#[derive(Clone, Debug)]
pub(crate) enum Limit {
    AtLeast(Quantity, Bound),
    AtMost(Quantity, Bound),
    OneOf(Vec<Node>),
}

/// The property of a value that a rule limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quantity {
    Value,
    Length,
}

/// The position of the limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub number: f64,
    pub is_exclusive: bool,
}

impl Limit {
    /// Whether each value within this limit is within the other.
    pub fn implies(&self, other: &Limit) -> bool {
        match (self, other) {
            (Limit::AtLeast(of, own), Limit::AtLeast(what, other)) if of == what => own.is_inside(other, 1.0),
            (Limit::AtMost(of, own), Limit::AtMost(what, other)) if of == what => own.is_inside(other, -1.0),
            (Limit::OneOf(own), Limit::OneOf(others)) => {
                let mut values = unique::Distinct::default();
                for other in others {
                    values.add(other);
                }
                own.iter().all(|value| values.contains(value))
            }
            _ => false,
        }
    }

    /// Whether both limit the same quantity on the same side.
    pub fn is_like(&self, other: &Limit) -> bool {
        match (self, other) {
            (Limit::AtLeast(of, _), Limit::AtLeast(what, _)) | (Limit::AtMost(of, _), Limit::AtMost(what, _)) => {
                of == what
            }
            (Limit::OneOf(_), Limit::OneOf(_)) => true,
            _ => false,
        }
    }
}

impl Bound {
    /// Whether it is as tight as the other; `sign` is 1 for lower bounds, -1 for upper ones.
    fn is_inside(&self, other: &Bound, sign: f64) -> bool {
        let (own, limit) = (self.number * sign, other.number * sign);
        own > limit || (own == limit && (self.is_exclusive || !other.is_exclusive))
    }
}

/// The problem with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RuleViolation {
    /// The rule does not hold: `.check()` fails like `fail()`.
    Failure(String),
    /// The rule could not be applied: `.check()` fails with just this message.
    Error(String),
}

impl RuleViolation {
    pub fn into_text(self) -> String {
        match self {
            RuleViolation::Failure(text) | RuleViolation::Error(text) => text,
        }
    }
}

/// The target of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExportTarget {
    OpenApi,
    JsonSchema,
    Crd,
}

/// The type of the node with a rule, as far as keywords depend on it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum NodeType {
    Text,
    Integer,
    Float,
    List { items: ItemTypes },
    Map(MapNodeType),
    Other,
}

/// Known facts about the keys of a map.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct MapNodeType {
    /// Those that the schema declares.
    pub keys: Vec<Scalar>,
    /// Those of them that are hidden from Kubernetes' rules, because their values have no type.
    pub hidden: Vec<Scalar>,
    /// Those of them that are objects, which rules can compare with null.
    pub objects: Vec<Scalar>,
    /// Those of them that are always present.
    pub always: Vec<Scalar>,
    /// Those of the latter whose default is not null.
    pub filled: Vec<Scalar>,
    /// Whether other keys are allowed, and their values.
    pub free: FreeKeys,
}

/// Whether a map may have keys that the schema does not declare.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum FreeKeys {
    #[default]
    No,
    /// With values that are never null.
    NotNull,
    MayBeNull,
}

impl MapNodeType {
    /// The CEL condition that a key is present and not null. Kubernetes drops null, and its rules
    /// cannot compare scalars and lists with it. `None` if rules cannot test it: for other keys
    /// beside declared ones, and for values without a type.
    fn cel_has(&self, key: &Scalar) -> Option<String> {
        let text = node::key_text(key);
        if self.keys.contains(key) {
            let field = ytterby_text::cel::escaped(&text)?;
            let not_null = if self.objects.contains(key) { format!(" && self.{field} != null") } else { String::new() };
            return (!self.hidden.contains(key)).then(|| format!("has(self.{field}){not_null}"));
        }
        let is_map = self.keys.is_empty() && self.free != FreeKeys::No;
        is_map.then(|| format!("{} in self", cel_literal(&Node::str(&*text))))
    }
}

/// The items of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ItemTypes {
    Texts,
    Integers,
    Floats,
    Truths,
    /// Maps, lists, null, or values of several types.
    Other,
}

impl ItemTypes {
    /// A value as a CEL literal for comparing items with it; `None` if Kubernetes would refuse to
    /// compare them.
    fn cel_literal(self, value: &Node) -> Option<String> {
        match (self, value) {
            (ItemTypes::Texts, Node::Scalar(Scalar::Str(_)))
            | (ItemTypes::Integers, Node::Scalar(Scalar::Int(_) | Scalar::UInt(_)))
            | (ItemTypes::Floats, Node::Scalar(Scalar::Float(_)))
            | (ItemTypes::Truths, Node::Scalar(Scalar::Bool(_))) => Some(cel_literal(value)),
            (ItemTypes::Floats, Node::Scalar(Scalar::Int(int))) => Some(format!("{int}.0")),
            _ => None,
        }
    }
}

impl NodeType {
    /// Keywords about texts, numbers or lists ignore values of other types, which rules refuse. So
    /// they are exported only if values have that type.
    fn may_be_text(&self) -> bool {
        matches!(self, NodeType::Text | NodeType::Other)
    }

    fn may_be_number(&self) -> bool {
        matches!(self, NodeType::Integer | NodeType::Float | NodeType::Other)
    }

    fn may_be_list(&self) -> bool {
        matches!(self, NodeType::List { .. } | NodeType::Other)
    }
}

/// A piece of an exported schema for a rule.
#[derive(Clone, Debug)]
pub(crate) enum Keyword {
    /// `name: value`.
    Plain(&'static str, Node),
    /// `pattern`, of which a node may have several.
    Pattern(String),
    /// A rule of `x-kubernetes-validations`.
    Cel(String),
    /// One that iterates over a collection. Kubernetes estimates the cost of a rule and refuses
    /// definitions with expensive ones. So it is exported only for a limited number of items, and
    /// not inside of other collections.
    Loop(String, Most),
    /// Null is not allowed.
    NotNull,
    /// Nothing: every value of the type satisfies the rule.
    Void,
}

/// The number of items that a rule can visit before Kubernetes considers it too expensive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Most {
    /// Each item is visited once, which is cheap.
    Any,
    /// Items are compared with each other, or with patterns; strings in them may be long.
    Few,
}

impl Most {
    const FEW: i64 = 5;

    /// Whether a collection of at most `bound` items is small enough.
    pub fn allows(self, bound: Option<i64>) -> bool {
        self == Most::Any || bound.is_some_and(|bound| bound <= Most::FEW)
    }
}

/// A mistake in the argument of a rule.
#[derive(Debug)]
pub(crate) struct BadArgument {
    pub text: String,
    /// Whether messages contain the position of the annotation; some of the reference's do not.
    pub positioned: bool,
    /// Additional text of rich messages.
    pub hint: Option<Help>,
    /// Whether the value cannot be expressed in YAML. ytt reports that only when a value is
    /// checked.
    pub not_yaml: bool,
}

impl BadArgument {
    fn new(text: impl Into<String>) -> BadArgument {
        BadArgument { text: text.into(), positioned: true, hint: None, not_yaml: false }
    }

    fn without_position(self) -> BadArgument {
        BadArgument { positioned: false, ..self }
    }

    fn hint(self, help: impl Into<Help>) -> BadArgument {
        BadArgument { hint: Some(help.into()), ..self }
    }
}

/// A rule; `None` for `even=False`.
type MadeRule = Result<Option<Rc<dyn NamedRule>>, BadArgument>;

/// The name of an argument in messages.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// `keyword argument "min_len"`
    Keyword(&'a str),
    /// The argument of a function of `@ytt:assert`.
    Value,
}

impl Subject<'_> {
    fn name(self) -> String {
        match self {
            Subject::Keyword(name) => format!("keyword argument \"{name}\""),
            Subject::Value => "value".to_owned(),
        }
    }

    /// `expected … to be a number, but was string`
    fn wrong(self, kind: &str, value: &Value) -> BadArgument {
        self.bad(&format!("to be a {kind}, but was {}", value.type_name()))
    }

    fn bad(self, what: &str) -> BadArgument {
        BadArgument::new(format!("expected {} {what}", self.name()))
    }

    fn string(self, value: &Value) -> Result<&Str, BadArgument> {
        value.as_str().ok_or_else(|| self.wrong("string", value))
    }

    fn flag(self, value: &Value) -> Result<bool, BadArgument> {
        match value {
            Value::Bool(value) => Ok(*value),
            other => Err(self.wrong("boolean", other)),
        }
    }
}

/// Creates a rule from its argument.
type Make = fn(&Value, Subject<'_>) -> MadeRule;

/// A rule that annotations can name.
pub(crate) struct RuleRow {
    pub name: &'static str,
    /// Its function in `@ytt:assert`, in full.
    pub function: &'static str,
    pub takes: Takes,
    aliases: &'static [&'static str],
    pub beyond_ytt: bool,
    pub make: Make,
}

/// How the function of a rule is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// With the argument of the rule: `assert.min(1)`.
    Argument,
    /// With nothing: `assert.even()`.
    Nothing,
    /// With other arguments, which `@ytt:assert` defines.
    Other,
}

/// A row of the table; fields that differ from the defaults follow.
macro_rules! rule {
    ($name:literal, $make:path $(, $field:ident: $value:expr)*) => {
        RuleRow { $($field: $value,)* ..usual($name, concat!("assert.", $name), $make) }
    };
}

const fn usual(name: &'static str, function: &'static str, make: Make) -> RuleRow {
    RuleRow { name, function, takes: Takes::Argument, aliases: &[], beyond_ytt: true, make }
}

/// All rules; first those of ytt, in the order in which it runs them. A new one goes to the end.
const TABLE: &[RuleRow] = &[
    rule!("min_len", length::min_len, beyond_ytt: false),
    rule!("max_len", length::max_len, beyond_ytt: false),
    rule!("min", compare::min, beyond_ytt: false),
    rule!("max", compare::max, beyond_ytt: false),
    rule!("not_null", not_null::make, beyond_ytt: false, takes: Takes::Other),
    rule!("one_not_null", one_not_null::make, beyond_ytt: false, takes: Takes::Other),
    rule!("one_of", one_of::make, beyond_ytt: false, takes: Takes::Other, aliases: &["enum"]),
    rule!("above", compare::above),
    rule!("below", compare::below),
    rule!("len", length::len),
    rule!("starts_with", prefix::starts_with, aliases: &["prefix"]),
    rule!("ends_with", prefix::ends_with),
    rule!("contains", contains::make),
    rule!("matches", matches::make, aliases: &["regexp", "pattern"]),
    rule!("format", format::make),
    rule!("even", parity::even, takes: Takes::Nothing),
    rule!("odd", parity::odd, takes: Takes::Nothing),
    rule!("multiple_of", multiple_of::make),
    rule!("unique", unique::make, takes: Takes::Nothing),
    rule!("cel", cel::make),
];

/// The available rules.
pub(crate) fn all(level: Level) -> impl Iterator<Item = &'static RuleRow> {
    TABLE.iter().filter(move |entry| level == Level::Ytterby || !entry.beyond_ytt)
}

/// The rule with this name or alias, and its index in the table.
pub(crate) fn find(name: &str, level: Level) -> Option<(usize, &'static RuleRow)> {
    let knows = |entry: &RuleRow| match level {
        Level::Ytt049 => entry.name == name && !entry.beyond_ytt,
        Level::Ytterby => entry.name == name || entry.aliases.contains(&name),
    };
    TABLE.iter().enumerate().find(|(_, entry)| knows(entry))
}

/// Whether the rule with this index is one of ytt's.
pub(crate) fn is_of_ytt(index: usize) -> bool {
    TABLE.get(index).is_some_and(|entry| !entry.beyond_ytt)
}

/// All names, including aliases.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()))
}

impl RuleRow {
    /// Whether this is one of its aliases, whose pairs are `(value, message)`.
    pub fn has_alias(&self, name: &str) -> bool {
        self.aliases.contains(&name)
    }
}

/// A value after a round trip through `yaml.encode` and `yaml.decode`, which is what ytt compares:
/// integral floats that YAML writes without a point become integers, and an empty YAML collection
/// becomes null.
pub(crate) fn plain(value: &Node) -> Node {
    match value {
        Node::Map(map) if map.is_empty() && map.origin == Origin::Yaml => Node::NULL,
        Node::Array(array) if array.items.is_empty() && array.origin == Origin::Yaml => Node::NULL,
        other => plain_below(other),
    }
}

fn plain_below(value: &Node) -> Node {
    match value {
        Node::Scalar(Scalar::Float(float)) => Node::Scalar(plain_float(*float)),
        Node::Scalar(scalar) => Node::Scalar(scalar.clone()),
        Node::Array(array) => {
            let items =
                array.items.iter().map(|item| ArrayItem::new(crate::deep(|| plain_below(&item.value)), item.pos));
            Node::array(Array { items: items.collect(), origin: Origin::Code })
        }
        Node::Map(map) => {
            let items = map
                .iter()
                .map(|item| MapItem::new(item.key.clone(), crate::deep(|| plain_below(&item.value)), item.pos));
            let mut map: Map = items.collect();
            map.origin = Origin::Code;
            Node::map(map)
        }
    }
}

/// A float after a round trip through YAML.
fn plain_float(float: f64) -> Scalar {
    // Only small integral numbers are written without a point or an exponent.
    if float.fract() == 0.0 && float.abs() < 1e21 {
        let text = gofloat::format_g(float);
        if let Ok(whole) = text.parse() {
            return Scalar::Int(whole);
        }
    }
    Scalar::Float(float)
}

/// An argument as a node; values that YAML cannot express are an error.
fn node_of(value: &Value, subject: Subject<'_>) -> Result<Node, BadArgument> {
    node::node_from_value(value).map_err(|problem| {
        let bad = subject.bad(&format!("to be a YAML value: {problem}"));
        BadArgument { not_yaml: true, ..bad }
    })
}

/// A rule whose argument cannot be expressed in YAML: no value is valid.
#[derive(Debug)]
pub(crate) struct Inapplicable {
    /// `min=<assertion>`.
    pub written: String,
    pub problem: String,
}

impl NamedRule for Inapplicable {
    fn must_be(&self) -> String {
        format!("valid by {}", self.written)
    }

    fn accepts(&self, _value: &Node) -> bool {
        false
    }

    fn found(&self, _value: &Node) -> RuleViolation {
        RuleViolation::Error(self.problem.clone())
    }
}

/// The name of a value's type in Starlark, after decoding.
pub(crate) fn type_name(value: &Node) -> &'static str {
    match value {
        Node::Scalar(Scalar::Null) => "NoneType",
        Node::Scalar(Scalar::Bool(_)) => "bool",
        Node::Scalar(Scalar::Int(_) | Scalar::UInt(_)) => "int",
        Node::Scalar(Scalar::Float(_)) => "float",
        Node::Scalar(Scalar::Str(_)) => "string",
        Node::Array(_) => "list",
        Node::Map(_) | Node::Scalar(Scalar::Complex(_)) => "dict",
    }
}

/// `value must be a string, but was 'int'`
fn wrong_type(kind: &str, value: &Node) -> String {
    format!("value must be a {kind}, but was '{}'", type_name(value))
}

fn is_number(value: &Node) -> bool {
    matches!(value, Node::Scalar(Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_)))
}

fn text_of(value: &Node) -> Option<&Str> {
    match value {
        Node::Scalar(Scalar::Str(text)) => Some(text),
        _ => None,
    }
}

/// Equality as in Starlark: an integer can equal a float, the order of keys does not matter.
pub(crate) fn equal(left: &Node, right: &Node) -> bool {
    match (left, right) {
        (Node::Scalar(left), Node::Scalar(right)) => equal_scalars(left, right),
        (Node::Array(left), Node::Array(right)) => {
            left.items.len() == right.items.len()
                && left
                    .items
                    .iter()
                    .zip(&right.items)
                    .all(|(left, right)| crate::deep(|| equal(&left.value, &right.value)))
        }
        (Node::Map(left), Node::Map(right)) => {
            left.len() == right.len()
                && left.iter().all(|item| {
                    right.get(&item.key).is_some_and(|other| crate::deep(|| equal(&item.value, &other.value)))
                })
        }
        _ => false,
    }
}

fn equal_scalars(left: &Scalar, right: &Scalar) -> bool {
    match (left, right) {
        (Scalar::Int(int), Scalar::Float(float)) | (Scalar::Float(float), Scalar::Int(int)) => {
            // The conversion back distinguishes integers that are equal only after rounding.
            *int as f64 == *float && (*float as i128) == i128::from(*int)
        }
        (Scalar::UInt(int), Scalar::Float(float)) | (Scalar::Float(float), Scalar::UInt(int)) => {
            *int as f64 == *float && (*float as i128) == i128::from(*int)
        }
        (left, right) => left == right,
    }
}

/// A value as a literal of CEL.
pub(crate) fn cel_literal(value: &Node) -> String {
    match value {
        Node::Scalar(Scalar::Null) => "null".to_owned(),
        Node::Scalar(Scalar::Str(text)) => ytterby_text::cel::quoted(&text.to_str()),
        Node::Scalar(Scalar::Float(float)) => {
            let text = gofloat::format_g(*float);
            if text.contains(['.', 'e', 'n', 'I']) { text } else { format!("{text}.0") }
        }
        Node::Scalar(scalar) => node::key_text(scalar).into_owned(),
        Node::Array(array) => {
            let items: Vec<String> = array.items.iter().map(|item| deep(|| cel_literal(&item.value))).collect();
            format!("[{}]", items.join(", "))
        }
        Node::Map(map) => {
            let key = |key: &Scalar| cel_literal(&Node::Scalar(key.clone()));
            let value = |value: &Node| deep(|| cel_literal(value));
            let items: Vec<String> =
                map.iter().map(|item| format!("{}: {}", key(&item.key), value(&item.value))).collect();
            format!("{{{}}}", items.join(", "))
        }
    }
}

#[cfg(test)]
mod laws;
#[cfg(test)]
pub(crate) mod tests;
