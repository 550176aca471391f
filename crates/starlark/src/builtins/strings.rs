//! Methods of strings.
//!
//! Strings are bytes, as in Go: indices count bytes, and invalid UTF-8 is kept. Long texts are
//! charged to the budget before they are copied.

use memchr::memmem;
use ytterby_text::{Str, Tiny, budget};

use super::unicode::{chars, is_cased, is_digit, is_title, to_lower, to_title, to_upper};
use crate::args::Iterable;
use crate::error::fail;
use crate::ops::{search, slice_bounds, text_size};
use crate::value::{ElemForm, Method, StringElems, Tuple, Unit, decode_char, push_tiny};
use crate::{Args, Error, Eval, Value};
use std::rc::Rc;

/// Longer texts are charged before they are copied; shorter ones together with later ones.
pub(super) const LONG: usize = 64 << 10;

pub(super) const METHODS: &[(&str, Method)] = &[
    ("capitalize", capitalize),
    ("codepoint_ords", |_, s, args| elems("codepoint_ords", s, args, Unit::Codepoints, ElemForm::Number)),
    ("codepoints", |_, s, args| elems("codepoints", s, args, Unit::Codepoints, ElemForm::Text)),
    ("count", count),
    ("elem_ords", |_, s, args| elems("elem_ords", s, args, Unit::Bytes, ElemForm::Number)),
    ("elems", |_, s, args| elems("elems", s, args, Unit::Bytes, ElemForm::Text)),
    ("endswith", |_, s, args| has_affix("endswith", s, args, |text, end| text.ends_with(end))),
    ("find", |_, s, args| find("find", s, args, first_index).map(|at| at.unwrap_or(Value::Int(-1)))),
    ("format", super::format::format),
    ("index", |_, s, args| must_find("index", s, args, first_index)),
    ("isalnum", |_, s, args| all_chars("isalnum", s, args, |c| c.is_alphabetic() || is_digit(c))),
    ("isalpha", |_, s, args| all_chars("isalpha", s, args, char::is_alphabetic)),
    ("isdigit", |_, s, args| all_chars("isdigit", s, args, is_digit)),
    ("islower", |_, s, args| is_in_case("islower", s, args, to_lower)),
    ("isspace", |_, s, args| all_chars("isspace", s, args, char::is_whitespace)),
    ("istitle", istitle),
    ("isupper", |_, s, args| is_in_case("isupper", s, args, to_upper)),
    ("join", join),
    ("lower", |eval, s, args| mapped(eval, "lower", s, args, to_lower, <[u8]>::make_ascii_lowercase)),
    ("lstrip", |_, s, args| strip("lstrip", s, args, Ends::Left)),
    ("partition", |_, s, args| partition("partition", s, args, first_index)),
    ("removeprefix", |_, s, args| without_affix("removeprefix", s, args, |text, affix| text.strip_prefix(affix))),
    ("removesuffix", |_, s, args| without_affix("removesuffix", s, args, |text, affix| text.strip_suffix(affix))),
    ("replace", replace),
    ("rfind", |_, s, args| find("rfind", s, args, last_index).map(|at| at.unwrap_or(Value::Int(-1)))),
    ("rindex", |_, s, args| must_find("rindex", s, args, last_index)),
    ("rpartition", |_, s, args| partition("rpartition", s, args, last_index)),
    ("rsplit", |eval, s, args| split(eval, "rsplit", s, args, From::End)),
    ("rstrip", |_, s, args| strip("rstrip", s, args, Ends::Right)),
    ("split", |eval, s, args| split(eval, "split", s, args, From::Start)),
    ("splitlines", splitlines),
    ("startswith", |_, s, args| has_affix("startswith", s, args, |text, start| text.starts_with(start))),
    ("strip", |_, s, args| strip("strip", s, args, Ends::Both)),
    ("title", title),
    ("upper", |eval, s, args| mapped(eval, "upper", s, args, to_upper, <[u8]>::make_ascii_uppercase)),
];

pub(super) fn text(receiver: &Value) -> Result<&Str, Error> {
    match receiver {
        Value::Str(text) => Ok(text),
        other => fail!(Type, "got {}, want string", other.type_name()),
    }
}

