//! Volumes, claims and their classes.
//!
//! The sources of persistent volumes are those of pods, so `pod` checks them. Here are access
//! modes, the data sources of claims, and kinds that drivers create.

use std::collections::HashSet;

use super::{Cx, each, pod, resources, with};
use crate::document::Node;
use crate::names;
use crate::report::At;

const MODES: [&str; 4] = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];

pub(super) fn claim(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    modes(cx, spec, at);
    match spec.at(&["resources", "requests", "storage"]) {
        None => {
            let (of, here) = match spec.given("resources") {
                Some(of) => (of, at.key("resources", of)),
                None => {
                    return cx.required(&at.missing("resources"), "storage", "a claim has to say how much it asks for");
                }
            };
            match of.given("requests") {
                Some(requests) => cx.required(&here.key("requests", requests), "storage", ""),
                None => cx.required(&here.missing("requests"), "storage", ""),
            }
        }
        Some(storage) => {
            let of = spec.get("resources").expect("it has requests");
            let here = at.key("resources", of);
            let requests = of.get("requests").expect("it has storage");
            let here = here.key("requests", requests);
            if resources::quantity(storage).is_some_and(|value| value <= ytterby_text::Decimal::ZERO) {
                cx.invalid(&here.key("storage", storage), storage, "must be greater than 0");
            }
        }
    }
    with(spec, at, "selector", |selector, at| cx.selector(selector, at));
    cx.form(spec, at, "storageClassName", names::dns_subdomain);
    cx.form(spec, at, "volumeAttributesClassName", names::dns_subdomain);
    with(spec, at, "volumeMode", |node, at| cx.chosen(node, at, &["Block", "Filesystem"]));
    data_sources(cx, spec, at);
}

/// Checks the data sources of a claim. Unlike a `dataSourceRef`, a `dataSource` of an unknown kind
/// is dropped.
fn data_sources(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    with(spec, at, "dataSourceRef", |source, at| {
        cx.text(source, at, "name");
        cx.text(source, at, "kind");
        let is_core = source.text("apiGroup").unwrap_or_default().is_empty();
        let is_other = source.text("kind").is_some_and(|kind| kind != "PersistentVolumeClaim");
        if is_core && is_other && source.given("namespace").is_none() {
            cx.wrong(at, "the kind of the core group must be PersistentVolumeClaim");
        }
    });
    with(spec, at, "dataSource", |source, at| {
        let is_kept = match source.text("apiGroup").unwrap_or_default() {
            "" => source.text("kind") == Some("PersistentVolumeClaim"),
            group => group == "snapshot.storage.k8s.io" && source.text("kind") == Some("VolumeSnapshot"),
        };
        if is_kept {
            cx.text(source, at, "name");
        }
    });
}

fn modes(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    if spec.given("accessModes").is_none_or(|modes| modes.items().is_empty()) {
        cx.required(at, "accessModes", "there must be one at least");
    }
    each(spec, at, "accessModes", |mode, at| match mode.is_null() {
        true => cx.invalid(at, mode, "must be an access mode, such as ReadWriteOnce"),
        false => cx.chosen(mode, at, &MODES),
    });
    let modes = spec.given("accessModes").map(Node::items).unwrap_or_default();
    let is_single = modes.iter().any(|mode| mode.as_str() == Some("ReadWriteOncePod"));
    if is_single && modes.len() > 1 {
        let node = spec.get("accessModes").expect("it has items");
        cx.forbidden(&at.key("accessModes", node), "ReadWriteOncePod cannot be combined with other modes");
    }
}

/// Fields of a volume that are not sources.
const NOT_SOURCES: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeMode",
    "volumeAttributesClassName",
];

