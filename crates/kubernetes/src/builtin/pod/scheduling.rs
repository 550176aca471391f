//! Scheduling of pods: affinity, tolerations, topology spread.
//!
//! Selectors of nodes and tolerations occur outside of pods as well, as in persistent volumes, so
//! their functions are visible to all built-in kinds.

use std::collections::HashSet;

use crate::builtin::{Cx, each, with};
use crate::document::Node;
use crate::names;
use crate::report::At;

/// Checks the affinity and topology spread of a pod.
pub(super) fn check(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>) {
    with(pod, at, "affinity", |affinity, at| self::affinity(cx, affinity, at));
    spread(cx, pod, at);
}

/// Checks a list of tolerations.
pub(in crate::builtin) fn tolerations(cx: &mut Cx<'_>, of: &Node, at: &At<'_>) {
    each(of, at, "tolerations", |toleration, at| self::toleration(cx, toleration, at));
}

fn toleration(cx: &mut Cx<'_>, toleration: &Node, at: &At<'_>) {
    let has_key = toleration.text("key").is_some_and(|key| !key.is_empty());
    let operator = toleration.text("operator").filter(|operator| !operator.is_empty());
    cx.form(toleration, at, "key", names::qualified_name);
    if !has_key && operator != Some("Exists") {
        match toleration.get("operator") {
            Some(node) => cx.invalid(&at.key("operator", node), node, "must be Exists where there is no key"),
            None => cx.wrong(at, "a toleration without key needs the operator Exists"),
        }
    }
    with(toleration, at, "value", |node, at| {
        if operator == Some("Exists") && node.as_str().is_some_and(|value| !value.is_empty()) {
            cx.invalid(at, node, "must be empty where the operator is Exists");
        } else {
            cx.form_of(node, at, names::label_value);
        }
    });
    with(toleration, at, "tolerationSeconds", |node, at| {
        if toleration.text("effect") != Some("NoExecute") {
            cx.invalid(at, node, "only tolerations with the effect NoExecute have seconds");
        }
    });
}

fn affinity(cx: &mut Cx<'_>, affinity: &Node, at: &At<'_>) {
    with(affinity, at, "nodeAffinity", |node, at| {
        with(node, at, "requiredDuringSchedulingIgnoredDuringExecution", |selector, at| {
            node_selector(cx, selector, at);
        });
        each(node, at, "preferredDuringSchedulingIgnoredDuringExecution", |term, at| {
            cx.range(term, at, "weight", 1, 100);
            with(term, at, "preference", |term, at| selector_term(cx, term, at));
        });
    });
    for key in ["podAffinity", "podAntiAffinity"] {
        with(affinity, at, key, |pods, at| {
            each(pods, at, "requiredDuringSchedulingIgnoredDuringExecution", |term, at| pod_term(cx, term, at));
            each(pods, at, "preferredDuringSchedulingIgnoredDuringExecution", |weighted, at| {
                cx.range(weighted, at, "weight", 1, 100);
                with(weighted, at, "podAffinityTerm", |term, at| pod_term(cx, term, at));
            });
        });
    }
}

fn pod_term(cx: &mut Cx<'_>, term: &Node, at: &At<'_>) {
    cx.filled(term, at, "topologyKey");
    cx.form(term, at, "topologyKey", names::qualified_name);
    with(term, at, "labelSelector", |selector, at| cx.selector(selector, at));
    with(term, at, "namespaceSelector", |selector, at| cx.selector(selector, at));
    each(term, at, "namespaces", |namespace, at| cx.item_form(namespace, at, names::dns_label));
    label_keys(cx, term, at);
}

