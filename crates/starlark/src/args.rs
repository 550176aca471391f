//! The arguments of a call, and their conversion for host functions.
//!
//! The messages are those of the reference for its two ways of declaring parameters: by position
//! only ([`Args::at`]) and by position or name ([`Args::unpack`]).

use std::rc::Rc;

use num_traits::ToPrimitive;
use ytterby_text::Str;
use ytterby_text::spelling::nearest;

use crate::advice::mistyped;
use crate::error::fail;
use crate::value::{Dict, List};
use crate::{Error, Problem, Value};

/// The arguments of one call.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    /// Positional arguments.
    pub positional: &'a [Value],
    /// Named arguments, in order; a name can occur twice.
    pub named: &'a [(Str, Value)],
}

impl<'a> Args<'a> {
    /// No arguments.
    pub const NONE: Args<'static> = Args { positional: &[], named: &[] };

    /// Positional arguments only.
    pub fn of(positional: &'a [Value]) -> Args<'a> {
        Args { positional, named: &[] }
    }

    /// Checks that there are from `min` to `max` positional arguments and no named ones.
    ///
    /// # Errors
    /// If there are others.
    #[inline]
    pub fn count(&self, function: &str, min: usize, max: usize) -> Result<(), Error> {
        let given = self.positional.len();
        if self.named.is_empty() && min <= given && given <= max {
            return Ok(());
        }
        self.wrong_count(function, min, max)
    }

    #[cold]
    fn wrong_count(&self, function: &str, min: usize, max: usize) -> Result<(), Error> {
        let given = self.positional.len();
        if !self.named.is_empty() {
            fail!(Call, "{function}: unexpected keyword arguments");
        }
        if given < min {
            let at_least = if min < max { "at least " } else { "" };
            fail!(Call, "{function}: got {given} arguments, want {at_least}{min}");
        }
        let at_most = if max > min { "at most " } else { "" };
        fail!(Call, "{function}: got {given} arguments, want {at_most}{max}")
    }

    /// The argument at a position, converted; `None` if it is absent.
    ///
    /// # Errors
    /// If it has another type.
    #[inline]
    pub fn at<T: FromValue>(&self, function: &str, index: usize) -> Result<Option<T>, Error> {
        match self.positional.get(index) {
            None => Ok(None),
            Some(value) => match T::from_value(value) {
                Ok(value) => Ok(Some(value)),
                Err(problem) => fail!(Type, "{function}: for parameter {}: {problem}", index + 1),
            },
        }
    }

    /// The required argument at a position (see [`Args::count`]).
    ///
    /// # Errors
    /// If it is missing or has another type.
    #[inline]
    pub fn required<T: FromValue>(&self, function: &str, index: usize) -> Result<T, Error> {
        match self.at(function, index)? {
            Some(value) => Ok(value),
            None => fail!(Call, "{function}: got {} arguments, want at least {}", self.positional.len(), index + 1),
        }
    }

    /// The arguments for parameters that accept positions or names, in the order of `params`. A `?`
    /// at the end of a parameter's name makes it and all later ones optional.
    ///
    /// # Errors
    /// If arguments are missing, unknown or given twice.
    pub fn unpack<const N: usize>(&self, function: &str, params: [&str; N]) -> Result<[Option<&'a Value>; N], Error> {
        let mut found = [None; N];
        if self.positional.len() > N {
            fail!(Call, "{function}: got {} arguments, want at most {N}", self.positional.len());
        }
        for (slot, value) in found.iter_mut().zip(self.positional) {
            *slot = Some(value);
        }
        for (name, value) in self.named {
            let wanted = params.iter().position(|param| name == param.trim_end_matches('?'));
            let Some(at) = wanted else {
                return Err(unexpected_keyword(function, name, &params));
            };
            if found[at].is_some() {
                fail!(Call, "{function}: got multiple values for keyword argument {}", quoted(name));
            }
            found[at] = Some(value);
        }
        for (slot, param) in found.iter().zip(params) {
            if param.ends_with('?') {
                break;
            }
            if slot.is_none() {
                fail!(Call, "{function}: missing argument for {param}");
            }
        }
        Ok(found)
    }
}

impl Args<'_> {
    /// Converts an argument that [`Args::unpack`] found; like the reference, a message quotes its
    /// name if it was given by name.
    ///
    /// # Errors
    /// If it has another type.
    pub fn param<T: FromValue>(&self, function: &str, param: &str, value: Option<&Value>) -> Result<Option<T>, Error> {
        if self.named.iter().any(|(name, _)| name == param) {
            return convert(function, &format!("\"{param}\""), value);
        }
        convert(function, param, value)
    }
}

