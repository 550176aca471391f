//! Services, endpoints, ingresses, network policies.
//!
//! One function for each kind, in this order, with its helpers below it. Most rules are about ports
//! and addresses: unique names, at most one address of each family, CIDRs without bits beyond their
//! prefix.

use std::collections::HashSet;
use std::net::IpAddr;

use super::{Cx, each, ip_form, with};
use crate::document::{Node, Value};
use crate::meta;
use crate::names;
use crate::report::At;

pub(super) fn service(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let kind = spec.text("type").filter(|kind| !kind.is_empty()).unwrap_or("ClusterIP");
    let first_ip = spec
        .text("clusterIP")
        .filter(|ip| !ip.is_empty())
        .or_else(|| spec.given("clusterIPs").and_then(|ips| ips.items().first()).and_then(Node::as_str));
    let is_headless = first_ip == Some("None");
    let ports = spec.given("ports").map(Node::items).unwrap_or_default();
    if ports.is_empty() && !is_headless && kind != "ExternalName" {
        cx.required(at, "ports", "only headless services have none");
    }
    if is_headless && (kind == "LoadBalancer" || kind == "NodePort") {
        let key = if spec.get("clusterIP").is_some() { "clusterIP" } else { "clusterIPs" };
        let node = spec.get(key).expect("it is headless");
        cx.invalid(&at.key(key, node), node, &format!("a service of type {kind} cannot be headless"));
    }
    service_ports(cx, spec, at, kind, ports.len());
    with(spec, at, "selector", |labels, at| meta::check_labels(labels, at, cx.report));
    with(spec, at, "sessionAffinityConfig", |config, at| {
        // The server drops the configuration if there is no affinity.
        if spec.text("sessionAffinity") == Some("ClientIP") {
            with(config, at, "clientIP", |client, at| cx.range(client, at, "timeoutSeconds", 1, 86_400));
        }
    });
    cluster_ips(cx, spec, at);
    with(spec, at, "clusterIP", |node, at| {
        if node.as_str().is_some_and(|text| !text.is_empty() && text != "None" && names::ip(text).is_none()) {
            cx.invalid(at, node, "must be empty, \"None\" or an IP address");
        }
    });
    if kind == "ExternalName" {
        match spec.text("externalName").filter(|name| !name.is_empty()) {
            None => cx.required(at, "externalName", "a service of type ExternalName needs it"),
            Some(name) => {
                let node = spec.get("externalName").expect("it is given");
                if names::dns_subdomain(name.strip_suffix('.').unwrap_or(name)).is_some() {
                    cx.invalid(&at.key("externalName", node), node, "must be a DNS name");
                }
            }
        }
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            with(spec, at, key, |node, at| {
                let is_empty = node.as_str() == Some("") || matches!(&node.value, Value::List(list) if list.is_empty());
                if !is_empty {
                    cx.forbidden(at, &format!("a service of type ExternalName has no {key}"));
                }
            });
        }
    }
    each(spec, at, "externalIPs", |ip, at| {
        cx.item_form(ip, at, ip_form);
        with_special(cx, ip, at);
    });
    cx.given_form(spec, at, "loadBalancerClass", names::qualified_name);
    with(spec, at, "trafficDistribution", |node, at| {
        let modes = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        cx.chosen(node, at, if cx.version.minor() >= 34 { &modes } else { &modes[..1] });
    });
    with(spec, at, "healthCheckNodePort", |node, at| {
        let is_local = kind == "LoadBalancer" && spec.text("externalTrafficPolicy") == Some("Local");
        match node.as_int() {
            Some(0) => {}
            Some(_) if !is_local => {
                cx.forbidden(at, "only services of type LoadBalancer with externalTrafficPolicy: Local have it");
            }
            Some(port) if !(1..=65535).contains(&port) => cx.invalid(at, node, "must be between 1 and 65535"),
            _ => {}
        }
    });
    each(spec, at, "loadBalancerSourceRanges", |range, at| {
        if names::cidr(range.as_str().unwrap_or_default().trim()).is_none() {
            cx.invalid(at, range, "must be a CIDR, such as 10.9.8.0/24 or 2001:db8::/64");
        }
    });
    if kind != "LoadBalancer" {
        for key in ["loadBalancerSourceRanges", "loadBalancerClass", "allocateLoadBalancerNodePorts"] {
            with(spec, at, key, |node, at| {
                if key != "loadBalancerSourceRanges" || !node.items().is_empty() {
                    cx.forbidden(at, "only services of type LoadBalancer have it");
                }
            });
        }
    }
    if kind != "LoadBalancer" && kind != "NodePort" {
        with(spec, at, "externalTrafficPolicy", |node, at| {
            let has_external = spec.given("externalIPs").is_some_and(|ips| !ips.items().is_empty());
            if node.as_str() != Some("") && !has_external {
                cx.invalid(at, node, "only services that can be reached from outside have it");
            }
        });
    }
    let mut families = HashSet::new();
    each(spec, at, "ipFamilies", |family, at| {
        if family.is_null() {
            cx.invalid(at, family, "must be IPv4 or IPv6");
        } else {
            cx.chosen(family, at, &["IPv4", "IPv6"]);
        }
        if family.as_str().is_some_and(|text| !families.insert(text.to_owned())) {
            cx.duplicate(at, family);
        }
    });
}

