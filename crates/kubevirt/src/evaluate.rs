//! Evaluates rules on a VM as `docs/kubevirt.md` (*Rules*) specifies. The reference deviates: see
//! `tests/specification.rs`.
//!
//! Every rule has one [`RuleOutcome`]. A rule with `justWarning` never fails the VM, neither by a
//! violation nor by an error in its evaluation; a rule that is wrong itself (no path, a duplicate
//! name) always does.

use ytterby_text::{Decimal, quantity};

use crate::amount;
use crate::budget::{Budget, Exhausted};
use crate::jsonpath::eval::{self, FoundValue, Missing, PathResult, World};
use crate::jsonpath::{JsonPath, JsonPathStep, TemplatePart};
use crate::pattern::Pattern;
use crate::rules::{Check, EntryState, NumberRange, Rule, RuleArgument, RuleEntry, Rules};
use crate::schema::{self, FieldKind, PathTarget, VmField};
use crate::trail::{TrailStep, trail};
use crate::value::{BRIEF, Value, brief, cut, quoted};

/// Maximum values listed in a message; of others it gives the number.
const SHOWN: usize = 20;

/// The result of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Satisfied.
    Ok,
    /// Violated.
    Violation,
    /// Violated or failed, but only a warning.
    Warning,
    /// Not applicable.
    Skipped,
    /// It could not be evaluated.
    Error,
    /// Not a problem, but useful to know.
    Note,
}

impl Status {
    /// The name in machine-readable output.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Violation => "violation",
            Status::Warning => "warning",
            Status::Skipped => "skipped",
            Status::Error => "error",
            Status::Note => "note",
        }
    }
}

/// The result of one rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleOutcome {
    /// The rule's name; its index (`#2`) if it has none; empty if the outcome is not about a rule.
    pub rule: String,
    /// The result.
    pub status: Status,
    /// The path that it checks.
    pub path: String,
    /// The rule's own message.
    pub message: String,
    /// The value that was found.
    pub detail: String,
    /// The offset of the rule in the annotation, in bytes.
    pub offset: Option<usize>,
    /// The keys from the VM to the first value that violates the rule, or to its expected location;
    /// `None` if the VM is not responsible.
    pub value: Option<Vec<TrailStep>>,
    /// Whether it is shown as a warning although it is only skipped.
    pub notable: bool,
}

/// The origin of a VM's cpu and memory.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizing {
    /// The VM itself.
    Own,
    /// An unknown instance type.
    Instancetype(String),
}

/// Whether there is neither a violation nor an error.
pub fn is_valid(outcomes: &[RuleOutcome]) -> bool {
    !outcomes.iter().any(|outcome| matches!(outcome.status, Status::Violation | Status::Error))
}

/// Evaluates all rules on a VM.
pub fn evaluate(rules: &Rules, vm: &Value, sizing: &Sizing) -> Vec<RuleOutcome> {
    evaluate_within(rules, vm, sizing, &Budget::default()).unwrap_or_default()
}

/// Evaluates all rules on a VM. A rule without remaining steps is an error; `None` if the time
/// limit is reached.
pub fn evaluate_within(rules: &Rules, vm: &Value, sizing: &Sizing, budget: &Budget<'_>) -> Option<Vec<RuleOutcome>> {
    if rules.entries.is_empty() {
        return Some(Vec::new());
    }
    if vm.at(&["spec", "template"]).is_none() {
        return Some(vec![RuleOutcome {
            rule: String::new(),
            status: Status::Error,
            path: ".spec.template".to_owned(),
            message: String::new(),
            detail: "the VM has no spec.template, so no rule can be evaluated".to_owned(),
            offset: None,
            value: Some(Vec::new()),
            notable: false,
        }]);
    }
    let outcome = |entry| (!budget.is_late()).then(|| outcome(entry, vm, sizing, budget)).filter(|_| !budget.is_late());
    rules.entries.iter().map(outcome).collect()
}

/// The outcomes without a VM: only rules that are wrong themselves are errors.
pub fn untried(rules: &Rules, why: &str) -> Vec<RuleOutcome> {
    let nothing = Value::Null;
    let untried = |entry: &RuleEntry| match &entry.state {
        EntryState::Rule(rule) => RuleOutcome {
            rule: entry.label(),
            status: Status::Skipped,
            path: rule.path.text.to_string(),
            message: rule.message.to_string(),
            detail: why.to_owned(),
            offset: Some(entry.offset),
            value: None,
            notable: false,
        },
        _ => outcome(entry, &nothing, &Sizing::Own, &Budget::default()),
    };
    rules.entries.iter().map(untried).collect()
}

