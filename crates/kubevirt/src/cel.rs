//! Translates rules to CEL, for a ValidatingAdmissionPolicy.
//!
//! An expression is true exactly when `evaluate` finds the rule satisfied or not applicable. Rules
//! that CEL cannot express exactly are refused with the reason.

use ytterby_regexp::Regexp;
use ytterby_text::{Decimal, cel};

use crate::amount;
use crate::evaluate::{CPU_COUNTS, is_size};
use crate::jsonpath::{JsonPath, JsonPathStep, Slice, TemplatePart};
use crate::pattern::VERTICAL_TAB;
use crate::rules::{Check, EntryState, NumberRange, Rule, RuleArgument, RuleEntry, Rules};
use crate::schema::{self, FieldKind, VmField};
use crate::value::{cut, quoted};

/// Maximum characters of the expected values in a message; Kubernetes allows messages of 5 KiB.
const MESSAGE: usize = 500;

/// Rules in CEL.
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// The translated rules.
    pub validations: Vec<Validation>,
    /// Rules that cannot be translated.
    pub refused: Vec<Refused>,
    /// Rules without effect, because their kind is unknown.
    pub ignored: Vec<Refused>,
}

/// One rule in CEL.
#[derive(Clone, PartialEq, Debug)]
pub struct Validation {
    /// The rule's name.
    pub rule: String,
    /// True if the rule is satisfied or not applicable; `object` is the VM.
    pub expression: String,
    /// The rule's message.
    pub message: String,
    /// The message with the found and expected values; if the VM lacks what it shows, `message` is
    /// used.
    pub message_expression: Option<String>,
    /// Whether a violation is only a warning.
    pub just_warning: bool,
}

/// A rule that is left out.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    /// The rule's name.
    pub rule: String,
    /// The offset of the rule in the annotation, in bytes.
    pub offset: usize,
    /// Why.
    pub reason: String,
}

/// Translates all rules to CEL.
pub fn export(rules: &Rules) -> Exported {
    let mut exported = Exported::default();
    for entry in &rules.entries {
        let left_out = |reason| Refused { rule: entry.label(), offset: entry.offset, reason };
        match validation(entry) {
            Ok(validation) => exported.validations.push(validation),
            Err(Reason::Unsayable(reason)) => exported.refused.push(left_out(reason)),
            Err(Reason::NoEffect(reason)) => exported.ignored.push(left_out(reason)),
        }
    }
    exported
}

fn validation(entry: &RuleEntry) -> Result<Validation, Reason> {
    match &entry.state {
        EntryState::Rule(rule) => Ok(Validation {
            rule: entry.label(),
            expression: expression(rule).map_err(Reason::Unsayable)?,
            message: one_line(&rule.message),
            message_expression: message_expression(rule),
            just_warning: rule.just_warning,
        }),
        EntryState::UnknownKind { kind, .. } => {
            Err(Reason::NoEffect(format!("{} is no kind of rule that is known", quoted(kind))))
        }
        EntryState::Broken { faults, .. } => {
            let faults: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
            Err(Reason::Unsayable(faults.join("; ")))
        }
    }
}

/// Replaces line breaks, which Kubernetes does not allow in messages.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The reason that a rule is left out.
enum Reason {
    Unsayable(String),
    NoEffect(String),
}

/// An expression that is true if a rule is satisfied or not applicable.
fn expression(rule: &Rule) -> Result<String, String> {
    let steps = steps(&rule.path)?;
    let check = check(rule)?;
    let mut alternatives = Vec::new();
    if let Some(valid) = &rule.valid {
        alternatives.push(not(&exists(&CelPlace::root(), self::steps(valid)?, 0)?));
    }
    if is_size(steps) {
        let unset = not(&exists(&CelPlace::root(), steps, 0)?);
        alternatives.push(and(&["has(object.spec.instancetype)".to_owned(), unset]));
    }
    let same = rule.valid.as_ref().is_some_and(|valid| valid.text == rule.path.text);
    alternatives.push(holds(steps, &*check, if same { CoveredTests::Exists } else { CoveredTests::Nothing })?);
    alternatives.retain(|alternative| alternative != "false");
    Ok(match alternatives.as_slice() {
        [] => "false".to_owned(),
        all if all.iter().any(|one| one == "true") => "true".to_owned(),
        all => all.join(" || "),
    })
}

