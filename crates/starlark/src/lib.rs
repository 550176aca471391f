//! The Starlark dialect of ytt: floats, sets, lambdas, nested functions, `while`, reassigned
//! globals, and blocks that are closed by `end` instead of indentation.
//!
//! ```
//! use std::rc::Rc;
//! use ytterby_diag::{FileId, Pos};
//! use ytterby_starlark::{Eval, Exports, NoOps, ProgramPiece, compile};
//!
//! let code = b"def double(x):\n  return 2 * x\nend\ny = double(21)";
//! let program = compile(&[ProgramPiece::Code { text: code, at: Pos::new(FileId(0), 0) }], &[]).unwrap();
//! let mut eval = Eval::new();
//! let globals = program.run(&mut eval, Rc::new(NoOps), &Exports::default()).unwrap();
//! assert_eq!(globals.get(b"y").unwrap().repr(), "42");
//! ```
//!
//! The scanner and parser (`syntax`) read text into a tree ([`ast`]), `resolve` binds names to
//! slots, `compile` turns the tree into code for a register machine, and `vm` runs it with its own
//! stack. Nothing here knows about YAML: the host inserts its operations into a program as
//! [`ProgramPiece::Op`] and executes them through [`Ops`].

mod advice;
pub mod args;
pub mod ast;
mod builtins;
mod compile;
mod coverage;
mod dialect;
mod error;
mod eval;
mod host;
mod ops;
mod problem;
mod program;
mod resolve;
mod syntax;
mod token_at;
mod value;
mod vm;

pub use args::{Args, FromValue};
pub use builtins::universe;
pub use coverage::StatementCoverage;
pub use dialect::Dialect;
pub use error::{Error, StackFrame};
pub use eval::{CallLimits, Eval, EvalLimits};
pub use host::{BinaryOp, CompareOp, HostValue, Mapping, Sequence, Side, UnaryOp, ValueIter};
pub use ops::{attr, binary, compare, compare_depth, equal, index, set_attr, set_index, slice, unary};
pub use problem::Problem;
pub use program::{
    Exports, LinkedProgram, NoOps, OpArgs, OpValues, Ops, Program, ProgramPiece, Syntax, compile, compile_covered,
    compile_in, parse_in,
};
pub use syntax::{OpenBracket, SyntaxError};
pub use token_at::token_at;
pub use value::{Builtin, BuiltinFn, Bytes, Dict, Function, List, Range, Set, Tuple, Value};
pub use ytterby_text::budget::Limit;
