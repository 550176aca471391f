//! The catalog of kinds and policies, and the check of documents against it.
//!
//! A [`Catalog`] contains the built-in kinds of one version, custom kinds and policies. It is built
//! once, then immutable and usable from many threads. A document goes through the stages of the API
//! server: parsing, types and unknown fields, defaults, values, rules, policies; unlike the server,
//! independent findings are reported all at once.

use std::collections::HashMap;
use std::sync::Arc;

use ytterby_diag::{Diagnostic, Id, Part, Path, Severity, Text, limits};
use ytterby_text::spelling;

use crate::builtin;
use crate::crd::{CompiledKind, CustomKind};
use crate::document::{FaultKind, Manifest, Node, Value};
use crate::facts::{self, Builtin, Gvk, KnownKind, Version};
use crate::meta::{self, NameRule};
use crate::native::{Decoder, Depth};
use crate::policy::Policy;
use crate::report::{At, CheckFindings, FindingText};
use crate::structural::{self, Validator};

/// How to treat unknown kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnknownKinds {
    /// Report nothing.
    Ignore,
    /// Warn.
    #[default]
    Warn,
    /// Report an error.
    Error,
}

/// How to check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The version of the API server.
    pub version: Version,
    /// How to treat unknown kinds.
    pub unknown: UnknownKinds,
    /// Kinds that are not checked: `Secret`, `apps/v1/Deployment`.
    pub skip: Vec<String>,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions { version: Version::NEWEST, unknown: UnknownKinds::Warn, skip: Vec::new() }
    }
}

/// Kinds and policies for checking documents.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(crate) options: CheckOptions,
    pub(crate) builtin: Arc<Builtin>,
    pub(crate) custom: HashMap<Gvk, Arc<CustomKind>>,
    pub(crate) policies: Vec<Arc<Policy>>,
}

/// The result for one resource.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// `apiVersion` as written, or empty.
    pub api_version: String,
    /// `kind` as written, or empty.
    pub kind: String,
    /// The name or `generateName`, or empty.
    pub name: String,
    /// The namespace, or empty.
    pub namespace: String,
    /// Whether it was checked.
    pub state: CheckState,
    /// Errors and warnings.
    pub findings: Vec<Diagnostic>,
}

/// Whether a resource was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckState {
    /// It was checked.
    Checked,
    /// Its kind is skipped or unknown.
    Skipped,
    /// It is empty.
    Empty,
}

impl Checked {
    /// Whether there is no error.
    pub fn is_valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }
}

impl Catalog {
    /// A catalog of built-in kinds.
    pub fn new(options: CheckOptions) -> Catalog {
        let builtin = facts::builtin(options.version);
        Catalog { options, builtin, custom: HashMap::new(), policies: Vec::new() }
    }

    /// Its options.
    pub fn options(&self) -> &CheckOptions {
        &self.options
    }

    /// Whether a kind is known.
    pub fn knows(&self, api_version: &str, kind: &str) -> bool {
        let gvk = Gvk::of(api_version, kind);
        self.custom.contains_key(&gvk) || self.builtin.kind(&gvk).is_some()
    }

    /// Whether objects of a kind have a namespace; `None` if the kind is unknown.
    pub fn is_namespaced(&self, api_version: &str, kind: &str) -> Option<bool> {
        let gvk = Gvk::of(api_version, kind);
        let custom = self.custom.get(&gvk).map(|custom| custom.namespaced);
        custom.or_else(|| self.builtin.kind(&gvk).map(|(known, _)| known.namespaced))
    }

    /// The name of a kind's resource: `deployments`.
    pub(crate) fn resource_name(&self, gvk: &Gvk) -> Option<String> {
        if let Some(custom) = self.custom.get(gvk) {
            return Some(custom.plural.clone());
        }
        self.builtin.kind(gvk).map(|(known, _)| known.plural.to_owned())
    }

    /// Checks a document; a list of resources has a result for each.
    pub fn check(&self, document: &Manifest) -> Vec<Checked> {
        let mut found = Vec::new();
        let mut report = CheckFindings::new();
        self.faults(document, &mut report);
        self.resource(&document.root, &At::root(document.root.pos), report, &mut found, 0, None);
        found
    }

