//! A small API server with pages of lists, watches, and every way in which both can fail.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Objects per page of a list.
const PAGE: usize = 2;

pub const TEMPLATES: &str = "/apis/template.openshift.io/v1/templates";
pub const VMS: &str = "/apis/kubevirt.io/v1/virtualmachines";

/// The server; it runs until the tests end.
#[derive(Clone)]
pub struct Api {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub struct State {
    resources: HashMap<&'static str, Resource>,
    /// The heads of all requests.
    pub requests: Vec<String>,
    /// The answer to an expansion.
    pub expanded: Option<String>,
    /// The duration of an expansion.
    pub expansion: Duration,
    /// The current fault.
    pub fault: Fault,
    /// Watches that lasted as long as requested.
    pub whole_watches: usize,
    version: u64,
}

#[derive(Default)]
struct Resource {
    objects: BTreeMap<String, String>,
    events: Vec<(u64, String)>,
    /// Watches from older versions fail.
    oldest: u64,
    /// The status to answer instead.
    status: Option<u16>,
    /// The status to answer to watches instead.
    watch_status: Option<u16>,
    /// Watches end when it grows.
    cuts: u64,
}

/// A fault of the server or the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fault {
    #[default]
    None,
    /// Connections stay open, but no bytes arrive any more, not even their end.
    HalfOpen,
    /// All connections are closed, including open ones.
    Down,
    /// Every answer ends in the middle.
    Cut,
    /// Requests are refused with `Retry-After: 1`.
    Busy,
    /// Lists arrive slowly, in small pieces.
    Slow,
}

