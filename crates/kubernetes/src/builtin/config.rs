//! Other kinds: data, namespaces, nodes, leases, API services.
//!
//! `check` selects by kind. The content of Secrets is checked as well (keys, size, the form of a
//! registry's configuration), but messages do not show it.

use std::collections::HashSet;

use ytterby_cel::{Env, Program, Type};
use ytterby_diag::Id;

use super::{Cx, each, entries, pod, quota, rbac, resources, with};
use crate::document::Node;
use crate::facts::KnownKind;
use crate::names;
use crate::report::{At, FindingText};

/// Maximum bytes of all values of a ConfigMap or Secret together.
const MAX_DATA: usize = 1 << 20;

pub(super) fn check(cx: &mut Cx<'_>, known: &KnownKind, root: &Node, spec: &Node, at: &At<'_>, spec_at: &At<'_>) {
    match (known.group, known.kind) {
        ("", "ConfigMap") => config_map(cx, root, at),
        ("", "Secret") => secret(cx, root, at),
        ("", "Namespace") => each(spec, spec_at, "finalizers", |node, at| {
            cx.form_of(node, at, names::qualified_name);
            let is_known = node.as_str().is_some_and(|text| text.contains('/') || text == "kubernetes");
            if !is_known {
                cx.invalid(at, node, "must be \"kubernetes\" or have a domain before the name");
            }
        }),
        ("", "LimitRange") => quota::limit_range(cx, spec, spec_at),
        ("", "ResourceQuota") => quota::quota(cx, spec, spec_at),
        ("", "Node") => node(cx, spec, spec_at),
        ("coordination.k8s.io", "Lease") => {
            cx.range(spec, spec_at, "leaseDurationSeconds", 1, i64::MAX);
            cx.not_negative(spec, spec_at, &["leaseTransitions"]);
        }
        ("rbac.authorization.k8s.io", kind) => rbac::check(cx, kind, root, at),
        ("scheduling.k8s.io", "PriorityClass") => with(root, at, "value", |node, at| {
            let name = root.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
            if node.as_int().is_some_and(|value| value > 1_000_000_000) && !name.starts_with("system-") {
                cx.invalid(at, node, "must be at most 1000000000: higher ones are for the system");
            }
        }),
        ("apiregistration.k8s.io", "APIService") => api_service(cx, root, spec, at, spec_at),
        ("node.k8s.io", "RuntimeClass") => {
            cx.given_form(root, at, "handler", names::dns_label);
            with(root, at, "overhead", |overhead, at| {
                with(overhead, at, "podFixed", |list, at| resources::list(cx, list, at));
            });
            with(root, at, "scheduling", |scheduling, at| {
                with(scheduling, at, "nodeSelector", |labels, at| crate::meta::check_labels(labels, at, cx.report));
                pod::tolerations(cx, scheduling, at);
            });
        }
        _ => {}
    }
}

fn node(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    const MESSAGE: &str = "must be a CIDR, such as 10.9.8.0/24";
    with(spec, at, "podCIDR", |node, at| {
        if node.as_str().is_some_and(|text| !text.is_empty() && names::cidr(text).is_none()) {
            cx.invalid(at, node, MESSAGE);
        }
    });
    // A podCIDR that differs from the first item of the list replaces the list.
    let first = spec.given("podCIDRs").and_then(|list| list.items().first()).and_then(Node::as_str);
    let replaces = spec.text("podCIDR").is_some_and(|cidr| !cidr.is_empty() && Some(cidr) != first);
    let mut families = HashSet::new();
    each(spec, at, "podCIDRs", |node, at| match node.as_str().and_then(names::cidr) {
        _ if replaces => {}
        None => cx.invalid(at, node, MESSAGE),
        Some((address, _)) if !families.insert(address.is_ipv4()) => {
            cx.invalid(at, node, "there can be one range of each IP family");
        }
        Some(_) => {}
    });
    let mut seen = HashSet::new();
    each(spec, at, "taints", |taint, at| {
        cx.given_form(taint, at, "key", names::qualified_name);
        cx.form(taint, at, "value", names::label_value);
        let text = |key: &str| taint.text(key).unwrap_or_default().to_owned();
        if !seen.insert((text("key"), text("effect"))) {
            cx.wrong(at, "an earlier taint has the same key and effect");
        }
    });
}

fn config_map(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    let mut total = 0;
    for key in ["data", "binaryData"] {
        entries(root, at, key, |name, node, at| {
            data_key(cx, name, at);
            if key == "binaryData" && root.given("data").is_some_and(|data| data.get(name).is_some()) {
                cx.forbidden(at, "data has the same key");
            }
            total += node.as_str().map_or(0, str::len) * if key == "data" { 4 } else { 3 } / 4;
        });
    }
    if total > MAX_DATA {
        cx.wrong(at, &format!("all values together have at most {MAX_DATA} bytes; found {total}"));
    }
}

fn data_key(cx: &mut Cx<'_>, name: &str, at: &At<'_>) {
    if let Some(fault) = names::config_key(name) {
        cx.report.key_error(Id::KUBERNETES_INVALID, at, || {
            FindingText::new(format!("{fault}; found ")).with_value(format!("{name:?}"))
        });
    }
}