    /// Whether a document has no error. Faster than [`Catalog::check`], because nothing is
    /// formatted.
    pub fn is_valid(&self, document: &Manifest) -> bool {
        if !document.faults.is_empty() {
            return false;
        }
        let root = &document.root;
        let (Some(api_version), Some(kind)) = (root.text("apiVersion"), root.text("kind")) else {
            return self.check(document).iter().all(Checked::is_valid);
        };
        let gvk = Gvk::of(api_version, kind);
        let mut report = CheckFindings::quick();
        let at = At::root(root.pos);
        if is_list(kind, root) || self.is_skipped(&gvk) {
            return self.check(document).iter().all(Checked::is_valid);
        }
        self.known(root, &gvk, &at, &mut report) != CheckState::Checked && self.options.unknown == UnknownKinds::Error
            || report.errors == 0
    }

    fn faults(&self, document: &Manifest, report: &mut CheckFindings) {
        for fault in &document.faults {
            let (id, part, message) = match fault.kind {
                FaultKind::Duplicate => {
                    (Id::KUBERNETES_DUPLICATE_FIELD, Part::Key, "the field is given twice in one map".to_owned())
                }
                FaultKind::NotFinite => {
                    (Id::KUBERNETES_TYPE, Part::Value, "JSON has no infinite numbers and no NaN".to_owned())
                }
                FaultKind::Key => (Id::KUBERNETES_TYPE, Part::Key, "a key cannot be null".to_owned()),
                FaultKind::Depth => {
                    let most = crate::document::MAX_DEPTH;
                    (Id::KUBERNETES_LIMIT, Part::Key, format!("the document is nested deeper than {most} levels"))
                }
            };
            report.errors += 1;
            let diagnostic = Diagnostic::error(id, message).at(fault.pos, part).path(fault.path.clone());
            report.findings.push(diagnostic);
        }
    }

    /// Checks one resource, or the items of a list of them.
    fn resource(
        &self,
        root: &Node,
        at: &At<'_>,
        mut report: CheckFindings,
        found: &mut Vec<Checked>,
        depth: usize,
        of_list: Option<&Gvk>,
    ) {
        let _working = limits::working_at(root.pos);
        let text = |key: &str| root.text(key).filter(|text| !text.is_empty());
        let api_version = text("apiVersion").or(of_list.map(|gvk| gvk.version.as_str())).map(str::to_owned);
        let kind = text("kind").or(of_list.map(|gvk| gvk.kind.as_str())).map(str::to_owned);
        let meta = |key: &str| root.at(&["metadata", key]).and_then(Node::as_str).unwrap_or_default().to_owned();
        let name = Some(meta("name")).filter(|name| !name.is_empty()).unwrap_or_else(|| meta("generateName"));
        let mut checked = Checked {
            api_version: api_version.clone().unwrap_or_default(),
            kind: kind.clone().unwrap_or_default(),
            name,
            namespace: meta("namespace"),
            state: CheckState::Checked,
            findings: Vec::new(),
        };
        match (api_version, kind) {
            (Some(api_version), Some(kind)) => {
                let gvk = Gvk::of(&api_version, &kind);
                if self.is_skipped(&gvk) {
                    checked.state = CheckState::Skipped;
                    report.findings.clear();
                } else if is_list(&kind, root) && depth < 10 {
                    self.items(root, &gvk, at, found, depth);
                    checked.findings = report.findings;
                    // A list itself is only reported if it has problems.
                    if !checked.findings.is_empty() || found.is_empty() {
                        found.push(named(checked));
                    }
                    return;
                } else {
                    checked.state = self.known(root, &gvk, at, &mut report);
                }
            }
            _ => self.no_kind(root, at, &mut report),
        }
        checked.findings = without_echoes(report.findings);
        found.push(named(checked));
    }

    fn items(&self, root: &Node, list: &Gvk, at: &At<'_>, found: &mut Vec<Checked>, depth: usize) {
        let Some(items) = root.given("items") else { return };
        let here = at.key("items", items);
        // Items of a typed list may omit their type.
        let kind = list.kind.strip_suffix("List").filter(|kind| !kind.is_empty());
        let of_list = kind.map(|kind| Gvk { group: String::new(), version: list.api_version(), kind: kind.to_owned() });
        for (index, item) in items.items().iter().enumerate() {
            self.resource(item, &here.index(index, item), CheckFindings::new(), found, depth + 1, of_list.as_ref());
        }
    }

