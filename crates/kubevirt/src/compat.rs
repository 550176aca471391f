//! Evaluates rules like the reference: the template validator of kubevirt/ssp-operator.
//!
//! Messages are identical, including mistakes, so that results can be compared during a migration.
//! Where the reference crashes, the result is an error.

use std::collections::{HashMap, HashSet};

use ytterby_regexp::Regexp;

use crate::budget::{Budget, Exhausted};
use crate::json::{self, JsonKind, JsonNode};
use crate::jsonpath::eval::{self, FoundValue, PathResult, World};
use crate::jsonpath::{JsonPath, Literal, PREFIX};
use crate::schema::FieldKind;
use crate::value::Value;

const INVALID_PATH: &str = "invalid JSONPath";

/// Maximum bytes of all values in one message.
const LONGEST: usize = 16 << 10;

/// A rule as the reference parses it.
#[derive(Clone, Debug, Default)]
pub struct ReferenceRule {
    /// May be empty.
    pub name: String,
    /// The kind, known or not.
    pub rule: String,
    /// If empty, evaluation fails.
    pub message: String,
    /// If absent, the reference crashes.
    pub path: Option<JsonPath>,
    /// The condition.
    pub valid: Option<JsonPath>,
    /// Whether a violation is only logged.
    pub just_warning: bool,
    min: Option<NumberArgument>,
    max: Option<NumberArgument>,
    min_length: Option<NumberArgument>,
    max_length: Option<NumberArgument>,
    values: Vec<TextArgument>,
    regex: String,
    /// Its offset in the annotation, in bytes.
    pub offset: usize,
}

#[derive(Clone, Debug)]
enum NumberArgument {
    Int(i64),
    Path(JsonPath),
}

#[derive(Clone, Debug)]
enum TextArgument {
    Literal(String),
    Path(JsonPath),
}

/// The result of one rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleReport {
    /// The rule's name.
    pub name: String,
    /// The rule's message.
    pub rule_message: String,
    /// The rule's path, without prefix.
    pub path: String,
    /// Whether a violation is only a warning.
    pub just_warning: bool,
    /// The verdict.
    pub verdict: ReferenceVerdict,
    /// The offset of the rule in the annotation, in bytes.
    pub offset: usize,
}

/// The verdict on a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum ReferenceVerdict {
    /// Not applicable.
    Skipped,
    /// Satisfied, with the reference's message.
    Satisfied(String),
    /// Violated, with the reference's message.
    Unsatisfied(String),
    /// Failed, with the reference's message, and the event in its log: empty, `cannot
    /// specialize`, `cannot apply`.
    Failed(String, &'static str),
}

impl RuleReport {
    /// The reference's cause for the verdict, if it has one.
    pub fn cause(&self) -> Option<String> {
        match &self.verdict {
            ReferenceVerdict::Failed(text, _) | ReferenceVerdict::Unsatisfied(text) => {
                Some(format!("{}: {text}", self.rule_message))
            }
            ReferenceVerdict::Skipped | ReferenceVerdict::Satisfied(_) => None,
        }
    }

    /// Whether the VM is refused because of it.
    pub fn refuses(&self) -> bool {
        match self.verdict {
            ReferenceVerdict::Failed(..) => true,
            ReferenceVerdict::Unsatisfied(_) => !self.just_warning,
            _ => false,
        }
    }

    /// The line in the reference's log.
    pub fn summary(&self) -> String {
        let name = &self.name;
        match &self.verdict {
            ReferenceVerdict::Skipped => format!("{name} SKIPPED: not appliable\n"),
            ReferenceVerdict::Satisfied(text) => format!("{name} applied: OK, {text}\n"),
            ReferenceVerdict::Unsatisfied(text) => format!("{name} applied: FAIL, {text}\n"),
            ReferenceVerdict::Failed(text, _) if text == "duplicate Rule Name" => {
                format!("{name} failed: duplicate name\n")
            }
            ReferenceVerdict::Failed(text, "") => format!("{name} failed: {text}\n"),
            ReferenceVerdict::Failed(text, stage) => format!("{name} failed: {stage}: {text}\n"),
        }
    }
}

