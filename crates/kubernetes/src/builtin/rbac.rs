//! Roles and their bindings.

use super::{Cx, each, with};
use crate::document::Node;
use crate::names;
use crate::report::At;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn check(cx: &mut Cx<'_>, kind: &str, root: &Node, at: &At<'_>) {
    match kind {
        "Role" | "ClusterRole" => role(cx, kind, root, at),
        _ => binding(cx, kind, root, at),
    }
}

fn role(cx: &mut Cx<'_>, kind: &str, root: &Node, at: &At<'_>) {
    with(root, at, "aggregationRule", |rule, at| {
        if rule.given("clusterRoleSelectors").is_none_or(|list| list.items().is_empty()) {
            cx.required(at, "clusterRoleSelectors", "there must be one at least");
        }
        each(rule, at, "clusterRoleSelectors", |selector, at| cx.selector(selector, at));
    });
    each(root, at, "rules", |rule, at| {
        let is_empty = |key: &str| rule.given(key).is_none_or(|list| list.items().is_empty());
        if is_empty("verbs") && rule.given("verbs").is_some() {
            cx.required(at, "verbs", "there must be one at least");
        }
        if !is_empty("nonResourceURLs") {
            if kind == "Role" {
                let node = rule.get("nonResourceURLs").expect("it has items");
                cx.invalid(&at.key("nonResourceURLs", node), node, "rules of a namespace have none");
            } else if !is_empty("apiGroups") || !is_empty("resources") || !is_empty("resourceNames") {
                cx.wrong(at, "a rule has either resources or nonResourceURLs");
            }
            return;
        }
        if is_empty("apiGroups") {
            cx.required(at, "apiGroups", "rules of resources need it; the core group is \"\"");
        }
        if is_empty("resources") {
            cx.required(at, "resources", "rules of resources need it");
        }
    });
}

fn binding(cx: &mut Cx<'_>, kind: &str, root: &Node, at: &At<'_>) {
    with(root, at, "roleRef", |role, at| {
        let kinds: &[&str] = if kind == "RoleBinding" { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
        with(role, at, "kind", |node, at| cx.chosen(node, at, kinds));
        with(role, at, "apiGroup", |node, at| cx.one_of(node, at, &[GROUP]));
        cx.filled(role, at, "name");
        cx.form(role, at, "name", names::path_segment);
    });
    each(root, at, "subjects", |subject, at| {
        cx.filled(subject, at, "name");
        match subject.text("kind") {
            Some("ServiceAccount") => {
                cx.form(subject, at, "name", names::dns_subdomain);
                with(subject, at, "apiGroup", |node, at| {
                    if node.as_str() != Some("") {
                        cx.invalid(at, node, "must be \"\" for service accounts");
                    }
                });
                if kind == "ClusterRoleBinding" {
                    cx.text(subject, at, "namespace");
                }
            }
            Some("User" | "Group") => with(subject, at, "apiGroup", |node, at| cx.one_of(node, at, &[GROUP])),
            Some(_) => {
                let node = subject.get("kind").expect("it is a text");
                cx.chosen(node, &at.key("kind", node), &["ServiceAccount", "User", "Group"]);
            }
            None => {}
        }
    });
}
