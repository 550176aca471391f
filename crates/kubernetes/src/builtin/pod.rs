//! Pods and templates of pods.

use std::collections::HashSet;

use super::{Cx, absolute, each, ip_form, resources, with};
use crate::document::Node;
use crate::meta;
use crate::names;
use crate::report::At;

/// Who runs the pod: it decides how a pod may be restarted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Pod,
    /// Keeps pods running: only `Always`.
    Service,
    /// Runs pods to their end: `OnFailure` or `Never`, which has to be said.
    Job,
}

/// Checks a template: its labels and the pod.
pub(super) fn template(cx: &mut Cx<'_>, template: &Node, at: &At<'_>, owner: &Owner) {
    with(template, at, "metadata", |metadata, at| meta::common(metadata, at, cx.report));
    match template.given("spec") {
        Some(pod) => spec(cx, pod, &at.key("spec", pod), owner),
        None => {
            let empty = Node::new(crate::document::Value::Map(Vec::new()));
            spec(cx, &empty, &at.missing("spec"), owner);
        }
    }
}

/// Checks the specification of a pod.
pub(super) fn spec(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>, owner: &Owner) {
    restart_policy(cx, pod, at, *owner);
    let volumes = volumes(cx, pod, at);
    let volumes: Vec<&str> = volumes.iter().map(String::as_str).collect();
    containers(cx, pod, at, &volumes);
    cx.range(pod, at, "activeDeadlineSeconds", 1, i64::from(i32::MAX));
    if *owner == Owner::Service {
        with(pod, at, "activeDeadlineSeconds", |_, at| cx.forbidden(at, "pods that are kept running have no deadline"));
    }
    with(pod, at, "ephemeralContainers", |_, at| {
        cx.forbidden(at, "ephemeral containers are added to running pods, and to nothing else");
    });
    cx.form(pod, at, "serviceAccountName", names::dns_subdomain);
    cx.form(pod, at, "nodeName", names::dns_subdomain);
    cx.form(pod, at, "hostname", names::dns_label);
    cx.form(pod, at, "subdomain", names::dns_label);
    cx.form(pod, at, "priorityClassName", names::dns_subdomain);
    cx.form(pod, at, "runtimeClassName", names::dns_subdomain);
    with(pod, at, "nodeSelector", |labels, at| meta::check_labels(labels, at, cx.report));
    each(pod, at, "hostAliases", |alias, at| {
        cx.form(alias, at, "ip", ip_form);
        each(alias, at, "hostnames", |host, at| cx.form_of(host, at, names::dns_subdomain));
    });
    each(pod, at, "tolerations", |toleration, at| self::toleration(cx, toleration, at));
    dns(cx, pod, at);
    with(pod, at, "securityContext", |context, at| pod_security(cx, context, at));
    with(pod, at, "affinity", |affinity, at| self::affinity(cx, affinity, at));
    spread(cx, pod, at);
    let mut gates = HashSet::new();
    each(pod, at, "schedulingGates", |gate, at| {
        cx.form(gate, at, "name", names::qualified_name);
        if let Some(name) =
            gate.get("name").filter(|name| name.as_str().is_some_and(|text| !gates.insert(text.to_owned())))
        {
            cx.duplicate(at, name);
        }
    });
    with(pod, at, "os", |os, at| with(os, at, "name", |name, at| cx.one_of(name, at, &["linux", "windows"])));
    with(pod, at, "overhead", |list, at| resources::list(cx, list, at));
    let mut claims = HashSet::new();
    each(pod, at, "resourceClaims", |claim, at| {
        cx.form(claim, at, "name", names::dns_label);
        let name = claim.get("name");
        if let Some(name) = name.filter(|name| name.as_str().is_some_and(|text| !claims.insert(text.to_owned()))) {
            cx.duplicate(&at.key("name", name), name);
        }
        cx.exactly_one(claim, at, &["resourceClaimName", "resourceClaimTemplateName"], "a claim");
    });
}

