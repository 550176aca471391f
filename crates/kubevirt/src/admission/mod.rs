//! Answers admission reviews: the API server sends them before it stores a VM or deletes a
//! template.
//!
//! A pure function of the bytes of a review and of its [`Surroundings`]: the templates, the VMs
//! that refer to them, and the time limit. Any bytes get an [`Answer`]. Sockets and clusters are
//! the business of the server.

mod answer;
mod review;
mod template;

use std::sync::Arc;

pub use answer::{Answer, StatusCause, Verdict};
use review::Review;
pub use review::{ReviewVersion, ScanScope, Sender, sender};
pub use template::template;

use crate::budget::{self, Budget};
use crate::compat;
use crate::evaluate::{RuleOutcome, Sizing, Status, complete_cpu, evaluate_within};
use crate::instancetype;
use crate::jsonpath::eval;
use crate::rules::{self, EntryState, Rules, Unreadable};
use crate::select::{self, RulesSource};
use crate::value::Value;

/// The field in causes of rules without a path.
const ANNOTATION_FIELD: &str = "metadata.annotations[vm.kubevirt.io/validations]";

/// How reviews are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReviewOptions {
    /// Like the validator of ssp-operator, with its messages and without warnings.
    pub compat: bool,
    /// An update is not refused for violations that the VM already had; those are
    /// warnings.
    pub ratchet: bool,
}

/// How much work a review may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// As little as most reviews need; if the rules take more, there is no answer.
    Glance,
    /// Little; if the rules take more, there is no answer.
    First,
    /// The limit for the rules of a VM; a rule that takes more is an error.
    Full,
}

/// Information that is not part of a review.
pub trait Surroundings {
    /// The rules on the template with this name.
    fn template(&self, namespace: &str, name: &str) -> ParentTemplate;

    /// The VMs (`namespace/name`) without own rules that refer to a template; or why they are
    /// unknown.
    fn dependents(&self, namespace: &str, name: &str) -> Result<Vec<String>, UnknownReason>;

    /// Applies the cpu and memory of a VM's instance type to the VM; returns whether the instance
    /// type is known.
    fn expand(&self, vm: &mut Value) -> bool;

    /// Parses rules; cached, because many VMs have the same text.
    fn rules(&self, text: &str) -> Arc<Result<Rules, Unreadable>> {
        Arc::new(rules::parse(text))
    }

    /// Reads rules as the reference does.
    fn compat_rules(&self, text: &str) -> Arc<compat::Reading> {
        Arc::new(compat::parse(text))
    }

    /// Whether the client has given up by now.
    fn is_late(&self) -> bool {
        false
    }
}

/// The template of a VM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParentTemplate {
    /// It exists, with these rules.
    Rules(Arc<str>),
    /// It exists, without rules.
    Plain,
    /// It does not exist.
    Absent,
    /// It is not known yet.
    Unknown(UnknownReason),
}

/// The reason that something is unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnknownReason {
    /// There is no cluster to ask.
    NoCluster,
    /// The cluster has not been read yet, for this reason.
    NotYet(String),
}

/// Answers a review of a VM.
pub fn virtual_machine(body: &[u8], policy: ReviewOptions, surroundings: &dyn Surroundings) -> Answer {
    let answer = virtual_machine_within(body, policy, surroundings, Effort::Full);
    answer.expect("there is an answer where effort is not limited")
}

/// Answers a review of a VM within an effort; `None` if it takes more.
pub fn virtual_machine_within(
    body: &[u8],
    policy: ReviewOptions,
    surroundings: &dyn Surroundings,
    effort: Effort,
) -> Option<Answer> {
    let review = match Review::read(body, policy) {
        Ok(review) => review,
        Err(answer) => return Some(*answer),
    };
    let is_late = || surroundings.is_late();
    let steps = match effort {
        Effort::Glance => budget::GLANCE_STEPS,
        Effort::First => budget::FIRST_STEPS,
        Effort::Full => budget::STEPS,
    };
    let budget = Budget::new(steps).until(&is_late);
    let (verdict, warnings) = match vm_of(&review, policy) {
        Err(verdict) => (verdict, Vec::new()),
        Ok(vm) => judged(vm, &review, policy, surroundings, &budget),
    };
    if effort != Effort::Full && budget.is_exhausted() {
        return None;
    }
    Some(review.answer(verdict, warnings))
}

