//! Answers HTTP requests: reviews and health on one port, metrics on the other.
//!
//! `answer` dispatches, `review` reads a body within the limits, `judge` evaluates it: cheap
//! reviews at once, others in a queue on other threads, until the deadline. Bugs become an answer,
//! never a closed connection.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant as TokioInstant, timeout_at};

use super::ServerState;
use super::known::Until;
use super::log::LogField;
use super::metrics::Webhook;
use super::queue::{Flow, Permit};
use crate::admission::{self, Answer, Effort, ReviewVersion, ScanScope, Verdict};

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Up to this many times the limit of a body is read and dropped, so that its sender can read the
/// answer.
const DRAINED: u64 = 8;

/// Smaller reviews are not counted in the memory limit.
const SMALL: u64 = 64 << 10;

/// The two ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Port {
    Webhook,
    Metrics,
}

impl Port {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Port::Webhook => "webhook",
            Port::Metrics => "metrics",
        }
    }
}

/// The response.
pub(super) type Answered = Response<Full<Bytes>>;

/// Answers a request.
pub(super) async fn answer(request: Request<Incoming>, port: Port, shared: &Arc<ServerState>) -> Answered {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    match (port, request.uri().path()) {
        (Port::Webhook, "/virtualmachine-validate") => review(request, Webhook::VirtualMachine, shared).await,
        (Port::Webhook, "/template-validate") => review(request, Webhook::Template, shared).await,
        (Port::Webhook, "/healthz" | "/readyz") | (Port::Metrics, "/metrics") if !is_read => {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, TEXT, "use GET\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            response
        }
        (Port::Webhook, "/healthz") => plain(StatusCode::OK, TEXT, "ok"),
        (Port::Webhook, "/readyz") => match shared.unready() {
            None if request.uri().query() == Some("verbose") => plain(StatusCode::OK, TEXT, shared.known.verbose()),
            None => plain(StatusCode::OK, TEXT, "ok"),
            Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, TEXT, why),
        },
        (Port::Metrics, "/metrics") => {
            let queues = [("quick", &shared.quick), ("heavy", &shared.heavy), ("expansions", &shared.expansions)]
                .map(|(name, queue)| (name, queue.waiting()));
            plain(StatusCode::OK, METRICS, shared.metrics.show(&shared.known.figures(), &queues, shared.started))
        }
        _ => plain(StatusCode::NOT_FOUND, TEXT, "not found\n"),
    }
}

