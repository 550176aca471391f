//! Requests to the API server, each on its own connection: they are few and long-lived.
//!
//! Connections are not reused and requests are not repeated: the caller decides what to do about an
//! `Error`. Each phase of a request has a timeout, so that a server that does not answer is not
//! mistaken for a watch without events.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::config::Connection;
use crate::json;
use crate::server::guard::{Guarded, Pace, Patience};
use crate::value::Value;

/// Timeout of a connection and its handshake.
const CONNECT: Duration = Duration::from_secs(10);
/// Timeout for the start of an answer: lists of large clusters take a while.
const BEGIN: Duration = Duration::from_secs(30);
/// Timeout for the next bytes of an answer that is not a watch.
const SILENCE: Duration = Duration::from_secs(30);
/// Longer than any watch: watches have their own timeout.
const WATCHED: Duration = Duration::from_secs(3600);
/// Interval before the first keep-alive probe; half of it before the next ones.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Unanswered probes after which a connection is dead: 25 seconds in total.
#[cfg(unix)]
const PROBES: u32 = 3;
/// The largest answer that is not a stream, and the largest event of a stream.
pub(super) const LARGEST: usize = 256 << 20;

/// The reason that a request failed.
#[derive(Debug)]
pub(super) enum Error {
    /// The API server's status, message, and requested pause.
    Status(StatusCode, String, Option<Duration>),
    /// The request could not be sent, or the answer not be parsed.
    Other(String),
}

impl Error {
    /// The pause that the API server requests.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Error::Status(_, _, pause) => *pause,
            Error::Other(_) => None,
        }
    }

    pub(super) fn is(&self, code: u16) -> bool {
        matches!(self, Error::Status(status, ..) if status.as_u16() == code)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Status(status, message, _) if message.is_empty() => write!(f, "the API server says {status}"),
            Error::Status(status, message, _) => write!(f, "the API server says {}: {message}", status.as_u16()),
            Error::Other(message) => f.write_str(message),
        }
    }
}

fn other(what: &str) -> impl Fn(&dyn fmt::Display) -> Error {
    let what = what.to_owned();
    move |error| Error::Other(format!("{what}: {error}"))
}

/// A client for one API server.
#[derive(Debug)]
pub(super) struct Client(Connection);

/// An answer; its connection is open as long as it is read.
pub(super) struct ApiResponse {
    response: Response<Incoming>,
    /// The timeout for bytes.
    silence: Duration,
    _connection: Ending,
}

