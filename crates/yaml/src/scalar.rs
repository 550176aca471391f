//! Typed scalars: what a leaf of a YAML tree holds, and what every map key is.

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
