//! Containers: names, images, ports, variables, mounts.
//!
//! `containers` visits all three lists of a pod (ordinary, init and ephemeral), because names must
//! be unique among them. What a container may have depends on its role (`ContainerRole`) and on the
//! pod (`PodContext`).

use std::collections::HashSet;

use ytterby_diag::Id;
use ytterby_text::budget;

use super::volumes::{Volumes, has_dots, relative};
use super::{Owner, handlers, security};
use crate::builtin::{Cx, each, ip_form, resources, with};
use crate::document::Node;
use crate::names;
use crate::report::{At, FindingText};

#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerRole {
    Init,
    Main,
    Other,
}

/// State that all containers of a pod share.
struct PodContext<'a> {
    owner: Owner,
    volumes: &'a Volumes,
    on_host: bool,
    /// The grace period of the pod, in seconds.
    grace: i64,
    /// Whether containers are never restarted.
    is_final: bool,
}

/// Checks all containers of a pod.
pub(super) fn containers(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>, volumes: &Volumes, owner: Owner) {
    let is_empty = pod.given("containers").is_none_or(|list| list.items().is_empty());
    if is_empty {
        match pod.given("containers") {
            Some(list) => cx.empty(&at.key("containers", list), "the list of containers"),
            None if pod.pos.is_known() => {}
            None => cx.required(at, "containers", ""),
        }
    }
    let shared = PodContext {
        volumes,
        owner,
        on_host: pod.given("hostNetwork").and_then(Node::as_bool) == Some(true),
        grace: pod.given("terminationGracePeriodSeconds").and_then(Node::as_int).unwrap_or(30),
        is_final: pod.text("restartPolicy") == Some("Never"),
    };
    let mut seen = HashSet::new();
    let mut host_ports = HashSet::new();
    for (list, role) in [
        ("initContainers", ContainerRole::Init),
        ("containers", ContainerRole::Main),
        ("ephemeralContainers", ContainerRole::Other),
    ] {
        each(pod, at, list, |container, at| {
            let name = cx.named(container, at);
            if let Some(name) = name
                && !seen.insert(name.to_owned())
            {
                let node = container.get("name").expect("it has a name");
                cx.duplicate(&at.key("name", node), node);
            }
            self::container(cx, container, at, role, &shared);
            // Init containers run sequentially, so they may use the same host ports.
            let mut own = HashSet::new();
            let ports = if role == ContainerRole::Main { &mut host_ports } else { &mut own };
            each(container, at, "ports", |port, at| host_port(cx, port, at, ports));
        });
    }
    claims(cx, pod, at);
}

/// Claims that containers use must be claims of the pod.
fn claims(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>) {
    let claims: Vec<&str> = pod
        .given("resourceClaims")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .filter_map(|claim| claim.text("name"))
        .collect();
    for list in ["initContainers", "containers"] {
        each(pod, at, list, |container, at| {
            with(container, at, "resources", |resources, at| {
                each(resources, at, "claims", |claim, at| {
                    if let Some(node) =
                        claim.get("name").filter(|node| node.as_str().is_some_and(|name| !claims.contains(&name)))
                    {
                        cx.not_found(&at.key("name", node), node, "the pod has no claim of this name", &claims);
                    }
                });
            });
        });
    }
}

impl Cx<'_> {
    /// The name of a container; a null item has none.
    fn named<'n>(&mut self, container: &'n Node, at: &At<'_>) -> Option<&'n str> {
        if container.is_null() {
            self.required(at, "name", "");
            return None;
        }
        let name = self.filled(container, at, "name");
        self.form(container, at, "name", names::dns_label);
        name
    }
}