/// Checks `clusterIPs`: the first must be `clusterIP`, with at most one of each family.
fn cluster_ips(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let Some(list) = spec.given("clusterIPs").filter(|list| !list.items().is_empty()) else { return };
    let here = at.key("clusterIPs", list);
    let texts: Vec<&str> = list.items().iter().map(|item| item.as_str().unwrap_or_default()).collect();
    match spec.text("clusterIP").unwrap_or_default() {
        "" => cx.wrong(&here, "must not be given without clusterIP"),
        first if first != texts[0] => cx.wrong(&here, "the first one must be clusterIP"),
        _ => {}
    }
    if texts[0] == "None" {
        if texts.len() > 1 {
            cx.wrong(&here, "\"None\" must be the only one");
        }
        return;
    }
    each(spec, at, "clusterIPs", |ip, at| cx.item_form(ip, at, ip_form));
    let count =
        |is_v4: bool| texts.iter().filter_map(|text| names::ip(text)).filter(|ip| ip.is_ipv4() == is_v4).count();
    if count(true) > 1 || count(false) > 1 {
        cx.wrong(&here, "there can be one address of each IP family");
    }
}

/// Reports addresses that are only valid within a machine.
fn with_special(cx: &mut Cx<'_>, node: &Node, at: &At<'_>) {
    let Some(address) = node.as_str().and_then(names::ip) else { return };
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80 || address.segments()[0] & 0xff0f == 0xff02,
    };
    if address.is_unspecified() {
        cx.invalid(at, node, "must not be unspecified");
    } else if address.is_loopback() {
        cx.invalid(at, node, "must not be in the loopback range");
    } else if is_link_local {
        cx.invalid(at, node, "must not be in the link-local range");
    }
}

fn service_ports(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>, kind: &str, count: usize) {
    let (mut names_seen, mut ports_seen, mut node_ports) = (HashSet::new(), HashSet::new(), HashSet::new());
    each(spec, at, "ports", |port, at| {
        let name = port.text("name").filter(|name| !name.is_empty());
        match name {
            None if count > 1 => cx.required(at, "name", "ports of a service with several need names"),
            None => {}
            Some(name) => {
                cx.form(port, at, "name", names::dns_label);
                if !names_seen.insert(name.to_owned()) {
                    let node = port.get("name").expect("it is given");
                    cx.duplicate(&at.key("name", node), node);
                }
            }
        }
        cx.range(port, at, "port", 1, 65535);
        // An absent or zero target port means the port itself.
        if port.given("targetPort").is_some_and(|target| target.as_int() != Some(0) && target.as_str() != Some("")) {
            cx.port(port, at, "targetPort");
        }
        cx.given_form(port, at, "appProtocol", names::qualified_name);
        let protocol = port.text("protocol").filter(|protocol| !protocol.is_empty()).unwrap_or("TCP").to_owned();
        if let Some(number) = port.get("port").and_then(Node::as_int)
            && !ports_seen.insert((number, protocol.clone()))
        {
            cx.wrong(at, "an earlier port has the same number and protocol");
        }
        with(port, at, "nodePort", |node, at| {
            let number = node.as_int().unwrap_or(0);
            if number == 0 {
                return;
            }
            if kind == "ClusterIP" || kind == "ExternalName" {
                cx.forbidden(at, &format!("a service of type {kind} has no node ports"));
            } else if !(1..=65535).contains(&number) {
                cx.invalid(at, node, "must be between 1 and 65535");
            } else if !node_ports.insert((number, protocol.clone())) {
                cx.duplicate(at, node);
            }
        });
    });
}

