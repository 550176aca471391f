//! Percent-escapes, with the rules of Go's `net/url`. Each part of a URL needs other escapes.

use crate::quote::quote;

/// A part of a URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UrlPart {
    /// The name or address of a server.
    Host,
    /// The zone of an IPv6 address, after its `%25`.
    Zone,
    /// A user's name or password.
    User,
    /// A whole path.
    Path,
    /// One piece of a path.
    PathSegment,
    /// A name or value of the query.
    Query,
    /// The text after the `#`.
    Fragment,
}

impl UrlPart {
    /// Whether a byte must be escaped here.
    pub fn escapes(self, byte: u8) -> bool {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => false,
            b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match self {
                UrlPart::Host | UrlPart::Zone => matches!(byte, b'/' | b'?' | b'@'),
                UrlPart::User => matches!(byte, b'@' | b'/' | b'?' | b':'),
                UrlPart::Path => byte == b'?',
                UrlPart::PathSegment => matches!(byte, b'/' | b';' | b',' | b'?'),
                UrlPart::Query => true,
                UrlPart::Fragment => false,
            },
            b'!' | b'(' | b')' | b'*' => !matches!(self, UrlPart::Host | UrlPart::Zone | UrlPart::Fragment),
            b'\'' | b'[' | b']' | b'<' | b'>' | b'"' => !matches!(self, UrlPart::Host | UrlPart::Zone),
            _ => true,
        }
    }
}

/// Escapes `bytes` as the part requires.
pub fn escape(bytes: &[u8], part: UrlPart) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b' ' if part == UrlPart::Query => out.push(b'+'),
            _ if part.escapes(byte) => {
                out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
            _ => out.push(byte),
        }
    }
    out
}

/// Decodes the escapes of `text`.
///
/// # Errors
/// If an escape is malformed; the text is the reference's message.
pub fn unescape(text: &[u8], part: UrlPart) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'%' => {
                let escape = &text[at..text.len().min(at + 3)];
                match value(escape) {
                    Some(value) if is_allowed(escape, value, part) => out.push(value),
                    _ => return Err(format!("invalid URL escape {}", quote(escape))),
                }
                at += 2;
            }
            b'+' if part == UrlPart::Query => out.push(b' '),
            _ if byte < 0x80 && matches!(part, UrlPart::Host | UrlPart::Zone) && part.escapes(byte) => {
                return Err(format!("invalid character {} in host name", quote(&[byte])));
            }
            _ => out.push(byte),
        }
        at += 1;
    }
    Ok(out)
}

fn value(escape: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match escape {
        [_, high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
        _ => None,
    }
}

/// Whether an escape is allowed. Hosts may contain only escapes of non-ASCII bytes, and zones only
/// those of spaces and of bytes that a host can contain unescaped. `%25` is allowed in both.
fn is_allowed(escape: &[u8], value: u8, part: UrlPart) -> bool {
    match part {
        UrlPart::Host => value >= 0x80 || escape == b"%25",
        UrlPart::Zone => escape == b"%25" || value == b' ' || !UrlPart::Host.escapes(value),
        _ => true,
    }
}
