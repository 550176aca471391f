//! `metadata`: names, namespaces, labels, annotations, finalizers, owners.
//!
//! `check` is for objects, `common` also for what has metadata without being one: templates of
//! pods, embedded resources. The form of a name depends on the kind and is given as a `NameRule`.

use ytterby_diag::Id;

use crate::document::Node;
use crate::names::{self, NameProblem};
use crate::report::{At, CheckFindings, FindingText};

/// Maximum bytes of all annotations of an object.
const MAX_ANNOTATIONS: usize = 256 << 10;

/// The requirements on an object's name.
#[derive(Clone, Copy)]
pub(crate) enum NameRule {
    /// A required name of this form.
    Form(fn(&str) -> NameProblem),
    /// An optional name of this form.
    Optional(fn(&str) -> NameProblem),
    /// No name, for reviews.
    None,
}

/// The kind of object that has the metadata.
#[derive(Clone, Copy)]
pub(crate) struct ObjectScope {
    pub namespaced: bool,
    /// Whether it is a built-in kind whose finalizers need domains.
    pub core: bool,
}

/// Checks the metadata of an object.
pub(crate) fn check(root: &Node, at: &At<'_>, rule: NameRule, of: ObjectScope, report: &mut CheckFindings) {
    let ObjectScope { namespaced, core } = of;
    let empty = Node::new(crate::document::Value::Map(Vec::new()));
    let (meta, here) = match root.given("metadata") {
        Some(meta) => (meta, at.key("metadata", meta)),
        None => (&empty, at.missing("metadata")),
    };
    name(meta, &here, rule, report);
    if let NameRule::Form(_) | NameRule::Optional(_) = rule
        && let Some(finalizers) = meta.given("finalizers").filter(|_| core)
    {
        let at = here.key("finalizers", finalizers);
        for (index, item) in finalizers.items().iter().enumerate() {
            if let Some(fault) = item.as_str().and_then(core_finalizer) {
                let place = at.index(index, item);
                report.error(Id::KUBERNETES_METADATA, &place, || {
                    FindingText::of_value(format!("a finalizer {fault}"), item)
                });
            }
        }
    }
    // For cluster-scoped objects any namespace is accepted and dropped.
    if namespaced
        && let Some(namespace) = meta.given("namespace")
        && let Some(text) = namespace.as_str().filter(|text| !text.is_empty())
        && let Some(fault) = names::dns_label(text)
    {
        let place = here.key("namespace", namespace);
        report.error(Id::KUBERNETES_METADATA, &place, || {
            FindingText::of_value(format!("the namespace {fault}"), namespace)
        });
    }
    // The server sets the generation itself if an object has a spec.
    if core
        && root.get("spec").is_none()
        && let Some(generation) = meta.given("generation").filter(|node| node.as_int().is_some_and(|value| value < 0))
    {
        let place = here.key("generation", generation);
        report.error(Id::KUBERNETES_METADATA, &place, || FindingText::of_value("must not be negative", generation));
    }
    common(meta, &here, report);
    owners(meta, &here, report);
}

/// Checks that also apply to the metadata of pod templates and embedded resources.
pub(crate) fn common(meta: &Node, at: &At<'_>, report: &mut CheckFindings) {
    if let Some(labels) = meta.given("labels") {
        check_labels(labels, &at.key("labels", labels), report);
    }
    if let Some(annotations) = meta.given("annotations") {
        let here = at.key("annotations", annotations);
        let mut total = 0;
        for entry in annotations.entries() {
            total += entry.key.len() + entry.node.as_str().map_or(0, str::len);
            if let Some(fault) = names::qualified_name(&entry.key.to_ascii_lowercase()) {
                report.key_error(Id::KUBERNETES_METADATA, &here.key(&entry.key, &entry.node), || {
                    FindingText::new(format!("the key of an annotation {fault}; found "))
                        .with_value(entry.key.to_string())
                });
            }
        }
        if total > MAX_ANNOTATIONS {
            report.error(Id::KUBERNETES_METADATA, &here, || {
                FindingText::new(format!("annotations have at most {MAX_ANNOTATIONS} bytes; found {total}"))
            });
        }
    }
    if let Some(finalizers) = meta.given("finalizers") {
        let here = at.key("finalizers", finalizers);
        for (index, item) in finalizers.items().iter().enumerate() {
            if let Some(fault) = names::qualified_name(item.as_str().unwrap_or_default()) {
                let place = here.index(index, item);
                report.error(Id::KUBERNETES_METADATA, &place, || {
                    FindingText::of_value(format!("a finalizer {fault}"), item)
                });
            }
        }
    }
}

