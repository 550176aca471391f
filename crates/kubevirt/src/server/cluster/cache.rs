//! A cache of one kind of objects, kept up to date: list, then watch, and list again when the watch
//! fails.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::Pauses;
use super::client::{Client, Error, LARGEST, encoded};
use crate::json;
use crate::rules::ANNOTATION;
use crate::select::{TEMPLATE_ANNOTATION, template_reference};
use crate::server::log::{Log, LogField};
use crate::server::metrics::CacheFigures;
use crate::value::Value;

/// Objects per page of a list.
const PAGE: usize = 500;
/// After this many consecutive failures the watch restarts with a list, and an API that existed
/// counts as gone.
const TRUST: u32 = 3;
/// The longest pause that the API server can request.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Returns the part of an object to keep; `None` ignores it.
type Keep = fn(&Value) -> Option<Option<Arc<str>>>;

/// The rules of a template.
pub(super) fn rules_of(template: &Value) -> Option<Option<Arc<str>>> {
    let text = template.at(&["metadata", "annotations", TEMPLATE_ANNOTATION]).and_then(Value::as_str);
    Some(text.filter(|text| !text.is_empty()).map(Arc::from))
}

/// The template of a VM that has no rules of its own.
pub(super) fn template_of(vm: &Value) -> Option<Option<Arc<str>>> {
    let own = vm.at(&["metadata", "annotations"]).and_then(|annotations| annotations.get(ANNOTATION)?.as_str());
    if own.is_some_and(|text| !text.is_empty()) {
        return None;
    }
    let (namespace, name) = template_reference(vm)?;
    Some(Some(Arc::from(format!("{namespace}/{name}"))))
}

/// The state of the cache.
#[derive(Clone, PartialEq, Eq, Debug)]
enum SyncState {
    /// Nothing has been read, for this reason if there is one.
    Unread(Option<String>),
    /// Everything has been read.
    Synced,
    /// The API does not exist.
    Absent,
}

#[derive(Debug)]
struct CacheState {
    status: SyncState,
    /// By `namespace/name`.
    objects: HashMap<Box<str>, Option<Arc<str>>>,
    /// When this was last known to match the cluster.
    heard: Option<Instant>,
    /// The reason for the last failure.
    failure: Option<String>,
}

impl CacheState {
    fn new(status: SyncState, objects: Objects) -> CacheState {
        CacheState { status, objects, heard: Some(Instant::now()), failure: None }
    }
}

/// The cache.
#[derive(Debug)]
pub(super) struct ObjectCache {
    name: &'static str,
    path: &'static str,
    keep: Keep,
    state: RwLock<CacheState>,
}

/// The cached state of an object.
pub(super) enum CachedObject {
    Found(Option<Arc<str>>),
    Nothing,
    Unread(String),
}

impl ObjectCache {
    pub(super) fn new(name: &'static str, path: &'static str, keep: Keep) -> ObjectCache {
        let state = CacheState { heard: None, ..CacheState::new(SyncState::Unread(None), HashMap::new()) };
        ObjectCache { name, path, keep, state: RwLock::new(state) }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, CacheState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, CacheState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &str) -> CachedObject {
        if let Some(why) = self.unread() {
            return CachedObject::Unread(why);
        }
        self.read().objects.get(key).map_or(CachedObject::Nothing, |text| CachedObject::Found(text.clone()))
    }

    /// The keys of objects with this text, sorted; or why they are unknown.
    pub(super) fn keys_with(&self, wanted: &str) -> Result<Vec<String>, String> {
        if let Some(why) = self.unread() {
            return Err(why);
        }
        let state = self.read();
        let all = state.objects.iter();
        let fitting = all.filter(|(_, text)| text.as_deref() == Some(wanted));
        let mut keys: Vec<String> = fitting.map(|(key, _)| key.to_string()).collect();
        keys.sort();
        Ok(keys)
    }

    /// The reason that it has not been read, if so.
    pub(super) fn unread(&self) -> Option<String> {
        match &self.read().status {
            SyncState::Unread(None) => Some(format!("the {} of the cluster are being read", self.name)),
            SyncState::Unread(Some(why)) => Some(format!("the {} of the cluster cannot be read: {why}", self.name)),
            SyncState::Synced | SyncState::Absent => None,
        }
    }

    pub(super) fn figures(&self) -> CacheFigures {
        let state = self.read();
        let is_synced = !matches!(state.status, SyncState::Unread(_));
        let age = state.heard.map(|heard| heard.elapsed());
        CacheFigures { name: self.name, objects: state.objects.len(), is_synced, age }
    }

    fn is_synced(&self) -> bool {
        self.read().status == SyncState::Synced
    }