/// Fields that default to 1 if there is a `cpu`, see [`complete_cpu`].
pub(crate) const CPU_COUNTS: [&str; 3] =
    [".spec.domain.cpu.sockets", ".spec.domain.cpu.cores", ".spec.domain.cpu.threads"];

/// Sets sockets, cores and threads of an existing cpu to 1 if they are 0 or absent.
pub fn complete_cpu(vm: &mut Value) {
    let cpu = ["spec", "template", "spec", "domain", "cpu"].iter().try_fold(vm, |value, key| value.get_mut(key));
    if let Some(cpu @ Value::Object(_)) = cpu {
        for key in ["sockets", "cores", "threads"] {
            if matches!(cpu.get(key), None | Some(Value::Null | Value::Int(0))) {
                cpu.set(key, Value::Int(1));
            }
        }
    }
}

fn outcome(entry: &RuleEntry, vm: &Value, sizing: &Sizing, budget: &Budget<'_>) -> RuleOutcome {
    let result = |status, path: &str, message: &str, detail: String| RuleOutcome {
        rule: entry.label(),
        status,
        path: path.to_owned(),
        message: message.to_owned(),
        detail,
        offset: Some(entry.offset),
        value: None,
        notable: false,
    };
    match &entry.state {
        EntryState::Broken { faults, path, message } => {
            let detail: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
            let offset = faults.first().map(|fault| fault.offset);
            RuleOutcome { offset, ..result(Status::Error, path, message, detail.join("; ")) }
        }
        EntryState::UnknownKind { kind, offset, message } => {
            let detail = format!("unknown kind of rule {}; the rule is ignored", quoted(kind));
            RuleOutcome { offset: Some(*offset), ..result(Status::Warning, "", message, detail) }
        }
        EntryState::Rule(rule) => {
            if let Some(LeftOut { why, notable }) = left_out(rule, vm, sizing, budget) {
                let value = notable.then(|| trail(vm, &rule.path, None));
                return RuleOutcome { notable, value, ..result(Status::Skipped, &rule.path.text, &rule.message, why) };
            }
            let (status, detail, value) = match apply(rule, vm, budget) {
                Ok(RuleResult::Satisfied(detail)) => (Status::Ok, detail, None),
                Ok(RuleResult::Broken(detail, near)) => (Status::Violation, detail, Some(trail(vm, &rule.path, near))),
                Err(RuleProblem { detail, blamed }) => {
                    (Status::Error, detail, blamed.map(|(path, near)| trail(vm, path, near)))
                }
            };
            let status = if rule.just_warning && status != Status::Ok { Status::Warning } else { status };
            RuleOutcome { value, ..result(status, &rule.path.text, &rule.message, detail) }
        }
    }
}

/// The reason that a rule does not apply, and whether that deserves a warning.
struct LeftOut {
    why: String,
    notable: bool,
}

fn left_out(rule: &Rule, vm: &Value, sizing: &Sizing, budget: &Budget<'_>) -> Option<LeftOut> {
    // If no steps are left to decide, the rule is not skipped but an error.
    if let Some(valid) = &rule.valid
        && !find(valid, vm, budget).is_ok_and(|items| !items.is_empty())
        && !budget.is_exhausted()
    {
        return Some(LeftOut { why: format!("{} does not exist in this VM", valid.text), notable: false });
    }
    if let Sizing::Instancetype(name) = sizing {
        let unset = |path: &&JsonPath| path.steps().is_some_and(is_size) && find(path, vm, budget).is_err();
        let mut paths = std::iter::once(&rule.path).chain(argument_paths(&rule.check));
        if paths.any(|path| unset(&path)) {
            let why = format!("cpu and memory come from the instance type {name}, which was not given");
            return Some(LeftOut { why, notable: true });
        }
    }
    None
}

/// Paths among the arguments.
pub(crate) fn argument_paths(check: &Check) -> impl Iterator<Item = &JsonPath> {
    fn path<T>(argument: &RuleArgument<T>) -> Option<&JsonPath> {
        match argument {
            RuleArgument::Path(path) => Some(path),
            RuleArgument::Literal(_) => None,
        }
    }
    let mut paths = Vec::new();
    match check {
        Check::Integer(range) | Check::String(range) => {
            paths.extend([&range.min, &range.max].into_iter().flatten().filter_map(path));
        }
        Check::Enum(values) => paths.extend(values.iter().filter_map(path)),
        Check::Regex(regex) => paths.extend(regex.iter().filter_map(path)),
    }
    paths.into_iter()
}