/// The VM to check; or a verdict if there is none to check.
fn vm_of(review: &Review, policy: ReviewOptions) -> Result<&Value, Verdict> {
    let (group, version, resource) = review.resource();
    select::is_vm_resource(group, version, resource).map_err(Verdict::bad_request)?;
    let is_gone = matches!(review.operation(), "DELETE" | "CONNECT");
    if !policy.compat && (is_gone || !review.subresource().is_empty()) {
        // These requests do not change the VM's template, which the rules are about.
        return Err(Verdict::Allowed);
    }
    let vm = review.object("object", "v1.VirtualMachine", policy)?;
    match vm.get("kind").and_then(Value::as_str).unwrap_or("VirtualMachine") {
        "VirtualMachine" => {}
        _ if policy.compat => {}
        kind => return Err(Verdict::bad_request(format!("expected a VirtualMachine, found the kind {kind}"))),
    }
    Ok(vm)
}

fn judged(
    vm: &Value,
    review: &Review,
    policy: ReviewOptions,
    surroundings: &dyn Surroundings,
    budget: &Budget<'_>,
) -> (Verdict, Vec<String>) {
    let kept;
    let text = match select::source(vm) {
        RulesSource::Own(text) => text,
        RulesSource::Template { namespace, name } => match surroundings.template(namespace, name) {
            ParentTemplate::Rules(text) => {
                kept = text;
                &kept
            }
            ParentTemplate::Plain => return (Verdict::Allowed, Vec::new()),
            ParentTemplate::Absent | ParentTemplate::Unknown(UnknownReason::NoCluster) if policy.compat => {
                return (Verdict::Allowed, Vec::new());
            }
            ParentTemplate::Absent => return unchecked(format!("its template {namespace}/{name} does not exist")),
            ParentTemplate::Unknown(UnknownReason::NoCluster) => {
                return unchecked(format!("its template {namespace}/{name} is not known here"));
            }
            ParentTemplate::Unknown(UnknownReason::NotYet(why)) => return (Verdict::unavailable(why), Vec::new()),
        },
        RulesSource::Deleted | RulesSource::Skipped | RulesSource::None => return (Verdict::Allowed, Vec::new()),
    };
    if policy.compat {
        return (compat_verdict(&surroundings.compat_rules(text), vm, budget), Vec::new());
    }
    let rules = surroundings.rules(text);
    let rules = match &*rules {
        Ok(rules) => rules,
        Err(problem) => {
            let hint = problem.hint().map_or(String::new(), |hint| format!(" ({hint})"));
            let place = place(text, problem.offset());
            let message = format!("the rules cannot be read: {place}: {}{hint}", problem.message());
            return (Verdict::bad_request(message), Vec::new());
        }
    };
    let Some(now) = seen(rules, vm, surroundings, budget) else { return (Verdict::late(), Vec::new()) };
    let is_update = policy.ratchet && review.operation() == "UPDATE";
    let before = match review.old_object().filter(|_| is_update) {
        None => None,
        Some(old) => match seen(rules, old, surroundings, budget) {
            None => return (Verdict::late(), Vec::new()),
            before => before,
        },
    };
    verdict(&now.outcomes, |number| before.as_ref().is_some_and(|before| was_so(number, rules, &now, before)))
}

fn unchecked(why: String) -> (Verdict, Vec<String>) {
    (Verdict::Allowed, vec![format!("no rules were checked: {why}")])
}

/// A VM as rules see it, and the outcomes.
struct EvaluatedVm {
    vm: Value,
    outcomes: Vec<RuleOutcome>,
}

