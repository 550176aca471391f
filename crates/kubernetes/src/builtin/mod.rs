//! Checks that the API server implements in code, and that no published schema contains.
//!
//! One file per family of kinds. The checks run after decoding, on objects whose types are right,
//! and mirror the server's checks for new objects; positions are those of the fields that authors
//! have to change.

mod admission;
mod autoscaling;
mod cluster;
mod config;
mod cron;
mod definition;
mod devices;
mod job;
mod network;
mod pod;
mod quota;
mod rbac;
mod resources;
mod storage;
mod workload;

use ytterby_diag::Id;

use crate::catalog::Catalog;
use crate::document::{Node, Value};
use crate::facts::{KnownKind, Version};
use crate::meta::{self, NameRule};
use crate::names::{self, NameProblem};
use crate::report::{At, CheckFindings, FindingText};

/// The form of a kind's names.
pub(crate) fn name_rule(known: &KnownKind, version: Version) -> NameRule {
    let is_question = known.group.starts_with("authentication") || known.group.starts_with("authorization");
    match known.kind {
        _ if is_question => NameRule::None,
        "Binding" | "Eviction" | "TokenRequest" | "Scale" | "ComponentStatus" => NameRule::None,
        "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding" => NameRule::Form(names::path_segment),
        "CertificateSigningRequest" | "ClusterTrustBundle" | "APIService" | "IPAddress" => {
            NameRule::Form(names::path_segment)
        }
        // The server generates a name for ranges without one, and checks the names of budgets only
        // as path segments.
        "LimitRange" => NameRule::Optional(names::dns_subdomain),
        "PodDisruptionBudget" | "Event" => NameRule::Form(names::path_segment),
        "Namespace" => NameRule::Form(names::dns_label),
        "Service" => NameRule::Form(service_name(version)),
        "CronJob" => NameRule::Form(cron_job_name),
        "StatefulSet" if version.minor() >= 27 => NameRule::Form(names::dns_label),
        // The name must consist of two others, which has its own message.
        "CustomResourceDefinition" => NameRule::Form(names::path_segment),
        _ => NameRule::Form(names::dns_subdomain),
    }
}

/// Whether the finalizers of a kind need domains: those that core code checks.
pub(crate) fn has_core_metadata(known: &KnownKind) -> bool {
    const OTHERS: [&str; 8] = [
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
        "policy",
    ];
    !OTHERS.contains(&known.group)
}

/// The names of services may begin with a digit since 1.36.
pub(super) fn service_name(version: Version) -> fn(&str) -> NameProblem {
    if version.minor() >= 36 { names::dns_label } else { names::dns1035_label }
}

/// The server appends eleven characters to create names of jobs.
fn cron_job_name(text: &str) -> NameProblem {
    match text.len() {
        0..=52 => names::dns_subdomain(text),
        _ => Some("must have at most 52 characters, because those of its jobs are longer by 11"),
    }
}

