//! What is answered to which request.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant as TokioInstant, timeout_at};

use super::Shared;
use super::log::Field;
use super::metrics::Webhook;
use crate::admission::{self, Answer, Verdict, Version};

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Of a body that is too large, as many times the limit is read and dropped, so that its sender can read the answer.
const DRAINED: u64 = 8;

/// Bytes of a review that count as nothing where memory is shared out.
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

/// What is sent back.
pub(super) type Answered = Response<Full<Bytes>>;

/// Answers a request.
pub(super) async fn answer(request: Request<Incoming>, port: Port, shared: &Arc<Shared>) -> Answered {
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
            None => plain(StatusCode::OK, TEXT, "ok"),
            Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, TEXT, why),
        },
        (Port::Metrics, "/metrics") => {
            plain(StatusCode::OK, METRICS, shared.metrics.show(&shared.known.figures(), shared.started))
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

async fn review(request: Request<Incoming>, webhook: Webhook, shared: &Arc<Shared>) -> Answered {
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
    // Who comes back would find nobody.
    if !is_read || shared.is_leaving() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The answer to a request whose head tells that it holds no review.
fn refused(request: &Request<Incoming>) -> Option<Answer> {
    if request.method() != Method::POST {
        let message = format!("reviews come with POST, found {}", request.method());
        return Some(Answer::without_request(Version::V1, 405, message));
    }
    let kind = request.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let kind = String::from_utf8_lossy(kind);
    let name = kind.split(';').next().unwrap_or_default().trim();
    if !name.eq_ignore_ascii_case(JSON) {
        let message = format!("contentType={kind}, expect {JSON}");
        return Some(Answer::without_request(Version::V1, 400, message));
    }
    None
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The body of a request, and the share of memory that it takes.
async fn read(
    request: Request<Incoming>,
    until: Instant,
    shared: &Shared,
) -> Result<(Vec<u8>, Option<SemaphorePermit<'_>>), Answer> {
    let most = shared.limits.body;
    let refuse = |code, message: String| Answer::without_request(Version::V1, code, message);
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
        // Reviews of the usual size do not wait behind large ones whose senders are slow. Large ones wait for all that they
        // need: nobody holds a part and waits for the rest.
        if seen > SMALL && memory.is_none() {
            let share = u32::try_from(length.unwrap_or(most)).unwrap_or(u32::MAX);
            match timeout_at(deadline, shared.memory.acquire_many(share)).await {
                Ok(Ok(permit)) => memory = Some(permit),
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

/// Judges a review on a thread of its own: rules may take as long as they are allowed to.
async fn judge(body: Vec<u8>, webhook: Webhook, until: Instant, shared: &Arc<Shared>) -> Answer {
    let deadline = TokioInstant::from_std(until);
    let body: Arc<[u8]> = body.into();
    let overdue = |body: &[u8]| Answer::to(&admission::uid(body), Verdict::late());
    let lane = if may_need_cluster(&body) { &shared.expansions } else { &shared.evaluations };
    let Ok(Ok(place)) = timeout_at(deadline, lane.enter(body.len())).await else {
        return Answer::to(&admission::uid(&body), Verdict::busy());
    };
    let task = {
        let (shared, body) = (Arc::clone(shared), Arc::clone(&body));
        tokio::task::spawn_blocking(move || {
            let surroundings = shared.known.until(until, &shared.log);
            let judged = catch_unwind(AssertUnwindSafe(|| match webhook {
                Webhook::VirtualMachine => admission::virtual_machine(&body, shared.policy, &surroundings),
                Webhook::Template => admission::template(&body, shared.policy, &surroundings),
            }));
            drop(place);
            judged.unwrap_or_else(|panic| {
                tell_bug(&*panic, &shared);
                Answer::to(&admission::uid(&body), Verdict::internal())
            })
        })
    };
    match timeout_at(deadline, task).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Answer::to(&admission::uid(&body), Verdict::internal()),
        Err(_) => overdue(&body),
    }
}

/// Whether the cluster may be asked about a VM: it has an instance type.
fn may_need_cluster(body: &[u8]) -> bool {
    const KEY: &[u8] = b"\"instancetype\"";
    body.windows(KEY.len()).any(|part| part == KEY)
}

fn tell_bug(panic: &(dyn Any + Send), shared: &Shared) {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
    shared.log.error("internal error; please report it", &[("panic", text.into())]);
}

/// The answer where a bug of ours left none.
pub(super) fn failed(panic: &(dyn Any + Send), shared: &Shared) -> Answered {
    tell_bug(panic, shared);
    plain(StatusCode::INTERNAL_SERVER_ERROR, JSON, Answer::to("", Verdict::internal()).to_json())
}

fn tell(answer: &Answer, webhook: Webhook, took: Duration, shared: &Shared) {
    let object = format!("{}/{}", answer.namespace, answer.name);
    let message = answer.verdict.message();
    let verdict = answer.verdict.as_str();
    let mut fields: Vec<(&str, Field<'_>)> = vec![
        ("webhook", webhook.as_str().into()),
        ("uid", (&answer.uid).into()),
        ("operation", (&answer.operation).into()),
        ("object", (&object).into()),
        ("verdict", verdict.into()),
        ("code", Field::Number(answer.verdict.code().into())),
    ];
    if !answer.warnings.is_empty() {
        fields.push(("warnings", Field::Number(answer.warnings.len() as i64)));
    }
    match &answer.verdict {
        Verdict::Allowed => {
            fields.push(("micros", Field::Number(took.as_micros() as i64)));
            return shared.log.detail(2, "review answered", &fields);
        }
        Verdict::Invalid(causes) => {
            // The names of rules and not their messages: those quote the VM.
            fields.push(("rules", Field::List(causes.iter().map(|cause| cause.rule.as_str()).collect())));
        }
        Verdict::Refused { .. } => fields.push(("reason", (&message).into())),
    }
    shared.log.info("review refused", &fields);
}
