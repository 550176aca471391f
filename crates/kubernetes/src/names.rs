//! The syntax of names: labels, subdomains, qualified names, ports, config keys, percentages.
//!
//! Each function returns the problem, as a phrase that follows the name of the field, or `None`.

/// The problem with a text, if any.
pub(crate) type NameProblem = Option<&'static str>;

const LABEL: &str = "must be a DNS label: lower case letters, digits and '-', with a letter or digit at both ends, \
                     at most 63 characters";
const SUBDOMAIN: &str = "must be a DNS subdomain: lower case letters, digits, '-' and '.', with a letter or digit at \
                         both ends of each part, at most 253 characters";
const LABEL_1035: &str = "must be a DNS label that begins with a letter: lower case letters, digits and '-', with a \
                          letter or digit at its end, at most 63 characters";

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(&first), Some(&last)) => {
            is_lower(first) && is_lower(last) && bytes.iter().all(|&byte| is_lower(byte) || byte == b'-')
        }
        _ => false,
    }
}

/// A label of RFC 1123.
pub(crate) fn dns_label(text: &str) -> NameProblem {
    (text.len() > 63 || !is_label_text(text)).then_some(LABEL)
}

/// A label of RFC 1035: like RFC 1123, but begins with a letter.
pub(crate) fn dns1035_label(text: &str) -> NameProblem {
    let is_good = text.len() <= 63 && is_label_text(text) && text.starts_with(|c: char| c.is_ascii_lowercase());
    (!is_good).then_some(LABEL_1035)
}

/// A subdomain of RFC 1123.
pub(crate) fn dns_subdomain(text: &str) -> NameProblem {
    (text.len() > 253 || !text.split('.').all(is_label_text)).then_some(SUBDOMAIN)
}

/// A subdomain in upper or lower case.
pub(crate) fn dns_subdomain_caseless(text: &str) -> NameProblem {
    dns_subdomain(&text.to_ascii_lowercase())
}

/// A subdomain that may begin with `*.`.
pub(crate) fn wildcard_subdomain(text: &str) -> NameProblem {
    text.strip_prefix("*.").map_or(Some(SUBDOMAIN), dns_subdomain)
}

fn is_name_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() && bytes.iter().all(is_inner)
        }
        _ => false,
    }
}

/// A qualified name, for keys of labels: `[subdomain/]name`.
pub(crate) fn qualified_name(text: &str) -> NameProblem {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if name.contains('/') {
        return Some("must be a name with at most one '/', between a DNS subdomain and the name");
    }
    if prefix.is_some_and(|prefix| dns_subdomain(prefix).is_some()) {
        return Some("must have a DNS subdomain before the '/'");
    }
    if name.len() > 63 || !is_name_part(name) {
        return Some(
            "must be a name of letters, digits, '-', '_' and '.', with a letter or digit at both ends, at most 63 \
             characters",
        );
    }
    None
}

/// The value of a label.
pub(crate) fn label_value(text: &str) -> NameProblem {
    (text.len() > 63 || (!text.is_empty() && !is_name_part(text))).then_some(
        "must be empty, or letters, digits, '-', '_' and '.', with a letter or digit at both ends, at most 63 \
         characters",
    )
}

/// A key of a ConfigMap or Secret.
pub(crate) fn config_key(text: &str) -> NameProblem {
    let is_good = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if text.is_empty() || text.len() > 253 || !is_good {
        return Some("must be a key of letters, digits, '-', '_' and '.', at most 253 characters");
    }
    match text {
        "." | ".." => Some("must not be '.' or '..'"),
        _ if text.starts_with("..") => Some("must not begin with '..'"),
        _ => None,
    }
}

/// The name of an environment variable.
pub(crate) fn env_name(text: &str) -> NameProblem {
    let is_good = text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=');
    (text.is_empty() || !is_good).then_some("must be printable ASCII characters other than '='")
}

