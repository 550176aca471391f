//! Addresses of hosts, from `/etc/hosts` and from name servers.
//!
//! On Linux the program is linked statically, and such a program cannot use the system's resolver: the C library would load parts of itself at run time,
//! which must be of the very version that was linked. So names are looked up here, in the places where the reference
//! looks them up too.

mod message;
mod system;

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use self::message::{Answer, Record};
use self::system::{Hosts, Servers};

/// As many addresses as the library takes.
const MAX_ADDRESSES: usize = 16;

/// Looks up names as the files in `/etc` say.
#[derive(Debug)]
pub(super) struct Names;

impl Resolver for Names {
    fn resolve(&self, uri: &Uri, _: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().unwrap_or_default();
        let default_port = match uri.scheme_str() {
            Some("https") => 443,
            Some("socks4" | "socks4a" | "socks5" | "socks5h") => 1080,
            _ => 80,
        };
        let port = uri.port_u16().unwrap_or(default_port);
        let until = Instant::now() + (*timeout.after).min(Duration::from_secs(3600));
        let addresses = look_up(host, &Hosts::of_system(), &Servers::of_system(), until)?;

        let mut result = self.empty();
        for address in sorted(addresses).into_iter().take(MAX_ADDRESSES) {
            result.push(SocketAddr::new(address, port));
        }
        if result.is_empty() { Err(Error::HostNotFound) } else { Ok(result) }
    }
}

/// The addresses of a host, each with the port; it may take this long to find them.
#[cfg(feature = "server")]
pub(super) fn addresses(host: &str, port: u16, within: Duration) -> io::Result<Vec<SocketAddr>> {
    let addresses = look_up(host, &Hosts::of_system(), &Servers::of_system(), Instant::now() + within)?;
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no such host"));
    }
    Ok(sorted(addresses).into_iter().map(|address| SocketAddr::new(address, port)).collect())
}

/// The addresses of a host; none where nobody knows it.
fn look_up(host: &str, hosts: &Hosts, servers: &Servers, until: Instant) -> io::Result<Vec<IpAddr>> {
    let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = literal.parse() {
        return Ok(vec![address]);
    }
    let known = hosts.addresses(host);
    if !known.is_empty() {
        return Ok(known);
    }
    let name = host.to_ascii_lowercase();
    let plain = name.strip_suffix('.').unwrap_or(&name);
    if plain == "localhost" || plain.ends_with(".localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    for candidate in servers.candidates(&name) {
        let found = ask_all(&candidate, servers, until)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The addresses of exactly this name.
fn ask_all(name: &str, servers: &Servers, until: Instant) -> io::Result<Vec<IpAddr>> {
    let mut addresses = Vec::new();
    let mut failure = None;
    for record in [Record::V4, Record::V6] {
        match ask_each(name, record, servers, until) {
            Ok(Some(found)) => addresses.extend(found),
            // There is no such name, whatever the kind of address.
            Ok(None) => return Ok(Vec::new()),
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        // Half an answer is better than none.
        Some(error) if addresses.is_empty() => Err(error),
        _ => Ok(addresses),
    }
}

/// The addresses of one kind from the first server that knows; none where there is no such name.
fn ask_each(name: &str, record: Record, servers: &Servers, until: Instant) -> io::Result<Option<Vec<IpAddr>>> {
    let mut last = io::Error::other("no name server is known");
    for _ in 0..servers.attempts {
        for server in &servers.addresses {
            let left = until.saturating_duration_since(Instant::now()).min(servers.timeout);
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match ask(*server, name, record, left) {
                Ok(Answer::Addresses(addresses)) => return Ok(Some(addresses)),
                Ok(Answer::NoSuchName) => return Ok(None),
                Ok(Answer::Refused | Answer::Truncated) => {
                    last = io::Error::other(format!("name server {server} cannot answer"));
                }
                Err(error) => last = io::Error::new(error.kind(), format!("name server {server}: {error}")),
            }
        }
    }
    Err(io::Error::new(last.kind(), format!("failed to lookup address information: {last}")))
}

/// Asks one server.
fn ask(server: SocketAddr, name: &str, record: Record, within: Duration) -> io::Result<Answer> {
    // What nobody can guess from outside, so that nobody else can answer.
    let id = RandomState::new().hash_one(name) as u16;
    let Some(question) = message::question(id, name, record) else { return Ok(Answer::NoSuchName) };
    match ask_by_packet(server, &question, within)? {
        Answer::Truncated => ask_by_stream(server, &question, within),
        answer => Ok(answer),
    }
}

fn ask_by_packet(server: SocketAddr, question: &[u8], within: Duration) -> io::Result<Answer> {
    let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(server)?;
    socket.send(question)?;
    let until = Instant::now() + within;
    let mut packet = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"));
        }
        socket.set_read_timeout(Some(left))?;
        let len = match socket.recv(&mut packet) {
            Ok(len) => len,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // What answers another question is late, or forged.
        if let Some(answer) = message::answer(&packet[..len], question) {
            return Ok(answer);
        }
    }
}

fn ask_by_stream(server: SocketAddr, question: &[u8], within: Duration) -> io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&server, within)?;
    stream.set_read_timeout(Some(within))?;
    stream.set_write_timeout(Some(within))?;
    let mut packet = (question.len() as u16).to_be_bytes().to_vec();
    packet.extend(question);
    stream.write_all(&packet)?;
    let mut len = [0; 2];
    stream.read_exact(&mut len)?;
    let mut packet = vec![0; usize::from(u16::from_be_bytes(len))];
    stream.read_exact(&mut packet)?;
    Ok(message::answer(&packet, question).unwrap_or(Answer::Refused))
}

