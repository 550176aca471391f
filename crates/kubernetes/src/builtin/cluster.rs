//! Kinds for cluster administration: flow control, signing requests, addresses, reviews, revisions.
//!
//! They have nothing in common but that few people write them. Each has one function, which the
//! parent module calls.

use std::collections::HashSet;

use super::{Cx, each, with};
use crate::document::{Node, Value};
use crate::names;
use crate::report::At;

pub(super) fn flow_control(cx: &mut Cx<'_>, kind: &str, spec: &Node, at: &At<'_>) {
    if kind == "FlowSchema" {
        flow_schema(cx, spec, at);
    } else {
        priority_level(cx, spec, at);
    }
}

fn flow_schema(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    cx.range(spec, at, "matchingPrecedence", 1, 10_000);
    with(spec, at, "priorityLevelConfiguration", |level, at| {
        cx.filled(level, at, "name");
        cx.form(level, at, "name", names::dns_subdomain);
    });
    with(spec, at, "distinguisherMethod", |method, at| {
        with(method, at, "type", |node, at| cx.chosen(node, at, &["ByNamespace", "ByUser"]));
    });
    each(spec, at, "rules", |rule, at| {
        let is_empty = |of: &Node, key: &str| of.given(key).is_none_or(|list| list.items().is_empty());
        if is_empty(rule, "subjects") {
            cx.required(at, "subjects", "there must be one at least");
        }
        if is_empty(rule, "resourceRules") && is_empty(rule, "nonResourceRules") {
            cx.wrong_key(at, "a rule needs resourceRules or nonResourceRules");
        }
        each(rule, at, "subjects", |subject, at| {
            let fields = [("User", "user"), ("Group", "group"), ("ServiceAccount", "serviceAccount")];
            with(subject, at, "kind", |node, at| cx.chosen(node, at, &["Group", "ServiceAccount", "User"]));
            for (kind, field) in fields {
                match (subject.text("kind") == Some(kind), subject.given(field)) {
                    (true, None) => cx.required(at, field, "a subject of this kind needs it"),
                    (false, Some(node)) => cx.forbidden(&at.key(field, node), "a subject of another kind has it"),
                    (true, Some(node)) => {
                        cx.filled(node, &at.key(field, node), "name");
                        cx.filled(node, &at.key(field, node), "namespace");
                    }
                    (false, None) => {}
                }
            }
        });
        each(rule, at, "resourceRules", |resources, at| {
            for key in ["verbs", "apiGroups", "resources"] {
                if is_empty(resources, key) {
                    cx.required(at, key, "there must be one at least");
                }
                alone(cx, resources, at, key);
            }
            let is_cluster = resources.get("clusterScope").and_then(Node::as_bool) == Some(true);
            if !is_cluster && is_empty(resources, "namespaces") {
                cx.required(at, "namespaces", "or clusterScope: true");
            }
            each(resources, at, "namespaces", |node, at| {
                if node.as_str() != Some("*") {
                    cx.item_form(node, at, names::dns_label);
                }
            });
            alone(cx, resources, at, "namespaces");
        });
        each(rule, at, "nonResourceRules", |urls, at| {
            for key in ["verbs", "nonResourceURLs"] {
                if is_empty(urls, key) {
                    cx.required(at, key, "there must be one at least");
                }
                alone(cx, urls, at, key);
            }
            each(urls, at, "nonResourceURLs", |node, at| {
                let text = node.as_str().unwrap_or_default();
                let is_good = text == "*"
                    || (text.starts_with('/') && !text.contains(' ') && !text.contains("//"))
                        && !text.trim_end_matches("/*").contains('*');
                if !is_good {
                    cx.invalid(at, node, "must be \"*\", or an absolute path that may end with /*");
                }
            });
        });
    });
}

/// `*` means everything, so it must be the only item.
fn alone(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, key: &str) {
    let items = of.given(key).map(Node::items).unwrap_or_default();
    if items.len() > 1 && items.iter().any(|item| item.as_str() == Some("*")) {
        let node = of.get(key).expect("it has items");
        cx.wrong(&at.key(key, node), "\"*\" must be the only one");
    }
}

fn priority_level(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    with(spec, at, "type", |node, at| cx.chosen(node, at, &["Exempt", "Limited"]));
    match spec.text("type") {
        None if !spec.pos.is_known() => cx.required(at, "type", ""),
        Some("Limited") => {
            if spec.given("limited").is_none() {
                cx.required(at, "limited", "the type Limited needs it");
            }
            with(spec, at, "exempt", |_, at| cx.forbidden(at, "only the type Exempt has it"));
        }
        Some("Exempt") => with(spec, at, "limited", |_, at| cx.forbidden(at, "only the type Limited has it")),
        _ => {}
    }
    with(spec, at, "limited", |limited, at| {
        cx.not_negative(limited, at, &["nominalConcurrencyShares", "borrowingLimitPercent"]);
        cx.range(limited, at, "lendablePercent", 0, 100);
        let Some(response) = limited.given("limitResponse") else {
            return cx.required(at, "limitResponse", "it defines what happens to requests above the limit");
        };
        let here = at.key("limitResponse", response);
        with(response, &here, "type", |node, at| cx.chosen(node, at, &["Queue", "Reject"]));
        match (response.text("type"), response.given("queuing")) {
            (Some("Queue"), None) => cx.required(&here, "queuing", "the type Queue needs it"),
            (Some("Reject"), Some(node)) => cx.forbidden(&here.key("queuing", node), "only the type Queue has it"),
            (_, Some(queuing)) => {
                let queuing_at = here.key("queuing", queuing);
                // Zero means the default.
                cx.range(queuing, &queuing_at, "queues", 0, 10_000_000);
                cx.range(queuing, &queuing_at, "queueLengthLimit", 0, i64::MAX);
                let queues = queuing.given("queues").and_then(Node::as_int).filter(|queues| *queues > 0).unwrap_or(64);
                cx.range(queuing, &queuing_at, "handSize", 0, queues);
            }
            _ => {}
        }
    });
}

