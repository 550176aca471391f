//! A text under construction: the pieces of a text template, joined.

use ytterby_text::{Str, budget};

use super::build::Result;

/// Longer pieces are charged before they are copied.
const LONG: usize = 4096;

/// The room for a text of several pieces: most texts of functions have some lines.
const SOME_LINES: usize = 256;

/// The pieces of a text so far. A long one that stays alone, like a file without code, is not
/// copied.
#[derive(Default)]
pub(super) struct WholeText {
    alone: Str,
    joined: Vec<u8>,
}

impl WholeText {
    /// Adds a piece.
    #[inline]
    pub fn add(&mut self, piece: &Str) -> Result<()> {
        if piece.len() > LONG || !self.alone.is_empty() {
            return self.add_long(piece);
        }
        if self.joined.capacity() == 0 {
            self.joined.reserve(SOME_LINES);
        }
        self.joined.extend_from_slice(piece);
        Ok(())
    }

    #[cold]
    fn add_long(&mut self, piece: &Str) -> Result<()> {
        if piece.len() > LONG {
            budget::text(piece.len()).map_err(|exceeded| exceeded.to_string())?;
            if self.joined.is_empty() && self.alone.is_empty() {
                self.alone = piece.clone();
                return Ok(());
            }
        }
        self.joined.extend_from_slice(&std::mem::replace(&mut self.alone, Str::EMPTY));
        self.joined.extend_from_slice(piece);
        Ok(())
    }

    /// The whole text.
    pub fn finish(mut self) -> Str {
        if self.joined.is_empty() {
            return self.alone;
        }
        if self.joined.len() < SOME_LINES / 2 {
            self.joined.shrink_to_fit();
        }
        Str::from(self.joined)
    }
}
