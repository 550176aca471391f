//! Jobs and cron jobs.
//!
//! A cron job contains the template of a job, so `job` and `cron_job` share `common`. Indexed jobs
//! have the most rules: their index is part of the names of pods, and lists of indexes have a
//! syntax of their own.

use std::collections::HashSet;

use super::pod::Owner;
use super::workload::{matches, unmatched, with_template};
use super::{Cx, cron, each, with};
use crate::document::{Node, Value};
use crate::names;
use crate::report::At;

/// Maximum parallel pods of an indexed job.
const MAX_INDEXED: i64 = 100_000;

/// Maximum rules of a policy.
const MAX_RULES: usize = 20;

/// Checks a job that is not part of a cron job.
pub(super) fn job(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let is_manual = spec.given("manualSelector").and_then(Node::as_bool) == Some(true);
    match spec.given("selector") {
        Some(selector) if is_manual => {
            cx.selector(selector, &at.key("selector", selector));
            if !matches(selector, spec.at(&["template", "metadata", "labels"])) {
                unmatched(cx, spec, at);
            }
        }
        None if is_manual => cx.required(at, "selector", "manualSelector asks for one"),
        Some(selector) => {
            let here = at.key("selector", selector);
            cx.wrong(&here, "the selector of a job is made by the server; leave it out, or set manualSelector");
        }
        None => {}
    }
    common(cx, spec, at);
}

/// The pods of an indexed job are named after the job and their index.
pub(super) fn name(cx: &mut Cx<'_>, root: &Node, spec: &Node, at: &At<'_>) {
    let name = root.at(&["metadata", "name"]);
    let completions = spec.given("completions").and_then(Node::as_int).unwrap_or(0);
    if spec.text("completionMode") == Some("Indexed")
        && completions > 0
        && let Some(node) = name
        && node.as_str().is_some_and(|text| names::dns_label(&format!("{text}-{}", completions - 1)).is_some())
        && let Some(metadata) = root.given("metadata")
    {
        let here = at.key("metadata", metadata);
        cx.invalid(&here.key("name", node), node, "must be a DNS label with the index of a pod after it");
    }
}

fn common(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    cx.not_negative(
        spec,
        at,
        &[
            "parallelism",
            "completions",
            "activeDeadlineSeconds",
            "backoffLimit",
            "ttlSecondsAfterFinished",
            "backoffLimitPerIndex",
            "maxFailedIndexes",
        ],
    );
    if spec.given("maxFailedIndexes").is_some() && spec.given("backoffLimitPerIndex").is_none() {
        cx.required(at, "backoffLimitPerIndex", "maxFailedIndexes needs it");
    }
    cx.given_form(spec, at, "managedBy", |text| match text.len() {
        0..=63 => names::domain_path(text),
        _ => Some("must have at most 63 characters"),
    });
    if spec.text("completionMode") == Some("Indexed") {
        indexed(cx, spec, at);
    } else {
        for key in ["backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"] {
            with(spec, at, key, |_, at| cx.forbidden(at, "only jobs with the mode Indexed have it"));
        }
    }
    with(spec, at, "podFailurePolicy", |policy, at| failures(cx, spec, policy, at));
    with_template(cx, spec, at, None, Owner::Job);
}

fn indexed(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let number = |key: &str| spec.given(key).and_then(Node::as_int);
    let Some(completions) = number("completions") else {
        return cx.required(at, "completions", "the mode Indexed needs it");
    };
    with(spec, at, "parallelism", |node, at| {
        if number("parallelism").is_some_and(|value| value > MAX_INDEXED) {
            cx.invalid(at, node, &format!("must be at most {MAX_INDEXED} in the mode Indexed"));
        }
    });
    with(spec, at, "maxFailedIndexes", |node, at| {
        if number("maxFailedIndexes").is_some_and(|value| value > completions.min(MAX_INDEXED)) {
            cx.invalid(at, node, &format!("must not be above completions, and at most {MAX_INDEXED}"));
        }
    });
    with(spec, at, "successPolicy", |policy, at| {
        match policy.given("rules").map_or(0, |rules| rules.items().len()) {
            0 if policy.given("rules").is_some() => cx.required(at, "rules", "there must be one at least"),
            0..=MAX_RULES => {}
            _ => cx.wrong(at, &format!("there can be at most {MAX_RULES} rules")),
        }
        each(policy, at, "rules", |rule, at| {
            if rule.given("succeededCount").is_none() && rule.given("succeededIndexes").is_none() {
                cx.wrong_key(at, "a rule needs succeededCount or succeededIndexes");
            }
            let mut total = completions;
            with(rule, at, "succeededIndexes", |node, at| {
                match indexes(node.as_str().unwrap_or_default(), completions) {
                    Ok(count) => total = count,
                    Err(fault) => cx.invalid(at, node, fault),
                }
            });
            with(rule, at, "succeededCount", |node, at| {
                if node.as_int().is_some_and(|count| !(0..=total).contains(&count)) {
                    cx.invalid(at, node, &format!("must be between 0 and {total}"));
                }
            });
        });
    });
}

