//! `"{} {name!r}".format(…)`.
//!
//! `format` copies the text between replacement fields and lets `Fields` write each value. Fields
//! are numbered automatically or by hand, or have names.

use memchr::memchr;
use ytterby_text::budget;
use ytterby_text::quote::quote;

use super::strings::{LONG, text};
use crate::error::fail;
use crate::ops::text_size;
use crate::{Args, Error, Eval, Value};

pub(super) fn format(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    let mut rest = text(receiver)?.as_bytes();
    let mut fields = Fields { args, next: 0, automatic: false, manual: false };
    eval.text(|eval, out| {
        let mut charged = out.len();
        while let Some(at) = next_brace(rest) {
            out.extend_from_slice(&rest[..at]);
            let brace = rest[at];
            rest = &rest[at + 1..];
            if rest.first() == Some(&brace) {
                // `{{` means `{` and `}}` means `}`.
                out.push(brace);
                rest = &rest[1..];
                continue;
            }
            if brace == b'}' {
                fail!("format: single '}}' in format");
            }
            if let [b'}', tail @ ..] = rest {
                let value = fields.value(b"")?;
                charge_long(value)?;
                value.write_text(out);
                rest = tail;
            } else {
                let Some(close) = memchr(b'}', rest) else { fail!("format: unmatched '{{' in format") };
                fields.write(out, &rest[..close])?;
                rest = &rest[close + 1..];
            }
            // Many short pieces cost as much as a long one.
            if out.len() - charged > LONG {
                budget::text(out.len() - charged)?;
                charged = out.len();
            }
            text_size(out.len(), 0)?;
        }
        out.extend_from_slice(rest);
        budget::check()?;
        eval.charge(out.len())
    })
}

/// Charges a long text before it is copied.
fn charge_long(value: &Value) -> Result<(), Error> {
    match value {
        Value::Str(text) if text.len() > LONG => Ok(budget::memory(text.len())?),
        _ => Ok(()),
    }
}

/// The position of the next `{` or `}`. Most texts are short and have several, so that checking
/// each byte is faster than a vectorized search.
#[inline]
fn next_brace(text: &[u8]) -> Option<usize> {
    const SHORT: usize = 32;
    let is_brace = |byte: &u8| matches!(byte, b'{' | b'}');
    let start = &text[..text.len().min(SHORT)];
    match start.iter().position(is_brace) {
        None if text.len() > SHORT => memchr::memchr2(b'{', b'}', &text[SHORT..]).map(|at| at + SHORT),
        found => found,
    }
}

/// The values for replacement fields: automatic numbers, explicit numbers, or names.
struct Fields<'a> {
    args: Args<'a>,
    next: usize,
    automatic: bool,
    manual: bool,
}

impl<'a> Fields<'a> {
    fn write(&mut self, out: &mut Vec<u8>, field: &[u8]) -> Result<(), Error> {
        let cut = |text: &'_ [u8], at: u8| memchr(at, text);
        let (head, spec) = match (cut(field, b'!'), cut(field, b':')) {
            // Then a colon before the exclamation mark belongs to the name.
            (Some(bang), _) => match cut(&field[bang..], b':') {
                Some(colon) => (&field[..bang + colon], &field[bang + colon + 1..]),
                None => (field, &field[field.len()..]),
            },
            (None, Some(colon)) => (&field[..colon], &field[colon + 1..]),
            (None, None) => (field, &field[field.len()..]),
        };
        let (name, conversion) = match cut(head, b'!') {
            Some(bang) => (&head[..bang], &head[bang + 1..]),
            None => (head, &b"s"[..]),
        };
        let value = self.value(name)?;
        charge_long(value)?;
        if !spec.is_empty() {
            let spec = String::from_utf8_lossy(spec);
            fail!("format spec features not supported in replacement fields: {spec}");
        }
        match conversion {
            b"s" => value.write_text(out),
            b"r" => value.write_repr(out),
            other => fail!("format: unknown conversion {}", quote(other)),
        }
        Ok(())
    }

    #[inline]
    fn value(&mut self, name: &[u8]) -> Result<&'a Value, Error> {
        if name.is_empty() {
            if self.manual {
                fail!("format: cannot switch from manual field specification to automatic field numbering");
            }
            self.automatic = true;
            self.next += 1;
            return self.positional(self.next - 1);
        }
        self.named_value(name)
    }

    fn named_value(&mut self, name: &[u8]) -> Result<&'a Value, Error> {
        if let Some(index) = decimal(name) {
            if self.automatic {
                fail!("format: cannot switch from automatic field numbering to manual field specification");
            }
            self.manual = true;
            return self.positional(index);
        }
        if let Some((_, value)) = self.args.named.iter().find(|(known, _)| known.as_bytes() == name) {
            return Ok(value);
        }
        let shown = String::from_utf8_lossy(name);
        if name.contains(&b'.') {
            fail!("format: attribute syntax x.y is not supported in replacement fields: {shown}");
        }
        if name.contains(&b'[') {
            fail!("format: element syntax a[i] is not supported in replacement fields: {shown}");
        }
        if name.contains(&b'{') {
            fail!("format: nested replacement fields not supported");
        }
        fail!("format: keyword {shown} not found")
    }

    fn positional(&self, index: usize) -> Result<&'a Value, Error> {
        match self.args.positional.get(index) {
            Some(value) => Ok(value),
            None => fail!("format: tuple index out of range"),
        }
    }
}

/// Parses a number of decimal digits only.
fn decimal(name: &[u8]) -> Option<usize> {
    name.iter().try_fold(0usize, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