/// The rule's message with the first values that violate it and the expected values.
fn message_expression(rule: &Rule) -> Option<String> {
    let steps = steps(&rule.path).ok()?;
    let check = check(rule).ok()?;
    let (found, field) = match steps.iter().position(|step| matches!(step, JsonPathStep::Slice(slice) if is_all(slice)))
    {
        None => {
            let (value, field) = value(CelPlace::root(), steps)?;
            (format!("string({value})"), field)
        }
        Some(list) => {
            let (before, inside) = (&steps[..list], &steps[list + 1..]);
            let place = plain_place(CelPlace::root(), before)?;
            let item = place.item("x0".to_owned()).ok()?;
            let good = all(&item, inside, 1, &*check, CoveredTests::Nothing).ok()?;
            let (value, field) = value(item, inside)?;
            (format!("{}.filter(x0, !({good})).map(x0, string({value})).join(', ')", place.text), field)
        }
    };
    let expected = expected(&rule.check, field)?;
    let (before, behind) = (format!("{}: found ", one_line(&rule.message)), format!(", expected {expected}"));
    Some(format!("{} + {found} + {}", cel::quoted(&before), cel::quoted(&behind)))
}

/// The place at the end of fields, without tests of their presence.
fn plain_place(from: CelPlace, steps: &[JsonPathStep]) -> Option<CelPlace> {
    steps.iter().try_fold(from, |place, step| match step {
        JsonPathStep::Field(name) => place.key(name).ok().map(|(child, _)| child),
        JsonPathStep::Slice(slice) => place.item(format!("{}[{}]", place.text, index(slice)?)).ok(),
        _ => None,
    })
}

/// The scalar at the end of a path, or its default.
fn value(from: CelPlace, steps: &[JsonPathStep]) -> Option<(String, &'static VmField)> {
    let Some((JsonPathStep::Field(last), parents)) = steps.split_last() else {
        return Some((from.text, from.field)).filter(|(_, field)| steps.is_empty() && field.kind.is_scalar());
    };
    let (leaf, present) = plain_place(from, parents)?.key(last).ok()?;
    if !leaf.field.kind.is_scalar() {
        return None;
    }
    Some((if leaf.field.has_default() { leaf.or_default(&present) } else { leaf.text }, leaf.field))
}

/// The expectation of a rule in words, if there is something to say.
fn expected(check: &Check, field: &VmField) -> Option<String> {
    let range = |range: &NumberRange, field: Option<&VmField>, unit: &str| {
        let (min, max) = literals(range).ok()?;
        let shown = |number| amount::shown(number, field);
        match (min.map(shown), max.map(shown)) {
            (Some(min), Some(max)) => Some(format!("{min} to {max}{unit}")),
            (Some(min), None) => Some(format!("at least {min}{unit}")),
            (None, Some(max)) => Some(format!("at most {max}{unit}")),
            (None, None) => None,
        }
    };
    match check {
        Check::Integer(bounds) => range(bounds, Some(field), ""),
        Check::String(bounds) => range(bounds, None, " characters"),
        Check::Enum(values) => {
            let literal = |value: &RuleArgument<Box<str>>| match value {
                RuleArgument::Literal(text) => Some(cut(text, MESSAGE).into_owned()),
                RuleArgument::Path(_) => None,
            };
            let values: Option<Vec<String>> = values.iter().map(literal).collect();
            values.filter(|values| !values.is_empty()).map(|values| cut(&values.join(" or "), MESSAGE).into_owned())
        }
        Check::Regex(Some(RuleArgument::Literal(Ok(pattern)))) => {
            Some(format!("a match of {}", cut(&one_line(pattern.as_str()), MESSAGE)))
        }
        Check::Regex(_) => None,
    }
}

fn steps(path: &JsonPath) -> Result<&[JsonPathStep], String> {
    path.steps().ok_or_else(|| match path.parts.as_slice() {
        [TemplatePart::Expression(_)] => format!("the path {} does not begin with a dot", path.text),
        _ => format!("the path {} contains more than one expression", path.text),
    })
}

/// A CEL expression and the field that it refers to.
struct CelPlace {
    text: String,
    field: &'static VmField,
}

impl CelPlace {
    fn root() -> CelPlace {
        CelPlace { text: "object.spec.template".to_owned(), field: schema::template() }
    }