/// Whether a path is about something that an instance type sets.
pub(crate) fn is_size(steps: &[JsonPathStep]) -> bool {
    let [JsonPathStep::Field(spec), JsonPathStep::Field(domain), JsonPathStep::Field(part), ..] = steps else {
        return false;
    };
    spec == "spec" && domain == "domain" && matches!(part.as_str(), "cpu" | "memory" | "resources")
}

enum RuleResult<'a> {
    Satisfied(String),
    /// With the first value that violates the rule.
    Broken(String, Option<&'a Value>),
}

/// The reason that a rule could not be applied.
struct RuleProblem<'a> {
    detail: String,
    /// The path and the value, if any, that are responsible; `None` if the rule itself is
    /// wrong.
    blamed: Option<(&'a JsonPath, Option<&'a Value>)>,
}

impl From<String> for RuleProblem<'_> {
    fn from(detail: String) -> Self {
        RuleProblem { detail, blamed: None }
    }
}

fn find<'a>(path: &'a JsonPath, vm: &'a Value, budget: &Budget<'_>) -> Result<Vec<PathResult<'a>>, Missing> {
    eval::find_within(path, vm, World::Specification, budget)
}

fn apply<'a>(rule: &'a Rule, vm: &'a Value, budget: &Budget<'_>) -> Result<RuleResult<'a>, RuleProblem<'a>> {
    if budget.is_exhausted() {
        return Err(Exhausted::message().into());
    }
    // Arguments first: a rule whose arguments cannot be resolved is an error whatever the values
    // are.
    match &rule.check {
        Check::Integer(range) => {
            let bounds = DecimalBounds::of(range, vm, budget)?;
            let found = lookup(&rule.path, vm, budget)?;
            Ok(integers(&found, &bounds))
        }
        Check::String(range) => {
            let bounds = DecimalBounds::of(range, vm, budget)?;
            let found = lookup(&rule.path, vm, budget)?;
            lengths(&found, &bounds, budget).map_err(|problem| problem.at(&rule.path))
        }
        Check::Enum(values) => {
            let allowed = choices(values, vm, budget)?;
            let found = lookup(&rule.path, vm, budget)?;
            one_of(&found, &allowed, budget).map_err(|problem| problem.at(&rule.path))
        }
        Check::Regex(regex) => {
            let looked_up;
            let pattern: Option<&Pattern> = match regex {
                None => None,
                Some(RuleArgument::Literal(pattern)) => Some(pattern.as_ref().map_err(|fault| fault.message.clone())?),
                Some(RuleArgument::Path(path)) => {
                    let item = single(path, vm, budget)?;
                    let blame = |detail| RuleProblem { detail, blamed: Some((path, item.near)) };
                    looked_up = Pattern::new(&text_of(&item).map_err(blame)?).map_err(blame)?;
                    Some(&looked_up)
                }
            };
            let found = lookup(&rule.path, vm, budget)?;
            matches(&found, pattern, budget).map_err(|problem| problem.at(&rule.path))
        }
    }
}

/// The results of a path, with a remark if they are defaults of absent objects.
struct PathResults<'a> {
    items: Vec<PathResult<'a>>,
    remark: String,
}

/// Results on the VM; for a scalar whose parent is absent, its default.
fn lookup<'a>(path: &'a JsonPath, vm: &'a Value, budget: &Budget<'_>) -> Result<PathResults<'a>, RuleProblem<'a>> {
    match find(path, vm, budget) {
        Ok(items) if items.is_empty() => {
            let text = &path.text;
            let detail =
                format!("{text} has no values in this VM: the list is empty (add `valid` to skip the rule then)");
            Err(RuleProblem { detail, blamed: Some((path, None)) })
        }
        Ok(items) => Ok(PathResults { items, remark: String::new() }),
        Err(missing) => {
            if matches!(missing, Missing::Field(_))
                && let Some(names) = path.fields()
                && let PathTarget::Field(field) = schema::target(path.steps().unwrap_or_default())
                && field.has_default()
            {
                let items = vec![PathResult { seen: FoundValue::Unset, field: Some(field), near: None }];
                return Ok(PathResults { items, remark: format!(" ({} is not set)", first_absent(vm, &names)) });
            }
            let misspelled = matches!(path.steps().map(schema::target), None | Some(PathTarget::Unknown { .. }));
            let blamed = (!misspelled && !matches!(missing, Missing::Other(_))).then_some((path, None));
            Err(RuleProblem { detail: not_found(path, vm, &missing), blamed })
        }
    }
}

