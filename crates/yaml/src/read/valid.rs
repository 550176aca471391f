//! Checks the bytes of a file: UTF-8 without control characters, and less than 4 GiB.
//!
//! Everything after this may rely on it, and on `TextProperties`, which tell the parser which short
//! cuts are possible. The common block of ASCII takes half an instruction per byte; only others are
//! decoded.

use ytterby_diag::{FileId, Span};

use super::ReadError;

/// Properties of the whole text that let the parser take short cuts.
#[derive(Clone, Copy)]
pub(super) struct TextProperties {
    /// Only line feeds end lines: there is no CR, NEL, LS or PS.
    pub(super) line_feeds_only: bool,
}

/// Checks that a text can be read at all.
pub(super) fn check(text: &[u8], file: FileId) -> Result<TextProperties, ReadError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ReadError::new("files of 4 GiB or more cannot be read", Span::new(file, 0, 0)));
    }
    let mut at = 0;
    let mut line_feeds_only = true;
    while at < text.len() {
        // The last block overlaps the one before it.
        let block = text[at..].first_chunk().or_else(|| text.last_chunk());
        if block.is_some_and(is_simple) {
            at += BLOCK;
            continue;
        }
        let end = text.len().min(at + BLOCK);
        let (has_others, has_cr) = others(&text[at..end]);
        line_feeds_only &= !has_cr;
        if !has_others {
            at = end;
            continue;
        }
        while at < end {
            at += match decode(&text[at..]) {
                Ok((value, _)) if is_control(value) => return Err(bad(file, at, "control characters are not allowed")),
                Ok((value, width)) => {
                    line_feeds_only &= !matches!(value, 0x85 | 0x2028 | 0x2029);
                    width
                }
                Err((offset, problem)) => return Err(bad(file, at + offset, problem)),
            };
        }
    }
    Ok(TextProperties { line_feeds_only })
}

/// Bytes that are checked at once. Only blocks with other bytes than printable ASCII and line feeds
/// are looked at again: a comment with a `©` must not make a file slow.
const BLOCK: usize = 64;

/// Whether all bytes are printable ASCII or line feeds. The loop has no branches, so that the
/// compiler vectorises it: half an instruction per byte.
#[inline]
fn is_simple(block: &[u8; BLOCK]) -> bool {
    // As signed numbers, bytes beyond ASCII are below the space.
    let is_other = |byte: u8| ((byte as i8) < b' ' as i8) & (byte != b'\n') | (byte == 0x7F);
    !block.iter().fold(false, |found, &byte| found | is_other(byte))
}

/// Whether there are control characters or bytes beyond ASCII, and whether there are carriage
/// returns.
fn others(block: &[u8]) -> (bool, bool) {
    let (mut others, mut cr) = (false, false);
    for &byte in block {
        others |= (byte as i8) < b' ' as i8 && byte != b'\n' && byte != b'\t' && byte != b'\r' || byte == 0x7F;
        cr |= byte == b'\r';
    }
    (others, cr)
}

/// The error for a byte; the reference reports no line here.
fn bad(file: FileId, at: usize, problem: &'static str) -> ReadError {
    ReadError::new(problem, Span::new(file, at as u32, at as u32 + 1))
}

fn is_control(value: u32) -> bool {
    !matches!(value, 0x09 | 0x0A | 0x0D | 0x20..=0x7E | 0x85 | 0xA0..=0xD7FF | 0xE000..=0xFFFD | 0x10000..=0x10FFFF)
}