    /// Records that the API does not exist; returns whether that is new.
    fn is_gone(&self) -> bool {
        let mut state = self.write();
        let is_new = state.status != SyncState::Absent;
        *state = CacheState::new(SyncState::Absent, HashMap::new());
        is_new
    }

    /// Records a failure. What was read before is kept.
    fn is_unreadable(&self, cause: &Error) {
        let mut state = self.write();
        state.failure = Some(cause.to_string());
        if let SyncState::Unread(why) = &mut state.status {
            *why = Some(cause.to_string());
        }
    }

    /// Records that the cache matches the cluster.
    fn is_current(&self) {
        let mut state = self.write();
        state.heard = Some(Instant::now());
        state.failure = None;
    }

    /// The time since it last matched the cluster; `None` if it never did.
    fn age(&self) -> Option<Duration> {
        self.read().heard.map(|heard| heard.elapsed())
    }

    /// The reason not to trust it, if it is older than this.
    pub(super) fn stale(&self, most: Duration) -> Option<String> {
        let age = self.age().filter(|age| *age > most)?;
        let failure = self.read().failure.as_ref().map_or(String::new(), |failure| format!(": {failure}"));
        Some(format!("the {} of the cluster were last seen {} seconds ago{failure}", self.name, age.as_secs()))
    }

    fn entry(&self, object: &Value) -> Option<(Box<str>, Option<Arc<str>>)> {
        let kept = (self.keep)(object)?;
        Some((key(object).into(), kept))
    }

    fn apply(&self, object: &Value) {
        let entry = self.entry(object);
        let mut state = self.write();
        match entry {
            Some((key, text)) => {
                state.objects.insert(key, text);
            }
            None => {
                state.objects.remove(key(object).as_str());
            }
        }
    }
}

fn key(object: &Value) -> String {
    let part = |name: &str| object.at(&["metadata", name]).and_then(Value::as_str).unwrap_or_default();
    format!("{}/{}", part("namespace"), part("name"))
}

fn version(object: &Value) -> Option<&str> {
    object.at(&["metadata", "resourceVersion"]).and_then(Value::as_str)
}

/// Keeps a cache up to date forever.
pub(super) async fn follow(cache: Arc<ObjectCache>, client: Arc<Client>, pauses: Pauses, log: Arc<Log>) {
    let mut failures = Failures { pauses, count: 0, last: String::new() };
    let mut missing = 0;
    loop {
        let cause = match list(&cache, &client).await {
            Ok(mut version) => {
                let count = cache.read().objects.len();
                log.info("read", &[("cache", cache.name.into()), ("objects", LogField::Number(count as i64))]);
                missing = 0;
                watch_on(&cache, &client, &mut version, &mut failures, &log).await;
                continue;
            }
            Err(error) => error,
        };
        missing = if cause.is(404) { missing + 1 } else { 0 };
        if missing >= TRUST || missing > 0 && !cache.is_synced() {
            if cache.is_gone() {
                log.info("the cluster has no such API; it is asked again later", &[("cache", cache.name.into())]);
            }
            failures.count = 0;
            sleep(pauses.absent).await;
            continue;
        }
        cache.is_unreadable(&cause);
        failures.pause(&cause, &cache, &log).await;
    }
}

/// Consecutive failures.
struct Failures {
    pauses: Pauses,
    count: u32,
    last: String,
}

impl Failures {
    /// Logs a failure once, and waits: longer each time, with jitter, and as long as the API server
    /// requests.
    async fn pause(&mut self, cause: &Error, cache: &ObjectCache, log: &Log) {
        let asked = cause.retry_after().unwrap_or_default().min(LONGEST_PAUSE);
        let cause = cause.to_string();
        if self.count == 0 || self.last != cause {
            log.error("cannot read from the cluster", &[("cache", cache.name.into()), ("error", (&cause).into())]);
        }
        self.last = cause;
        let most = (self.pauses.first * 2u32.pow(self.count.min(16))).min(self.pauses.most);
        let share = RandomState::new().hash_one(self.count) % 512;
        self.count += 1;
        sleep(most.mul_f64(0.5 + share as f64 / 1024.0).max(asked)).await;
    }
}

/// Reads all objects, replaces the cached ones, and returns the version to watch from.
async fn list(cache: &ObjectCache, client: &Client) -> Result<String, Error> {
    let paged = pages(cache, client, Some(PAGE)).await;
    let (objects, version) = match paged {
        // The list changed too much between its pages.
        Err(error) if error.is(410) => pages(cache, client, None).await?,
        result => result?,
    };
    *cache.write() = CacheState::new(SyncState::Synced, objects);
    Ok(version)
}