/// The first part of a path that a VM lacks: `.spec.domain.cpu`.
fn first_absent(vm: &Value, names: &[&str]) -> String {
    let mut value = vm.at(&["spec", "template"]);
    let mut path = String::new();
    for name in names {
        path.push('.');
        path.push_str(name);
        value = value.and_then(|value| value.at(&[name]));
        if value.is_none() {
            break;
        }
    }
    path
}

/// Explains why a path has no results: misspelled, or unset.
fn not_found(path: &JsonPath, vm: &Value, missing: &Missing) -> String {
    match missing {
        Missing::Other(reason) => return format!("{}: {reason}", path.text),
        Missing::Bounds(reason) => return format!("path not found in VM: {}: there is no {reason}", path.text),
        Missing::Field(_) => {}
    }
    match path.steps().map(schema::target) {
        Some(PathTarget::Unknown { name, nearest, parent }) => {
            let elsewhere = schema::below(parent, &name).map(|field| format!("; did you mean `{}`?", field.path));
            let parent = if parent.path.is_empty() { "a VM's template" } else { parent.path };
            let guess = nearest.map(|nearest| format!("; did you mean `{nearest}`?"));
            let guess = guess.or(elsewhere).unwrap_or_default();
            format!("path not found in VM: {}: {parent} has no field `{name}`{guess}", path.text)
        }
        None if matches!(path.parts.as_slice(), [TemplatePart::Expression(_)])
            && !path.text.trim_start().starts_with('.') =>
        {
            format!("path not found in VM: {}: a path begins with a dot: `.{}`", path.text, path.text.trim_start())
        }
        _ => match path.fields() {
            Some(names) => format!("path not found in VM: {} is not set", first_absent(vm, &names)),
            None => format!("path not found in VM: nothing has {}", path.text),
        },
    }
}

/// The only result of an argument's path.
fn single<'a>(path: &'a JsonPath, vm: &'a Value, budget: &Budget<'_>) -> Result<PathResult<'a>, RuleProblem<'a>> {
    let found = lookup(path, vm, budget)?;
    match found.items.as_slice() {
        [item] => Ok(*item),
        items => Err(format!("the argument {} must give one value, found {}", path.text, items.len()).into()),
    }
}

struct DecimalBounds {
    min: Option<Decimal>,
    max: Option<Decimal>,
}

impl DecimalBounds {
    fn of<'a>(range: &'a NumberRange, vm: &'a Value, budget: &Budget<'_>) -> Result<DecimalBounds, RuleProblem<'a>> {
        let bound = |argument: &'a Option<RuleArgument<Decimal>>| match argument {
            None => Ok(None),
            Some(RuleArgument::Literal(value)) => Ok(Some(value.clone())),
            Some(RuleArgument::Path(path)) => {
                let item = single(path, vm, budget)?;
                number(&item).map(|(value, _)| Some(value)).map_err(|what| {
                    let detail = format!("the argument {} must be a number, found {what}", path.text);
                    RuleProblem { detail, blamed: Some((path, item.near)) }
                })
            }
        };
        Ok(DecimalBounds { min: bound(&range.min)?, max: bound(&range.max)? })
    }

    fn show(&self, field: Option<&VmField>) -> String {
        let amount = |number| amount::shown(number, field);
        match (&self.min, &self.max) {
            (Some(min), Some(max)) => format!("between {} and {}", amount(min), amount(max)),
            (Some(min), None) => format!("at least {}", amount(min)),
            (None, Some(max)) => format!("at most {}", amount(max)),
            (None, None) => "allowed".to_owned(),
        }
    }
}

/// The exact number at a result and its text; or a description of what was found.
fn number(item: &PathResult<'_>) -> Result<(Decimal, String), String> {
    let Some(value) = item.scalar() else { return Err(what(item)) };
    if let Some(number) = value.as_number() {
        let (plain, shown) = (number.to_string(), amount::shown(&number, item.field));
        let shown = if plain == shown { plain } else { format!("{plain} ({shown})") };
        return Ok((number, shown));
    }
    let is_quantity = item.field.is_some_and(|field| field.kind == FieldKind::Quantity);
    match (value.as_str(), is_quantity) {
        (Some(text), true) => match quantity(text) {
            Some(number) => Ok((number, cut(text, BRIEF).into_owned())),
            None => Err(format!("{}, which is no quantity", brief(text))),
        },
        (Some(text), false) => Err(format!("the string {}", brief(text))),
        _ => Err(format!("{} {value}", value.what())),
    }
}