    /// A child, with the test for its presence.
    fn key(&self, name: &str) -> Result<(CelPlace, String), String> {
        let field = self.field.child(name).ok_or_else(|| {
            let parent = if self.field.path.is_empty() { "a VM's template" } else { self.field.path };
            format!("{parent} has no field `{name}`, so its type is not known")
        })?;
        let (text, present) = if self.field.kind == FieldKind::Map && !cel::is_plain(name) {
            let key = cel::quoted(name);
            (format!("{}[{key}]", self.text), format!("{key} in {}", self.text))
        } else {
            let name = cel::escaped(name).ok_or_else(|| format!("CEL cannot name the field `{name}`"))?;
            let text = format!("{}.{name}", self.text);
            (text.clone(), format!("has({text})"))
        };
        Ok((CelPlace { text, field }, present))
    }

    fn item(&self, variable: String) -> Result<CelPlace, String> {
        match self.field.item() {
            Some(field) => Ok(CelPlace { text: variable, field }),
            None => Err(format!("{} is no list", self.field.path)),
        }
    }

    /// The value, or the default if it may be unset.
    fn or_default(&self, present: &str) -> String {
        let text = &self.text;
        if CPU_COUNTS.contains(&self.field.path) {
            return format!("({present} && {text} != 0 ? {text} : 1)");
        }
        format!("({present} ? {text} : {})", zero(self.field))
    }
}

fn zero(field: &VmField) -> &'static str {
    match field.kind {
        FieldKind::Boolean => "false",
        FieldKind::Integer | FieldKind::Quantity | FieldKind::IntOrString => "0",
        _ => "''",
    }
}

fn is_all(slice: &Slice) -> bool {
    slice.start.is_none() && slice.end.is_none() && slice.step.is_none()
}

/// An index from the front.
fn index(slice: &Slice) -> Option<i64> {
    slice.start.filter(|&start| slice.single && start >= 0)
}

fn unsupported(step: &JsonPathStep) -> String {
    let what = match step {
        JsonPathStep::Slice(_) => "slices and indexes from the end",
        JsonPathStep::Filter(_) => "filters",
        JsonPathStep::Union(_) => "unions",
        JsonPathStep::Recursive => "`..`",
        JsonPathStep::Wildcard => "`.*`",
        JsonPathStep::Literal(_) | JsonPathStep::Identifier(_) | JsonPathStep::Field(_) => "literals",
    };
    format!("paths with {what} are not exported")
}

/// An expression that is true if a path has a result.
fn exists(place: &CelPlace, steps: &[JsonPathStep], depth: usize) -> Result<String, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok("true".to_owned()) };
    match step {
        JsonPathStep::Field(name) => {
            let (child, present) = place.key(name)?;
            if rest.is_empty() && child.field.has_default() {
                return Ok("true".to_owned());
            }
            Ok(and(&[present, exists(&child, rest, depth)?]))
        }
        JsonPathStep::Slice(slice) if is_all(slice) => {
            let variable = format!("x{depth}");
            let item = place.item(variable.clone())?;
            match exists(&item, rest, depth + 1)?.as_str() {
                "true" => Ok(format!("size({}) > 0", place.text)),
                inner => Ok(format!("{}.exists({variable}, {inner})", place.text)),
            }
        }
        JsonPathStep::Slice(slice) => {
            let Some(index) = index(slice) else { return Err(unsupported(step)) };
            let item = place.item(format!("{}[{index}]", place.text))?;
            Ok(and(&[format!("size({}) > {index}", place.text), exists(&item, rest, depth)?]))
        }
        other => Err(unsupported(other)),
    }
}

/// Tests that an earlier one already covers.
#[derive(Clone, Copy, PartialEq)]
enum CoveredTests {
    Nothing,
    Exists,
}

type Test<'a> = dyn Fn(&str, &'static VmField) -> Result<String, String> + 'a;

/// An expression that is true if a path has results and all of them pass.
fn holds(steps: &[JsonPathStep], test: &Test<'_>, known: CoveredTests) -> Result<String, String> {
    let root = CelPlace::root();
    let plain = steps.iter().all(|step| matches!(step, JsonPathStep::Field(_)));
    if plain && let Some((JsonPathStep::Field(last), parents)) = steps.split_last() {
        // A scalar with a default has it even if its parent is absent.
        let mut place = root;
        let mut guards = Vec::new();
        for step in parents {
            let JsonPathStep::Field(name) = step else { continue };
            let (child, present) = place.key(name)?;
            guards.push(present);
            place = child;
        }
        let (leaf, present) = place.key(last)?;
        if leaf.field.has_default() {
            let value = leaf.or_default(&present);
            let value = if guards.is_empty() {
                value
            } else {
                format!("({} ? {value} : {})", guards.join(" && "), zero(leaf.field))
            };
            return test(&value, leaf.field);
        }
        guards.push(present);
        guards.push(test(&leaf.text, leaf.field)?);
        return Ok(and(&guards));
    }
    let all = all(&root, steps, 0, test, CoveredTests::Exists)?;
    match known {
        CoveredTests::Exists => Ok(all),
        CoveredTests::Nothing => Ok(and(&[exists(&root, steps, 0)?, all])),
    }
}

