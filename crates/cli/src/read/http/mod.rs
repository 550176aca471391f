//! Inputs from HTTP(S) URLs.
//!
//! Redirects and proxies follow the reference's rules; so do error texts, unless they come from
//! Go's libraries. Certificates come from the system. Unlike the reference, we limit time and size:
//! see [`HttpLimits`].

mod forward;
mod limits;
#[cfg(target_os = "linux")]
mod names;
mod proxy;

use std::io::{self, Read};
use std::net::IpAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body, Error, Proxy, ProxyProtocol};
use ytterby_text::Str;
use ytterby_text::quote::quote;
use ytterby_text::url::{self, Url, UrlPart, User};

use self::forward::Forward;
use self::limits::{Clock, HttpLimits};
use self::proxy::Named;

/// The reference follows as many redirects.
const MAX_REDIRECTS: usize = 10;

/// The response body of a URL, or the reason for failing.
pub(super) fn get(address: &str) -> Result<Str, String> {
    let requesting = |why: String| format!("Requesting URL '{address}': {why}");
    let reading = |why: String| format!("Reading URL '{address}': {why}");
    let env = |name: &str| std::env::var(name).ok();
    let limits = HttpLimits::from_variables(&env).map_err(requesting)?;
    let clock = limits.start();

    let mut url = url::parse(address.as_bytes()).map_err(requesting)?;
    let mut redirects = 0;
    let mut response = loop {
        let failed = |why: String| requesting(format!("Get {}: {why}", quote(&shown(&url))));
        let response = request(&url, &clock, &env).map_err(failed)?;
        let status = response.status();
        let Some(location) = redirect(&response) else {
            match status.is_success() {
                true => break response,
                false => return Err(requesting(status_text(status))),
            }
        };
        redirects += 1;
        if redirects == MAX_REDIRECTS {
            let place = quote(&location);
            return Err(requesting(format!("Get {place}: stopped after {MAX_REDIRECTS} redirects")));
        }
        let next = url::parse(&location)
            .map_err(|why| failed(format!("failed to parse Location header {}: {why}", quote(&location))))?;
        url = url.join(&next);
    };

    let mut content = Vec::new();
    // The library's limit counts compressed bytes, which says little about the decompressed size.
    let body = response.body_mut().with_config().limit(u64::MAX).reader();
    let count = body.take(limits.bytes() + 1).read_to_end(&mut content);
    match count {
        Ok(count) if count as u64 > limits.bytes() => Err(reading(limits.too_large())),
        Ok(_) => Ok(content.into()),
        Err(error) => Err(reading(match Error::from(error) {
            Error::Timeout(_) => limits.too_slow("not complete"),
            Error::Io(error) | Error::Decompress(_, error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                "unexpected EOF".into()
            }
            Error::Io(error) => super::io_text(&error),
            Error::Protocol(error) => format!("net/http: HTTP/1.x transport connection broken: {error}"),
            error => error.to_string(),
        })),
    }
}

/// Sends one request without following redirects. The error contains only the reason.
fn request(url: &Url, clock: &Clock, env: &dyn Fn(&str) -> Option<String>) -> Result<Response<Body>, String> {
    let host = url.hostname();
    let Ok(host) = std::str::from_utf8(&host) else { return Err("the name of the host is not UTF-8".into()) };
    match url.scheme() {
        b"http" | b"https" if host.is_empty() => return Err("http: no Host in request URL".into()),
        b"http" | b"https" => {}
        scheme => return Err(format!("unsupported protocol scheme {}", quote(scheme))),
    }
    if !host.is_ascii() {
        let hint = "(hint: write it in the form that begins with xn--)";
        return Err(format!("the name of the host, {host}, is not ASCII {hint}"));
    }
    // The library would use the default port for an invalid one.
    let port = String::from_utf8_lossy(url.port());
    if !port.is_empty() && port.parse::<u16>().is_err() {
        return Err(format!("dial tcp: address {port}: invalid port"));
    }
    let named = proxy::choose(url, env)?;
    let proxy = named.as_ref().map(parse_proxy).transpose()?;
    let target = Destination::new(url, host);

    let config = Agent::config_builder()
        .timeout_global(Some(clock.left()))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("ytterby/", env!("CARGO_PKG_VERSION")))
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .proxy(proxy.clone())
        .build();
    let forwarding = proxy.as_ref().filter(|proxy| !target.is_tls && is_http(proxy));
    let agent = match forwarding {
        Some(_) => Agent::with_parts(config, Forward { origin: target.origin() }, names()),
        None => Agent::with_parts(config, DefaultConnector::default(), names()),
    };
    let mut request = agent.get(target.uri(url));
    if let Some(User { name, password }) = &url.user {
        let password = password.as_deref().unwrap_or_default();
        request = request.header(header::AUTHORIZATION, basic(name, password));
    }
    if let Some(proxy) = forwarding
        && let Some(user) = proxy.username()
    {
        let password = proxy.password().unwrap_or_default();
        request = request.header(header::PROXY_AUTHORIZATION, basic(user.as_bytes(), password.as_bytes()));
    }
    request.call().map_err(|error| reason(error, clock, &target, named.as_ref().zip(proxy.as_ref())))
}