/// The rules of an annotation, or the text of Go's error and its place.
pub type Reading = Result<Vec<ReferenceRule>, (String, usize)>;

/// Reads an annotation as Go's `encoding/json` does into the reference's types.
pub fn parse(text: &str) -> Reading {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let root = json::parse(text).map_err(|error| (error.go_text(), error.offset))?;
    let items = match &root.kind {
        JsonKind::Null => return Ok(Vec::new()),
        JsonKind::Array(items) => items,
        _ => return Err((unmarshal(&root, "value", "[]validation.Rule"), root.start)),
    };
    // Go continues after a wrong type and reports the first.
    let mut first_error = None;
    let rules = items.iter().map(|item| rule(item, &mut first_error)).collect();
    first_error.map_or(Ok(rules), Err)
}

fn unmarshal(node: &JsonNode, place: &str, wanted: &str) -> String {
    format!("json: cannot unmarshal {} into Go {place} of type {wanted}", node.go_kind())
}

type FirstError = Option<(String, usize)>;

fn rule(item: &JsonNode, error: &mut FirstError) -> ReferenceRule {
    let mut rule = ReferenceRule { offset: item.start, ..ReferenceRule::default() };
    let members = match &item.kind {
        JsonKind::Object(members) => members.as_slice(),
        JsonKind::Null => return rule,
        _ => {
            error.get_or_insert_with(|| (unmarshal(item, "value", "validation.Rule"), item.start));
            return rule;
        }
    };
    for (key, node) in members {
        let key = key.as_str().unwrap_or_default();
        let Some(key) = crate::rules::KEYS.iter().find(|known| known.eq_ignore_ascii_case(key)) else { continue };
        if let Err(text) = member(&mut rule, key, node) {
            error.get_or_insert((text, node.start));
        }
    }
    rule
}

fn member(rule: &mut ReferenceRule, key: &str, node: &JsonNode) -> Result<(), String> {
    let null = matches!(node.kind, JsonKind::Null);
    let place = format!("struct field Rule.{key}");
    let string = || match &node.kind {
        JsonKind::String(text) => Ok(Some(text.to_string())),
        JsonKind::Null => Ok(None),
        _ => Err(unmarshal(node, &place, "string")),
    };
    let path =
        || -> Result<JsonPath, String> { JsonPath::parse(&string()?.unwrap_or_default()).map_err(|error| error.go) };
    let number = || -> Result<Option<NumberArgument>, String> {
        if null {
            return Ok(None);
        }
        if let JsonKind::Number(text) = &node.kind
            && let Ok(value) = text.parse::<f64>()
            && value.is_finite()
        {
            return Ok(Some(NumberArgument::Int(round(value))));
        }
        let wrapped = |text: String| format!("cannot unmarshall IntOrPath from JSON: {text}");
        match node.as_str() {
            Some(text) => Ok(Some(NumberArgument::Path(JsonPath::parse(text).map_err(|error| wrapped(error.go))?))),
            None => Err(wrapped(unmarshal(node, "value", "string"))),
        }
    };
    match key {
        "name" => rule.name = string()?.unwrap_or(std::mem::take(&mut rule.name)),
        "rule" => rule.rule = string()?.unwrap_or(std::mem::take(&mut rule.rule)),
        "message" => rule.message = string()?.unwrap_or(std::mem::take(&mut rule.message)),
        "regex" => rule.regex = string()?.unwrap_or(std::mem::take(&mut rule.regex)),
        "path" => rule.path = Some(path()?),
        "valid" => rule.valid = if null { None } else { Some(path()?) },
        "justWarning" => match node.kind {
            JsonKind::Bool(value) => rule.just_warning = value,
            JsonKind::Null => {}
            _ => return Err(unmarshal(node, &place, "bool")),
        },
        "min" => rule.min = number()?,
        "max" => rule.max = number()?,
        "minLength" => rule.min_length = number()?,
        "maxLength" => rule.max_length = number()?,
        _ => match &node.kind {
            JsonKind::Null => rule.values = Vec::new(),
            JsonKind::Array(nodes) => {
                rule.values = Vec::new();
                for node in nodes {
                    rule.values.push(match &node.kind {
                        JsonKind::String(text) if text.starts_with(PREFIX) => {
                            TextArgument::Path(JsonPath::parse(text).map_err(|error| error.go)?)
                        }
                        JsonKind::String(text) => TextArgument::Literal(text.to_string()),
                        JsonKind::Null => TextArgument::Literal(String::new()),
                        _ => return Err(unmarshal(node, &place, "string")),
                    });
                }
            }
            _ => return Err(unmarshal(node, &place, "[]path.StringOrPath")),
        },
    }
    Ok(())
}

