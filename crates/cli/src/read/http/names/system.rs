//! What the system says about names: `/etc/hosts`, `/etc/resolv.conf`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// As many servers as other resolvers use.
const MAX_SERVERS: usize = 3;
const PORT: u16 = 53;

/// Names with fixed addresses.
#[derive(Default, Debug)]
pub(super) struct Hosts {
    text: String,
}

impl Hosts {
    /// `/etc/hosts`; empty where there is none.
    pub fn of_system() -> Hosts {
        Hosts::parse(&read("/etc/hosts"))
    }

    pub fn parse(text: &str) -> Hosts {
        Hosts { text: text.to_owned() }
    }

    /// The addresses of a name, in the order of the file.
    pub fn addresses(&self, name: &str) -> Vec<IpAddr> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let address = |line: &str| {
            let mut words = line.split('#').next().unwrap_or_default().split_ascii_whitespace();
            let address = words.next()?.parse().ok()?;
            words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
        };
        self.text.lines().filter_map(address).collect()
    }
}

/// Whom to ask, and how.
#[derive(Debug)]
pub(super) struct Servers {
    pub addresses: Vec<SocketAddr>,
    /// Domains in which names with few dots are looked for.
    search: Vec<String>,
    /// Names with so many dots are tried as they are before they are looked for in domains.
    dots: usize,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// How often to ask every server.
    pub attempts: u32,
}

impl Servers {
    /// `/etc/resolv.conf`; a server on this machine where there is none.
    pub fn of_system() -> Servers {
        Servers::parse(&read("/etc/resolv.conf"))
    }

    pub fn parse(text: &str) -> Servers {
        let mut servers = Servers {
            addresses: Vec::new(),
            search: Vec::new(),
            dots: 1,
            timeout: Duration::from_secs(5),
            attempts: 2,
        };
        for line in text.lines() {
            let mut words = line.split(['#', ';']).next().unwrap_or_default().split_ascii_whitespace();
            match words.next() {
                Some("nameserver") if servers.addresses.len() < MAX_SERVERS => {
                    // The zone of a link-local address is not looked at.
                    let address = words.next().and_then(|word| word.split('%').next()?.parse().ok());
                    servers.addresses.extend(address.map(|address: IpAddr| SocketAddr::new(address, PORT)));
                }
                Some("search" | "domain") => servers.search = words.map(str::to_owned).collect(),
                Some("options") => words.for_each(|word| servers.set_option(word)),
                _ => {}
            }
        }
        if servers.addresses.is_empty() {
            servers.addresses.push(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PORT));
        }
        servers
    }

    fn set_option(&mut self, word: &str) {
        let Some((name, value)) = word.split_once(':') else { return };
        let Ok(value) = value.parse::<u32>() else { return };
        match name {
            "ndots" => self.dots = value.min(15) as usize,
            "timeout" => self.timeout = Duration::from_secs(value.clamp(1, 30).into()),
            "attempts" => self.attempts = value.clamp(1, 5),
            _ => {}
        }
    }

    /// The names to ask for, in order.
    pub fn candidates(&self, name: &str) -> Vec<String> {
        if name.ends_with('.') {
            return vec![name.to_owned()];
        }
        let is_whole_first = name.matches('.').count() >= self.dots;
        let mut names: Vec<String> = self.search.iter().map(|domain| format!("{name}.{domain}")).collect();
        let at = if is_whole_first { 0 } else { names.len() };
        names.insert(at, name.to_owned());
        names
    }
}

fn read(path: &str) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_by_all_their_names() {
        let hosts = Hosts::parse("127.0.0.1 localhost\n# 10.0.0.1 off\n10.0.0.2\tOne two # three\n::2 one\nx one\n");
        assert_eq!(hosts.addresses("one"), [IpAddr::from([10, 0, 0, 2]), "::2".parse().unwrap()]);
        assert_eq!(hosts.addresses("TWO."), [IpAddr::from([10, 0, 0, 2])]);
        assert!(hosts.addresses("three").is_empty());
        assert!(hosts.addresses("off").is_empty());
    }

    #[test]
    fn servers_and_options_are_read() {
        let text = "; words\nnameserver 10.0.0.1\nnameserver fe80::1%eth0\nnameserver no\noptions ndots:2 timeout:1 rotate\n\
                    options attempts:99\nnameserver 10.0.0.3\nnameserver 10.0.0.4\nsearch a.example b.example\n";
        let servers = Servers::parse(text);
        let addresses: Vec<String> = servers.addresses.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["10.0.0.1:53", "[fe80::1]:53", "10.0.0.3:53"]);
        assert_eq!((servers.timeout, servers.attempts), (Duration::from_secs(1), 5));
        assert_eq!(servers.candidates("x.y"), ["x.y.a.example", "x.y.b.example", "x.y"]);
        assert_eq!(servers.candidates("x.y.z"), ["x.y.z", "x.y.z.a.example", "x.y.z.b.example"]);
        assert_eq!(servers.candidates("x."), ["x."]);
    }

    #[test]
    fn without_servers_this_machine_is_asked() {
        assert_eq!(Servers::parse("").addresses, ["127.0.0.1:53".parse().unwrap()]);
    }
}