/// The resolver of host names.
#[cfg(target_os = "linux")]
fn names() -> names::NameResolver {
    names::NameResolver
}

/// The addresses of a host, each with the port.
#[cfg(all(feature = "server", target_os = "linux"))]
pub fn addresses(host: &str, port: u16) -> std::io::Result<Vec<std::net::SocketAddr>> {
    names::addresses(host, port, std::time::Duration::from_secs(10))
}

/// The addresses of a host, each with the port.
#[cfg(all(feature = "server", not(target_os = "linux")))]
pub fn addresses(host: &str, port: u16) -> std::io::Result<Vec<std::net::SocketAddr>> {
    std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect)
}

/// The resolver of host names.
#[cfg(not(target_os = "linux"))]
fn names() -> ureq::unversioned::resolver::DefaultResolver {
    Default::default()
}

/// The destination of a request.
struct Destination<'a> {
    is_tls: bool,
    host: &'a str,
    /// Empty if the URL has none.
    port: String,
}

impl<'a> Destination<'a> {
    fn new(url: &Url, host: &'a str) -> Destination<'a> {
        let port = String::from_utf8_lossy(url.port()).into_owned();
        Destination { is_tls: url.scheme() == b"https", host, port }
    }

    /// Example: `http://host:port`.
    fn origin(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        let host = bracketed(self.host);
        match self.port.as_str() {
            "" => format!("{scheme}://{host}"),
            port => format!("{scheme}://{host}:{port}"),
        }
    }

    /// Example: `host:port`.
    fn dialled(&self) -> String {
        let default = if self.is_tls { "443" } else { "80" };
        format!("{}:{}", bracketed(self.host), if self.port.is_empty() { default } else { &self.port })
    }

    /// The URL, escaped for the request line.
    fn uri(&self, url: &Url) -> String {
        let mut uri = self.origin();
        for byte in url.request_target() {
            match byte {
                0x21..=0x7e if !b"\"<>\\^`{|}".contains(&byte) => uri.push(char::from(byte)),
                _ => uri.push_str(&String::from_utf8_lossy(&url::escape(&[byte], UrlPart::PathSegment))),
            }
        }
        uri
    }
}

/// Adds brackets to an IPv6 address.
fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn basic(name: &[u8], password: &[u8]) -> String {
    format!("Basic {}", BASE64_STANDARD.encode([name, b":", password].concat()))
}

fn is_http(proxy: &Proxy) -> bool {
    matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https)
}

fn parse_proxy(named: &Named) -> Result<Proxy, String> {
    let Named { variable, value } = named;
    let hint = "(hint: write it as http://host:port, or unset it)";
    // As in Go, the proxy resolves names.
    let address = value.strip_prefix("socks5://").map(|rest| format!("socks5h://{rest}"));
    let address = address.as_ref().unwrap_or(value);
    Proxy::new(address).map_err(|_| format!("invalid proxy address {} in {variable} {hint}", quote(value.as_bytes())))
}

/// The destination of a redirect, if the response is one.
fn redirect(response: &Response<Body>) -> Option<Vec<u8>> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(header::LOCATION).filter(|_| is_redirect)?;
    Some(location.as_bytes().to_vec()).filter(|location| !location.is_empty())
}

/// Example: `404 Not Found`.
fn status_text(status: StatusCode) -> String {
    format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or_default()).trim_end().to_owned()
}

