//! Shows a fix as the lines that it removes and adds, like a diff.

use std::ops::Range;

use super::canvas::{Canvas, TextStyle};
use super::line::ShownLine;
use crate::render::resolved::ResolvedFix;
use crate::{Source, Sources};

/// Maximum number of changed lines.
const MAX_LINES: usize = 6;

/// Maximum bytes of changed lines. A fix in longer lines is described by its text only.
const MAX_BYTES: usize = 4 * 1024;

/// Draws the changes of a fix: those in the source of its first edit.
pub(super) fn draw(canvas: &mut Canvas, fix: &ResolvedFix, sources: &Sources) {
    let Some((first, _)) = fix.edits.first() else { return };
    let Some(source) = sources.get(first.span.file) else { return };
    let mut edits: Vec<LineEdit<'_>> = Vec::new();
    for (range, replacement) in fix.edits.iter().filter(|(range, _)| range.span.file == first.span.file) {
        let bytes = range.span.start as usize..range.span.end as usize;
        edits.push(LineEdit { lines: range.start.line..range.end.line + 1, bytes, replacement });
    }
    edits.sort_by_key(|edit| (edit.bytes.start, edit.bytes.end));
    let same_lines = |one: &LineEdit<'_>, other: &LineEdit<'_>| other.lines.start < one.lines.end;
    let blocks: Vec<ChangedLines> =
        edits.chunk_by(same_lines).filter_map(|edits| ChangedLines::new(&source, edits)).collect();
    if blocks.is_empty() {
        return;
    }
    canvas.ruler();
    blocks.iter().for_each(|block| block.draw(canvas));
}

struct LineEdit<'a> {
    lines: Range<u32>,
    bytes: Range<usize>,
    replacement: &'a str,
}

/// Consecutive changed lines.
struct ChangedLines {
    /// The number of the first line.
    line: u32,
    old: Vec<String>,
    new: Vec<String>,
}

impl ChangedLines {
    fn new(source: &Source, edits: &[LineEdit<'_>]) -> Option<ChangedLines> {
        let line = edits.first()?.lines.start;
        let last = edits.iter().map(|edit| edit.lines.end).max()? - 1;
        let bytes = source.line_range(line)?.start..source.line_range(last)?.end;
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let mut new = String::new();
        let mut copied = bytes.start;
        for edit in edits {
            // Edits do not overlap; if they did, there would be nothing sensible to show.
            new.push_str(&source.shown(copied..edit.bytes.start.max(copied)));
            new.push_str(edit.replacement);
            copied = edit.bytes.end.max(copied);
        }
        new.push_str(&source.shown(copied..bytes.end));
        let lines = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<String>>();
        Some(ChangedLines { line, old: lines(&source.shown(bytes)), new: lines(&new) }.without_equal_lines())
    }

    /// Removes unchanged lines at the beginning and end.
    fn without_equal_lines(mut self) -> ChangedLines {
        let same = self.old.iter().zip(&self.new).take_while(|(old, new)| old == new).count();
        self.old.drain(..same);
        self.new.drain(..same);
        self.line += same as u32;
        let same = self.old.iter().rev().zip(self.new.iter().rev()).take_while(|(old, new)| old == new).count();
        self.old.truncate(self.old.len() - same);
        self.new.truncate(self.new.len() - same);
        self
    }

    fn draw(&self, canvas: &mut Canvas) {
        for (mark, style, lines) in [('-', TextStyle::Removed, &self.old), ('+', TextStyle::Added, &self.new)] {
            for (number, line) in lines.iter().take(MAX_LINES / 2).enumerate() {
                let shown = ShownLine::of_text(line.trim_end_matches('\r'), &self.change(line), canvas.columns());
                canvas.numbered(self.line + number as u32, mark, &[(style, &shown.text)]);
            }
            if lines.len() > MAX_LINES / 2 {
                canvas.gap(style, "");
            }
        }
    }

    /// The bytes around which a line is cut: from the first difference between old and new on.
    fn change(&self, line: &str) -> Range<usize> {
        let (Some(old), Some(new)) = (self.old.first(), self.new.first()) else { return 0..0 };
        let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
        same.min(line.len())..(same + 1).min(line.len())
    }
}