/// Checks events. Those of the older kind have no required fields.
pub(super) fn event(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    let is_new = root.given("eventTime").is_some();
    if is_new {
        with(root, at, "type", |node, at| cx.chosen(node, at, &["Normal", "Warning"]));
        for key in ["reason", "action", "reportingController", "reportingInstance", "type"] {
            // Core events have other names for the last two.
            let other = if key == "reportingController" { "reportingComponent" } else { key };
            if root.given(key).or(root.given(other)).is_none_or(|node| node.as_str() == Some("")) {
                cx.required(at, key, "events with an eventTime need it");
            }
        }
        cx.form(root, at, "reportingController", names::qualified_name);
    }
}

pub(super) fn signing_request(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    cx.range(spec, at, "expirationSeconds", 600, i64::MAX);
    cx.filled(spec, at, "signerName");
    cx.form(spec, at, "signerName", |text| {
        let is_good = text.split_once('/').is_some_and(|(domain, name)| {
            names::dns_subdomain(domain).is_none() && domain.contains('.') && names::dns_subdomain(name).is_none()
        });
        (!is_good).then_some("must be a domain and a name, such as example.com/signer")
    });
    if spec.given("usages").is_none_or(|usages| usages.items().is_empty()) {
        cx.required(at, "usages", "there must be one at least");
    }
    let mut seen = HashSet::new();
    each(spec, at, "usages", |node, at| {
        if !seen.insert(node.as_str().unwrap_or_default().to_owned()) {
            cx.duplicate(at, node);
        }
    });
    with(spec, at, "request", |node, at| {
        let bytes = node.as_str().and_then(crate::scalars::base64).unwrap_or_default();
        let head: &[u8] = b"-----BEGIN CERTIFICATE REQUEST-----";
        if !bytes.windows(head.len()).any(|part| part == head) {
            cx.wrong(at, "must be a PEM block of type CERTIFICATE REQUEST, in base64");
        }
    });
}

pub(super) fn service_cidr(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let items = spec.given("cidrs").map(Node::items).unwrap_or_default();
    match items.len() {
        0 => cx.required(at, "cidrs", "there must be one at least"),
        1 | 2 => {}
        _ => cx.wrong(&at.key("cidrs", spec.get("cidrs").expect("it has items")), "there can be at most two"),
    }
    let mut families = HashSet::new();
    each(spec, at, "cidrs", |node, at| match node.as_str().and_then(names::cidr) {
        None => cx.invalid(at, node, "must be a CIDR, such as 10.9.8.0/24"),
        Some((address, bits)) if names::has_host_bits(address, bits) => {
            cx.invalid(at, node, "must not have bits set beyond the prefix");
        }
        Some((address, _)) if !families.insert(address.is_ipv4()) => {
            cx.invalid(at, node, "there can be one range of each IP family");
        }
        Some(_) => {}
    });
}

pub(super) fn ip_address(cx: &mut Cx<'_>, root: &Node, spec: &Node, at: &At<'_>, spec_at: &At<'_>) {
    with(root, at, "metadata", |metadata, at| cx.form(metadata, at, "name", super::ip_form));
    let Some(parent) = spec.given("parentRef") else {
        return cx.required(spec_at, "parentRef", "an address belongs to something");
    };
    let here = spec_at.key("parentRef", parent);
    cx.text(parent, &here, "resource");
    cx.text(parent, &here, "name");
    cx.form(parent, &here, "group", names::dns_subdomain);
    for key in ["resource", "name", "namespace"] {
        cx.form(parent, &here, key, names::path_segment);
    }
}

/// Access reviews: either about a resource or about a path.
pub(super) fn access_review(cx: &mut Cx<'_>, kind: &str, spec: &Node, at: &At<'_>) {
    if kind == "SelfSubjectRulesReview" {
        return;
    }
    if kind != "SelfSubjectAccessReview" {
        let has = |key: &str| {
            spec.given(key).is_some_and(|node| node.as_str().is_none_or(|text| !text.is_empty()))
                && spec.given(key).is_none_or(|node| !matches!(&node.value, Value::List(list) if list.is_empty()))
        };
        if !has("user") && !has("groups") {
            cx.wrong_key(at, "a review needs a user or groups");
        }
    }
    cx.exactly_one(spec, at, &["resourceAttributes", "nonResourceAttributes"], "a review");
}

pub(super) fn revision(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    cx.not_negative(root, at, &["revision"]);
    match root.given("data") {
        None => cx.required(at, "data", ""),
        Some(node) if !matches!(node.value, Value::Map(_)) => {
            cx.invalid(&at.key("data", node), node, "must be an object");
        }
        Some(_) => {}
    }
}