fn what(item: &PathResult<'_>) -> String {
    match item.seen {
        FoundValue::Given(value) => value.what().to_owned(),
        _ => item.field.map_or("nothing", |field: &VmField| field.kind.what()).to_owned(),
    }
}

/// A result as text, for enumerations and patterns.
fn text_of(item: &PathResult<'_>) -> Result<String, String> {
    match item.scalar().and_then(|value| value.render()) {
        Some(text) => Ok(text),
        None => Err(format!("expected a scalar, found {}", what(item))),
    }
}

/// The problem with a value, before its path is known.
struct UnfitValue<'a> {
    detail: String,
    near: Option<&'a Value>,
}

impl<'a> UnfitValue<'a> {
    fn at(self, path: &'a JsonPath) -> RuleProblem<'a> {
        RuleProblem { detail: self.detail, blamed: Some((path, self.near)) }
    }
}

fn integers<'a>(found: &PathResults<'a>, bounds: &DecimalBounds) -> RuleResult<'a> {
    let mut broken = ValueTexts::default();
    let mut seen = ValueTexts::default();
    for item in &found.items {
        let (value, shown) = match number(item) {
            Ok(found) => found,
            // The rule requires an integer, as `string` requires a string.
            Err(what) => {
                broken.blame(item, || format!("expected an integer, found {what}"));
                continue;
            }
        };
        if !value.is_integer() {
            broken.blame(item, || match value.to_string() {
                plain if plain == shown => format!("value {shown} is not a whole number"),
                plain => format!("value {shown} ({plain}) is not a whole number"),
            });
        } else if let Some(min) = bounds.min.as_ref().filter(|min| value < **min) {
            broken.blame(item, || compared(item, &value, &shown, "lower than the minimum", min));
        } else if let Some(max) = bounds.max.as_ref().filter(|max| value > **max) {
            broken.blame(item, || compared(item, &value, &shown, "higher than the maximum", max));
        } else {
            seen.push(|| shown.clone());
        }
    }
    let field = found.items.first().and_then(|item| item.field);
    broken.verdict(&seen, &bounds.show(field), &found.remark)
}

/// A value and the bound that it violates. If the bound is not a round quantity, both are shown as
/// plain numbers.
fn compared(item: &PathResult<'_>, value: &Decimal, shown: &str, relation: &str, bound: &Decimal) -> String {
    let bound_shown = amount::shown(bound, item.field);
    let plain = value.to_string();
    let is_exact = bound_shown != bound.to_string() || plain == shown || shown.contains('(');
    let value = if is_exact { shown.to_owned() } else { format!("{shown} ({plain})") };
    format!("value {value} is {relation} {bound_shown}")
}

fn lengths<'a>(
    found: &PathResults<'a>,
    bounds: &DecimalBounds,
    budget: &Budget<'_>,
) -> Result<RuleResult<'a>, UnfitValue<'a>> {
    let mut broken = ValueTexts::default();
    let mut seen = ValueTexts::default();
    for item in &found.items {
        match item.scalar() {
            Some(Value::String(text)) => {
                budget.scan(&text).map_err(|Exhausted| UnfitValue { detail: Exhausted::message(), near: item.near })?;
                let count = text.chars().count();
                let length = Decimal::from(count as i64);
                if let Some(min) = bounds.min.as_ref().filter(|min| length < **min) {
                    broken.blame(item, || format!("{} has {count} characters, fewer than {min}", brief(&text)));
                } else if let Some(max) = bounds.max.as_ref().filter(|max| length > **max) {
                    broken.blame(item, || format!("{} has {count} characters, more than {max}", brief(&text)));
                } else {
                    seen.push(|| brief(&text));
                }
            }
            Some(other) => broken.blame(item, || format!("expected a string, found {} {other}", other.what())),
            None => broken.blame(item, || format!("expected a string, found {}", what(item))),
        }
    }
    Ok(broken.verdict(&seen, &format!("{} characters long", bounds.show(None)), &found.remark))
}