pub(super) fn endpoints(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    each(root, at, "subsets", |subset, at| {
        let is_empty = |key: &str| subset.given(key).is_none_or(|list| list.items().is_empty());
        if is_empty("addresses") && is_empty("notReadyAddresses") {
            cx.wrong_key(at, "a subset needs addresses or notReadyAddresses");
        }
        for key in ["addresses", "notReadyAddresses"] {
            each(subset, at, key, |address, at| {
                cx.form(address, at, "ip", ip_form);
                with(address, at, "ip", |ip, at| with_special(cx, ip, at));
                cx.form(address, at, "hostname", names::dns_label);
                cx.given_form(address, at, "nodeName", names::dns_subdomain);
            });
        }
        let count = subset.given("ports").map_or(0, |ports| ports.items().len());
        each(subset, at, "ports", |port, at| {
            if count > 1 && port.text("name").is_none_or(str::is_empty) {
                cx.required(at, "name", "ports of a subset with several need names");
            }
            cx.form(port, at, "name", names::dns_label);
            cx.range(port, at, "port", 1, 65535);
            cx.given_form(port, at, "appProtocol", names::qualified_name);
        });
    });
}

pub(super) fn endpoint_slice(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    let kind = root.text("addressType").unwrap_or_default();
    each(root, at, "endpoints", |endpoint, at| {
        if endpoint.given("addresses").is_some_and(|list| list.items().is_empty()) {
            cx.required(at, "addresses", "");
        }
        each(endpoint, at, "addresses", |address, at| {
            let text = address.as_str().unwrap_or_default();
            match (kind, names::ip(text)) {
                ("IPv4", Some(IpAddr::V4(_))) | ("IPv6", Some(IpAddr::V6(_))) => with_special(cx, address, at),
                ("IPv4", _) => cx.invalid(at, address, "must be an IPv4 address"),
                ("IPv6", _) => cx.invalid(at, address, "must be an IPv6 address"),
                ("FQDN", _) => cx.form_of(address, at, names::dns_subdomain),
                _ => {}
            }
        });
        cx.form(endpoint, at, "hostname", names::dns_label);
        cx.given_form(endpoint, at, "nodeName", names::dns_subdomain);
        with(endpoint, at, "hints", |hints, at| {
            for (key, form) in
                [("forZones", names::label_value as fn(&str) -> names::NameProblem), ("forNodes", names::dns_subdomain)]
            {
                let mut seen = HashSet::new();
                each(hints, at, key, |hint, at| {
                    cx.form(hint, at, "name", form);
                    if let Some(node) =
                        hint.get("name").filter(|node| node.as_str().is_some_and(|name| !seen.insert(name.to_owned())))
                    {
                        cx.duplicate(&at.key("name", node), node);
                    }
                });
            }
        });
    });
    let mut seen = HashSet::new();
    each(root, at, "ports", |port, at| {
        let name = port.text("name").unwrap_or_default().to_owned();
        cx.form(port, at, "name", names::dns_label);
        if !seen.insert(name)
            && let Some(node) = port.get("name")
        {
            cx.duplicate(&at.key("name", node), node);
        }
        cx.given_form(port, at, "appProtocol", names::qualified_name);
    });
}

