//! Programs: what goes in ([`Piece`]), what the host does for them ([`Ops`]), what comes out ([`Exports`]).
//!
//! A program is put together from pieces, in the order in which they stand in the user's files: lines of code and
//! operations of the host. Every instruction knows its place in the file that it came from.

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
use crate::{Coverage, Dialect, Error, Eval, SyntaxError, Value};

/// A part of a program.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// One or more lines of code. White space at the beginning of a line is dropped, also inside strings, unless the
    /// line before ends with a backslash.
    Code {
        /// The lines, without a line feed behind the last.
        text: &'a [u8],
        /// Where the first byte stands.
        at: Pos,
    },
    /// An operation of the host, as a statement.
    Op {
        /// Which one; the host's own number.
        op: u32,
        /// The dialect of the function around it; see [`Ops::enter`].
        dialect: u8,
        /// What the user gives to it.
        args: OpArgs<'a>,
        /// The place that messages show for it.
        at: Pos,
    },
}

/// What the user wrote for an operation of the host.
#[derive(Clone, Copy, Debug)]
pub enum OpArgs<'a> {
    /// Nothing.
    None,
    /// One expression.
    Expr {
        /// Its text.
        text: &'a [u8],
        /// Where the first byte stands.
        at: Pos,
    },
    /// Arguments as in a call: by position, by name, `*args`, `**kwargs`.
    Call {
        /// Their text, without parentheses.
        text: &'a [u8],
        /// Where the first byte stands.
        at: Pos,
    },
}

/// The values that an operation of the host gets.
pub enum OpValues<'a> {
    /// For [`OpArgs::None`].
    None,
    /// For [`OpArgs::Expr`].
    Value(Value),
    /// For [`OpArgs::Call`].
    Args(crate::Args<'a>),
}

/// What the host does for a program.
///
/// A function whose body contains operations (not counting functions inside it) is a *fragment function*: it builds
/// something with them. The host is told when one begins and ends. When an error leaves it, it is not told.
pub trait Ops {
    /// Does an operation.
    ///
    /// # Errors
    /// Whatever makes the program fail.
    fn op(&self, eval: &mut Eval, op: u32, values: OpValues<'_>) -> Result<(), Error>;

    /// A fragment function begins; its first operation has this dialect.
    ///
    /// # Errors
    /// Whatever makes the program fail.
    fn enter(&self, eval: &mut Eval, dialect: u8) -> Result<(), Error>;

    /// A fragment function ends: with `return x`, or without a value. Gives what the call returns.
    ///
    /// # Errors
    /// Whatever makes the program fail.
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

/// Compiles a program. Names in `predeclared` may be used besides those of the language; [`Program::run`] wants their
/// values.
///
/// # Errors
/// The first error of reading, or all errors about names.
pub fn compile(pieces: &[Piece<'_>], predeclared: &[&str]) -> Result<Program, Vec<SyntaxError>> {
    compile_in(Dialect::Ytt, pieces, predeclared)
}

/// Compiles a program that is written in a certain dialect; [`Eval::set_dialect`](crate::Eval::set_dialect) is about what
/// it meets when it runs.
///
/// # Errors
/// As [`compile`].
pub fn compile_in(dialect: Dialect, pieces: &[Piece<'_>], predeclared: &[&str]) -> Result<Program, Vec<SyntaxError>> {
    compile_covered(dialect, pieces, predeclared, None)
}

/// The same, with notes of the statements that run: evaluations get the same notes by
/// [`Eval::set_coverage`](crate::Eval::set_coverage).
///
/// # Errors
/// As [`compile`].
pub fn compile_covered(
    dialect: Dialect,
    pieces: &[Piece<'_>],
    predeclared: &[&str],
    coverage: Option<&Coverage>,
) -> Result<Program, Vec<SyntaxError>> {
    let toplevel = crate::compile::compile(dialect, pieces, predeclared, coverage)?;
    Ok(Program { toplevel: Arc::new(toplevel) })
}

/// The syntax tree of a program, for tools that read code without running it. Names are not bound, so a tree can be had
/// of a program that uses undefined names.
#[derive(Debug)]
pub struct Syntax {
    /// All expressions.
    pub ast: Ast,
    /// The statements at the top.
    pub stmts: Vec<Stmt>,
}

/// Parses a program without compiling it.
///
/// # Errors
/// The first error of reading.
pub fn parse_in(dialect: Dialect, pieces: &[Piece<'_>]) -> Result<Syntax, Box<SyntaxError>> {
    let (ast, stmts) = crate::syntax::parse(dialect, pieces)?;
    Ok(Syntax { ast, stmts })
}

/// A compiled program. Threads can share it; clones share the code.
#[derive(Clone)]
pub struct Program {
    toplevel: Arc<Toplevel>,
}

/// A program that is ready to run on one thread, as often as needed. Running it leaves it unchanged.
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
    /// The program with what belongs to the thread that it is to run on.
    pub fn link(&self) -> LinkedProgram {
        LinkedProgram { code: LinkedCode::new(&self.toplevel.code), toplevel: self.toplevel.clone() }
    }

    /// Runs the program once; see [`LinkedProgram::run`].
    ///
    /// # Errors
    /// Where the program fails.
    pub fn run(&self, eval: &mut Eval, ops: Rc<dyn Ops>, predeclared: &Exports) -> Result<Rc<Exports>, Error> {
        self.link().run(eval, ops, predeclared)
    }
}

impl LinkedProgram {
    /// Runs the program to its end and gives what it leaves behind, frozen.
    ///
    /// # Errors
    /// Where the program fails.
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

/// A program at work or done: the state that its functions share.
pub(crate) struct Module {
    pub(crate) globals: RefCell<Vec<Value>>,
    pub(crate) predeclared: Box<[Value]>,
    pub(crate) toplevel: Arc<Toplevel>,
    pub(crate) ops: Rc<dyn Ops>,
}

impl Module {
    /// Lets go of the globals, which refer back to the module.
    pub(crate) fn clear(&self) {
        // What the globals hold may look at them while it is dropped; take them out first.
        let globals =
            std::mem::replace(&mut *self.globals.borrow_mut(), vec![Value::UNSET; self.toplevel.globals.len()]);
        drop(globals);
    }
}

/// Names with values: what a module leaves behind, or what the host offers.
#[derive(Default, Clone)]
pub struct Exports {
    /// Sorted by name.
    entries: Vec<(Str, Value)>,
}

impl Exports {
    /// These names; of equal names the last wins.
    pub fn new(entries: impl IntoIterator<Item = (Str, Value)>) -> Exports {
        let mut entries: Vec<_> = entries.into_iter().collect();
        // Stable and reversed, so that the last of equal names comes first and stays.
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
        self.entries.iter().for_each(|(_, value)| value.freeze());
    }

    /// The name that was probably meant.
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
        let program = compile(&[Piece::Code { text, at }], &[]).unwrap_or_else(|_| panic!("does not compile"));
        let run = || {
            let exports = program.run(&mut Eval::new(), Rc::new(NoOps), &Exports::default()).unwrap();
            exports.get(b"r").unwrap().repr().to_string()
        };
        let there = std::thread::scope(|scope| scope.spawn(run).join().unwrap());
        assert_eq!(there, run());
        assert_eq!(there, "335812727627494321942");
    }
}