fn container(cx: &mut Cx<'_>, container: &Node, at: &At<'_>, role: ContainerRole, shared: &PodContext<'_>) {
    match container.given("image") {
        None => cx.required(at, "image", ""),
        Some(image) if image.as_str() == Some("") => {
            cx.empty(&at.key("image", image), "the image");
        }
        // The server does not check this in a template.
        Some(image) if shared.owner == Owner::Pod && image.as_str().is_some_and(|text| text.trim() != text) => {
            cx.invalid(&at.key("image", image), image, "must not have blanks around it");
        }
        Some(_) => {}
    }
    ports(cx, container, at, shared.on_host);
    each(container, at, "env", |variable, at| env(cx, variable, at));
    each(container, at, "envFrom", |source, at| {
        cx.exactly_one(source, at, &["configMapRef", "secretRef"], "an item of envFrom");
        cx.form(source, at, "prefix", names::env_name);
        for key in ["configMapRef", "secretRef"] {
            with(source, at, key, |of, at| {
                cx.text(of, at, "name");
                cx.form(of, at, "name", names::dns_subdomain);
            });
        }
    });
    mounts(cx, container, at, shared.volumes);
    devices(cx, container, at, shared.volumes);
    restarts(cx, container, at, role, shared);
    let is_sidecar = role == ContainerRole::Init && container.text("restartPolicy") == Some("Always");
    for key in ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"] {
        with(container, at, key, |node, at| {
            if role == ContainerRole::Init && !is_sidecar {
                cx.forbidden(at, "init containers have none, unless their restartPolicy is Always");
            } else if key == "lifecycle" {
                handlers::lifecycle(cx, node, at, shared.grace);
            } else {
                handlers::probe(cx, node, at, key);
            }
        });
    }
    with(container, at, "resources", |list, at| resources::requirements(cx, list, at));
    with(container, at, "securityContext", |context, at| security::container(cx, context, at));
}

fn restarts(cx: &mut Cx<'_>, container: &Node, at: &At<'_>, role: ContainerRole, shared: &PodContext<'_>) {
    with(container, at, "restartPolicy", |node, at| match role {
        // Restart policies of containers exist since 1.34.
        ContainerRole::Main if cx.version.minor() < 34 => cx.forbidden(at, "only init containers have it"),
        ContainerRole::Init if cx.version.minor() < 34 => cx.chosen(node, at, &["Always"]),
        _ => cx.chosen(node, at, &["Always", "Never", "OnFailure"]),
    });
    let rules = container.given("restartPolicyRules").map(Node::items).unwrap_or_default();
    if !rules.is_empty() && container.given("restartPolicy").is_none() {
        cx.required(at, "restartPolicy", "restartPolicyRules need it");
    }
    each(container, at, "restartPolicyRules", |rule, at| {
        with(rule, at, "action", |node, at| cx.chosen(node, at, &["Restart", "RestartAllContainers"]));
        match rule.given("exitCodes") {
            None => cx.required(at, "exitCodes", ""),
            Some(codes) => {
                let here = at.key("exitCodes", codes);
                with(codes, &here, "operator", |node, at| cx.chosen(node, at, &["In", "NotIn"]));
            }
        }
    });
    let mut resized = HashSet::new();
    each(container, at, "resizePolicy", |policy, at| {
        with(policy, at, "resourceName", |node, at| {
            cx.chosen(node, at, &["cpu", "memory"]);
            if node.as_str().is_some_and(|name| !resized.insert(name.to_owned())) {
                cx.duplicate(at, node);
            }
        });
        with(policy, at, "restartPolicy", |node, at| {
            cx.chosen(node, at, &["NotRequired", "RestartContainer"]);
            if shared.is_final && node.as_str() == Some("RestartContainer") {
                cx.invalid(at, node, "must be NotRequired where the pod's restartPolicy is Never");
            }
        });
    });
}

fn ports(cx: &mut Cx<'_>, container: &Node, at: &At<'_>, on_host: bool) {
    let mut names_seen = HashSet::new();
    each(container, at, "ports", |port, at| {
        with(port, at, "name", |node, at| {
            if let Some(fault) = node.as_str().filter(|text| !text.is_empty()).and_then(names::port_name) {
                cx.invalid(at, node, &format!("the name of a port {fault}"));
            } else if node.as_str().is_some_and(|text| !text.is_empty() && !names_seen.insert(text.to_owned())) {
                cx.duplicate(at, node);
            }
        });
        with(port, at, "containerPort", |node, at| match node.as_int() {
            Some(0) => cx.empty(at, "the port"),
            Some(port) if !(1..=65535).contains(&port) => cx.invalid(at, node, "must be between 1 and 65535"),
            _ => {}
        });
        with(port, at, "hostPort", |node, at| {
            match (node.as_int(), port.get("containerPort").and_then(Node::as_int)) {
                (Some(host), _) if !(0..=65535).contains(&host) => cx.invalid(at, node, "must be between 1 and 65535"),
                (Some(host), Some(own)) if on_host && host != 0 && host != own => {
                    cx.invalid(at, node, "must be containerPort where hostNetwork is true");
                }
                _ => {}
            }
        });
        // The server only warns.
        with(port, at, "hostIP", |node, at| {
            if let Some(fault) = node.as_str().filter(|text| !text.is_empty()).and_then(ip_form) {
                cx.report.warning(Id::KUBERNETES_INVALID, at, || FindingText::of_value(fault, node));
            }
        });
    });
}