fn restart_policy(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>, owner: Owner) {
    let given = pod.given("restartPolicy").filter(|node| node.as_str() != Some(""));
    match (owner, given) {
        (Owner::Service, Some(node)) => cx.one_of(node, &at.key("restartPolicy", node), &["Always"]),
        (Owner::Job, Some(node)) => cx.one_of(node, &at.key("restartPolicy", node), &["OnFailure", "Never"]),
        (Owner::Job, None) => cx.required(at, "restartPolicy", "a job needs OnFailure or Never"),
        _ => {}
    }
}

/// Checks volumes; the names of those that can be mounted.
fn volumes(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    each(pod, at, "volumes", |volume, at| {
        let name = cx.text(volume, at, "name").map(str::to_owned);
        cx.form(volume, at, "name", names::dns_label);
        if let Some(name) = name {
            if known.contains(&name) {
                let node = volume.get("name").expect("it has a name");
                cx.duplicate(&at.key("name", node), node);
            } else {
                known.push(name);
            }
        }
        let sources: Vec<&crate::document::Entry> =
            volume.entries().iter().filter(|entry| *entry.key != *"name" && !entry.node.is_null()).collect();
        if let [_, second, ..] = sources[..] {
            let here = at.key(&second.key, &second.node);
            cx.forbidden(&here, "a volume cannot have more than one source");
        }
        source(cx, volume, at);
    });
    // A stateful set adds volumes of its own.
    known
}

fn source(cx: &mut Cx<'_>, volume: &Node, at: &At<'_>) {
    with(volume, at, "secret", |secret, at| {
        cx.text(secret, at, "secretName");
        files(cx, secret, at);
    });
    with(volume, at, "configMap", |map, at| {
        cx.text(map, at, "name");
        files(cx, map, at);
    });
    with(volume, at, "persistentVolumeClaim", |claim, at| {
        cx.filled(claim, at, "claimName");
    });
    with(volume, at, "hostPath", |path, at| {
        cx.filled(path, at, "path");
        if let Some(node) = path.get("path").filter(|node| has_dots(node)) {
            cx.invalid(&at.key("path", node), node, "must not contain '..'");
        }
    });
    with(volume, at, "nfs", |nfs, at| {
        cx.filled(nfs, at, "server");
        cx.form(nfs, at, "path", absolute);
    });
    with(volume, at, "downwardAPI", |api, at| {
        mode(cx, api, at, "defaultMode");
        each(api, at, "items", |item, at| downward(cx, item, at));
    });
    with(volume, at, "emptyDir", |dir, at| {
        with(dir, at, "sizeLimit", |limit, at| resources::not_negative(cx, limit, at));
    });
    with(volume, at, "projected", |projected, at| {
        mode(cx, projected, at, "defaultMode");
        each(projected, at, "sources", |source, at| projection(cx, source, at));
    });
    with(volume, at, "csi", |csi, at| {
        cx.filled(csi, at, "driver");
        cx.form(csi, at, "driver", names::dns_subdomain_caseless);
    });
    with(volume, at, "ephemeral", |ephemeral, at| match ephemeral.given("volumeClaimTemplate") {
        None => cx.required(at, "volumeClaimTemplate", ""),
        Some(template) => {
            let here = at.key("volumeClaimTemplate", template);
            with(template, &here, "spec", |spec, at| super::storage::claim(cx, spec, at));
        }
    });
}