/// Rounds half away from zero; out-of-range values become the lowest number, as on amd64.
fn round(value: f64) -> i64 {
    let rounded = value.round();
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded) {
        rounded as i64
    } else {
        i64::MIN
    }
}

/// Evaluates all rules on a VM.
pub fn evaluate(rules: &[ReferenceRule], vm: &Value) -> Vec<RuleReport> {
    evaluate_within(rules, vm, &Budget::default()).unwrap_or_default()
}

/// Evaluates all rules on a VM. A rule without remaining steps fails; `None` if the time limit is
/// reached.
pub fn evaluate_within(rules: &[ReferenceRule], vm: &Value, budget: &Budget<'_>) -> Option<Vec<RuleReport>> {
    let subject = Subject { value: vm, budget };
    let mut names = HashSet::new();
    let mut patterns = HashMap::new();
    rules
        .iter()
        .map(|rule| {
            (!budget.is_late()).then(|| RuleReport {
                name: rule.name.clone(),
                rule_message: rule.message.clone(),
                path: rule.path.as_ref().map_or(String::new(), |path| path.text.to_string()),
                just_warning: rule.just_warning,
                verdict: if names.insert(rule.name.as_str()) {
                    match verdict(rule, subject, &mut patterns) {
                        _ if budget.is_exhausted() => ReferenceVerdict::Failed(Exhausted::message(), "cannot apply"),
                        verdict => verdict,
                    }
                } else {
                    ReferenceVerdict::Failed("duplicate Rule Name".to_owned(), "")
                },
                offset: rule.offset,
            })
        })
        .collect()
}

/// Steps of a search in an empty text. Searches are linear here.
const USUAL_MATCH: u64 = 50;

/// The VM and the budget.
#[derive(Clone, Copy)]
struct Subject<'a> {
    value: &'a Value,
    budget: &'a Budget<'a>,
}

fn verdict<'a>(rule: &'a ReferenceRule, vm: Subject<'_>, patterns: &mut HashMap<&'a str, Regexp>) -> ReferenceVerdict {
    if vm.budget.is_exhausted() {
        return ReferenceVerdict::Skipped;
    }
    if !["integer", "string", "enum", "regex"].contains(&rule.rule.as_str()) {
        return ReferenceVerdict::Failed("unrecognized Rule type".to_owned(), "");
    }
    if rule.message.is_empty() {
        return ReferenceVerdict::Failed("missing required key".to_owned(), "");
    }
    if let Some(valid) = &rule.valid
        && !eval::find_within(valid, vm.value, World::Struct, vm.budget).is_ok_and(|items| !items.is_empty())
    {
        return ReferenceVerdict::Skipped;
    }
    let Some(path) = &rule.path else {
        return ReferenceVerdict::Failed("the rule has no path".to_owned(), "cannot apply");
    };
    let specialize = |text: String| ReferenceVerdict::Failed(text, "cannot specialize");
    let applied = match rule.rule.as_str() {
        "integer" => match bounds(&rule.min, &rule.max, vm) {
            Err(text) => return specialize(text),
            Ok(bounds) => integers(path, vm, bounds),
        },
        "string" => match bounds(&rule.min_length, &rule.max_length, vm) {
            Err(text) => return specialize(text),
            Ok(bounds) => lengths(path, vm, bounds),
        },
        "enum" => match rule.values.iter().map(|value| choice(value, vm)).collect::<Result<Vec<_>, _>>() {
            Err(text) => return specialize(text),
            Ok(values) => choices(path, vm, &values),
        },
        _ => {
            if !patterns.contains_key(rule.regex.as_str()) {
                match Regexp::new(rule.regex.as_bytes()) {
                    Err(text) => return specialize(text),
                    Ok(regex) => patterns.insert(&rule.regex, regex),
                };
            }
            match_all(path, vm, &patterns[rule.regex.as_str()], &rule.regex)
        }
    };
    match applied {
        Err(text) => ReferenceVerdict::Failed(text, "cannot apply"),
        Ok((true, text)) => ReferenceVerdict::Satisfied(text),
        Ok((false, text)) => ReferenceVerdict::Unsatisfied(text),
    }
}

