//! The code of the register machine.
//!
//! An instruction is eight bytes. Its operands are registers of the running function: parameters and local variables
//! come first, then temporaries. A local variable is used where it is, without a copy. So is a literal: where the table
//! says *operand*, the numbers from the top down stand for constants (see [`LinkedCode::operand`]).
//!
//! [`Code`] is what the compiler makes; threads share it. Values belong to one thread, so each thread that runs code
//! links it first: [`LinkedCode`] has the constants as values.

use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ytterby_diag::{FileId, Pos, Span};
use ytterby_text::Str;

use num_bigint::BigInt;

use crate::ast::{Ast, ExprId};
use crate::host::{BinaryOp, CompareOp, UnaryOp};
use crate::value::{Builtin, Bytes, Method};
use crate::{Args, Eval, Value, builtins, ops};

/// A register, or where an operand is wanted the complement of the number of a constant.
pub(crate) type Reg = u16;
/// How many constants can be operands.
pub(crate) const CONSTANT_OPERANDS: u16 = 256;
/// The number of an instruction.
pub(crate) type Target = u32;

/// An instruction. `dst` is where the result goes.
// One line each, so that the set can be read as a table.
#[rustfmt::skip]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instr {
    /// `dst = constants[index]`
    Const { dst: Reg, index: u32 },
    Int { dst: Reg, value: i32 },
    None { dst: Reg },
    Bool { dst: Reg, value: bool },
    /// `dst = src`
    Move { dst: Reg, src: Reg },
    /// `dst = src`, which is a temporary and not used again.
    Take { dst: Reg, src: Reg },
    /// Lets go of a temporary.
    Clear { reg: Reg },
    /// Fails where the variable was not assigned yet.
    CheckLocal { reg: Reg },
    CheckGlobal { index: u32 },
    Global { dst: Reg, index: u32 },
    /// Takes `src`, a temporary.
    SetGlobal { src: Reg, index: u32 },
    Predeclared { dst: Reg, index: u32 },
    Cell { dst: Reg, cell: Reg },
    /// Takes `src`, a temporary.
    SetCell { src: Reg, cell: Reg },
    Free { dst: Reg, index: u16 },

    /// Both `x` and `y` are operands.
    Add { dst: Reg, x: Reg, y: Reg },
    AddInt { dst: Reg, x: Reg, y: i16 },
    /// Both `x` and `y` are operands.
    Binary { op: BinaryOp, dst: Reg, x: Reg, y: Reg },
    BinaryInt { op: BinaryOp, dst: Reg, x: Reg, y: i16 },
    /// The operators on integers that are worth an instruction each: a second jump saved is 15 % of one.
    Sub { dst: Reg, x: Reg, y: Reg },
    Mul { dst: Reg, x: Reg, y: Reg },
    MulInt { dst: Reg, x: Reg, y: i16 },
    /// `y` is positive.
    ModInt { dst: Reg, x: Reg, y: i16 },
    /// `x += y`, an operand: lists are extended and strings grow in place.
    AddAssign { x: Reg, y: Reg },
    /// `x = x + y`, an operand: only strings grow in place.
    AppendText { x: Reg, y: Reg },
    AddAssignGlobal { y: Reg, index: u32 },
    Unary { op: UnaryOp, dst: Reg, x: Reg },
    Not { dst: Reg, x: Reg },
    /// Both `x` and `y` are operands.
    Compare { op: CompareOp, dst: Reg, x: Reg, y: Reg },
    CompareInt { op: CompareOp, dst: Reg, x: Reg, y: i16 },

    Jump { to: Target },
    JumpIf { x: Reg, to: Target },
    JumpIfNot { x: Reg, to: Target },
    /// Jumps by `by` instructions where the comparison of the operands `x` and `y` does not hold.
    CompareJump { op: CompareOp, x: Reg, y: Reg, by: i16 },
    CompareIntJump { op: CompareOp, x: Reg, y: i16, by: i16 },

    /// Takes `count` temporaries from `first`.
    List { dst: Reg, first: Reg, count: u16 },
    Tuple { dst: Reg, first: Reg, count: u16 },
    Dict { dst: Reg },
    /// Takes the key and value in `first` and behind it; keys must differ.
    DictEntry { dict: Reg, first: Reg },
    /// The same for comprehensions, where later values win.
    DictAdd { dict: Reg, first: Reg },
    /// Takes `item`.
    ListPush { list: Reg, item: Reg },
    /// Spreads the values of `src`, a temporary, over registers from `first`.
    Unpack { src: Reg, first: Reg, count: u16 },

    IterStart { dst: Reg, src: Reg },
    /// Starts a loop over the pairs of a dict and skips the next three instructions, which would do so for any value:
    /// they call `x.items()` and start a loop over the result.
    PairsStart { dst: Reg, x: Reg },
    /// The same for the result of `enumerate(x)`, where `x` is an operand; skips two instructions for a list.
    EnumerateStart { dst: Reg, x: Reg },
    /// Puts the next value into `dst`, or jumps by `by` to the end of the loop. Counts a step.
    IterNext { iter: Reg, dst: Reg, by: i16 },
    /// Stands at the end of a loop: what a jump to the [`Instr::IterNext`] at its start would do, which is the
    /// instruction before the one that `by` leads to.
    IterAgain { iter: Reg, dst: Reg, by: i16 },
    /// Skips the next instruction, a jump to the end of the loop, where there is a next value.
    IterNextFar { iter: Reg, dst: Reg },
    /// Counts a step; stands where a loop begins anew.
    Step,

    Attr { dst: Reg, x: Reg, name: u16 },
    SetAttr { x: Reg, value: Reg, name: u16 },
    /// `dst = x[y]`, where `y` is an operand.
    Index { dst: Reg, x: Reg, y: Reg },
    /// `x[y] = value`, where `y` is an operand. Takes `value`, a temporary.
    SetIndex { x: Reg, y: Reg, value: Reg },
    /// Operand, start, stop and step stand in registers from `first`.
    Slice { dst: Reg, first: Reg },

    /// Calls what is in `base` with the `count` values behind it; the result goes to `base`.
    Call { count: u8, base: Reg },
    /// The same for a function of the language, which is a constant.
    CallBuiltin { count: u8, base: Reg, index: u16 },
    /// `dst = constants[index](x)`, where `x` is an operand.
    CallBuiltin1 { dst: Reg, x: Reg, index: u16 },
    /// A call with names, `*args` or `**kwargs`: `shape` says what stands behind `base`.
    CallShape { base: Reg, shape: u16 },
    /// `base = x.name()` or `base = x.name(y)` for a method of a built-in type, with operands for `x` and `y`. Then the
    /// next two or three instructions are skipped, which do the same for any value.
    Method0 { name: u8, base: Reg, x: Reg },
    Method1 { name: u8, base: Reg, x: Reg, y: Reg },
    /// The same with a second operand, which the next instruction names; skips five.
    Method2 { name: u8, base: Reg, x: Reg, y: Reg },
    Operand { z: Reg },
    /// Looks a method of the operand `x` up: a method of a built-in type leaves `dst` unset, anything else is put there.
    Method { dst: Reg, x: Reg, name: u16 },
    /// Calls what [`Instr::Method`] found in `base` for the operand `x`, with the `count` values behind; the result goes to `base`.
    CallMethod { count: u8, base: Reg, x: Reg, name: u16 },
    /// Makes a function; takes its defaults from `dst` on.
    Function { dst: Reg, index: u16 },
    /// Takes `x`, a temporary.
    Return { x: Reg },
    ReturnNone,
    /// Begins a fragment function.
    Enter { dialect: u8 },
    /// Ends one; takes `x`.
    Leave { x: Reg },
    LeaveNone,
    /// Loads names into registers from `first`.
    Load { first: Reg, index: u16 },

    /// A statement begins; only in programs that are compiled with [`crate::Coverage`] or during a profile.
    Reach,
    /// A function begins or ends; only in programs that are compiled during a profile.
    ProfileEnter,
    ProfileLeave,

    /// An operation of the host.
    Op { op: u32 },
    OpValue { x: Reg, op: u32 },
    /// The arguments stand from `base` in the shape that the next instruction names.
    OpCall { base: Reg, op: u32 },
    Shape { shape: u16 },
}