    fn no_kind(&self, root: &Node, at: &At<'_>, report: &mut CheckFindings) {
        if self.options.unknown == UnknownKinds::Ignore && matches!(root.value, Value::Map(_)) {
            return;
        }
        let finding = || match &root.value {
            Value::Map(_) => {
                let missing: Vec<&str> =
                    ["apiVersion", "kind"].into_iter().filter(|key| root.text(key).is_none_or(str::is_empty)).collect();
                FindingText::new(format!(
                    "the document has no {}: it is no Kubernetes object",
                    missing.join(" and no ")
                ))
            }
            value => {
                FindingText::new(format!("the document is no Kubernetes object, but of type {}", value.type_name()))
            }
        };
        match self.options.unknown {
            UnknownKinds::Error => report.key_error(Id::KUBERNETES_NO_KIND, at, finding),
            _ => report.warning(Id::KUBERNETES_NO_KIND, at, finding),
        }
    }

    fn is_skipped(&self, gvk: &Gvk) -> bool {
        if self.options.skip.is_empty() {
            return false;
        }
        let full = format!("{}/{}", gvk.api_version(), gvk.kind);
        self.options.skip.iter().any(|skip| *skip == gvk.kind || *skip == full)
    }

    /// Checks an object with a type.
    fn known(&self, root: &Node, gvk: &Gvk, at: &At<'_>, report: &mut CheckFindings) -> CheckState {
        let version = self.options.version;
        // A given definition describes the cluster better than the built-in facts.
        if let Some(custom) = self.custom.get(gvk) {
            self.custom_kind(root, custom, at, report);
        } else if let Some((known, schema)) = self.builtin.kind(gvk) {
            self.lifecycle(root, gvk, at, report);
            if is_off(gvk, version) && self.unknown(root, gvk, at, report) {
                return CheckState::Checked;
            }
            self.builtin_kind(root, &known, schema, at, report);
        } else {
            let is_told = self.lifecycle(root, gvk, at, report) || self.unknown(root, gvk, at, report);
            return if is_told && report.errors > 0 { CheckState::Checked } else { CheckState::Skipped };
        }
        for policy in &self.policies {
            policy.check(root, gvk, self, at, report);
        }
        CheckState::Checked
    }

    fn builtin_kind(
        &self,
        root: &Node,
        known: &KnownKind,
        schema: crate::schema::SchemaId,
        at: &At<'_>,
        report: &mut CheckFindings,
    ) {
        let mut decoder = Decoder { schemas: &self.builtin.schemas, report, type_errors: 0 };
        decoder.object(root, schema, at);
        // Later checks read typed values; the server does not run them after type errors either.
        if decoder.type_errors == 0 && !report.is_done() {
            let scope = meta::ObjectScope { namespaced: known.namespaced, core: builtin::has_core_metadata(known) };
            meta::check(root, at, builtin::name_rule(known, self.options.version), scope, report);
            builtin::check(root, known, self, at, report);
        }
    }

    fn custom_kind(&self, root: &Node, custom: &CustomKind, at: &At<'_>, report: &mut CheckFindings) {
        let kind = custom.compiled();
        let type_errors = {
            let mut decoder = Decoder { schemas: &self.builtin.schemas, report, type_errors: 0 };
            if let Some(metadata) = root.given("metadata") {
                decoder.check(metadata, self.builtin.meta, &at.key("metadata", metadata), Depth::Full);
            }
            decoder.type_errors
        };
        structural::prune(&kind.schemas, root, kind.root, at, true, report);
        if type_errors == 0 {
            let scope = meta::ObjectScope { namespaced: custom.namespaced, core: false };
            meta::check(root, at, NameRule::Form(crate::names::dns_subdomain), scope, report);
        }
        if report.is_done() {
            return;
        }
        let mut object = root.clone();
        if custom.drops_status
            && let Value::Map(entries) = &mut object.value
        {
            entries.retain(|entry| *entry.key != *"status");
        }
        structural::prepared(&kind.schemas, &mut object, kind.root);
        generate_name(&mut object);
        let mut validator = Validator::new(&kind.schemas, report);
        validator.check(&object, kind.root, at);
        let blocks_rules = validator.blocks_rules;
        self.embedded(&object, kind, at, report);
        if !blocks_rules && kind.schemas.get(kind.root).has_rules {
            crate::rules::check(&object, kind, at, report);
        }
    }

