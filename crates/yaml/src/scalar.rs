//! Typed scalars: the leaves of a YAML tree and the keys of its maps.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ytterby_text::Str;

/// A YAML scalar with its type resolved. 24 bytes, cheap to clone.
#[derive(Clone, Debug, Default)]
pub enum Scalar {
    /// `null`, `~`, or an empty text.
    #[default]
    Null,
    /// `true`, `no`, `On`: the booleans of YAML 1.1.
    Bool(bool),
    /// Any integer that fits.
    Int(i64),
    /// An integer above [`i64::MAX`]; smaller ones are always [`Scalar::Int`].
    UInt(u64),
    /// `1.5`, `1e3`, `.inf`, `.nan`.
    Float(f64),
    /// Everything else. Only `!!binary` produces bytes that are not UTF-8.
    Str(Str),
    /// A map or an array as a key of a map: `? {a: 1}`. Leaves of a tree are never complex.
    Complex(Arc<ComplexKey>),
}

/// A map or an array that is a key. Collections inside of it are [`Scalar::Complex`] too.
#[derive(Clone, PartialEq, Debug)]
pub enum ComplexKey {
    /// Keys and values, in order.
    Map(Vec<(Scalar, Scalar)>),
    /// Items, and the line of each as the reference counts it, because its output contains it.
    Array(Vec<(Scalar, u32)>),
}

impl ComplexKey {
    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            ComplexKey::Map(items) => items.is_empty(),
            ComplexKey::Array(items) => items.is_empty(),
        }
    }

    /// `map` or `array`.
    pub fn kind(&self) -> &'static str {
        match self {
            ComplexKey::Map(_) => "map",
            ComplexKey::Array(_) => "array",
        }
    }
}

impl Scalar {
    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&Str> {
        match self {
            Scalar::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Scalar::Null)
    }
}

/// Equality of map keys: same type and same value. `1`, `1.0` and `"1"` are three keys, `0x10` and
/// `16` are one.
impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::Null, Scalar::Null) => true,
            (Scalar::Bool(a), Scalar::Bool(b)) => a == b,
            (Scalar::Int(a), Scalar::Int(b)) => a == b,
            (Scalar::UInt(a), Scalar::UInt(b)) => a == b,
            (Scalar::Float(a), Scalar::Float(b)) => a == b,
            (Scalar::Str(a), Scalar::Str(b)) => a == b,
            (Scalar::Complex(a), Scalar::Complex(b)) => a == b,
            _ => false,
        }
    }
}

/// Equal keys hash alike.
impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Scalar::Null => 0u8.hash(state),
            Scalar::Bool(value) => value.hash(state),
            Scalar::Int(value) => value.hash(state),
            Scalar::UInt(value) => value.hash(state),
            // 0.0 and -0.0 are equal and so must hash alike.
            Scalar::Float(value) => (value + 0.0).to_bits().hash(state),
            Scalar::Str(value) => value.as_bytes().hash(state),
            Scalar::Complex(key) => match &**key {
                ComplexKey::Map(items) => items.hash(state),
                ComplexKey::Array(items) => items.hash(state),
            },
        }
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Scalar {
        Scalar::Str(Str::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_as_small_as_a_string() {
        assert_eq!(size_of::<Scalar>(), 24);
    }
}
