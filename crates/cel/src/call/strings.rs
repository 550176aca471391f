//! Functions of strings, regular expressions and `format`.
//!
//! Positions count characters, not bytes. A regular expression that is a literal was compiled with
//! the program and is given to `regex`; `format` has its own small interpreter of clauses (`%s`,
//! `%.3f`), because its results must be those of the API server.

use ytterby_regexp::Regexp;
use ytterby_text::gofloat;

use super::{MAX_SIZE, overload, text};
use crate::eval::{EvalError, Result, fail};
use crate::functions::Fun;
use crate::time;
use crate::value::Val;

pub(crate) fn regex(fun: Fun, regexp: &Regexp, args: &[Val]) -> Result<Val> {
    let Val::Str(subject) = &args[0] else { return overload(fun, args) };
    match fun {
        Fun::Matches => Ok(Val::Bool(regexp.is_match_in(subject))),
        Fun::Find => Ok(text(regexp.find_in(subject).unwrap_or_default())),
        _ => {
            let most = match args.get(2) {
                Some(Val::Int(most)) if *most >= 0 => *most as usize,
                Some(Val::Int(_)) | None => usize::MAX,
                _ => return overload(fun, args),
            };
            Ok(Val::list(regexp.find_all_in(subject).take(most).map(text).collect()))
        }
    }
}

pub(super) fn strings(fun: Fun, args: &[Val]) -> Result<Val> {
    let Val::Str(subject) = &args[0] else { return overload(fun, args) };
    let subject: &str = subject;
    let other = |at: usize| match args.get(at) {
        Some(Val::Str(text)) => Some(&**text),
        _ => None,
    };
    let number = |at: usize| match args.get(at) {
        Some(Val::Int(value)) => Some(*value),
        _ => None,
    };
    let out_of_range = || fail("index out of range");
    match (fun, other(1)) {
        (Fun::Contains, Some(part)) => Ok(Val::Bool(subject.contains(part))),
        (Fun::StartsWith, Some(part)) => Ok(Val::Bool(subject.starts_with(part))),
        (Fun::EndsWith, Some(part)) => Ok(Val::Bool(subject.ends_with(part))),
        (Fun::LowerAscii, _) => Ok(text(subject.to_ascii_lowercase())),
        (Fun::UpperAscii, _) => Ok(text(subject.to_ascii_uppercase())),
        (Fun::Trim, _) => Ok(text(subject.trim())),
        (Fun::Quote, _) => Ok(text(format!("{subject:?}"))),
        (Fun::Split, Some(separator)) => {
            let parts: Vec<Val> = match number(2) {
                Some(0) => Vec::new(),
                Some(most) if most > 0 => splits(subject, separator, most as usize),
                _ => splits(subject, separator, usize::MAX),
            };
            Ok(Val::list(parts))
        }
        (Fun::Replace, Some(from)) => {
            let Some(to) = other(2) else { return overload(fun, args) };
            let most = match number(3) {
                Some(most) if most >= 0 => most as usize,
                _ => usize::MAX,
            };
            let count = if from.is_empty() { subject.chars().count() + 1 } else { subject.matches(from).count() };
            if count.min(most).saturating_mul(to.len()) > MAX_SIZE {
                return Err(EvalError::Cost);
            }
            Ok(text(subject.replacen(from, to, most)))
        }
        (Fun::IndexOf | Fun::LastIndexOf, Some(part)) => {
            let chars: Vec<char> = subject.chars().collect();
            let part: Vec<char> = part.chars().collect();
            let from = match (fun, args.get(2)) {
                (_, Some(Val::Int(from))) if *from < 0 || *from as usize > chars.len() => return out_of_range(),
                (_, Some(Val::Int(from))) => *from as usize,
                (Fun::IndexOf, _) => 0,
                _ => chars.len(),
            };
            if part.is_empty() {
                return Ok(Val::Int(from as i64));
            }
            let last = chars.len().checked_sub(part.len());
            let is_at = |at: &usize| chars[*at..].starts_with(&part);
            let found = match (fun, last) {
                (_, None) => None,
                (Fun::IndexOf, Some(last)) => (from..=last).find(is_at),
                (_, Some(last)) => (0..=from.min(last)).rev().find(is_at),
            };
            Ok(Val::Int(found.map_or(-1, |at| at as i64)))
        }
        (Fun::CharAt, _) => {
            let Some(at) = number(1) else { return overload(fun, args) };
            let len = subject.chars().count();
            match usize::try_from(at) {
                Ok(at) if at <= len => Ok(text(subject.chars().nth(at).map(String::from).unwrap_or_default())),
                _ => out_of_range(),
            }
        }
        (Fun::Substring, _) => {
            let chars: Vec<char> = subject.chars().collect();
            let Some(start) = number(1) else { return overload(fun, args) };
            let end = number(2).unwrap_or(chars.len() as i64);
            if start < 0 || end < start || end as usize > chars.len() {
                return out_of_range();
            }
            Ok(text(chars[start as usize..end as usize].iter().collect::<String>()))
        }
        (Fun::Format, _) => {
            let Some(Val::List(values)) = args.get(1) else { return overload(fun, args) };
            format(subject, &values.items)
        }
        _ => overload(fun, args),
    }
}