/// Checks an object.
pub(crate) fn check(root: &Node, known: &KnownKind, catalog: &Catalog, at: &At<'_>, report: &mut CheckFindings) {
    let mut cx = Cx { report, version: catalog.options().version };
    let cx = &mut cx;
    let empty = Node::new(Value::Map(Vec::new()));
    let (spec, spec_at) = match root.given("spec") {
        Some(spec) => (spec, at.key("spec", spec)),
        None => (&empty, at.missing("spec")),
    };
    match (known.group, known.kind) {
        ("apps", "ControllerRevision") => cluster::revision(cx, root, at),
        ("", "Pod") => pod::spec(cx, spec, &spec_at, pod::Owner::Pod),
        ("", "PodTemplate") => each_template(cx, root, at),
        ("batch", "Job") => {
            job::name(cx, root, spec, at);
            job::job(cx, spec, &spec_at);
        }
        ("apps", _) | ("batch", _) | ("", "ReplicationController") => workload::check(cx, known.kind, spec, &spec_at),
        ("", "Service") => network::service(cx, spec, &spec_at),
        ("", "Endpoints") => network::endpoints(cx, root, at),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(cx, root, at),
        ("networking.k8s.io", "Ingress") => network::ingress(cx, spec, &spec_at),
        ("networking.k8s.io", "IngressClass") => network::ingress_class(cx, spec, &spec_at),
        ("networking.k8s.io", "NetworkPolicy") => network::policy(cx, spec, &spec_at),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaling::autoscaler(cx, known.version, spec, &spec_at),
        ("policy", "PodDisruptionBudget") => autoscaling::budget(cx, spec, &spec_at),
        ("", "PersistentVolume") => storage::volume(cx, spec, &spec_at),
        ("", "PersistentVolumeClaim") => storage::claim(cx, spec, &spec_at),
        ("storage.k8s.io", "StorageClass") => storage::class(cx, root, at),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition::check(cx, root, spec, at, &spec_at),
        ("admissionregistration.k8s.io", _) => admission::check(cx, known.kind, root, spec, at, &spec_at),
        ("resource.k8s.io", _) => devices::check(cx, known.kind, spec, &spec_at),
        ("storage.k8s.io", _) => storage::other(cx, known.kind, root, spec, at, &spec_at),
        ("flowcontrol.apiserver.k8s.io", _) => cluster::flow_control(cx, known.kind, spec, &spec_at),
        ("certificates.k8s.io", "CertificateSigningRequest") => cluster::signing_request(cx, spec, &spec_at),
        ("networking.k8s.io", "ServiceCIDR") => cluster::service_cidr(cx, spec, &spec_at),
        ("networking.k8s.io", "IPAddress") => cluster::ip_address(cx, root, spec, at, &spec_at),
        ("" | "events.k8s.io", "Event") => cluster::event(cx, root, at),
        ("authorization.k8s.io", kind) => cluster::access_review(cx, kind, spec, &spec_at),
        _ => config::check(cx, known, root, spec, at, &spec_at),
    }
}

/// Whether a label selector matches labels.
pub(crate) fn selects(selector: &Node, labels: Option<&Node>) -> bool {
    workload::matches(selector, labels)
}

fn each_template(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    match root.given("template") {
        Some(template) => pod::template(cx, template, &at.key("template", template), pod::Owner::Template),
        None => {
            let empty = Node::new(Value::Map(Vec::new()));
            pod::template(cx, &empty, &at.missing("template"), pod::Owner::Template);
        }
    }
}

/// The context of checks.
pub(super) struct Cx<'a> {
    pub report: &'a mut CheckFindings,
    pub version: Version,
}