/// Those that there is a way to come first; among them the order of the answer holds.
fn sorted(mut addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let is_reachable = |address: &IpAddr| {
        let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        // Connecting such a socket sends nothing; it fails where no route leads to the address.
        UdpSocket::bind((any, 0)).and_then(|socket| socket.connect((*address, 53))).is_ok()
    };
    addresses.sort_by_cached_key(|address| !is_reachable(address));
    addresses
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A name server that knows `a.example` and `big.example`; answers for the latter fit no packet.
    fn serve() -> SocketAddr {
        let (udp, tcp) = loop {
            let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
            if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
                break (udp, tcp);
            }
        };
        let address = udp.local_addr().unwrap();
        thread::spawn(move || {
            let mut packet = [0; 512];
            while let Ok((len, from)) = udp.recv_from(&mut packet) {
                // First a forged answer: of another question.
                let mut forged = reply(&packet[..len], false);
                forged[0] ^= 0xff;
                udp.send_to(&forged, from).unwrap();
                udp.send_to(&reply(&packet[..len], true), from).unwrap();
            }
        });
        thread::spawn(move || {
            for mut stream in tcp.incoming().flatten() {
                let mut len = [0; 2];
                stream.read_exact(&mut len).unwrap();
                let mut question = vec![0; usize::from(u16::from_be_bytes(len))];
                stream.read_exact(&mut question).unwrap();
                let reply = reply(&question, false);
                stream.write_all(&(reply.len() as u16).to_be_bytes()).unwrap();
                stream.write_all(&reply).unwrap();
            }
        });
        address
    }

    fn reply(question: &[u8], by_packet: bool) -> Vec<u8> {
        let mut reply = question.to_vec();
        let is = |name: &[u8]| question[12..].starts_with(name);
        let wants_v4 = question[question.len() - 3] == 1;
        reply[2] = 0x81;
        match () {
            () if is(b"\x03big\x07example\0") && by_packet => reply[2] |= 2,
            () if is(b"\x03big\x07example\0") || is(b"\x01a\x07example\0") => {
                let data: &[u8] = if wants_v4 { &[10, 1, 2, 3] } else { &[1; 16] };
                reply[7] = 1;
                reply.extend([0xc0, 12, 0, question[question.len() - 3], 0, 1, 0, 0, 0, 1, 0, data.len() as u8]);
                reply.extend(data);
            }
            () if is(b"\x06broken") => reply[3] = 2,
            () => reply[3] = 3,
        }
        reply
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    fn servers(address: SocketAddr, search: &str) -> Servers {
        let mut servers = Servers::parse(search);
        servers.addresses = vec![address];
        servers
    }

    fn found(host: &str, servers: &Servers) -> Vec<IpAddr> {
        look_up(host, &Hosts::parse("10.9.9.9 known.example"), servers, soon()).unwrap()
    }

    #[test]
    fn names_are_found_in_files_and_by_servers() {
        let servers = servers(serve(), "");
        let both: Vec<IpAddr> = vec![[10, 1, 2, 3].into(), [1u8; 16].into()];
        assert_eq!(found("A.example", &servers), both);
        assert_eq!(found("big.example", &servers), both, "over TCP");
        assert_eq!(found("known.example", &servers), [IpAddr::from([10, 9, 9, 9])]);
        assert_eq!(found("10.0.0.7", &servers), [IpAddr::from([10, 0, 0, 7])]);
        assert_eq!(found("[::1]", &servers), [IpAddr::from(Ipv6Addr::LOCALHOST)]);
        assert_eq!(found("x.localhost", &servers)[0], Ipv4Addr::LOCALHOST);
        assert!(found("nobody.example", &servers).is_empty());
        assert!(found("a..b", &servers).is_empty());
    }

    #[test]
    fn names_without_dots_are_looked_for_in_the_search_list() {
        let servers = servers(serve(), "search other example");
        assert_eq!(found("a", &servers)[0], IpAddr::from([10, 1, 2, 3]));
        assert!(found("a.", &servers).is_empty(), "a dot at the end says that the name is whole");
    }

    #[test]
    fn a_server_that_cannot_answer_is_an_error() {
        let servers = servers(serve(), "");
        let error = look_up("broken.example", &Hosts::default(), &servers, soon()).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("failed to lookup address information: name server 127.0.0.1:"), "{text}");
        assert!(text.ends_with("cannot answer"), "{text}");
    }

    #[test]
    fn a_silent_server_is_not_waited_for_for_ever() {
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let servers = servers(silent.local_addr().unwrap(), "");
        let until = Instant::now() + Duration::from_millis(50);
        assert!(look_up("a.example", &Hosts::default(), &servers, until).is_err());
    }
}
