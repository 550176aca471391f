//! A web server, or a proxy, for one test.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The connection of a handler.
pub trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

/// Answers every connection by a handler and records the heads of all requests. Ends with the
/// test's process.
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

/// Gets the head of a request and answers on the stream, which is closed afterwards.
type Handler = dyn Fn(&str, &mut dyn Stream) + Send + Sync;

impl Server {
    pub fn start(handler: impl Fn(&str, &mut dyn Stream) + Send + Sync + 'static) -> Server {
        Server::listen(None, Arc::new(handler))
    }

    /// A TLS server with this identity.
    pub fn start_tls(identity: &Identity, handler: impl Fn(&str, &mut dyn Stream) + Send + Sync + 'static) -> Server {
        Server::listen(Some(identity.config.clone()), Arc::new(handler))
    }

    /// A server with the same answer to every request.
    pub fn answering(answer: impl Into<Vec<u8>>) -> Server {
        let answer = answer.into();
        Server::start(move |_, stream| write(stream, &answer))
    }

    /// A server that does not use HTTP, or not at first.
    pub fn start_raw(handler: impl Fn(&mut dyn Stream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server { address: listener.local_addr().unwrap(), requests: Arc::default() };
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                handler(&mut stream);
            }
        });
        server
    }

    fn listen(tls: Option<Arc<ServerConfig>>, handler: Arc<Handler>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server { address: listener.local_addr().unwrap(), requests: Arc::default() };
        let requests = Arc::clone(&server.requests);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (tls, handler, requests) = (tls.clone(), Arc::clone(&handler), Arc::clone(&requests));
                thread::spawn(move || match tls {
                    Some(config) => serve(&mut secured(stream, config), &*handler, &requests),
                    None => serve(&mut { stream }, &*handler, &requests),
                });
            }
        });
        server
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:port/path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// The heads of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: &mut dyn Stream, handler: &Handler, requests: &Mutex<Vec<String>>) {
    let head = read_head(stream);
    if !head.is_empty() {
        requests.lock().unwrap().push(head.clone());
        handler(&head, stream);
    }
}

/// The server side of a TLS connection.
pub fn secured<S: Read + Write>(stream: S, config: Arc<ServerConfig>) -> StreamOwned<ServerConnection, S> {
    StreamOwned::new(ServerConnection::new(config).unwrap(), stream)
}

/// Reads up to the empty line; empty if the client disconnects.
pub fn read_head(stream: &mut dyn Stream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return String::new(),
        }
    }
    String::from_utf8(head).unwrap()
}

/// Writes, ignoring disconnected clients.
pub fn write(stream: &mut dyn Stream, bytes: &[u8]) {
    let _ = stream.write_all(bytes).and_then(|()| stream.flush());
}

/// Sends nothing until the client disconnects.
pub fn wait_for_the_end(stream: &mut dyn Stream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

/// A response with this status line, these header lines and this body.
pub fn response(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    headers.iter().for_each(|line| head.extend([line, "\r\n"]));
    [head.as_bytes(), b"\r\n", body].concat()
}

/// A server's certificate and key, and the authority that signed it.
pub struct Identity {
    pub config: Arc<ServerConfig>,
    /// The certificate to trust.
    pub authority: String,
}

impl Identity {
    pub fn of(name: &str) -> Identity {
        Identity::made(name, rcgen::IsCa::NoCa)
    }

    /// An identity whose certificate could sign others.
    pub fn of_authority(name: &str) -> Identity {
        Identity::made(name, rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained))
    }

    fn made(name: &str, is_ca: rcgen::IsCa) -> Identity {
        let mut parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        parameters.is_ca = is_ca;
        let pair = rcgen::KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&pair).unwrap();
        let key = PrivatePkcs8KeyDer::from(pair.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key.into())
            .unwrap();
        Identity { config: Arc::new(config), authority: certificate.pem() }
    }
}

/// A port that is not in use: it was free a moment ago.
pub fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
