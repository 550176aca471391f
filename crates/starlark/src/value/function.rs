//! Functions: those of programs, built-in ones and those of the host.
//!
//! A `Function` keeps its module alive and shares variables with the functions around it through
//! `Cell`s. A `Builtin` is code in Rust: a plain function, a method with its receiver, or a closure
//! of the host.

use std::cell::RefCell;
use std::rc::Rc;

use ytterby_diag::{Pos, Span};
use ytterby_text::Str;

use super::Value;
use crate::ast::{Ast, ExprId};
use crate::compile::LinkedCode;
use crate::program::Module;
use crate::{Args, Error, Eval};

/// A function that a program defines with `def` or `lambda`. It keeps its module alive, so it can
/// be called after the module has run.
pub struct Function {
    pub(crate) code: Rc<LinkedCode>,
    pub(crate) module: Rc<Module>,
    pub(crate) defaults: Box<[Value]>,
    pub(crate) captured: Box<[Rc<Cell>]>,
    pub(crate) frozen: std::cell::Cell<bool>,
}

/// A variable that inner functions share with the enclosing function.
#[derive(Default)]
pub(crate) struct Cell(pub(crate) RefCell<Option<Value>>);

impl Function {
    /// Its name; `lambda` for a lambda.
    pub fn name(&self) -> &Str {
        &self.code.name
    }

    /// The string at the start of its body.
    pub fn doc(&self) -> Option<&Str> {
        self.code.doc.as_ref()
    }

    /// The position of `def` or `lambda`.
    pub fn pos(&self) -> Pos {
        self.code.pos
    }

    /// From `def` or `lambda` to the end of the body.
    pub fn span(&self) -> Span {
        self.code.span
    }

    /// The number of required parameters.
    pub fn required_params(&self) -> usize {
        let params = &self.code.params;
        params.names.len() - params.defaults.iter().filter(|default| default.is_some()).count()
    }

    /// Names of the parameters, without `*args` and `**kwargs`.
    pub fn param_names(&self) -> &[Str] {
        &self.code.params.names
    }

    /// The maximum number of positional arguments; `None` if there is `*args`.
    pub fn max_positional(&self) -> Option<usize> {
        let params = &self.code.params;
        if params.varargs { None } else { Some(params.positional) }
    }

    /// The syntax tree and the body of a lambda.
    pub fn lambda(&self) -> Option<(&Ast, ExprId)> {
        self.code.lambda.as_ref().map(|(ast, body)| (&**ast, *body))
    }

    pub(crate) fn freeze_into(&self, pending: &mut Vec<Value>) {
        if self.frozen.replace(true) {
            return;
        }
        pending.extend(self.defaults.iter().filter(|value| value.can_freeze()).cloned());
        for cell in &self.captured {
            pending.extend(cell.0.borrow().iter().filter(|value| value.can_freeze()).cloned());
        }
    }
}

/// A built-in function or one of the host.
pub struct Builtin {
    name: Str,
    function: BuiltinFn,
    receiver: Option<Value>,
}

/// The code of a method of a built-in type; the receiver comes first.
pub(crate) type Method = fn(&mut Eval, &Value, Args<'_>) -> Result<Value, Error>;

/// A closure that can be called from programs.
type BuiltinClosure = dyn Fn(&mut Eval, Args<'_>) -> Result<Value, Error>;

/// The code of a [`Builtin`].
#[derive(Clone)]
#[non_exhaustive]
pub enum BuiltinFn {
    /// A plain function.
    Plain(fn(&mut Eval, Args<'_>) -> Result<Value, Error>),
    /// A closure.
    Shared(Rc<BuiltinClosure>),
    /// A method of a built-in type, bound to its receiver.
    #[doc(hidden)]
    Method(MethodFn),
}

/// Hides the signature of methods of built-in types.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct MethodFn(pub(crate) Method);

impl Builtin {
    /// A host function.
    pub fn new(
        name: impl Into<Str>,
        function: impl Fn(&mut Eval, Args<'_>) -> Result<Value, Error> + 'static,
    ) -> Builtin {
        Builtin { name: name.into(), function: BuiltinFn::Shared(Rc::new(function)), receiver: None }
    }

    /// A function without captured state.
    pub fn plain(name: impl Into<Str>, function: fn(&mut Eval, Args<'_>) -> Result<Value, Error>) -> Builtin {
        Builtin { name: name.into(), function: BuiltinFn::Plain(function), receiver: None }
    }

    pub(crate) fn method(name: Str, method: Method, receiver: Value) -> Builtin {
        Builtin { name, function: BuiltinFn::Method(MethodFn(method)), receiver: Some(receiver) }
    }

    /// Makes it a method of `receiver`; only its `repr` changes.
    pub fn with_receiver(mut self, receiver: Value) -> Builtin {
        self.receiver = Some(receiver);
        self
    }

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.name
    }

    /// The receiver of a method.
    pub fn receiver(&self) -> Option<&Value> {
        self.receiver.as_ref()
    }

    /// Calls it.
    ///
    /// # Errors
    /// If the function fails.
    #[inline]
    pub fn call(&self, eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
        match &self.function {
            BuiltinFn::Plain(function) => function(eval, args),
            BuiltinFn::Shared(function) => function(eval, args),
            BuiltinFn::Method(method) => method.0(eval, self.receiver.as_ref().unwrap_or(&Value::None), args),
        }
    }
}

impl From<Builtin> for Value {
    fn from(builtin: Builtin) -> Value {
        Value::Builtin(Rc::new(builtin))
    }
}
