//! Kinds that keep pods running: deployments, sets, controllers.
//!
//! All have a selector that must match the labels of their template; `selected` checks both, and
//! the pod is then checked like any other. What differs between kinds is how pods are replaced: the
//! strategies follow below.

use std::collections::{HashMap, HashSet};

use super::pod::{self, Owner};
use super::{Cx, each, job, storage, with};
use crate::document::{Node, Value};
use crate::names;
use crate::report::At;

/// More labels are looked up in a table.
const MANY_LABELS: usize = 16;

pub(super) fn check(cx: &mut Cx<'_>, kind: &str, spec: &Node, at: &At<'_>) {
    match kind {
        "Deployment" => {
            cx.not_negative(
                spec,
                at,
                &["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"],
            );
            selected(cx, spec, at);
            strategy(cx, spec, at);
            let seconds = |key: &str, default: i64| spec.given(key).and_then(Node::as_int).unwrap_or(default);
            if seconds("progressDeadlineSeconds", 600) <= seconds("minReadySeconds", 0) {
                let node = spec.get("progressDeadlineSeconds").or(spec.get("minReadySeconds"));
                let key = if spec.get("progressDeadlineSeconds").is_some() {
                    "progressDeadlineSeconds"
                } else {
                    "minReadySeconds"
                };
                if let Some(node) = node {
                    cx.invalid(
                        &at.key(key, node),
                        node,
                        "progressDeadlineSeconds must be greater than minReadySeconds",
                    );
                }
            }
        }
        "ReplicaSet" => {
            cx.not_negative(spec, at, &["replicas", "minReadySeconds"]);
            selected(cx, spec, at);
        }
        "DaemonSet" => {
            cx.not_negative(spec, at, &["minReadySeconds", "revisionHistoryLimit"]);
            selected(cx, spec, at);
            with(spec, at, "updateStrategy", |strategy, at| daemon_strategy(cx, strategy, at));
        }
        "StatefulSet" => stateful(cx, spec, at),
        "ReplicationController" => controller(cx, spec, at),
        "CronJob" => job::cron_job(cx, spec, at),
        _ => {}
    }
}

/// Checks that the selector matches the template.
fn selected(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    selected_as(cx, spec, at, None, Owner::Service);
}

fn selected_as(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>, template: Option<&Node>, owner: Owner) {
    match spec.given("selector") {
        // If there is a spec, its schema requires the selector.
        None => {
            if !spec.pos.is_known() {
                cx.required(at, "selector", "");
            }
        }
        Some(selector) => {
            let here = at.key("selector", selector);
            cx.selector(selector, &here);
            let is_empty =
                |key: &str| selector.given(key).is_none_or(|node| node.entries().is_empty() && node.items().is_empty());
            if is_empty("matchLabels") && is_empty("matchExpressions") {
                cx.wrong(&here, "the selector is empty: it would select all pods");
            } else {
                let labels = spec.at(&["template", "metadata", "labels"]);
                if !matches(selector, labels) {
                    unmatched(cx, spec, at);
                }
            }
        }
    }
    with_template(cx, spec, at, template, owner);
}

/// Checks the template of a kind that runs pods.
pub(super) fn with_template(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>, replaced: Option<&Node>, owner: Owner) {
    let template = replaced.or(spec.given("template"));
    match template {
        Some(template) => pod::template(cx, template, &at.key("template", template), owner),
        None => {
            let empty = Node::new(Value::Map(Vec::new()));
            pod::template(cx, &empty, &at.missing("template"), owner);
        }
    }
}

/// Reports, at the labels, that the selector does not match the template.
pub(super) fn unmatched(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let message = "the selector does not match the labels of the template";
    let Some(template) = spec.given("template") else { return cx.wrong_key(&at.missing("template"), message) };
    let template_at = at.key("template", template);
    let Some(metadata) = template.given("metadata") else {
        let metadata_at = template_at.missing("metadata");
        return cx.wrong_key(&metadata_at.missing("labels"), message);
    };
    let metadata_at = template_at.key("metadata", metadata);
    match metadata.given("labels") {
        Some(labels) => cx.wrong(&metadata_at.key("labels", labels), message),
        None => cx.wrong_key(&metadata_at.missing("labels"), message),
    }
}

