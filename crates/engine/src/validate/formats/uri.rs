//! `uri`: a URI of RFC 3986 section 3; the scheme is required, and everything is ASCII.

pub(super) fn accepts(text: &str) -> bool {
    scheme(text).is_some_and(is_rest)
}

/// The text after `scheme:`.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some(rest)
}

/// Whether this can follow a scheme, or be a relative reference: `//authority/path?query#fragment`.
pub(super) fn is_rest(text: &str) -> bool {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, query) = text.split_once('?').unwrap_or((text, ""));
    let (authority, path) = match text.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", text),
    };
    is_authority(authority) && made_of(path, b":@/") && made_of(query, b":@/?") && made_of(fragment, b":@/?")
}

fn is_authority(authority: &str) -> bool {
    let host_port = match authority.split_once('@') {
        Some((user, _)) if !made_of(user, b":") => return false,
        Some((_, host_port)) => host_port,
        None => authority,
    };
    let is_port = |text: &str| match text.strip_prefix(':') {
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()),
        None => text.is_empty(),
    };
    match host_port.strip_prefix('[') {
        Some(rest) => rest.split_once(']').is_some_and(|(literal, port)| {
            (super::ipv6::accepts(literal) || is_future_address(literal)) && is_port(port)
        }),
        None => {
            let (host, port) = host_port.split_at(host_port.find(':').unwrap_or(host_port.len()));
            made_of(host, b"") && is_port(port)
        }
    }
}

/// `v1.something`
fn is_future_address(literal: &str) -> bool {
    literal.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.')).is_some_and(|(version, address)| {
        !version.is_empty()
            && version.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !address.is_empty()
            && !address.contains('%')
            && made_of(address, b":")
    })
}

/// Whether the text consists of unreserved characters, delimiters, percent-encoded octets and
/// `others`.
pub(super) fn made_of(text: &str, others: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b'%' if bytes[at + 1..].iter().take(2).filter(|byte| byte.is_ascii_hexdigit()).count() == 2 => 3,
            b'%' => return false,
            _ if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte) || others.contains(&byte) => 1,
            _ => return false,
        };
    }
    true
}