/// Finds values in the VM, or otherwise in the reference's VM with all fields set.
fn find<'a>(path: &'a JsonPath, vm: Subject<'a>) -> Result<Vec<(PathResult<'a>, World)>, String> {
    for world in [World::Struct, World::ReferenceVm] {
        if let Ok(items) = eval::find_within(path, vm.value, world, vm.budget) {
            return Ok(items.into_iter().map(|item| (item, world)).collect());
        }
    }
    Err(INVALID_PATH.to_owned())
}

fn strings(path: &JsonPath, vm: Subject<'_>) -> Result<Vec<String>, String> {
    Ok(find(path, vm)?.iter().map(|(item, world)| go_string(item, *world)).collect())
}

fn ints(path: &JsonPath, vm: Subject<'_>) -> Result<Vec<i64>, String> {
    find(path, vm)?.iter().map(|(item, _)| go_int(item)).collect()
}

/// Results of a path: their number, as integers, as strings.
pub type Probe = (usize, Result<Vec<i64>, String>, Vec<String>);

/// Results of a path on the VM alone, to compare with recorded cases.
pub fn probe(path: &JsonPath, vm: &Value) -> Result<Probe, String> {
    let items = eval::find(path, vm, World::Struct).map_err(|_| INVALID_PATH.to_owned())?;
    let ints = items.iter().map(go_int).collect();
    let strings = items.iter().map(|item| go_string(item, World::Struct)).collect();
    Ok((items.len(), ints, strings))
}

