//! Functions of the language.

use ytterby_text::Str;

use crate::Value;
use crate::value::Method;

/// The value of a name that every program knows: `None`, `len` and so on.
pub fn universe(_name: &[u8]) -> Option<Value> {
    None
}

/// The method of a value of a built-in type.
pub(crate) fn method(_receiver: &Value, _name: &Str) -> Option<Method> {
    None
}

/// The names of all methods of a value of a built-in type.
pub(crate) fn method_names(_receiver: &Value) -> Vec<Str> {
    Vec::new()
}