fn projection(cx: &mut Cx<'_>, source: &Node, at: &At<'_>) {
    const SOURCES: [&str; 6] =
        ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];
    let given: Vec<&str> = SOURCES.into_iter().filter(|key| source.given(key).is_some()).collect();
    if let [_, second, ..] = given[..] {
        let node = source.given(second).expect("it is given");
        cx.forbidden(&at.key(second, node), "an item cannot have more than one source");
    }
    for key in ["secret", "configMap"] {
        with(source, at, key, |of, at| {
            cx.text(of, at, "name");
            items(cx, of, at);
        });
    }
    with(source, at, "downwardAPI", |api, at| each(api, at, "items", |item, at| downward(cx, item, at)));
    with(source, at, "serviceAccountToken", |token, at| {
        with(token, at, "expirationSeconds", |node, at| match node.as_int() {
            Some(seconds) if seconds < 600 => cx.invalid(at, node, "must be at least 600: ten minutes"),
            Some(seconds) if seconds > 1 << 32 => cx.invalid(at, node, "must be at most 2^32"),
            _ => {}
        });
        cx.filled(token, at, "path");
        relative(cx, token, at, "path");
    });
}

fn files(cx: &mut Cx<'_>, of: &Node, at: &At<'_>) {
    mode(cx, of, at, "defaultMode");
    items(cx, of, at);
}

fn items(cx: &mut Cx<'_>, of: &Node, at: &At<'_>) {
    each(of, at, "items", |item, at| {
        cx.filled(item, at, "key");
        cx.filled(item, at, "path");
        relative(cx, item, at, "path");
        mode(cx, item, at, "mode");
    });
}

fn downward(cx: &mut Cx<'_>, item: &Node, at: &At<'_>) {
    cx.filled(item, at, "path");
    relative(cx, item, at, "path");
    mode(cx, item, at, "mode");
    match (item.given("fieldRef"), item.given("resourceFieldRef")) {
        (Some(field), None) => {
            let here = at.key("fieldRef", field);
            field_ref(
                cx,
                field,
                &here,
                &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"],
                true,
            );
        }
        (None, None) => cx.wrong_key(at, "an item needs fieldRef or resourceFieldRef"),
        (Some(_), Some(node)) => {
            cx.forbidden(&at.key("resourceFieldRef", node), "an item cannot have both fieldRef and resourceFieldRef");
        }
        (None, Some(_)) => {}
    }
}

/// A path of a file inside of a volume.
fn relative(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, key: &str) {
    with(of, at, key, |node, at| {
        if node.as_str().is_some_and(|path| path.starts_with('/')) {
            cx.invalid(at, node, "must be a relative path");
        } else if has_dots(node) {
            cx.invalid(at, node, "must not contain '..'");
        }
    });
}

fn has_dots(node: &Node) -> bool {
    node.as_str().is_some_and(|path| path.split('/').any(|part| part == ".."))
}

fn mode(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, key: &str) {
    with(of, at, key, |node, at| {
        if node.as_int().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
            cx.invalid(at, node, "must be a mode between 0 and 0777; octal numbers begin with 0");
        }
    });
}

fn containers(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>, volumes: &[&str]) {
    let is_empty = pod.given("containers").is_none_or(|list| list.items().is_empty());
    if is_empty {
        match pod.given("containers") {
            Some(list) => cx.empty(&at.key("containers", list), "the list of containers"),
            None if pod.pos.is_known() => {}
            None => cx.required(at, "containers", ""),
        }
    }
    let on_host = pod.given("hostNetwork").and_then(Node::as_bool) == Some(true);
    let mut seen = HashSet::new();
    let mut host_ports = HashSet::new();
    for (list, role) in
        [("initContainers", Role::Init), ("containers", Role::Main), ("ephemeralContainers", Role::Other)]
    {
        each(pod, at, list, |container, at| {
            let name = cx.named(container, at);
            if let Some(name) = name
                && !seen.insert(name.to_owned())
            {
                let node = container.get("name").expect("it has a name");
                cx.duplicate(&at.key("name", node), node);
            }
            self::container(cx, container, at, volumes, role, on_host);
            if role != Role::Other {
                each(container, at, "ports", |port, at| host_port(cx, port, at, &mut host_ports));
            }
        });
    }
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
    /// The name of a container, which a null item does not have.
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Init,
    Main,
    Other,
}