pub(super) fn volume(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    modes(cx, spec, at);
    match spec.given("capacity") {
        None => cx.required(at, "capacity", ""),
        Some(capacity) => {
            let here = at.key("capacity", capacity);
            let others = capacity.entries().iter().any(|entry| *entry.key != *"storage");
            if capacity.given("storage").is_none() || others {
                cx.wrong(&here, "the capacity of a volume has exactly one resource: storage");
            }
            with(capacity, &here, "storage", |storage, at| {
                if resources::quantity(storage).is_some_and(|value| value <= ytterby_text::Decimal::ZERO) {
                    cx.invalid(at, storage, "must be greater than 0");
                }
            });
        }
    }
    let sources: Vec<&crate::document::MapEntry> =
        spec.entries().iter().filter(|entry| !NOT_SOURCES.contains(&&*entry.key) && !entry.node.is_null()).collect();
    match sources[..] {
        [] => cx.wrong_key(at, "a volume needs a source, such as csi, nfs or hostPath"),
        [_] => {}
        [_, second, ..] => {
            cx.forbidden(&at.key(&second.key, &second.node), "a volume cannot have more than one source");
        }
    }
    pod::source(cx, spec, at);
    with(spec, at, "hostPath", |path, at| {
        if path.text("path") == Some("/") && spec.text("persistentVolumeReclaimPolicy") == Some("Recycle") {
            cx.forbidden(at, "the volume \"/\" cannot be recycled");
        }
    });
    with(spec, at, "csi", |csi, at| {
        pod::driver(cx, csi, at);
        cx.filled(csi, at, "volumeHandle");
        for key in ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef"] {
            with(csi, at, key, |secret, at| {
                cx.text(secret, at, "name");
                cx.text(secret, at, "namespace");
            });
        }
    });
    with(spec, at, "local", |local, at| {
        cx.filled(local, at, "path");
    });
    if spec.given("local").is_some() && spec.given("nodeAffinity").is_none() {
        cx.required(at, "nodeAffinity", "a local volume has to say on which node it is");
    }
    with(spec, at, "nodeAffinity", |affinity, at| match affinity.given("required") {
        None => cx.required(at, "required", "the affinity of a volume needs node selector terms"),
        Some(selector) => pod::node_selector(cx, selector, &at.key("required", selector)),
    });
    cx.form(spec, at, "storageClassName", names::dns_subdomain);
    cx.given_form(spec, at, "volumeAttributesClassName", names::dns_subdomain);
    if spec.given("volumeAttributesClassName").is_some() && spec.given("csi").is_none() {
        cx.required(at, "csi", "volumeAttributesClassName needs it");
    }
    with(spec, at, "volumeMode", |node, at| cx.chosen(node, at, &["Block", "Filesystem"]));
}

