//! Parses and writes URLs, as Go's `net/url` does.
//!
//! The parts of a [`Url`] are stored decoded, together with their original escapes if these differ
//! from the usual ones, so that valid escapes are written as they were read. Error messages are
//! those of Go.

mod escape;
mod file;

use crate::Str;
use crate::quote::quote;

pub use self::escape::{UrlPart, escape, unescape};
pub use self::file::reference;

/// The parts of a URL, without escapes unless their name says so.
#[derive(Clone, Default, Debug)]
pub struct Url {
    scheme: Vec<u8>,
    /// The text after `scheme:` if it does not begin with a slash.
    opaque: Vec<u8>,
    /// The user to log in as, if given.
    pub user: Option<User>,
    host: Vec<u8>,
    path: Escapable,
    query: Vec<u8>,
    /// Whether there is a `?` with nothing after it.
    has_empty_query: bool,
    fragment: Escapable,
    /// `scheme:/path`: there is no `//`.
    omits_host: bool,
}

/// The user to log in as.
#[derive(Clone, Debug)]
pub struct User {
    /// The name.
    pub name: Str,
    /// The password; it can be empty or absent.
    pub password: Option<Str>,
}

impl User {
    /// `name:password`, with escapes.
    pub fn text(&self) -> Vec<u8> {
        let mut out = escape(&self.name, UrlPart::User);
        if let Some(password) = &self.password {
            out.push(b':');
            out.extend(escape(password, UrlPart::User));
        }
        out
    }
}

/// A decoded text, and its original escapes if they differ from the usual ones.
#[derive(Clone, Default, Debug)]
struct Escapable {
    text: Vec<u8>,
    written: Option<Vec<u8>>,
}

impl Escapable {
    fn parse(written: &[u8], part: UrlPart) -> Result<Escapable, String> {
        let text = unescape(written, part)?;
        let is_usual = escape(&text, part) == written;
        Ok(Escapable { text, written: (!is_usual).then(|| written.to_vec()) })
    }

    fn escaped(&self, part: UrlPart) -> Vec<u8> {
        let is_valid = |byte: &u8| match byte {
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@' => true,
            b'[' | b']' | b'%' => true,
            byte => !part.escapes(*byte),
        };
        match &self.written {
            Some(written) if written.iter().all(is_valid) => written.clone(),
            _ if part == UrlPart::Path && self.text == b"*" => self.text.clone(),
            _ => escape(&self.text, part),
        }
    }
}

/// Parses a URL.
///
/// # Errors
/// If it is malformed; the text is the reference's message.
pub fn parse(text: &[u8]) -> Result<Url, String> {
    let (rest, fragment) = cut(text, b'#');
    let failed = |shown: &[u8], problem: String| format!("parse {}: {problem}", quote(shown));
    let mut url = parse_without_fragment(rest).map_err(|problem| failed(rest, problem))?;
    if let Some(fragment) = fragment {
        url.fragment = Escapable::parse(fragment, UrlPart::Fragment).map_err(|problem| failed(text, problem))?;
    }
    Ok(url)
}