    /// Embedded resources need a type, and their metadata is strict.
    fn embedded(&self, object: &Node, kind: &CompiledKind, at: &At<'_>, report: &mut CheckFindings) {
        if kind.has_embedded {
            self.embedded_below(object, &kind.schemas, kind.root, at, report);
        }
    }

    fn embedded_below(
        &self,
        node: &Node,
        schemas: &crate::schema::Schemas,
        id: crate::schema::SchemaId,
        at: &At<'_>,
        report: &mut CheckFindings,
    ) {
        let schema = schemas.get(id);
        if schema.embedded && matches!(node.value, Value::Map(_)) {
            for key in ["apiVersion", "kind"] {
                match node.given(key) {
                    None => {
                        report.key_error(Id::KUBERNETES_REQUIRED, &at.missing(key), || crate::native::required(key))
                    }
                    Some(value) if value.as_str().is_none() => {
                        report.error(Id::KUBERNETES_TYPE, &at.key(key, value), || {
                            FindingText::wrong_type("string", value)
                        });
                    }
                    Some(value) if value.as_str() == Some("") => {
                        report.error(Id::KUBERNETES_REQUIRED, &at.key(key, value), || crate::native::required(key));
                    }
                    Some(value)
                        if key == "apiVersion" && value.as_str().is_some_and(|text| text.matches('/').count() > 1) =>
                    {
                        report.error(Id::KUBERNETES_METADATA, &at.key(key, value), || {
                            FindingText::of_value("must be a version, or a group and a version", value)
                        });
                    }
                    Some(value) if key == "kind" => {
                        let lower = value.as_str().unwrap_or_default().to_ascii_lowercase();
                        if let Some(fault) = crate::names::dns1035_label(&lower) {
                            report.error(Id::KUBERNETES_METADATA, &at.key(key, value), || {
                                FindingText::of_value(format!("in lower case, the kind {fault}"), value)
                            });
                        }
                    }
                    Some(_) => {}
                }
            }
            if let Some(metadata) = node.given("metadata") {
                let here = at.key("metadata", metadata);
                let mut decoder = Decoder { schemas: &self.builtin.schemas, report, type_errors: 0 };
                decoder.check(metadata, self.builtin.meta, &here, Depth::Full);
                if decoder.type_errors == 0 {
                    meta::common(metadata, &here, report);
                    // Names have no other requirements here.
                    for key in ["name", "generateName"] {
                        if let Some(name) = metadata.given(key)
                            && let Some(fault) = name.as_str().and_then(crate::names::path_segment)
                        {
                            let place = here.key(key, name);
                            report.error(Id::KUBERNETES_METADATA, &place, || {
                                FindingText::of_value(format!("the name {fault}"), name)
                            });
                        }
                    }
                }
            }
        }
        for entry in node.entries() {
            if let Some(field) = schema.property(&entry.key) {
                self.embedded_below(&entry.node, schemas, field, &at.key(&entry.key, &entry.node), report);
            }
        }
        if let Some(of) = schema.items {
            for (index, item) in node.items().iter().enumerate() {
                self.embedded_below(item, schemas, of, &at.index(index, item), report);
            }
        }
    }

