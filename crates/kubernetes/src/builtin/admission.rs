//! Admission webhooks and policies.
//!
//! `check` selects the kind. Most of the work are the expressions of policies: the variables of a
//! policy form an environment that grows from one to the next, and each expression is compiled in
//! it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use ytterby_cel::{Env, ObjectType, Type};

use super::config::expression;
use super::{Cx, each, with};
use crate::document::Node;
use crate::names;
use crate::policy;
use crate::report::At;

pub(super) fn check(cx: &mut Cx<'_>, kind: &str, root: &Node, spec: &Node, at: &At<'_>, spec_at: &At<'_>) {
    match kind {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            let mut seen = HashSet::new();
            each(root, at, "webhooks", |webhook, at| {
                self::webhook(cx, webhook, at);
                if let Some(node) =
                    webhook.get("name").filter(|node| node.as_str().is_some_and(|name| !seen.insert(name.to_owned())))
                {
                    cx.duplicate(&at.key("name", node), node);
                }
            });
        }
        "ValidatingAdmissionPolicy" => admission_policy(cx, spec, spec_at),
        "MutatingAdmissionPolicy" => mutating_policy(cx, spec, spec_at),
        "MutatingAdmissionPolicyBinding" => binding(cx, spec, spec_at),
        "ValidatingAdmissionPolicyBinding" => {
            binding(cx, spec, spec_at);
            let actions = spec.given("validationActions").map(Node::items).unwrap_or_default();
            if actions.is_empty() {
                cx.required(spec_at, "validationActions", "there must be one at least");
            }
            let mut seen = HashSet::new();
            each(spec, spec_at, "validationActions", |node, at| {
                match node.is_null() {
                    true => cx.empty(at, "an action"),
                    false => cx.chosen(node, at, &["Audit", "Deny", "Warn"]),
                }
                if node.as_str().is_some_and(|action| !seen.insert(action.to_owned())) {
                    cx.duplicate(at, node);
                }
            });
            let has = |name: &str| actions.iter().any(|action| action.as_str() == Some(name));
            if has("Deny") && has("Warn") {
                let node = spec.get("validationActions").expect("it has items");
                cx.invalid(&spec_at.key("validationActions", node), node, "must not have both Deny and Warn");
            }
        }
        _ => {}
    }
}

/// Checks a binding of a policy to parameters and objects.
fn binding(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    cx.text(spec, at, "policyName");
    cx.form(spec, at, "policyName", names::dns_subdomain);
    with(spec, at, "paramRef", |reference, at| {
        match (reference.given("name").filter(|name| name.as_str() != Some("")), reference.given("selector")) {
            (Some(name), Some(_)) => cx.forbidden(&at.key("name", name), "a paramRef has either a name or a selector"),
            (None, None) => cx.wrong_key(at, "a paramRef needs a name or a selector"),
            _ => {}
        }
        cx.form(reference, at, "name", names::path_segment);
        with(reference, at, "selector", |selector, at| cx.selector(selector, at));
        match reference.given("parameterNotFoundAction") {
            None => cx.required(at, "parameterNotFoundAction", "it defines what happens without parameters"),
            Some(node) => cx.chosen(node, &at.key("parameterNotFoundAction", node), &["Allow", "Deny"]),
        }
    });
    with(spec, at, "matchResources", |resources, at| match_resources(cx, resources, at));
}

/// Checks the object selection of a policy.
fn match_resources(cx: &mut Cx<'_>, of: &Node, at: &At<'_>) {
    for key in ["resourceRules", "excludeResourceRules"] {
        each(of, at, key, |rule, at| {
            self::rule(cx, rule, at);
            let mut seen = HashSet::new();
            each(rule, at, "resourceNames", |node, at| {
                if !seen.insert(node.as_str().unwrap_or_default().to_owned()) {
                    cx.duplicate(at, node);
                }
            });
        });
    }
    for key in ["namespaceSelector", "objectSelector"] {
        with(of, at, key, |selector, at| cx.selector(selector, at));
    }
}

/// Checks the common fields of policies; returns the environment for their expressions.
fn policy_head(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) -> Env {
    match spec.given("matchConstraints") {
        None => cx.required(at, "matchConstraints", "a policy has to say what it is about"),
        Some(constraints) => {
            let here = at.key("matchConstraints", constraints);
            if constraints.given("resourceRules").is_none_or(|rules| rules.items().is_empty()) {
                cx.required(&here, "resourceRules", "there must be one at least");
            }
            match_resources(cx, constraints, &here);
        }
    }
    let has_params = spec.given("paramKind").is_some();
    with(spec, at, "paramKind", |kind, at| {
        cx.text(kind, at, "apiVersion");
        cx.text(kind, at, "kind");
        cx.form(kind, at, "apiVersion", |text| {
            let (group, version) = text.rsplit_once('/').unwrap_or(("", text));
            let is_group = group.is_empty() || names::dns_subdomain(group).is_none();
            let is_good = is_group && names::dns1035_label(version).is_none() && !text.starts_with('/');
            (!is_good).then_some("must be a version, or a group and a version")
        });
        cx.form(kind, at, "kind", |text| {
            let lower = text.to_ascii_lowercase();
            names::dns1035_label(&lower).map(|_| "must be the name of a kind")
        });
    });
    let env = policy::environment(has_params);
    conditions(cx, spec, at, &env);
    env
}

