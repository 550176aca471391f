//! Programs: their input ([`ProgramPiece`]), the host's operations ([`Ops`]), their result
//! ([`Exports`]).
//!
//! A program consists of pieces in the order of the user's files: lines of code and host
//! operations. Every instruction has a position in the file that it came from.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::Pos;
use ytterby_text::Str;
use ytterby_text::spelling::nearest;

use crate::ast::{Ast, Stmt};
use crate::compile::{Code, LinkedCode};
use crate::error::fail;
use crate::value::Function;
use crate::{Dialect, Error, Eval, StatementCoverage, SyntaxError, Value};

/// A part of a program.
#[derive(Clone, Copy, Debug)]
pub enum ProgramPiece<'a> {
    /// One or more lines of code. Leading white space of lines is dropped, even inside strings,
    /// unless the previous line ends with a backslash.
    Code {
        /// The lines, without a trailing line feed.
        text: &'a [u8],
        /// The position of the first byte.
        at: Pos,
    },
    /// A host operation, as a statement.
    Op {
        /// The host's number for it.
        op: u32,
        /// The dialect of the function around it; see [`Ops::enter`].
        dialect: u8,
        /// Its arguments in the user's text.
        args: OpArgs<'a>,
        /// Its position in messages.
        at: Pos,
    },
}

/// The user's text for a host operation.
#[derive(Clone, Copy, Debug)]
pub enum OpArgs<'a> {
    /// Nothing.
    None,
    /// One expression.
    Expr {
        /// Its text.
        text: &'a [u8],
        /// The position of the first byte.
        at: Pos,
    },
    /// Arguments as in a call: by position, by name, `*args`, `**kwargs`.
    Call {
        /// Their text, without parentheses.
        text: &'a [u8],
        /// The position of the first byte.
        at: Pos,
    },
}

/// The argument values of a host operation.
pub enum OpValues<'a> {
    /// For [`OpArgs::None`].
    None,
    /// For [`OpArgs::Expr`].
    Value(Value),
    /// For [`OpArgs::Call`].
    Args(crate::Args<'a>),
}