fn secret(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    let mut total = 0;
    for key in ["data", "stringData"] {
        entries(root, at, key, |name, node, at| {
            data_key(cx, name, at);
            total += node.as_str().map_or(0, str::len) * if key == "data" { 3 } else { 4 } / 4;
        });
    }
    if total > MAX_DATA {
        cx.wrong(at, &format!("all values together have at most {MAX_DATA} bytes; found {total}"));
    }
    let has =
        |key: &str| ["data", "stringData"].iter().any(|of| root.given(of).is_some_and(|data| data.get(key).is_some()));
    let data = root.given("data");
    let data_at = data.map_or(at.missing("data"), |data| at.key("data", data));
    let mut needs = |keys: &[&str]| {
        for key in keys.iter().filter(|key| !has(key)) {
            cx.required(&data_at, key, "a secret of this type needs it");
        }
    };
    match root.text("type") {
        Some("kubernetes.io/tls") => needs(&["tls.crt", "tls.key"]),
        Some("kubernetes.io/basic-auth") if !has("username") && !has("password") => needs(&["username", "password"]),
        Some("kubernetes.io/ssh-auth") => needs(&["ssh-privatekey"]),
        Some("kubernetes.io/dockercfg") => needs(&[".dockercfg"]),
        Some("kubernetes.io/dockerconfigjson") => needs(&[".dockerconfigjson"]),
        Some("kubernetes.io/service-account-token") => {
            const NAME: &str = "kubernetes.io/service-account.name";
            let annotations = root.at(&["metadata", "annotations"]);
            if annotations.and_then(|annotations| annotations.text(NAME)).is_none_or(str::is_empty) {
                let metadata = root.given("metadata");
                let metadata_at = metadata.map_or(at.missing("metadata"), |node| at.key("metadata", node));
                cx.required(&metadata_at.missing("annotations"), NAME, "a secret of this type needs it");
            }
        }
        _ => {}
    }
    if root.text("type") == Some("kubernetes.io/dockerconfigjson") {
        docker_config(cx, root, at);
    }
}

/// A registry's configuration must be JSON; it is secret, so messages do not show it.
fn docker_config(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    const KEY: &str = ".dockerconfigjson";
    let Some(node) = root.given("data").and_then(|data| data.get(KEY)) else { return };
    let Some(bytes) = node.as_str().and_then(crate::scalars::base64) else { return };
    let file = ytterby_diag::FileId(u32::MAX);
    let is_json = matches!(bytes.first(), Some(b'{'))
        && ytterby_yaml::parse(&bytes, file, &ytterby_yaml::ReadOptions::default()).is_ok();
    let starts = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if !is_json && starts != Some(&b'{') {
        let data = root.get("data").expect("it has the key");
        let here = at.key("data", data);
        cx.wrong(&here.key(KEY, node), "the decoded value is no JSON object");
    }
}

fn api_service(cx: &mut Cx<'_>, root: &Node, spec: &Node, at: &At<'_>, spec_at: &At<'_>) {
    let text = |key: &str| spec.text(key).unwrap_or_default();
    let expected = format!("{}.{}", text("version"), text("group"));
    if let Some(metadata) = root.given("metadata")
        && let Some(name) = metadata.get("name").filter(|name| name.as_str() != Some(&expected))
    {
        let here = at.key("metadata", metadata);
        cx.invalid(&here.key("name", name), name, &format!("must be version and group: \"{expected}\""));
    }
    for (key, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        cx.range(spec, spec_at, key, 1, most);
    }
    with(spec, spec_at, "insecureSkipTLSVerify", |node, at| {
        let has_bundle = spec.text("caBundle").is_some_and(|bundle| !bundle.is_empty());
        if node.as_bool() == Some(true) && has_bundle {
            cx.invalid(at, node, "must not be set together with caBundle");
        } else if node.as_bool() == Some(true) && spec.given("service").is_none() {
            cx.invalid(at, node, "only API services with a service have it");
        }
    });
    with(spec, spec_at, "service", |service, at| {
        cx.text(service, at, "name");
        cx.text(service, at, "namespace");
        cx.range(service, at, "port", 1, 65535);
    });
}

/// Compiles an expression whose result must have one of these types; returns the type.
pub(super) fn expression(cx: &mut Cx<'_>, node: &Node, at: &At<'_>, env: &Env, allowed: &[Type]) -> Option<Type> {
    let text = node.as_str()?;
    if text.trim().is_empty() {
        cx.empty(at, "the expression");
        return None;
    }
    match Program::compile(text, env) {
        Err(error) => {
            cx.report.error(Id::KUBERNETES_RULE_ERROR, at, || {
                FindingText::new(format!("the expression does not compile: {error}"))
            });
            None
        }
        Ok(program) => {
            let found = program.result_type().clone();
            if !allowed.is_empty() && !allowed.contains(&found) {
                let message = format!("the expression returns {found}, expected {}", allowed[0]);
                cx.report.error(Id::KUBERNETES_RULE_ERROR, at, || FindingText::new(message));
            }
            Some(found)
        }
    }
}