fn host_port(cx: &mut Cx<'_>, port: &Node, at: &At<'_>, seen: &mut HashSet<(i64, String, String)>) {
    let Some(node) = port.given("hostPort") else { return };
    let Some(number) = node.as_int().filter(|number| *number != 0) else { return };
    let protocol = port.text("protocol").unwrap_or("TCP").to_owned();
    let ip = port.text("hostIP").unwrap_or_default().to_owned();
    if !seen.insert((number, protocol, ip)) {
        cx.duplicate(&at.key("hostPort", node), node);
    }
}

/// Fields of a pod that can be the value of an environment variable.
const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

fn env(cx: &mut Cx<'_>, variable: &Node, at: &At<'_>) {
    cx.filled(variable, at, "name");
    cx.form(variable, at, "name", names::env_name);
    let Some(from) = variable.given("valueFrom") else { return };
    let here = at.key("valueFrom", from);
    if variable.text("value").is_some_and(|value| !value.is_empty()) {
        cx.forbidden(&here, "a variable cannot have both value and valueFrom");
    }
    const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let given = SOURCES.iter().filter(|key| from.given(key).is_some()).count();
    if given != 1 {
        let what = if given == 0 { "must have one source" } else { "cannot have more than one source" };
        cx.wrong(&here, &format!("valueFrom {what}: {}", SOURCES.join(", ")));
    }
    with(from, &here, "fieldRef", |field, at| field_ref(cx, field, at, &ENV_FIELDS));
    with(from, &here, "resourceFieldRef", |field, at| resource_ref(cx, field, at));
    for key in ["configMapKeyRef", "secretKeyRef"] {
        with(from, &here, key, |of, at| {
            cx.text(of, at, "name");
            cx.form(of, at, "name", names::dns_subdomain);
            cx.filled(of, at, "key");
            cx.form(of, at, "key", names::config_key);
        });
    }
}

/// A reference to a resource of a container.
pub(super) fn resource_ref(cx: &mut Cx<'_>, field: &Node, at: &At<'_>) {
    cx.filled(field, at, "resource");
    let mut unit = "";
    with(field, at, "resource", |node, at| {
        let name = node.as_str().unwrap_or_default();
        let (kind, resource) = name.split_once('.').unwrap_or(("", name));
        let is_known = matches!(kind, "limits" | "requests")
            && (matches!(resource, "cpu" | "memory" | "ephemeral-storage") || resource.starts_with("hugepages-"));
        if is_known {
            unit = if resource == "cpu" { "cpu" } else { "bytes" };
        } else if !name.is_empty() {
            cx.invalid(at, node, "must be limits. or requests. with cpu, memory, ephemeral-storage or hugepages-…");
        }
    });
    with(field, at, "divisor", |node, at| {
        let Some(divisor) = resources::quantity(node).filter(|divisor| *divisor != ytterby_text::Decimal::ZERO) else {
            return;
        };
        let units: &[&str] = match unit {
            "cpu" => &["1m", "1"],
            "bytes" => &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"],
            _ => return,
        };
        if !units.iter().any(|unit| ytterby_text::quantity(unit) == Some(divisor.clone())) {
            cx.invalid(at, node, &format!("must be one of {}", units.join(", ")));
        }
    });
}

/// A reference to a field of a pod.
pub(super) fn field_ref(cx: &mut Cx<'_>, field: &Node, at: &At<'_>, known: &[&str]) {
    cx.filled(field, at, "fieldPath");
    with(field, at, "apiVersion", |node, at| cx.one_of(node, at, &["v1"]));
    with(field, at, "fieldPath", |node, at| {
        let Some(path) = node.as_str().filter(|path| !path.is_empty()) else { return };
        let subscript = |head: &str| path.strip_prefix(head).and_then(|rest| rest.strip_suffix("']"));
        if let Some(key) = subscript("metadata.annotations['") {
            if names::qualified_name(&key.to_ascii_lowercase()).is_some() {
                cx.invalid(at, node, "the key of an annotation is malformed");
            }
        } else if let Some(key) = subscript("metadata.labels['") {
            if names::qualified_name(key).is_some() {
                cx.invalid(at, node, "the key of a label is malformed");
            }
        } else if !known.contains(&path) {
            cx.not_found(at, node, "there is no such field of a pod to refer to", known);
        }
    });
}

