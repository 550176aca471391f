//! The source lines that ytt's text shows for a position in a template's program.
//!
//! In YAML and Starlark files that is the line of the position, in text templates the piece of code
//! or text. ytt compiles templates to generated code, and some generated lines have no counterpart
//! in the source. Its messages show such a line between the nearest lines that have one. Positions
//! of generated lines have offsets from [`GENERATED`] on. Other renderings use
//! [`Listing::source_place`] and the source itself.

use std::ops::Range;

use crate::{FileId, Pos, Source};

/// Offsets from here on are numbers of generated lines. No source is that long.
const GENERATED: u32 = 0xc000_0000;

/// How ytt's text lists the lines of one source.
#[derive(Debug, Default)]
pub struct Listing {
    style: ListingStyle,
    /// For text templates: the pieces in order.
    pieces: Vec<ListedPiece>,
    generated: Vec<Generated>,
}

/// How positions and lines are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum ListingStyle {
    /// `file:3 | whole line`.
    #[default]
    Yaml,
    /// `3 | whole line`, as ytt writes it for Starlark files.
    Starlark,
    /// `file:3 | piece of code`.
    Text,
}

/// A piece of a text template: where it begins, and which part is shown.
#[derive(Debug)]
struct ListedPiece {
    start: u32,
    shown: Range<u32>,
}

#[derive(Debug)]
struct Generated {
    text: String,
    before: Option<Pos>,
    after: Option<Pos>,
}

impl Listing {
    /// A listing in this style.
    pub fn new(style: ListingStyle) -> Listing {
        Listing { style, ..Listing::default() }
    }

    /// Adds a piece of a text template.
    pub fn add_piece(&mut self, start: u32, end: u32) {
        self.add_piece_without(0, start, end);
    }

    /// Adds a piece of a text template whose first bytes are hidden.
    pub fn add_piece_without(&mut self, hidden: u32, start: u32, end: u32) {
        self.pieces.push(ListedPiece { start, shown: start + hidden..end });
    }

    /// Moves the pieces of another listing here.
    pub fn take_pieces(&mut self, other: Listing) {
        self.pieces.extend(other.pieces);
    }

    /// Adds a line that ytt generates after the position `before`, and returns a position for it.
    pub fn add_generated(&mut self, file: FileId, text: impl Into<String>, before: Option<Pos>) -> Pos {
        self.generated.push(Generated { text: text.into(), before, after: None });
        Pos::new(file, GENERATED + self.generated.len() as u32 - 1)
    }

    /// Adds the next line that exists in the source: it follows the generated lines added since the
    /// last call.
    pub fn continue_at(&mut self, pos: Pos) {
        for line in self.generated.iter_mut().rev().take_while(|line| line.after.is_none()) {
            line.after = Some(pos);
        }
    }

    /// The source position for a position in the program.
    pub fn source_place(&self, pos: Pos) -> Pos {
        self.generated(pos).and_then(|generated| generated.before.or(generated.after)).unwrap_or(pos)
    }

    /// The lines that ytt's text shows for a position, without indentation.
    pub(crate) fn lines(&self, pos: Pos, source: &Source) -> Vec<String> {
        let Some(generated) = self.generated(pos) else {
            return self.source_line(pos, source).into_iter().collect();
        };
        let mut lines = Vec::new();
        lines.extend(generated.before.and_then(|before| self.source_line(before, source)));
        lines.push(format!("{}:? | {} (generated)", source.name(), generated.text));
        lines.extend(generated.after.and_then(|after| self.source_line(after, source)));
        lines
    }

    fn generated(&self, pos: Pos) -> Option<&Generated> {
        pos.offset.checked_sub(GENERATED).and_then(|at| self.generated.get(at as usize))
    }

    fn source_line(&self, pos: Pos, source: &Source) -> Option<String> {
        let line = source.line(pos.offset);
        Some(match self.style {
            ListingStyle::Yaml => format!("{}:{line} | {}", source.name(), source.shown_line(line)?),
            ListingStyle::Starlark => format!("{line} | {}", source.shown_line(line)?),
            ListingStyle::Text => {
                let at = self.pieces.partition_point(|piece| piece.start <= pos.offset).checked_sub(1)?;
                let ListedPiece { start, shown } = &self.pieces[at];
                let range = shown.start as usize..(shown.end as usize).min(source.text().len());
                format!("{}:{} | {}", source.name(), source.line(*start), source.shown(range))
            }
        })
    }
}