/// Converts an argument that [`Args::unpack`] found.
///
/// # Errors
/// If it has another type.
pub fn convert<T: FromValue>(function: &str, param: &str, value: Option<&Value>) -> Result<Option<T>, Error> {
    match value {
        None => Ok(None),
        Some(value) => match T::from_value(value) {
            Ok(value) => Ok(Some(value)),
            Err(problem) => fail!(Type, "{function}: for parameter {}: {problem}", param.trim_end_matches('?')),
        },
    }
}

#[cold]
#[inline(never)]
fn unexpected_keyword(function: &str, name: &Str, params: &[&str]) -> Error {
    let message = format!("{function}: unexpected keyword argument {}", quoted(name));
    unknown_argument(name, params.iter().map(|param| param.trim_end_matches('?')), message)
}

/// The error for an unknown named argument.
#[cold]
pub(crate) fn unknown_argument<'a>(
    name: &Str,
    params: impl IntoIterator<Item = &'a str> + Clone,
    message: String,
) -> Error {
    let shown = name.to_str();
    let similar = nearest(&shown, params.clone()).map(Str::from).or_else(|| mistyped(&shown, params));
    Error::of(Problem::UnknownArgument { name: name.clone(), similar }, message)
}

/// A name in quotes, as in messages about named arguments.
pub(crate) fn quoted(name: &Str) -> Str {
    ytterby_text::quote::quote(name)
}

/// A type that an argument can be converted to.
pub trait FromValue: Sized {
    /// Converts a value, or describes the problem: `got int, want string`.
    ///
    /// # Errors
    /// If the value has another type.
    fn from_value(value: &Value) -> Result<Self, String>;
}

impl FromValue for Value {
    #[inline]
    fn from_value(value: &Value) -> Result<Value, String> {
        Ok(value.clone())
    }
}

impl FromValue for Str {
    fn from_value(value: &Value) -> Result<Str, String> {
        match value {
            Value::Str(s) => Ok(s.clone()),
            other => Err(unlike(other, "string")),
        }
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Result<bool, String> {
        match value {
            Value::Bool(b) => Ok(*b),
            other => Err(unlike(other, "bool")),
        }
    }
}

/// An integer of 32 bits: the reference's limit for counts and indices.
impl FromValue for i32 {
    #[inline]
    fn from_value(value: &Value) -> Result<i32, String> {
        match value {
            Value::Int(i) => i32::try_from(*i).map_err(|_| format!("{i} out of range")),
            Value::BigInt(i) => Err(format!("{i} out of range")),
            other => Err(unlike(other, "int")),
        }
    }
}

impl FromValue for i64 {
    fn from_value(value: &Value) -> Result<i64, String> {
        match value {
            Value::Int(i) => Ok(*i),
            Value::BigInt(i) => i.to_i64().ok_or_else(|| format!("{i} out of range")),
            other => Err(unlike(other, "int")),
        }
    }
}

impl FromValue for Rc<List> {
    fn from_value(value: &Value) -> Result<Rc<List>, String> {
        match value {
            Value::List(list) => Ok(list.clone()),
            other => Err(unlike(other, "list")),
        }
    }
}

impl FromValue for Rc<Dict> {
    fn from_value(value: &Value) -> Result<Rc<Dict>, String> {
        match value {
            Value::Dict(dict) => Ok(dict.clone()),
            other => Err(unlike(other, "dict")),
        }
    }
}

/// A value that can be called.
pub struct Callable(pub Value);

impl FromValue for Callable {
    fn from_value(value: &Value) -> Result<Callable, String> {
        if value.is_callable() { Ok(Callable(value.clone())) } else { Err(unlike(value, "callable")) }
    }
}

/// A value that `for` can iterate over.
pub struct Iterable(pub Value);

impl Iterable {
    /// The values in order.
    pub fn iterate(&self) -> impl Iterator<Item = Value> + use<> {
        crate::vm::Iter::of(&self.0).unwrap_or_default()
    }
}

impl FromValue for Iterable {
    fn from_value(value: &Value) -> Result<Iterable, String> {
        if value.is_iterable() { Ok(Iterable(value.clone())) } else { Err(unlike(value, "iterable")) }
    }
}

#[cold]
fn unlike(value: &Value, wanted: &str) -> String {
    format!("got {}, want {wanted}", value.type_name())
}