/// Whether a selector matches labels.
pub(super) fn matches(selector: &Node, labels: Option<&Node>) -> bool {
    let entries = labels.map(Node::entries).unwrap_or_default();
    // Few labels are found sooner one by one. The first one of a key counts.
    let by_key: Option<HashMap<&str, &Node>> =
        (entries.len() > MANY_LABELS).then(|| entries.iter().rev().map(|entry| (&*entry.key, &entry.node)).collect());
    let value = |key: &str| match &by_key {
        Some(by_key) => by_key.get(key).and_then(|node| node.as_str()),
        None => labels.and_then(|labels| labels.text(key)),
    };
    let by_labels = selector
        .given("matchLabels")
        .map(Node::entries)
        .unwrap_or_default()
        .iter()
        .all(|entry| value(&entry.key) == entry.node.as_str());
    let by_expressions =
        selector.given("matchExpressions").map(Node::items).unwrap_or_default().iter().all(|expression| {
            let Some(key) = expression.text("key") else { return true };
            let is_in = || {
                let values = expression.given("values").map(Node::items).unwrap_or_default();
                value(key).is_some_and(|text| values.iter().any(|value| value.as_str() == Some(text)))
            };
            match expression.text("operator") {
                Some("In") => is_in(),
                Some("NotIn") => !is_in(),
                Some("Exists") => value(key).is_some(),
                Some("DoesNotExist") => value(key).is_none(),
                _ => true,
            }
        });
    by_labels && by_expressions
}

fn strategy(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    with(spec, at, "strategy", |strategy, at| {
        let rolling = strategy.given("rollingUpdate");
        if strategy.text("type") == Some("Recreate") {
            if let Some(rolling) = rolling {
                cx.forbidden(&at.key("rollingUpdate", rolling), "the strategy Recreate has no rollingUpdate");
            }
        } else if let Some(rolling) = rolling {
            let here = at.key("rollingUpdate", rolling);
            cx.count_or_percent(rolling, &here, "maxSurge", false);
            cx.count_or_percent(rolling, &here, "maxUnavailable", true);
            let is_zero = |key: &str| rolling.given(key).is_some_and(is_zero);
            if is_zero("maxSurge") && is_zero("maxUnavailable") {
                let node = rolling.get("maxUnavailable").expect("it is zero");
                cx.invalid(
                    &here.key("maxUnavailable", node),
                    node,
                    "must not be 0 where maxSurge is 0: nothing could be updated",
                );
            }
        }
    });
}

fn is_zero(node: &Node) -> bool {
    node.as_int() == Some(0) || node.as_str().and_then(names::percent) == Some(0)
}

fn daemon_strategy(cx: &mut Cx<'_>, strategy: &Node, at: &At<'_>) {
    with(strategy, at, "rollingUpdate", |rolling, at| {
        cx.count_or_percent(rolling, at, "maxSurge", true);
        cx.count_or_percent(rolling, at, "maxUnavailable", true);
        let given = |key: &str| rolling.given(key).map(is_zero);
        match (given("maxUnavailable"), given("maxSurge")) {
            (Some(true), None | Some(true)) => {
                let node = rolling.get("maxUnavailable").expect("it is zero");
                cx.invalid(&at.key("maxUnavailable", node), node, "must not be 0 where maxSurge is 0");
            }
            (None | Some(false), Some(false)) => {
                let node = rolling.get("maxSurge").expect("it is given");
                cx.invalid(&at.key("maxSurge", node), node, "must be 0 where maxUnavailable is not 0");
            }
            _ => {}
        }
    });
}