/// An expression that is true if all results pass, also if there are none. Up to the first list,
/// fields are known to exist or are tested.
fn all(
    place: &CelPlace,
    steps: &[JsonPathStep],
    depth: usize,
    test: &Test<'_>,
    known: CoveredTests,
) -> Result<String, String> {
    let Some((step, rest)) = steps.split_first() else { return test(&place.text, place.field) };
    match step {
        JsonPathStep::Field(name) => {
            let (child, present) = place.key(name)?;
            if rest.is_empty() && child.field.has_default() {
                return test(&child.or_default(&present), child.field);
            }
            match all(&child, rest, depth, test, known)?.as_str() {
                "true" => Ok("true".to_owned()),
                inner if known == CoveredTests::Exists => Ok(inner.to_owned()),
                inner => Ok(format!("(!({present}) || {inner})")),
            }
        }
        JsonPathStep::Slice(slice) if is_all(slice) => {
            let variable = format!("x{depth}");
            let item = place.item(variable.clone())?;
            match all(&item, rest, depth + 1, test, CoveredTests::Nothing)?.as_str() {
                "true" => Ok("true".to_owned()),
                inner => Ok(format!("{}.all({variable}, {inner})", place.text)),
            }
        }
        JsonPathStep::Slice(slice) => {
            let Some(index) = index(slice) else { return Err(unsupported(step)) };
            let item = place.item(format!("{}[{index}]", place.text))?;
            all(&item, rest, depth, test, known)
        }
        other => Err(unsupported(other)),
    }
}

fn and(parts: &[String]) -> String {
    if parts.iter().any(|part| part == "false") {
        return "false".to_owned();
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| *part != "true").collect();
    if parts.is_empty() { "true".to_owned() } else { parts.join(" && ") }
}

fn not(text: &str) -> String {
    match text {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        text => format!("!({text})"),
    }
}

/// The test for one value.
fn check(rule: &Rule) -> Result<Box<Test<'_>>, String> {
    match &rule.check {
        Check::Integer(range) => {
            let (min, max) = literals(range)?;
            Ok(Box::new(move |value, field| integer(value, field, min, max)))
        }
        Check::String(range) => {
            let (min, max) = literals(range)?;
            Ok(Box::new(move |value, field| match field.kind {
                FieldKind::String => Ok(and(&bounds(&format!("size({value})"), min, max))),
                FieldKind::Integer | FieldKind::Boolean | FieldKind::Object | FieldKind::Map | FieldKind::Array => {
                    Ok("false".to_owned())
                }
                kind => Err(format!("whether {} is a string is not known beforehand", kind.what())),
            }))
        }
        Check::Enum(values) => {
            let mut texts = Vec::with_capacity(values.len());
            for value in values {
                match value {
                    RuleArgument::Literal(text) => texts.push(cel::quoted(text)),
                    RuleArgument::Path(_) => return Err("`values` from a path are not exported".to_owned()),
                }
            }
            let list = texts.join(", ");
            Ok(Box::new(move |value, field| match field.kind {
                FieldKind::Object | FieldKind::Map | FieldKind::Array => Ok("false".to_owned()),
                _ if list.is_empty() => Ok("false".to_owned()),
                kind => Ok(format!("{} in [{list}]", as_text(value, kind))),
            }))
        }
        Check::Regex(None) => Ok(Box::new(|_, field| Ok(field.kind.is_scalar().to_string()))),
        Check::Regex(Some(RuleArgument::Path(_))) => Err("a `regex` from a path is not exported".to_owned()),
        Check::Regex(Some(RuleArgument::Literal(Err(fault)))) => Err(fault.message.clone()),
        Check::Regex(Some(RuleArgument::Literal(Ok(pattern)))) => {
            let pattern = cel::quoted(&portable(pattern.as_str())?);
            Ok(Box::new(move |value, field| match field.kind {
                FieldKind::Object | FieldKind::Map | FieldKind::Array => Ok("false".to_owned()),
                kind => Ok(format!("{}.matches({pattern})", as_text(value, kind))),
            }))
        }
    }
}

