//! `"%s and %d" % (x, y)`.

use ytterby_text::gofloat::{format_e, format_f, format_g};
use ytterby_text::{Str, budget};

use super::arith::{digits, float_of_int, number_to_int, text_size};
use crate::error::fail;
use crate::value::decode_char;
use crate::{Error, Eval, Value};

/// Longer texts are charged before they are added.
const LONG: usize = 64 << 10;

pub(super) fn interpolate(eval: &mut Eval, format: &Str, given: &Value) -> Result<Value, Error> {
    let single = std::slice::from_ref(given);
    let positional = match given {
        Value::Tuple(tuple) => &**tuple,
        _ => single,
    };
    let mut rest = format.as_bytes();
    let mut used = 0;
    eval.text(|eval, out| {
        let mut charged = out.len();
        while let Some(at) = memchr::memchr(b'%', rest) {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            if let [b'%', tail @ ..] = rest {
                out.push(b'%');
                rest = tail;
                continue;
            }
            let looked_up;
            let value = if let [b'(', tail @ ..] = rest {
                let Some(end) = memchr::memchr(b')', tail) else { fail!("incomplete format key") };
                looked_up = by_key(given, &Str::new(&tail[..end]))?;
                rest = &tail[end + 1..];
                &looked_up
            } else {
                match positional.get(used) {
                    Some(value) => value,
                    None => fail!("not enough arguments for format string"),
                }
            };
            let [conversion, tail @ ..] = rest else { fail!("incomplete format") };
            if let Value::Str(text) = value {
                Eval::pass(text.as_bytes().len())?;
                if text.as_bytes().len() > LONG {
                    budget::memory(text.as_bytes().len())?;
                }
            }
            convert(out, *conversion, value)?;
            // Many short pieces cost as much as a long one.
            if out.len() - charged > LONG {
                budget::text(out.len() - charged)?;
                charged = out.len();
            }
            text_size(out.len(), 0)?;
            rest = tail;
            used += 1;
        }
        if used < positional.len() {
            fail!("too many arguments for format string");
        }
        out.extend_from_slice(rest);
        budget::check()?;
        eval.charge(out.len())
    })
}

fn by_key(given: &Value, key: &Str) -> Result<Value, Error> {
    let found = match given {
        Value::Dict(dict) => dict.get(&Value::Str(key.clone())),
        Value::Host(host) => match host.mapping() {
            Some(mapping) => mapping.get(&Value::Str(key.clone())),
            None => fail!(Type, "format requires a mapping"),
        },
        _ => fail!(Type, "format requires a mapping"),
    };
    match found {
        Ok(Some(value)) => Ok(value),
        _ => fail!(Index, "key not found: {key}"),
    }
}

fn convert(out: &mut Vec<u8>, conversion: u8, value: &Value) -> Result<(), Error> {
    match conversion {
        b's' => value.write_text(out),
        b'r' => value.write_repr(out),
        b'd' | b'i' | b'o' | b'x' | b'X' => {
            let int = match number_to_int(value) {
                Ok(int) => int,
                Err(problem) => fail!(Type, "%{} format requires integer: {problem}", conversion as char),
            };
            match conversion {
                b'o' => out.extend_from_slice(digits(&int, 8).as_bytes()),
                b'x' => out.extend_from_slice(digits(&int, 16).as_bytes()),
                b'X' => out.extend_from_slice(digits(&int, 16).to_ascii_uppercase().as_bytes()),
                _ => int.write_repr(out),
            }
        }
        b'e' | b'f' | b'g' | b'E' | b'F' | b'G' => {
            let float = match value {
                Value::Float(f) => *f,
                Value::Int(_) | Value::BigInt(_) => float_of_int(value),
                other => fail!(Type, "%{} format requires float, not {}", conversion as char, other.type_name()),
            };
            let text = match conversion {
                b'e' => format_e(float, 6),
                b'E' => upper_exponent(format_e(float, 6)),
                b'f' | b'F' => format_f(float, 6),
                b'g' => format_g(float),
                _ => upper_exponent(format_g(float)),
            };
            out.extend_from_slice(text.as_bytes());
        }
        b'c' => character(out, value)?,
        b'%' => out.push(b'%'),
        // A byte beyond ASCII is shown as the code point of that number.
        other => fail!("unknown conversion %{}", other as char),
    }
    Ok(())
}

fn upper_exponent(text: String) -> String {
    if text.ends_with("Inf") || text == "NaN" { text } else { text.replace('e', "E") }
}

fn character(out: &mut Vec<u8>, value: &Value) -> Result<(), Error> {
    match value {
        Value::Int(code) => {
            let valid = (0..=0x10_ffff).contains(code);
            if !valid {
                fail!("%c format requires a valid Unicode code point, got {code}");
            }
            let c = char::from_u32(*code as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Value::BigInt(code) => fail!("%c format requires a valid Unicode code point, got {code}"),
        Value::Str(s) => match decode_char(s) {
            Some((code, len)) if len == s.as_bytes().len() => {
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => fail!(Type, "%c format requires a single-character string"),
        },
        other => fail!(Type, "%c format requires int or single-character string, not {}", other.type_name()),
    }
    Ok(())
}