/// The Go type of a result.
fn go_type(item: &PathResult<'_>) -> &'static str {
    match (item.field, item.seen) {
        (Some(field), _) => field.go,
        (None, FoundValue::Literal(Literal::Int(_))) => "int",
        (None, FoundValue::Literal(Literal::Float(_))) => "float64",
        (None, FoundValue::Literal(Literal::Bool(_))) => "bool",
        (None, FoundValue::Given(Value::Bool(_))) => "bool",
        (None, FoundValue::Given(Value::Int(_))) => "int64",
        (None, FoundValue::Given(Value::Float(_))) => "float64",
        (None, FoundValue::Given(Value::Array(_))) => "[]interface {}",
        (None, FoundValue::Given(Value::Object(_))) => "map[string]interface {}",
        (None, _) => "string",
    }
}

fn go_string(item: &PathResult<'_>, world: World) -> String {
    match (item.field, item.seen) {
        (Some(field), _) if field.kind == FieldKind::String && !field.pointer => match item.seen {
            FoundValue::Given(value) => value.render().unwrap_or_default(),
            // KubeVirt's defaults in the reference's VM with all fields set.
            _ if world == World::ReferenceVm => match field.path {
                ".spec.domain.firmware.uuid" => "00000000-0000-4000-8000-000000000000",
                ".spec.domain.devices.disks[*].cdrom.tray" => "closed",
                ".spec.domain.devices.inputs[*].bus" => "usb",
                ".spec.domain.devices.inputs[*].type" => "tablet",
                _ => "",
            }
            .to_owned(),
            _ => String::new(),
        },
        (None, FoundValue::Given(Value::String(text))) => text.to_string(),
        (None, FoundValue::Literal(Literal::Text(text))) => text.clone(),
        (None, FoundValue::Text(text)) => text.to_owned(),
        _ => format!("<{} Value>", go_type(item)),
    }
}

fn go_int(item: &PathResult<'_>) -> Result<i64, String> {
    let go = go_type(item);
    let mismatch = || format!("mismatching type: {go}, not int or resource.Quantity");
    match (item.seen, go) {
        (FoundValue::Literal(Literal::Int(value)), _) => Ok(*value),
        (FoundValue::Literal(Literal::Float(value)), _) => Ok(round(*value)),
        (FoundValue::Nil, "*resource.Quantity") => Err("the quantity is not set".to_owned()),
        (_, "*resource.Quantity" | "resource.Quantity") => match item.scalar() {
            Some(value) => value.render().and_then(|text| quantity_as_int64(&text)).ok_or_else(mismatch),
            None => Err(mismatch()),
        },
        (_, "int" | "int32" | "int64" | "uint" | "uint32" | "uint64") => match item.scalar() {
            Some(Value::Int(value)) => Ok(value as i64),
            _ => Err(mismatch()),
        },
        (FoundValue::Given(Value::Float(value)), "float64") => Ok(round(*value)),
        _ => Err(mismatch()),
    }
}

/// Go's `Quantity.AsInt64`, which only supports numbers from its parser's fast path, without
/// fractions.
fn quantity_as_int64(text: &str) -> Option<i64> {
    ytterby_text::quantity(text)?;
    let (negative, unsigned) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let unsigned = unsigned.trim_start_matches('0');
    let whole_len = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = unsigned.split_at(whole_len);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("", rest),
    };
    let whole = if whole.is_empty() { "0" } else { whole };
    let value: i64 = format!("{whole}{fraction}").parse().ok()?;
    let signed = |value: i64| Some(if negative { -value } else { value });
    if let Some(place) = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|&known| known == suffix) {
        let exponent = (place as i64 + 1) * 10;
        let precision = 15 - whole.len() as i64 - exponent * 3 / 10 - 1;
        if !fraction.is_empty() || precision < 0 {
            return None;
        }
        return signed(value.checked_mul(1 << exponent)?);
    }
    let exponent = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        other => other[1..].parse::<i64>().ok()?,
    };
    if whole.len() + fraction.len() > 18 {
        return None;
    }
    let scale = exponent - fraction.len() as i64;
    if value == 0 && scale >= 0 {
        return Some(0);
    }
    if !(0..=18).contains(&scale) {
        return None;
    }
    signed(value.checked_mul(10i64.pow(scale as u32))?)
}

type IntegerBounds = (Option<i64>, Option<i64>);

fn bounds(
    min: &Option<NumberArgument>,
    max: &Option<NumberArgument>,
    vm: Subject<'_>,
) -> Result<IntegerBounds, String> {
    let bound = |number: &Option<NumberArgument>| match number {
        None => Ok(None),
        Some(NumberArgument::Int(value)) => Ok(Some(*value)),
        Some(NumberArgument::Path(path)) => one(ints(path, vm)?).map(Some),
    };
    Ok((bound(min)?, bound(max)?))
}

fn one<T>(mut values: Vec<T>) -> Result<T, String> {
    match (values.len(), values.pop()) {
        (1, Some(value)) => Ok(value),
        (count, _) => Err(format!("expected one value, found {count}")),
    }
}

fn choice(value: &TextArgument, vm: Subject<'_>) -> Result<String, String> {
    match value {
        TextArgument::Literal(text) => Ok(text.clone()),
        TextArgument::Path(path) => one(strings(path, vm)?),
    }
}

fn some<T>(values: Vec<T>) -> Result<Vec<T>, String> {
    if values.is_empty() { Err("no values were found".to_owned()) } else { Ok(values) }
}

fn interval((min, max): IntegerBounds) -> String {
    let show = |bound: Option<i64>| bound.map_or("N/A".to_owned(), |value| value.to_string());
    format!("[{}, {}]", show(min), show(max))
}