fn plain(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answered {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

async fn review(request: Request<Incoming>, webhook: Webhook, shared: &Arc<ServerState>) -> Answered {
    let until = Instant::now() + shared.limits.request;
    let mut is_read = true;
    let (answer, took) = match refused(&request) {
        Some(answer) => {
            is_read = request.body().is_end_stream();
            (answer, None)
        }
        None => match read(request, until, shared).await {
            Ok((body, memory)) => {
                let began = Instant::now();
                let answer = judge(body, webhook, until, shared).await;
                drop(memory);
                (answer, Some(began.elapsed()))
            }
            Err(answer) => {
                is_read = false;
                (answer, None)
            }
        },
    };
    shared.metrics.count(webhook, &answer, took);
    tell(&answer, webhook, took.unwrap_or_default(), shared);
    let status = StatusCode::from_u16(answer.http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = plain(status, JSON, answer.to_json());
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    // The connection closes, so the client must open another.
    if !is_read || shared.is_leaving() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The answer to a request whose head shows that it contains no review.
fn refused(request: &Request<Incoming>) -> Option<Answer> {
    if request.method() != Method::POST {
        let message = format!("reviews come with POST, found {}", request.method());
        return Some(Answer::without_request(ReviewVersion::V1, 405, message));
    }
    let kind = request.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let kind = String::from_utf8_lossy(kind);
    let name = kind.split(';').next().unwrap_or_default().trim();
    if !name.eq_ignore_ascii_case(JSON) {
        let message = format!("contentType={kind}, expect {JSON}");
        return Some(Answer::without_request(ReviewVersion::V1, 400, message));
    }
    None
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The body of a request, and its share of memory.
async fn read(
    request: Request<Incoming>,
    until: Instant,
    shared: &ServerState,
) -> Result<(Vec<u8>, Option<SemaphorePermit<'_>>), Answer> {
    let most = shared.limits.body;
    let refuse = |code, message: String| Answer::without_request(ReviewVersion::V1, code, message);
    let (head, mut body) = request.into_parts();
    let length = announced(&head.headers);
    let mut is_large = length.is_some_and(|length| length > most);
    let mut read = Vec::new();
    let mut memory = None;
    let mut seen: u64 = 0;
    let deadline = TokioInstant::from_std(until);
    loop {
        let frame = match timeout_at(deadline, body.frame()).await {
            Err(_) => return Err(refuse(408, "the body did not arrive in time".to_owned())),
            Ok(None) => break,
            Ok(Some(Err(error))) => return Err(refuse(400, format!("the body cannot be read: {error}"))),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len() as u64;
        is_large |= seen > most;
        if is_large {
            read = Vec::new();
            memory = None;
            if seen > most.saturating_mul(DRAINED) {
                break;
            }
            continue;
        }
        // Small reviews do not wait for large ones with slow senders. Large ones wait for all the
        // memory that they need: none keeps a part while waiting for the rest.
        if seen > SMALL && memory.is_none() {
            let share = u32::try_from(length.unwrap_or(most)).unwrap_or(u32::MAX);
            match timeout_at(deadline, shared.memory.acquire_many(share)).await {
                Ok(Ok(permit)) => {
                    memory = Some(permit);
                    // Reserved at once: growing would leave holes that the C library keeps.
                    read.reserve_exact((share as usize).saturating_sub(read.len()));
                }
                _ => return Err(Answer { http: 503, ..Answer::to("", Verdict::busy()) }),
            }
        }
        read.extend_from_slice(&data);
    }
    if is_large {
        return Err(refuse(413, format!("the review is larger than {most} bytes")));
    }
    Ok((read, memory))
}

/// Evaluates a review: at once if it takes little, otherwise in the queue for slow ones.
async fn judge(body: Vec<u8>, webhook: Webhook, until: Instant, shared: &Arc<ServerState>) -> Answer {
    let surroundings = shared.known.until(until);
    let work = Arc::new(Work { body, webhook, surroundings, is_running: AtomicBool::new(false) });
    let verdict = match timeout_at(TokioInstant::from_std(until), judged(&work, shared)).await {
        Ok(Some(answer)) => return *answer,
        Ok(None) => Verdict::internal(),
        Err(_) if work.is_running.load(Relaxed) => Verdict::late(),
        Err(_) => Verdict::busy(),
    };
    Answer::to_sender(admission::sender(&work.body, ScanScope::All), verdict)
}

/// The answer to a review; `None` because of a bug.
async fn judged(work: &Arc<Work>, shared: &Arc<ServerState>) -> Option<Box<Answer>> {
    let body = &work.body;
    let flow = Flow::of(&admission::sender(body, ScanScope::Head));
    let is_large = body.len() as u64 > SMALL;
    let first = if may_need_cluster(body) {
        Some(&shared.expansions)
    } else if is_large {
        None
    } else {
        Some(&shared.quick)
    };
    // Most reviews take less time than starting another thread. Others lose 0.1 ms by this.
    if first.is_some_and(|queue| Arc::ptr_eq(queue, &shared.quick))
        && let Judged::Answer(answer) = work.judge(Effort::Glance, shared)
    {
        return answer;
    }
    if let Some(queue) = first {
        // The memory of large ones is limited.
        let share = if is_large { u32::try_from(body.len()).unwrap_or(u32::MAX) } else { 0 };
        let _bytes = shared.expanding.acquire_many(share).await.ok()?;
        let turn = queue.enter(flow.clone()).await;
        if let Judged::Answer(answer) = work.run(Effort::First, turn, shared).await {
            return answer;
        }
    }
    shared.metrics.deferred.fetch_add(1, Relaxed);
    let turn = shared.heavy.enter(flow).await;
    match work.run(Effort::Full, turn, shared).await {
        Judged::Answer(answer) => answer,
        Judged::TooMuch => None,
    }
}

/// The result of an attempt to evaluate a review.
enum Judged {
    /// The answer; `None` after a bug.
    Answer(Option<Box<Answer>>),
    /// It needs more work than allowed.
    TooMuch,
}

/// A review to evaluate.
struct Work {
    body: Vec<u8>,
    webhook: Webhook,
    surroundings: Until,
    /// Whether a thread is working on it.
    is_running: AtomicBool,
}

impl Work {
    /// Evaluates on another thread: rules may take as long as they are allowed to.
    async fn run(self: &Arc<Work>, effort: Effort, turn: Permit, shared: &Arc<ServerState>) -> Judged {
        let (work, shared) = (Arc::clone(self), Arc::clone(shared));
        let task = tokio::task::spawn_blocking(move || {
            let judged = work.judge(effort, &shared);
            drop(turn);
            judged
        });
        task.await.unwrap_or(Judged::Answer(None))
    }

    /// Evaluates on this thread.
    fn judge(&self, effort: Effort, shared: &ServerState) -> Judged {
        self.is_running.store(true, Relaxed);
        let surroundings = self.surroundings.attempt(&shared.known, &shared.log);
        let judged = catch_unwind(AssertUnwindSafe(|| match self.webhook {
            Webhook::VirtualMachine => {
                admission::virtual_machine_within(&self.body, shared.policy, &surroundings, effort)
            }
            Webhook::Template => Some(admission::template(&self.body, shared.policy, &surroundings)),
        }));
        self.is_running.store(false, Relaxed);
        match judged {
            Ok(Some(answer)) => Judged::Answer(Some(Box::new(answer))),
            Ok(None) => Judged::TooMuch,
            Err(panic) => {
                tell_bug(&*panic, shared);
                Judged::Answer(None)
            }
        }
    }
}

/// Whether the cluster may be needed: the VM has an instance type.
fn may_need_cluster(body: &[u8]) -> bool {
    const KEY: &[u8] = b"\"instancetype\"";
    body.windows(KEY.len()).any(|part| part == KEY)
}

fn tell_bug(panic: &(dyn Any + Send), shared: &ServerState) {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
    shared.log.error("internal error; please report it", &[("panic", text.into())]);
}

/// The answer after a bug of ours.
pub(super) fn failed(panic: &(dyn Any + Send), shared: &ServerState) -> Answered {
    tell_bug(panic, shared);
    plain(StatusCode::INTERNAL_SERVER_ERROR, JSON, Answer::to("", Verdict::internal()).to_json())
}

fn tell(answer: &Answer, webhook: Webhook, took: Duration, shared: &ServerState) {
    let object = format!("{}/{}", answer.sender.namespace, answer.sender.name);
    let message = answer.verdict.message();
    let verdict = answer.verdict.as_str();
    let mut fields: Vec<(&str, LogField<'_>)> = vec![
        ("webhook", webhook.as_str().into()),
        ("uid", (&answer.sender.uid).into()),
        ("operation", (&answer.sender.operation).into()),
        ("object", (&object).into()),
        ("user", (&answer.sender.user).into()),
        ("dryRun", LogField::Flag(answer.sender.dry_run)),
        ("verdict", verdict.into()),
        ("code", LogField::Number(answer.verdict.code().into())),
    ];
    if !answer.warnings.is_empty() {
        fields.push(("warnings", LogField::Number(answer.warnings.len() as i64)));
    }
    match &answer.verdict {
        Verdict::Allowed => {
            fields.push(("micros", LogField::Number(took.as_micros() as i64)));
            return shared.log.detail(2, "review answered", &fields);
        }
        Verdict::Invalid(causes) => {
            // Log the names of rules, not their messages, which quote the VM.
            fields.push(("rules", LogField::List(causes.iter().map(|cause| cause.rule.as_str()).collect())));
        }
        Verdict::Refused { .. } => fields.push(("reason", (&message).into())),
    }
    shared.log.info("review refused", &fields);
}