/// Operations of the host in a program.
///
/// A function whose body contains operations (not counting inner functions) is a *fragment
/// function*: it builds something with them. The host is notified when one begins and ends, but not
/// when it fails.
pub trait Ops {
    /// Runs an operation.
    ///
    /// # Errors
    /// Any error makes the program fail.
    fn op(&self, eval: &mut Eval, op: u32, values: OpValues<'_>) -> Result<(), Error>;

    /// Runs `count` operations without arguments, from `first` on, at once. If this returns false,
    /// it has done nothing that the first of them would not do, and [`Ops::op`] is called for each.
    ///
    /// # Errors
    /// Any error makes the program fail, at the position of the first operation.
    fn run(&self, _eval: &mut Eval, _first: u32, _count: u16) -> Result<bool, Error> {
        Ok(false)
    }

    /// A fragment function begins; its first operation has this dialect.
    ///
    /// # Errors
    /// Any error makes the program fail.
    fn enter(&self, eval: &mut Eval, dialect: u8) -> Result<(), Error>;

    /// A fragment function ends with `return x`, or without a value. Returns the result of the
    /// call.
    ///
    /// # Errors
    /// Any error makes the program fail.
    fn leave(&self, eval: &mut Eval, result: Option<Value>) -> Result<Value, Error>;
}

/// For programs without operations.
pub struct NoOps;

impl Ops for NoOps {
    fn op(&self, _: &mut Eval, op: u32, _: OpValues<'_>) -> Result<(), Error> {
        fail!("operation {op} is not implemented by this application")
    }
    fn enter(&self, _: &mut Eval, _: u8) -> Result<(), Error> {
        Ok(())
    }
    fn leave(&self, _: &mut Eval, result: Option<Value>) -> Result<Value, Error> {
        Ok(result.unwrap_or(Value::None))
    }
}

/// Compiles a program. Names in `predeclared` may be used besides the built-in ones;
/// [`Program::run`] requires their values.
///
/// # Errors
/// The first syntax error, or all errors about names.
pub fn compile(pieces: &[ProgramPiece<'_>], predeclared: &[&str]) -> Result<Program, Vec<SyntaxError>> {
    compile_in(Dialect::Ytt, pieces, predeclared)
}

/// Compiles a program in a given dialect; [`Eval::set_dialect`](crate::Eval::set_dialect) sets the
/// dialect of values at run time.
///
/// # Errors
/// Those of [`compile`].
pub fn compile_in(
    dialect: Dialect,
    pieces: &[ProgramPiece<'_>],
    predeclared: &[&str],
) -> Result<Program, Vec<SyntaxError>> {
    compile_covered(dialect, pieces, predeclared, None)
}

/// Like [`compile_in`], with a record of the statements that run: evaluations get the same record
/// by [`Eval::set_coverage`](crate::Eval::set_coverage).
///
/// # Errors
/// Those of [`compile`].
pub fn compile_covered(
    dialect: Dialect,
    pieces: &[ProgramPiece<'_>],
    predeclared: &[&str],
    coverage: Option<&StatementCoverage>,
) -> Result<Program, Vec<SyntaxError>> {
    let toplevel = crate::compile::compile(dialect, pieces, predeclared, coverage)?;
    Ok(Program { toplevel: Arc::new(toplevel) })
}

/// The syntax tree of a program, for tools that analyse code without running it. Names are not
/// bound, so that programs with undefined names have a tree, too.
#[derive(Debug)]
pub struct Syntax {
    /// All expressions.
    pub ast: Ast,
    /// The top-level statements.
    pub stmts: Vec<Stmt>,
}

/// Parses a program without compiling it.
///
/// # Errors
/// The first syntax error.
pub fn parse_in(dialect: Dialect, pieces: &[ProgramPiece<'_>]) -> Result<Syntax, Box<SyntaxError>> {
    let (ast, stmts) = crate::syntax::parse(dialect, pieces)?;
    Ok(Syntax { ast, stmts })
}

/// A compiled program. It can be shared between threads; clones share the code.
#[derive(Clone)]
pub struct Program {
    toplevel: Arc<Toplevel>,
}

/// A program linked to one thread, which can run any number of times. Running does not change it.
#[derive(Clone)]
pub struct LinkedProgram {
    toplevel: Arc<Toplevel>,
    code: Rc<LinkedCode>,
}

pub(crate) struct Toplevel {
    pub(crate) code: Arc<Code>,
    pub(crate) globals: Box<[Str]>,
    pub(crate) predeclared: Box<[Str]>,
}

impl Program {
    /// Links the program to the current thread.
    pub fn link(&self) -> LinkedProgram {
        LinkedProgram { code: LinkedCode::new(&self.toplevel.code), toplevel: self.toplevel.clone() }
    }

    /// Runs the program once; see [`LinkedProgram::run`].
    ///
    /// # Errors
    /// If the program fails.
    pub fn run(&self, eval: &mut Eval, ops: Rc<dyn Ops>, predeclared: &Exports) -> Result<Rc<Exports>, Error> {
        self.link().run(eval, ops, predeclared)
    }
}

impl LinkedProgram {
    /// Runs the program and returns its globals, frozen.
    ///
    /// # Errors
    /// If the program fails.
    pub fn run(&self, eval: &mut Eval, ops: Rc<dyn Ops>, predeclared: &Exports) -> Result<Rc<Exports>, Error> {
        let mut given = Vec::with_capacity(self.toplevel.predeclared.len());
        for name in &self.toplevel.predeclared {
            match predeclared.get(name) {
                Some(value) => given.push(value.clone()),
                None => fail!("internal error: predeclared variable {name} is uninitialized"),
            }
        }
        let module = Rc::new(Module {
            globals: RefCell::new(vec![Value::UNSET; self.toplevel.globals.len()]),
            predeclared: given.into_boxed_slice(),
            toplevel: self.toplevel.clone(),
            ops,
        });
        eval.adopt(&module);
        let body = Rc::new(Function {
            code: self.code.clone(),
            module: module.clone(),
            defaults: Box::default(),
            captured: Box::default(),
            frozen: false.into(),
        });
        eval.call(&Value::Function(body), &[], &[])?;
        let globals = module.globals.borrow();
        let named = self.toplevel.globals.iter().zip(globals.iter()).filter(|(_, value)| !value.is_unset());
        let exports = Exports::new(named.map(|(name, value)| (name.clone(), value.clone())));
        drop(globals);
        exports.freeze();
        Ok(Rc::new(exports))
    }
}

/// A program that is running or has run: the state that its functions share.
pub(crate) struct Module {
    pub(crate) globals: RefCell<Vec<Value>>,
    pub(crate) predeclared: Box<[Value]>,
    pub(crate) toplevel: Arc<Toplevel>,
    pub(crate) ops: Rc<dyn Ops>,
}

impl Module {
    /// Drops the globals, which refer back to the module.
    pub(crate) fn clear(&self) {
        // Dropped values may access the globals, so take them out first.
        let globals =
            std::mem::replace(&mut *self.globals.borrow_mut(), vec![Value::UNSET; self.toplevel.globals.len()]);
        drop(globals);
    }
}

/// Names with values: the exports of a module, or names from the host.
#[derive(Default, Clone)]
pub struct Exports {
    /// Sorted by name.
    entries: Vec<(Str, Value)>,
}

impl Exports {
    /// These names; of duplicate names the last wins.
    pub fn new(entries: impl IntoIterator<Item = (Str, Value)>) -> Exports {
        let mut entries: Vec<_> = entries.into_iter().collect();
        // Reversed and sorted stably, so that the last of duplicate names comes first and is kept.
        entries.reverse();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.dedup_by(|(b, _), (a, _)| a == b);
        Exports { entries }
    }

    /// The value of a name.
    pub fn get(&self, name: &[u8]) -> Option<&Value> {
        let at = self.entries.binary_search_by(|(other, _)| other.as_bytes().cmp(name)).ok()?;
        Some(&self.entries[at].1)
    }

    /// All names with their values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &Value)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    /// Makes all values immutable.
    pub fn freeze(&self) {
        Value::freeze_all(self.entries.iter().map(|(_, value)| value.clone()));
    }

    /// A similar name.
    pub fn nearest(&self, name: &Str) -> Option<Str> {
        let names: Vec<_> = self.entries.iter().map(|(name, _)| name.to_str()).collect();
        nearest(&name.to_str(), names.iter().map(|name| &**name)).map(Str::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_programs() {
        let text = b"f = lambda x, y=[1]: x + len(y) + 0x1234567890abcdef12\nr = f(y=\"ab\", x=2)";
        let at = Pos::UNKNOWN;
        let program = compile(&[ProgramPiece::Code { text, at }], &[]).unwrap_or_else(|_| panic!("does not compile"));
        let run = || {
            let exports = program.run(&mut Eval::new(), Rc::new(NoOps), &Exports::default()).unwrap();
            exports.get(b"r").unwrap().repr().to_string()
        };
        let there = std::thread::scope(|scope| scope.spawn(run).join().unwrap());
        assert_eq!(there, run());
        assert_eq!(there, "335812727627494321942");
    }
}
