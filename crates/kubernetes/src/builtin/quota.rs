//! Limits of namespaces: quotas and ranges.
//!
//! A range compares quantities of one resource in several maps (`min`, `max`, ratios), which no
//! schema can express. Scopes of a quota restrict which resources it may count.

use std::collections::HashSet;

use super::{Cx, each, entries, resources, with};
use crate::document::Node;
use crate::names;
use crate::report::At;

pub(super) fn limit_range(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let mut seen = HashSet::new();
    each(spec, at, "limits", |limit, at| {
        if let Some(node) = limit.get("type") {
            let here = at.key("type", node);
            let name = node.as_str().unwrap_or_default();
            let is_known = name.contains('/') || ["Pod", "Container", "PersistentVolumeClaim"].contains(&name);
            if let Some(fault) = names::qualified_name(name) {
                cx.invalid(&here, node, fault);
            } else if !is_known {
                cx.one_of(node, &here, &["Pod", "Container", "PersistentVolumeClaim"]);
            }
            if !seen.insert(name.to_owned()) {
                cx.duplicate(&here, node);
            }
        }
        let has_storage = |key: &str| limit.given(key).is_some_and(|list| list.given("storage").is_some());
        if limit.text("type") == Some("PersistentVolumeClaim") && !has_storage("min") && !has_storage("max") {
            cx.wrong_key(at, "limits of claims need storage in min or max");
        }
        if limit.text("type") == Some("Pod") {
            for key in ["default", "defaultRequest"] {
                if limit.given(key).is_some_and(|list| !list.entries().is_empty()) {
                    let node = limit.get(key).expect("it has entries");
                    cx.forbidden(&at.key(key, node), "limits of pods have no defaults");
                }
            }
        }
        ratios(cx, limit, at);
        // A null amount is zero.
        let amount = |key: &str, name: &str| limit.given(key).and_then(|list| list.get(name)).map(amount);
        for (low, high) in [
            ("min", "max"),
            ("default", "max"),
            ("defaultRequest", "default"),
            ("defaultRequest", "max"),
            ("min", "default"),
            ("min", "defaultRequest"),
        ] {
            entries(limit, at, low, |name, node, at| {
                if let (Some(low_value), Some(Some(high_value))) = (self::amount(node), amount(high, name))
                    && low_value > high_value
                {
                    cx.invalid(at, node, &format!("must not be above {high}, which is {high_value}"));
                }
            });
        }
    });
}

fn amount(node: &Node) -> Option<ytterby_text::Decimal> {
    if node.is_null() { Some(ytterby_text::Decimal::ZERO) } else { resources::quantity(node) }
}

/// Checks the ratios of limits to requests: at least 1, and at most that of `max` to `min`.
fn ratios(cx: &mut Cx<'_>, limit: &Node, at: &At<'_>) {
    entries(limit, at, "maxLimitRequestRatio", |name, node, at| {
        let Some(ratio) = amount(node) else { return };
        if ratio < ytterby_text::Decimal::from(1i64) {
            cx.invalid(at, node, "must be at least 1");
        }
        let number = |value: &ytterby_text::Decimal| value.to_string().parse::<f64>();
        let bound = |key: &str| limit.given(key).and_then(|list| list.given(name)).and_then(resources::quantity);
        if let (Some(least), Some(most)) = (bound("min"), bound("max"))
            && let (Ok(ratio), Ok(least), Ok(most)) = (number(&ratio), number(&least), number(&most))
            && least > 0.0
            && ratio > most / least
        {
            cx.invalid(at, node, "must not be above max divided by min");
        }
    });
}

/// Resources of quotas that must be integers.
const COUNTED: [&str; 9] = [
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Resources allowed in a quota with pod scopes.
const OF_PODS: [&str; 9] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
];

