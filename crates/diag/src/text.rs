//! The words of a message, with its values and places kept apart.
//!
//! Code that reports a problem writes no `file:line` and no value into a string: it leaves [`Piece`]s, and the
//! renderer decides how a place is named. A value of user data is a piece of its own, so that a secret can be
//! replaced where it *is* the value, and not by searching for its text.

use std::borrow::Cow;

use crate::{Pos, Secrets, Sources};

/// One part of a [`Text`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Words of ours, or names that the user chose.
    Words(Cow<'static, str>),
    /// A value of user data.
    Value(String),
    /// A place: `config/a.yml:3` where a reader can use it.
    Place(Pos),
    /// Several places, in the order of their names.
    Places(Vec<Pos>),
}

/// A text for messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Text(Vec<Piece>);

/// How places in texts are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlaceNames {
    /// As ytt names them: some sources have no name there.
    Reference,
    /// So that a reader can open them.
    Full,
}

impl Text {
    /// A text of these words.
    pub fn new(words: impl Into<Cow<'static, str>>) -> Text {
        Text(vec![Piece::Words(words.into())])
    }

    /// A text that is a value of user data.
    pub fn of_value(value: impl Into<String>) -> Text {
        Text(vec![Piece::Value(value.into())])
    }

    /// The text followed by words.
    #[must_use]
    pub fn then(mut self, words: impl Into<Cow<'static, str>>) -> Text {
        self.0.push(Piece::Words(words.into()));
        self
    }

    /// The text followed by a value of user data.
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Text {
        self.0.push(Piece::Value(value.into()));
        self
    }

    /// The text followed by a place.
    #[must_use]
    pub fn at(mut self, pos: Pos) -> Text {
        self.0.push(Piece::Place(pos));
        self
    }

    /// The text followed by several places.
    #[must_use]
    pub fn at_all(mut self, places: Vec<Pos>) -> Text {
        self.0.push(Piece::Places(places));
        self
    }

    /// The text followed by another one.
    #[must_use]
    pub fn join(mut self, other: Text) -> Text {
        self.0.extend(other.0);
        self
    }

    /// The pieces in their order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// Whether there is nothing to read.
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

    /// Moves places.
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

    /// The text without the names of places, for texts that have none.
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

/// A message shows so many bytes of a text or a value; nobody reads more.
const MAX_PIECE: usize = 64 << 10;

/// Appends a text, or the beginning of a long one and how much of it is left out.
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
