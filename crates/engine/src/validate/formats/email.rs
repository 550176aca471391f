//! `email`: Mailbox of RFC 5321, at most 254 octets.

pub(super) fn accepts(text: &str) -> bool {
    // A quoted local part may contain an `@`; the domain cannot.
    text.len() <= 254
        && text.is_ascii()
        && text.rsplit_once('@').is_some_and(|(local, domain)| {
            local.len() <= 64 && (is_dot_atom(local) || is_quoted(local)) && is_domain(domain)
        })
}

fn is_dot_atom(local: &str) -> bool {
    let is_atext = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atext))
}

fn is_quoted(local: &str) -> bool {
    let Some(content) = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return false };
    let mut bytes = content.bytes();
    while let Some(byte) = bytes.next() {
        let printable = |byte: u8| (b' '..=b'~').contains(&byte);
        let fine = match byte {
            b'\\' => bytes.next().is_some_and(printable),
            b'"' => false,
            other => printable(other),
        };
        if !fine {
            return false;
        }
    }
    local.len() >= 2
}

fn is_domain(domain: &str) -> bool {
    match domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(literal) => match literal.split_at_checked(5) {
            Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6:") => super::ipv6::accepts(address),
            _ => super::ipv4::accepts(literal),
        },
        None => super::hostname::accepts(domain),
    }
}