impl Api {
    pub fn start(tls: Option<Arc<ServerConfig>>) -> Api {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api = Api { address: listener.local_addr().unwrap(), state: Arc::default() };
        for path in [TEMPLATES, VMS] {
            api.state().resources.insert(path, Resource::default());
        }
        let server = api.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (server, tls) = (server.clone(), tls.clone());
                std::thread::spawn(move || match tls {
                    None => server.serve(stream),
                    Some(config) => server.serve(StreamOwned::new(ServerConnection::new(config).unwrap(), stream)),
                });
            }
        });
        api
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Answers requests for a kind with this status, or normally.
    pub fn fail(&self, path: &str, status: Option<u16>) {
        self.state().resources.get_mut(path).unwrap().status = status;
    }

    /// Answers watches of a kind with this status, including open ones.
    pub fn fail_watches(&self, path: &str, status: u16) {
        let mut state = self.state();
        let resource = state.resources.get_mut(path).unwrap();
        resource.watch_status = Some(status);
        resource.cuts += 1;
    }

    /// Ends all watches of a kind.
    pub fn cut(&self, path: &str) {
        self.state().resources.get_mut(path).unwrap().cuts += 1;
    }

    /// Forgets the history, and ends all watches.
    pub fn forget(&self, path: &str) {
        let mut state = self.state();
        state.version += 10;
        let version = state.version;
        let resource = state.resources.get_mut(path).unwrap();
        resource.oldest = version;
        resource.events.clear();
        resource.cuts += 1;
    }

    /// Adds, changes or (without metadata) deletes an object.
    pub fn put(&self, path: &str, namespace: &str, name: &str, metadata: Option<&str>) {
        let mut state = self.state();
        state.version += 1;
        let version = state.version;
        let resource = state.resources.get_mut(path).unwrap();
        let key = format!("{namespace}/{name}");
        let object = |metadata: &str| {
            format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","resourceVersion":"{version}"{metadata}}}}}"#
            )
        };
        let (kind, object) = match metadata {
            Some(metadata) => {
                let object = object(metadata);
                let is_new = resource.objects.insert(key, object.clone()).is_none();
                (if is_new { "ADDED" } else { "MODIFIED" }, object)
            }
            None => {
                resource.objects.remove(&key);
                ("DELETED", object(""))
            }
        };
        resource.events.push((version, format!(r#"{{"type":"{kind}","object":{object}}}"#)));
    }

    /// Sends a line to all watches.
    pub fn say(&self, path: &str, line: &str) {
        let mut state = self.state();
        state.version += 1;
        let version = state.version;
        state.resources.get_mut(path).unwrap().events.push((version, line.replace("VERSION", &version.to_string())));
    }

    /// The number of requests whose heads contain this text.
    pub fn count(&self, part: &str) -> usize {
        self.state().requests.iter().filter(|head| head.contains(part)).count()
    }

    fn serve(&self, stream: impl Read + Write) {
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(stream.read_line(&mut head), Ok(1..)) {
                return;
            }
        }
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).is_err() {
            return;
        }
        let fault = self.state().fault;
        match fault {
            Fault::Down => return,
            Fault::HalfOpen => return self.hang(),
            Fault::Busy => {
                self.state().requests.push(head);
                let text = "HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                let _ = stream.get_mut().write_all(text.as_bytes());
                return;
            }
            Fault::None | Fault::Cut | Fault::Slow => {}
        }
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut state = self.state();
        state.requests.push(head);
        let (expanded, expansion) = (state.expanded.clone(), state.expansion);
        let version = state.version;
        let out = stream.get_mut();
        let Some(resource) = state.resources.get(path) else {
            drop(state);
            std::thread::sleep(expansion);
            let _ = match expanded.filter(|_| path.ends_with("/expand-vm-spec")) {
                Some(text) => reply(out, 200, &text),
                None => reply(out, 404, "404 page not found"),
            };
            return;
        };
        let option = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        if let Some(status) = resource.status.or(resource.watch_status.filter(|_| option("watch").is_some())) {
            drop(state);
            let _ = reply(out, status, &format!(r#"{{"kind":"Status","message":"it says {status}","code":{status}}}"#));
        } else if option("watch").is_some() {
            let from = option("resourceVersion").and_then(|text| text.parse().ok()).unwrap_or(0);
            let cuts = resource.cuts;
            let seconds = option("timeoutSeconds").and_then(|text| text.parse().ok()).unwrap_or(3600);
            drop(state);
            self.watch(out, path, from, cuts, Instant::now() + Duration::from_secs(seconds));
        } else {
            let from: usize = option("continue").and_then(|text| text.parse().ok()).unwrap_or(0);
            let limit = if option("limit").is_some() { PAGE } else { usize::MAX };
            let items: Vec<&str> = resource.objects.values().skip(from).take(limit).map(String::as_str).collect();
            let is_last = from + items.len() >= resource.objects.len();
            let next = if is_last { String::new() } else { format!(r#","continue":"{}""#, from + items.len()) };
            let text =
                format!(r#"{{"metadata":{{"resourceVersion":"{version}"{next}}},"items":[{}]}}"#, items.join(","));
            drop(state);
            match fault {
                Fault::Cut => {
                    let _ = write!(out, "HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n{}", text.len(), &text[..9]);
                }
                Fault::Slow => {
                    let _ = write!(out, "HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n", text.len());
                    for part in text.as_bytes().chunks(100) {
                        std::thread::sleep(Duration::from_millis(50));
                        let _ = out.write_all(part).and_then(|()| out.flush());
                    }
                }
                _ => _ = reply(out, 200, &text),
            }
        }
    }

    /// Keeps a connection open and silent during the fault.
    fn hang(&self) {
        while self.state().fault == Fault::HalfOpen {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn watch(&self, out: &mut impl Write, path: &str, from: u64, cuts: u64, end: Instant) {
        let mut seen = from;
        if from < self.state().resources[path].oldest {
            let _ = reply(out, 410, r#"{"message":"too old resource version","code":410}"#);
            return;
        }
        if out.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").is_err() {
            return;
        }
        loop {
            let (news, is_cut) = {
                let mut state = self.state();
                match state.fault {
                    Fault::Down => return,
                    Fault::HalfOpen => {
                        drop(state);
                        return self.hang();
                    }
                    Fault::Cut => {
                        // The beginning of an event, and no more.
                        drop(state);
                        let _ = out.write_all(b"40\r\n{\"type\":\"ADDED\",\"obj").and_then(|()| out.flush());
                        return;
                    }
                    Fault::None | Fault::Busy | Fault::Slow => {}
                }
                if Instant::now() >= end {
                    state.whole_watches += 1;
                    drop(state);
                    let _ = out.write_all(b"0\r\n\r\n").and_then(|()| out.flush());
                    return;
                }
                let resource = &state.resources[path];
                let news: Vec<_> = resource.events.iter().filter(|(version, _)| *version > seen).cloned().collect();
                (news, resource.cuts != cuts || resource.status.is_some())
            };
            for (version, line) in news {
                seen = version;
                // In two parts: lines may arrive in pieces.
                let line = format!("{line}\n");
                let (first, second) = line.split_at(line.len() / 2);
                for part in [first, second] {
                    let chunk = format!("{:x}\r\n{part}\r\n", part.len());
                    if out.write_all(chunk.as_bytes()).and_then(|()| out.flush()).is_err() {
                        return;
                    }
                }
            }
            if is_cut {
                let _ = out.write_all(b"0\r\n\r\n").and_then(|()| out.flush());
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn reply(out: &mut impl Write, status: u16, body: &str) -> std::io::Result<()> {
    write!(out, "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())?;
    out.flush()
}

/// Fails lookups at once.
pub fn resolver(host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
    std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect)
}

/// An address without a listener.
pub fn nobody() -> SocketAddr {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(TcpStream::connect(address).is_err());
    address
}
