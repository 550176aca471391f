//! `@ytt:base64`, with the reference's byte offsets in messages about bad text.
//!
//! Go's decoder skips line breaks anywhere and reports the offset at which it gives up; crates for
//! Rust do not. So the decoder is here, driven by a table of digits: `decoded` returns the bytes or
//! that offset.

use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::Str;

use super::Module;
use crate::args::{bool_keyword, fail, one, one_string, string};

/// The module.
pub(super) fn module() -> Module {
    Module::new("base64").with("encode", encode).with("decode", decode).with_beyond_ytt("decodable", decodable)
}

/// The variant of base64.
#[derive(Clone, Copy)]
struct Flavour {
    alphabet: &'static [u8; 64],
    padded: bool,
    /// Whether the bits after the last byte must be 0.
    strict: bool,
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn flavour(args: &Args<'_>) -> Result<Flavour, Error> {
    let alphabet = if bool_keyword(args, "url", false)? { URL } else { STANDARD };
    let padded = !bool_keyword(args, "raw", false)?;
    Ok(Flavour { alphabet, padded, strict: bool_keyword(args, "strict", false)? })
}

fn encode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let bytes = one_string(&args)?;
    Ok(Value::from(Str::from(encoded(bytes, flavour(&args)?))))
}

fn decode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let text = one_string(&args)?;
    match decoded(text, flavour(&args)?) {
        Ok(bytes) => Ok(Value::from(Str::from(bytes))),
        Err(at) => fail!("illegal base64 data at input byte {at}"),
    }
}

/// Whether `decode` would succeed.
fn decodable(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let flavour = flavour(&args)?;
    Ok(Value::Bool(string(one(&args)?).is_ok_and(|text| decoded(text, flavour).is_ok())))
}

fn encoded(bytes: &[u8], flavour: Flavour) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            if digit <= group.len() {
                out.push(flavour.alphabet[(bits >> (18 - 6 * digit) & 63) as usize]);
            } else if flavour.padded {
                out.push(b'=');
            }
        }
    }
    out
}

const fn digits(alphabet: &[u8; 64]) -> [u8; 256] {
    let mut table = [0xff; 256];
    let mut at = 0;
    while at < 64 {
        table[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    table
}

/// The bytes, or the offset in the reference's error. Line breaks are allowed anywhere.
fn decoded(text: &[u8], flavour: Flavour) -> Result<Vec<u8>, usize> {
    static STANDARD_DIGITS: [u8; 256] = digits(STANDARD);
    static URL_DIGITS: [u8; 256] = digits(URL);
    let table = if flavour.alphabet == URL { &URL_DIGITS } else { &STANDARD_DIGITS };
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    for (at, &byte) in text.iter().enumerate() {
        let digit = table[usize::from(byte)];
        if digit < 64 {
            bits = bits << 6 | u32::from(digit);
            count += 1;
            if count == 4 {
                out.extend_from_slice(&bits.to_be_bytes()[1..]);
                (bits, count) = (0, 0);
            }
        } else if byte == b'=' && flavour.padded {
            let end = padding_end(text, at, count)?;
            finish(&mut out, bits, count, end, flavour)?;
            return Ok(out);
        } else if !is_line_break(byte) {
            return Err(at);
        }
    }
    match count {
        0 => Ok(out),
        1 => Err(text.len() - 1),
        _ if flavour.padded => Err(text.len() - count),
        _ => {
            finish(&mut out, bits, count, text.len(), flavour)?;
            Ok(out)
        }
    }
}

/// Checks the padding at `at`, after `count` digits of a group, and that nothing follows; returns
/// its end.
fn padding_end(text: &[u8], at: usize, count: usize) -> Result<usize, usize> {
    let skip_breaks = |from: usize| from + text[from..].iter().take_while(|&&byte| is_line_break(byte)).count();
    let mut end = at + 1;
    match count {
        0 | 1 => return Err(at),
        2 => {
            end = skip_breaks(end);
            match text.get(end) {
                None => return Err(text.len()),
                Some(b'=') => end += 1,
                Some(_) => return Err(end - 1),
            }
        }
        _ => {}
    }
    end = skip_breaks(end);
    if end < text.len() { Err(end) } else { Ok(end) }
}

/// Appends the bytes of a last group of two or three digits.
fn finish(out: &mut Vec<u8>, bits: u32, count: usize, end: usize, flavour: Flavour) -> Result<(), usize> {
    let bits = bits << (6 * (4 - count));
    let bytes = bits.to_be_bytes();
    let (whole, rest) = bytes[1..].split_at(count - 1);
    if flavour.strict && rest.iter().any(|&byte| byte != 0) {
        return Err(end.saturating_sub(4 - count));
    }
    out.extend_from_slice(whole);
    Ok(())
}

fn is_line_break(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Flavour = Flavour { alphabet: STANDARD, padded: true, strict: false };
    const RAW: Flavour = Flavour { padded: false, ..PLAIN };

    #[test]
    fn encodes_all_lengths() {
        for (bytes, padded, raw) in [("", "", ""), ("h", "aA==", "aA"), ("hi", "aGk=", "aGk"), ("hi!", "aGkh", "aGkh")]
        {
            assert_eq!(encoded(bytes.as_bytes(), PLAIN), padded.as_bytes());
            assert_eq!(encoded(bytes.as_bytes(), RAW), raw.as_bytes());
            assert_eq!(decoded(padded.as_bytes(), PLAIN).as_deref(), Ok(bytes.as_bytes()));
            assert_eq!(decoded(raw.as_bytes(), RAW).as_deref(), Ok(bytes.as_bytes()));
        }
    }

    #[test]
    fn errors_contain_the_offset() {
        for (text, expected) in [
            ("aGk", Err(0)),
            ("a G k=", Err(1)),
            ("aG\nk=x\n", Err(5)),
            ("aGk==", Err(4)),
            ("a", Err(0)),
            ("=", Err(0)),
            ("a===", Err(1)),
            ("ab=c", Err(2)),
            ("abcdab=", Err(7)),
            ("abcdab==abcd", Err(8)),
            ("abcdabc=\r\nx", Err(10)),
            ("abcdabcdabcdabcdabc*", Err(19)),
            ("aG\nk=\n", Ok(&b"hi"[..])),
            ("aG\r\nk\n=\n", Ok(b"hi")),
        ] {
            assert_eq!(decoded(text.as_bytes(), PLAIN).as_deref(), expected.as_ref().copied(), "{text:?}");
        }
        assert_eq!(decoded(b"abcda", RAW), Err(4));
        assert_eq!(decoded(b"abcdab=", RAW), Err(6));
        assert_eq!(decoded(b"aGl=", Flavour { strict: true, ..PLAIN }), Err(3));
        assert_eq!(decoded(b"aB==", Flavour { strict: true, ..PLAIN }), Err(2));
    }
}
