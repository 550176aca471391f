//! Values that the host makes: modules, structs, YAML nodes.
//!
//! One trait holds what every value can do; optional abilities have defaults that say "no". Two abilities that come
//! with several methods have their own traits, [`Mapping`] and [`Sequence`]; a value offers them by returning itself,
//! and may decide each time anew, so that one Rust type can stand for maps and for lists. Where an ability is missing, programs get the
//! same message as for a value of the language that lacks it.

use std::any::Any;
use std::rc::Rc;

use ytterby_text::Str;

use crate::error::fail;
use crate::{Args, Error, Eval, Value};

/// A comparison operator. Its bits are the orders it accepts: less, equal, greater.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CompareOp {
    /// `==`
    Eq = 0b010,
    /// `!=`
    Ne = 0b101,
    /// `<`
    Lt = 0b001,
    /// `<=`
    Le = 0b011,
    /// `>`
    Gt = 0b100,
    /// `>=`
    Ge = 0b110,
}

impl CompareOp {
    /// As it is written in programs.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }

    /// What the operator says of two values that stand in this order.
    #[inline]
    pub fn accepts(self, order: std::cmp::Ordering) -> bool {
        self as u8 >> (order as i8 + 1) & 1 == 1
    }
}

/// A binary operator that computes: all but comparisons, `and` and `or`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `//`
    FloorDiv,
    /// `%`
    Mod,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `in`
    In,
}

impl BinaryOp {
    /// As it is written in programs.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::FloorDiv => "//",
            BinaryOp::Mod => "%",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::In => "in",
        }
    }
}

/// A unary operator other than `not`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `~`
    Tilde,
}

impl UnaryOp {
    /// As it is written in programs.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Tilde => "~",
        }
    }
}

/// On which side of a binary operator a value stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// `x` in `x + y`.
    Left,
    /// `y` in `x + y`.
    Right,
}

/// The values of an iteration over a host value.
pub type ValueIter = Box<dyn Iterator<Item = Value>>;

/// A value made by the host.
// What has no length is not empty either; `truth` tells.
#[expect(clippy::len_without_is_empty)]
pub trait HostValue: Any {
    /// What `type(x)` says and messages call it.
    fn type_name(&self) -> &str;

    /// What the reference holds the value in; messages that follow it name the type.
    fn go_type(&self) -> &'static str {
        "starlark.Value"
    }

    /// Why the value cannot be written as data, where its type does not tell.
    fn why_not_data(&self) -> Option<String> {
        None
    }

    /// How `repr(x)` and `str(x)` show it, appended to `out`.
    fn write_repr(&self, out: &mut Vec<u8>);

    /// Whether it counts as true.
    fn truth(&self) -> bool {
        true
    }

    /// A number that equal values share; an error where the value cannot be a key.
    fn hash(&self) -> Result<u64, Error> {
        fail!(Type, "unhashable type: {}", self.type_name())
    }

    /// An attribute whose name is similar, for advice that is no part of the message. Those of
    /// [`HostValue::attr_names`] are found without it.
    fn near_attr(&self, _name: &Str) -> Option<String> {
        None
    }

    /// `x.name`; `None` where there is no such attribute. The error then names a similar one of
    /// [`HostValue::attr_names`].
    fn attr(&self, _eval: &mut Eval, _name: &Str) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    /// The names that `dir(x)` lists and hints are taken from.
    fn attr_names(&self) -> Vec<Str> {
        Vec::new()
    }

    /// `x.name = value`.
    fn set_attr(&self, name: &Str, _value: Value) -> Result<(), Error> {
        fail!(Type, "can't assign to .{name} field of {}", self.type_name())
    }

    /// The value as a mapping, if it is one.
    fn mapping(&self) -> Option<&dyn Mapping> {
        None
    }

    /// The value as a sequence with an index, if it is one.
    fn sequence(&self) -> Option<&dyn Sequence> {
        None
    }

    /// How many values an iteration yields, if that is known; what `len(x)` says.
    fn len(&self) -> Option<usize> {
        self.sequence().map(|sequence| sequence.count())
    }

    /// The values that `for` runs over (the keys of a mapping), if it can run over this at all.
    fn iterate(&self) -> Option<ValueIter> {
        None
    }

    /// Whether it can be called.
    fn is_callable(&self) -> bool {
        false
    }

    /// `x(…)`.
    fn call(&self, _eval: &mut Eval, _args: Args<'_>) -> Result<Value, Error> {
        fail!(Type, "invalid call of non-function ({})", self.type_name())
    }

    /// Compares with a value of the same type name; `None` where that makes no sense (`==` then asks whether they are
    /// the same object). Comparisons of parts go through [`crate::compare_depth`] with `depth - 1`.
    fn compare(&self, _op: CompareOp, _other: &Value, _depth: usize) -> Result<Option<bool>, Error> {
        Ok(None)
    }

    /// `x + other` and so on; `None` where it is not defined.
    fn binary(&self, _op: BinaryOp, _other: &Value, _side: Side) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    /// `-x` and so on; `None` where it is not defined.
    fn unary(&self, _op: UnaryOp) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    /// Makes the value, and what it holds, immutable. Called for everything that a module leaves behind.
    fn freeze(&self) {}
}

/// A mapping: `x[key]`, `key in x`, `**x`.
pub trait Mapping: HostValue {
    /// The value of a key.
    fn get(&self, key: &Value) -> Result<Option<Value>, Error>;

    /// All pairs in order, for `dict(x)`, `update` and `**x`; `None` where they cannot be listed.
    fn items(&self) -> Option<Vec<(Value, Value)>> {
        None
    }

    /// `x[key] = value`.
    fn set_key(&self, _key: Value, _value: Value) -> Result<(), Error> {
        fail!(Type, "{} value does not support item assignment", self.type_name())
    }
}

/// A sequence with an index: `x[i]`, `x[i:j]`.
pub trait Sequence: HostValue {
    /// How many values there are.
    fn count(&self) -> usize;

    /// The value at `index`, which is smaller than [`Sequence::count`].
    fn index(&self, index: usize) -> Value;

    /// `x[index] = value`; `index` is smaller than [`Sequence::count`].
    fn set_index(&self, _index: usize, _value: Value) -> Result<(), Error> {
        fail!(Type, "{} value does not support item assignment", self.type_name())
    }

    /// The values at these indices, all of them valid, as a new value; `None` where slices are not supported.
    fn slice(&self, _indices: &mut dyn Iterator<Item = usize>) -> Option<Value> {
        None
    }
}

impl dyn HostValue {
    /// The value as the Rust type `T`, if it is one.
    pub fn downcast_ref<T: HostValue>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The shared value as the Rust type `T`, if it is one.
    pub fn downcast_rc<T: HostValue>(self: &Rc<Self>) -> Option<Rc<T>> {
        let any: Rc<dyn Any> = self.clone();
        any.downcast().ok()
    }
}
