//! The Common Expression Language, as far as `cel=` needs it.
//!
//! Operators, macros (`has all exists exists_one filter map`), `size contains startsWith endsWith matches` and conversions over one
//! variable, `self`; nothing else. An expression is compiled once; evaluation reads nodes in place, has a budget of steps and
//! cannot do anything but answer. Extensions of the language (times, optional values, string functions) are unknown
//! names here, so that a rule means the same to every evaluator of CEL.

mod eval;
mod syntax;
mod value;

use crate::node::Node;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Program {
    root: syntax::Expr,
}

impl Program {
    /// Compiles an expression; the error says what is wrong with it.
    pub fn compile(source: &str) -> Result<Program, String> {
        #[cfg(test)]
        COUNT.set(COUNT.get() + 1);
        syntax::parse(source).map(|root| Program { root })
    }

    /// Whether the expression is true with this value as `self`; the error is what went wrong.
    pub fn holds(&self, value: &Node) -> Result<bool, String> {
        eval::evaluate(&self.root, value)
    }
}

#[cfg(test)]
thread_local! {
    /// How often an expression was compiled.
    pub(crate) static COUNT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
