//! Autoscalers and disruption budgets.

use super::{Cx, each, resources, with};
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
        // All scalable kinds have a group.
        let group = target.text("apiVersion").and_then(|text| text.split_once('/')).map_or("", |(group, _)| group);
        let is_core = target.text("kind") == Some("ReplicationController");
        if cx.version.minor() >= 35 && group.is_empty() && !is_core {
            match target.given("apiVersion") {
                Some(node) => cx.invalid(&at.key("apiVersion", node), node, "must have a group, such as apps/v1"),
                None => cx.required(at, "apiVersion", "it has to name a group, such as apps/v1"),
            }
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
            cx.chosen(node, &at.key("type", node), &kinds);
        }
        match SOURCES.iter().find(|(name, _)| *name == kind) {
            Some((_, key)) if metric.given(key).is_none() => {
                cx.required(at, key, "it describes the metric of this type");
            }
            _ => {}
        }
        for (name, key) in SOURCES {
            with(metric, at, key, |source, at| {
                if name != kind && !kind.is_empty() {
                    cx.forbidden(at, "a metric has only the source of its type");
                }
                with(source, at, "target", |target, at| metric_target(cx, target, at, key));
                with(source, at, "metric", |metric, at| {
                    cx.filled(metric, at, "name");
                    cx.form(metric, at, "name", names::path_segment);
                });
                with(source, at, "describedObject", |object, at| {
                    for key in ["kind", "name"] {
                        cx.filled(object, at, key);
                        cx.form(object, at, key, names::path_segment);
                    }
                });
                cx.filled(source, at, "name");
                if key == "containerResource" {
                    cx.filled(source, at, "container");
                    cx.form(source, at, "container", names::dns_label);
                    with(source, at, "name", |node, at| resources::name(cx, node, at));
                }
            });
        }
    });
    with(spec, at, "behavior", |behavior, at| {
        for key in ["scaleUp", "scaleDown"] {
            with(behavior, at, key, |rules, at| {
                cx.range(rules, at, "stabilizationWindowSeconds", 0, 3600);
                with(rules, at, "selectPolicy", |node, at| cx.chosen(node, at, &["Max", "Min", "Disabled"]));
                if rules.given("policies").is_some_and(|policies| policies.items().is_empty()) {
                    cx.required(at, "policies", "there must be one at least");
                }
                each(rules, at, "policies", |policy, at| {
                    with(policy, at, "type", |node, at| cx.chosen(node, at, &["Percent", "Pods"]));
                    cx.range(policy, at, "value", 1, i64::MAX);
                    cx.range(policy, at, "periodSeconds", 1, 1800);
                });
            });
        }
    });
}

fn metric_target(cx: &mut Cx<'_>, target: &Node, at: &At<'_>, source: &str) {
    with(target, at, "type", |node, at| cx.chosen(node, at, &["AverageValue", "Utilization", "Value"]));
    cx.range(target, at, "averageUtilization", 1, i64::MAX);
    for key in ["value", "averageValue"] {
        with(target, at, key, |node, at| {
            if resources::quantity(node).is_some_and(|value| value <= ytterby_text::Decimal::ZERO) {
                cx.invalid(at, node, "must be greater than 0");
            }
        });
    }
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