pub(super) fn quota(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    entries(spec, at, "hard", |name, node, at| {
        if let Some(fault) = names::qualified_name(name) {
            cx.forbidden(at, &format!("the name of a resource {fault}"));
        } else if !name.contains('/') {
            let plain = name.strip_prefix("requests.").or(name.strip_prefix("limits.")).unwrap_or(name);
            let is_known = COUNTED.contains(&name)
                || matches!(plain, "cpu" | "memory" | "ephemeral-storage" | "storage")
                || plain.starts_with("hugepages-");
            if !is_known {
                cx.forbidden(at, &format!("\"{name}\" is no resource of quotas"));
            }
        }
        resources::not_negative(cx, node, at);
        let is_counted = COUNTED.contains(&name) || name.starts_with("count/");
        if is_counted && resources::quantity(node).is_some_and(|value| !value.is_integer()) {
            cx.invalid(at, node, "must be a whole number");
        }
    });
    scopes(cx, spec, at);
}

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

fn scopes(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let hard: Vec<&str> =
        spec.given("hard").map(Node::entries).unwrap_or_default().iter().map(|entry| &*entry.key).collect();
    let mut seen: Vec<String> = Vec::new();
    each(spec, at, "scopes", |node, at| scope(cx, node, at, &hard, &mut seen));
    conflicts(cx, spec.given("scopes"), at, "scopes", &seen);
    with(spec, at, "scopeSelector", |selector, at| {
        let mut seen = Vec::new();
        each(selector, at, "matchExpressions", |expression, at| {
            with(expression, at, "scopeName", |node, at| scope(cx, node, at, &hard, &mut seen));
            let values = expression.given("values").map_or(0, |values| values.items().len());
            let name = expression.text("scopeName").unwrap_or_default();
            let is_plain = !matches!(name, "PriorityClass" | "VolumeAttributesClass") && SCOPES.contains(&name);
            match expression.text("operator") {
                Some("In" | "NotIn") if values == 0 => {
                    cx.required(at, "values", "the operators In and NotIn need values");
                }
                Some("Exists" | "DoesNotExist") if values > 0 => {
                    let node = expression.get("values").expect("it has items");
                    cx.forbidden(&at.key("values", node), "the operators Exists and DoesNotExist take no values");
                }
                Some("In" | "NotIn" | "DoesNotExist") if is_plain => {
                    let node = expression.get("operator").expect("it is a text");
                    cx.invalid(&at.key("operator", node), node, "must be Exists for this scope");
                }
                _ => {}
            }
        });
        conflicts(cx, selector.given("matchExpressions"), at, "matchExpressions", &seen);
    });
}

fn scope(cx: &mut Cx<'_>, node: &Node, at: &At<'_>, hard: &[&str], seen: &mut Vec<String>) {
    let name = node.as_str().unwrap_or_default();
    if !SCOPES.contains(&name) {
        return match node.is_null() {
            true => cx.invalid(at, node, "must be a scope, such as BestEffort"),
            false => cx.chosen(node, at, &SCOPES),
        };
    }
    seen.push(name.to_owned());
    let fits = |resource: &&str| match name {
        "BestEffort" => *resource == "pods" || *resource == "count/pods",
        "VolumeAttributesClass" => {
            resource.contains("storage") && !resource.contains("ephemeral") || *resource == "persistentvolumeclaims"
        }
        _ => *resource == "pods" || *resource == "count/pods" || OF_PODS.contains(resource),
    };
    if let Some(other) = hard.iter().find(|resource| !fits(resource)) {
        cx.invalid(at, node, &format!("a quota with this scope cannot be about {other}"));
    }
}

fn conflicts(cx: &mut Cx<'_>, list: Option<&Node>, at: &At<'_>, key: &str, seen: &[String]) {
    let has = |name: &str| seen.iter().any(|other| other == name);
    let is_split = (has("BestEffort") && has("NotBestEffort")) || (has("Terminating") && has("NotTerminating"));
    if is_split && let Some(list) = list {
        cx.wrong(&at.key(key, list), "the scopes exclude each other");
    }
}
