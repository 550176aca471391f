//! Strings and numbers as `encoding/json` writes them.

use crate::gofloat;

/// Whether `<`, `>` and `&` are escaped, so that the text can be embedded in HTML.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Html {
    /// `\u003c`.
    #[default]
    Escape,
    /// `<`.
    Keep,
}

/// Appends a string in quotes. Bytes that are not UTF-8 become `\ufffd`, one each.
pub fn string_into(out: &mut Vec<u8>, bytes: &[u8], html: Html) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        let mut written = 0;
        for (at, byte) in text.bytes().enumerate() {
            let width = match byte {
                b'"' | b'\\' | 0..=0x1f => 1,
                b'<' | b'>' | b'&' if html == Html::Escape => 1,
                // U+2028 and U+2029 end lines in JavaScript.
                0xe2 if text.as_bytes()[at..].starts_with(b"\xe2\x80\xa8") => 3,
                0xe2 if text.as_bytes()[at..].starts_with(b"\xe2\x80\xa9") => 3,
                _ => continue,
            };
            out.extend_from_slice(&text.as_bytes()[written..at]);
            written = at + width;
            escape_into(out, &text.as_bytes()[at..written]);
        }
        out.extend_from_slice(&text.as_bytes()[written..]);
        for _ in chunk.invalid() {
            out.extend_from_slice(b"\\ufffd");
        }
    }
    out.push(b'"');
}

fn escape_into(out: &mut Vec<u8>, what: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match what {
        b"\"" => out.extend_from_slice(b"\\\""),
        b"\\" => out.extend_from_slice(b"\\\\"),
        b"\x08" => out.extend_from_slice(b"\\b"),
        b"\x0c" => out.extend_from_slice(b"\\f"),
        b"\n" => out.extend_from_slice(b"\\n"),
        b"\r" => out.extend_from_slice(b"\\r"),
        b"\t" => out.extend_from_slice(b"\\t"),
        [byte] => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        [.., 0xa8] => out.extend_from_slice(b"\\u2028"),
        _ => out.extend_from_slice(b"\\u2029"),
    }
}

/// Appends a float. Returns `false` and appends nothing if JSON cannot express it (NaN,
/// infinities).
pub fn float_into(out: &mut Vec<u8>, value: f64) -> bool {
    if !value.is_finite() {
        return false;
    }
    let size = value.abs();
    let text = if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = gofloat::format_e_shortest(value);
        // A negative exponent of one digit has no zero in front: 1e-09 is written 1e-9.
        match text.strip_suffix(|c: char| c.is_ascii_digit()).and_then(|head| head.strip_suffix("e-0")) {
            Some(mantissa) => format!("{mantissa}e-{}", &text[text.len() - 1..]),
            None => text,
        }
    } else {
        gofloat::format_f_shortest(value)
    };
    out.extend_from_slice(text.as_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &[u8], html: Html) -> String {
        let mut out = Vec::new();
        string_into(&mut out, text, html);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn strings_are_escaped() {
        for (text, expected) in [
            (&b"a"[..], r#""a""#),
            (b"<&>", r#""\u003c\u0026\u003e""#),
            (b"\"\\/\n\r\t\x08\x0c\x01\x1f\x7f", "\"\\\"\\\\/\\n\\r\\t\\b\\f\\u0001\\u001f\x7f\""),
            ("é😀\u{2028}\u{2029}€".as_bytes(), "\"é😀\\u2028\\u2029€\""),
            (b"x\xff\xfey\xc3", r#""x\ufffd\ufffdy\ufffd""#),
        ] {
            assert_eq!(string(text, Html::Escape), expected);
        }
        assert_eq!(string(b"<&>", Html::Keep), r#""<&>""#);
    }

    #[test]
    fn floats_have_the_shortest_text() {
        for (value, expected) in [
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (1e-7, "1e-7"),
            (1.5e-17, "1.5e-17"),
            (1e-6, "0.000001"),
            (-0.0, "-0"),
            (0.0, "0"),
            (0.1, "0.1"),
            (1e300, "1e+300"),
            (-2.5e-9, "-2.5e-9"),
        ] {
            let mut out = Vec::new();
            assert!(float_into(&mut out, value));
            assert_eq!(String::from_utf8(out).expect("ASCII"), expected);
        }
        assert!(!float_into(&mut Vec::new(), f64::NAN));
    }
}