fn container(cx: &mut Cx<'_>, container: &Node, at: &At<'_>, volumes: &[&str], role: Role, on_host: bool) {
    match container.given("image") {
        None => cx.required(at, "image", ""),
        Some(image) if image.as_str() == Some("") => {
            cx.empty(&at.key("image", image), "the image");
        }
        Some(_) => {}
    }
    ports(cx, container, at, on_host);
    each(container, at, "env", |variable, at| env(cx, variable, at));
    each(container, at, "envFrom", |source, at| {
        cx.exactly_one(source, at, &["configMapRef", "secretRef"], "an item of envFrom");
        for key in ["configMapRef", "secretRef"] {
            with(source, at, key, |of, at| {
                cx.text(of, at, "name");
                cx.form(of, at, "name", names::dns_subdomain);
            });
        }
    });
    mounts(cx, container, at, volumes);
    let is_sidecar = role == Role::Init && container.text("restartPolicy") == Some("Always");
    for key in ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"] {
        with(container, at, key, |node, at| {
            if role == Role::Init && !is_sidecar {
                cx.forbidden(at, "init containers have none, unless their restartPolicy is Always");
            } else if key == "lifecycle" {
                lifecycle(cx, node, at);
            } else {
                probe(cx, node, at, key);
            }
        });
    }
    with(container, at, "resources", |list, at| resources::requirements(cx, list, at));
    with(container, at, "securityContext", |context, at| security(cx, context, at));
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
        cx.form(port, at, "hostIP", ip_form);
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

/// Fields of a pod that an environment variable can be.
const ENV_FIELDS: [&str; 10] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
    "spec.restartPolicy",
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
    with(from, &here, "fieldRef", |field, at| field_ref(cx, field, at, &ENV_FIELDS, true));
    with(from, &here, "resourceFieldRef", |field, at| {
        cx.filled(field, at, "resource");
        with(field, at, "resource", |node, at| {
            let is_known = node.as_str().is_some_and(|name| {
                let (kind, resource) = name.split_once('.').unwrap_or(("", name));
                matches!(kind, "limits" | "requests")
                    && (matches!(resource, "cpu" | "memory" | "ephemeral-storage")
                        || resource.starts_with("hugepages-"))
            });
            if !is_known && node.as_str() != Some("") {
                cx.invalid(at, node, "must be limits. or requests. with cpu, memory, ephemeral-storage or hugepages-…");
            }
        });
    });
    for key in ["configMapKeyRef", "secretKeyRef"] {
        with(from, &here, key, |of, at| {
            cx.text(of, at, "name");
            cx.filled(of, at, "key");
            cx.form(of, at, "key", names::config_key);
        });
    }
}

fn field_ref(cx: &mut Cx<'_>, field: &Node, at: &At<'_>, known: &[&str], subscripts: bool) {
    cx.filled(field, at, "fieldPath");
    with(field, at, "fieldPath", |node, at| {
        let Some(path) = node.as_str().filter(|path| !path.is_empty()) else { return };
        let subscript = ["metadata.annotations['", "metadata.labels['"].iter().find_map(|head| path.strip_prefix(head));
        if let Some(key) = subscript.and_then(|rest| rest.strip_suffix("']")).filter(|_| subscripts) {
            if names::qualified_name(&key.to_ascii_lowercase()).is_some() {
                cx.invalid(at, node, "the key of a label or annotation is malformed");
            }
        } else if !known.contains(&path) || path == "spec.restartPolicy" {
            cx.not_found(at, node, "there is no such field of a pod to refer to", known);
        }
    });
}