fn as_text(value: &str, kind: FieldKind) -> String {
    if kind == FieldKind::String { value.to_owned() } else { format!("string({value})") }
}

type DecimalBound<'a> = Option<&'a Decimal>;

fn literals(range: &NumberRange) -> Result<(DecimalBound<'_>, DecimalBound<'_>), String> {
    fn literal(bound: &Option<RuleArgument<Decimal>>) -> Result<DecimalBound<'_>, String> {
        match bound {
            None => Ok(None),
            Some(RuleArgument::Literal(value)) => Ok(Some(value)),
            Some(RuleArgument::Path(path)) => Err(format!("a bound from a path ({}) is not exported", path.text)),
        }
    }
    Ok((literal(&range.min)?, literal(&range.max)?))
}

/// Comparisons of an integer; a bound beyond 64 bits makes the result constant.
fn bounds(value: &str, min: DecimalBound<'_>, max: DecimalBound<'_>) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(min) = min.map(|min| min.floor_ceil().1) {
        match min.to_i64() {
            Some(min) => parts.push(format!("{value} >= {min}")),
            None if min.is_negative() => {}
            None => parts.push("false".to_owned()),
        }
    }
    if let Some(max) = max.map(|max| max.floor_ceil().0) {
        match max.to_i64() {
            Some(max) => parts.push(format!("{value} <= {max}")),
            None if max.is_negative() => parts.push("false".to_owned()),
            None => {}
        }
    }
    parts
}

fn integer(value: &str, field: &VmField, min: DecimalBound<'_>, max: DecimalBound<'_>) -> Result<String, String> {
    match field.kind {
        FieldKind::Integer => Ok(and(&bounds(value, min, max))),
        FieldKind::Quantity => {
            let quantity = format!("quantity(string({value}))");
            // `isInteger` accepts 2Gi but not 1.5Gi; an integer is also a quantity that equals its
            // integral part.
            let whole = format!(
                "({quantity}.isInteger() || quantity(string(int({quantity}.asApproximateFloat()))).compareTo({quantity}) == 0)"
            );
            let mut parts = vec![whole];
            for (bound, operator) in [(min, ">="), (max, "<=")] {
                let Some(bound) = bound else { continue };
                // Kubernetes has no quantities beyond 64 bits; such a bound makes the result
                // constant.
                let (below, _) = bound.floor_ceil();
                match below.to_i64() {
                    Some(_) => parts.push(format!("{quantity}.compareTo(quantity('{bound}')) {operator} 0")),
                    None if below.is_negative() == (operator == ">=") => {}
                    None => parts.push("false".to_owned()),
                }
            }
            Ok(and(&parts))
        }
        FieldKind::IntOrString => Err("whether the value is an integer is not known beforehand".to_owned()),
        _ => Ok("false".to_owned()),
    }
}

/// Converts a pattern so that RE2 reads it like PCRE.
fn portable(pattern: &str) -> Result<String, String> {
    let re = Regexp::new(pattern.as_bytes()).map_err(|error| {
        let reason = error.strip_prefix("error parsing regexp: ").unwrap_or(&error).to_owned();
        format!("CEL has RE2, which refuses the regular expression: {reason}")
    })?;
    if re.has_vertical_tab() {
        return Err(format!("CEL has RE2, which reads the regular expression differently: {VERTICAL_TAB}"));
    }
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut at = 0;
    for dollar in re.dollars() {
        if !dollar.is_last {
            return Err("`$` in the middle of a regular expression means something else in RE2".to_owned());
        }
        out.push_str(&pattern[at..dollar.at]);
        // PCRE's `$` also matches before a final line feed.
        out.push_str("\\n?\\z");
        at = dollar.at + 1;
    }
    out.push_str(&pattern[at..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_from_instance_types_may_be_absent() {
        let is_lenient = |path: &str| {
            let rule = format!(r#"[{{"name":"n","rule":"integer","path":"jsonpath::{path}","message":"m","min":1}}]"#);
            let exported = export(&crate::rules::parse(&rule).unwrap());
            exported.validations[0].expression.contains("has(object.spec.instancetype)")
        };
        for path in [".spec.domain.cpu.cores", ".spec.domain.memory.guest", ".spec.domain.resources.requests.memory"] {
            assert!(is_lenient(path), "{path}");
        }
        for path in [".spec.terminationGracePeriodSeconds", ".spec.domain.ioThreads.supplementalPoolThreadCount"] {
            assert!(!is_lenient(path), "{path}");
        }
    }
}
