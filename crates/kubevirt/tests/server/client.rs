//! A client that can misbehave in every way: plain sockets, TLS, and the few lines of HTTP that the
//! tests need.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use ytterby_kubevirt::json;
use ytterby_kubevirt::value::Value;

/// Longer than anything in the tests should take.
const PATIENCE: Duration = Duration::from_secs(20);

/// An open connection.
pub struct Client(BufReader<Stream>);

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}

/// The response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Response {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        json::read(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The response of the review.
    pub fn review(&self) -> Value {
        let root = self.json();
        assert_eq!(root.get("kind").and_then(Value::as_str), Some("AdmissionReview"), "{root}");
        root.get("response").unwrap().clone()
    }
}

/// Trusts this certificate.
pub fn trusting(certificate: &CertificateDer<'static>) -> ClientConfig {
    trusting_in(certificate, rustls::ALL_VERSIONS)
}

pub fn trusting_in(
    certificate: &CertificateDer<'static>,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

impl Client {
    pub fn plain(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Client(BufReader::new(Stream::Plain(stream)))
    }

    /// Connects with a TLS handshake.
    pub fn tls(address: SocketAddr, config: ClientConfig) -> io::Result<Client> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let name = ServerName::try_from("localhost").unwrap();
        let mut connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        Ok(Client(BufReader::new(Stream::Tls(Box::new(StreamOwned::new(connection, stream))))))
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.0.get_mut().write_all(bytes.as_ref())?;
        self.0.get_mut().flush()
    }

    /// Closes the sending side.
    pub fn finish(&mut self) {
        let Stream::Plain(stream) = self.0.get_ref() else { panic!("only without TLS") };
        stream.shutdown(std::net::Shutdown::Write).unwrap();
    }

    /// Reads one response. Fails if the connection ends before it.
    pub fn receive(&mut self) -> io::Result<Response> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head)? == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("the connection ended: {head:?}")));
            }
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        self.0.read_exact(&mut body)?;
        Ok(Response { status, head, body })
    }

    /// Everything until the other side closes the connection.
    pub fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        // A connection that is reset has ended, too.
        let _ = self.0.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the other side has closed the connection.
    pub fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.0.read(&mut byte) {
            Ok(count) => count == 0,
            Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
        }
    }

    pub fn get(&mut self, path: &str) -> Response {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")).unwrap();
        self.receive().unwrap()
    }

    pub fn post(&mut self, path: &str, body: impl AsRef<[u8]>) -> Response {
        self.post_as(path, "application/json", body)
    }

    pub fn post_as(&mut self, path: &str, kind: &str, body: impl AsRef<[u8]>) -> Response {
        let body = body.as_ref();
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        );
        self.send([head.as_bytes(), body].concat()).unwrap();
        self.receive().unwrap()
    }
}