/// Evaluates rules on a VM; `None` if the time limit was reached before.
fn seen(rules: &Rules, vm: &Value, surroundings: &dyn Surroundings, budget: &Budget<'_>) -> Option<EvaluatedVm> {
    if rules.entries.is_empty() {
        return Some(EvaluatedVm { vm: Value::Null, outcomes: Vec::new() });
    }
    let mut vm = vm.clone();
    let mut sizing = Sizing::Own;
    if let Some((_, name)) = instancetype::wanted(&vm) {
        let name = name.to_owned();
        if !surroundings.expand(&mut vm) {
            sizing = Sizing::Instancetype(name);
        }
    }
    complete_cpu(&mut vm);
    let outcomes = evaluate_within(rules, &vm, &sizing, budget)?;
    Some(EvaluatedVm { vm, outcomes })
}

/// The verdict on a VM; `was_so` returns whether an outcome, by its index, was the same before.
fn verdict(outcomes: &[RuleOutcome], was_so: impl Fn(usize) -> bool) -> (Verdict, Vec<String>) {
    let mut causes = Vec::new();
    let mut warnings = Vec::new();
    for (number, outcome) in outcomes.iter().enumerate() {
        let text = told(outcome);
        match outcome.status {
            Status::Warning => warnings.push(text),
            Status::Skipped if outcome.notable => {
                warnings.push(format!("rule {} was skipped: {}", outcome.rule, outcome.detail));
            }
            Status::Ok | Status::Skipped | Status::Note => {}
            Status::Violation | Status::Error if was_so(number) => {
                warnings.push(format!("{text} (as before this update)"));
            }
            Status::Violation | Status::Error => {
                let field = if outcome.path.is_empty() { ANNOTATION_FIELD } else { &outcome.path };
                causes.push(StatusCause { rule: outcome.rule.clone(), field: field.to_owned(), message: text });
            }
        }
    }
    let verdict = if causes.is_empty() { Verdict::Allowed } else { Verdict::Invalid(causes) };
    (verdict, warnings)
}

/// Whether the VM violated the same rule with the same values before.
fn was_so(number: usize, rules: &Rules, now: &EvaluatedVm, before: &EvaluatedVm) -> bool {
    let (Some(new), Some(old)) = (now.outcomes.get(number), before.outcomes.get(number)) else { return false };
    let Some(EntryState::Rule(rule)) = rules.entries.get(number).map(|entry| &entry.state) else { return false };
    let is_same = (&old.rule, old.status, &old.detail) == (&new.rule, new.status, &new.detail);
    // Details show only the beginning of long values, and the first of many, so compare the values.
    new.value.is_some() && is_same && eval::selects_same(&rule.path, &now.vm, &before.vm)
}

/// The message of a rule with its detail.
fn told(outcome: &RuleOutcome) -> String {
    match (outcome.message.as_str(), outcome.rule.as_str()) {
        ("", "") => outcome.detail.clone(),
        ("", rule) => format!("rule {rule}: {}", outcome.detail),
        (message, _) => format!("{message}: {}", outcome.detail),
    }
}

fn compat_verdict(rules: &compat::Reading, vm: &Value, budget: &Budget<'_>) -> Verdict {
    let rules = match rules {
        Ok(rules) => rules,
        Err((message, _)) => return Verdict::bad_request(message.clone()),
    };
    if rules.is_empty() {
        return Verdict::Allowed;
    }
    if vm.at(&["spec", "template"]).is_none() {
        // The reference crashes here; any rule produces the one error that describes this.
        let any = rules::parse("[{}]").expect("an empty rule can be read");
        return verdict(&crate::evaluate::evaluate(&any, vm, &Sizing::Own), |_| false).0;
    }
    let mut vm = vm.clone();
    complete_cpu(&mut vm);
    let Some(reports) = compat::evaluate_within(rules, &vm, budget) else {
        return Verdict::late();
    };
    if !reports.iter().any(compat::RuleReport::refuses) {
        return Verdict::Allowed;
    }
    let cause = |report: &compat::RuleReport| {
        Some(StatusCause { rule: report.name.clone(), field: report.path.clone(), message: report.cause()? })
    };
    Verdict::Invalid(reports.iter().filter_map(cause).collect())
}

/// Line and column of a byte offset in an annotation, from 1.
fn place(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column} of the annotation")
}

#[cfg(test)]
mod tests;
