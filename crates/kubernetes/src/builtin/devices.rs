//! Devices of dynamic resource allocation: classes, claims, slices.
//!
//! Requests, constraints and configurations of a claim refer to each other by name; `claim`
//! collects the names first and then checks the references. Selectors are CEL and are compiled.

use std::collections::HashSet;

use ytterby_cel::{Env, Type};

use super::config::expression;
use super::{Cx, each, entries, with};
use crate::document::{Node, Value};
use crate::names;
use crate::report::At;

pub(super) fn check(cx: &mut Cx<'_>, kind: &str, spec: &Node, at: &At<'_>) {
    match kind {
        "DeviceClass" => {
            selectors(cx, spec, at);
            each(spec, at, "config", |config, at| configuration(cx, config, at, None));
        }
        "ResourceSlice" => slice(cx, spec, at),
        "ResourceClaimTemplate" => {
            with(spec, at, "metadata", |metadata, at| {
                crate::meta::common(metadata, at, cx.report);
                for entry in metadata.entries() {
                    let is_known = ["labels", "annotations"].contains(&&*entry.key);
                    if !is_known && !entry.node.is_null() && entry.node.as_str() != Some("") {
                        let here = at.key(&entry.key, &entry.node);
                        cx.forbidden(&here, "a template has labels and annotations only");
                    }
                }
            });
            with(spec, at, "spec", |inner, at| claim(cx, inner, at));
        }
        _ => claim(cx, spec, at),
    }
}

/// Checks that requests have one form, selectors compile, and constraints and configurations refer
/// to existing requests.
fn claim(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    with(spec, at, "devices", |devices, at| {
        let mut requests: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        each(devices, at, "requests", |request, at| {
            cx.given_form(request, at, "name", names::dns_label);
            let name = request.text("name").unwrap_or_default().to_owned();
            if let Some(node) = request.get("name").filter(|_| !seen.insert(name.clone())) {
                cx.duplicate(&at.key("name", node), node);
            }
            // Before 1.33 the request itself had the fields of `exactly`.
            if request.get("deviceClassName").is_none() {
                match (request.given("exactly"), request.given("firstAvailable")) {
                    (None, None) => cx.wrong_key(at, "a request needs exactly or firstAvailable"),
                    (Some(_), Some(_)) => cx.wrong(at, "a request has either exactly or firstAvailable"),
                    _ => {}
                }
            }
            with(request, at, "exactly", |exactly, at| details(cx, exactly, at));
            each(request, at, "firstAvailable", |sub, at| {
                cx.given_form(sub, at, "name", names::dns_label);
                requests.extend(sub.text("name").map(|sub| format!("{name}/{sub}")));
                details(cx, sub, at);
            });
            selectors(cx, request, at);
            requests.push(name);
        });
        each(devices, at, "constraints", |constraint, at| {
            if constraint.given("matchAttribute").is_none() && constraint.given("distinctAttribute").is_none() {
                cx.wrong_key(at, "a constraint needs matchAttribute or distinctAttribute");
            }
            cx.given_form(constraint, at, "matchAttribute", |text| {
                let is_full = text.contains('/') && names::qualified_name(&text.to_ascii_lowercase()).is_none();
                (!is_full).then_some("must be a domain and a name, such as example.com/model")
            });
            references(cx, constraint, at, &requests);
        });
        each(devices, at, "config", |config, at| configuration(cx, config, at, Some(&requests)));
    });
}

fn details(cx: &mut Cx<'_>, request: &Node, at: &At<'_>) {
    cx.filled(request, at, "deviceClassName");
    cx.form(request, at, "deviceClassName", names::dns_subdomain);
    cx.not_negative(request, at, &["count"]);
    with(request, at, "count", |_, at| {
        if request.text("allocationMode") == Some("All") {
            cx.forbidden(at, "the mode All has no count");
        }
    });
    each(request, at, "tolerations", |toleration, at| cx.form(toleration, at, "key", names::qualified_name));
    selectors(cx, request, at);
}

fn references(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, requests: &[String]) {
    let known: Vec<&str> = requests.iter().map(String::as_str).collect();
    let mut seen = HashSet::new();
    each(of, at, "requests", |node, at| {
        let name = node.as_str().unwrap_or_default();
        if !known.contains(&name) {
            cx.not_found(at, node, "there is no request of this name", &known);
        } else if !seen.insert(name.to_owned()) {
            cx.duplicate(at, node);
        }
    });
}

fn configuration(cx: &mut Cx<'_>, config: &Node, at: &At<'_>, requests: Option<&[String]>) {
    if let Some(requests) = requests {
        references(cx, config, at, requests);
    }
    let Some(opaque) = config.given("opaque") else {
        return cx.required(at, "opaque", "it has the parameters of the driver");
    };
    let here = at.key("opaque", opaque);
    cx.given_form(opaque, &here, "driver", driver);
    with(opaque, &here, "parameters", |node, at| {
        if !matches!(node.value, Value::Map(_)) {
            cx.invalid(at, node, "must be an object");
        }
    });
}

fn driver(text: &str) -> names::NameProblem {
    match text.len() {
        0..=63 => names::dns_subdomain_caseless(text),
        _ => Some("must have at most 63 characters"),
    }
}

fn selectors(cx: &mut Cx<'_>, of: &Node, at: &At<'_>) {
    each(of, at, "selectors", |selector, at| {
        let Some(cel) = selector.given("cel") else { return cx.required(at, "cel", "a selector is an expression") };
        with(cel, &at.key("cel", cel), "expression", |node, at| {
            let env = Env { variables: vec![("device".to_owned(), Type::Dyn)], ..Env::default() };
            expression(cx, node, at, &env, &[Type::Bool, Type::Dyn]);
        });
    });
}

fn slice(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    cx.given_form(spec, at, "driver", driver);
    cx.form(spec, at, "nodeName", names::dns_subdomain);
    with(spec, at, "pool", |pool, at| {
        cx.filled(pool, at, "name");
        cx.form(pool, at, "name", |text| text.split('/').find_map(names::dns_subdomain));
        cx.range(pool, at, "resourceSliceCount", 1, i64::MAX);
        cx.not_negative(pool, at, &["generation"]);
    });
    let mut seen = HashSet::new();
    each(spec, at, "devices", |device, at| {
        cx.given_form(device, at, "name", names::dns_label);
        if let Some(node) =
            device.get("name").filter(|node| node.as_str().is_some_and(|name| !seen.insert(name.to_owned())))
        {
            cx.duplicate(&at.key("name", node), node);
        }
        entries(device, at, "attributes", |_, attribute, at| {
            const KINDS: [&str; 4] = ["bool", "int", "string", "version"];
            cx.exactly_one(attribute, at, &KINDS, "an attribute");
            cx.form(attribute, at, "string", |text| (text.len() > 64).then_some("must have at most 64 bytes"));
            cx.given_form(attribute, at, "version", version);
        });
    });
}

/// A version of Semantic Versioning 2.0.0.
fn version(text: &str) -> names::NameProblem {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let is_number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    let is_rest = |byte: u8| byte.is_ascii_alphanumeric() || b"-.+".contains(&byte);
    let is_good = core.split('.').count() == 3
        && core.split('.').all(is_number)
        && text.bytes().all(is_rest)
        && text.len() <= 64
        && !text.ends_with(['-', '+', '.']);
    (!is_good).then_some("must be a version such as 1.2.3")
}
