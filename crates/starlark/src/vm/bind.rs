//! Binds arguments to parameters.

use std::rc::Rc;

use ytterby_text::Str;

use crate::args::{quoted, unknown_argument};
use crate::compile::LinkedCode;
use crate::value::{Dict, Function, Tuple};
use crate::{Error, Problem, Value};

/// Puts arguments into the registers of the parameters. All registers of the function must be
/// unset.
pub(super) fn bind<'a>(
    function: &Function,
    slots: &mut [Value],
    mut positional: impl ExactSizeIterator<Item = Value>,
    named: impl ExactSizeIterator<Item = (&'a Str, Value)>,
) -> Result<(), Error> {
    let params = &function.code.params;
    let given = positional.len();
    if params.count() == 0 {
        if given + named.len() > 0 {
            return Err(too_many(function, given + named.len()));
        }
        return Ok(());
    }
    if given > params.positional && !params.varargs {
        return Err(too_many(function, given));
    }
    for slot in slots.iter_mut().take(given.min(params.positional)) {
        *slot = positional.next().unwrap_or(Value::None);
    }
    if params.varargs {
        let rest: Vec<Value> = positional.collect();
        slots[params.names.len()] = Value::Tuple(Rc::new(Tuple::new(rest)));
    }
    let kwargs = params.kwargs.then(Dict::new);
    for (key, value) in named {
        if let Some(at) = params.names.iter().position(|param| param == key) {
            if !slots[at].is_unset() {
                return Err(repeated(function, key));
            }
            slots[at] = value;
            continue;
        }
        let Some(kwargs) = &kwargs else {
            return Err(unknown_keyword(function, key));
        };
        if kwargs.insert(Value::Str(key.clone()), value)?.is_some() {
            return Err(repeated(function, key));
        }
    }
    if let Some(kwargs) = kwargs {
        slots[params.names.len() + usize::from(params.varargs)] = Value::Dict(Rc::new(kwargs));
    }
    fill_defaults(function, slots, given.min(params.positional))
}

/// Puts defaults into the missing parameters from `from` on.
#[inline]
pub(super) fn fill_defaults(function: &Function, slots: &mut [Value], from: usize) -> Result<(), Error> {
    let params = &function.code.params;
    for at in from..params.names.len() {
        if slots[at].is_unset() {
            match params.defaults[at] {
                Some(default) => slots[at] = function.defaults[usize::from(default)].clone(),
                None => return Err(missing(function, slots)),
            }
        }
    }
    Ok(())
}

/// Puts the variables that inner functions use into cells.
pub(super) fn box_cells(code: &LinkedCode, slots: &mut [Value]) {
    for &reg in &code.cells {
        let slot = &mut slots[usize::from(reg)];
        *slot = Value::cell(slot.take());
    }
}

#[cold]
#[inline(never)]
pub(super) fn too_many(function: &Function, given: usize) -> Error {
    let params = &function.code.params;
    let name = function.name();
    if params.count() == 0 {
        return wrong_call(format!("function {name} accepts no arguments ({given} given)"));
    }
    let wanted = params.positional;
    let optional = params.defaults[..wanted].iter().any(Option::is_some);
    wrong_call(format!(
        "function {name} accepts {}{wanted} positional argument{} ({given} given)",
        if optional { "at most " } else { "" },
        if wanted == 1 { "" } else { "s" },
    ))
}

#[cold]
#[inline(never)]
pub(super) fn repeated(function: &Function, key: &Str) -> Error {
    wrong_call(format!("function {} got multiple values for parameter {}", function.name(), quoted(key)))
}

#[cold]
#[inline(never)]
pub(super) fn unknown_keyword(function: &Function, key: &Str) -> Error {
    let message = format!("function {} got an unexpected keyword argument {}", function.name(), quoted(key));
    let names: Vec<_> = function.code.params.names.iter().map(|name| name.to_str()).collect();
    unknown_argument(key, names.iter().map(|name| &**name), message).about_call()
}

#[cold]
#[inline(never)]
fn missing(function: &Function, slots: &[Value]) -> Error {
    let params = &function.code.params;
    let names: Vec<_> = (0..params.names.len())
        .filter(|&at| slots[at].is_unset() && params.defaults[at].is_none())
        .map(|at| params.names[at].to_str())
        .collect();
    wrong_call(format!(
        "function {} missing {} argument{} ({})",
        function.name(),
        names.len(),
        if names.len() == 1 { "" } else { "s" },
        names.join(", "),
    ))
}

fn wrong_call(message: String) -> Error {
    Error::of(Problem::Call, message).about_call()
}
