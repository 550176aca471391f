//! Calls functions of programs: the arguments become the first registers of the callee.

use std::rc::Rc;

use ytterby_text::{Str, budget};

use super::bind::{bind, box_cells, fill_defaults, repeated, too_many, unknown_keyword};
use super::iter::Iter;
use crate::compile::{CallShape, LinkedCode};
use crate::error::fail;
use crate::value::{Dict, Function, Tuple};
use crate::{Error, Eval, Value};

/// Begins a call with positional arguments in registers from `base` on.
#[inline(never)]
pub(super) fn enter(
    eval: &mut Eval,
    stack: &mut Vec<Value>,
    function: Rc<Function>,
    base: usize,
    count: usize,
) -> Result<(), Error> {
    begin(eval, stack, &function, base)?;
    let code = &*function.code;
    // The common case: exactly the parameters, used as they are.
    if code.params.plain == Some(count) {
        clear_locals(code, stack, base, count);
        eval.push_frame(function, base);
        return Ok(());
    }
    enter_any(eval, stack, function, base, count)
}

#[inline(never)]
fn enter_any(
    eval: &mut Eval,
    stack: &mut [Value],
    function: Rc<Function>,
    base: usize,
    count: usize,
) -> Result<(), Error> {
    let code = &*function.code;
    let params = &code.params;
    if params.varargs || params.kwargs {
        let kept = count.min(params.positional);
        let surplus = stack[base + kept..base + count].iter_mut().map(Value::take);
        let rest = params.varargs.then(|| Value::Tuple(Rc::new(Tuple::take(surplus))));
        clear_locals(code, stack, base, kept);
        eval.push_frame(function.clone(), base);
        if count > kept && rest.is_none() {
            return Err(too_many(&function, count));
        }
        let slots = &mut stack[base..];
        let mut behind = params.names.len();
        if let Some(rest) = rest {
            slots[behind] = rest;
            behind += 1;
        }
        if params.kwargs {
            slots[behind] = Value::Dict(Rc::new(Dict::new()));
        }
        fill_defaults(&function, slots, kept)?;
    } else {
        clear_locals(code, stack, base, count);
        if count > params.positional {
            let error = too_many(&function, count);
            eval.push_frame(function, base);
            return Err(error);
        }
        eval.push_frame(function.clone(), base);
        if count < params.names.len() {
            fill_defaults(&function, &mut stack[base..], count)?;
        }
    }
    if !code.cells.is_empty() {
        box_cells(code, &mut stack[base..]);
    }
    Ok(())
}

/// Begins a call with arguments in registers from `base` on, described by a shape of the caller.
/// Most call sites call the same function repeatedly, so the last function whose parameters have
/// the order of the names is remembered.
pub(super) fn enter_with_shape(
    eval: &mut Eval,
    stack: &mut Vec<Value>,
    function: Rc<Function>,
    base: usize,
    caller: &LinkedCode,
    shape: u16,
) -> Result<(), Error> {
    let last = &caller.in_order_for[usize::from(shape)];
    let shape = &caller.shapes[usize::from(shape)];
    begin(eval, stack, &function, base)?;
    let code = &*function.code;
    let params = &code.params;
    let simple = !(params.varargs || params.kwargs || shape.star || shape.star_star);
    if simple && shape.positional <= params.positional {
        let given = shape.positional + shape.names.len();
        let in_order = last.get() == code.id || {
            let in_order = params.names[shape.positional..].starts_with(&shape.names);
            if in_order {
                last.set(code.id);
            }
            in_order
        };
        // The common case: a value for each parameter, already in place.
        if in_order && given == params.names.len() && code.cells.is_empty() {
            clear_locals(code, stack, base, given);
            eval.push_frame(function, base);
            return Ok(());
        }
        if in_order {
            // The values are already in place.
            clear_locals(code, stack, base, given);
            eval.push_frame(function.clone(), base);
        } else {
            // They wait after the registers of the callee until its variables are cleared.
            let waiting = base + code.registers.max(given);
            if stack.len() < waiting + shape.names.len() {
                stack.resize(waiting + shape.names.len(), Value::UNSET);
            }
            for n in 0..shape.names.len() {
                stack[waiting + n] = stack[base + shape.positional + n].take();
            }
            clear_locals(code, stack, base, shape.positional);
            eval.push_frame(function.clone(), base);
            for (n, name) in shape.names.iter().enumerate() {
                let Some(at) = params.names.iter().position(|param| param == name) else {
                    return Err(unknown_keyword(&function, name));
                };
                if !stack[base + at].is_unset() {
                    return Err(repeated(&function, name));
                }
                stack[base + at] = stack[waiting + n].take();
            }
        }
        if given < params.names.len() {
            fill_defaults(&function, &mut stack[base..], shape.positional)?;
        }
    } else {
        let (positional, named) = gather(&mut stack[base..], shape)?;
        clear_locals(code, stack, base, 0);
        eval.push_frame(function.clone(), base);
        let named = named.iter().map(|(name, value)| (name, value.clone()));
        bind(&function, &mut stack[base..], positional.into_iter(), named)?;
    }
    if !code.cells.is_empty() {
        box_cells(code, &mut stack[base..]);
    }
    Ok(())
}