fn parse_without_fragment(text: &[u8]) -> Result<Url, String> {
    if text.iter().any(|byte| byte.is_ascii_control()) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let mut url = Url::default();
    let (scheme, mut rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    if rest.iter().position(|&byte| byte == b'?') == rest.len().checked_sub(1) && !rest.is_empty() {
        url.has_empty_query = true;
        rest = &rest[..rest.len() - 1];
    } else {
        let (path, query) = cut(rest, b'?');
        rest = path;
        url.query = query.unwrap_or_default().to_vec();
    }
    if !rest.starts_with(b"/") {
        if !scheme.is_empty() {
            url.opaque = rest.to_vec();
            return Ok(url);
        }
        if cut(rest, b'/').0.contains(&b':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    if rest.starts_with(b"//") && (!scheme.is_empty() || !rest.starts_with(b"///")) {
        let authority = &rest[2..];
        let end = authority.iter().position(|&byte| byte == b'/').unwrap_or(authority.len());
        (url.user, url.host) = parse_authority(&authority[..end])?;
        rest = &authority[end..];
    } else if !scheme.is_empty() && rest.starts_with(b"/") {
        url.omits_host = true;
    }
    url.path = Escapable::parse(rest, UrlPart::Path)?;
    Ok(url)
}

/// The scheme, empty if there is none, and the text after its colon.
fn split_scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok((b"", text))
}

fn parse_authority(authority: &[u8]) -> Result<(Option<User>, Vec<u8>), String> {
    let Some(at) = authority.iter().rposition(|&byte| byte == b'@') else {
        return Ok((None, parse_host(authority)?));
    };
    let host = parse_host(&authority[at + 1..])?;
    let user = &authority[..at];
    let is_valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte);
    if !user.iter().all(is_valid) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = cut(user, b':');
    let name = Str::from(unescape(name, UrlPart::User)?);
    let password = password.map(|password| unescape(password, UrlPart::User)).transpose()?.map(Str::from);
    Ok((Some(User { name, password }), host))
}

fn parse_host(host: &[u8]) -> Result<Vec<u8>, String> {
    if !host.starts_with(b"[") {
        if let Some(colon) = host.iter().rposition(|&byte| byte == b':') {
            check_port(&host[colon..])?;
        }
        return unescape(host, UrlPart::Host);
    }
    let Some(close) = host.iter().rposition(|&byte| byte == b']') else {
        return Err("missing ']' in host".to_owned());
    };
    check_port(&host[close + 1..])?;
    match host[..close].windows(3).position(|window| window == b"%25") {
        Some(zone) => {
            let mut out = unescape(&host[..zone], UrlPart::Host)?;
            out.extend(unescape(&host[zone..close], UrlPart::Zone)?);
            out.extend(unescape(&host[close..], UrlPart::Host)?);
            Ok(out)
        }
        None => unescape(host, UrlPart::Host),
    }
}

fn check_port(port: &[u8]) -> Result<(), String> {
    match is_port(port) {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", quote(port))),
    }
}

/// Whether the text is empty, or a colon and any number of digits.
fn is_port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// A path from the root, with `.` and `..` resolved. An empty path stays empty.
fn without_dots(path: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        return Vec::new();
    }
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut ends_in_directory = false;
    for segment in path.strip_prefix(b"/").unwrap_or(path).split(|&byte| byte == b'/') {
        ends_in_directory = matches!(segment, b"." | b"..");
        match segment {
            b"." => {}
            b".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    if ends_in_directory {
        kept.push(b"");
    }
    [b"/", &kept.join(&b'/')[..]].concat()
}

fn cut(text: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|&byte| byte == at) {
        Some(index) => (&text[..index], Some(&text[index + 1..])),
        None => (text, None),
    }
}

