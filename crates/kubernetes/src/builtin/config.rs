//! Everything else: data, roles, quotas, namespaces, leases, device claims.

use std::collections::HashSet;

use ytterby_cel::{Env, Program, Type};
use ytterby_diag::Id;

use super::{Cx, each, entries, resources, with};
use crate::document::Node;
use crate::facts::KnownKind;
use crate::names;
use crate::report::{At, Finding};

/// All values of a ConfigMap or Secret together have this many bytes at most.
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
        ("", "LimitRange") => limit_range(cx, spec, spec_at),
        ("", "ResourceQuota") => quota(cx, spec, spec_at),
        ("", "Node") => with(spec, spec_at, "podCIDR", |node, at| {
            if node.as_str().is_some_and(|text| !text.is_empty() && names::cidr(text).is_none()) {
                cx.invalid(at, node, "must be a CIDR, such as 10.9.8.0/24");
            }
        }),
        ("coordination.k8s.io", "Lease") => {
            cx.range(spec, spec_at, "leaseDurationSeconds", 1, i64::MAX);
            cx.not_negative(spec, spec_at, &["leaseTransitions"]);
        }
        ("rbac.authorization.k8s.io", kind) => roles(cx, kind, root, at),
        ("scheduling.k8s.io", "PriorityClass") => with(root, at, "value", |node, at| {
            let name = root.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
            if node.as_int().is_some_and(|value| value > 1_000_000_000) && !name.starts_with("system-") {
                cx.invalid(at, node, "must be at most 1000000000: higher ones are for the system");
            }
        }),
        ("apiregistration.k8s.io", "APIService") => api_service(cx, root, spec, at, spec_at),
        ("node.k8s.io", "RuntimeClass") => cx.form(root, at, "handler", names::dns_label),
        _ => {}
    }
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
            Finding::new(format!("{fault}; found ")).with_value(format!("{name:?}"))
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

/// The text of a registry's configuration has to be JSON; it is not shown.
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

fn limit_range(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let mut seen = HashSet::new();
    each(spec, at, "limits", |limit, at| {
        if let Some(node) = limit.get("type") {
            let here = at.key("type", node);
            let name = node.as_str().unwrap_or_default();
            if let Some(fault) = names::qualified_name(name) {
                cx.invalid(&here, node, fault);
            }
            if !seen.insert(name.to_owned()) {
                cx.duplicate(&here, node);
            }
        }
        let amount =
            |key: &str, name: &str| limit.given(key).and_then(|list| list.given(name)).and_then(resources::quantity);
        for (low, high) in [
            ("min", "max"),
            ("default", "max"),
            ("defaultRequest", "default"),
            ("defaultRequest", "max"),
            ("min", "default"),
            ("min", "defaultRequest"),
        ] {
            entries(limit, at, low, |name, node, at| {
                if let (Some(low_value), Some(high_value)) = (resources::quantity(node), amount(high, name))
                    && low_value > high_value
                {
                    cx.invalid(at, node, &format!("must not be above {high}, which is {high_value}"));
                }
            });
        }
    });
}

/// Resources of quotas that are counted in whole numbers.
const COUNTED: [&str; 10] = [
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
    "count/",
];

fn quota(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    entries(spec, at, "hard", |name, node, at| {
        if let Some(fault) = names::qualified_name(name) {
            cx.forbidden(at, &format!("the name of a resource {fault}"));
        } else if !name.contains('/') {
            let plain = name.strip_prefix("requests.").or(name.strip_prefix("limits.")).unwrap_or(name);
            let is_known = COUNTED.contains(&name)
                || matches!(plain, "cpu" | "memory" | "ephemeral-storage" | "storage")
                || plain.starts_with("hugepages-");
            if !is_known {
                cx.forbidden(at, &format!("\"{name}\" is no resource of quotas"));
            }
        }
        resources::not_negative(cx, node, at);
        let is_counted = COUNTED.contains(&name) || name.starts_with("count/");
        if is_counted && resources::quantity(node).is_some_and(|value| !value.is_integer()) {
            cx.invalid(at, node, "must be a whole number");
        }
    });
}

