//! The methods that programs call most, for the usual types of arguments: each has its own
//! instruction.
//!
//! They skip the general convention for calls: looking up the method, arguments in a slice, their
//! conversion, a result that is passed through memory. Each returns `None` for anything unusual,
//! including errors, before it has any effect; then the instructions after it call the method in
//! the general way.

use ytterby_text::{ShortText, Str, Tiny};

use super::work::{Done, target_and_operand};
use crate::compile::{LinkedCode, Reg};
use crate::ops::search;
use crate::{Error, Eval, Value};

/// Longer receivers are charged by the general way.
const SHORT_RECEIVER: usize = 2048;

/// `x.upper()` or `x.lower()` for a short ASCII string.
#[inline(never)]
pub(super) fn case(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    dst: Reg,
    x: Reg,
    upper: bool,
) -> Result<bool, Error> {
    let Value::Str(text) = code.operand(regs, x) else { return Ok(false) };
    if let Some(text) = text.tiny() {
        let Some(changed) = (if upper { text.upper() } else { text.lower() }) else { return Ok(false) };
        eval.charge(changed.len())?;
        regs[usize::from(dst)].put_tiny(changed);
        return Ok(true);
    }
    let changed = if upper { text.upper_short() } else { text.lower_short() };
    let Some(changed) = changed else { return Ok(false) };
    eval.charge(changed.as_bytes().len())?;
    regs[usize::from(dst)].put(Value::Str(changed));
    Ok(true)
}

/// `x.endswith(y)` or `x.startswith(y)` for strings.
#[inline(never)]
pub(super) fn affix(code: &LinkedCode, regs: &[Value], x: Reg, y: Reg, end: bool) -> Option<bool> {
    let (Value::Str(text), Value::Str(affix)) = (code.operand(regs, x), code.operand(regs, y)) else { return None };
    if let (Some(text), Some(affix)) = (text.tiny(), affix.tiny()) {
        return Some(if end { text.ends_with(affix) } else { text.starts_with(affix) });
    }
    let (text, affix) = (text.as_bytes(), affix.as_bytes());
    if text.len() > SHORT_RECEIVER {
        return None;
    }
    let Some(rest) = text.len().checked_sub(affix.len()) else { return Some(false) };
    let part = if end { &text[rest..] } else { &text[..affix.len()] };
    /// Up to this length, comparing bytes one by one takes less time than a call.
    const FEW: usize = 8;
    Some(if affix.len() <= FEW { part.iter().zip(affix).all(|(x, y)| x == y) } else { part == affix })
}

/// `x.get(y, z)` for a dict and a string or an integer as key; returns whether it is.
#[inline(never)]
pub(super) fn get(code: &LinkedCode, regs: &mut [Value], dst: Reg, x: Reg, [y, z]: [Reg; 2]) -> bool {
    let (Value::Dict(dict), key @ (Value::Str(_) | Value::Int(_))) = (code.operand(regs, x), code.operand(regs, y))
    else {
        return false;
    };
    let value = match dict.table().get(key) {
        Ok(Some(Value::Int(value))) => Ok(*value),
        Ok(Some(value)) => Err(value.clone()),
        Ok(None) => match code.operand(regs, z) {
            Value::Int(value) => Ok(*value),
            value => Err(value.clone()),
        },
        Err(_) => return false,
    };
    match value {
        Ok(value) => regs[usize::from(dst)].put_int(value),
        Err(value) => regs[usize::from(dst)].put(value),
    }
    true
}

/// `x.append(y)` for a list, where `y` is an operand that stays.
#[inline(never)]
pub(super) fn append_copy(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    dst: Reg,
    x: Reg,
    y: Reg,
) -> Result<bool, Error> {
    let (x, y) = (code.operand(regs, x), code.operand(regs, y));
    let Value::List(list) = x else { return Ok(false) };
    if !list.can_change() {
        return Ok(false);
    }
    eval.charge(size_of::<Value>())?;
    list.push(y.clone())?;
    regs[usize::from(dst)].put(Value::None);
    Ok(true)
}

/// `x.append(item)` for a list, where the item is a temporary after `base`, which is unset for
/// methods of built-in types.
#[inline(never)]
pub(super) fn append_item(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    base: Reg,
    x: Reg,
) -> Result<bool, Error> {
    let base = usize::from(base);
    let is_usual = matches!(code.operand(regs, x), Value::List(list) if list.can_change());
    if !is_usual || !regs[base].is_unset() {
        return Ok(false);
    }
    eval.charge(size_of::<Value>())?;
    if let Some((item, Value::List(list))) = target_and_operand(code, regs, base as Reg + 1, x) {
        list.push_moved(item)?;
    }
    regs[base].put(Value::None);
    Ok(true)
}

