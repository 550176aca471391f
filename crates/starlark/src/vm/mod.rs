//! The machine: runs code with its own stack, so that function calls of programs do not recurse
//! natively.
//!
//! The registers of all active functions are in one vector. The arguments of a call are the
//! caller's last temporaries and become the first registers of the callee in place; the result goes
//! to the register before them. Host functions that call back start another run with another
//! vector.

mod bind;
mod call;
mod execute;
mod iter;
mod shortcuts;
mod work;

pub(crate) use iter::Iter;

use std::rc::Rc;

use ytterby_text::{budget, profile};

use crate::value::Function;
use crate::{Args, Error, Eval, Value};

/// Calls a function of a program.
pub(crate) fn call(eval: &mut Eval, function: Rc<Function>, args: Args<'_>) -> Result<Value, Error> {
    eval.native(|eval| {
        let mut stack = eval.spare_stacks.pop().unwrap_or_default();
        let floor = eval.frames.len();
        if floor == 0 {
            budget::code_begins();
        }
        let run = || start(eval, &mut stack, function, args).and_then(|()| execute::execute(eval, &mut stack, floor));
        // A walk over values that a limit ends is unwound to here, where the frames still tell the
        // line that began it.
        let result = match floor {
            0 => budget::catch(run).unwrap_or_else(|exceeded| Err(exceeded.into())),
            _ => run(),
        };
        let result = result.map_err(|error| unwind(eval, floor, error));
        stack.clear();
        eval.spare_stacks.push(stack);
        result
    })
}

fn start(eval: &mut Eval, stack: &mut Vec<Value>, function: Rc<Function>, args: Args<'_>) -> Result<(), Error> {
    eval.check_depth()?;
    eval.step()?;
    stack.resize(function.code.registers, Value::UNSET);
    eval.push_frame(function.clone(), 0);
    let named = args.named.iter().map(|(name, value)| (name, value.clone()));
    bind::bind(&function, stack, args.positional.iter().cloned(), named)?;
    bind::box_cells(&function.code, stack);
    Ok(())
}

/// Removes the frames above `floor` and adds them to the error.
#[cold]
fn unwind(eval: &mut Eval, floor: usize, mut error: Error) -> Error {
    // If a limit ends a long operation, its time belongs to this line.
    eval.note_place();
    while eval.frames.len() > floor
        && let Some(frame) = eval.frames.pop()
    {
        error.push_frame(frame.frame());
    }
    if profile::is_on() {
        profile::unwind(floor);
    }
    error
}
