//! The text of a message, with its values and positions kept apart.
//!
//! Code that reports a problem does not format positions or values. It builds a list of [`Piece`]s,
//! and the renderer decides how to name a position. A value of user data is a separate piece, so
//! that a secret can be replaced without searching for its text.

use std::borrow::Cow;

use crate::{Pos, Secrets, Sources};

/// One part of a [`Text`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Piece {
    /// Our own words, or names that the user chose.
    Words(Cow<'static, str>),
    /// A value of user data.
    Value(String),
    /// A position: `config/a.yml:3`.
    Place(Pos),
    /// Several positions, sorted by their names.
    Places(Vec<Pos>),
}

/// A text for messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Text(Vec<Piece>);

/// How positions in texts are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PlaceNames {
    /// As ytt names them: some sources have no name there.
    Reference,
    /// So that a reader can open the file.
    Full,
}

impl Text {
    /// A text that consists of these words.
    pub fn new(words: impl Into<Cow<'static, str>>) -> Text {
        Text(vec![Piece::Words(words.into())])
    }

    /// A text that consists of a value of user data.
    pub fn of_value(value: impl Into<String>) -> Text {
        Text(vec![Piece::Value(value.into())])
    }

    /// Appends words.
    #[must_use]
    pub fn then(mut self, words: impl Into<Cow<'static, str>>) -> Text {
        self.0.push(Piece::Words(words.into()));
        self
    }

    /// Appends a value of user data.
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Text {
        self.0.push(Piece::Value(value.into()));
        self
    }

    /// Appends a position.
    #[must_use]
    pub fn at(mut self, pos: Pos) -> Text {
        self.0.push(Piece::Place(pos));
        self
    }

    /// Appends several positions.
    #[must_use]
    pub fn at_all(mut self, places: Vec<Pos>) -> Text {
        self.0.push(Piece::Places(places));
        self
    }

    /// Appends another text.
    #[must_use]
    pub fn join(mut self, other: Text) -> Text {
        self.0.extend(other.0);
        self
    }

    /// The pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| match piece {
            Piece::Words(words) => words.is_empty(),
            Piece::Value(value) => value.is_empty(),
            Piece::Place(_) | Piece::Places(_) => false,
        })
    }

    /// Writes the text.
    pub fn write(&self, out: &mut String, sources: &Sources, names: PlaceNames) {
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => push_cut(out, words, MAX_PIECE),
                Piece::Value(value) => push_cut(out, value, MAX_PIECE),
                Piece::Place(pos) => out.push_str(&sources.locate_as(*pos, names)),
                Piece::Places(places) => {
                    let mut shown: Vec<String> = places.iter().map(|pos| sources.locate_as(*pos, names)).collect();
                    shown.sort();
                    out.push_str(&shown.join(", "));
                }
            }
        }
    }

    /// Changes all positions.
    pub(crate) fn relocate(&mut self, place: &dyn Fn(Pos) -> Pos) {
        for piece in &mut self.0 {
            match piece {
                Piece::Place(pos) => *pos = place(*pos),
                Piece::Places(places) => places.iter_mut().for_each(|pos| *pos = place(*pos)),
                Piece::Words(_) | Piece::Value(_) => {}
            }
        }
    }

    /// The text as a string.
    pub fn shown(&self, sources: &Sources, names: PlaceNames) -> String {
        let mut out = String::new();
        self.write(&mut out, sources, names);
        out
    }

    /// The text without names of sources, for texts without positions.
    pub fn plain(&self) -> Cow<'_, str> {
        match &self.0[..] {
            [] => "".into(),
            [Piece::Words(words)] if words.len() <= MAX_PIECE => (**words).into(),
            [Piece::Value(value)] if value.len() <= MAX_PIECE => (**value).into(),
            pieces => {
                let mut out = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Words(words) => push_cut(&mut out, words, MAX_PIECE),
                        Piece::Value(value) => push_cut(&mut out, value, MAX_PIECE),
                        Piece::Place(_) | Piece::Places(_) => out.push('?'),
                    }
                }
                out.into()
            }
        }
    }

    /// Replaces secrets.
    pub fn hide(&mut self, secrets: &Secrets) {
        for piece in &mut self.0 {
            match piece {
                Piece::Words(words) => {
                    if let Some(hidden) = secrets.hidden(words) {
                        *words = hidden.into();
                    }
                }
                Piece::Value(value) => {
                    if let Some(hidden) = secrets.hidden_value(value) {
                        *value = hidden;
                    }
                }
                Piece::Place(_) | Piece::Places(_) => {}
            }
        }
    }
}

/// Maximum bytes of a text or a value in a message.
const MAX_PIECE: usize = 64 << 10;

/// Appends a text. A long one is cut, and the number of omitted bytes is added.
pub(crate) fn push_cut(out: &mut String, text: &str, max: usize) {
    if text.len() <= max {
        out.push_str(text);
        return;
    }
    let end = (0..=max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    out.push_str(&text[..end]);
    out.push_str(&format!("… ({} bytes more)", text.len() - end));
}

impl From<String> for Text {
    fn from(words: String) -> Text {
        Text::new(words)
    }
}

impl From<&'static str> for Text {
    fn from(words: &'static str) -> Text {
        Text::new(words)
    }
}

impl From<Cow<'static, str>> for Text {
    fn from(words: Cow<'static, str>) -> Text {
        Text::new(words)
    }
}