impl Cx<'_> {
    /// Reports a value that is not allowed.
    pub fn invalid(&mut self, at: &At<'_>, node: &Node, message: &str) {
        self.report.error(Id::KUBERNETES_INVALID, at, || FindingText::of_value(message.to_owned(), node));
    }

    /// Reports a problem without a value.
    pub fn wrong(&mut self, at: &At<'_>, message: &str) {
        self.report.error(Id::KUBERNETES_INVALID, at, || FindingText::new(message.to_owned()));
    }

    /// Reports a field that is not allowed here.
    pub fn forbidden(&mut self, at: &At<'_>, message: &str) {
        self.report.key_error(Id::KUBERNETES_INVALID, at, || FindingText::new(message.to_owned()));
    }

    /// Reports a missing field.
    pub fn required(&mut self, at: &At<'_>, key: &str, why: &str) {
        self.report.key_error(Id::KUBERNETES_REQUIRED, &at.missing(key), || {
            let finding = FindingText::new(format!("the required field \"{key}\" is missing"));
            if why.is_empty() { finding } else { finding.note(why.to_owned()) }
        });
    }

    /// Reports an empty field.
    pub fn empty(&mut self, at: &At<'_>, what: &str) {
        self.report.error(Id::KUBERNETES_REQUIRED, at, || FindingText::new(format!("{what} must not be empty")));
    }

    /// Reports a value that an earlier item of the list has.
    pub fn duplicate(&mut self, at: &At<'_>, node: &Node) {
        self.report.error(Id::KUBERNETES_DUPLICATE_ITEM, at, || {
            FindingText::of_value("an earlier item of the list has the same value", node)
        });
    }

    /// Reports a reference to something that does not exist.
    pub fn not_found(&mut self, at: &At<'_>, node: &Node, message: &str, known: &[&str]) {
        self.report.error(Id::KUBERNETES_REFERENCE, at, || {
            let finding = FindingText::of_value(message.to_owned(), node);
            let near = node.as_str().and_then(|text| ytterby_text::spelling::nearest(text, known.iter().copied()));
            match near {
                Some(near) => finding.help(format!("did you mean \"{near}\"?")),
                None => finding,
            }
        });
    }

    /// Checks that a text is one of several.
    pub fn one_of(&mut self, node: &Node, at: &At<'_>, allowed: &[&str]) {
        if let Some(text) = node.as_str().filter(|text| !text.is_empty() && !allowed.contains(text)) {
            let values: Vec<Value> = allowed.iter().map(|value| Value::Str((*value).into())).collect();
            let _ = text;
            self.report.error(Id::KUBERNETES_ENUM, at, || crate::native::one_of(&values, node));
        }
    }

    /// Checks that a text is one of several; an empty text is not allowed.
    pub fn chosen(&mut self, node: &Node, at: &At<'_>, allowed: &[&str]) {
        match node.as_str() {
            Some("") => {
                let values: Vec<Value> = allowed.iter().map(|value| Value::Str((*value).into())).collect();
                self.report.error(Id::KUBERNETES_ENUM, at, || crate::native::one_of(&values, node));
            }
            _ => self.one_of(node, at, allowed),
        }
    }

    /// Checks the form of an item of a list of texts; null is an empty text.
    pub fn item_form(&mut self, node: &Node, at: &At<'_>, form: fn(&str) -> NameProblem) {
        if let Some(fault) = form(node.as_str().unwrap_or_default()) {
            self.invalid(at, node, fault);
        }
    }

    /// Checks the form of an optional text, even if it is empty.
    pub fn given_form(&mut self, of: &Node, at: &At<'_>, key: &str, form: fn(&str) -> NameProblem) {
        with(of, at, key, |node, at| self.item_form(node, at, form));
    }

    /// Checks the form of an optional text, unless it is empty.
    pub fn form(&mut self, of: &Node, at: &At<'_>, key: &str, form: fn(&str) -> NameProblem) {
        with(of, at, key, |node, at| self.form_of(node, at, form));
    }

    /// Checks the form of a text.
    pub fn form_of(&mut self, node: &Node, at: &At<'_>, form: fn(&str) -> NameProblem) {
        if let Some(fault) = node.as_str().filter(|text| !text.is_empty()).and_then(form) {
            self.invalid(at, node, fault);
        }
    }

    /// Checks a required, non-empty text.
    pub fn text<'n>(&mut self, of: &'n Node, at: &At<'_>, key: &str) -> Option<&'n str> {
        match of.given(key) {
            None => self.required(at, key, ""),
            Some(node) if node.as_str() == Some("") => self.empty(&at.key(key, node), &format!("\"{key}\"")),
            Some(node) => return node.as_str(),
        }
        None
    }

    /// Checks that a text is not empty; for fields whose absence the schema reports.
    pub fn filled<'n>(&mut self, of: &'n Node, at: &At<'_>, key: &str) -> Option<&'n str> {
        let node = of.given(key)?;
        if node.as_str() == Some("") {
            self.empty(&at.key(key, node), &format!("\"{key}\""));
            return None;
        }
        node.as_str()
    }

    /// Checks that a number is within bounds.
    pub fn range(&mut self, of: &Node, at: &At<'_>, key: &str, least: i64, most: i64) {
        with(of, at, key, |node, at| {
            if let Some(value) = node.as_int().filter(|value| !(least..=most).contains(value)) {
                let _ = value;
                let message = match (least, most) {
                    (0, i64::MAX) => "must not be negative".to_owned(),
                    (least, i64::MAX) => format!("must be at least {least}"),
                    _ => format!("must be between {least} and {most}"),
                };
                self.invalid(at, node, &message);
            }
        });
    }

    /// Checks that numbers are not negative.
    pub fn not_negative(&mut self, of: &Node, at: &At<'_>, keys: &[&str]) {
        keys.iter().for_each(|key| self.range(of, at, key, 0, i64::MAX));
    }

    /// Checks that exactly one of several fields is present; returns those present.
    pub fn exactly_one(&mut self, of: &Node, at: &At<'_>, keys: &[&'static str], what: &str) -> Vec<&'static str> {
        let given: Vec<&'static str> = keys.iter().copied().filter(|key| of.given(key).is_some()).collect();
        match given[..] {
            [] => self.wrong_key(at, &format!("{what} needs one of {}", keys.join(", "))),
            [_] => {}
            [_, second, ..] => {
                let node = of.given(second).expect("it is given");
                self.forbidden(
                    &at.key(second, node),
                    &format!("{what} cannot have more than one of {}", keys.join(", ")),
                );
            }
        }
        given
    }

    /// Reports something missing, at the key of its parent.
    pub fn wrong_key(&mut self, at: &At<'_>, message: &str) {
        self.report.key_error(Id::KUBERNETES_REQUIRED, at, || FindingText::new(message.to_owned()));
    }

    /// Checks a label selector.
    pub fn selector(&mut self, selector: &Node, at: &At<'_>) {
        with(selector, at, "matchLabels", |labels, at| meta::check_labels(labels, at, self.report));
        each(selector, at, "matchExpressions", |expression, at| {
            self.given_form(expression, at, "key", names::qualified_name);
            let values = expression.given("values").map(Node::items).unwrap_or_default();
            match expression.text("operator") {
                Some("In" | "NotIn") if values.is_empty() => {
                    self.required(at, "values", "the operators In and NotIn need values");
                }
                Some("Exists" | "DoesNotExist") if !values.is_empty() => {
                    let node = expression.given("values").expect("it has items");
                    self.forbidden(&at.key("values", node), "the operators Exists and DoesNotExist take no values");
                }
                Some(_) => {
                    let node = expression.get("operator").expect("it is a text");
                    self.chosen(node, &at.key("operator", node), &["In", "NotIn", "Exists", "DoesNotExist"]);
                }
                None => {}
            }
            each(expression, at, "values", |value, at| self.form_of(value, at, names::label_value));
        });
    }

    /// Checks `5` or `25%`: not negative; if `bounded`, a percentage is at most 100.
    pub fn count_or_percent(&mut self, of: &Node, at: &At<'_>, key: &str, bounded: bool) {
        with(of, at, key, |node, at| match (node.as_int(), node.as_str()) {
            (Some(count), _) if count < 0 => self.invalid(at, node, "must not be negative"),
            (None, Some(text)) => match names::percent(text) {
                None => self.invalid(at, node, "must be a number, or a percentage such as \"25%\""),
                Some(percent) if bounded && percent > 100 => self.invalid(at, node, "must not be above 100%"),
                Some(_) => {}
            },
            _ => {}
        });
    }

    /// Checks the number or the name of a port.
    pub fn port(&mut self, of: &Node, at: &At<'_>, key: &str) {
        with(of, at, key, |node, at| match (node.as_int(), node.as_str()) {
            (Some(port), _) if !(1..=65535).contains(&port) => {
                self.invalid(at, node, "must be between 1 and 65535");
            }
            (None, Some(text)) => {
                if let Some(fault) = names::port_name(text) {
                    self.invalid(at, node, &format!("the name of a port {fault}"));
                }
            }
            _ => {}
        });
    }
}

