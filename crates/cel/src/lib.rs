//! The Common Expression Language (CEL), as Kubernetes extends it.
//!
//! An expression is parsed, checked against the types of its variables and compiled once
//! ([`Program`]); a program can be shared between threads. Evaluation reads [`Val`]s, counts its
//! cost as Kubernetes does and stops at a limit; it has no side effects. [`Program::estimate`]
//! returns the maximum cost of an expression in advance.
//!
//! One table (`functions`) lists all functions; the standard functions of CEL
//! ([`Library::Standard`]) are a subset.

mod call;
mod check;
mod cost;
mod eval;
mod functions;
mod quantity;
mod syntax;
mod time;
mod types;
mod value;

use std::fmt;

pub use cost::MaxSize;
pub use eval::EvalError;
pub use types::{ObjectType, Type};
pub use value::{ListKind, ListVal, MapVal, Val};

/// An expression that cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileError {
    /// The byte offset in the expression.
    pub at: usize,
    /// The problem.
    pub message: String,
}

impl CompileError {
    fn new(at: usize, message: impl Into<String>) -> CompileError {
        CompileError { at, message: message.into() }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompileError {}

/// A set of functions and macros.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Library {
    /// Those of the language.
    Standard,
    /// Kubernetes' libraries, too.
    #[default]
    Kubernetes,
}

/// The variables and functions of an expression.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// Variables with their types.
    pub variables: Vec<(String, Type)>,
    /// Functions and macros.
    pub library: Library,
}

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    root: check::TypedNode,
    uses: Vec<bool>,
}

impl Program {
    /// Compiles an expression.
    ///
    /// ```
    /// use ytterby_cel::{Env, Program, Type, Val};
    /// let env = Env { variables: vec![("self".into(), Type::Int)], ..Env::default() };
    /// let program = Program::compile("self > 1", &env).unwrap();
    /// assert!(matches!(program.evaluate(&[Val::Int(2)], 1000), Ok((Val::Bool(true), _))));
    /// assert!(Program::compile("self == 'a'", &env).is_err());
    /// ```
    ///
    /// # Errors
    /// If the text is not an expression, uses an unknown name, or has a wrong type.
    pub fn compile(source: &str, env: &Env) -> Result<Program, CompileError> {
        let expr = syntax::parse(source)?;
        check::check(&expr, env)
    }

    /// The type of its result.
    pub fn result_type(&self) -> &Type {
        &self.root.ty
    }

    /// Whether it reads the variable with this index in its environment.
    pub fn uses(&self, variable: usize) -> bool {
        self.uses.get(variable).copied().unwrap_or_default()
    }

    /// Evaluates it with values for the variables of its environment; also returns the cost.
    ///
    /// # Errors
    /// If evaluation fails, or costs more than `limit`.
    pub fn evaluate(&self, variables: &[Val], limit: u64) -> Result<(Val, u64), EvalError> {
        eval::evaluate(&self.root, variables, limit)
    }

    /// The maximum cost for variables of these sizes.
    pub fn estimate(&self, shapes: &[std::sync::Arc<MaxSize>]) -> u64 {
        cost::estimate(&self.root, shapes)
    }
}

/// Whether a text is a valid name of a variable.
pub fn is_identifier(text: &str) -> bool {
    ytterby_text::cel::is_plain(text)
}

#[cfg(test)]
mod tests;
