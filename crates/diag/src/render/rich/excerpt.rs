//! Excerpts of the sources: which lines are shown, and how they are underlined.
//!
//! Labels are grouped by source, that of the problem first, and drawn in the order of their lines.
//! Each label has a separate underline, so that any number of them fits below a line without
//! crossing. A range over several lines is drawn with a bar at its left.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::canvas::{Canvas, TextStyle, wrap};
use super::line::{ShownLine, clean};
use super::names;
use crate::diagnostic::one_line;
use crate::render::resolved::{Resolved, ResolvedLabel};
use crate::{FileId, Role, Source, Sources};

/// Maximum number of candidates.
const MAX_CANDIDATES: usize = 3;

/// Maximum number of labels.
const MAX_LABELS: usize = 8;

/// Lines shown at the beginning of a longer range.
const FIRST_LINES: u32 = 2;

/// Minimum columns of a text below its underline.
const LABEL_COLUMNS: usize = 40;

/// Draws the labels of a problem. Returns the number of omitted ones.
pub(super) fn draw(canvas: &mut Canvas, problem: &Resolved, style: TextStyle, sources: &Sources) -> usize {
    let labels = chosen(&problem.labels);
    let mut files: Vec<FileId> = Vec::new();
    for label in &labels {
        if !files.contains(&label.range.span.file) {
            files.push(label.range.span.file);
        }
    }
    for (number, file) in files.iter().enumerate() {
        let of_file = labels.iter().copied().filter(|label| label.range.span.file == *file);
        let (Some(source), Some(first)) = (sources.get(*file), of_file.clone().next()) else { continue };
        if number > 0 {
            canvas.ruler();
        }
        canvas.place(if number == 0 { "-->" } else { ":::" }, &names::place(&first.range, sources));
        canvas.ruler();
        let is_problem = |label: &ResolvedLabel| std::ptr::eq(label, &problem.labels[0]);
        let marks =
            of_file.map(|label| Mark::new(label, if is_problem(label) { style } else { TextStyle::Ruler }, &source));
        Section::new(&source, marks.collect()).draw(canvas);
    }
    problem.labels.len() - labels.len()
}

/// The labels to show: only the nearest candidates, and each position once.
fn chosen(labels: &[ResolvedLabel]) -> Vec<&ResolvedLabel> {
    let mut candidates = 0;
    let mut found: Vec<&ResolvedLabel> = Vec::new();
    for label in labels {
        candidates += usize::from(label.role == Role::Candidate);
        let is_surplus = label.role == Role::Candidate && candidates > MAX_CANDIDATES;
        if !is_surplus && found.len() < MAX_LABELS {
            found.push(label);
        }
    }
    found
}

/// A label in one source, as lines and bytes.
struct Mark {
    lines: Range<u32>,
    bytes: Range<usize>,
    style: TextStyle,
    text: String,
}

impl Mark {
    fn new(label: &ResolvedLabel, style: TextStyle, source: &Source) -> Mark {
        let range = &label.range;
        let bytes = range.span.start as usize..range.span.end as usize;
        // A range that ends with a line feed ends on the line before it.
        let last = match range.end.column {
            1 if range.end.line > range.start.line => range.end.line - 1,
            _ => range.end.line,
        };
        let mut mark = Mark { lines: range.start.line..last + 1, bytes, style, text: clean(&one_line(&label.text)) };
        if let (true, Some(line)) = (mark.is_long(), source.line_range(last)) {
            mark.bytes.end = mark.bytes.end.min(line.end);
        }
        mark
    }

    fn is_long(&self) -> bool {
        self.lines.len() > 1
    }

    fn last_line(&self) -> u32 {
        self.lines.end - 1
    }

    fn sign(&self) -> &'static str {
        if self.style == TextStyle::Ruler { "-" } else { "^" }
    }
}

/// The excerpt of one source.
struct Section<'a> {
    source: &'a Source,
    /// The marks within one line, in order.
    marks: Vec<Mark>,
    /// The mark with a bar at its left.
    long: Option<Mark>,
}

