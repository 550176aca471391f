//! Data of a project file, with positions.

use ytterby_diag::{Diagnostic, Id, Label, Part, Pos, Role, Text};

/// A value with its position.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// The start of the item that contains it: its key, its `-`, or the `[` or `,` before it.
    pub pos: Pos,
}

/// A value of any type.
pub type PlacedData = Placed<Data>;

/// The content of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// A leaf.
    Scalar(DataScalar),
    /// Items in their order.
    List(Vec<PlacedData>),
    /// Keys and values in order, without duplicate keys.
    Map(Vec<(DataScalar, PlacedData)>),
}

/// A leaf, or a key of a map.
#[derive(Clone, PartialEq, Debug)]
pub enum DataScalar {
    /// Null or absent.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above [`i64::MAX`].
    UInt(u64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
}

impl Data {
    /// Its type, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Scalar(DataScalar::Null) => "nothing",
            Data::Scalar(DataScalar::Bool(_)) => "a boolean",
            Data::Scalar(DataScalar::Int(_) | DataScalar::UInt(_)) => "an integer",
            Data::Scalar(DataScalar::Float(_)) => "a number",
            Data::Scalar(DataScalar::Text(_)) => "a string",
            Data::List(_) => "a list",
            Data::Map(_) => "a map",
        }
    }
}

impl<T> Placed<T> {
    /// A value at a position.
    pub fn new(value: T, pos: Pos) -> Placed<T> {
        Placed { value, pos }
    }

    /// A problem about it.
    pub fn problem(&self, id: Id, message: impl Into<String>, hint: Option<String>) -> Diagnostic {
        problem(id, message, self.pos, Part::Value, hint)
    }
}

/// A problem at a position. ytt has no such problem, so the text rendering includes position and
/// hint.
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