/// Checks the limits and makes room for a call.
#[inline]
fn begin(eval: &mut Eval, stack: &mut Vec<Value>, function: &Function, base: usize) -> Result<(), Error> {
    eval.check_depth()?;
    eval.step()?;
    let wanted = base + function.code.registers;
    if stack.len() < wanted {
        // Reserve more than needed, so that deep recursion does not grow the vector at each call.
        eval.charge((wanted / 2 + 64) * size_of::<Value>())?;
        stack.resize(wanted + wanted / 2 + 64, Value::UNSET);
    }
    Ok(())
}

/// Clears what temporaries of the caller left in the variables from `from` on.
#[inline]
fn clear_locals(code: &LinkedCode, stack: &mut [Value], base: usize, from: usize) {
    let end = code.locals.len().max(from);
    stack[base + from..base + end].iter_mut().for_each(|slot| slot.put(Value::UNSET));
}

/// Collects the arguments of a call from registers, as described by `shape`.
#[expect(clippy::type_complexity)]
pub(super) fn gather(regs: &mut [Value], shape: &CallShape) -> Result<(Vec<Value>, Vec<(Str, Value)>), Error> {
    let mut values = regs.iter_mut().map(Value::take);
    let mut next = || values.next().unwrap_or(Value::None);
    let mut positional: Vec<Value> = (0..shape.positional).map(|_| next()).collect();
    let mut named: Vec<(Str, Value)> = shape.names.iter().map(|name| (name.clone(), next())).collect();
    let star = shape.star.then(&mut next);
    let star_star = shape.star_star.then(&mut next);
    if let Some(mapping) = star_star {
        let items = match &mapping {
            Value::Dict(dict) => Some(dict.items()),
            Value::Host(host) => host.mapping().and_then(|mapping| mapping.items()),
            _ => None,
        };
        let Some(items) = items else {
            fail!(Type, "argument after ** must be a mapping, not {}", mapping.type_name())
        };
        charge_arguments(items.len(), size_of::<(Str, Value)>())?;
        for (key, value) in items {
            match key {
                Value::Str(key) => named.push((key, value)),
                other => fail!(Type, "keywords must be strings, not {}", other.type_name()),
            }
        }
    }
    if let Some(iterable) = star {
        match Iter::of(&iterable) {
            Some(values) => {
                for value in values {
                    // A range is long without having used memory before.
                    if positional.len() >= ARGUMENTS && positional.len().is_multiple_of(ARGUMENTS) {
                        charge_arguments(ARGUMENTS, size_of::<Value>())?;
                    }
                    positional.push(value);
                }
                charge_arguments(positional.len() % ARGUMENTS, size_of::<Value>())?;
            }
            None => fail!(Type, "argument after * must be iterable, not {}", iterable.type_name()),
        }
    }
    Ok((positional, named))
}

/// The number of arguments charged at a time.
const ARGUMENTS: usize = 1024;

/// Charges arguments before they are collected: those of `*args` and `**kwargs` may be many. They
/// are collected twice, here and for the function.
fn charge_arguments(count: usize, size: usize) -> Result<(), Error> {
    budget::work(count)?;
    Ok(budget::memory_of(count, 2 * size)?)
}