/// Calls `look` for a field, if present.
pub(super) fn with(of: &Node, at: &At<'_>, key: &str, look: impl FnOnce(&Node, &At<'_>)) {
    if let Some(node) = of.given(key) {
        look(node, &at.key(key, node));
    }
}

/// Calls `look` for each item of a list, if present; null is an object without fields.
pub(super) fn each<'n>(of: &'n Node, at: &At<'_>, key: &str, mut look: impl FnMut(&'n Node, &At<'_>)) {
    if let Some(node) = of.given(key) {
        let here = at.key(key, node);
        for (index, item) in node.items().iter().enumerate() {
            look(item, &here.index(index, item));
        }
    }
}

/// Calls `look` for each entry of a map, if present.
pub(super) fn entries(of: &Node, at: &At<'_>, key: &str, mut look: impl FnMut(&str, &Node, &At<'_>)) {
    if let Some(node) = of.given(key) {
        let here = at.key(key, node);
        for entry in node.entries() {
            look(&entry.key, &entry.node, &here.key(&entry.key, &entry.node));
        }
    }
}

/// An IP address.
pub(super) fn ip_form(text: &str) -> NameProblem {
    names::ip(text).is_none().then_some("must be an IP address, such as 10.9.8.7 or 2001:db8::ffff")
}

/// An absolute path.
pub(super) fn absolute(text: &str) -> NameProblem {
    (!text.starts_with('/')).then_some("must be an absolute path: it has to begin with '/'")
}