/// The URL without its password.
fn shown(url: &Url) -> Vec<u8> {
    let mut url = url.clone();
    let had_password = url.user.as_mut().is_some_and(|user| user.password.take().is_some());
    let text = url.text().to_vec();
    // The stars that replace the password must not be escaped.
    match text.iter().position(|&byte| byte == b'@').filter(|_| had_password) {
        Some(at) => [&text[..at], b":***", &text[at..]].concat(),
        None => text,
    }
}

/// The reason for a missing response, in the reference's words, with a hint if possible.
fn reason(error: Error, clock: &Clock, target: &Destination<'_>, proxy: Option<(&Named, &Proxy)>) -> String {
    let (dialled, host, start, hint) = match proxy {
        Some((named, proxy)) => (
            format!("{}:{}", proxy.host(), proxy.port()),
            proxy.host().to_owned(),
            "proxyconnect tcp: ",
            format!(" (hint: the proxy is from {}; NO_PROXY lists hosts that need none)", named.variable),
        ),
        None => (target.dialled(), target.host.to_owned(), "", String::new()),
    };
    match error {
        Error::Timeout(_) => clock.limits().too_slow("no answer"),
        Error::HostNotFound => no_such_host(&host, start, &hint),
        Error::ConnectProxyFailed(why) => format!("{start}{why}{hint}"),
        Error::Io(error) => {
            let text = super::io_text(&error);
            if error.kind() == io::ErrorKind::UnexpectedEof {
                format!("EOF{hint}")
            } else if let Some(why) = text.strip_prefix("invalid peer certificate: ") {
                untrusted(why)
            } else if text.starts_with("received corrupt message") {
                "http: server gave HTTP response to HTTPS client (hint: try http:// instead)".into()
            } else if let Some(why) = text.strip_prefix("failed to lookup address information: ") {
                match why.contains("not known") {
                    true => no_such_host(&host, start, &hint),
                    false => format!("{start}dial tcp: lookup {host}: {why}{hint}"),
                }
            } else if error.raw_os_error().is_some() {
                // The library does not report which of several addresses failed.
                format!("{start}dial tcp {dialled}: connect: {text}{hint}")
            } else {
                format!("{text}{hint}")
            }
        }
        Error::Protocol(error) => format!("net/http: HTTP/1.x transport connection broken: {error}{hint}"),
        error => format!("{error}{hint}"),
    }
}

fn no_such_host(host: &str, start: &str, hint: &str) -> String {
    let hint = match hint {
        "" if host.parse::<IpAddr>().is_err() => {
            " (hint: check the name; proxies are set in HTTP_PROXY and HTTPS_PROXY)"
        }
        hint => hint,
    };
    format!("{start}dial tcp: lookup {host}: no such host{hint}")
}

fn untrusted(why: &str) -> String {
    let (why, hint) = match why {
        "UnknownIssuer" => (
            "x509: certificate signed by unknown authority",
            " (hint: add the certificate of that authority to those of the system, or name its file in SSL_CERT_FILE)",
        ),
        // The default certificate of `openssl req -x509`.
        why if why.contains("CaUsedAsEndEntity") => (
            "x509: certificate is one of an authority, not of a server",
            " (hint: make the server's certificate with basicConstraints=CA:FALSE)",
        ),
        _ => (why, " (hint: the server has to renew or change its certificate)"),
    };
    format!("tls: failed to verify certificate: {why}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let check = |text: &str, want: &str| {
            let url = url::parse(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(shown(&url)).unwrap(), want);
        };
        check("http://u:secret@h/a@b", "http://u:***@h/a@b");
        check("http://u%40x:secret@h/", "http://u%40x:***@h/");
        check("http://u@h/", "http://u@h/");
        check("http://h/a@b", "http://h/a@b");
    }

    #[test]
    fn urls_are_escaped() {
        let check = |text: &str, want: &str| {
            let url = url::parse(text.as_bytes()).unwrap();
            assert_eq!(Destination::new(&url, url.hostname().to_str().as_ref()).uri(&url), want);
        };
        check("http://h", "http://h/");
        check("http://h:8/é b?x=é \"<{|}>#f", "http://h:8/%C3%A9%20b?x=%C3%A9%20%22%3C%7B%7C%7D%3E");
        check("https://u:p@[::1]:8/a%2Fb", "https://[::1]:8/a%2Fb");
    }
}