/// The first character of a text and its width, or which byte is wrong and why.
fn decode(text: &[u8]) -> Result<(u32, usize), (usize, &'static str)> {
    let first = u32::from(text[0]);
    let (width, bits, least) = match text[0] {
        0x00..=0x7F => return Ok((first, 1)),
        0xC0..=0xDF => (2, first & 0x1F, 0x80),
        0xE0..=0xEF => (3, first & 0x0F, 0x800),
        0xF0..=0xF7 => (4, first & 0x07, 0x10000),
        _ => return Err((0, "invalid leading UTF-8 octet")),
    };
    if text.len() < width {
        return Err((0, "incomplete UTF-8 octet sequence"));
    }
    let mut value = bits;
    for (at, &byte) in text[..width].iter().enumerate().skip(1) {
        if byte & 0xC0 != 0x80 {
            return Err((at, "invalid trailing UTF-8 octet"));
        }
        value = value << 6 | u32::from(byte & 0x3F);
    }
    if value < least {
        return Err((0, "invalid length of a UTF-8 sequence"));
    }
    if matches!(value, 0xD800..=0xDFFF) || value > 0x10FFFF {
        return Err((0, "invalid Unicode character"));
    }
    Ok((value, width))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line_feeds_only(text: &[u8]) -> Option<bool> {
        check(text, FileId(0)).ok().map(|shape| shape.line_feeds_only)
    }

    #[test]
    fn short_cuts_agree_with_the_general_code() {
        for byte in 0..0x80u8 {
            let expected = (!is_control(u32::from(byte))).then_some(byte != b'\r');
            assert_eq!(line_feeds_only(&[byte]), expected, "{byte:#x} alone");
            // A non-ASCII byte forces the check of each character of its block.
            assert_eq!(line_feeds_only(&[byte, 0xc3, 0xa9]), expected, "{byte:#x} before é");
            for (len, at) in [(64, 0), (64, 63), (65, 64), (100, 64), (100, 99), (200, 130)] {
                let mut text = vec![b'x'; len];
                text[at] = byte;
                assert_eq!(line_feeds_only(&text), expected, "{byte:#x} at {at} of {len}");
            }
        }
        for c in ['\u{85}', '\u{2028}', '\u{2029}'] {
            assert_eq!(line_feeds_only(c.to_string().as_bytes()), Some(false), "{c:?}");
        }
    }

    /// The same result as [`check`], found character by character.
    fn by_characters(text: &[u8]) -> Result<bool, (String, u32)> {
        let (mut at, mut line_feeds_only) = (0, true);
        while at < text.len() {
            let (value, width) = decode(&text[at..]).map_err(|(offset, why)| (why.to_owned(), (at + offset) as u32))?;
            if is_control(value) {
                return Err(("control characters are not allowed".to_owned(), at as u32));
            }
            line_feeds_only &= !matches!(value, 0x0D | 0x85 | 0x2028 | 0x2029);
            at += width;
        }
        Ok(line_feeds_only)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn blocks_agree_with_characters(
            parts in prop::collection::vec((0..90usize, prop::sample::select(vec![
                &b"\n"[..], b"\t", b"\r\n", b"\r", b"\xc3\xa9", b"\xc2\x85", b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80",
                b"", b"", b"", b"\x7f", b"\x00", b"\x80", b"\xe2\x82", b"\xff",
            ])), 0..6),
        ) {
            let text: Vec<u8> = parts.iter().flat_map(|(len, part)| [&vec![b'x'; *len], *part].concat()).collect();
            let found = check(&text, FileId(0)).map(|shape| shape.line_feeds_only);
            let found = found.map_err(|error| (error.reference(), error.span.start));
            let expected = by_characters(&text).map_err(|(why, at)| (format!("yaml: {why}"), at));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn invalid_bytes_are_reported() {
        let check = |text: &[u8], expected: &str, offset| {
            let error = check(text, FileId(0)).err().expect("it cannot be read");
            assert_eq!((&*error.reference(), error.span.start), (expected, offset), "{text:x?}");
        };
        check(b"a\x80", "yaml: invalid leading UTF-8 octet", 1);
        check(b"\xf8\x80\x80\x80", "yaml: invalid leading UTF-8 octet", 0);
        check(b"a\xc3", "yaml: incomplete UTF-8 octet sequence", 1);
        check(b"a\xe2\x82b", "yaml: invalid trailing UTF-8 octet", 3);
        check(b"\xc1\xbf", "yaml: invalid length of a UTF-8 sequence", 0);
        check(b"\xe0\x9f\xbf", "yaml: invalid length of a UTF-8 sequence", 0);
        check(b"\xed\xa0\x80", "yaml: invalid Unicode character", 0);
        check(b"\xf4\x90\x80\x80", "yaml: invalid Unicode character", 0);
        check("\u{fffe}".as_bytes(), "yaml: control characters are not allowed", 0);
        check("\u{9f}".as_bytes(), "yaml: control characters are not allowed", 0);
    }
}
