//! Kinds of mistakes in code, as data.
//!
//! Every error of the language has the reference's text, which people know and scripts compare, and
//! a [`Problem`], which programs can use: it determines the id, the reference's hints
//! ([`Problem::hint`]) and ours. Nothing needs to parse the text.

use ytterby_diag::{Cause, Failure, Id};
use ytterby_text::Str;
use ytterby_text::budget::Limit;

use crate::host::BinaryOp;

/// The kind of a mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// A name is not defined.
    Undefined {
        /// The name.
        name: Str,
        /// A defined name that is similar.
        similar: Option<Str>,
    },
    /// A token does not fit the grammar.
    Unexpected {
        /// The token, without quotes: `:`, `newline`, `string literal`.
        got: &'static str,
        /// The expected token: `)`, `primary expression`.
        want: &'static str,
    },
    /// An operator of other languages: `&&`, `||`, `!`, `?`.
    ForeignOperator(&'static str),
    /// A block has no `end`.
    MissingEnd,
    /// An `end` without a block.
    SurplusEnd,
    /// Another syntax error.
    Syntax,
    /// A binary operator is not defined for these types.
    BinaryOp {
        /// The operator.
        op: BinaryOp,
        /// The type of its left operand.
        left: String,
        /// The type of its right operand.
        right: String,
    },
    /// A value has no attribute of this name.
    NoAttribute {
        /// The type of the value.
        of: String,
        /// The name.
        name: Str,
        /// An attribute whose name is similar.
        similar: Option<Str>,
    },
    /// A value of this type cannot be indexed by a value of that type.
    NoIndex {
        /// The type of the value.
        of: String,
        /// The type of the index.
        by: String,
    },
    /// An index does not exist.
    Index,
    /// A key does not exist.
    MissingKey {
        /// The type of the value.
        of: String,
        /// The key, if it is a string.
        key: Option<Str>,
        /// A key that is similar.
        similar: Option<Str>,
    },
    /// A value of this type cannot be iterated over.
    NotIterable {
        /// The type of the value.
        of: String,
    },
    /// A value of this type cannot be assigned to several variables.
    NotASequence {
        /// The type of the value.
        of: String,
    },
    /// A variable has no value yet.
    Unset,
    /// A function has no parameter of this name.
    UnknownArgument {
        /// The name.
        name: Str,
        /// A parameter whose name is similar.
        similar: Option<Str>,
    },
    /// A function was called with too few, too many or contradictory arguments.
    Call,
    /// A value has the wrong type.
    Type,
    /// A value has the right type, but cannot be used.
    Value,
    /// A module cannot be loaded.
    Load,
    /// A module does not export a name.
    NotExported {
        /// The name.
        name: Str,
        /// A name of the module that is similar.
        similar: Option<Str>,
    },
    /// An assertion failed.
    Assert,
    /// The program called `fail`.
    Fail,
    /// A limit set by the host was reached.
    Limit(Limit),
    /// The host asked to stop.
    Cancelled,
}

const LIMITS: [Limit; 5] = [Limit::Depth, Limit::Memory, Limit::Output, Limit::Steps, Limit::Time];

impl Problem {
    /// The id of the diagnostic.
    pub fn id(&self) -> Id {
        match self {
            Problem::Undefined { .. } | Problem::Unset => Id::CODE_UNDEFINED,
            Problem::Unexpected { .. } | Problem::ForeignOperator(_) | Problem::Syntax => Id::CODE_SYNTAX,
            Problem::MissingEnd | Problem::SurplusEnd => Id::CODE_BLOCK,
            Problem::NoAttribute { .. } => Id::CODE_ATTRIBUTE,
            Problem::Index | Problem::MissingKey { .. } => Id::CODE_INDEX,
            Problem::UnknownArgument { .. } | Problem::Call => Id::CODE_CALL,
            Problem::BinaryOp { .. }
            | Problem::NoIndex { .. }
            | Problem::NotIterable { .. }
            | Problem::NotASequence { .. }
            | Problem::Type => Id::CODE_TYPE,
            Problem::Value => Id::CODE_VALUE,
            Problem::Load | Problem::NotExported { .. } => Id::CODE_LOAD,
            Problem::Assert => Id::CODE_ASSERT,
            Problem::Fail => Id::CODE_FAIL,
            Problem::Limit(limit) => Id::of_limit(*limit),
            Problem::Cancelled => Id::LIMIT_CANCELLED,
        }
    }

    /// The reference's hint for people who know other languages.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Problem::Undefined { name, similar: None } => match &**name {
                b"true" => "use 'True' instead of 'true' for boolean assignment",
                b"false" => "use 'False' instead of 'false' for boolean assignment",
                b"null" => "use 'None' instead of 'null' to indicate no value",
                b"nil" => "use 'None' instead of 'nil' to indicate no value",
                b"none" => "use 'None' instead of 'none' to indicate no value",
                _ => return None,
            },
            Problem::Unexpected { got: "newline", want: ":" } => "missing colon at the end of 'if/for/def' statement?",
            Problem::ForeignOperator("&&") => "use 'and' instead of '&&' for logical-and",
            Problem::ForeignOperator("||") => "use 'or' instead of '||' for logical-or",
            Problem::BinaryOp { op: BinaryOp::Or, .. } => "use 'or' instead of '|' for logical-or",
            Problem::BinaryOp { op: BinaryOp::And, .. } => "use 'and' instead of '&' for logical-and",
            Problem::NoIndex { of, by } if of == "struct" && by == "string" => {
                "use getattr(...) to access struct field programmatically"
            }
            _ => return None,
        })
    }

    /// Whether it is a limit or a cancellation.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, Problem::Limit(_) | Problem::Cancelled)
    }

    /// The problem for a failure of the host: a limit stays a limit.
    pub(crate) fn of_failure(failure: &Failure) -> Problem {
        let id = match failure.cause() {
            Cause::Problem(diagnostic) => diagnostic.id,
            Cause::Code(problems) => match problems.first() {
                Some(problem) => problem.id,
                None => return Problem::Value,
            },
            _ => return Problem::Value,
        };
        if id == Id::LIMIT_CANCELLED {
            return Problem::Cancelled;
        }
        LIMITS.into_iter().find(|limit| Id::of_limit(*limit) == id).map_or(Problem::Value, Problem::Limit)
    }
}
