//! Knowledge about a cluster: its templates, and the VMs that refer to them.
//!
//! Both are listed once and then watched, as metadata only: neither the objects of templates nor
//! the start-up scripts of VMs are ever transferred. An API that does not exist (a cluster without
//! OpenShift's templates) counts as read and empty, and is checked again now and then. Each cache
//! has an age: the time since it last matched the cluster.

mod cache;
mod client;
mod config;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::log::Log;
use super::metrics::CacheFigures;
use crate::admission::{ParentTemplate, UnknownReason};
use crate::value::Value;
use cache::{CachedObject, ObjectCache};
use client::Client;
pub use config::{Connection, HostLookup, find};

/// Intervals of attempts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pauses {
    /// After a failure; doubled after each further one.
    pub first: Duration,
    /// The maximum.
    pub most: Duration,
    /// After an API did not exist.
    pub absent: Duration,
    /// How long the API server is asked to keep a watch open, in whole seconds. It sends nothing
    /// while nothing changes, so only a watch that does not end in time shows that its connection
    /// is dead.
    pub watch: Duration,
    /// How much later a watch may end.
    pub grace: Duration,
    /// After this time without events, the cache is too old to be trusted.
    pub stale: Duration,
}

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses {
            first: Duration::from_millis(500),
            most: Duration::from_secs(30),
            absent: Duration::from_secs(30),
            watch: Duration::from_secs(30),
            grace: Duration::from_secs(8),
            stale: Duration::from_secs(120),
        }
    }
}

/// Timeout for applying an instance type.
const EXPANSION: Duration = Duration::from_secs(3);

/// A cluster.
#[derive(Debug)]
pub struct Cluster {
    client: Arc<Client>,
    pauses: Pauses,
    templates: Arc<ObjectCache>,
    vms: Arc<ObjectCache>,
}

impl Cluster {
    /// A cluster with empty caches.
    pub fn new(connection: Connection, pauses: Pauses) -> Cluster {
        Cluster {
            client: Arc::new(Client::new(connection)),
            pauses,
            templates: Arc::new(ObjectCache::new(
                "templates",
                "/apis/template.openshift.io/v1/templates",
                cache::rules_of,
            )),
            vms: Arc::new(ObjectCache::new(
                "virtualmachines",
                "/apis/kubevirt.io/v1/virtualmachines",
                cache::template_of,
            )),
        }
    }

    /// Starts reading, and continues as long as the runtime exists.
    pub(super) fn follow(&self, runtime: &Handle, log: &Arc<Log>) {
        log.info("reading from the cluster", &[("server", self.client.server().into())]);
        for cache in [&self.templates, &self.vms] {
            let (cache, client, log) = (Arc::clone(cache), Arc::clone(&self.client), Arc::clone(log));
            runtime.spawn(cache::follow(cache, client, self.pauses, log));
        }
    }

    pub(super) fn template(&self, namespace: &str, name: &str) -> ParentTemplate {
        match self.templates.get(&format!("{namespace}/{name}")) {
            CachedObject::Found(Some(text)) => ParentTemplate::Rules(text),
            CachedObject::Found(None) => ParentTemplate::Plain,
            CachedObject::Nothing => ParentTemplate::Absent,
            CachedObject::Unread(why) => ParentTemplate::Unknown(UnknownReason::NotYet(why)),
        }
    }

    pub(super) fn dependents(&self, namespace: &str, name: &str) -> Result<Vec<String>, UnknownReason> {
        self.vms.keys_with(&format!("{namespace}/{name}")).map_err(UnknownReason::NotYet)
    }

    /// The template of a VM with its instance type applied, if the cluster provides it.
    pub(super) fn expand(&self, vm: &Value, log: &Log) -> Option<Value> {
        let runtime = Handle::try_current().ok()?;
        runtime.block_on(self.client.expand(vm, EXPANSION)).unwrap_or_else(|error| {
            log.info("cannot fill in an instance type", &[("error", (&error.to_string()).into())]);
            None
        })
    }

    /// The caches that are not read yet, or too old.
    pub(super) fn unready(&self) -> Vec<String> {
        let caches = [&self.templates, &self.vms];
        caches.iter().filter_map(|cache| cache.unread().or_else(|| cache.stale(self.pauses.stale))).collect()
    }

    pub(super) fn figures(&self) -> Vec<CacheFigures> {
        [&self.templates, &self.vms].iter().map(|cache| cache.figures()).collect()
    }
}