fn mounts(cx: &mut Cx<'_>, container: &Node, at: &At<'_>, volumes: &Volumes) {
    let mut paths = HashSet::new();
    each(container, at, "volumeMounts", |mount, at| {
        cx.filled(mount, at, "name");
        with(mount, at, "name", |node, at| named_volume(cx, node, at, volumes));
        cx.filled(mount, at, "mountPath");
        with(mount, at, "mountPath", |node, at| {
            if node.as_str().is_some_and(|path| !paths.insert(path.to_owned())) {
                cx.invalid(at, node, "another mount of the container has the same path");
            }
        });
        relative(cx, mount, at, "subPath");
        relative(cx, mount, at, "subPathExpr");
        let has_text = |key: &str| mount.text(key).is_some_and(|path| !path.is_empty());
        if has_text("subPath") && has_text("subPathExpr") {
            let node = mount.get("subPathExpr").expect("it is given");
            cx.forbidden(&at.key("subPathExpr", node), "a mount cannot have both subPath and subPathExpr");
        }
        with(mount, at, "mountPropagation", |node, at| {
            let context = container.at(&["securityContext", "privileged"]).and_then(Node::as_bool);
            if node.as_str() == Some("Bidirectional") && context != Some(true) {
                cx.forbidden(at, "only privileged containers have Bidirectional mounts");
            }
        });
        with(mount, at, "recursiveReadOnly", |node, at| {
            cx.chosen(node, at, &["Disabled", "IfPossible", "Enabled"]);
            let is_on = matches!(node.as_str(), Some("IfPossible" | "Enabled"));
            if is_on && mount.get("readOnly").and_then(Node::as_bool) != Some(true) {
                cx.forbidden(at, "only mounts with readOnly: true have it");
            } else if is_on && mount.text("mountPropagation").is_some_and(|mode| mode != "None") {
                cx.forbidden(at, "must not be set together with mountPropagation");
            }
        });
    });
}

fn named_volume(cx: &mut Cx<'_>, node: &Node, at: &At<'_>, volumes: &Volumes) {
    if node.as_str().is_some_and(|name| !name.is_empty() && !volumes.is_block.contains_key(name)) {
        budget::or_unwind(budget::work(volumes.names.len()));
        let names: Vec<&str> = volumes.names.iter().map(String::as_str).collect();
        cx.not_found(at, node, "the pod has no volume of this name", &names);
    }
}

fn devices(cx: &mut Cx<'_>, container: &Node, at: &At<'_>, volumes: &Volumes) {
    let mounts = container.given("volumeMounts").map(Node::items).unwrap_or_default();
    let mounted = |key: &str| mounts.iter().filter_map(|mount| mount.text(key)).collect::<HashSet<&str>>();
    let (names, places) = (mounted("name"), mounted("mountPath"));
    let (mut paths, mut seen) = (HashSet::new(), HashSet::new());
    each(container, at, "volumeDevices", |device, at| {
        cx.filled(device, at, "name");
        cx.filled(device, at, "devicePath");
        with(device, at, "name", |node, at| {
            named_volume(cx, node, at, volumes);
            let name = node.as_str().unwrap_or_default();
            if volumes.is_block.get(name) == Some(&false) {
                cx.invalid(at, node, "only claims can be used as devices");
            } else if !seen.insert(name.to_owned()) {
                cx.invalid(at, node, "another device of the container is of the same volume");
            } else if names.contains(name) {
                cx.invalid(at, node, "a volume cannot be both a device and a mount");
            }
        });
        with(device, at, "devicePath", |node, at| {
            let path = node.as_str().unwrap_or_default();
            if has_dots(node) {
                cx.invalid(at, node, "must not contain '..'");
            } else if !path.is_empty() && (!paths.insert(path.to_owned()) || places.contains(path)) {
                cx.invalid(at, node, "another device or mount of the container has the same path");
            }
        });
    });
}
