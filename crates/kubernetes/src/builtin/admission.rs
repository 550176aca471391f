//! Webhooks and policies of admission.

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
        "ValidatingAdmissionPolicyBinding" => {
            cx.filled(spec, spec_at, "policyName");
            with(spec, spec_at, "paramRef", |reference, at| {
                match (reference.given("name").filter(|name| name.as_str() != Some("")), reference.given("selector")) {
                    (Some(name), Some(_)) => {
                        cx.forbidden(&at.key("name", name), "a paramRef has either a name or a selector")
                    }
                    (None, None) => cx.wrong_key(at, "a paramRef needs a name or a selector"),
                    _ => {}
                }
            });
            let actions = spec.given("validationActions").map(Node::items).unwrap_or_default();
            if actions.is_empty() {
                cx.required(spec_at, "validationActions", "there must be one at least");
            }
            each(spec, spec_at, "validationActions", |node, at| cx.one_of(node, at, &["Audit", "Deny", "Warn"]));
            let has = |name: &str| actions.iter().any(|action| action.as_str() == Some(name));
            if has("Deny") && has("Warn") {
                let node = spec.get("validationActions").expect("it has items");
                cx.invalid(&spec_at.key("validationActions", node), node, "must not have both Deny and Warn");
            }
        }
        _ => {}
    }
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
    if webhook.given("admissionReviewVersions").is_some_and(|list| list.items().is_empty()) {
        cx.required(at, "admissionReviewVersions", "there must be one at least");
    }
    each(webhook, at, "rules", |rule, at| self::rule(cx, rule, at));
    conditions(cx, webhook, at, &policy::environment(false));
}

fn rule(cx: &mut Cx<'_>, rule: &Node, at: &At<'_>) {
    for key in ["apiGroups", "apiVersions", "operations", "resources"] {
        if rule.given(key).is_none_or(|list| list.items().is_empty()) {
            cx.required(at, key, "there must be one at least");
        }
    }
    each(rule, at, "operations", |node, at| cx.one_of(node, at, &["CONNECT", "CREATE", "DELETE", "UPDATE", "*"]));
}

fn conditions(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, env: &Env) {
    let mut seen = HashSet::new();
    each(of, at, "matchConditions", |condition, at| {
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
    match spec.given("matchConstraints") {
        None => cx.required(at, "matchConstraints", "a policy has to say what it is about"),
        Some(constraints) => {
            let here = at.key("matchConstraints", constraints);
            if constraints.given("resourceRules").is_none_or(|rules| rules.items().is_empty()) {
                cx.required(&here, "resourceRules", "there must be one at least");
            }
            each(constraints, &here, "resourceRules", |rule, at| self::rule(cx, rule, at));
            each(constraints, &here, "excludeResourceRules", |rule, at| self::rule(cx, rule, at));
            for key in ["namespaceSelector", "objectSelector"] {
                with(constraints, &here, key, |selector, at| cx.selector(selector, at));
            }
        }
    }
    let is_empty = |key: &str| spec.given(key).is_none_or(|list| list.items().is_empty());
    if is_empty("validations") && is_empty("auditAnnotations") {
        cx.required(at, "validations", "a policy needs validations or auditAnnotations");
    }
    let has_params = spec.given("paramKind").is_some();
    with(spec, at, "paramKind", |kind, at| {
        cx.text(kind, at, "apiVersion");
        cx.text(kind, at, "kind");
    });
    let mut env = policy::environment(has_params);
    conditions(cx, spec, at, &env);
    // Each variable is visible to those after it.
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
            let found = expression(cx, node, at, &env, &[]);
            if ytterby_cel::is_identifier(name) {
                fields.insert(name.to_owned(), found.unwrap_or(Type::Dyn));
                env.variables[slot].1 = declared(&fields);
            }
        });
    });
    each(spec, at, "validations", |validation, at| {
        with(validation, at, "expression", |node, at| {
            expression(cx, node, at, &env, &[Type::Bool]);
        });
        with(validation, at, "messageExpression", |node, at| {
            expression(cx, node, at, &env, &[Type::String]);
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
            cx.one_of(node, at, &["Unauthorized", "Forbidden", "Invalid", "RequestEntityTooLarge"]);
        });
    });
    each(spec, at, "auditAnnotations", |annotation, at| {
        with(annotation, at, "valueExpression", |node, at| {
            expression(cx, node, at, &env, &[Type::String, Type::Null]);
        });
    });
}
