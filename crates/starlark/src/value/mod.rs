//! Values of the language.
//!
//! A [`Value`] has 24 bytes and is cheap to clone: numbers and short strings are stored in place,
//! everything else is reference-counted. Equality, order and hashing are in `ops`, because they can
//! fail; the text of values is in `repr`.

mod bytes;
mod deep_drop;
mod dict;
mod function;
mod list;
mod range;
mod repr;
mod set;
mod strings;
mod table;
mod tuple;

pub use bytes::Bytes;
pub use dict::Dict;
pub use function::{Builtin, BuiltinFn, Function};
pub use list::List;
pub use range::Range;
pub use set::Set;
pub use tuple::Tuple;

pub(crate) use function::{Cell, Method};
pub(crate) use list::{Guard, push_tiny};
pub(crate) use strings::{ElemForm, StringElems, Unit, decode_char};
pub(crate) use table::HashTable;

use std::fmt;
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::FxHashSet;
use ytterby_text::{Str, Tiny};

use crate::host::HostValue;

/// A value of the language.
#[non_exhaustive]
pub enum Value {
    /// `None`
    None,
    /// `True` and `False`
    Bool(bool),
    /// An integer of up to 64 bits.
    Int(i64),
    /// A float.
    Float(f64),
    /// An unassigned variable of the VM; programs and hosts never see it.
    #[doc(hidden)]
    Unset(Unset),
    // The variants above own nothing. Because they come first, one comparison recognises them; see
    // `Value::put`.
    /// An integer that does not fit into an [`Value::Int`]; use [`Value::big`] to create one.
    BigInt(Rc<BigInt>),
    /// A string of bytes.
    Str(Str),
    /// `[1, 2]`
    List(Rc<List>),
    /// `(1, 2)`
    Tuple(Rc<Tuple>),
    /// `{1: 2}`
    Dict(Rc<Dict>),
    /// `set([1, 2])`
    Set(Rc<Set>),
    /// `range(3)`
    Range(Rc<Range>),
    /// A function of a program: `def` or `lambda`.
    Function(Rc<Function>),
    /// A built-in function or one of the host.
    Builtin(Rc<Builtin>),
    /// A value of the host.
    Host(Rc<dyn HostValue>),
    /// An internal value of the VM; programs and hosts never see it.
    #[doc(hidden)]
    Internal(Internal),
}

impl Clone for Value {
    #[inline]
    fn clone(&self) -> Value {
        match self {
            Value::None => Value::None,
            Value::Bool(b) => Value::Bool(*b),
            Value::Int(i) => Value::Int(*i),
            Value::Float(f) => Value::Float(*f),
            Value::Unset(unset) => Value::Unset(*unset),
            Value::Str(text) => match text.copy_short() {
                Some(text) => Value::Str(text),
                None => self.share(),
            },
            other => other.share(),
        }
    }
}

/// Prevents that [`Value::Unset`] is created elsewhere.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Unset(());

/// Contents of VM registers that are not values of the language.
#[doc(hidden)]
#[derive(Clone)]
pub struct Internal(pub(crate) Hidden);

pub(crate) enum Hidden {
    /// A variable that is shared with inner functions.
    Cell(Rc<Cell>),
    /// A running iteration.
    Iter(Box<crate::vm::Iter>),
}

impl Clone for Hidden {
    fn clone(&self) -> Hidden {
        match self {
            Hidden::Cell(cell) => Hidden::Cell(cell.clone()),
            // The machine never clones a running iteration.
            Hidden::Iter(_) => Hidden::Iter(Box::default()),
        }
    }
}

// `len` may be `None`, so there is no `is_empty`; see `truth`.
#[expect(clippy::len_without_is_empty)]
impl Value {
    pub(crate) const UNSET: Value = Value::Unset(Unset(()));

    /// A string.
    pub fn str(text: impl Into<Str>) -> Value {
        Value::Str(text.into())
    }

    /// An integer of any size.
    pub fn big(value: BigInt) -> Value {
        match value.to_i64() {
            Some(small) => Value::Int(small),
            None => Value::BigInt(Rc::new(value)),
        }
    }