struct Ending(JoinHandle<()>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Client {
    pub(super) fn new(connection: Connection) -> Client {
        Client(connection)
    }

    pub(super) fn server(&self) -> &str {
        &self.0.authority
    }

    /// A list, or a page of one, as metadata of its objects.
    pub(super) async fn list(&self, path: &str) -> Result<Value, Error> {
        let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
        let mut answer = self.ask(Method::GET, path, accept, String::new(), BEGIN).await?;
        let body = answer.whole().await?;
        json::read(&body).map_err(|error| other("the list of the API server cannot be read")(&error))
    }

    /// A stream of events, which must begin at once.
    pub(super) async fn watch(&self, path: &str, within: Duration) -> Result<ApiResponse, Error> {
        let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
        let mut answer = self.ask(Method::GET, path, accept, String::new(), within).await?;
        answer.silence = WATCHED;
        Ok(answer)
    }

    /// The template of a VM with its instance type applied; `None` if the VM has no
    /// namespace.
    pub(super) async fn expand(&self, vm: &Value, within: Duration) -> Result<Option<Value>, Error> {
        let Some(namespace) = vm.at(&["metadata", "namespace"]).and_then(Value::as_str) else { return Ok(None) };
        let namespace = encoded(namespace);
        let path = format!("/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/expand-vm-spec");
        let asked = async {
            let mut answer = self.ask(Method::PUT, &path, "application/json", vm.to_string(), within).await?;
            answer.whole().await
        };
        let body = timeout(within, asked).await.map_err(|error| other("expand-vm-spec")(&error))??;
        let root = json::read(&body).map_err(|error| other("expand-vm-spec")(&error))?;
        Ok(root.at(&["spec", "template"]).cloned())
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        accept: &str,
        body: String,
        within: Duration,
    ) -> Result<ApiResponse, Error> {
        let connection = &self.0;
        let mut request = Request::new(Full::new(Bytes::from(body)));
        let target = format!("{}{path}", connection.prefix);
        *request.uri_mut() = target.parse().map_err(|error| other("the path of the API server")(&error))?;
        let headers = request.headers_mut();
        let value = |text: &str| HeaderValue::from_str(text).map_err(|error| other("a header")(&error));
        headers.insert(HOST, value(&connection.authority)?);
        headers.insert(ACCEPT, value(accept)?);
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("ytterby/", env!("CARGO_PKG_VERSION"))));
        if method != Method::GET {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(token) = connection.token().map_err(Error::Other)? {
            let mut bearer =
                value(&format!("Bearer {token}")).map_err(|_| Error::Other("the token is no token".into()))?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        *request.method_mut() = method;

        let stream = timeout(CONNECT, self.connect())
            .await
            .map_err(|_| Error::Other(format!("{} does not answer", connection.authority)))??;
        let (response, ending) = match &connection.tls {
            None => send(stream, request, within).await?,
            Some((config, name)) => {
                let handshake = TlsConnector::from(config.clone()).connect(name.clone(), stream);
                let tls = timeout(CONNECT, handshake).await.map_err(|error| other("TLS")(&error))?;
                send(tls.map_err(|error| other("TLS to the API server")(&error))?, request, within).await?
            }
        };
        let mut answer = ApiResponse { response, silence: SILENCE, _connection: ending };
        let status = answer.response.status();
        let pause = answer.response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        if status.is_success() {
            return Ok(answer);
        }
        let message = match timeout(BEGIN, answer.whole()).await {
            Ok(Ok(body)) => {
                let root = json::read(&body).unwrap_or(Value::Null);
                root.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()
            }
            _ => String::new(),
        };
        Err(Error::Status(status, message, pause.map(Duration::from_secs)))
    }

    async fn connect(&self) -> Result<TcpStream, Error> {
        let connection = &self.0;
        let (resolve, host, port) = (connection.resolver, connection.host.clone(), connection.port);
        let fail = other(&connection.authority);
        // Name resolution blocks.
        let found = tokio::task::spawn_blocking(move || resolve(&host, port)).await;
        let addresses = found.map_err(|error| fail(&error))?.map_err(|error| fail(&error))?;
        let mut last = Error::Other(format!("{} has no address", connection.authority));
        for address in addresses {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    // Without it, a dead host is noticed later, when the watch ends.
                    let _ = SockRef::from(&stream).set_tcp_keepalive(&keep_alive());
                    return Ok(stream);
                }
                Err(error) => last = fail(&error),
            }
        }
        Err(last)
    }
}

/// The TCP keep-alive settings.
fn keep_alive() -> TcpKeepalive {
    let probes = TcpKeepalive::new().with_time(KEEP_ALIVE);
    #[cfg(unix)]
    let probes = probes.with_interval(KEEP_ALIVE / 2).with_retries(PROBES);
    probes
}

async fn send<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    within: Duration,
) -> Result<(Response<Incoming>, Ending), Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let fail = other("asking the API server");
    let patience = Patience { client: BEGIN, idle: WATCHED };
    let io = Guarded::new(stream, Pace::busy(), patience);
    let (mut sender, connection) = http1::handshake(io).await.map_err(|error| fail(&error))?;
    let ending = Ending(tokio::spawn(async move {
        // The reader of the answer gets the error.
        let _ = connection.await;
    }));
    let sent = timeout(within, sender.send_request(request)).await;
    let sent = sent.map_err(|_| Error::Other(format!("the API server did not answer within {within:?}")))?;
    Ok((sent.map_err(|error| fail(&error))?, ending))
}

impl ApiResponse {
    /// The next bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let fail = other("reading from the API server");
        loop {
            let frame = pin!(self.response.body_mut().frame());
            match timeout(self.silence, frame).await.map_err(|error| fail(&error))? {
                None => return Ok(None),
                Some(frame) => {
                    if let Ok(data) = frame.map_err(|error| fail(&error))?.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    async fn whole(&mut self) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(data) = self.next().await? {
            if body.len() + data.len() > LARGEST {
                return Err(Error::Other("the answer of the API server is too large".to_owned()));
            }
            body.extend_from_slice(&data);
        }
        Ok(body)
    }
}

/// Escapes a text for a path or a query.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