fn mounts(cx: &mut Cx<'_>, container: &Node, at: &At<'_>, volumes: &[&str]) {
    let mut paths = HashSet::new();
    each(container, at, "volumeMounts", |mount, at| {
        cx.filled(mount, at, "name");
        with(mount, at, "name", |node, at| {
            if node.as_str().is_some_and(|name| !name.is_empty() && !volumes.contains(&name)) {
                cx.not_found(at, node, "the pod has no volume of this name", volumes);
            }
        });
        cx.filled(mount, at, "mountPath");
        with(mount, at, "mountPath", |node, at| {
            if node.as_str().is_some_and(|path| !paths.insert(path.to_owned())) {
                cx.invalid(at, node, "another mount of the container has the same path");
            }
        });
        relative(cx, mount, at, "subPath");
        relative(cx, mount, at, "subPathExpr");
        if mount.text("subPath").is_some_and(|path| !path.is_empty())
            && mount.text("subPathExpr").is_some_and(|path| !path.is_empty())
        {
            let node = mount.get("subPathExpr").expect("it is given");
            cx.forbidden(&at.key("subPathExpr", node), "a mount cannot have both subPath and subPathExpr");
        }
    });
    let mut devices = HashSet::new();
    each(container, at, "volumeDevices", |device, at| {
        with(device, at, "name", |node, at| {
            if node.as_str().is_some_and(|name| !name.is_empty() && !volumes.contains(&name)) {
                cx.not_found(at, node, "the pod has no volume of this name", volumes);
            }
        });
        with(device, at, "devicePath", |node, at| {
            if node.as_str().is_some_and(|path| !devices.insert(path.to_owned())) {
                cx.invalid(at, node, "another device of the container has the same path");
            }
        });
    });
}

fn probe(cx: &mut Cx<'_>, probe: &Node, at: &At<'_>, key: &str) {
    handler(cx, probe, at, &["exec", "httpGet", "tcpSocket", "grpc"], "a probe");
    cx.not_negative(
        probe,
        at,
        &["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"],
    );
    if key != "readinessProbe" {
        with(probe, at, "successThreshold", |node, at| {
            if node.as_int().is_some_and(|value| value > 1) {
                cx.invalid(at, node, "must be 1 for liveness and startup probes");
            }
        });
    }
    with(probe, at, "terminationGracePeriodSeconds", |node, at| {
        if key == "readinessProbe" {
            cx.forbidden(at, "readiness probes have no terminationGracePeriodSeconds");
        } else if node.as_int().is_some_and(|value| value <= 0) {
            cx.invalid(at, node, "must be greater than 0");
        }
    });
}

fn lifecycle(cx: &mut Cx<'_>, lifecycle: &Node, at: &At<'_>) {
    for key in ["postStart", "preStop"] {
        with(lifecycle, at, key, |node, at| {
            handler(cx, node, at, &["exec", "httpGet", "tcpSocket", "sleep"], "a handler")
        });
    }
}