/// `dst = x op y`
pub(super) fn binary_instr(op: BinaryOp, dst: Reg, x: Reg, y: Reg) -> Instr {
    match op {
        BinaryOp::Add => Instr::Add { dst, x, y },
        BinaryOp::Sub => Instr::Sub { dst, x, y },
        BinaryOp::Mul => Instr::Mul { dst, x, y },
        _ => Instr::Binary { op, dst, x, y },
    }
}

/// `dst = x op y` with a small integer.
pub(super) fn int_instr(op: BinaryOp, dst: Reg, x: Reg, y: i16) -> Instr {
    match op {
        BinaryOp::Add => Instr::AddInt { dst, x, y },
        BinaryOp::Mul => Instr::MulInt { dst, x, y },
        BinaryOp::Mod if y > 0 => Instr::ModInt { dst, x, y },
        _ => Instr::BinaryInt { op, dst, x, y },
    }
}

/// A function's code, as the compiler makes it.
pub(crate) struct Code {
    pub(crate) id: CodeId,
    pub(crate) name: Str,
    pub(crate) pos: Pos,
    pub(crate) span: Span,
    pub(crate) doc: Option<Str>,
    pub(crate) instrs: Box<[Instr]>,
    /// The place of each instruction; unknown where the one before applies.
    pub(crate) positions: Box<[Pos]>,
    /// The place that is shown while no instruction is at work yet.
    pub(crate) first_pos: Pos,
    pub(crate) registers: usize,
    /// Names of the local variables, by register.
    pub(crate) locals: Box<[Str]>,
    pub(crate) params: Params,
    /// Parameters that functions inside use.
    pub(crate) cells: Box<[Reg]>,
    pub(crate) constants: Box<[Constant]>,
    pub(crate) names: Box<[Name]>,
    pub(crate) shapes: Box<[Shape]>,
    pub(crate) functions: Box<[Arc<Code>]>,
    pub(crate) loads: Box<[LoadCode]>,
    /// Where a new function of this code finds the variables that it shares with the functions around it.
    pub(crate) captures: Box<[Capture]>,
    /// Names of those variables.
    pub(crate) free_names: Box<[Str]>,
    pub(crate) lambda: Option<(Arc<Ast>, ExprId)>,
    /// Where its `load` statements stand.
    pub(crate) file: FileId,
}

