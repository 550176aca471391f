//! Autoscalers and disruption budgets.

use super::{Cx, each, with};
use crate::document::Node;
use crate::names;
use crate::report::At;

pub(super) fn autoscaler(cx: &mut Cx<'_>, version: &str, spec: &Node, at: &At<'_>) {
    cx.range(spec, at, "minReplicas", 1, i64::MAX);
    with(spec, at, "maxReplicas", |node, at| {
        let least = spec.given("minReplicas").and_then(Node::as_int).unwrap_or(1);
        match node.as_int() {
            Some(most) if most < 1 => cx.invalid(at, node, "must be at least 1"),
            Some(most) if most < least => cx.invalid(at, node, "must not be below minReplicas"),
            _ => {}
        }
    });
    with(spec, at, "scaleTargetRef", |target, at| {
        for key in ["kind", "name"] {
            cx.filled(target, at, key);
            cx.form(target, at, key, names::path_segment);
        }
    });
    if version == "v1" {
        return cx.range(spec, at, "targetCPUUtilizationPercentage", 1, i64::MAX);
    }
    each(spec, at, "metrics", |metric, at| {
        const SOURCES: [(&str, &str); 5] = [
            ("Object", "object"),
            ("Pods", "pods"),
            ("Resource", "resource"),
            ("ContainerResource", "containerResource"),
            ("External", "external"),
        ];
        let kind = metric.text("type").unwrap_or_default();
        if let Some(node) = metric.get("type") {
            let kinds = ["ContainerResource", "External", "Object", "Pods", "Resource"];
            cx.one_of(node, &at.key("type", node), &kinds);
        }
        match SOURCES.iter().find(|(name, _)| *name == kind) {
            Some((_, key)) if metric.given(key).is_none() => {
                cx.required(at, key, "it tells what the metric of this type is");
            }
            _ => {}
        }
        for (name, key) in SOURCES {
            with(metric, at, key, |source, at| {
                if name != kind && !kind.is_empty() {
                    cx.forbidden(at, "a metric has only the source of its type");
                }
                with(source, at, "target", |target, at| metric_target(cx, target, at, key));
            });
        }
    });
    with(spec, at, "behavior", |behavior, at| {
        for key in ["scaleUp", "scaleDown"] {
            with(behavior, at, key, |rules, at| {
                cx.range(rules, at, "stabilizationWindowSeconds", 0, 3600);
                with(rules, at, "selectPolicy", |node, at| cx.one_of(node, at, &["Max", "Min", "Disabled"]));
                if rules.given("policies").is_some_and(|policies| policies.items().is_empty()) {
                    cx.required(at, "policies", "there must be one at least");
                }
                each(rules, at, "policies", |policy, at| {
                    with(policy, at, "type", |node, at| cx.one_of(node, at, &["Percent", "Pods"]));
                    cx.range(policy, at, "value", 1, i64::MAX);
                    cx.range(policy, at, "periodSeconds", 1, 1800);
                });
            });
        }
    });
}

fn metric_target(cx: &mut Cx<'_>, target: &Node, at: &At<'_>, source: &str) {
    with(target, at, "type", |node, at| cx.one_of(node, at, &["AverageValue", "Utilization", "Value"]));
    cx.range(target, at, "averageUtilization", 1, i64::MAX);
    let has = |key: &str| target.given(key).is_some();
    let is_resource = source == "resource" || source == "containerResource";
    if is_resource {
        match (has("averageUtilization"), has("averageValue")) {
            (false, false) => cx.required(at, "averageUtilization", "or averageValue"),
            (true, true) => cx.forbidden(at, "a target has either averageUtilization or averageValue"),
            _ => {}
        }
    } else if source == "pods" {
        if !has("averageValue") {
            cx.required(at, "averageValue", "");
        }
    } else if !has("value") && !has("averageValue") {
        cx.required(at, "value", "or averageValue");
    }
}

pub(super) fn budget(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    if spec.given("minAvailable").is_some()
        && let Some(node) = spec.given("maxUnavailable")
    {
        cx.invalid(&at.key("maxUnavailable", node), node, "a budget has either minAvailable or maxUnavailable");
    }
    cx.count_or_percent(spec, at, "minAvailable", true);
    cx.count_or_percent(spec, at, "maxUnavailable", true);
    with(spec, at, "selector", |selector, at| cx.selector(selector, at));
}