fn from_chars(out: String) -> Value {
    Value::Str(Str::from(out))
}

fn capitalize(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("capitalize", 0, 0)?;
    eval.charge(text(receiver)?.len())?;
    let capital = |(n, c)| if n == 0 { to_title(c) } else { to_lower(c) };
    Ok(from_chars(chars(text(receiver)?).enumerate().map(capital).collect()))
}

fn title(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("title", 0, 0)?;
    eval.charge(text(receiver)?.len())?;
    let mut in_word = false;
    let next = |c| {
        let c = if in_word { to_lower(c) } else { to_title(c) };
        in_word = is_cased(c);
        c
    };
    Ok(from_chars(chars(text(receiver)?).map(next).collect()))
}

fn mapped(
    eval: &mut Eval,
    name: &str,
    receiver: &Value,
    args: Args<'_>,
    map: fn(char) -> char,
    map_ascii: fn(&mut [u8]),
) -> Result<Value, Error> {
    args.count(name, 0, 0)?;
    let text = text(receiver)?;
    eval.charge(text.as_bytes().len())?;
    if text.is_ascii() {
        return eval.text(|_, out| {
            out.extend_from_slice(text);
            map_ascii(out);
            Ok(())
        });
    }
    Ok(from_chars(chars(text).map(map).collect()))
}

fn elems(name: &str, receiver: &Value, args: Args<'_>, unit: Unit, form: ElemForm) -> Result<Value, Error> {
    args.count(name, 0, 0)?;
    Ok(Value::host(StringElems { text: text(receiver)?.clone(), unit, form }))
}

fn all_chars(name: &str, receiver: &Value, args: Args<'_>, wanted: fn(char) -> bool) -> Result<Value, Error> {
    args.count(name, 0, 0)?;
    let text = text(receiver)?;
    Ok(Value::Bool(!text.is_empty() && chars(text).all(wanted)))
}

fn is_in_case(name: &str, receiver: &Value, args: Args<'_>, map: fn(char) -> char) -> Result<Value, Error> {
    args.count(name, 0, 0)?;
    let text = text(receiver)?;
    Ok(Value::Bool(chars(text).any(is_cased) && chars(text).all(|c| map(c) == c)))
}

fn istitle(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("istitle", 0, 0)?;
    let (mut cased, mut in_word) = (false, false);
    for c in chars(text(receiver)?) {
        let begins_word = if c.is_ascii_uppercase() || is_title(c) {
            true
        } else if c.is_lowercase() {
            false
        } else if c.is_uppercase() {
            // The reference recognises no other capital letters here.
            return Ok(Value::Bool(false));
        } else {
            in_word = false;
            continue;
        };
        if begins_word == in_word {
            return Ok(Value::Bool(false));
        }
        (cased, in_word) = (true, true);
    }
    Ok(Value::Bool(cased))
}

fn first_index(text: &[u8], part: &[u8]) -> Option<usize> {
    search::first(text, part)
}

fn last_index(text: &[u8], part: &[u8]) -> Option<usize> {
    memmem::rfind(text, part)
}

/// The part of the receiver between the arguments at 1 and 2, and its offset.
fn stretch<'a>(name: &str, receiver: &'a Value, args: Args<'_>) -> Result<(&'a [u8], usize), Error> {
    let text = text(receiver)?.as_bytes();
    if args.positional.len() < 2 {
        return Ok((text, 0));
    }
    let bounds = slice_bounds(args.positional.get(1), args.positional.get(2), text.len());
    let (start, end) = bounds.map_err(|error| error.in_context(name))?;
    Ok(if start < end { (&text[start..end], start) } else { (&[], start) })
}

type IndexFn = fn(&[u8], &[u8]) -> Option<usize>;

fn find(name: &str, receiver: &Value, args: Args<'_>, index: IndexFn) -> Result<Option<Value>, Error> {
    args.count(name, 1, 3)?;
    let part: Str = args.required(name, 0)?;
    let (text, start) = stretch(name, receiver, args)?;
    Ok(index(text, &part).map(|at| Value::from(at + start)))
}