/// A literal, or a function of the language.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Constant {
    Int(i64),
    /// The bits of a float.
    Float(u64),
    Str(Str),
    Big(Box<BigInt>),
    Bytes(Str),
    /// What a name of the language stands for.
    Universal(Str),
    /// What carries out `x |= y`.
    OrAssign,
}

impl Constant {
    fn value(&self) -> Value {
        match self {
            Constant::Int(value) => Value::Int(*value),
            Constant::Float(bits) => Value::Float(f64::from_bits(*bits)),
            Constant::Str(text) => Value::Str(text.clone()),
            Constant::Big(value) => Value::big(BigInt::clone(value)),
            Constant::Bytes(bytes) => Value::host(Bytes::new(bytes.clone())),
            // The compiler found out that its dialect has the name.
            Constant::Universal(name) => builtins::universal(name).unwrap_or(Value::None),
            Constant::OrAssign => Value::from(Builtin::plain("|=", or_assign)),
        }
    }
}

fn or_assign(eval: &mut Eval, args: Args<'_>) -> Result<Value, crate::Error> {
    ops::or_assign(eval, &args.positional[0], &args.positional[1])
}

/// Code with what belongs to one thread.
pub(crate) struct LinkedCode {
    code: Arc<Code>,
    pub(crate) constants: Box<[Value]>,
    /// For each of its shapes the function that was called last and whose parameters have that order.
    pub(crate) in_order_for: Box<[Cell<CodeId>]>,
    pub(crate) functions: Box<[Rc<LinkedCode>]>,
}