/// The number of indexes in `1,3-5`.
fn indexes(text: &str, completions: i64) -> Result<i64, &'static str> {
    let mut total = 0;
    let mut last = -1;
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| digits.parse::<i64>().map_err(|_| "must be indexes and ranges such as 1,3-5");
        let (from_index, to_index) = (number(from)?, number(to)?);
        if from_index <= last || to_index < from_index || (part.contains('-') && to_index == from_index) {
            return Err("must be indexes and ranges in order, such as 1,3-5");
        }
        if to_index >= completions {
            return Err("must be indexes below completions");
        }
        total += to_index - from_index + 1;
        last = to_index;
    }
    Ok(total)
}

fn failures(cx: &mut Cx<'_>, spec: &Node, policy: &Node, at: &At<'_>) {
    if spec.at(&["template", "spec", "restartPolicy"]).and_then(Node::as_str) != Some("Never") {
        cx.wrong(at, "needs the restartPolicy Never");
    }
    if policy.given("rules").is_some_and(|rules| rules.items().len() > MAX_RULES) {
        cx.wrong(at, &format!("there can be at most {MAX_RULES} rules"));
    }
    let lists = ["containers", "initContainers"].map(|list| spec.at(&["template", "spec", list]));
    let containers: Vec<&str> =
        lists.iter().flatten().flat_map(|list| list.items()).filter_map(|container| container.text("name")).collect();
    each(policy, at, "rules", |rule, at| {
        with(rule, at, "action", |node, at| {
            cx.chosen(node, at, &["FailJob", "FailIndex", "Ignore", "Count"]);
            if node.as_str() == Some("FailIndex") && spec.given("backoffLimitPerIndex").is_none() {
                cx.invalid(at, node, "needs backoffLimitPerIndex");
            }
        });
        let has_conditions = rule.given("onPodConditions").is_some_and(|list| !list.items().is_empty());
        match (rule.given("onExitCodes"), has_conditions) {
            (Some(_), true) => cx.wrong(at, "a rule has either onExitCodes or onPodConditions"),
            (None, false) => cx.wrong_key(at, "a rule needs onExitCodes or onPodConditions"),
            _ => {}
        }
        with(rule, at, "onExitCodes", |codes, at| exit_codes(cx, codes, at, &containers));
        if rule.given("onPodConditions").is_some_and(|list| list.items().len() > MAX_RULES) {
            cx.wrong(at, &format!("there can be at most {MAX_RULES} conditions"));
        }
        each(rule, at, "onPodConditions", |condition, at| {
            cx.given_form(condition, at, "type", names::qualified_name);
            with(condition, at, "status", |node, at| cx.one_of(node, at, &["False", "True", "Unknown"]));
        });
    });
}

fn exit_codes(cx: &mut Cx<'_>, codes: &Node, at: &At<'_>, containers: &[&str]) {
    with(codes, at, "operator", |node, at| cx.chosen(node, at, &["In", "NotIn"]));
    with(codes, at, "containerName", |node, at| {
        if node.as_str().is_some_and(|name| !containers.contains(&name)) {
            cx.not_found(at, node, "the pod has no container of this name", containers);
        }
    });
    let values = codes.given("values").map(Node::items).unwrap_or_default();
    if values.is_empty() && codes.given("values").is_some() {
        cx.required(at, "values", "there must be one at least");
    }
    let mut last = None;
    let mut seen = HashSet::new();
    each(codes, at, "values", |node, at| {
        let value = node.as_int().unwrap_or(0);
        if value == 0 && codes.text("operator") == Some("In") {
            cx.invalid(at, node, "must not be 0 for the operator In");
        } else if !seen.insert(value) {
            cx.duplicate(at, node);
        } else if last.is_some_and(|last| last > value) {
            cx.invalid(at, node, "values must be in ascending order");
        }
        last = Some(value);
    });
}

/// Checks a cron job.
pub(super) fn cron_job(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    cx.filled(spec, at, "schedule");
    with(spec, at, "schedule", |node, at| {
        let text = node.as_str().unwrap_or_default();
        if text.contains("TZ") {
            cx.invalid(at, node, "must not name a time zone; use timeZone");
        } else if let Some(fault) = Some(text).filter(|text| !text.is_empty()).and_then(cron::fault) {
            cx.invalid(at, node, &fault);
        }
    });
    with(spec, at, "timeZone", |node, at| {
        let text = node.as_str().unwrap_or_default();
        let zones = || include_str!("zones.txt").lines();
        if !zones().any(|zone| zone == text) {
            cx.not_found(at, node, "there is no such time zone", &zones().collect::<Vec<_>>());
        }
    });
    cx.not_negative(spec, at, &["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"]);
    with(spec, at, "jobTemplate", |template, at| {
        let empty = Node::new(Value::Map(Vec::new()));
        let (spec, here) = match template.given("spec") {
            Some(spec) => (spec, at.key("spec", spec)),
            None => (&empty, at.missing("spec")),
        };
        with(spec, &here, "selector", |_, at| {
            cx.forbidden(at, "the jobs of a CronJob make their selectors themselves")
        });
        if spec.given("manualSelector").and_then(Node::as_bool) == Some(true) {
            let node = spec.get("manualSelector").expect("it is true");
            cx.invalid(&here.key("manualSelector", node), node, "must not be true in a CronJob");
        }
        common(cx, spec, &here);
    });
}