    /// Reports deprecated and removed API versions; returns whether the kind is a built-in one.
    fn lifecycle(&self, root: &Node, gvk: &Gvk, at: &At<'_>, report: &mut CheckFindings) -> bool {
        let version = self.options.version;
        let here = root.get("apiVersion").map_or(*at, |node| at.key("apiVersion", node));
        let lifecycle = facts::lifecycle(gvk);
        let is_served = self.builtin.kind(gvk).is_some();
        let replacement = || self.replacement(gvk, lifecycle.and_then(|lifecycle| lifecycle.replacement));
        let last = || facts::spans(gvk).map(|(_, last)| last).max();
        let first = || facts::spans(gvk).map(|(first, _)| first).min();
        let removed = || {
            let told = lifecycle.and_then(|lifecycle| lifecycle.removed).filter(|removed| *removed <= version.minor());
            told.or_else(|| last().filter(|last| *last < version.minor()).map(|last| last + 1))
        };
        let shown = || format!("{} {}", gvk.api_version(), gvk.kind);
        if !is_served && let Some(removed) = removed() {
            let shown = shown();
            report.error(Id::KUBERNETES_REMOVED, &here, || {
                let finding = FindingText::new(format!(
                    "Kubernetes {version} does not serve {shown}: it was removed in 1.{removed}"
                ));
                match replacement() {
                    Some(other) => finding.help(format!("use {other}")),
                    None => finding.note("there is no replacement"),
                }
            });
            return true;
        }
        if !is_served && let Some(first) = first().filter(|first| *first > version.minor()) {
            let shown = shown();
            report.error(Id::KUBERNETES_REMOVED, &here, || {
                let finding =
                    FindingText::new(format!("Kubernetes {version} does not serve {shown} yet: it came in 1.{first}"));
                match replacement() {
                    Some(other) => finding.help(format!("use {other}")),
                    None => finding,
                }
            });
            return true;
        }
        let deprecated = lifecycle.and_then(|lifecycle| lifecycle.deprecated);
        if is_served && let Some(deprecated) = deprecated.filter(|deprecated| *deprecated <= version.minor()) {
            report.warning(Id::KUBERNETES_DEPRECATED, &here, || {
                let gone = lifecycle.and_then(|lifecycle| lifecycle.removed);
                let until = gone.map(|removed| format!(" and will be removed in 1.{removed}")).unwrap_or_default();
                let finding = FindingText::new(format!("{} is deprecated since 1.{deprecated}{until}", shown()));
                match replacement() {
                    Some(other) => finding.help(format!("use {other}")),
                    None => finding,
                }
            });
        }
        is_served
    }

    /// The API version that replaces another one.
    fn replacement(&self, gvk: &Gvk, told: Option<[&str; 3]>) -> Option<String> {
        let version = self.options.version;
        if let Some([group, told_version, kind]) = told {
            let other = Gvk { group: group.into(), version: told_version.into(), kind: kind.into() };
            if self.builtin.kind(&other).is_some() {
                return Some(format!("{} {kind}", other.api_version()));
            }
        }
        // Stable versions first, among them the newest: `v2` before `v1`.
        let rank = |version: &'static str| {
            let is_stable = version.bytes().skip(1).all(|byte| byte.is_ascii_digit());
            (!is_stable, version.contains("alpha"), std::cmp::Reverse((version.len(), version)))
        };
        let same = facts::kinds_named(&gvk.kind, version)
            .filter(|known| (known.group, known.version) != (&gvk.group, &gvk.version))
            .min_by_key(|known| (known.group != gvk.group, rank(known.version)))?;
        let same = Gvk { group: same.group.into(), version: same.version.into(), kind: same.kind.into() };
        Some(format!("{} {}", same.api_version(), same.kind))
    }

    /// Reports an unknown kind; returns whether that is an error.
    fn unknown(&self, root: &Node, gvk: &Gvk, at: &At<'_>, report: &mut CheckFindings) -> bool {
        let version = self.options.version;
        let finding = || {
            let (shown, kind) = (gvk.api_version(), &gvk.kind);
            if is_off(gvk, version) && self.builtin.kind(gvk).is_some() {
                return FindingText::new(format!("Kubernetes {version} does not serve {shown} {kind} by default"))
                    .help(format!("start the API server with --runtime-config={shown}=true, or use a stable version"));
            }
            let finding = FindingText::new(format!("nothing is known about the kind {kind} of {shown}"));
            let others: Vec<String> = self.versions_of(gvk);
            if !others.is_empty() {
                return finding.help(format!("{kind} is a kind of {}", others.join(", ")));
            }
            let kinds = || {
                let builtin = facts::kinds(version).map(|known| (known.kind, known.group, known.version));
                let custom = self.custom.keys().map(|gvk| (&*gvk.kind, &*gvk.group, &*gvk.version));
                builtin.chain(custom).filter(|(_, group, version)| *group == gvk.group && *version == gvk.version)
            };
            match spelling::nearest(kind, kinds().map(|(kind, ..)| kind)) {
                Some(near) => finding.help(format!("did you mean \"{near}\"?")),
                None => finding.help("give its CustomResourceDefinition with --kubernetes-schema"),
            }
        };
        let here = root.get("kind").map_or(*at, |node| at.key("kind", node));
        match self.options.unknown {
            UnknownKinds::Ignore => false,
            UnknownKinds::Warn => {
                report.warning(Id::KUBERNETES_UNKNOWN_KIND, &here, finding);
                false
            }
            UnknownKinds::Error => {
                report.error(Id::KUBERNETES_UNKNOWN_KIND, &here, finding);
                true
            }
        }
    }

    /// The API versions with a kind of this name.
    fn versions_of(&self, gvk: &Gvk) -> Vec<String> {
        let builtin = facts::kinds_named(&gvk.kind, self.options.version).map(|known| Gvk {
            group: known.group.into(),
            version: known.version.into(),
            kind: String::new(),
        });
        let custom = self.custom.keys().filter(|other| other.kind == gvk.kind).cloned();
        let mut versions: Vec<String> = builtin.chain(custom).map(|gvk| gvk.api_version()).collect();
        versions.sort();
        versions.dedup();
        versions.truncate(4);
        versions
    }
}

