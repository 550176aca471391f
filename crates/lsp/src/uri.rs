//! Converts between URIs and paths of files.

/// The path of a URI; the URI itself if it is not that of a file.
pub fn path(uri: &str) -> String {
    let Some(rest) = uri.strip_prefix("file://") else { return uri.to_owned() };
    // A host before the path: `file://localhost/a`.
    let rest = rest.find('/').map_or(rest, |at| &rest[at..]);
    let decoded = decode(rest);
    // `/c:/a` is the Windows path `c:/a`.
    match decoded.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() && cfg!(windows) => decoded[1..].to_owned(),
        _ => decoded,
    }
}

/// The URI of a path.
pub fn of(path: &str) -> String {
    if !path.starts_with('/') && path.contains(':') && !cfg!(windows) {
        return path.to_owned();
    }
    let mut uri = String::from("file://");
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                out.push(byte);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks_and_signs_survive() {
        for name in ["/a/b.yml", "/meine Läden/t #1.yml", "/wërte 100%.yml", "/a+b?c&d.yml", "/😀.yml"] {
            assert_eq!(path(&of(name)), name);
        }
        assert_eq!(of("/a b"), "file:///a%20b");
        assert_eq!(path("file://localhost/a%2Fb"), "/a/b");
        assert_eq!(path("file:///100%"), "/100%");
        assert_eq!(path("untitled:Untitled-1"), "untitled:Untitled-1");
        assert_eq!(of("untitled:Untitled-1"), "untitled:Untitled-1");
    }
}
