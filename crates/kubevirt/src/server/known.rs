//! The server's knowledge besides the review: templates and instance types.
//!
//! `KnownObjects` belongs to the server, `Until` to one review, `Attempt` to one try to evaluate
//! it; only the latter implements what rules ask for (`Surroundings`). Files take precedence over
//! the cluster. Parsed rules are cached by their text.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::runtime::Handle;

use super::cluster::Cluster;
use super::log::Log;
use super::metrics::CacheFigures;
use crate::admission::{ParentTemplate, Surroundings, UnknownReason};
use crate::compat;
use crate::instancetype::{self, Instancetypes};
use crate::rules::{self, Rules, Unreadable};
use crate::value::Value;

/// Maximum bytes of all cached rule texts, and of one of them. Templates have some kilobytes of
/// rules, and compiled patterns take many times the memory of their texts.
const KEPT: usize = 256 << 10;
const KEPT_EACH: usize = 32 << 10;

/// A template from a file.
#[derive(Clone, Debug)]
pub struct FileTemplate {
    /// Its name.
    pub name: String,
    /// Its namespace; empty if it matches any.
    pub namespace: String,
    /// Its rules, if any.
    pub rules: Option<Arc<str>>,
}

/// Templates and instance types.
#[derive(Debug, Default)]
pub struct KnownObjects {
    /// Templates from files, by name.
    files: HashMap<String, Vec<FileTemplate>>,
    instancetypes: Instancetypes,
    cluster: Option<Cluster>,
    rules: Kept<Result<Rules, Unreadable>>,
    compat_rules: Kept<compat::Reading>,
}

/// Rules that were read before, by their text.
#[derive(Debug)]
struct Kept<R>(Mutex<KeptRules<R>>);

#[derive(Debug)]
struct KeptRules<R> {
    by_text: HashMap<Box<str>, Arc<R>>,
    bytes: usize,
}

impl<R> Default for KeptRules<R> {
    fn default() -> Self {
        KeptRules { by_text: HashMap::new(), bytes: 0 }
    }
}

impl<R> Default for Kept<R> {
    fn default() -> Self {
        Kept(Mutex::default())
    }
}

impl<R> Kept<R> {
    fn read(&self, text: &str, parse: impl FnOnce(&str) -> R) -> Arc<R> {
        if let Ok(kept) = self.0.lock()
            && let Some(rules) = kept.by_text.get(text)
        {
            return Arc::clone(rules);
        }
        // Outside of the lock: it may take a while.
        let rules = Arc::new(parse(text));
        if text.len() <= KEPT_EACH
            && let Ok(mut kept) = self.0.lock()
        {
            if kept.bytes + text.len() > KEPT {
                *kept = KeptRules::default();
            }
            if kept.by_text.insert(text.into(), Arc::clone(&rules)).is_none() {
                kept.bytes += text.len();
            }
        }
        rules
    }
}

impl KnownObjects {
    /// From files, and from a cluster if there is one. Files take precedence.
    pub fn new(templates: Vec<FileTemplate>, instancetypes: Instancetypes, cluster: Option<Cluster>) -> KnownObjects {
        let mut files: HashMap<String, Vec<FileTemplate>> = HashMap::new();
        for template in templates {
            files.entry(template.name.clone()).or_default().push(template);
        }
        KnownObjects { files, instancetypes, cluster, rules: Kept::default(), compat_rules: Kept::default() }
    }

    /// Starts reading from the cluster.
    pub(super) fn follow(&self, runtime: &Handle, log: &Arc<Log>) {
        match &self.cluster {
            Some(cluster) => cluster.follow(runtime, log),
            None => log.info("there is no cluster: rules come from VMs and from files", &[]),
        }
    }

    /// The knowledge for a review with this deadline.
    pub(super) fn until(&self, until: Instant) -> Until {
        Until { until, expanded: Mutex::default() }
    }

    /// The reason that requests cannot be answered well, if any.
    pub(super) fn unready(&self) -> Option<String> {
        let unready = self.cluster.as_ref()?.unready();
        (!unready.is_empty()).then(|| unready.join("\n") + "\n")
    }

    /// The state of the caches, for `/readyz?verbose`.
    pub(super) fn verbose(&self) -> String {
        let line = |cache: CacheFigures| {
            let age = cache.age.unwrap_or_default().as_secs();
            format!("{}: {} objects, seen {age} seconds ago\n", cache.name, cache.objects)
        };
        self.figures().into_iter().map(line).chain(["ok\n".to_owned()]).collect()
    }

    pub(super) fn figures(&self) -> Vec<CacheFigures> {
        self.cluster.as_ref().map_or(Vec::new(), Cluster::figures)
    }
}

/// The context of one review, shared by all attempts to evaluate it.
pub(super) struct Until {
    until: Instant,
    /// The VMs with instance types applied by the cluster, in the order of requests: each is
    /// requested once.
    expanded: Mutex<Vec<Option<Value>>>,
}

impl Until {
    /// For one attempt to evaluate the review.
    pub(super) fn attempt<'a>(&'a self, known: &'a KnownObjects, log: &'a Log) -> impl Surroundings + 'a {
        Attempt { known, review: self, log, expansions: Cell::new(0) }
    }
}

struct Attempt<'a> {
    known: &'a KnownObjects,
    review: &'a Until,
    log: &'a Log,
    /// The number of expanded VMs.
    expansions: Cell<usize>,
}

impl Surroundings for Attempt<'_> {
    fn template(&self, namespace: &str, name: &str) -> ParentTemplate {
        let files = self.known.files.get(name).map_or(&[][..], Vec::as_slice);
        let fits = |template: &&FileTemplate| template.namespace.is_empty() || template.namespace == namespace;
        match (files.iter().find(fits), &self.known.cluster) {
            (Some(template), _) => template.rules.clone().map_or(ParentTemplate::Plain, ParentTemplate::Rules),
            (None, Some(cluster)) => cluster.template(namespace, name),
            (None, None) => ParentTemplate::Unknown(UnknownReason::NoCluster),
        }
    }

    fn dependents(&self, namespace: &str, name: &str) -> Result<Vec<String>, UnknownReason> {
        self.known.cluster.as_ref().ok_or(UnknownReason::NoCluster)?.dependents(namespace, name)
    }

    fn expand(&self, vm: &mut Value) -> bool {
        if instancetype::expand(vm, &self.known.instancetypes) {
            return true;
        }
        let given = &self.known.instancetypes;
        // KubeVirt knows what a name means in this cluster; without a cluster, use the common ones
        // as shipped.
        let Some(cluster) = &self.known.cluster else { return instancetype::expand_common(vm, given) };
        let number = self.expansions.replace(self.expansions.get() + 1);
        let mut expanded = self.review.expanded.lock().unwrap_or_else(PoisonError::into_inner);
        while expanded.len() <= number {
            let template = cluster.expand(vm, self.log);
            expanded.push(template);
        }
        match (&expanded[number], vm.get_mut("spec")) {
            (Some(template), Some(spec)) => {
                spec.set("template", template.clone());
                true
            }
            _ => instancetype::expand_common(vm, given),
        }
    }

    fn rules(&self, text: &str) -> Arc<Result<Rules, Unreadable>> {
        self.known.rules.read(text, rules::parse)
    }

    fn compat_rules(&self, text: &str) -> Arc<compat::Reading> {
        self.known.compat_rules.read(text, compat::parse)
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.review.until
    }
}