    /// A new list.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(List::new(items)))
    }

    /// A tuple.
    pub fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(Tuple::new(items)))
    }

    /// A new dict with these pairs; of duplicate keys the last wins.
    ///
    /// # Errors
    /// If a key cannot be hashed.
    pub fn dict(pairs: impl IntoIterator<Item = (Value, Value)>) -> Result<Value, crate::Error> {
        let dict = Dict::new();
        for (key, value) in pairs {
            dict.insert(key, value)?;
        }
        Ok(Value::Dict(Rc::new(dict)))
    }

    /// A value of the host.
    pub fn host(value: impl HostValue) -> Value {
        Value::Host(Rc::new(value))
    }

    /// Clones a value that owns something.
    #[inline(never)]
    fn share(&self) -> Value {
        match self {
            Value::BigInt(i) => Value::BigInt(i.clone()),
            Value::Str(s) => Value::Str(s.clone()),
            Value::List(list) => Value::List(list.clone()),
            Value::Tuple(tuple) => Value::Tuple(tuple.clone()),
            Value::Dict(dict) => Value::Dict(dict.clone()),
            Value::Set(set) => Value::Set(set.clone()),
            Value::Range(range) => Value::Range(range.clone()),
            Value::Function(function) => Value::Function(function.clone()),
            Value::Builtin(builtin) => Value::Builtin(builtin.clone()),
            Value::Host(host) => Value::Host(host.clone()),
            Value::Internal(internal) => Value::Internal(internal.clone()),
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Unset(_) => Value::UNSET,
        }
    }

    /// The result of `type(x)`.
    pub fn type_name(&self) -> &str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::BigInt(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "string",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Dict(_) => "dict",
            Value::Set(_) => "set",
            Value::Range(_) => "range",
            Value::Function(_) => "function",
            Value::Builtin(_) => "builtin_function_or_method",
            Value::Host(host) => host.type_name(),
            Value::Unset(_) | Value::Internal(_) => "internal",
        }
    }

    /// Whether it is true in a condition.
    #[inline]
    pub fn truth(&self) -> bool {
        match self {
            Value::None => false,
            Value::Bool(b) => *b,
            Value::Int(i) => *i != 0,
            Value::Float(f) => *f != 0.0,
            Value::Str(s) => !s.is_empty(),
            Value::List(list) => !list.is_empty(),
            Value::Tuple(tuple) => !tuple.is_empty(),
            Value::Dict(dict) => !dict.is_empty(),
            Value::Set(set) => !set.is_empty(),
            Value::Range(range) => !range.is_empty(),
            Value::Host(host) => host.truth(),
            Value::BigInt(_) | Value::Function(_) | Value::Builtin(_) | Value::Unset(_) | Value::Internal(_) => true,
        }
    }

    /// The result of `len(x)`; `None` if it has no length.
    pub fn len(&self) -> Option<usize> {
        Some(match self {
            Value::Str(s) => s.as_bytes().len(),
            Value::List(list) => list.len(),
            Value::Tuple(tuple) => tuple.len(),
            Value::Dict(dict) => dict.len(),
            Value::Set(set) => set.len(),
            Value::Range(range) => range.len(),
            Value::Host(host) => return host.len(),
            _ => return None,
        })
    }

    /// Whether it can be called.
    pub fn is_callable(&self) -> bool {
        match self {
            Value::Function(_) | Value::Builtin(_) => true,
            Value::Host(host) => host.is_callable(),
            _ => false,
        }
    }

    /// Whether `for` can iterate over it.
    pub fn is_iterable(&self) -> bool {
        match self {
            Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Set(_) | Value::Range(_) => true,
            Value::Host(host) => host.iterate().is_some(),
            _ => false,
        }
    }

    /// The values for `for`; `None` if it is not iterable. A list or dict cannot be changed until
    /// the iterator is dropped.
    pub fn iterate(&self) -> Option<impl Iterator<Item = Value> + use<>> {
        crate::vm::Iter::of(self)
    }

    /// The bytes of a string; `None` for other values.
    pub fn as_str(&self) -> Option<&Str> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The host value as the Rust type `T`, if it is one.
    pub fn downcast<T: HostValue>(&self) -> Option<&T> {
        match self {
            Value::Host(host) => host.downcast_ref(),
            _ => None,
        }
    }

    /// The result of `repr(x)`: strings are quoted.
    pub fn repr(&self) -> Str {
        let mut out = Vec::new();
        repr::write(&mut out, self);
        Str::from(out)
    }

    /// Appends the text of [`Value::repr`].
    pub fn write_repr(&self, out: &mut Vec<u8>) {
        repr::write(out, self);
    }

    /// The result of `str(x)`: like [`Value::repr`], except that a string is not quoted.
    pub fn to_text(&self) -> Str {
        match self {
            Value::Str(s) => s.clone(),
            other => other.repr(),
        }
    }

    /// Appends the text of [`Value::to_text`].
    pub fn write_text(&self, out: &mut Vec<u8>) {
        match self {
            Value::Str(s) => out.extend_from_slice(s),
            Value::Int(i) => ytterby_text::push_int(out, *i),
            other => repr::write(out, other),
        }
    }

    /// Whether both are the same object, or equal if they are stored in place.
    pub fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::BigInt(a), Value::BigInt(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
            (Value::Tuple(a), Value::Tuple(b)) => Rc::ptr_eq(a, b),
            (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b),
            (Value::Set(a), Value::Set(b)) => Rc::ptr_eq(a, b),
            (Value::Range(a), Value::Range(b)) => Rc::ptr_eq(a, b),
            (Value::Function(a), Value::Function(b)) => Rc::ptr_eq(a, b),
            (Value::Builtin(a), Value::Builtin(b)) => Rc::ptr_eq(a, b),
            (Value::Host(a), Value::Host(b)) => std::ptr::addr_eq(Rc::as_ptr(a), Rc::as_ptr(b)),
            _ => false,
        }
    }

    /// Makes the values and everything reachable from them immutable.
    ///
    /// Each value is visited once. Tuples and values of the host do not know whether they are
    /// frozen, so those with several owners are remembered: `x = (x, x)` in a loop would take
    /// exponential time otherwise.
    pub(crate) fn freeze_all(values: impl IntoIterator<Item = Value>) {
        let mut pending: Vec<Value> = values.into_iter().filter(Value::can_freeze).collect();
        let mut seen = FxHashSet::default();
        // One owner is `value` below.
        let mut is_new = |owners: usize, at: *const ()| owners <= 2 || seen.insert(at);
        while let Some(value) = pending.pop() {
            match &value {
                Value::List(list) => list.freeze_into(&mut pending),
                Value::Tuple(tuple) if is_new(Rc::strong_count(tuple), Rc::as_ptr(tuple).cast()) => {
                    pending.extend(tuple.iter().filter(|item| item.can_freeze()).cloned());
                }
                Value::Dict(dict) => dict.freeze_into(&mut pending),
                Value::Set(set) => set.freeze(),
                Value::Function(function) => function.freeze_into(&mut pending),
                Value::Builtin(builtin) => pending.extend(builtin.receiver().cloned()),
                Value::Host(host) if is_new(Rc::strong_count(host), Rc::as_ptr(host).cast()) => {
                    host.freeze_into(&mut pending);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn can_freeze(&self) -> bool {
        matches!(
            self,
            Value::List(_)
                | Value::Tuple(_)
                | Value::Dict(_)
                | Value::Set(_)
                | Value::Function(_)
                | Value::Builtin(_)
                | Value::Host(_)
        )
    }

    pub(crate) fn iter(iter: crate::vm::Iter) -> Value {
        Value::Internal(Internal(Hidden::Iter(Box::new(iter))))
    }

    pub(crate) fn cell(content: Value) -> Value {
        let content = if content.is_unset() { None } else { Some(content) };
        Value::Internal(Internal(Hidden::Cell(Rc::new(Cell(content.into())))))
    }

    pub(crate) fn as_cell(&self) -> Option<&Rc<Cell>> {
        match self {
            Value::Internal(Internal(Hidden::Cell(cell))) => Some(cell),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn as_iter_mut(&mut self) -> Option<&mut crate::vm::Iter> {
        match self {
            Value::Internal(Internal(Hidden::Iter(iter))) => Some(iter),
            _ => None,
        }
    }

    /// Whether dropping it does nothing. Strings stored in place are included; it is still one
    /// comparison.
    #[inline(always)]
    pub(crate) fn owns_nothing(&self) -> bool {
        match self {
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Unset(_) => true,
            Value::Str(text) => text.is_short(),
            _ => false,
        }
    }

    /// Replaces the value. Most values in registers own nothing, and checking that here saves the
    /// call that drops the old one: 15 % of the instructions of the benchmark `ints`.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: Value) {
        if self.owns_nothing() {
            std::mem::forget(std::mem::replace(self, value));
        } else {
            *self = value;
        }
    }

    /// Replaces the value by an integer. Registers mostly keep the same type, so that usually only
    /// the number is written.
    #[inline(always)]
    pub(crate) fn put_int(&mut self, value: i64) {
        match self {
            Value::Int(slot) => *slot = value,
            other => other.put(Value::Int(value)),
        }
    }

    /// The same for a boolean.
    #[inline(always)]
    pub(crate) fn put_bool(&mut self, value: bool) {
        match self {
            Value::Bool(slot) => *slot = value,
            other => other.put(Value::Bool(value)),
        }
    }

    /// The same for a float.
    #[inline(always)]
    pub(crate) fn put_float(&mut self, value: f64) {
        match self {
            Value::Float(slot) => *slot = value,
            other => other.put(Value::Float(value)),
        }
    }

    /// The same for a tiny string.
    #[inline(always)]
    pub(crate) fn put_tiny(&mut self, text: Tiny) {
        if !matches!(self, Value::Str(old) if old.is_short()) {
            self.put(Value::Str(Str::EMPTY));
        }
        if let Value::Str(old) = self {
            old.set_tiny(text);
        }
    }

    /// A tiny string.
    #[inline(always)]
    pub(crate) fn as_tiny(&self) -> Option<Tiny> {
        match self {
            Value::Str(text) => text.tiny(),
            _ => None,
        }
    }

    /// Replaces the value by a copy of another.
    #[inline(always)]
    pub(crate) fn put_copy(&mut self, value: &Value) {
        match value {
            Value::Int(value) => self.put_int(*value),
            other => match other.as_tiny() {
                Some(text) => self.put_tiny(text),
                None => self.put(other.clone()),
            },
        }
    }

    /// Replaces the value by another, which may be moved. A value is 24 bytes, which are copied by
    /// two loads. If it was just written, by smaller stores, the processor delays these by a dozen
    /// cycles; so numbers and tiny strings are read as they were written.
    #[inline(always)]
    pub(crate) fn put_moved(&mut self, value: &mut Value) {
        match value {
            Value::Int(value) => self.put_int(*value),
            other => match other.as_tiny() {
                Some(text) => self.put_tiny(text),
                None => self.put(other.take()),
            },
        }
    }

    #[inline(always)]
    pub(crate) fn take(&mut self) -> Value {
        std::mem::replace(self, Value::Unset(Unset(())))
    }

    #[inline]
    pub(crate) fn is_unset(&self) -> bool {
        matches!(self, Value::Unset(_))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repr().to_str())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Value {
        i64::try_from(value).map_or_else(|_| Value::big(value.into()), Value::Int)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Str(Str::from(value))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Str(Str::from(value))
    }
}

impl From<Str> for Value {
    fn from(value: Str) -> Value {
        Value::Str(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_small() {
        assert_eq!(size_of::<Value>(), 24);
        assert_eq!(size_of::<Option<Value>>(), 24);
        assert_eq!(size_of::<Result<Value, crate::Error>>(), 24);
    }
}
