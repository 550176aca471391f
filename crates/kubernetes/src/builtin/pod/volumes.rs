//! Volumes of pods, and the sources that persistent volumes share with them.
//!
//! `volumes` checks a pod's list and returns the names that containers can mount. `source` is
//! common to pods and persistent volumes; what only pods have is in `pod_source`.

use std::collections::{HashMap, HashSet};

use super::Owner;
use super::containers::{field_ref, resource_ref};
use crate::builtin::{Cx, absolute, each, entries, resources, storage, with};
use crate::document::{MapEntry, Node};
use crate::names::{self, NameProblem};
use crate::report::At;

/// The volumes that containers can mount.
#[derive(Default)]
pub(super) struct Volumes {
    /// Whether each can be used as a block device, by name.
    pub is_block: HashMap<String, bool>,
    /// The first names, to compare misspelt ones with.
    pub names: Vec<String>,
}

/// Maximum names compared with one misspelt name.
const COMPARED: usize = 500;

/// Checks volumes; returns those that can be mounted.
pub(super) fn volumes(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>, owner: Owner) -> Volumes {
    let mut known = Volumes::default();
    each(pod, at, "volumes", |volume, at| {
        let name = cx.text(volume, at, "name").map(str::to_owned);
        cx.form(volume, at, "name", names::dns_label);
        let sources: Vec<&MapEntry> =
            volume.entries().iter().filter(|entry| *entry.key != *"name" && !entry.node.is_null()).collect();
        if let Some(name) = name {
            if known.is_block.contains_key(&name) {
                let node = volume.get("name").expect("it has a name");
                cx.duplicate(&at.key("name", node), node);
            } else {
                // Volumes added for the claims of a stateful set have no source here.
                let is_block = match sources[..] {
                    [source] => ["persistentVolumeClaim", "ephemeral"].contains(&&*source.key),
                    _ => !volume.pos.is_known(),
                };
                if known.names.len() < COMPARED {
                    known.names.push(name.clone());
                }
                known.is_block.insert(name, is_block);
            }
        }
        if let [_, second, ..] = sources[..] {
            let here = at.key(&second.key, &second.node);
            cx.forbidden(&here, "a volume cannot have more than one source");
        }
        source(cx, volume, at);
        pod_source(cx, volume, at, owner);
    });
    known
}

/// Sources that only pods have.
fn pod_source(cx: &mut Cx<'_>, volume: &Node, at: &At<'_>, owner: Owner) {
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
    with(volume, at, "downwardAPI", |api, at| {
        mode(cx, api, at, "defaultMode");
        each(api, at, "items", |item, at| downward(cx, item, at));
    });
    with(volume, at, "emptyDir", |dir, at| {
        with(dir, at, "sizeLimit", |limit, at| resources::not_negative(cx, limit, at));
    });
    with(volume, at, "projected", |projected, at| {
        mode(cx, projected, at, "defaultMode");
        let mut paths = HashSet::new();
        each(projected, at, "sources", |source, at| projection(cx, source, at, &mut paths));
    });
    with(volume, at, "csi", |csi, at| {
        driver(cx, csi, at);
        with(csi, at, "nodePublishSecretRef", |secret, at| {
            cx.text(secret, at, "name");
            cx.form(secret, at, "name", names::dns_subdomain);
        });
    });
    with(volume, at, "azureFile", |file, at| {
        cx.filled(file, at, "secretName");
        cx.filled(file, at, "shareName");
    });
    with(volume, at, "image", |image, at| {
        if owner == Owner::Pod {
            cx.text(image, at, "reference");
        }
    });
    with(volume, at, "ephemeral", |ephemeral, at| match ephemeral.given("volumeClaimTemplate") {
        None => cx.required(at, "volumeClaimTemplate", ""),
        Some(template) => {
            let here = at.key("volumeClaimTemplate", template);
            with(template, &here, "metadata", |metadata, at| {
                crate::meta::common(metadata, at, cx.report);
                for key in ["name", "generateName", "namespace", "uid", "resourceVersion", "ownerReferences"] {
                    with(metadata, at, key, |node, at| {
                        if node.as_str() != Some("") {
                            cx.forbidden(at, "the template of a claim has no such field");
                        }
                    });
                }
            });
            with(template, &here, "spec", |spec, at| storage::claim(cx, spec, at));
        }
    });
}

/// The driver of a CSI volume.
pub(in crate::builtin) fn driver(cx: &mut Cx<'_>, csi: &Node, at: &At<'_>) {
    cx.filled(csi, at, "driver");
    cx.form(csi, at, "driver", |text| match text.len() {
        0..=63 => names::dns_subdomain_caseless(text),
        _ => Some("must have at most 63 characters"),
    });
}