pub(super) fn ingress(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let rules = spec.given("rules").map(Node::items).unwrap_or_default();
    if rules.is_empty() && spec.given("defaultBackend").is_none() {
        cx.wrong_key(at, "an ingress needs rules or a defaultBackend");
    }
    cx.form(spec, at, "ingressClassName", names::dns_subdomain);
    with(spec, at, "defaultBackend", |backend, at| self::backend(cx, backend, at));
    each(spec, at, "rules", |rule, at| {
        with(rule, at, "host", |host, at| host_name(cx, host, at, true));
        with(rule, at, "http", |http, at| {
            if http.given("paths").is_some_and(|paths| paths.items().is_empty()) {
                cx.required(at, "paths", "");
            }
            each(http, at, "paths", |path, at| {
                let kind = path.text("pathType");
                if let Some(node) = path.get("pathType") {
                    cx.chosen(node, &at.key("pathType", node), &["Exact", "Prefix", "ImplementationSpecific"]);
                }
                let text = path.text("path").unwrap_or_default();
                let needs = matches!(kind, Some("Exact" | "Prefix"));
                if (needs || !text.is_empty()) && !text.starts_with('/') {
                    match path.get("path") {
                        Some(node) => {
                            cx.invalid(
                                &at.key("path", node),
                                node,
                                "must be an absolute path: it has to begin with '/'",
                            );
                        }
                        None => cx.required(at, "path", "Exact and Prefix need an absolute path"),
                    }
                } else if needs {
                    let bad = ["//", "/./", "/../", "%2f", "%2F"].iter().any(|part| text.contains(part))
                        || text.ends_with("/.")
                        || text.ends_with("/..");
                    if bad && let Some(node) = path.get("path") {
                        cx.invalid(
                            &at.key("path", node),
                            node,
                            "must not contain '//', '/./', '/../' or an escaped slash",
                        );
                    }
                }
                with(path, at, "backend", |backend, at| self::backend(cx, backend, at));
            });
        });
    });
    each(spec, at, "tls", |tls, at| {
        each(tls, at, "hosts", |host, at| match host.as_str().unwrap_or_default() {
            "" => cx.invalid(at, host, "must be a DNS name"),
            _ => host_name(cx, host, at, false),
        });
        cx.form(tls, at, "secretName", names::dns_subdomain);
    });
}

fn host_name(cx: &mut Cx<'_>, host: &Node, at: &At<'_>, refuses_ip: bool) {
    let Some(text) = host.as_str().filter(|text| !text.is_empty()) else { return };
    if refuses_ip && names::ip(text).is_some() {
        return cx.invalid(at, host, "must be a DNS name, not an IP address");
    }
    let fault = if text.contains('*') { names::wildcard_subdomain(text) } else { names::dns_subdomain(text) };
    if let Some(fault) = fault {
        cx.invalid(at, host, fault);
    }
}

fn backend(cx: &mut Cx<'_>, backend: &Node, at: &At<'_>) {
    match (backend.given("service"), backend.given("resource")) {
        (Some(_), Some(_)) => cx.wrong(at, "a backend cannot have both a service and a resource"),
        (None, None) => cx.wrong_key(at, "a backend needs a service or a resource"),
        (Some(service), None) => {
            let here = at.key("service", service);
            cx.filled(service, &here, "name");
            let form = super::service_name(cx.version);
            cx.form(service, &here, "name", form);
            let port = |key: &str| service.given("port").and_then(|port| port.given(key));
            let name = port("name").filter(|name| name.as_str() != Some(""));
            let number = port("number").filter(|number| number.as_int() != Some(0));
            match (name, number) {
                (Some(_), Some(_)) => cx.wrong(at, "a backend's port has either a name or a number"),
                (None, None) => cx.wrong_key(at, "a backend needs the name or number of a port"),
                (Some(_), None) => with(service, &here, "port", |port, at| {
                    cx.form(port, at, "name", names::port_name);
                }),
                (None, Some(_)) => with(service, &here, "port", |port, at| cx.range(port, at, "number", 1, 65535)),
            }
        }
        (None, Some(resource)) => object_ref(cx, resource, &at.key("resource", resource)),
    }
}

/// A reference to an object of some group.
fn object_ref(cx: &mut Cx<'_>, of: &Node, at: &At<'_>) {
    cx.given_form(of, at, "apiGroup", names::dns_subdomain);
    for key in ["kind", "name"] {
        cx.filled(of, at, key);
        cx.form(of, at, key, names::path_segment);
    }
}

pub(super) fn ingress_class(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    match cx.text(spec, at, "controller") {
        Some(controller) if controller.len() > 250 || names::domain_path(controller).is_some() => {
            let node = spec.get("controller").expect("it is given");
            cx.invalid(&at.key("controller", node), node, "must be a domain and a path, at most 250 characters");
        }
        _ => {}
    }
    with(spec, at, "parameters", |parameters, at| {
        object_ref(cx, parameters, at);
        let has_namespace = parameters.given("namespace").is_some();
        with(parameters, at, "scope", |node, at| cx.chosen(node, at, &["Cluster", "Namespace"]));
        match parameters.text("scope").unwrap_or("Cluster") {
            "Namespace" if !has_namespace => cx.required(at, "namespace", "the scope Namespace needs it"),
            "Namespace" => cx.given_form(parameters, at, "namespace", names::dns_label),
            "Cluster" => with(parameters, at, "namespace", |_, at| {
                cx.forbidden(at, "only parameters with scope: Namespace have it");
            }),
            _ => {}
        }
    });
}