/// Declares variables, each visible to later ones.
fn variables(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>, env: &mut Env) {
    let mut fields: BTreeMap<String, Type> = BTreeMap::new();
    let declared = |fields: &BTreeMap<String, Type>| {
        Type::Object(Arc::new(ObjectType { name: "variables".to_owned(), fields: fields.clone() }))
    };
    let slot = env.variables.len();
    env.variables.push(("variables".to_owned(), declared(&fields)));
    let mut seen = HashSet::new();
    each(spec, at, "variables", |variable, at| {
        let name = variable.text("name").unwrap_or_default();
        if let Some(node) = variable.get("name") {
            let here = at.key("name", node);
            if !ytterby_cel::is_identifier(name) {
                cx.invalid(&here, node, "must be the name of a variable: letters, digits and '_'");
            } else if !seen.insert(name.to_owned()) {
                cx.duplicate(&here, node);
            }
        }
        with(variable, at, "expression", |node, at| {
            let found = expression(cx, node, at, env, &[]);
            if ytterby_cel::is_identifier(name) {
                fields.insert(name.to_owned(), found.unwrap_or(Type::Dyn));
                env.variables[slot].1 = declared(&fields);
            }
        });
    });
}

/// Policies that change objects. Expressions that create objects are not compiled: they use types
/// of any kind.
fn mutating_policy(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let mut env = policy_head(cx, spec, at);
    variables(cx, spec, at, &mut env);
    with(spec, at, "matchConstraints", |constraints, at| {
        each(constraints, at, "resourceRules", |rule, at| {
            each(rule, at, "operations", |node, at| {
                if node.as_str() == Some("DELETE") {
                    cx.invalid(at, node, "objects that are deleted cannot be changed");
                }
            });
        });
    });
    match spec.given("reinvocationPolicy") {
        None => cx.required(at, "reinvocationPolicy", "Never or IfNeeded"),
        Some(node) => cx.chosen(node, &at.key("reinvocationPolicy", node), &["Never", "IfNeeded"]),
    }
    if spec.given("mutations").is_none_or(|list| list.items().is_empty()) {
        cx.required(at, "mutations", "there must be one at least");
    }
    each(spec, at, "mutations", |mutation, at| {
        with(mutation, at, "patchType", |node, at| cx.chosen(node, at, &["ApplyConfiguration", "JSONPatch"]));
        let (wanted, other) = match mutation.text("patchType") {
            Some("ApplyConfiguration") => ("applyConfiguration", "jsonPatch"),
            Some("JSONPatch") => ("jsonPatch", "applyConfiguration"),
            _ => return,
        };
        match mutation.given(wanted) {
            None => cx.required(at, wanted, "a mutation of this type needs it"),
            Some(patch) => {
                cx.text(patch, &at.key(wanted, patch), "expression");
            }
        }
        with(mutation, at, other, |_, at| cx.forbidden(at, "a mutation has only the patch of its type"));
    });
}

fn webhook(cx: &mut Cx<'_>, webhook: &Node, at: &At<'_>) {
    with(webhook, at, "name", |node, at| {
        let text = node.as_str().unwrap_or_default();
        if let Some(fault) = names::dns_subdomain(text) {
            cx.invalid(at, node, fault);
        } else if text.split('.').count() < 3 {
            cx.invalid(at, node, "must be a domain of at least three parts, such as check.example.com");
        }
    });
    with(webhook, at, "sideEffects", |node, at| cx.one_of(node, at, &["None", "NoneOnDryRun"]));
    with(webhook, at, "timeoutSeconds", |node, at| {
        if node.as_int().is_some_and(|seconds| !(1..=30).contains(&seconds)) {
            cx.invalid(at, node, "must be between 1 and 30 seconds");
        }
    });
    with(webhook, at, "clientConfig", |config, at| match (config.given("url"), config.given("service")) {
        (Some(_), Some(_)) | (None, None) => cx.wrong_key(at, "a clientConfig needs either a url or a service"),
        (Some(url), None) => {
            let here = at.key("url", url);
            match url.as_str().map(|text| ytterby_text::url::parse(text.as_bytes())) {
                Some(Ok(parsed)) if parsed.scheme() != b"https" => cx.invalid(&here, url, "must begin with https://"),
                Some(Ok(parsed)) if parsed.host().is_empty() => cx.invalid(&here, url, "must name a host"),
                Some(Err(_)) => cx.invalid(&here, url, "must be a URL"),
                _ => {}
            }
        }
        (None, Some(service)) => {
            let here = at.key("service", service);
            cx.filled(service, &here, "name");
            cx.filled(service, &here, "namespace");
            cx.range(service, &here, "port", 1, 65535);
            with(service, &here, "path", |path, at| cx.form_of(path, at, super::absolute));
        }
    });
    for key in ["namespaceSelector", "objectSelector"] {
        with(webhook, at, key, |selector, at| cx.selector(selector, at));
    }
    let versions = webhook.given("admissionReviewVersions").map(Node::items);
    if versions.is_some_and(<[Node]>::is_empty) {
        cx.required(at, "admissionReviewVersions", "there must be one at least");
    } else if versions.is_some_and(|list| !list.iter().any(|v| matches!(v.as_str(), Some("v1" | "v1beta1")))) {
        let node = webhook.get("admissionReviewVersions").expect("it has items");
        cx.invalid(&at.key("admissionReviewVersions", node), node, "must have v1 or v1beta1");
    }
    let mut seen = HashSet::new();
    each(webhook, at, "admissionReviewVersions", |node, at| {
        cx.item_form(node, at, names::dns1035_label);
        if !seen.insert(node.as_str().unwrap_or_default().to_owned()) {
            cx.duplicate(at, node);
        }
    });
    each(webhook, at, "rules", |rule, at| self::rule(cx, rule, at));
    conditions(cx, webhook, at, &policy::environment(false));
}