impl Deref for LinkedCode {
    type Target = Code;

    #[inline(always)]
    fn deref(&self) -> &Code {
        &self.code
    }
}

impl LinkedCode {
    /// Makes code ready to run on this thread.
    pub(crate) fn new(code: &Arc<Code>) -> Rc<LinkedCode> {
        // Functions inside of functions are few levels deep: the parser limits that.
        Rc::new(LinkedCode {
            constants: code.constants.iter().map(Constant::value).collect(),
            in_order_for: code.shapes.iter().map(|_| Cell::default()).collect(),
            functions: code.functions.iter().map(LinkedCode::new).collect(),
            code: code.clone(),
        })
    }

    /// The value of an operand.
    #[inline]
    pub(crate) fn operand<'a>(&'a self, regs: &'a [Value], operand: Reg) -> &'a Value {
        match regs.get(usize::from(operand)) {
            Some(value) => value,
            None => &self.constants[usize::from(!operand)],
        }
    }

    /// The value of an operand that is an integer; `None` where it is something else.
    #[inline(always)]
    pub(crate) fn int_operand(&self, regs: &[Value], operand: Reg) -> Option<i64> {
        let value = match regs.get(usize::from(operand)) {
            Some(value) => value,
            None => &self.constants[usize::from(!operand)],
        };
        match value {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }
}

impl Code {
    /// The place that messages show for a function that has come up to `pc`: that of the last instruction before it
    /// that has one.
    pub(crate) fn position(&self, pc: u32) -> Pos {
        let done = &self.positions[..(pc as usize).min(self.positions.len())];
        done.iter().rev().find(|pos| pos.is_known()).copied().unwrap_or(self.first_pos)
    }
}

/// The parameters of a function.
#[derive(Default)]
pub(crate) struct Params {
    /// Names without `*args` and `**kwargs`: first those that can be given by position, then those by name only.
    pub(crate) names: Box<[Str]>,
    /// How many can be given by position.
    pub(crate) positional: usize,
    /// For each parameter where its default stands among the function's defaults.
    pub(crate) defaults: Box<[Option<u16>]>,
    pub(crate) default_count: usize,
    /// Whether the register behind the parameters takes surplus values.
    pub(crate) varargs: bool,
    /// Whether the register behind that takes surplus names.
    pub(crate) kwargs: bool,
    /// How many values by position fill all parameters without further ado: no `*args`, no `**kwargs`, none that goes
    /// into a cell.
    pub(crate) plain: Option<usize>,
}

impl Params {
    /// How many registers they take.
    pub(crate) fn count(&self) -> usize {
        self.names.len() + usize::from(self.varargs) + usize::from(self.kwargs)
    }
}

/// The name of an attribute, with the methods of built-in types that have it.
pub(crate) struct Name {
    pub(crate) name: Str,
    pub(crate) string: Option<Method>,
    pub(crate) list: Option<Method>,
    pub(crate) dict: Option<Method>,
    pub(crate) set: Option<Method>,
    /// Whether it is `append`, which of all methods is called most.
    pub(crate) is_append: bool,
}

/// What stands behind the callee: positional values, named values, then `*args` and `**kwargs`.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) positional: usize,
    pub(crate) names: Box<[Str]>,
    pub(crate) star: bool,
    pub(crate) star_star: bool,
}

/// Tells the code of functions apart: equal numbers mean the same code, also after one of them is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CodeId(u64);

impl CodeId {
    /// A number that no other code has. 0 is none.
    pub(super) fn next() -> CodeId {
        static LAST: AtomicU64 = AtomicU64::new(0);
        CodeId(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

pub(crate) struct LoadCode {
    pub(crate) module: Str,
    /// With the place of each.
    pub(crate) names: Box<[(Str, Pos)]>,
}

/// Where a shared variable is, seen from the function that makes another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Capture {
    Register(Reg),
    Captured(u16),
}