impl Url {
    /// The whole URL.
    pub fn text(&self) -> Str {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend_from_slice(&self.scheme);
            out.push(b':');
        }
        if self.opaque.is_empty() {
            self.write_authority(&mut out);
            let path = self.path.escaped(UrlPart::Path);
            if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
                out.push(b'/');
            }
            if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
                // Without this, the first segment would read as a scheme.
                out.extend_from_slice(b"./");
            }
            out.extend_from_slice(&path);
        } else {
            out.extend_from_slice(&self.opaque);
        }
        if self.has_empty_query || !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        if !self.fragment.text.is_empty() {
            out.push(b'#');
            out.extend(self.fragment.escaped(UrlPart::Fragment));
        }
        Str::from(out)
    }

    fn write_authority(&self, out: &mut Vec<u8>) {
        let is_empty = self.host.is_empty() && self.user.is_none();
        if (self.scheme.is_empty() || self.omits_host) && is_empty {
            return;
        }
        if !is_empty || !self.path.text.is_empty() {
            out.extend_from_slice(b"//");
        }
        if let Some(user) = &self.user {
            out.extend(user.text());
            out.push(b'@');
        }
        out.extend(escape(&self.host, UrlPart::Host));
    }

    /// The same URL without a user.
    pub fn without_user(&self) -> Url {
        Url { user: None, ..self.clone() }
    }

    /// Name or address of the server, with its port.
    pub fn host(&self) -> &[u8] {
        &self.host
    }

    /// The path with its escapes.
    pub fn escaped_path(&self) -> Vec<u8> {
        self.path.escaped(UrlPart::Path)
    }

    /// The text after the `?`, with its escapes.
    pub fn query(&self) -> &[u8] {
        &self.query
    }

    /// The scheme in lower case; empty for a reference without one.
    pub fn scheme(&self) -> &[u8] {
        &self.scheme
    }

    /// The target of an HTTP request: path and query, with escapes.
    pub fn request_target(&self) -> Vec<u8> {
        let mut out = self.path.escaped(UrlPart::Path);
        if !out.starts_with(b"/") {
            out.insert(0, b'/');
        }
        if self.has_empty_query || !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        out
    }

    /// Resolves a reference that was found at this URL, by RFC 3986.
    pub fn join(&self, reference: &Url) -> Url {
        let mut url = reference.clone();
        if !reference.scheme.is_empty() && !reference.opaque.is_empty() {
            return url;
        }
        let path = reference.path.escaped(UrlPart::Path);
        let is_elsewhere = !reference.scheme.is_empty() || !reference.host.is_empty() || reference.user.is_some();
        let path = if is_elsewhere {
            path
        } else {
            url.host.clone_from(&self.host);
            url.user.clone_from(&self.user);
            let base = self.path.escaped(UrlPart::Path);
            if path.is_empty() {
                if !reference.has_empty_query && reference.query.is_empty() {
                    url.query.clone_from(&self.query);
                }
                base
            } else if path.starts_with(b"/") {
                path
            } else {
                let directory = base.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
                [&base[..directory], &path].concat()
            }
        };
        if reference.scheme.is_empty() {
            url.scheme.clone_from(&self.scheme);
        }
        url.omits_host = false;
        let path = without_dots(&path);
        url.path = Escapable { text: unescape(&path, UrlPart::Path).unwrap_or_default(), written: Some(path) };
        url
    }

    /// The port as written; empty if there is none.
    pub fn port(&self) -> &[u8] {
        match self.host.iter().rposition(|&byte| byte == b':') {
            Some(colon) if is_port(&self.host[colon..]) => &self.host[colon + 1..],
            _ => b"",
        }
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> Str {
        let mut host = &self.host[..];
        if let Some(colon) = host.iter().rposition(|&byte| byte == b':')
            && is_port(&host[colon..])
        {
            host = &host[..colon];
        }
        Str::new(host.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what a URL reads back as, or the message without the `parse "…": ` in front.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match parse(text.as_bytes()) {
            Ok(url) => url.text().to_str().into_owned(),
            Err(message) => message.split_once("\": ").expect("all messages quote the URL").1.to_owned(),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn reads_back_what_it_read() {
        for same in [
            "http://user:pass@host:80/p%20a/?q=1#frag",
            "mailto:a@b.c?x=1",
            "//host/path",
            "///path",
            "////path",
            "/a/b?",
            "/a/b?x y",
            "a:b:c",
            "a/b:c",
            "",
            "*",
            "http://@host/",
            "http://:@host/",
            "http://host/a;b,c:d@e&f=g+h$i!j*k'l(m)n",
            "http://host/[a]",
            "http://host/%5Ba%5d",
            "http://a<b>/",
            "http:",
            "http:/a",
            "http:a/b",
            "file:///etc/x",
            "file://etc",
            "x:?a",
            "?a",
            "#a",
            "./a:b",
            "a:/b:c",
            "http://[fe80::1%25en0]:80/",
            "http://host:/",
        ] {
            check(same, same);
        }
    }

    #[test]
    fn normalises_escapes() {
        check("HTTP://HOST/", "http://HOST/");
        check("http://host/a b", "http://host/a%20b");
        check("http://host/%2f/é?é#é", "http://host///%C3%A9?é#%C3%A9");
        check("http://host#", "http://host");
        check("http://host/#a%20b c", "http://host/#a%20b%20c");
        check("http://u:p:q@host/", "http://u:p%3Aq@host/");
        check("http://u@v@host/", "http://u%40v@host/");
        check("x://?a", "x:?a");
        check("http://h/{a}|^`", "http://h/%7Ba%7D%7C%5E%60");
        check("http://[::1%25%41]/", "http://[::1%25A]/");
    }

    #[test]
    fn reports_the_messages_of_go() {
        check("http://[::1", "missing ']' in host");
        check("http://[::1]x/", "invalid port \"x\" after host");
        check("http://a:b:c/", "invalid port \":c\" after host");
        check("http://us er@host/", "net/url: invalid userinfo");
        check("http://ho st/", "invalid character \" \" in host name");
        check("http://host/a%zz", "invalid URL escape \"%zz\"");
        check("http://ho%20st/", "invalid URL escape \"%20\"");
        check(":foo", "missing protocol scheme");
        check("1http://x", "first path segment in URL cannot contain colon");
        check("http://host/\n", "net/url: invalid control character in URL");
        check("http://[::1%41]/", "invalid URL escape \"%41\"");
        check("http://h?q#f%2", "invalid URL escape \"%2\"");
    }

    #[test]
    fn hostnames_have_no_port() {
        for (text, expected) in
            [("http://host:80/p", "host"), ("http://[::1]:80/p", "::1"), ("http://[::1]", "::1"), ("a", "")]
        {
            assert_eq!(parse(text.as_bytes()).expect("valid").hostname(), expected);
        }
    }

    #[test]
    fn joins_references() {
        for (reference, expected) in [
            ("c.yml", "http://u@h:8/a/c.yml"),
            ("./c.yml", "http://u@h:8/a/c.yml"),
            ("../c.yml", "http://u@h:8/c.yml"),
            ("../../../c.yml", "http://u@h:8/c.yml"),
            ("..", "http://u@h:8/"),
            (".", "http://u@h:8/a/"),
            ("/c//d/./e", "http://u@h:8/c//d/e"),
            ("?x", "http://u@h:8/a/b?x"),
            ("?", "http://u@h:8/a/b?"),
            ("", "http://u@h:8/a/b?q"),
            ("#f", "http://u@h:8/a/b?q#f"),
            ("//other", "http://other"),
            ("//other/../x", "http://other/x"),
            ("https://other:1/%2e%2F?y", "https://other:1/%2e%2F?y"),
            ("mailto:x", "mailto:x"),
            ("c%20d", "http://u@h:8/a/c%20d"),
        ] {
            let base = parse(b"http://u@h:8/a/b?q").expect("valid");
            let joined = base.join(&parse(reference.as_bytes()).expect("valid"));
            assert_eq!(joined.text(), expected, "{reference}");
        }
    }

    #[test]
    fn request_target_is_path_and_query() {
        for (text, target, port) in [
            ("http://h", "/", ""),
            ("http://h:80?x=y z", "/?x=y z", "80"),
            ("http://h:/a b?", "/a%20b?", ""),
            ("http://[::1]/%2f#x", "/%2f", ""),
        ] {
            let url = parse(text.as_bytes()).expect("valid");
            assert_eq!(url.request_target(), target.as_bytes(), "{text}");
            assert_eq!(url.port(), port.as_bytes(), "{text}");
        }
    }
}