fn rule(cx: &mut Cx<'_>, rule: &Node, at: &At<'_>) {
    for key in ["apiGroups", "apiVersions", "operations", "resources"] {
        if rule.given(key).is_none_or(|list| list.items().is_empty()) {
            cx.required(at, key, "there must be one at least");
        }
    }
    each(rule, at, "operations", |node, at| match node.is_null() {
        true => cx.empty(at, "an operation"),
        false => cx.chosen(node, at, &["CONNECT", "CREATE", "DELETE", "UPDATE", "*"]),
    });
    for key in ["operations", "apiGroups", "apiVersions"] {
        let items = rule.given(key).map(Node::items).unwrap_or_default();
        if items.len() > 1 && items.iter().any(|item| item.as_str() == Some("*")) {
            let node = rule.get(key).expect("it has items");
            cx.wrong(&at.key(key, node), "\"*\" must be the only one");
        }
    }
    for key in ["apiVersions", "resources"] {
        each(rule, at, key, |node, at| {
            if node.as_str().unwrap_or_default().is_empty() {
                cx.empty(at, "an item");
            }
        });
    }
}

fn conditions(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, env: &Env) {
    let mut seen = HashSet::new();
    each(of, at, "matchConditions", |condition, at| {
        cx.filled(condition, at, "name");
        cx.form(condition, at, "name", names::qualified_name);
        if let Some(node) =
            condition.get("name").filter(|node| node.as_str().is_some_and(|name| !seen.insert(name.to_owned())))
        {
            cx.duplicate(&at.key("name", node), node);
        }
        with(condition, at, "expression", |node, at| {
            expression(cx, node, at, env, &[Type::Bool]);
        });
    });
}

fn admission_policy(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let is_empty = |key: &str| spec.given(key).is_none_or(|list| list.items().is_empty());
    if is_empty("validations") && is_empty("auditAnnotations") {
        cx.required(at, "validations", "a policy needs validations or auditAnnotations");
    }
    let mut env = policy_head(cx, spec, at);
    variables(cx, spec, at, &mut env);
    each(spec, at, "validations", |validation, at| {
        with(validation, at, "expression", |node, at| {
            expression(cx, node, at, &env, &[Type::Bool]);
        });
        with(validation, at, "messageExpression", |node, at| {
            if node.as_str() != Some("") {
                expression(cx, node, at, &env, &[Type::String]);
            }
        });
        with(validation, at, "message", |node, at| {
            let text = node.as_str().unwrap_or_default();
            if text.contains(['\n', '\r']) {
                cx.invalid(at, node, "must not contain line breaks");
            } else if !text.is_empty() && text.trim().is_empty() {
                cx.invalid(at, node, "must not be blank");
            }
        });
        let is_long = validation.text("expression").is_some_and(|text| text.trim().contains('\n'));
        if is_long
            && validation.text("message").is_none_or(str::is_empty)
            && validation.text("messageExpression").is_none()
        {
            cx.required(at, "message", "an expression of several lines needs one");
        }
        with(validation, at, "reason", |node, at| {
            cx.chosen(node, at, &["Unauthorized", "Forbidden", "Invalid", "RequestEntityTooLarge"]);
        });
    });
    let mut keys = HashSet::new();
    each(spec, at, "auditAnnotations", |annotation, at| {
        with(annotation, at, "key", |node, at| {
            let key = node.as_str().unwrap_or_default();
            if let Some(fault) = names::qualified_name(key) {
                cx.invalid(at, node, fault);
            } else if key.contains('/') {
                cx.invalid(at, node, "must not contain '/': the name of the policy is put before it");
            } else if !keys.insert(key.to_owned()) {
                cx.duplicate(at, node);
            }
        });
        with(annotation, at, "valueExpression", |node, at| {
            expression(cx, node, at, &env, &[Type::String, Type::Null]);
        });
    });
}
