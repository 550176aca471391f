//! Typed scalars: what a leaf of a YAML tree holds, and what every map key is.

use std::sync::Arc;

use ytterby_text::Str;

/// A YAML scalar after its type has been found out. 24 bytes, cheap to clone.
#[derive(Clone, Debug, Default)]
pub enum Scalar {
    /// `null`, `~`, or nothing at all.
    #[default]
    Null,
    /// `true`, `no`, `On`: the booleans of YAML 1.1.
    Bool(bool),
    /// Any whole number that fits.
    Int(i64),
    /// A whole number above [`i64::MAX`]; never one that [`Scalar::Int`] could hold.
    UInt(u64),
    /// `1.5`, `1e3`, `.inf`, `.nan`.
    Float(f64),
    /// Everything else. Bytes that are not UTF-8 come from `!!binary` only.
    Str(Str),
    /// A map or an array as a key of a map: `? {a: 1}`. Leaves of a tree are never one.
    Complex(Arc<ComplexKey>),
}

/// A map or an array that is a key. What is in it is [`Scalar::Complex`] where it is a collection.
#[derive(Clone, PartialEq, Debug)]
pub enum ComplexKey {
    /// Keys and values, in order.
    Map(Vec<(Scalar, Scalar)>),
    /// Items, and the line of each as the reference counts it: its output shows it.
    Array(Vec<(Scalar, u32)>),
}

impl ComplexKey {
    /// Whether nothing is in it.
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

/// Equality of map keys: of one type and with one value. `1`, `1.0` and `"1"` are three keys, `0x10` and `16` one.
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