/// `x.replace(y, z)` for short strings.
#[inline(never)]
pub(super) fn replace(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    dst: Reg,
    x: Reg,
    args: [Reg; 2],
) -> Result<bool, Error> {
    let [x, y, z] = [x, args[0], args[1]].map(|operand| code.operand(regs, operand));
    let (Value::Str(text), Value::Str(old), Value::Str(new)) = (x, y, z) else { return Ok(false) };
    if let (Some(text), Some(old), Some(new)) = (text.tiny(), old.tiny(), new.tiny())
        && !old.is_empty()
        && let Some((replaced, count)) = text.replace(old, new)
    {
        eval.charge(text.len())?;
        for _ in 0..count {
            eval.charge(new.len())?;
        }
        regs[usize::from(dst)].put_tiny(replaced);
        return Ok(true);
    }
    let Some((replaced, count)) = replaced(text, old, new) else { return Ok(false) };
    eval.charge(text.as_bytes().len())?;
    for _ in 0..count {
        eval.charge(new.as_bytes().len())?;
    }
    regs[usize::from(dst)].put(Value::Str(replaced));
    Ok(true)
}

/// The result of `text.replace(old, new)` if it is short, and the number of replacements.
#[inline(always)]
fn replaced(text: &Str, old: &Str, new: &Str) -> Option<(Str, usize)> {
    if !text.is_short() || old.is_empty() {
        return None;
    }
    let mut out = ShortText::default();
    let mut rest = text.as_bytes();
    let mut count = 0;
    while let Some(at) = search::first(rest, old) {
        if !out.push_bytes(&rest[..at]) || !out.push_bytes(new) {
            return None;
        }
        rest = &rest[at + old.as_bytes().len()..];
        count += 1;
    }
    out.push_bytes(rest).then(|| (out.into_str(), count))
}

/// `"…".format(…)` with the literal pieces between its fields, if the result is short and the
/// values are strings or integers.
#[inline(never)]
pub(super) fn format(eval: &mut Eval, pieces: &[Str], regs: &mut [Value], base: Reg, count: u8) -> Result<bool, Error> {
    let base = usize::from(base);
    let values = &regs[base + 1..][..usize::from(count)];
    if let Some(text) = formatted_tiny(pieces, values) {
        eval.charge(text.len())?;
        regs[base].put_tiny(text);
        return Ok(true);
    }
    let Some(text) = formatted(pieces, values) else { return Ok(false) };
    eval.charge(text.as_bytes().len())?;
    regs[base].put(Value::Str(text));
    Ok(true)
}

#[inline(always)]
fn formatted(pieces: &[Str], values: &[Value]) -> Option<Str> {
    let (first, rest) = pieces.split_first()?;
    if rest.len() > values.len() {
        return None;
    }
    let mut out = ShortText::default();
    if !out.push_bytes(first) {
        return None;
    }
    for (value, piece) in values.iter().zip(rest) {
        let fits = match value {
            Value::Int(value) => out.push_int(*value),
            Value::Str(value) => out.push_bytes(value),
            _ => false,
        };
        if !fits || !out.push_bytes(piece) {
            return None;
        }
    }
    Some(out.into_str())
}

/// The same if the result, its pieces and its values are tiny.
#[inline(always)]
fn formatted_tiny(pieces: &[Str], values: &[Value]) -> Option<Tiny> {
    let (first, rest) = pieces.split_first()?;
    if rest.len() > values.len() {
        return None;
    }
    let mut out = first.tiny()?;
    for (value, piece) in values.iter().zip(rest) {
        let value = match value {
            Value::Int(value) => Tiny::of_int(*value)?,
            value => value.as_tiny()?,
        };
        out = out.concat(value)?.concat(piece.tiny()?)?;
    }
    Some(out)
}

/// `len(x)`
#[inline(always)]
pub(super) fn len(x: &Value) -> Option<usize> {
    match x {
        Value::Str(text) => Some(text.as_bytes().len()),
        Value::List(list) => Some(list.len()),
        Value::Dict(dict) => Some(dict.len()),
        _ => None,
    }
}

/// `str(x)` for an integer.
#[inline(never)]
pub(super) fn int_text(eval: &mut Eval, value: i64, dst: &mut Value) -> Done {
    if let Some(text) = Tiny::of_int(value) {
        eval.charge(text.len())?;
        dst.put_tiny(text);
        return Ok(());
    }
    let text = Str::of_int(value);
    eval.charge(text.as_bytes().len())?;
    dst.put(Value::Str(text));
    Ok(())
}
