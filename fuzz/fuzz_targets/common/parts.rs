//! Several files in the data of one input.

/// Parts of the data between lines of dashes and equals signs, which no file needs.
#[allow(dead_code, reason = "some targets have one file")]
pub fn parts(data: &[u8]) -> Vec<&[u8]> {
    const SEPARATOR: &[u8] = b"\n-=-=-\n";
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(SEPARATOR.len()).position(|part| part == SEPARATOR) {
        parts.push(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
    }
    parts.push(rest);
    parts
}
