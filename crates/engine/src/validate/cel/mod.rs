//! The rule `cel=`: expressions about one value. It uses the evaluator of the Kubernetes checks.
//!
//! Only the functions that every CEL implementation has are available, so that a rule means the
//! same everywhere. An expression is compiled once; its evaluation has a budget and no side
//! effects.

use ytterby_cel::{Env, EvalError, Library, Type, Val};
use ytterby_text::budget;

use crate::node::{Node, Scalar};

/// Nested comprehensions multiply; this cost takes about half a second.
const MAX_COST: u64 = 10_000_000;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct CelProgram {
    program: ytterby_cel::Program,
}

impl CelProgram {
    /// Compiles an expression; the error is a message.
    pub fn compile(source: &str) -> Result<CelProgram, String> {
        #[cfg(test)]
        COUNT.set(COUNT.get() + 1);
        let env = Env { variables: vec![("self".to_owned(), Type::Dyn)], library: Library::Standard };
        let program = ytterby_cel::Program::compile(source, &env).map_err(|error| error.message)?;
        Ok(CelProgram { program })
    }

    /// Whether the expression is true with this value as `self`; the error is a message.
    pub fn holds(&self, value: &Node) -> Result<bool, String> {
        match self.program.evaluate(&[value_of(value)], MAX_COST) {
            Ok((Val::Bool(answer), _)) => Ok(answer),
            Ok((other, _)) => Err(format!("CEL expression is not a bool, but {}", other.type_name())),
            Err(EvalError::Cost) => Err("CEL expression takes too many steps".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn value_of(node: &Node) -> Val {
    budget::or_unwind(budget::memory(48));
    match node {
        Node::Scalar(scalar) => scalar_of(scalar),
        Node::Array(array) => crate::deep(|| Val::list(array.items.iter().map(|item| value_of(&item.value)).collect())),
        Node::Map(map) => {
            crate::deep(|| Val::map(map.iter().map(|item| (scalar_of(&item.key), value_of(&item.value))).collect()))
        }
    }
}

fn scalar_of(scalar: &Scalar) -> Val {
    match scalar {
        Scalar::Null => Val::Null,
        Scalar::Bool(value) => Val::Bool(*value),
        Scalar::Int(value) => Val::Int(*value),
        Scalar::UInt(value) => Val::Uint(*value),
        Scalar::Float(value) => Val::Double(*value),
        Scalar::Str(text) => Val::from(&*text.to_str()),
        Scalar::Complex(_) => Val::from(&*crate::node::key_text(scalar)),
    }
}

#[cfg(test)]
thread_local! {
    /// Number of compilations.
    pub(crate) static COUNT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