/// Required texts of sources; the schema reports absent ones.
const NEEDED: [(&str, &[&str]); 13] = [
    ("awsElasticBlockStore", &["volumeID"]),
    ("cinder", &["volumeID"]),
    ("flexVolume", &["driver"]),
    ("gcePersistentDisk", &["pdName"]),
    ("glusterfs", &["endpoints", "path"]),
    ("hostPath", &["path"]),
    ("iscsi", &["targetPortal", "iqn"]),
    ("nfs", &["server", "path"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("rbd", &["image"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("vsphereVolume", &["volumePath"]),
];

/// Sources that pods and persistent volumes have in common.
pub(in crate::builtin) fn source(cx: &mut Cx<'_>, volume: &Node, at: &At<'_>) {
    for (source, keys) in NEEDED {
        with(volume, at, source, |of, at| {
            keys.iter().for_each(|key| {
                cx.filled(of, at, key);
            });
        });
    }
    for source in ["gcePersistentDisk", "awsElasticBlockStore"] {
        with(volume, at, source, |disk, at| cx.range(disk, at, "partition", 0, 255));
    }
    for source in ["rbd", "cephfs"] {
        with(volume, at, source, |of, at| {
            if let Some(list) = of.given("monitors").filter(|list| list.items().is_empty()) {
                cx.empty(&at.key("monitors", list), "the list of monitors");
            }
        });
    }
    with(volume, at, "hostPath", |path, at| {
        if let Some(node) = path.get("path").filter(|node| has_dots(node)) {
            cx.invalid(&at.key("path", node), node, "must not contain '..'");
        }
    });
    with(volume, at, "nfs", |nfs, at| cx.form(nfs, at, "path", absolute));
    with(volume, at, "iscsi", |iscsi, at| iscsi_source(cx, iscsi, at));
    with(volume, at, "fc", |fc, at| {
        let has = |key: &str| fc.given(key).is_some_and(|list| !list.items().is_empty());
        match (has("targetWWNs"), has("wwids")) {
            (false, false) => cx.required(at, "targetWWNs", "either targetWWNs or wwids"),
            (true, true) => cx.wrong(at, "a source has either targetWWNs or wwids"),
            (true, false) if fc.given("lun").is_none() => cx.required(at, "lun", "targetWWNs need it"),
            _ => {}
        }
        cx.range(fc, at, "lun", 0, 255);
    });
    with(volume, at, "flexVolume", |flex, at| {
        entries(flex, at, "options", |key, _, at| {
            let domain = format!(".{}", key.split('/').next().unwrap_or_default().to_ascii_lowercase());
            if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
                cx.forbidden(at, "the domains kubernetes.io and k8s.io are reserved");
            }
        });
    });
    with(volume, at, "azureDisk", |disk, at| {
        cx.filled(disk, at, "diskName");
        cx.filled(disk, at, "diskURI");
        with(disk, at, "diskURI", |node, at| {
            let uri = node.as_str().unwrap_or_default();
            match disk.text("kind").unwrap_or("Shared") {
                "Managed" if !uri.starts_with("/subscriptions/") => {
                    cx.invalid(at, node, "must begin with /subscriptions/ for managed disks");
                }
                "Dedicated" | "Shared" if !uri.starts_with("https://") => {
                    cx.invalid(at, node, "must begin with https:// for disks that are not managed");
                }
                _ => {}
            }
        });
    });
    with(volume, at, "storageos", |storage, at| {
        cx.text(storage, at, "volumeName");
        cx.form(storage, at, "volumeName", names::dns_label);
        cx.form(storage, at, "volumeNamespace", names::dns_label);
    });
    with(volume, at, "flocker", |flocker, at| {
        let has = |key: &str| flocker.text(key).is_some_and(|text| !text.is_empty());
        if has("datasetName") == has("datasetUUID") {
            cx.wrong_key(at, "a source has either datasetName or datasetUUID");
        }
        cx.form(flocker, at, "datasetName", |text| text.contains('/').then_some("must not contain '/'"));
    });
    with(volume, at, "quobyte", |quobyte, at| {
        cx.filled(quobyte, at, "registry");
        cx.filled(quobyte, at, "volume");
        cx.form(quobyte, at, "registry", |text| {
            let is_pair = |pair: &str| {
                pair.rsplit_once(':').is_some_and(|(host, _)| !host.contains(':') || host.starts_with('['))
            };
            (!text.split(',').all(is_pair)).then_some("must be pairs of host:port with ',' between them")
        });
    });
}

fn iscsi_source(cx: &mut Cx<'_>, iscsi: &Node, at: &At<'_>) {
    cx.form(iscsi, at, "iqn", initiator);
    cx.given_form(iscsi, at, "initiatorName", initiator);
    cx.range(iscsi, at, "lun", 0, 255);
    let flag = |key: &str| iscsi.given(key).and_then(Node::as_bool) == Some(true);
    if (flag("chapAuthDiscovery") || flag("chapAuthSession")) && iscsi.given("secretRef").is_none() {
        cx.required(at, "secretRef", "CHAP needs it");
    }
}

/// The name of an iSCSI node: `iqn.2001-04.com.example:name`, `eui.` or `naa.` with hexadecimal
/// digits.
fn initiator(text: &str) -> NameProblem {
    let is_hex = |digits: &str, lens: &[usize]| {
        lens.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_good = if let Some(rest) = text.strip_prefix("iqn.") {
        let bytes = rest.as_bytes();
        let is_date = bytes.len() > 8
            && bytes[..4].iter().all(u8::is_ascii_digit)
            && bytes[4] == b'-'
            && bytes[5..7].iter().all(u8::is_ascii_digit)
            && bytes[7] == b'.';
        let is_part = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.:_".contains(&byte))
        };
        is_date && is_part(&rest[8..])
    } else if let Some(rest) = text.strip_prefix("eui.") {
        is_hex(rest, &[16])
    } else if let Some(rest) = text.strip_prefix("naa.") {
        is_hex(rest, &[16, 32])
    } else {
        false
    };
    (!is_good).then_some("must be the name of an iSCSI node, such as iqn.2001-04.com.example:storage")
}

fn projection(cx: &mut Cx<'_>, source: &Node, at: &At<'_>, paths: &mut HashSet<String>) {
    // Others are dropped unless a feature gate enables them.
    const SOURCES: [&str; 4] = ["secret", "configMap", "downwardAPI", "serviceAccountToken"];
    let given: Vec<&str> = SOURCES.into_iter().filter(|key| source.given(key).is_some()).collect();
    if let [_, second, ..] = given[..] {
        let node = source.given(second).expect("it is given");
        cx.forbidden(&at.key(second, node), "an item cannot have more than one source");
    }
    let mut unique = |cx: &mut Cx<'_>, item: &Node, at: &At<'_>| {
        let path = item.text("path").filter(|path| !path.is_empty());
        if let Some(path) = path.filter(|path| !paths.insert((*path).to_owned())) {
            let node = item.get("path").expect("it is a text");
            cx.invalid(&at.key("path", node), node, "an earlier file of the volume has the same path");
            let _ = path;
        }
    };
    for key in ["secret", "configMap"] {
        with(source, at, key, |of, at| {
            cx.text(of, at, "name");
            items(cx, of, at);
            each(of, at, "items", |item, at| unique(cx, item, at));
        });
    }
    with(source, at, "downwardAPI", |api, at| {
        each(api, at, "items", |item, at| {
            downward(cx, item, at);
            unique(cx, item, at);
        });
    });
    with(source, at, "serviceAccountToken", |token, at| {
        with(token, at, "expirationSeconds", |node, at| match node.as_int() {
            Some(seconds) if seconds < 600 => cx.invalid(at, node, "must be at least 600: ten minutes"),
            Some(seconds) if seconds > 1 << 32 => cx.invalid(at, node, "must be at most 2^32"),
            _ => {}
        });
        cx.filled(token, at, "path");
        reserved(cx, token, at, "path");
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
        reserved(cx, item, at, "path");
        mode(cx, item, at, "mode");
    });
}

fn downward(cx: &mut Cx<'_>, item: &Node, at: &At<'_>) {
    cx.filled(item, at, "path");
    reserved(cx, item, at, "path");
    mode(cx, item, at, "mode");
    match (item.given("fieldRef"), item.given("resourceFieldRef")) {
        (Some(field), None) => {
            let here = at.key("fieldRef", field);
            const FIELDS: [&str; 5] =
                ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
            field_ref(cx, field, &here, &FIELDS);
        }
        (None, None) => cx.wrong_key(at, "an item needs fieldRef or resourceFieldRef"),
        (Some(_), Some(node)) => {
            cx.forbidden(&at.key("resourceFieldRef", node), "an item cannot have both fieldRef and resourceFieldRef");
        }
        (None, Some(field)) => {
            let here = at.key("resourceFieldRef", field);
            cx.text(field, &here, "containerName");
            resource_ref(cx, field, &here);
        }
    }
}

/// Checks a path of a file that must not begin with `..`, because the kubelet uses such names
/// itself.
fn reserved(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, key: &str) {
    relative(cx, of, at, key);
    with(of, at, key, |node, at| {
        if node.as_str().is_some_and(|path| path.starts_with("..")) && !has_dots(node) {
            cx.invalid(at, node, "must not begin with '..'");
        }
    });
}

/// A path inside of a volume.
pub(super) fn relative(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, key: &str) {
    with(of, at, key, |node, at| {
        if node.as_str().is_some_and(|path| path.starts_with('/')) {
            cx.invalid(at, node, "must be a relative path");
        } else if has_dots(node) {
            cx.invalid(at, node, "must not contain '..'");
        }
    });
}

pub(super) fn has_dots(node: &Node) -> bool {
    node.as_str().is_some_and(|path| path.split('/').any(|part| part == ".."))
}

fn mode(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, key: &str) {
    with(of, at, key, |node, at| {
        if node.as_int().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
            cx.invalid(at, node, "must be a mode between 0 and 0777; octal numbers begin with 0");
        }
    });
}