/// The name of a port: an IANA service name.
pub(crate) fn port_name(text: &str) -> NameProblem {
    let bytes = text.as_bytes();
    if text.len() > 15 {
        return Some("must have at most 15 characters");
    }
    if text.is_empty() || !bytes.iter().all(|&byte| is_lower(byte) || byte == b'-') {
        return Some("must be lower case letters, digits and '-'");
    }
    if !bytes.iter().any(u8::is_ascii_lowercase) {
        return Some("must contain a letter; write a number without quotes");
    }
    let is_bad = text.contains("--") || text.starts_with('-') || text.ends_with('-');
    is_bad.then_some("must not begin or end with '-' or contain '--'")
}

/// A name that can be a path segment, such as names of RBAC objects.
pub(crate) fn path_segment(text: &str) -> NameProblem {
    let is_bad = text == "." || text == ".." || text.contains(['/', '%']);
    is_bad.then_some("must not be '.' or '..' and must not contain '/' or '%'")
}

/// A domain, a slash and a path, such as `example.com/controller`.
pub(crate) fn domain_path(text: &str) -> NameProblem {
    let is_good = text.split_once('/').is_some_and(|(domain, path)| {
        let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/%:@$&+,;=.-_~!*'()".contains(&byte);
        dns_subdomain(domain).is_none() && !path.is_empty() && path.bytes().all(is_path)
    });
    (!is_good).then_some("must be a domain and a path, such as example.com/controller")
}

/// Parses `25%`.
pub(crate) fn percent(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('%')?;
    let is_good = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_good.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// Parses an IP address like the server: no leading zeros, no zone.
pub(crate) fn ip(text: &str) -> Option<std::net::IpAddr> {
    text.parse().ok()
}

/// Parses a CIDR: address and prefix length.
pub(crate) fn cidr(text: &str) -> Option<(std::net::IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let address = ip(address)?;
    let is_plain = !bits.is_empty() && bits.len() <= 3 && bits.bytes().all(|byte| byte.is_ascii_digit());
    let most = if address.is_ipv4() { 32 } else { 128 };
    let has_zero = bits.len() > 1 && bits.starts_with('0');
    let bits: u8 = bits.parse().ok().filter(|bits| is_plain && !has_zero && *bits <= most)?;
    Some((address, bits))
}

/// Whether bits after the prefix are set.
pub(crate) fn has_host_bits(address: std::net::IpAddr, bits: u8) -> bool {
    match address {
        std::net::IpAddr::V4(address) => bits < 32 && u32::from(address) << bits != 0,
        std::net::IpAddr::V6(address) => bits < 128 && u128::from(address) << bits != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_names_are_checked() {
        for good in ["a", "a-b", "1a", &"a".repeat(63)] {
            assert_eq!(dns_label(good), None, "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a_b", &"a".repeat(64), "é"] {
            assert!(dns_label(bad).is_some(), "{bad}");
        }
        assert!(dns_subdomain("a..b").is_some() && dns_subdomain("a.").is_some() && dns_subdomain("a.b-c.1").is_none());
        assert!(qualified_name("a.b/c_D").is_none() && qualified_name("a/b/c").is_some());
        assert!(qualified_name("/a").is_some() && qualified_name("a b").is_some());
        assert!(label_value("").is_none() && label_value("a.").is_some());
        assert!(port_name("8080").is_some() && port_name("http").is_none() && port_name("a--b").is_some());
        assert_eq!(percent("25%"), Some(25));
        assert!(percent("%").is_none() && percent("2.5%").is_none() && percent("25").is_none());
        assert!(cidr("10.0.0.0/33").is_none() && cidr("10.0.0.0/8").is_some() && ip("010.1.1.1").is_none());
        assert!(has_host_bits(ip("10.0.0.1").unwrap(), 8) && !has_host_bits(ip("10.0.0.0").unwrap(), 8));
    }
}