/// Whether an API version is disabled by default in this version.
fn is_off(gvk: &Gvk, version: Version) -> bool {
    let Some(lifecycle) = facts::lifecycle(gvk) else {
        return gvk.version.contains("alpha");
    };
    if version == Version::NEWEST {
        return lifecycle.is_off;
    }
    // Beta versions introduced in 1.24 or later are disabled, except those of flow control.
    let is_new_beta = gvk.version.contains("beta")
        && lifecycle.introduced.is_some_and(|introduced| introduced >= 24)
        && !gvk.group.starts_with("flowcontrol");
    gvk.version.contains("alpha") || is_new_beta
}

/// Generates a name, as the server does before it evaluates rules.
fn generate_name(object: &mut Node) {
    let Value::Map(entries) = &mut object.value else { return };
    let Some(meta) = entries.iter_mut().find(|entry| entry.key == "metadata") else { return };
    let has_name = meta.node.text("name").is_some_and(|name| !name.is_empty());
    let generated = meta.node.text("generateName").map(|prefix| format!("{prefix}xxxxx"));
    if let (false, Some(name), Value::Map(fields)) = (has_name, generated, &mut meta.node.value) {
        fields.retain(|entry| *entry.key != *"name");
        let node = Node::new(Value::Str(name.into()));
        fields.push(crate::document::MapEntry { key: "name".into(), node });
    }
}

/// Whether an object is a list of others.
fn is_list(kind: &str, root: &Node) -> bool {
    kind.ends_with("List") && matches!(root.get("items").map(|items| &items.value), Some(Value::List(_)))
}

/// Removes findings that a misspelt field explains: if `prots` is unknown, `ports` is not missing.
fn without_echoes(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let meant: Vec<Path> = findings
        .iter()
        .filter(|finding| finding.id == Id::KUBERNETES_UNKNOWN_FIELD)
        .filter_map(|finding| {
            let name = &finding.helps.first()?.fix.as_ref()?.edits.first()?.replacement;
            let mut path = finding.path.clone()?;
            path.pop();
            Some(path.key(name.clone()))
        })
        .collect();
    let is_echo = |finding: &Diagnostic| {
        finding.id == Id::KUBERNETES_REQUIRED && finding.path.as_ref().is_some_and(|path| meant.contains(path))
    };
    findings.into_iter().filter(|finding| !is_echo(finding)).collect()
}

/// Adds the object to each finding, and the line for the text format.
fn named(mut checked: Checked) -> Checked {
    if checked.findings.is_empty() {
        return checked;
    }
    let namespace = if checked.namespace.is_empty() { String::new() } else { format!("{}/", checked.namespace) };
    let name = if checked.name.is_empty() { String::new() } else { format!(" {namespace}{}", checked.name) };
    for finding in &mut checked.findings {
        if !checked.kind.is_empty() {
            finding.suffix = Text::new(format!("({}", checked.kind)).value(name.clone()).then(")");
        }
        let mut line = match (finding.severity, finding.primary()) {
            (Severity::Error, Some(label)) => Text::new("\n- ").at(label.pos).then(": "),
            (Severity::Error, None) => Text::new("\n- "),
            _ => Text::default(),
        };
        match &finding.path {
            Some(path) if !path.is_document() => line = line.then(format!("{path} ")),
            _ => {}
        }
        if !finding.suffix.is_empty() {
            line = line.join(finding.suffix.clone()).then(": ");
        }
        line = line.join(finding.message.clone());
        if let Some(help) = finding.helps.first() {
            line = line.then(" (").join(help.text.clone()).then(")");
        }
        finding.reference = Some(line);
    }
    checked
}