/// Kinds that drivers create, not authors.
pub(super) fn other(cx: &mut Cx<'_>, kind: &str, root: &Node, spec: &Node, at: &At<'_>, spec_at: &At<'_>) {
    match kind {
        "CSIDriver" => {
            each(spec, spec_at, "volumeLifecycleModes", |node, at| cx.chosen(node, at, &["Ephemeral", "Persistent"]));
            with(spec, spec_at, "fsGroupPolicy", |node, at| {
                cx.chosen(node, at, &["File", "None", "ReadWriteOnceWithFSType"]);
            });
            cx.range(spec, spec_at, "nodeAllocatableUpdatePeriodSeconds", 10, i64::MAX);
            let mut seen = HashSet::new();
            each(spec, spec_at, "tokenRequests", |request, at| {
                cx.range(request, at, "expirationSeconds", 600, 1 << 32);
                if !seen.insert(request.text("audience").unwrap_or_default().to_owned()) {
                    cx.wrong(at, "an earlier request has the same audience");
                }
            });
        }
        "CSINode" => {
            let mut seen = HashSet::new();
            each(spec, spec_at, "drivers", |driver, at| {
                cx.filled(driver, at, "nodeID");
                cx.given_form(driver, at, "name", driver_name);
                if !seen.insert(driver.text("name").unwrap_or_default().to_owned()) {
                    cx.wrong(at, "an earlier driver has the same name");
                }
                let mut keys = HashSet::new();
                each(driver, at, "topologyKeys", |key, at| {
                    cx.item_form(key, at, names::qualified_name);
                    if !keys.insert(key.as_str().unwrap_or_default().to_owned()) {
                        cx.duplicate(at, key);
                    }
                });
                with(driver, at, "allocatable", |allocatable, at| cx.not_negative(allocatable, at, &["count"]));
            });
        }
        "CSIStorageCapacity" => {
            with(root, at, "nodeTopology", |selector, at| cx.selector(selector, at));
            cx.filled(root, at, "storageClassName");
            cx.form(root, at, "storageClassName", names::dns_subdomain);
            for key in ["capacity", "maximumVolumeSize"] {
                with(root, at, key, |node, at| resources::not_negative(cx, node, at));
            }
        }
        "VolumeAttachment" => {
            cx.filled(spec, spec_at, "attacher");
            cx.form(spec, spec_at, "attacher", driver_name);
            cx.given_form(spec, spec_at, "nodeName", names::dns_subdomain);
            with(spec, spec_at, "source", |source, at| {
                cx.exactly_one(source, at, &["persistentVolumeName", "inlineVolumeSpec"], "a source");
                cx.given_form(source, at, "persistentVolumeName", names::dns_subdomain);
            });
        }
        "VolumeAttributesClass" => {
            cx.filled(root, at, "driverName");
            cx.form(root, at, "driverName", |text| match text.len() {
                0..=63 => names::qualified_name(&text.to_ascii_lowercase()),
                _ => Some("must have at most 63 characters"),
            });
            if root.given("parameters").is_none_or(|parameters| parameters.entries().is_empty()) {
                cx.required(at, "parameters", "there must be one at least");
            }
        }
        _ => {}
    }
}

fn driver_name(text: &str) -> names::NameProblem {
    match text.len() {
        0..=63 => names::dns_subdomain_caseless(text),
        _ => Some("must have at most 63 characters"),
    }
}

pub(super) fn class(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    cx.filled(root, at, "provisioner");
    with(root, at, "provisioner", |node, at| {
        if let Some(fault) = node
            .as_str()
            .filter(|text| !text.is_empty())
            .and_then(|text| names::qualified_name(&text.to_ascii_lowercase()))
        {
            cx.invalid(at, node, fault);
        }
    });
    with(root, at, "reclaimPolicy", |node, at| cx.one_of(node, at, &["Delete", "Retain"]));
    with(root, at, "volumeBindingMode", |node, at| cx.chosen(node, at, &["Immediate", "WaitForFirstConsumer"]));
    let mut terms: Vec<Option<&Node>> = Vec::new();
    each(root, at, "allowedTopologies", |term, at| {
        let expressions = term.given("matchLabelExpressions");
        let is_same = |other: &Option<&Node>| match (other, expressions) {
            (Some(other), Some(expressions)) => other.value.same(&expressions.value),
            (other, expressions) => other.is_none() && expressions.is_none(),
        };
        if expressions.is_none_or(|list| list.items().is_empty()) {
            cx.required(at, "matchLabelExpressions", "a term without expressions matches nothing");
        } else if terms.iter().any(is_same) {
            cx.wrong(at, "an earlier term is the same");
        }
        terms.push(expressions);
        let mut keys = HashSet::new();
        each(term, at, "matchLabelExpressions", |expression, at| {
            cx.given_form(expression, at, "key", names::qualified_name);
            if let Some(key) =
                expression.get("key").filter(|key| key.as_str().is_some_and(|text| !keys.insert(text.to_owned())))
            {
                cx.duplicate(&at.key("key", key), key);
            }
            if expression.given("values").is_some_and(|values| values.items().is_empty()) {
                cx.required(at, "values", "there must be one at least");
            }
            let mut seen = HashSet::new();
            each(expression, at, "values", |value, at| {
                if !seen.insert(value.as_str().unwrap_or_default().to_owned()) {
                    cx.duplicate(at, value);
                }
            });
        });
    });
}