fn roles(cx: &mut Cx<'_>, kind: &str, root: &Node, at: &At<'_>) {
    if kind == "Role" || kind == "ClusterRole" {
        return each(root, at, "rules", |rule, at| {
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
    with(root, at, "roleRef", |role, at| {
        let kinds: &[&str] = if kind == "RoleBinding" { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
        with(role, at, "kind", |node, at| cx.one_of(node, at, kinds));
        with(role, at, "apiGroup", |node, at| cx.one_of(node, at, &["rbac.authorization.k8s.io"]));
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
            Some("User" | "Group") => with(subject, at, "apiGroup", |node, at| {
                cx.one_of(node, at, &["rbac.authorization.k8s.io"]);
            }),
            Some(_) => {
                let node = subject.get("kind").expect("it is a text");
                cx.one_of(node, &at.key("kind", node), &["ServiceAccount", "User", "Group"]);
            }
            None => {}
        }
    });
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
        if node.as_bool() == Some(true) && spec.given("caBundle").is_some() {
            cx.invalid(at, node, "must not be set together with caBundle");
        }
    });
}

/// Claims of devices: requests of one kind, selectors that compile.
pub(super) fn device_claim(cx: &mut Cx<'_>, kind: &str, spec: &Node, at: &At<'_>) {
    let (spec, at) = match (kind, spec.given("spec")) {
        ("ResourceClaimTemplate", Some(inner)) => (inner, at.key("spec", inner)),
        _ => (spec, *at),
    };
    if kind == "DeviceClass" {
        return each(spec, &at, "selectors", |selector, at| device_selector(cx, selector, at));
    }
    with(spec, &at, "devices", |devices, at| {
        let mut seen = HashSet::new();
        each(devices, at, "requests", |request, at| {
            cx.form(request, at, "name", names::dns_label);
            if let Some(node) =
                request.get("name").filter(|node| node.as_str().is_some_and(|name| !seen.insert(name.to_owned())))
            {
                cx.duplicate(&at.key("name", node), node);
            }
            let is_nested = request.get("deviceClassName").is_none();
            if is_nested {
                match (request.given("exactly"), request.given("firstAvailable")) {
                    (None, None) => cx.wrong_key(at, "a request needs exactly or firstAvailable"),
                    (Some(_), Some(_)) => cx.wrong(at, "a request has either exactly or firstAvailable"),
                    _ => {}
                }
            }
            with(request, at, "exactly", |exactly, at| {
                each(exactly, at, "selectors", |selector, at| device_selector(cx, selector, at));
            });
            each(request, at, "firstAvailable", |sub, at| {
                each(sub, at, "selectors", |selector, at| device_selector(cx, selector, at));
            });
            each(request, at, "selectors", |selector, at| device_selector(cx, selector, at));
        });
    });
}

fn device_selector(cx: &mut Cx<'_>, selector: &Node, at: &At<'_>) {
    with(selector, at, "cel", |cel, at| {
        with(cel, at, "expression", |node, at| {
            let env = Env { variables: vec![("device".to_owned(), Type::Dyn)], ..Env::default() };
            expression(cx, node, at, &env, &[Type::Bool, Type::Dyn]);
        });
    });
}

/// An expression that has to compile and give one of these types; what it gives.
pub(super) fn expression(cx: &mut Cx<'_>, node: &Node, at: &At<'_>, env: &Env, allowed: &[Type]) -> Option<Type> {
    let text = node.as_str()?;
    if text.trim().is_empty() {
        cx.empty(at, "the expression");
        return None;
    }
    match Program::compile(text, env) {
        Err(error) => {
            cx.report.error(Id::KUBERNETES_RULE_ERROR, at, || {
                Finding::new(format!("the expression does not compile: {error}"))
            });
            None
        }
        Ok(program) => {
            let found = program.result_type().clone();
            if !allowed.is_empty() && !allowed.contains(&found) {
                let message = format!("the expression gives {found}, but must give {}", allowed[0]);
                cx.report.error(Id::KUBERNETES_RULE_ERROR, at, || Finding::new(message));
            }
            Some(found)
        }
    }
}