impl<'a> Section<'a> {
    fn new(source: &'a Source, marks: Vec<Mark>) -> Section<'a> {
        let (long, mut marks): (Vec<Mark>, Vec<Mark>) = marks.into_iter().partition(Mark::is_long);
        let mut long = long.into_iter();
        let first = long.next();
        // Bars would cross: of further ranges over several lines, only the first line is
        // underlined.
        for mut mark in long {
            let end = source.line_range(mark.lines.start).map_or(mark.bytes.start, |line| line.end);
            mark.lines.end = mark.lines.start + 1;
            mark.bytes.end = end;
            marks.push(mark);
        }
        marks.sort_by_key(|mark| mark.lines.start);
        Section { source, marks, long: first }
    }

    fn draw(&self, canvas: &mut Canvas) {
        let mut previous: Option<u32> = None;
        for line in self.lines() {
            match previous.map(|previous| line - previous) {
                Some(2) => self.draw_line(canvas, line - 1),
                Some(3..) => canvas.gap(self.bar_style(), self.bar(line - 1)),
                _ => {}
            }
            self.draw_line(canvas, line);
            previous = Some(line);
        }
    }

    /// The lines to show, in order.
    fn lines(&self) -> Vec<u32> {
        let mut lines: Vec<u32> = self.marks.iter().map(|mark| mark.lines.start).collect();
        if let Some(long) = &self.long {
            lines.extend(long.lines.clone().take(FIRST_LINES as usize));
            lines.push(long.last_line());
        }
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// A line and the marks below it. If a cut line does not show all marks, it is drawn again for
    /// the rest.
    fn draw_line(&self, canvas: &mut Canvas, line: u32) {
        let bar = self.bar(line);
        let columns = canvas.columns() - if self.long.is_some() { 2 } else { 0 };
        let mut marks: Vec<&Mark> = self.marks.iter().filter(|mark| mark.lines.start == line).collect();
        loop {
            let focus = marks.first().map(|mark| mark.bytes.clone()).or_else(|| self.focus(line)).unwrap_or(0..0);
            let Some(shown) = ShownLine::of_source(self.source, line, &focus, columns) else { return };
            canvas.numbered(line, '|', &[(self.bar_style(), bar), (TextStyle::Plain, &shown.text)]);
            // The line was cut around the first mark.
            let is_visible = |(number, mark): &(usize, &Mark)| *number == 0 || shown.shows(&mark.bytes);
            let (visible, others): (Vec<_>, Vec<_>) = marks.into_iter().enumerate().partition(is_visible);
            for (_, mark) in visible {
                self.underline(canvas, mark, &shown.columns(&mark.bytes), bar);
            }
            self.draw_corner(canvas, line, &shown);
            marks = others.into_iter().map(|(_, mark)| mark).collect();
            if marks.is_empty() {
                return;
            }
        }
    }

    /// The relevant bytes of the long range on a line.
    fn focus(&self, line: u32) -> Option<Range<usize>> {
        let long = self.long.as_ref()?;
        if line == long.last_line() {
            Some(long.bytes.end..long.bytes.end)
        } else {
            Some(long.bytes.start..long.bytes.start)
        }
    }

    /// The bar at the left of a line.
    fn bar(&self, line: u32) -> &'static str {
        match &self.long {
            Some(long) if long.lines.contains(&line) && line != long.lines.start => "| ",
            Some(_) => "  ",
            None => "",
        }
    }

    fn bar_style(&self) -> TextStyle {
        self.long.as_ref().map_or(TextStyle::Plain, |long| long.style)
    }

    /// The beginning or the end of the bar.
    fn draw_corner(&self, canvas: &mut Canvas, line: u32, shown: &ShownLine) {
        let Some(long) = &self.long else { return };
        if line == long.lines.start {
            let column = shown.columns(&(long.bytes.start..long.bytes.start + 1)).start;
            canvas.row(&[(long.style, &format!(" {}{}", "_".repeat(column + 1), long.sign()))]);
        } else if line == long.last_line() {
            let column = shown.columns(&(long.bytes.end.saturating_sub(1)..long.bytes.end)).end;
            let corner = format!("|{}{}", "_".repeat(column), long.sign());
            self.draw_mark(canvas, "", &corner, 0, long);
        }
    }

    fn underline(&self, canvas: &mut Canvas, mark: &Mark, columns: &Range<usize>, bar: &str) {
        let start = columns.start;
        let line = format!("{:start$}{}", "", mark.sign().repeat(columns.len()));
        self.draw_mark(canvas, bar, &line, start, mark);
    }

    /// The underline of a mark and its text: beside it if that fits, otherwise below.
    fn draw_mark(&self, canvas: &mut Canvas, bar: &str, line: &str, start: usize, mark: &Mark) {
        let room = canvas.label_columns() - bar.len();
        let mut row = |text: &str| canvas.row(&[(self.bar_style(), bar), (mark.style, text)]);
        if line.len() + 1 + mark.text.width() <= room {
            row(&format!("{line} {}", mark.text));
            return;
        }
        row(line);
        // A text needs a minimum of space, so far at the right it begins further left.
        let indent = start.min(room.saturating_sub(mark.text.width().min(LABEL_COLUMNS)));
        for words in wrap(&mark.text, room - indent) {
            row(&format!("{:indent$}{words}", ""));
        }
    }
}