fn stateful(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    cx.not_negative(spec, at, &["replicas", "minReadySeconds"]);
    // Pods get DNS names below that of the service.
    if cx.version.minor() >= 36 {
        cx.form(spec, at, "serviceName", names::dns_label);
    }
    with(spec, at, "updateStrategy", |strategy, at| {
        if strategy.text("type") == Some("OnDelete")
            && let Some(rolling) = strategy.given("rollingUpdate")
        {
            cx.forbidden(&at.key("rollingUpdate", rolling), "the strategy OnDelete has no rollingUpdate");
        }
        with(strategy, at, "rollingUpdate", |rolling, at| {
            cx.not_negative(rolling, at, &["partition"]);
            cx.count_or_percent(rolling, at, "maxUnavailable", true);
        });
    });
    with(spec, at, "podManagementPolicy", |node, at| cx.one_of(node, at, &["OrderedReady", "Parallel"]));
    with(spec, at, "persistentVolumeClaimRetentionPolicy", |policy, at| {
        for key in ["whenDeleted", "whenScaled"] {
            with(policy, at, key, |node, at| cx.one_of(node, at, &["Retain", "Delete"]));
        }
    });
    with(spec, at, "ordinals", |ordinals, at| cx.not_negative(ordinals, at, &["start"]));
    each(spec, at, "volumeClaimTemplates", |claim, at| match claim.given("spec") {
        Some(spec) => storage::claim(cx, spec, &at.key("spec", spec)),
        None => {
            let empty = Node::new(Value::Map(Vec::new()));
            storage::claim(cx, &empty, &at.missing("spec"));
        }
    });
    // Claims become volumes of the pods.
    let claims = spec.given("volumeClaimTemplates").map(Node::items).unwrap_or_default();
    let names: Vec<&str> = claims.iter().filter_map(|claim| claim.at(&["metadata", "name"])?.as_str()).collect();
    let replaced = with_volumes(spec.given("template"), &names);
    selected_as(cx, spec, at, replaced.as_ref(), Owner::Stateful);
}

/// The template with additional volumes of these names, so that they can be mounted.
fn with_volumes(template: Option<&Node>, names: &[&str]) -> Option<Node> {
    use crate::document::MapEntry;
    if names.is_empty() {
        return None;
    }
    let mut template = template?.clone();
    let Value::Map(entries) = &mut template.value else { return None };
    let pod = entries.iter_mut().find(|entry| entry.key == "spec")?;
    let Value::Map(fields) = &mut pod.node.value else { return None };
    let known: Vec<String> = fields
        .iter()
        .filter(|entry| entry.key == "volumes")
        .flat_map(|entry| entry.node.items().iter().filter_map(|volume| volume.text("name").map(str::to_owned)))
        .collect();
    let volume = |name: &&str| {
        let key = MapEntry { key: "name".into(), node: Node::new(Value::Str((**name).into())) };
        Node::new(Value::Map(vec![key]))
    };
    let mut seen = HashSet::new();
    let mut is_new = |name: &str| seen.insert(name.to_owned()) && !known.iter().any(|other| other == name);
    let added: Vec<Node> = names.iter().filter(|name| is_new(name)).map(volume).collect();
    match fields.iter_mut().find(|entry| entry.key == "volumes") {
        Some(MapEntry { node: Node { value: Value::List(volumes), .. }, .. }) => volumes.extend(added),
        Some(entry) => entry.node.value = Value::List(added),
        None => fields.push(MapEntry { key: "volumes".into(), node: Node::new(Value::List(added)) }),
    }
    Some(template)
}

fn controller(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    cx.not_negative(spec, at, &["replicas", "minReadySeconds"]);
    let labels = spec.at(&["template", "metadata", "labels"]);
    match spec.given("selector") {
        Some(selector) => {
            let value = |key: &str| labels.and_then(|labels| labels.text(key));
            if selector.entries().iter().any(|entry| value(&entry.key) != entry.node.as_str()) {
                unmatched(cx, spec, at);
            }
        }
        // Without a selector, the labels of the template are used.
        None if labels.is_none_or(|labels| labels.entries().is_empty()) => cx.required(at, "selector", ""),
        None => {}
    }
    if spec.given("template").is_none() {
        cx.required(at, "template", "");
    } else {
        with_template(cx, spec, at, None, Owner::Service);
    }
}
