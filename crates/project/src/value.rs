//! Data of a project file, with places.

use ytterby_diag::{Diagnostic, Id, Label, Part, Pos, Role, Text};

/// Something that was read at a place.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed<T> {
    /// What was read.
    pub value: T,
    /// Where the item that contains it begins: its key, its `-`, or the `[` or `,` before it.
    pub pos: Pos,
}

/// A value of any type.
pub type Value = Placed<Data>;

/// The content of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// A leaf.
    Scalar(Scalar),
    /// Items in their order.
    List(Vec<Value>),
    /// Keys and values in their order; no key is there twice.
    Map(Vec<(Scalar, Value)>),
}

/// A leaf, or a key of a map.
#[derive(Clone, PartialEq, Debug)]
pub enum Scalar {
    /// Null, or nothing at all.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above [`i64::MAX`].
    UInt(u64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
}

impl Data {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Scalar(Scalar::Null) => "nothing",
            Data::Scalar(Scalar::Bool(_)) => "a boolean",
            Data::Scalar(Scalar::Int(_) | Scalar::UInt(_)) => "an integer",
            Data::Scalar(Scalar::Float(_)) => "a number",
            Data::Scalar(Scalar::Text(_)) => "a string",
            Data::List(_) => "a list",
            Data::Map(_) => "a map",
        }
    }
}

impl<T> Placed<T> {
    /// Something at a place.
    pub fn new(value: T, pos: Pos) -> Placed<T> {
        Placed { value, pos }
    }

    /// A problem with it.
    pub fn problem(&self, id: Id, message: impl Into<String>, hint: Option<String>) -> Diagnostic {
        problem(id, message, self.pos, Part::Value, hint)
    }
}

/// A problem at a place. ytt has no words for it, so the text rendering gets the place and the advice, too.
pub(crate) fn problem(id: Id, message: impl Into<String>, pos: Pos, part: Part, hint: Option<String>) -> Diagnostic {
    let message = message.into();
    let mut text = Text::new(message.clone());
    if pos.is_known() {
        text = text.then(" (").at(pos).then(")");
    }
    if let Some(hint) = &hint {
        text = text.then(format!("\n    hint: {hint}"));
    }
    let mut problem = Diagnostic::error(id, message).reference(text).label(Label::new(Role::Problem, pos, part));
    if let Some(hint) = hint {
        problem = problem.help(hint);
    }
    problem
}