/// Checks `matchLabelKeys` and `mismatchLabelKeys`, which require a selector.
fn label_keys(cx: &mut Cx<'_>, of: &Node, at: &At<'_>) {
    for key in ["matchLabelKeys", "mismatchLabelKeys"] {
        let Some(list) = of.given(key).filter(|list| !list.items().is_empty()) else { continue };
        let Some(selector) = of.given("labelSelector") else {
            cx.forbidden(&at.key(key, list), "must not be set without labelSelector");
            continue;
        };
        let expressions = selector.given("matchExpressions").map(Node::items).unwrap_or_default();
        each(of, at, key, |node, at| {
            cx.item_form(node, at, names::qualified_name);
            let name = node.as_str().unwrap_or_default();
            let is_selected = selector.given("matchLabels").is_some_and(|labels| labels.get(name).is_some())
                || expressions.iter().any(|expression| expression.text("key") == Some(name));
            if is_selected {
                cx.invalid(at, node, "must not be a key of labelSelector, too");
            }
        });
    }
    let keys = |key: &str| of.given(key).map(Node::items).unwrap_or_default();
    if let Some(node) = keys("mismatchLabelKeys")
        .iter()
        .find(|node| keys("matchLabelKeys").iter().any(|other| other.value.same(&node.value)))
    {
        let list = of.get("mismatchLabelKeys").expect("it has items");
        cx.invalid(&at.key("mismatchLabelKeys", list), node, "must not have a key of matchLabelKeys");
    }
}

/// A selector of nodes.
pub(in crate::builtin) fn node_selector(cx: &mut Cx<'_>, selector: &Node, at: &At<'_>) {
    if let Some(terms) = selector.given("nodeSelectorTerms").filter(|terms| terms.items().is_empty()) {
        cx.empty(&at.key("nodeSelectorTerms", terms), "the list of terms");
    }
    each(selector, at, "nodeSelectorTerms", |term, at| selector_term(cx, term, at));
}

fn selector_term(cx: &mut Cx<'_>, term: &Node, at: &At<'_>) {
    each(term, at, "matchExpressions", |expression, at| {
        cx.given_form(expression, at, "key", names::qualified_name);
        let values = expression.given("values").map_or(0, |values| values.items().len());
        match expression.text("operator") {
            Some("In" | "NotIn") if values == 0 => cx.required(at, "values", "the operators In and NotIn need values"),
            Some("Exists" | "DoesNotExist") if values > 0 => {
                let node = expression.get("values").expect("it has items");
                cx.forbidden(&at.key("values", node), "the operators Exists and DoesNotExist take no values");
            }
            Some("Gt" | "Lt") if values != 1 => cx.required(at, "values", "the operators Gt and Lt need one value"),
            _ => {}
        }
        each(expression, at, "values", |value, at| cx.form_of(value, at, names::label_value));
    });
    each(term, at, "matchFields", |field, at| {
        with(field, at, "key", |node, at| cx.chosen(node, at, &["metadata.name"]));
        with(field, at, "operator", |node, at| cx.chosen(node, at, &["In", "NotIn"]));
        if field.given("values").map_or(0, |values| values.items().len()) != 1 {
            cx.required(at, "values", "fields are compared with one value");
        }
        each(field, at, "values", |value, at| cx.item_form(value, at, names::dns_subdomain));
    });
}

fn spread(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>) {
    let mut seen = HashSet::new();
    each(pod, at, "topologySpreadConstraints", |constraint, at| {
        cx.range(constraint, at, "maxSkew", 1, i64::MAX);
        cx.range(constraint, at, "minDomains", 1, i64::MAX);
        with(constraint, at, "whenUnsatisfiable", |node, at| cx.chosen(node, at, &["DoNotSchedule", "ScheduleAnyway"]));
        with(constraint, at, "minDomains", |_, at| {
            if constraint.text("whenUnsatisfiable") != Some("DoNotSchedule") {
                cx.forbidden(at, "only constraints with whenUnsatisfiable: DoNotSchedule have it");
            }
        });
        cx.filled(constraint, at, "topologyKey");
        let text = |key: &str| constraint.text(key).unwrap_or_default().to_owned();
        if !seen.insert((text("topologyKey"), text("whenUnsatisfiable"))) {
            cx.wrong(at, "an earlier constraint has the same topologyKey and whenUnsatisfiable");
        }
        with(constraint, at, "labelSelector", |selector, at| cx.selector(selector, at));
        label_keys(cx, constraint, at);
    });
}
