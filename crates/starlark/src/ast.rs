//! The syntax tree.
//!
//! Expressions are in one vector and refer to each other by index, so that a tree of any depth can
//! be dropped without recursion. A lambda keeps its tree; see [`crate::Function::lambda`].

use num_bigint::BigInt;
use std::ops::Index;

use ytterby_diag::Pos;
use ytterby_text::Str;

use crate::Dialect;
use crate::host::{BinaryOp, CompareOp, UnaryOp};

/// All expressions of a program.
#[derive(Default, Debug)]
pub struct Ast {
    /// Its dialect.
    pub(crate) dialect: Dialect,
    exprs: Vec<Expr>,
}

/// Identifies an expression in its [`Ast`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExprId(u32);

impl ExprId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Ast {
    pub(crate) fn new(dialect: Dialect) -> Ast {
        Ast { dialect, ..Ast::default() }
    }

    pub(crate) fn add(&mut self, start: Pos, pos: Pos, end: Pos, kind: ExprKind) -> ExprId {
        self.exprs.push(Expr { start, pos, end, kind });
        ExprId(self.exprs.len() as u32 - 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.exprs.len()
    }

    /// All expressions in parse order: children come before their parents.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> {
        (0..self.exprs.len() as u32).map(ExprId)
    }

    /// The expression without parentheses around it.
    pub fn unparen(&self, mut id: ExprId) -> ExprId {
        while let ExprKind::Paren(inner) = self[id].kind {
            id = inner;
        }
        id
    }
}

