//! Paths as URIs, for formats that use URIs instead of paths.

/// A path as a URI reference: relative paths stay relative, absolute ones get `file:`, and URLs
/// stay unchanged. Characters that URIs do not allow are percent-encoded.
pub fn reference(path: &str) -> String {
    let scheme = path.split_once("://").map(|(scheme, _)| scheme);
    if scheme.is_some_and(|scheme| matches!(scheme, "http" | "https")) {
        return encoded(path, b":%?#[]");
    }
    let is_drive = matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    if is_drive {
        format!("file:///{}", encoded(&path.replace('\\', "/"), b":"))
    } else if path.starts_with('/') {
        // After only two slashes, the first step would be a host.
        format!("file:///{}", encoded(path.trim_start_matches('/'), b""))
    } else {
        // A colon in the first step of a path would end a scheme, so it is encoded too.
        encoded(path, b"")
    }
}

fn encoded(text: &str, also_plain: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) || also_plain.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn paths_become_references() {
        for (path, expected) in [
            ("config/a.yml", "config/a.yml"),
            ("../my values.yml", "../my%20values.yml"),
            ("a:b/c#d?e%f.yml", "a%3Ab/c%23d%3Fe%25f.yml"),
            ("é.yml", "%C3%A9.yml"),
            ("a\\b.yml", "a%5Cb.yml"),
            ("/etc/a b.yml", "file:///etc/a%20b.yml"),
            ("//etc/a.yml", "file:///etc/a.yml"),
            ("C:\\dir\\a b.yml", "file:///C:/dir/a%20b.yml"),
            ("https://example.com:8443/a.yml?b=c%20d", "https://example.com:8443/a.yml?b=c%20d"),
            ("https://example.com/a b.yml", "https://example.com/a%20b.yml"),
            ("(data-value arg)", "(data-value%20arg)"),
        ] {
            assert_eq!(reference(path), expected, "{path}");
        }
    }
}