pub(super) fn policy(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    with(spec, at, "podSelector", |selector, at| cx.selector(selector, at));
    if let Some(kinds) = spec.given("policyTypes").filter(|kinds| kinds.items().len() > 2) {
        cx.wrong(&at.key("policyTypes", kinds), "there can be at most two");
    }
    each(spec, at, "policyTypes", |kind, at| cx.chosen(kind, at, &["Ingress", "Egress"]));
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        each(spec, at, rules, |rule, at| {
            each(rule, at, "ports", |port, at| {
                cx.port(port, at, "port");
                cx.range(port, at, "endPort", 1, 65535);
                let end = port.given("endPort").and_then(Node::as_int);
                match (end, port.given("port").map(Node::as_int)) {
                    (Some(_), None) => cx.required(at, "port", "endPort needs it"),
                    (Some(end), Some(Some(port_number))) if end < port_number => {
                        let node = port.get("endPort").expect("it is given");
                        cx.invalid(&at.key("endPort", node), node, "must not be below port");
                    }
                    (Some(_), Some(None)) => {
                        let node = port.get("endPort").expect("it is given");
                        cx.invalid(&at.key("endPort", node), node, "needs a port with a number");
                    }
                    _ => {}
                }
            });
            each(rule, at, peers, |peer, at| {
                let selectors =
                    ["podSelector", "namespaceSelector"].iter().filter(|key| peer.given(key).is_some()).count();
                match (peer.given("ipBlock"), selectors) {
                    (None, 0) => cx.wrong_key(at, "a peer needs a podSelector, a namespaceSelector or an ipBlock"),
                    (Some(_), 1..) => cx.wrong(at, "a peer with an ipBlock has no selectors"),
                    (Some(block), 0) => ip_block(cx, block, &at.key("ipBlock", block)),
                    _ => {}
                }
                with(peer, at, "podSelector", |selector, at| cx.selector(selector, at));
                with(peer, at, "namespaceSelector", |selector, at| cx.selector(selector, at));
            });
        });
    }
}

fn ip_block(cx: &mut Cx<'_>, block: &Node, at: &At<'_>) {
    cx.filled(block, at, "cidr");
    let outer = block.given("cidr").and_then(|cidr| block_cidr(cx, cidr, &at.key("cidr", cidr)));
    each(block, at, "except", |node, at| {
        if node.as_str().is_none_or(str::is_empty) {
            return cx.invalid(at, node, "must be a CIDR, such as 10.9.8.0/24 or 2001:db8::/64");
        }
        if let (Some((outer, bits)), Some((inner, inner_bits))) = (outer, block_cidr(cx, node, at)) {
            let shift = |address: IpAddr| match address {
                IpAddr::V4(address) => u128::from(u32::from(address)).checked_shr(32 - u32::from(bits)),
                IpAddr::V6(address) => u128::from(address).checked_shr(128 - u32::from(bits)),
            };
            let is_inside = outer.is_ipv4() == inner.is_ipv4() && inner_bits > bits && shift(outer) == shift(inner);
            if !is_inside {
                cx.invalid(at, node, "must be a part of the cidr");
            }
        }
    });
}

/// Checks a CIDR, which must have no bits beyond its prefix.
fn block_cidr(cx: &mut Cx<'_>, node: &Node, at: &At<'_>) -> Option<(IpAddr, u8)> {
    let text = node.as_str().filter(|text| !text.is_empty())?;
    match names::cidr(text) {
        None => cx.invalid(at, node, "must be a CIDR, such as 10.9.8.0/24 or 2001:db8::/64"),
        Some((address, bits)) if names::has_host_bits(address, bits) => {
            cx.invalid(at, node, "must not have bits set beyond the prefix");
        }
        Some(found) => return Some(found),
    }
    None
}
