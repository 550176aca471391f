//! Pods and pod templates: checks that concern the pod as a whole.
//!
//! [`spec`] is the entry point; containers, volumes, probes and scheduling have their own modules.
//! A pod is checked in the same way wherever it is embedded, except for its restart policy
//! ([`Owner`]).

mod containers;
mod handlers;
mod scheduling;
mod security;
mod volumes;

use std::collections::HashSet;

use super::{Cx, each, ip_form, resources, with};
use crate::document::{Node, Value};
use crate::meta;
use crate::names;
use crate::report::At;

pub(super) use scheduling::{node_selector, tolerations};
pub(super) use volumes::{driver, source};

/// The owner of a pod, which determines the allowed restart policies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Pod,
    /// None yet: a `PodTemplate`.
    Template,
    /// Keeps pods running: only `Always`.
    Service,
    /// Like `Service`, but names its pods itself.
    Stateful,
    /// Runs pods to completion: requires `OnFailure` or `Never`.
    Job,
}

/// Checks a template: its labels and the pod.
pub(super) fn template(cx: &mut Cx<'_>, template: &Node, at: &At<'_>, owner: Owner) {
    with(template, at, "metadata", |metadata, at| meta::common(metadata, at, cx.report));
    match template.given("spec") {
        Some(pod) => spec(cx, pod, &at.key("spec", pod), owner),
        None => {
            let empty = Node::new(Value::Map(Vec::new()));
            spec(cx, &empty, &at.missing("spec"), owner);
        }
    }
}

/// Checks the specification of a pod.
pub(super) fn spec(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>, owner: Owner) {
    restart_policy(cx, pod, at, owner);
    let volumes = volumes::volumes(cx, pod, at, owner);
    containers::containers(cx, pod, at, &volumes, owner);
    cx.range(pod, at, "activeDeadlineSeconds", 1, i64::from(i32::MAX));
    if owner == Owner::Service || owner == Owner::Stateful {
        with(pod, at, "activeDeadlineSeconds", |_, at| cx.forbidden(at, "pods that are kept running have no deadline"));
    }
    if pod.given("ephemeralContainers").is_some_and(|list| !list.items().is_empty()) {
        let list = pod.get("ephemeralContainers").expect("it has items");
        let here = at.key("ephemeralContainers", list);
        cx.forbidden(&here, "ephemeral containers are added to running pods, and to nothing else");
    }
    // The second field is the old name of the first.
    cx.form(pod, at, "serviceAccountName", names::dns_subdomain);
    if pod.given("serviceAccountName").is_none() {
        cx.form(pod, at, "serviceAccount", names::dns_subdomain);
    }
    cx.form(pod, at, "nodeName", names::dns_subdomain);
    if owner != Owner::Stateful {
        cx.form(pod, at, "hostname", names::dns_label);
        cx.form(pod, at, "subdomain", names::dns_label);
    }
    cx.given_form(pod, at, "hostnameOverride", |text| match text.len() {
        0..=64 => names::dns_subdomain(text),
        _ => Some("must have at most 64 characters"),
    });
    cx.form(pod, at, "priorityClassName", names::dns_subdomain);
    cx.given_form(pod, at, "runtimeClassName", names::dns_subdomain);
    with(pod, at, "nodeSelector", |labels, at| meta::check_labels(labels, at, cx.report));
    each(pod, at, "hostAliases", |alias, at| {
        cx.given_form(alias, at, "ip", ip_form);
        each(alias, at, "hostnames", |host, at| cx.item_form(host, at, names::dns_subdomain));
    });
    scheduling::tolerations(cx, pod, at);
    dns(cx, pod, at);
    security::pod(cx, pod, at);
    scheduling::check(cx, pod, at);
    each(pod, at, "readinessGates", |gate, at| cx.given_form(gate, at, "conditionType", names::qualified_name));
    let mut gates = HashSet::new();
    each(pod, at, "schedulingGates", |gate, at| {
        cx.given_form(gate, at, "name", names::qualified_name);
        if let Some(name) =
            gate.get("name").filter(|name| name.as_str().is_some_and(|text| !gates.insert(text.to_owned())))
        {
            cx.duplicate(at, name);
        }
    });
    with(pod, at, "os", |os, at| with(os, at, "name", |name, at| cx.chosen(name, at, &["linux", "windows"])));
    with(pod, at, "overhead", |list, at| resources::list(cx, list, at));
    with(pod, at, "resources", |list, at| {
        resources::requirements(cx, list, at);
        if let Some(claims) = list.given("claims").filter(|claims| !claims.items().is_empty()) {
            cx.forbidden(&at.key("claims", claims), "resources of a whole pod have no claims");
        }
    });
    resource_claims(cx, pod, at);
}

fn resource_claims(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>) {
    let mut claims = HashSet::new();
    each(pod, at, "resourceClaims", |claim, at| {
        cx.given_form(claim, at, "name", names::dns_label);
        let name = claim.get("name");
        if let Some(name) = name.filter(|name| name.as_str().is_some_and(|text| !claims.insert(text.to_owned()))) {
            cx.duplicate(&at.key("name", name), name);
        }
        cx.exactly_one(claim, at, &["resourceClaimName", "resourceClaimTemplateName"], "a claim");
        cx.given_form(claim, at, "resourceClaimName", names::dns_subdomain);
        cx.given_form(claim, at, "resourceClaimTemplateName", names::dns_subdomain);
    });
}

fn restart_policy(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>, owner: Owner) {
    let given = pod.given("restartPolicy").filter(|node| node.as_str() != Some(""));
    match (owner, given) {
        (Owner::Service | Owner::Stateful, Some(node)) => {
            cx.one_of(node, &at.key("restartPolicy", node), &["Always"]);
        }
        (Owner::Job, Some(node)) => cx.one_of(node, &at.key("restartPolicy", node), &["OnFailure", "Never"]),
        (Owner::Job, None) => cx.required(at, "restartPolicy", "a job needs OnFailure or Never"),
        _ => {}
    }
}

/// Maximum number of a resolver's search paths, and of their characters including separators.
const MAX_SEARCHES: (usize, usize) = (32, 2048);

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
        each(config, at, "nameservers", |server, at| cx.item_form(server, at, ip_form));
        if let Some(searches) = config.given("searches") {
            let texts = searches.items().iter().map(|search| search.as_str().map_or(1, |text| text.len() + 1));
            if searches.items().len() > MAX_SEARCHES.0 || texts.sum::<usize>() > MAX_SEARCHES.1 + 1 {
                cx.wrong(&at.key("searches", searches), "there can be at most 32 search paths of 2048 characters");
            }
        }
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