impl Index<ExprId> for Ast {
    type Output = Expr;
    fn index(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// Where it begins.
    pub start: Pos,
    /// The position in messages: that of the operator, parenthesis, bracket or dot.
    pub pos: Pos,
    /// Where it ends.
    pub end: Pos,
    /// The kind of expression, with its parts.
    pub kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExprKind {
    /// A name.
    Ident(Str),
    /// `123`
    Int(i64),
    /// An integer of more than 64 bits.
    BigInt(Box<BigInt>),
    /// `1.5`
    Float(f64),
    /// `"text"`
    Str(Str),
    /// `b"bytes"`
    Bytes(Str),
    /// `(x)`
    Paren(ExprId),
    /// `x, y`
    Tuple(Vec<ExprId>),
    /// `[x, y]`
    List(Vec<ExprId>),
    /// `{k: v}`
    Dict(Vec<DictEntry>),
    /// `-x`
    Unary(UnaryOp, ExprId),
    /// `not x`
    Not(ExprId),
    /// `x + y`
    Binary(BinaryOp, ExprId, ExprId),
    /// `x not in y`
    NotIn(ExprId, ExprId),
    /// `x < y`
    Compare(CompareOp, ExprId, ExprId),
    /// `x and y`
    And(ExprId, ExprId),
    /// `x or y`
    Or(ExprId, ExprId),
    /// `then if condition else otherwise`
    Cond {
        /// The condition.
        condition: ExprId,
        /// The value if it is true.
        then: ExprId,
        /// The value if it is false.
        otherwise: ExprId,
    },
    /// `x.name`
    Dot(ExprId, Str),
    /// `x[y]`
    Index(ExprId, ExprId),
    /// `x[start:stop:step]`
    Slice {
        /// The sliced value.
        operand: ExprId,
        /// The first index.
        start: Option<ExprId>,
        /// One past the last index.
        stop: Option<ExprId>,
        /// The distance between indices.
        step: Option<ExprId>,
    },
    /// `f(x, y)`
    Call(ExprId, Box<[Arg]>),
    /// `lambda x: x`
    Lambda(Box<Def>),
    /// `[x for x in y]`, `{k: v for k, v in y}`
    Comprehension(Box<Comprehension>),
    /// The callee of a host operation: an index into the program's pieces.
    #[doc(hidden)]
    HostOp(u32),
    /// The callee that collects the arguments of a host operation.
    #[doc(hidden)]
    HostArgs,
}

/// `key: value`
#[derive(Debug)]
pub struct DictEntry {
    /// The key.
    pub key: ExprId,
    /// The value.
    pub value: ExprId,
    /// The colon.
    pub colon: Pos,
}

/// A comprehension.
#[derive(Debug)]
pub struct Comprehension {
    /// The item that each iteration adds.
    pub body: ComprehensionBody,
    /// `for` and `if` clauses; the first is a `for`.
    pub clauses: Vec<Clause>,
}

/// The result of a comprehension.
#[derive(Debug)]
pub enum ComprehensionBody {
    /// A list of these values.
    List(ExprId),
    /// A dict of these entries.
    Dict(DictEntry),
}

/// A part of a comprehension.
#[derive(Debug)]
pub enum Clause {
    /// `for vars in iterable`
    For {
        /// The variables.
        vars: ExprId,
        /// The value to iterate over.
        iterable: ExprId,
        /// `for`
        pos: Pos,
    },
    /// `if condition`
    If(ExprId),
}

/// An argument of a call.
#[derive(Debug)]
pub enum Arg {
    /// `x`
    Positional(ExprId),
    /// `name = x`
    Named(Str, ExprId, Pos),
    /// `*x`
    Star(ExprId, Pos),
    /// `**x`
    StarStar(ExprId, Pos),
}

/// A function definition: `def` or `lambda`.
#[derive(Debug)]
pub struct Def {
    /// Its name; `lambda` for a lambda.
    pub name: Str,
    /// `def` or `lambda`.
    pub pos: Pos,
    /// Where the body ends.
    pub end: Pos,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// Its body.
    pub body: DefBody,
}

/// The body of a function.
#[derive(Debug)]
pub enum DefBody {
    /// The result of a lambda.
    Lambda(ExprId),
    /// The statements of a `def`.
    Block(Vec<Stmt>),
}

/// A parameter.
#[derive(Debug)]
pub enum Param {
    /// `x`; an identifier.
    Plain(ExprId),
    /// `x = default`, and the position of `=`.
    Default(ExprId, ExprId, Pos),
    /// `*` or `*args`
    Star(Option<ExprId>, Pos),
    /// `**kwargs`
    StarStar(ExprId, Pos),
}

/// A statement.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stmt {
    /// An expression, evaluated for its effects.
    Expr(ExprId),
    /// A host operation without arguments: an index into the program's pieces, and its position.
    HostOp(u32, Pos),
    /// `break`
    Break(Pos),
    /// `continue`
    Continue(Pos),
    /// `return x`
    Return(Option<ExprId>, Pos),
    /// `target = value`
    Assign {
        /// A name, an attribute, an item, or several of them.
        target: ExprId,
        /// The assigned value.
        value: ExprId,
        /// `=`
        pos: Pos,
    },
    /// `target += value`
    Augmented {
        /// The changed variable.
        target: ExprId,
        /// The operator.
        op: BinaryOp,
        /// The other operand.
        value: ExprId,
        /// `+=`
        pos: Pos,
    },
    /// `if …: elif …: else:`
    If {
        /// Conditions with their blocks.
        branches: Vec<(ExprId, Vec<Stmt>)>,
        /// The `else` block; may be empty.
        otherwise: Vec<Stmt>,
    },
    /// `for vars in iterable:`
    For {
        /// The variables.
        vars: ExprId,
        /// The value to iterate over.
        iterable: ExprId,
        /// The block.
        body: Vec<Stmt>,
        /// `for`
        pos: Pos,
    },
    /// `while condition:`
    While {
        /// The condition.
        condition: ExprId,
        /// The block.
        body: Vec<Stmt>,
    },
    /// The name (an identifier) and the function.
    Def(ExprId, Box<Def>),
    /// `load("module", "name")`
    Load(Box<Load>),
}

/// A `load` statement.
#[derive(Debug)]
pub struct Load {
    /// The module as written.
    pub module: Str,
    /// Where the statement begins.
    pub pos: Pos,
    /// For each name: the name in the module, its position, and the identifier that it is bound to.
    pub names: Vec<(Str, Pos, ExprId)>,
}