fn must_find(name: &str, receiver: &Value, args: Args<'_>, index: IndexFn) -> Result<Value, Error> {
    match find(name, receiver, args, index)? {
        Some(at) => Ok(at),
        None => fail!("{name}: substring not found"),
    }
}

fn count(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("count", 1, 3)?;
    let part: Str = args.required("count", 0)?;
    let (text, _) = stretch("count", receiver, args)?;
    let count = if part.is_empty() { chars(text).count() + 1 } else { search::all(text, &part).count() };
    Ok(Value::from(count))
}

/// The text without a prefix or suffix, removed at most once.
fn without_affix(
    name: &str,
    receiver: &Value,
    args: Args<'_>,
    strip: for<'a> fn(&'a [u8], &[u8]) -> Option<&'a [u8]>,
) -> Result<Value, Error> {
    args.count(name, 1, 1)?;
    let affix: Str = args.required(name, 0)?;
    let text = text(receiver)?;
    Ok(match strip(text, &affix) {
        Some(rest) if rest.len() < text.len() => {
            budget::text(rest.len())?;
            Value::Str(Str::new(rest))
        }
        _ => receiver.clone(),
    })
}

fn has_affix(name: &str, receiver: &Value, args: Args<'_>, has: fn(&[u8], &[u8]) -> bool) -> Result<Value, Error> {
    if let (Value::Str(text), [Value::Str(affix)], []) = (receiver, args.positional, args.named) {
        return Ok(Value::Bool(has(text, affix)));
    }
    args.count(name, 1, 3)?;
    let (text, _) = stretch(name, receiver, args)?;
    match &args.positional[0] {
        Value::Str(affix) => Ok(Value::Bool(has(text, affix))),
        Value::Tuple(affixes) => {
            for (n, affix) in affixes.iter().enumerate() {
                if let Value::Str(affix) = affix {
                    Eval::pass(affix.len().min(text.len()))?;
                }
                match affix {
                    Value::Str(affix) if has(text, affix) => return Ok(Value::Bool(true)),
                    Value::Str(_) => {}
                    other => fail!(Type, "{name}: want string, got {}, for element {n}", other.type_name()),
                }
            }
            Ok(Value::Bool(false))
        }
        other => fail!(Type, "{name}: got {}, want string or tuple of string", other.type_name()),
    }
}

fn join(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    let separator = text(receiver)?;
    args.count("join", 1, 1)?;
    let parts: Iterable = args.required("join", 0)?;
    let add = |eval: &mut Eval, out: &mut Vec<u8>, (n, part): (usize, &Value)| match part {
        Value::Str(part) => {
            let (separator, part) = (if n > 0 { separator.as_bytes() } else { b"" }, part.as_bytes());
            text_size(out.len(), separator.len() + part.len())?;
            eval.charge(separator.len() + part.len())?;
            out.reserve(separator.len() + part.len());
            match separator {
                [byte] => out.push(*byte),
                _ => out.extend_from_slice(separator),
            }
            out.extend_from_slice(part);
            Ok(())
        }
        other => fail!(Type, "join: in list, want string, got {}", other.type_name()),
    };
    eval.text(|eval, out| match &parts.0 {
        Value::List(list) => list.items().iter().enumerate().try_for_each(|part| add(eval, out, part)),
        _ => parts.iterate().enumerate().try_for_each(|(n, part)| add(eval, out, (n, &part))),
    })
}

fn partition(name: &str, receiver: &Value, args: Args<'_>, index: IndexFn) -> Result<Value, Error> {
    args.count(name, 1, 1)?;
    let separator: Str = args.required(name, 0)?;
    if separator.is_empty() {
        fail!("{name}: empty separator");
    }
    let text = text(receiver)?;
    Eval::pass(text.len())?;
    if text.len() > LONG {
        budget::memory(text.len())?;
    }
    let parts = match index(text, &separator) {
        Some(at) => [Str::new(&text[..at]), separator.clone(), Str::new(&text[at + separator.as_bytes().len()..])],
        None if name == "partition" => [text.clone(), Str::EMPTY, Str::EMPTY],
        None => [Str::EMPTY, Str::EMPTY, text.clone()],
    };
    Ok(Value::Tuple(Rc::new(Tuple::take(parts.into_iter().map(Value::Str)))))
}

