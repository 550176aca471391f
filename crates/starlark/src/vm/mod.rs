//! The machine.

mod iter;

pub(crate) use iter::Iter;

use std::rc::Rc;

use crate::value::Function;
use crate::{Args, Error, Eval, Value};

pub(crate) fn call(_eval: &mut Eval, _function: Rc<Function>, _args: Args<'_>) -> Result<Value, Error> {
    Err(Error::new("the machine is not complete yet"))
}
