//! Values of the host: modules, structs, YAML nodes.
//!
//! One trait defines what every value can do; optional operations have defaults that refuse. Two
//! groups of operations have their own traits, [`Mapping`] and [`Sequence`]; a value supports one
//! by returning itself, and may decide at each call, so that one Rust type can represent maps and
//! lists. Programs get the same message for a missing operation as for a built-in type that lacks
//! it.

use std::any::Any;
use std::rc::Rc;

use ytterby_text::Str;

use crate::error::fail;
use crate::{Args, Error, Eval, Value};

/// A comparison operator. Its bits are the accepted orders: less, equal, greater.
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
    /// As written in programs.
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

    /// The result for two values with this order.
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
    /// As written in programs.
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
    /// As written in programs.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Tilde => "~",
        }
    }
}

/// The side of a binary operator that a value is on.
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
// `len` may be `None`, so there is no `is_empty`; see `truth`.
#[expect(clippy::len_without_is_empty)]
pub trait HostValue: Any {
    /// The result of `type(x)`, also used in messages.
    fn type_name(&self) -> &str;

    /// The Go type in the reference, for messages that contain it.
    fn go_type(&self) -> &'static str {
        "starlark.Value"
    }

    /// The reason that the value cannot be written as data, if its type does not explain it.
    fn why_not_data(&self) -> Option<String> {
        None
    }

    /// Appends the text of `repr(x)` and `str(x)` to `out`.
    fn write_repr(&self, out: &mut Vec<u8>);

    /// Whether it is true in a condition.
    fn truth(&self) -> bool {
        true
    }

    /// A hash; fails if the value cannot be a key.
    fn hash(&self) -> Result<u64, Error> {
        fail!(Type, "unhashable type: {}", self.type_name())
    }

    /// An attribute with a similar name, for a hint. Only needed for names that are not in
    /// [`HostValue::attr_names`].
    fn near_attr(&self, _name: &Str) -> Option<String> {
        None
    }

    /// `x.name`; `None` if there is no such attribute. The error then suggests a similar name from
    /// [`HostValue::attr_names`].
    fn attr(&self, _eval: &mut Eval, _name: &Str) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    /// The names for `dir(x)` and for hints.
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

    /// The result of `len(x)`: the number of values in an iteration, if known.
    fn len(&self) -> Option<usize> {
        self.sequence().map(|sequence| sequence.count())
    }

    /// The values for `for` (the keys of a mapping), if it is iterable.
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

    /// Compares with a value of the same type name; `None` if that is undefined (`==` then compares
    /// identity). Parts are compared by [`crate::compare_depth`] with `depth - 1`.
    fn compare(&self, _op: CompareOp, _other: &Value, _depth: usize) -> Result<Option<bool>, Error> {
        Ok(None)
    }

    /// `x + other` and so on; `None` if undefined.
    fn binary(&self, _op: BinaryOp, _other: &Value, _side: Side) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    /// `-x` and so on; `None` if undefined.
    fn unary(&self, _op: UnaryOp) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    /// Makes the value immutable and adds the values in it to `contents`, which are frozen next.
    /// Called for everything that a module exports.
    fn freeze_into(&self, _contents: &mut Vec<Value>) {}
}

/// A mapping: `x[key]`, `key in x`, `**x`.
pub trait Mapping: HostValue {
    /// The value of a key.
    fn get(&self, key: &Value) -> Result<Option<Value>, Error>;

    /// All pairs in order, for `dict(x)`, `update` and `**x`; `None` if they cannot be listed.
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
    /// The number of values.
    fn count(&self) -> usize;

    /// The value at `index`, which is less than [`Sequence::count`].
    fn index(&self, index: usize) -> Value;

    /// `x[index] = value`; `index` is less than [`Sequence::count`].
    fn set_index(&self, _index: usize, _value: Value) -> Result<(), Error> {
        fail!(Type, "{} value does not support item assignment", self.type_name())
    }

    /// The values at these valid indices as a new value; `None` if slices are not supported.
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
