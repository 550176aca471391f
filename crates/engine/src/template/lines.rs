//! Which line of the user's file a message shows for a place in a template's program.
//!
//! In YAML and Starlark files that is the line that the place is on. In text templates it is the piece of code or text.
//! Some lines of the reference's generated code stand for nothing in the source; its messages show the generated line
//! between the nearest lines that do. Such places have offsets from [`GENERATED`] on.

use std::ops::Range;

use ytterby_diag::{FileId, Pos, Sources};

/// Offsets from here on are numbers of generated lines. No source is that long.
const GENERATED: u32 = 0xc000_0000;

/// How the lines of one source are shown.
#[derive(Debug, Default)]
pub(crate) struct FileLines {
    style: Style,
    /// Of text templates: the pieces in order.
    pieces: Vec<ShownPiece>,
    generated: Vec<Generated>,
}

/// A line that a message shows for a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShownLine {
    /// As the reference has it.
    pub text: String,
    /// What says more.
    pub full: Option<String>,
}

impl ShownLine {
    pub fn plain(text: String) -> ShownLine {
        ShownLine { text, full: None }
    }

    /// What says the most.
    pub fn full(&self) -> &str {
        self.full.as_ref().unwrap_or(&self.text)
    }
}

/// How positions and lines are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Style {
    /// `file:3 | whole line`.
    #[default]
    Yaml,
    /// `3 | whole line`, as the reference has it for Starlark files.
    Starlark,
    /// `file:3 | piece of code`.
    Text,
}

/// A piece of a text template: where it begins, and what is shown of it.
#[derive(Debug)]
struct ShownPiece {
    start: u32,
    shown: Range<u32>,
}

#[derive(Debug)]
struct Generated {
    text: String,
    before: Option<Pos>,
    after: Option<Pos>,
}

impl FileLines {
    pub fn new(style: Style) -> FileLines {
        FileLines { style, ..FileLines::default() }
    }

    /// Takes in a piece of a text template.
    pub fn add_piece(&mut self, start: u32, end: u32) {
        self.add_piece_without(0, start, end);
    }

    /// Takes in a piece of a text template of which the first bytes are not shown.
    pub fn add_piece_without(&mut self, hidden: u32, start: u32, end: u32) {
        self.pieces.push(ShownPiece { start, shown: start + hidden..end });
    }

    /// Takes over the pieces of other lines.
    pub fn take_pieces(&mut self, other: FileLines) {
        self.pieces.extend(other.pieces);
    }

    /// A place for a line that the reference generates, behind the place `before`.
    pub fn add_generated(&mut self, file: FileId, text: impl Into<String>, before: Option<Pos>) -> Pos {
        self.generated.push(Generated { text: text.into(), before, after: None });
        Pos::new(file, GENERATED + self.generated.len() as u32 - 1)
    }

    /// The next line that stands for something in the source; it follows the generated lines added since the last call.
    pub fn continue_at(&mut self, pos: Pos) {
        for line in self.generated.iter_mut().rev().take_while(|line| line.after.is_none()) {
            line.after = Some(pos);
        }
    }

    /// The lines that messages show for a place, without indentation.
    pub fn show(&self, pos: Pos, sources: &Sources) -> Vec<ShownLine> {
        let Some(generated) = self.generated(pos) else {
            return self.source_line(pos, sources).into_iter().collect();
        };
        let name = sources.get(pos.file).map(|source| source.name().to_owned()).unwrap_or_default();
        let mut lines = Vec::new();
        lines.extend(generated.before.and_then(|before| self.source_line(before, sources)));
        lines.push(ShownLine::plain(format!("{name}:? | {} (generated)", generated.text)));
        lines.extend(generated.after.and_then(|after| self.source_line(after, sources)));
        lines
    }

    /// The place of the source that a place stands for.
    pub fn source_place(&self, pos: Pos) -> Pos {
        self.generated(pos).and_then(|generated| generated.before.or(generated.after)).unwrap_or(pos)
    }

    fn generated(&self, pos: Pos) -> Option<&Generated> {
        pos.offset.checked_sub(GENERATED).and_then(|at| self.generated.get(at as usize))
    }

    fn source_line(&self, pos: Pos, sources: &Sources) -> Option<ShownLine> {
        let source = sources.get(pos.file)?;
        let line = source.line(pos.offset);
        Some(ShownLine::plain(match self.style {
            Style::Yaml => format!("{}:{line} | {}", source.name(), sources.line_text(pos)?),
            Style::Starlark => {
                let text = format!("{line} | {}", sources.line_text(pos)?);
                let full = format!("{}:{text}", source.name());
                return Some(ShownLine { text, full: Some(full) });
            }
            Style::Text => {
                let at = self.pieces.partition_point(|piece| piece.start <= pos.offset).checked_sub(1)?;
                let ShownPiece { start, shown } = &self.pieces[at];
                let text = source.text().get(shown.start as usize..shown.end as usize)?;
                format!("{}:{} | {}", source.name(), source.line(*start), String::from_utf8_lossy(text))
            }
        }))
    }
}
