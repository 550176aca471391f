//! The results of `elems()`, `codepoints()` and similar methods: the parts of a string, computed
//! lazily.

use ytterby_text::Str;
use ytterby_text::quote::quote_into;

use super::Value;
use crate::Error;
use crate::error::fail;
use crate::host::{HostValue, ValueIter};

/// The parts of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Codepoints,
}

/// The type of the parts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElemForm {
    Text,
    Number,
}

/// A lazy sequence of the parts of a string.
pub(crate) struct StringElems {
    pub(crate) text: Str,
    pub(crate) unit: Unit,
    pub(crate) form: ElemForm,
}

impl HostValue for StringElems {
    fn type_name(&self) -> &str {
        match self.unit {
            Unit::Bytes => "elems",
            Unit::Codepoints => "codepoints",
        }
    }

    fn write_repr(&self, out: &mut Vec<u8>) {
        quote_into(out, &self.text);
        let method = match (self.unit, self.form) {
            (Unit::Bytes, ElemForm::Text) => ".elems()",
            (Unit::Bytes, ElemForm::Number) => ".elem_ords()",
            (Unit::Codepoints, ElemForm::Text) => ".codepoints()",
            (Unit::Codepoints, ElemForm::Number) => ".codepoint_ords()",
        };
        out.extend_from_slice(method.as_bytes());
    }

    fn hash(&self) -> Result<u64, Error> {
        fail!(Type, "unhashable: {}", self.type_name())
    }

    fn iterate(&self) -> Option<ValueIter> {
        let (text, unit, form) = (self.text.clone(), self.unit, self.form);
        let mut at = 0;
        Some(Box::new(std::iter::from_fn(move || {
            let rest = &text.as_bytes()[at..];
            let (code, len) = match unit {
                Unit::Bytes => (u32::from(*rest.first()?), 1),
                Unit::Codepoints => decode_char(rest)?,
            };
            at += len;
            Some(match form {
                ElemForm::Number => Value::Int(i64::from(code)),
                ElemForm::Text => Value::Str(Str::new(&rest[..len])),
            })
        })))
    }
}

/// The first code point of some bytes and its length; U+FFFD and 1 if they are not UTF-8.
pub(crate) fn decode_char(bytes: &[u8]) -> Option<(u32, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u32::from(first), 1));
    }
    let chunk = bytes[..bytes.len().min(4)].utf8_chunks().next()?;
    Some(chunk.valid().chars().next().map_or((0xfffd, 1), |c| (c as u32, c.len_utf8())))
}