type Objects = HashMap<Box<str>, Option<Arc<str>>>;

async fn pages(cache: &ObjectCache, client: &Client, limit: Option<usize>) -> Result<(Objects, String), Error> {
    let mut objects = Objects::new();
    let mut next = String::new();
    loop {
        let limit = limit.map_or(String::new(), |limit| format!("&limit={limit}"));
        let rest = if next.is_empty() { String::new() } else { format!("&continue={}", encoded(&next)) };
        let query = format!("{limit}{rest}");
        let mark = if query.is_empty() { "" } else { "?" };
        let page = client.list(&format!("{}{mark}{}", cache.path, query.trim_start_matches('&'))).await?;
        let items = page.get("items").and_then(Value::as_array).unwrap_or_default();
        objects.extend(items.iter().filter_map(|object| cache.entry(object)));
        let more = page.at(&["metadata", "continue"]).and_then(Value::as_str).unwrap_or_default();
        if more.is_empty() || more == next {
            let Some(version) = version(&page) else {
                return Err(Error::Other("the list of the API server has no version".to_owned()));
            };
            return Ok((objects, version.to_owned()));
        }
        next = more.to_owned();
    }
}

/// Watches until the objects must be listed again.
async fn watch_on(cache: &ObjectCache, client: &Client, version: &mut String, failures: &mut Failures, log: &Log) {
    loop {
        let began = Instant::now();
        let before = version.clone();
        match watch(cache, client, version, failures.pauses).await {
            Ok(()) => {
                failures.count = 0;
                // An API server that ends every watch at once must not cause a busy loop.
                if before == *version && began.elapsed() < failures.pauses.first {
                    sleep(failures.pauses.first).await;
                }
            }
            Err(error) if error.is(410) || error.is(404) => {
                log.detail(1, "the watch is lost", &[("cache", cache.name.into())]);
                // A server that always answers like this must not be asked without a pause.
                if began.elapsed() < Duration::from_secs(1) && before == *version {
                    sleep(failures.pauses.first).await;
                }
                return;
            }
            Err(error) => {
                cache.is_unreadable(&error);
                failures.pause(&error, cache, log).await;
                // The version may be wrong, for example older than the time to which a cluster was
                // restored.
                if failures.count >= TRUST {
                    return;
                }
            }
        }
    }
}

/// Watches until the API server ends it, which it does in time unless the connection is dead.
async fn watch(cache: &ObjectCache, client: &Client, version: &mut String, pauses: Pauses) -> Result<(), Error> {
    let from = encoded(version);
    let path = cache.path;
    let seconds = pauses.watch.as_secs().max(1);
    let query = format!("watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={from}");
    let mut answer = client.watch(&format!("{path}?{query}"), pauses.grace).await?;
    let end = Instant::now() + Duration::from_secs(seconds) + pauses.grace;
    let mut line = Vec::new();
    loop {
        // When a watch begins, continues or ends, nothing was missed so far.
        cache.is_current();
        let Ok(bytes) = timeout_at(end, answer.next()).await else {
            return Err(Error::Other(format!("the watch did not end after {seconds} seconds: its connection is dead")));
        };
        let Some(bytes) = bytes? else { break };
        let mut rest = &bytes[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            event(cache, &line, version)?;
            line.clear();
        }
        line.extend_from_slice(rest);
        if line.len() > LARGEST {
            return Err(Error::Other("an event of the API server is too large".to_owned()));
        }
    }
    Ok(())
}

fn event(cache: &ObjectCache, line: &[u8], at: &mut String) -> Result<(), Error> {
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    let unreadable = |what: &str| Error::Other(format!("an event of the API server cannot be read: {what}"));
    let event = json::read(line).map_err(|error| unreadable(&error))?;
    let object = event.get("object").ok_or_else(|| unreadable("it has no object"))?;
    match event.get("type").and_then(Value::as_str) {
        Some("ADDED" | "MODIFIED") => cache.apply(object),
        Some("DELETED") => {
            cache.write().objects.remove(key(object).as_str());
        }
        Some("BOOKMARK") => {}
        Some("ERROR") => {
            let code = match object.get("code") {
                Some(Value::Int(code)) => u16::try_from(*code).unwrap_or(500),
                _ => 500,
            };
            let status = hyper::StatusCode::from_u16(code).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
            let message = object.get("message").and_then(Value::as_str).unwrap_or_default();
            return Err(Error::Status(status, message.to_owned(), None));
        }
        _ => return Err(unreadable("its type is not known")),
    }
    if let Some(version) = version(object) {
        version.clone_into(at);
    }
    Ok(())
}