fn replace(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("replace", 2, 3)?;
    let (old, new): (Str, Str) = (args.required("replace", 0)?, args.required("replace", 1)?);
    let limit = args.at::<i32>("replace", 2)?.filter(|&limit| limit >= 0).map_or(usize::MAX, |limit| limit as usize);
    let text = text(receiver)?;
    eval.charge(text.len())?;
    eval.text(|eval, out| {
        if old.is_empty() {
            // Insert between all code points and at both ends.
            let mut rest = text.as_bytes();
            for n in 0.. {
                if n >= limit {
                    break;
                }
                text_size(out.len(), new.as_bytes().len())?;
                out.extend_from_slice(&new);
                let Some((_, len)) = decode_char(rest) else { break };
                out.extend_from_slice(&rest[..len]);
                rest = &rest[len..];
                eval.charge(new.as_bytes().len())?;
            }
            out.extend_from_slice(rest);
        } else {
            let mut done = 0;
            for at in search::all(text, &old).take(limit) {
                text_size(out.len(), new.as_bytes().len())?;
                eval.charge(new.as_bytes().len())?;
                out.extend_from_slice(&text[done..at]);
                out.extend_from_slice(&new);
                done = at + old.as_bytes().len();
            }
            out.extend_from_slice(&text[done..]);
        }
        Ok(())
    })
}

/// Which ends of a string to strip.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Left,
    Right,
    Both,
}

fn strip(name: &str, receiver: &Value, args: Args<'_>, ends: Ends) -> Result<Value, Error> {
    args.count(name, 0, 1)?;
    let set = args.at::<Str>(name, 0)?.unwrap_or_default();
    let text = text(receiver)?;
    let mut unwanted: Vec<char> = chars(&set).collect();
    // Sorted, so that a million characters to strip need no linear search for each character of a
    // long text.
    unwanted.sort_unstable();
    unwanted.dedup();
    Eval::pass(text.len().saturating_mul(4).saturating_add(set.len()))?;
    let wanted = |c: char| if unwanted.is_empty() { !c.is_whitespace() } else { unwanted.binary_search(&c).is_err() };
    let mut rest = text.as_bytes();
    while ends != Ends::Right
        && let Some((code, len)) = decode_char(rest)
    {
        if wanted(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)) {
            break;
        }
        rest = &rest[len..];
    }
    while ends != Ends::Left
        && let Some((c, len)) = decode_last(rest)
    {
        if wanted(c) {
            break;
        }
        rest = &rest[..rest.len() - len];
    }
    if rest.len() == text.as_bytes().len() {
        return Ok(receiver.clone());
    }
    if rest.len() > LONG {
        budget::memory(rest.len())?;
    }
    Ok(Value::Str(Str::new(rest)))
}

/// The last code point of some bytes and its length; U+FFFD and 1 if they are not UTF-8.
fn decode_last(bytes: &[u8]) -> Option<(char, usize)> {
    bytes.last()?;
    let longest = bytes.len().min(4);
    let found = (1..=longest).find_map(|len| {
        let c = std::str::from_utf8(&bytes[bytes.len() - len..]).ok()?.chars().next()?;
        Some((c, len))
    });
    Some(found.unwrap_or((char::REPLACEMENT_CHARACTER, 1)))
}

/// The end at which a limited split begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Start,
    End,
}

fn split(eval: &mut Eval, name: &str, receiver: &Value, args: Args<'_>, from: From) -> Result<Value, Error> {
    args.count(name, 0, 2)?;
    let limit = args.at::<i32>(name, 1)?.filter(|&limit| limit >= 0).map(|limit| limit as usize);
    let text = text(receiver)?.as_bytes();
    charge_parts(text, args.positional.first())?;
    let parts = match args.positional.first() {
        None | Some(Value::None) => split_spaces(text, limit, from).into_iter().map(piece).collect(),
        Some(Value::Str(separator)) if separator.is_empty() => fail!("split: empty separator"),
        Some(Value::Str(separator)) => split_by(text, separator, limit, from),
        Some(other) => fail!(Type, "split: got {} for separator, want string", other.type_name()),
    };
    eval.charge(text.len() + parts.len() * size_of::<Value>())?;
    Ok(Value::list(parts))
}