/// Joins values as the reference does, but truncates: a review may contain megabytes, and many
/// rules.
fn joined(values: &[String], separator: &str) -> String {
    let mut text = String::new();
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            text.push_str(separator);
        }
        let room = LONGEST.saturating_sub(text.len());
        if value.len() > room {
            let end = (0..=room).rev().find(|&end| value.is_char_boundary(end)).unwrap_or(0);
            text.push_str(&value[..end]);
            text.push('…');
            break;
        }
        text.push_str(value);
    }
    text
}

fn includes((min, max): IntegerBounds, value: i64) -> bool {
    min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
}

fn integers(path: &JsonPath, vm: Subject<'_>, bounds: IntegerBounds) -> Result<(bool, String), String> {
    let values = some(ints(path, vm)?)?;
    if values.iter().all(|&value| includes(bounds, value)) {
        let shown: Vec<String> = values.iter().map(i64::to_string).collect();
        return Ok((true, format!("All values [{}] are in interval {}", joined(&shown, " "), interval(bounds))));
    }
    // Commas depend on the position, even if a value has no complaint.
    let complaint = |&value: &i64| {
        let low = bounds.0.filter(|&min| value < min);
        let high = bounds.1.filter(|&max| value > max);
        let low = low.map_or(String::new(), |min| format!("value {value} is lower than minimum [{min}]"));
        low + &high.map_or(String::new(), |max| format!("value {value} is higher than maximum [{max}]"))
    };
    let complaints: Vec<String> = values.iter().map(complaint).collect();
    Ok((false, joined(&complaints, ", ")))
}

fn lengths(path: &JsonPath, vm: Subject<'_>, bounds: IntegerBounds) -> Result<(bool, String), String> {
    let values = some(strings(path, vm)?)?;
    let satisfied = values.iter().all(|value| includes(bounds, value.len() as i64));
    // The misspelling is the reference's.
    let text =
        if satisfied { "Lengts of all strings are in interval" } else { "Lengths of some strings are not in interval" };
    Ok((satisfied, format!("{text} {}", interval(bounds))))
}

fn choices(path: &JsonPath, vm: Subject<'_>, allowed: &[String]) -> Result<(bool, String), String> {
    let values = some(strings(path, vm)?)?;
    let index: HashSet<&str> = allowed.iter().map(String::as_str).collect();
    let (values_text, allowed_text) = (joined(&values, ", "), allowed.join(", "));
    Ok(if values.iter().all(|value| index.contains(value.as_str())) {
        (true, format!("All [{values_text}] are in [{allowed_text}]"))
    } else {
        (false, format!("Some of [{values_text}] are not in [{allowed_text}]"))
    })
}

fn match_all(path: &JsonPath, vm: Subject<'_>, regex: &Regexp, pattern: &str) -> Result<(bool, String), String> {
    let values = some(strings(path, vm)?)?;
    let text = joined(&values, ", ");
    let work = values.iter().map(|value| USUAL_MATCH + value.len() as u64).sum();
    vm.budget.spend(work).map_err(|Exhausted| Exhausted::message())?;
    Ok(if values.iter().all(|value| regex.is_match_in(value)) {
        (true, format!("All [{text}] match {pattern}"))
    } else {
        (false, format!("Some of [{text}] do not match {pattern}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gos_fast_path_reads_quantities() {
        for (text, expect) in [
            ("2Gi", Some(2_147_483_648)),
            ("128M", Some(128_000_000)),
            ("1.5G", Some(1_500_000_000)),
            ("2e3", Some(2000)),
            ("0", Some(0)),
            ("1.5Gi", None),
            ("1.0Gi", None),
            ("1000m", None),
            ("0.5", None),
            ("7Ei", None),
            ("nonsense", None),
        ] {
            assert_eq!(quantity_as_int64(text), expect, "{text}");
        }
    }

    #[test]
    fn numbers_wrap_as_in_go() {
        assert_eq!(round(-0.5), -1);
        assert_eq!(round(1e30), i64::MIN);
    }
}
