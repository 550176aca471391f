//! Types of expressions, and the binding of type parameters in signatures.
//!
//! A signature is text, which `Type::read` parses; `Bindings` then finds the meaning of each type
//! parameter in a call. `dyn` fits everything: what it contains is known only during evaluation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A type.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Type {
    /// Known only during evaluation.
    Dyn,
    /// `null`.
    Null,
    /// A boolean.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A float.
    Double,
    /// A text.
    String,
    /// Bytes.
    Bytes,
    /// A point in time.
    Timestamp,
    /// A length of time.
    Duration,
    /// A list.
    List(Arc<Type>),
    /// A map.
    Map(Arc<Type>, Arc<Type>),
    /// An object with declared fields.
    Object(Arc<ObjectType>),
    /// A value or nothing.
    Optional(Arc<Type>),
    /// A type as a value.
    Type,
    /// A type of Kubernetes: `url`, `quantity`.
    Opaque(&'static str),
    /// A type parameter in a signature.
    Param(char),
}

/// An object with declared fields.
#[derive(Debug, Default)]
pub struct ObjectType {
    /// For messages.
    pub name: String,
    /// The types of its fields, by the names that expressions use.
    pub fields: BTreeMap<String, Type>,
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &ObjectType) -> bool {
        std::ptr::eq(self, other) || (self.name == other.name && self.fields == other.fields)
    }
}

impl Type {
    /// A list of this type.
    pub fn list(of: Type) -> Type {
        Type::List(Arc::new(of))
    }

    /// A map of these types.
    pub fn map(keys: Type, values: Type) -> Type {
        Type::Map(Arc::new(keys), Arc::new(values))
    }

    /// Parses a type at the start of a signature's text.
    pub(crate) fn read(text: &mut &'static str) -> Type {
        let end = text.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        *text = rest;
        let inner = |text: &mut &'static str, open: char| -> Type {
            *text = text.strip_prefix(open).expect("a signature is well-formed");
            Type::read(text)
        };
        match word {
            "dyn" => Type::Dyn,
            "null" => Type::Null,
            "bool" => Type::Bool,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "double" => Type::Double,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            "timestamp" => Type::Timestamp,
            "duration" => Type::Duration,
            "type" => Type::Type,
            "list" | "optional" => {
                let of = Arc::new(inner(text, '<'));
                *text = text.strip_prefix('>').expect("a signature is well-formed");
                if word == "list" { Type::List(of) } else { Type::Optional(of) }
            }
            "map" => {
                let key = inner(text, '<');
                let value = inner(text, ',');
                *text = text.strip_prefix('>').expect("a signature is well-formed");
                Type::map(key, value)
            }
            "A" | "B" => Type::Param(word.as_bytes()[0] as char),
            opaque => Type::Opaque(opaque),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => f.write_str("dyn"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Duration => f.write_str("duration"),
            Type::List(of) => write!(f, "list({of})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Object(object) => f.write_str(&object.name),
            Type::Optional(of) => write!(f, "optional({of})"),
            Type::Type => f.write_str("type"),
            Type::Opaque(name) => f.write_str(name),
            Type::Param(name) => write!(f, "{name}"),
        }
    }
}

/// The types bound to the parameters of a signature.
#[derive(Default, Clone)]
pub(crate) struct Bindings(Vec<(char, Type)>);

impl Bindings {
    /// Whether a value of type `actual` can be passed for `formal`.
    pub fn unify(&mut self, formal: &Type, actual: &Type) -> bool {
        match (formal, actual) {
            (Type::Param(name), _) => match self.0.iter().position(|(other, _)| other == name) {
                None => {
                    self.0.push((*name, actual.clone()));
                    true
                }
                Some(at) => {
                    let bound = self.0[at].1.clone();
                    if bound == Type::Dyn || bound == Type::Null {
                        // Keep the more specific type.
                        if self.joined(&bound, actual) {
                            self.0[at].1 = actual.clone();
                            return true;
                        }
                        return false;
                    }
                    self.joined(&bound, actual)
                }
            },
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.unify(a, b),
            (Type::Map(ka, va), Type::Map(kb, vb)) => self.unify(ka, kb) && self.unify(va, vb),
            // For functions with map parameters, an object is a map of its fields.
            (Type::Object(a), Type::Object(b)) => a == b,
            (formal, Type::Null) | (Type::Null, formal) => is_nullable(formal),
            (a, b) => a == b,
        }
    }

    /// Whether two actual types are compatible.
    fn joined(&mut self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.joined(a, b),
            (Type::Map(ka, va), Type::Map(kb, vb)) => self.joined(ka, kb) && self.joined(va, vb),
            (a, b) => a == b,
        }
    }

    /// The type with parameters replaced; unbound ones become `dyn`.
    pub fn apply(&self, of: &Type) -> Type {
        match of {
            Type::Param(name) => {
                self.0.iter().find(|(other, _)| other == name).map_or(Type::Dyn, |(_, bound)| bound.clone())
            }
            Type::List(of) => Type::list(self.apply(of)),
            Type::Optional(of) => Type::Optional(Arc::new(self.apply(of))),
            Type::Map(key, value) => Type::map(self.apply(key), self.apply(value)),
            other => other.clone(),
        }
    }
}

/// Types that `null` can be compared with.
fn is_nullable(of: &Type) -> bool {
    matches!(
        of,
        Type::Null
            | Type::Dyn
            | Type::Timestamp
            | Type::Duration
            | Type::Object(_)
            | Type::Opaque(_)
            | Type::Optional(_)
    )
}

/// Whether two types are compatible as branches of a condition or items of a list.
pub(crate) fn can_meet(a: &Type, b: &Type) -> bool {
    Bindings::default().joined(a, b)
}