/// Charges the parts of a long text before they are created, by counting separators first.
fn charge_parts(text: &[u8], separator: Option<&Value>) -> Result<(), Error> {
    if text.len() <= LONG {
        return Ok(());
    }
    budget::text(text.len())?;
    let count = match separator {
        Some(Value::Str(separator)) if !separator.is_empty() => match separator.as_bytes() {
            [byte] => memchr::memchr_iter(*byte, text).count(),
            bytes => memmem::find_iter(text, bytes).count(),
        },
        _ => text.iter().filter(|byte| byte.is_ascii_whitespace()).count(),
    };
    Ok(budget::memory_of(count, size_of::<Value>())?)
}

fn piece(bytes: &[u8]) -> Value {
    Value::Str(Str::new(bytes))
}

fn split_by(text: &[u8], separator: &[u8], limit: Option<usize>, from: From) -> Vec<Value> {
    let limit = limit.unwrap_or(usize::MAX);
    match (separator, from) {
        ([byte], From::Start) => pieces(text, 1, memchr::memchr_iter(*byte, text).take(limit)),
        (_, From::Start) => pieces(text, separator.len(), search::all(text, separator).take(limit)),
        // The same splits as from the start, of which the last ones are kept.
        (_, From::End) => {
            let all: Vec<usize> = memmem::find_iter(text, separator).collect();
            pieces(text, separator.len(), all[all.len().saturating_sub(limit)..].iter().copied())
        }
    }
}

/// The parts of a text between separators at these offsets.
fn pieces(text: &[u8], separator: usize, cuts: impl Iterator<Item = usize>) -> Vec<Value> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in cuts {
        let bytes = &text[start..at];
        match Tiny::new(bytes) {
            Some(text) => push_tiny(&mut pieces, text),
            None => pieces.push(piece(bytes)),
        }
        start = at + separator;
    }
    pieces.push(piece(&text[start..]));
    pieces
}

fn split_spaces(text: &[u8], limit: Option<usize>, from: From) -> Vec<&[u8]> {
    let limit = limit.unwrap_or(usize::MAX);
    let mut words = Vec::new();
    let mut start = None;
    let mut at = 0;
    while let Some((code, len)) = decode_char(&text[at..]) {
        let space = char::from_u32(code).is_some_and(char::is_whitespace);
        match start {
            Some(begin) if space => {
                words.push((begin, at));
                start = None;
            }
            None if !space => start = Some(at),
            _ => {}
        }
        at += len;
    }
    if let Some(begin) = start {
        words.push((begin, text.len()));
    }
    if words.len() > limit {
        // The part beyond the limit is not split and keeps the spaces up to the end of the text.
        match from {
            From::Start => {
                let begin = words[limit].0;
                words.truncate(limit);
                words.push((begin, text.len()));
            }
            From::End => {
                let rest = words.len() - limit;
                let end = words[rest - 1].1;
                words.drain(..rest - 1);
                words[0] = (0, end);
            }
        }
    }
    words.into_iter().map(|(start, end)| &text[start..end]).collect()
}

fn splitlines(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("splitlines", 0, 1)?;
    let keep_ends = args.at::<bool>("splitlines", 0)?.unwrap_or(false);
    let text = text(receiver)?.as_bytes();
    charge_parts(text, None)?;
    let mut lines = Vec::new();
    let mut start = 0;
    for at in memchr::memchr_iter(b'\n', text) {
        lines.push(Value::Str(Str::new(&text[start..at + usize::from(keep_ends)])));
        start = at + 1;
    }
    if start < text.len() {
        lines.push(Value::Str(Str::new(&text[start..])));
    }
    eval.charge(text.len() + lines.len() * size_of::<Value>())?;
    Ok(Value::list(lines))
}
