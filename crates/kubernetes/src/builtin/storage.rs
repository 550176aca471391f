//! Volumes, claims and their classes.

use super::{Cx, absolute, each, pod, resources, with};
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
    with(spec, at, "volumeMode", |node, at| cx.one_of(node, at, &["Block", "Filesystem"]));
    for key in ["dataSource", "dataSourceRef"] {
        with(spec, at, key, |source, at| {
            cx.text(source, at, "name");
            cx.text(source, at, "kind");
            let group = source.text("apiGroup").unwrap_or_default();
            if group.is_empty() && source.text("kind").is_some_and(|kind| kind != "PersistentVolumeClaim") {
                cx.wrong(at, "the kind of the core group must be PersistentVolumeClaim");
            }
        });
    }
}

fn modes(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    if spec.given("accessModes").is_none_or(|modes| modes.items().is_empty()) {
        cx.required(at, "accessModes", "there must be one at least");
    }
    each(spec, at, "accessModes", |mode, at| cx.one_of(mode, at, &MODES));
    let modes = spec.given("accessModes").map(Node::items).unwrap_or_default();
    let is_single = modes.iter().any(|mode| mode.as_str() == Some("ReadWriteOncePod"));
    if is_single && modes.len() > 1 {
        let node = spec.get("accessModes").expect("it has items");
        cx.forbidden(&at.key("accessModes", node), "ReadWriteOncePod cannot be combined with other modes");
    }
}

/// Fields of a volume that are not where its data is.
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
    let sources: Vec<&crate::document::Entry> =
        spec.entries().iter().filter(|entry| !NOT_SOURCES.contains(&&*entry.key) && !entry.node.is_null()).collect();
    match sources[..] {
        [] => cx.wrong_key(at, "a volume needs a source, such as csi, nfs or hostPath"),
        [_] => {}
        [_, second, ..] => {
            cx.forbidden(&at.key(&second.key, &second.node), "a volume cannot have more than one source");
        }
    }
    with(spec, at, "nfs", |nfs, at| {
        cx.filled(nfs, at, "server");
        cx.form(nfs, at, "path", absolute);
    });
    with(spec, at, "hostPath", |path, at| {
        cx.filled(path, at, "path");
        if let Some(node) =
            path.get("path").filter(|node| node.as_str().is_some_and(|text| text.split('/').any(|part| part == "..")))
        {
            cx.invalid(&at.key("path", node), node, "must not contain '..'");
        }
        if path.text("path") == Some("/") && spec.text("persistentVolumeReclaimPolicy") == Some("Recycle") {
            cx.forbidden(at, "the volume \"/\" cannot be recycled");
        }
    });
    with(spec, at, "csi", |csi, at| {
        cx.filled(csi, at, "driver");
        cx.filled(csi, at, "volumeHandle");
    });
    if spec.given("local").is_some() && spec.given("nodeAffinity").is_none() {
        cx.required(at, "nodeAffinity", "a local volume has to say on which node it is");
    }
    with(spec, at, "nodeAffinity", |affinity, at| match affinity.given("required") {
        None => cx.required(at, "required", "the affinity of a volume needs node selector terms"),
        Some(selector) => pod::node_selector(cx, selector, &at.key("required", selector)),
    });
    cx.form(spec, at, "storageClassName", names::dns_subdomain);
    with(spec, at, "volumeMode", |node, at| cx.one_of(node, at, &["Block", "Filesystem"]));
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
    with(root, at, "volumeBindingMode", |node, at| cx.one_of(node, at, &["Immediate", "WaitForFirstConsumer"]));
}