fn handler(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, keys: &[&'static str], what: &str) {
    cx.exactly_one(of, at, keys, what);
    with(of, at, "exec", |exec, at| {
        if exec.given("command").is_none_or(|command| command.items().is_empty()) {
            cx.required(at, "command", "");
        }
    });
    with(of, at, "httpGet", |get, at| {
        cx.port(get, at, "port");
        with(get, at, "scheme", |scheme, at| cx.one_of(scheme, at, &["HTTP", "HTTPS"]));
        each(get, at, "httpHeaders", |header, at| {
            with(header, at, "name", |node, at| {
                let is_good = node.as_str().is_some_and(|name| {
                    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                });
                if !is_good {
                    cx.invalid(at, node, "must be the name of an HTTP header: letters, digits and '-'");
                }
            });
        });
    });
    with(of, at, "tcpSocket", |socket, at| cx.port(socket, at, "port"));
    with(of, at, "grpc", |grpc, at| cx.range(grpc, at, "port", 1, 65535));
}

fn security(cx: &mut Cx<'_>, context: &Node, at: &At<'_>) {
    for key in ["runAsUser", "runAsGroup"] {
        cx.range(context, at, key, 0, i64::from(i32::MAX));
    }
    let flag = |key: &str| context.given(key).and_then(Node::as_bool);
    if flag("allowPrivilegeEscalation") == Some(false) {
        if flag("privileged") == Some(true) {
            cx.wrong(at, "allowPrivilegeEscalation cannot be false where privileged is true");
        }
        with(context, at, "capabilities", |capabilities, at| {
            each(capabilities, at, "add", |node, at| {
                if matches!(node.as_str(), Some("CAP_SYS_ADMIN" | "SYS_ADMIN")) {
                    cx.invalid(at, node, "allowPrivilegeEscalation cannot be false together with this capability");
                }
            });
        });
    }
}

fn pod_security(cx: &mut Cx<'_>, context: &Node, at: &At<'_>) {
    for key in ["runAsUser", "runAsGroup", "fsGroup"] {
        cx.range(context, at, key, 0, i64::from(i32::MAX));
    }
    each(context, at, "supplementalGroups", |node, at| {
        if node.as_int().is_some_and(|group| !(0..=i64::from(i32::MAX)).contains(&group)) {
            cx.invalid(at, node, "must be between 0 and 2147483647");
        }
    });
    let mut sysctls = HashSet::new();
    each(context, at, "sysctls", |sysctl, at| {
        cx.filled(sysctl, at, "name");
        if let Some(node) =
            sysctl.get("name").filter(|node| node.as_str().is_some_and(|name| !sysctls.insert(name.to_owned())))
        {
            cx.duplicate(&at.key("name", node), node);
        }
    });
}

fn toleration(cx: &mut Cx<'_>, toleration: &Node, at: &At<'_>) {
    let has_key = toleration.text("key").is_some_and(|key| !key.is_empty());
    let operator = toleration.text("operator").filter(|operator| !operator.is_empty());
    cx.form(toleration, at, "key", names::qualified_name);
    if !has_key && operator != Some("Exists") {
        match toleration.get("operator") {
            Some(node) => cx.invalid(&at.key("operator", node), node, "must be Exists where there is no key"),
            None => cx.wrong(at, "a toleration without key needs the operator Exists"),
        }
    }
    with(toleration, at, "value", |node, at| {
        if operator == Some("Exists") && node.as_str().is_some_and(|value| !value.is_empty()) {
            cx.invalid(at, node, "must be empty where the operator is Exists");
        } else {
            cx.form_of(node, at, names::label_value);
        }
    });
    with(toleration, at, "tolerationSeconds", |node, at| {
        if toleration.text("effect") != Some("NoExecute") {
            cx.invalid(at, node, "only tolerations with the effect NoExecute have seconds");
        }
    });
}

fn dns(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>) {
    let servers = pod.at(&["dnsConfig", "nameservers"]).map_or(0, |servers| servers.items().len());
    if pod.text("dnsPolicy") == Some("None") {
        match pod.given("dnsConfig") {
            None => cx.required(at, "dnsConfig", "the policy None needs nameservers"),
            Some(config) if servers == 0 => {
                cx.required(&at.key("dnsConfig", config), "nameservers", "the policy None needs nameservers");
            }
            Some(_) => {}
        }
    }
    with(pod, at, "dnsConfig", |config, at| {
        if servers > 3 {
            let node = config.get("nameservers").expect("it has items");
            cx.wrong(&at.key("nameservers", node), "there can be at most 3 nameservers");
        }
        each(config, at, "nameservers", |server, at| {
            if server.as_str().is_some_and(|text| names::ip(text).is_none()) {
                cx.invalid(at, server, "must be an IP address, such as 10.9.8.7 or 2001:db8::ffff");
            }
        });
        each(config, at, "searches", |search, at| {
            let text = search.as_str().unwrap_or_default();
            let trimmed = text.strip_suffix('.').unwrap_or(text);
            if text != "." && names::dns_subdomain(&trimmed.replace('_', "-")).is_some() {
                cx.invalid(at, search, "must be a DNS subdomain");
            }
        });
        each(config, at, "options", |option, at| {
            cx.text(option, at, "name");
        });
    });
}

fn affinity(cx: &mut Cx<'_>, affinity: &Node, at: &At<'_>) {
    with(affinity, at, "nodeAffinity", |node, at| {
        with(node, at, "requiredDuringSchedulingIgnoredDuringExecution", |selector, at| {
            node_selector(cx, selector, at);
        });
        each(node, at, "preferredDuringSchedulingIgnoredDuringExecution", |term, at| {
            cx.range(term, at, "weight", 1, 100);
            with(term, at, "preference", |term, at| selector_term(cx, term, at));
        });
    });
    for key in ["podAffinity", "podAntiAffinity"] {
        with(affinity, at, key, |pods, at| {
            each(pods, at, "requiredDuringSchedulingIgnoredDuringExecution", |term, at| pod_term(cx, term, at));
            each(pods, at, "preferredDuringSchedulingIgnoredDuringExecution", |weighted, at| {
                cx.range(weighted, at, "weight", 1, 100);
                with(weighted, at, "podAffinityTerm", |term, at| pod_term(cx, term, at));
            });
        });
    }
}

fn pod_term(cx: &mut Cx<'_>, term: &Node, at: &At<'_>) {
    cx.filled(term, at, "topologyKey");
    cx.form(term, at, "topologyKey", names::qualified_name);
    with(term, at, "labelSelector", |selector, at| cx.selector(selector, at));
    with(term, at, "namespaceSelector", |selector, at| cx.selector(selector, at));
    each(term, at, "namespaces", |namespace, at| cx.form_of(namespace, at, names::dns_label));
}

/// A selector of nodes.
pub(super) fn node_selector(cx: &mut Cx<'_>, selector: &Node, at: &At<'_>) {
    if let Some(terms) = selector.given("nodeSelectorTerms").filter(|terms| terms.items().is_empty()) {
        cx.empty(&at.key("nodeSelectorTerms", terms), "the list of terms");
    }
    each(selector, at, "nodeSelectorTerms", |term, at| selector_term(cx, term, at));
}

fn selector_term(cx: &mut Cx<'_>, term: &Node, at: &At<'_>) {
    each(term, at, "matchExpressions", |expression, at| {
        cx.form(expression, at, "key", names::qualified_name);
        let values = expression.given("values").map_or(0, |values| values.items().len());
        match expression.text("operator") {
            Some("In" | "NotIn") if values == 0 => cx.required(at, "values", "the operators In and NotIn need values"),
            Some("Exists" | "DoesNotExist") if values > 0 => {
                let node = expression.get("values").expect("it has items");
                cx.forbidden(&at.key("values", node), "the operators Exists and DoesNotExist take no values");
            }
            Some("Gt" | "Lt") if values != 1 => cx.required(at, "values", "the operators Gt and Lt need one value"),
            _ => {}
        }
        each(expression, at, "values", |value, at| cx.form_of(value, at, names::label_value));
    });
}

fn spread(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>) {
    let mut seen = HashSet::new();
    each(pod, at, "topologySpreadConstraints", |constraint, at| {
        cx.range(constraint, at, "maxSkew", 1, i64::MAX);
        cx.range(constraint, at, "minDomains", 1, i64::MAX);
        with(constraint, at, "whenUnsatisfiable", |node, at| cx.one_of(node, at, &["DoNotSchedule", "ScheduleAnyway"]));
        cx.filled(constraint, at, "topologyKey");
        let text = |key: &str| constraint.text(key).unwrap_or_default().to_owned();
        if !seen.insert((text("topologyKey"), text("whenUnsatisfiable"))) {
            cx.wrong(at, "an earlier constraint has the same topologyKey and whenUnsatisfiable");
        }
        with(constraint, at, "labelSelector", |selector, at| cx.selector(selector, at));
    });
}