/// Most built-in kinds allow only three finalizers without a domain. Custom kinds allow any.
fn core_finalizer(text: &str) -> NameProblem {
    let is_known = text.contains('/') || ["orphan", "foregroundDeletion", "kubernetes"].contains(&text);
    let is_name = names::qualified_name(text).is_none();
    (is_name && !is_known).then_some("must have a domain before its name, such as example.com/cleanup")
}

/// Checks a map of labels.
pub(crate) fn check_labels(labels: &Node, at: &At<'_>, report: &mut CheckFindings) {
    for entry in labels.entries() {
        let here = at.key(&entry.key, &entry.node);
        if let Some(fault) = names::qualified_name(&entry.key) {
            report.key_error(Id::KUBERNETES_METADATA, &here, || {
                FindingText::new(format!("the key of a label {fault}; found ")).with_value(entry.key.to_string())
            });
        }
        if let Some(fault) = entry.node.as_str().and_then(names::label_value) {
            report.error(Id::KUBERNETES_METADATA, &here, || {
                FindingText::of_value(format!("the value of a label {fault}"), &entry.node)
            });
        }
    }
}

fn name(meta: &Node, at: &At<'_>, rule: NameRule, report: &mut CheckFindings) {
    let (form, is_needed) = match rule {
        NameRule::Form(form) => (form, true),
        NameRule::Optional(form) => (form, false),
        NameRule::None => return,
    };
    let text = |key: &str| meta.given(key).filter(|node| node.as_str().is_none_or(|text| !text.is_empty()));
    if let Some(node) = text("generateName") {
        // The server appends letters and digits, so a trailing dash is fine.
        let masked = node.as_str().map(|text| text.strip_suffix('-').map_or(text.to_owned(), |t| format!("{t}a")));
        if let Some(fault) = masked.as_deref().and_then(form) {
            let here = at.key("generateName", node);
            report.error(Id::KUBERNETES_METADATA, &here, || FindingText::of_value(format!("the name {fault}"), node));
        }
    }
    match (text("name"), text("generateName")) {
        (Some(node), _) => {
            if let Some(fault) = node.as_str().and_then(form) {
                let here = at.key("name", node);
                report.error(Id::KUBERNETES_METADATA, &here, || {
                    let finding = FindingText::of_value(format!("the name {fault}"), node);
                    let lower = node.as_str().unwrap_or_default().to_ascii_lowercase().replace(['_', ' '], "-");
                    if form(&lower).is_none() { finding.help(format!("write \"{lower}\"")) } else { finding }
                });
            }
        }
        (None, Some(_)) => {}
        (None, None) => {
            // A name of another type is already reported.
            if is_needed && meta.given("name").is_none_or(|node| node.as_str().is_some()) {
                report.key_error(Id::KUBERNETES_REQUIRED, &at.missing("name"), || {
                    FindingText::new("the object has no name").help("give `metadata.name` or `metadata.generateName`")
                });
            }
        }
    }
}

fn owners(meta: &Node, at: &At<'_>, report: &mut CheckFindings) {
    let Some(owners) = meta.given("ownerReferences") else { return };
    let here = at.key("ownerReferences", owners);
    let mut controllers: Vec<&Node> = Vec::new();
    for (index, owner) in owners.items().iter().enumerate() {
        let place = here.index(index, owner);
        for key in ["apiVersion", "kind", "name", "uid"] {
            // The schema reports absent ones.
            if let Some(node) = owner.given(key).filter(|node| node.as_str() == Some("")) {
                report.error(Id::KUBERNETES_METADATA, &place.key(key, node), || {
                    FindingText::new(format!("\"{key}\" of an owner must not be empty"))
                });
            }
        }
        if owner.text("kind") == Some("Event") && owner.text("apiVersion").is_some_and(|v| v.ends_with("v1")) {
            report.error(Id::KUBERNETES_METADATA, &place, || FindingText::new("an Event cannot be an owner"));
        }
        // The server drops duplicate owners.
        let is_new = || controllers.iter().all(|other| !other.value.same(&owner.value));
        if owner.get("controller").and_then(Node::as_bool) == Some(true) && is_new() {
            controllers.push(owner);
        }
    }
    if controllers.len() > 1 {
        report.error(Id::KUBERNETES_METADATA, &here, || FindingText::new("only one owner can have `controller: true`"));
    }
}
