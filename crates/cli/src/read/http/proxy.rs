//! Chooses the proxy of a request.
//!
//! The variables and their rules are the reference's: `HTTP_PROXY` for `http`, `HTTPS_PROXY` for
//! `https`, `NO_PROXY` for exceptions, each also in lower case. Requests to this machine never use
//! a proxy.

use std::net::IpAddr;

use ytterby_text::url::Url;

/// The variable that names the proxy, and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Named {
    pub variable: &'static str,
    pub value: String,
}

/// The proxy for a URL, if any. `env` looks up variables.
pub(super) fn choose(url: &Url, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<Named>, String> {
    let first = |names: [&'static str; 2]| {
        names.into_iter().find_map(|name| {
            let value = env(name).filter(|value| !value.is_empty())?;
            Some(Named { variable: name, value })
        })
    };
    let (named, port) = match url.scheme() {
        b"https" => (first(["HTTPS_PROXY", "https_proxy"]), "443"),
        _ => (first(["HTTP_PROXY", "http_proxy"]), "80"),
    };
    let Some(named) = named else { return Ok(None) };
    // In a CGI program the client of the web server controls this variable.
    if named.variable == "HTTP_PROXY" && env("REQUEST_METHOD").is_some_and(|method| !method.is_empty()) {
        return Err("refusing to use HTTP_PROXY value in CGI environment; see golang.org/s/cgihttpproxy".into());
    }
    let host = url.hostname().to_str().trim().to_ascii_lowercase();
    let port = Some(url.port()).filter(|port| !port.is_empty()).map_or(port.into(), String::from_utf8_lossy);
    let exceptions = first(["NO_PROXY", "no_proxy"]).map(|named| named.value).unwrap_or_default();
    let is_direct = is_this_machine(&host) || is_exception(&exceptions, &host, &port);
    Ok(Some(named).filter(|_| !is_direct))
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn is_exception(exceptions: &str, host: &str, port: &str) -> bool {
    let address = host.parse().ok();
    exceptions.split(',').map(|rule| rule.trim().to_ascii_lowercase()).filter(|rule| !rule.is_empty()).any(|rule| {
        if rule == "*" {
            return true;
        }
        if let Some((network, bits)) = network(&rule) {
            return address.is_some_and(|address| is_inside(address, network, bits));
        }
        let (name, only_port) = split_port(&rule);
        if only_port.is_some_and(|only| only != port) {
            return false;
        }
        if let Ok(excepted) = name.parse::<IpAddr>() {
            return address == Some(excepted);
        }
        // `name` matches itself and its subdomains; `.name` and `*.name` only subdomains.
        let below = name.strip_prefix("*.").or(name.strip_prefix('.'));
        let name = below.unwrap_or(name);
        let is_below = host.strip_suffix(name).is_some_and(|start| start.ends_with('.'));
        !name.is_empty() && (is_below || (below.is_none() && host == name))
    })
}

/// Parses `10.0.0.0/8`.
fn network(rule: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = rule.split_once('/')?;
    Some((address.parse().ok()?, bits.parse().ok()?))
}

fn is_inside(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let differ = (address.to_bits() ^ network.to_bits()).leading_zeros();
            bits <= 32 && differ >= bits
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let differ = (address.to_bits() ^ network.to_bits()).leading_zeros();
            bits <= 128 && differ >= bits
        }
        _ => false,
    }
}

/// Splits `name:8080`, `[::1]:8080`, `[::1]`, `::1`.
fn split_port(rule: &str) -> (&str, Option<&str>) {
    if let Some(inner) = rule.strip_prefix('[')
        && let Some((address, behind)) = inner.split_once(']')
    {
        return (address, behind.strip_prefix(':'));
    }
    match rule.split_once(':') {
        Some((name, port)) if !port.contains(':') => (name, Some(port)),
        _ => (rule, None),
    }
}

#[cfg(test)]
mod tests {
    use ytterby_text::url::parse;

    use super::*;

    /// `variables` has `NAME=value` lines; `want` is the variable that must be chosen.
    fn check(variables: &str, url: &str, want: Option<&str>) {
        let env = |name: &str| {
            let mut lines = variables.split(' ');
            lines
                .find_map(|line| line.split_once('=').filter(|(key, _)| *key == name))
                .map(|(_, value)| value.to_owned())
        };
        let got = choose(&parse(url.as_bytes()).unwrap(), &env);
        assert_eq!(got.map(|named| named.map(|named| named.variable)), Ok(want), "{variables} {url}");
    }

    #[test]
    fn each_scheme_has_its_own_variable() {
        check("", "http://a/", None);
        check("HTTP_PROXY=p", "http://a/", Some("HTTP_PROXY"));
        check("HTTP_PROXY=p", "https://a/", None);
        check("HTTPS_PROXY=p", "https://a/", Some("HTTPS_PROXY"));
        check("HTTPS_PROXY=p ALL_PROXY=p", "http://a/", None);
        check("HTTP_PROXY= http_proxy=q", "http://a/", Some("http_proxy"));
        check("HTTP_PROXY=p http_proxy=q", "http://a/", Some("HTTP_PROXY"));
    }

    #[test]
    fn requests_to_this_machine_use_no_proxy() {
        for url in ["http://localhost:1/", "http://LOCALHOST/", "http://127.0.0.9/", "http://[::1]:80/"] {
            check("HTTP_PROXY=p", url, None);
        }
        check("HTTP_PROXY=p", "http://localhost.example/", Some("HTTP_PROXY"));
    }

    #[test]
    fn exceptions_are_names_addresses_and_networks() {
        let direct = |no_proxy: &str, url| check(&format!("HTTP_PROXY=p NO_PROXY={no_proxy}"), url, None);
        let proxied =
            |no_proxy: &str, url| check(&format!("HTTP_PROXY=p NO_PROXY={no_proxy}"), url, Some("HTTP_PROXY"));
        direct("*", "http://a.b/");
        direct("x,,a.b", "http://A.b/");
        direct("a.b", "http://c.a.b/");
        proxied("a.b", "http://xa.b/");
        direct(".a.b", "http://c.a.b/");
        direct("*.a.b", "http://c.a.b/");
        proxied(".a.b", "http://a.b/");
        proxied("*.a.b", "http://a.b/");
        direct("a.b:80", "http://a.b/");
        direct("a.b:8080", "http://a.b:8080/");
        proxied("a.b:8080", "http://a.b/");
        direct("10.1.2.3", "http://10.1.2.3:99/");
        direct("10.0.0.0/8", "http://10.1.2.3/");
        proxied("10.0.0.0/16", "http://10.1.2.3/");
        proxied("10.0.0.0/99", "http://10.1.2.3/");
        direct("fd00::/8", "http://[fd12::1]/");
        direct("[fd00::1]:80", "http://[fd00::1]/");
        direct("fd00::1", "http://[fd00::1]/");
        proxied("fd00::2", "http://[fd00::1]/");
        proxied(".,*.,:80", "http://a.b/");
    }

    #[test]
    fn cgi_programs_do_not_trust_the_variable() {
        let url = parse(b"http://a/").unwrap();
        let env = |name: &str| Some(if name == "REQUEST_METHOD" { "GET" } else { "p" }.to_owned());
        assert!(choose(&url, &env).unwrap_err().starts_with("refusing to use HTTP_PROXY"));
    }
}