fn splits(subject: &str, separator: &str, most: usize) -> Vec<Val> {
    if separator.is_empty() {
        // Like Go, an empty separator splits into characters.
        let mut parts: Vec<Val> = Vec::new();
        let mut rest = subject;
        while let Some(first) = rest.chars().next() {
            if parts.len() + 1 == most {
                parts.push(text(rest));
                return parts;
            }
            parts.push(text(&rest[..first.len_utf8()]));
            rest = &rest[first.len_utf8()..];
        }
        return parts;
    }
    subject.splitn(most, separator).map(text).collect()
}

/// `"%s is %d".format([…])`.
fn format(template: &str, values: &[Val]) -> Result<Val> {
    let mut out = String::new();
    let mut rest = template;
    let mut values = values.iter();
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(tail) = rest.strip_prefix('%') {
            out.push('%');
            rest = tail;
            continue;
        }
        let mut precision = None;
        if let Some(tail) = rest.strip_prefix('.') {
            let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
            precision = tail[..digits].parse::<usize>().ok().filter(|precision| *precision <= 1000);
            rest = &tail[digits..];
        }
        let Some(clause) = rest.chars().next() else { return fail("could not parse formatting clause") };
        rest = &rest[clause.len_utf8()..];
        let Some(value) = values.next() else { return fail("not enough values for the formatting clauses") };
        out.push_str(&clause_text(clause, precision, value)?);
        if out.len() > MAX_SIZE {
            return Err(EvalError::Cost);
        }
    }
    out.push_str(rest);
    Ok(text(out))
}

fn clause_text(clause: char, precision: Option<usize>, value: &Val) -> Result<String> {
    let wrong = || fail(format!("formatting clause %{clause} cannot be used on a {}", value.type_name()));
    Ok(match (clause, value) {
        ('s', value) => formatted(value, 0)?,
        ('d', Val::Int(value)) => value.to_string(),
        ('d', Val::Uint(value)) => value.to_string(),
        ('d', Val::Double(value)) if value.fract() == 0.0 => format!("{value:.0}"),
        ('f', Val::Double(value)) => format!("{value:.*}", precision.unwrap_or(6)),
        ('f', Val::Int(value)) => format!("{:.*}", precision.unwrap_or(6), *value as f64),
        ('e', Val::Double(value)) => gofloat::format_e(*value, precision.unwrap_or(6)),
        ('b', Val::Int(value)) if *value < 0 => format!("-{:b}", value.unsigned_abs()),
        ('b', Val::Int(value)) => format!("{value:b}"),
        ('b', Val::Uint(value)) => format!("{value:b}"),
        ('b', Val::Bool(value)) => u8::from(*value).to_string(),
        ('o', Val::Int(value)) => format!("{value:o}"),
        ('o', Val::Uint(value)) => format!("{value:o}"),
        ('x', Val::Int(value)) => format!("{value:x}"),
        ('x', Val::Uint(value)) => format!("{value:x}"),
        ('X', Val::Int(value)) => format!("{value:X}"),
        ('X', Val::Uint(value)) => format!("{value:X}"),
        ('x', Val::Str(text)) => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        ('x', Val::Bytes(bytes)) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ('X', Val::Str(text)) => text.bytes().map(|byte| format!("{byte:02X}")).collect(),
        ('X', Val::Bytes(bytes)) => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
        ('d' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X', _) => return wrong(),
        _ => return fail("unrecognized formatting clause"),
    })
}

fn formatted(value: &Val, depth: usize) -> Result<String> {
    if depth > 50 {
        return fail("the value is nested too deeply to be formatted");
    }
    Ok(match value {
        Val::Null => "null".to_owned(),
        Val::List(list) => {
            let items = list.items.iter().map(|item| formatted(item, depth + 1)).collect::<Result<Vec<_>>>()?;
            format!("[{}]", items.join(", "))
        }
        Val::Map(map) => {
            let mut entries = Vec::new();
            for (key, value) in map.entries() {
                entries.push(format!("{}: {}", formatted(key, depth + 1)?, formatted(value, depth + 1)?));
            }
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        other => match shown(other) {
            Some(shown) => shown,
            None => return fail(format!("a {} cannot be formatted", other.type_name())),
        },
    })
}

/// The result of `string(value)`, if defined.
pub(super) fn shown(value: &Val) -> Option<String> {
    Some(match value {
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => gofloat::format_g(*value),
        Val::Str(text) => text.to_string(),
        Val::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok()?,
        Val::Timestamp(seconds, nanos) => time::timestamp_text(*seconds, *nanos),
        Val::Duration(nanos) => time::duration_text(*nanos),
        Val::Ip(address) => address.to_string(),
        Val::Cidr(address, bits) => format!("{address}/{bits}"),
        Val::Type(name) => (*name).to_owned(),
        _ => return None,
    })
}