fn choices<'a>(
    values: &'a [RuleArgument<Box<str>>],
    vm: &'a Value,
    budget: &Budget<'_>,
) -> Result<Vec<String>, RuleProblem<'a>> {
    let mut allowed = Vec::with_capacity(values.len());
    for value in values {
        match value {
            RuleArgument::Literal(text) => allowed.push(text.to_string()),
            RuleArgument::Path(path) => {
                for item in &lookup(path, vm, budget)?.items {
                    let text = text_of(item).map_err(|what| {
                        let detail = format!("the argument {}: {what}", path.text);
                        RuleProblem { detail, blamed: Some((path, item.near)) }
                    });
                    allowed.push(text?);
                }
            }
        }
    }
    Ok(allowed)
}

fn one_of<'a>(
    found: &PathResults<'a>,
    allowed: &[String],
    budget: &Budget<'_>,
) -> Result<RuleResult<'a>, UnfitValue<'a>> {
    let mut broken = ValueTexts::default();
    let mut seen = ValueTexts::default();
    // Long lists are hashed, so that many values with many choices take linear time.
    let index: Option<std::collections::HashSet<&str>> =
        (allowed.len() > 16).then(|| allowed.iter().map(String::as_str).collect());
    for item in &found.items {
        let unfit = |detail| UnfitValue { detail, near: item.near };
        let text = text_of(item).map_err(unfit)?;
        budget.scan(&text).map_err(|Exhausted| unfit(Exhausted::message()))?;
        let known = match &index {
            Some(index) => index.contains(text.as_str()),
            None => allowed.contains(&text),
        };
        if known {
            seen.push(|| brief(&text));
        } else {
            broken.blame(item, || brief(&text));
        }
    }
    let mut list = ValueTexts::default();
    allowed.iter().for_each(|text| list.push(|| brief(text)));
    let choices = if allowed.is_empty() { "no values are allowed".to_owned() } else { list.show() };
    if broken.count == 0 {
        return Ok(broken.verdict(&seen, &format!("among {choices}"), &found.remark));
    }
    let verb = if broken.count == 1 { "is" } else { "are" };
    let text = if allowed.is_empty() {
        format!("{} {verb} not allowed: {choices}", broken.show())
    } else {
        format!("{} {verb} not among {choices}", broken.show())
    };
    Ok(RuleResult::Broken(text + &found.remark, broken.first))
}

fn matches<'a>(
    found: &PathResults<'a>,
    pattern: Option<&Pattern>,
    budget: &Budget<'_>,
) -> Result<RuleResult<'a>, UnfitValue<'a>> {
    let mut broken = ValueTexts::default();
    let mut seen = ValueTexts::default();
    let shown = pattern.map_or("", Pattern::as_str);
    for item in &found.items {
        // Each match is limited, but a path may have many results.
        if budget.is_late() {
            return Err(UnfitValue { detail: "there was no time to look at all values".to_owned(), near: item.near });
        }
        let text = text_of(item).map_err(|detail| UnfitValue { detail, near: item.near })?;
        let is_match = pattern.map_or(Ok(true), |pattern| pattern.is_match(&text, budget));
        if is_match.map_err(|detail| UnfitValue { detail, near: item.near })? {
            seen.push(|| brief(&text));
        } else {
            broken.blame(item, || format!("{} does not match {shown}", brief(&text)));
        }
    }
    if broken.count == 0 && pattern.is_some() {
        let verb = if seen.count == 1 { "matches" } else { "match" };
        return Ok(RuleResult::Satisfied(format!("{} {verb} {shown}{}", seen.show(), found.remark)));
    }
    Ok(broken.verdict(&seen, "allowed", &found.remark))
}

/// Texts for a message: the first few, and the number of the others.
#[derive(Default)]
struct ValueTexts<'a> {
    shown: Vec<String>,
    count: usize,
    /// The first responsible value.
    first: Option<&'a Value>,
}

impl<'a> ValueTexts<'a> {
    fn blame(&mut self, item: &PathResult<'a>, text: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = item.near;
        }
        self.push(text);
    }

    fn push(&mut self, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(text());
        }
    }

    fn show(&self) -> String {
        let mut text = self.shown.join(", ");
        if self.count > self.shown.len() {
            text.push_str(&format!(" and {} more", self.count - self.shown.len()));
        }
        text
    }

    fn verdict(&self, seen: &ValueTexts<'_>, wanted: &str, remark: &str) -> RuleResult<'a> {
        if self.count > 0 {
            return RuleResult::Broken(format!("{}{remark}", self.show()), self.first);
        }
        let verb = if seen.count == 1 { "is" } else { "are" };
        RuleResult::Satisfied(format!("{} {verb} {wanted}{remark}", seen.show()))
    }
}
