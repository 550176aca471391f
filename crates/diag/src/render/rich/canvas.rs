//! Draws the lines of a problem: the margin with line numbers, wrapping, colours.
//!
//! The layout is the same with and without colours: a [`TextStyle`] only adds escapes.

use unicode_width::UnicodeWidthStr;

use super::line::clean;
use crate::render::{Colour, RichOptions};

/// Columns of a source line if the width of the terminal is unknown.
const DEFAULT_COLUMNS: usize = 140;

/// Excerpts adapt to widths in this range. Narrower terminals wrap, wider ones leave space at the
/// right.
const MIN_WIDTH: usize = 40;
const MAX_WIDTH: usize = 400;

/// The role of a piece of text, for its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextStyle {
    /// The word `error` and its underlines.
    Error,
    /// The word `warning` and its underlines.
    Warning,
    /// The message.
    Message,
    /// Line numbers, rulers, and underlines of other positions.
    Ruler,
    /// The word `note`.
    Note,
    /// The word `help`.
    Help,
    /// A line that a fix removes.
    Removed,
    /// A line that a fix adds.
    Added,
    /// Source text and words.
    Plain,
}

impl TextStyle {
    /// The parameters of the escape sequence. They use the terminal's palette, which its theme
    /// defines.
    fn escape(self) -> Option<&'static str> {
        match self {
            TextStyle::Error => Some("1;31"),
            TextStyle::Warning => Some("1;33"),
            TextStyle::Message | TextStyle::Note => Some("1"),
            TextStyle::Ruler => Some("1;34"),
            TextStyle::Help => Some("1;36"),
            TextStyle::Removed => Some("31"),
            TextStyle::Added => Some("32"),
            TextStyle::Plain => None,
        }
    }
}

/// The lines of one problem.
pub(super) struct Canvas {
    out: String,
    options: RichOptions,
    /// Columns of the line numbers.
    margin: usize,
}

impl Canvas {
    /// An empty canvas, with a margin wide enough for line number `last_line`.
    pub(super) fn new(options: RichOptions, last_line: u32) -> Canvas {
        let width = options.width.map(|width| width.clamp(MIN_WIDTH, MAX_WIDTH));
        let options = RichOptions { width, ..options };
        Canvas { out: String::new(), options, margin: last_line.to_string().len() }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Columns for source text after the margin. One stays free at the right, for a mark at the end
    /// of the line.
    pub(super) fn columns(&self) -> usize {
        self.options.width.map_or(DEFAULT_COLUMNS, |width| width - self.margin - " | ".len() - 1)
    }

    /// Columns for label texts after the margin; they are not wrapped if the width is unknown.
    pub(super) fn label_columns(&self) -> usize {
        self.options.width.map_or(usize::MAX, |_| self.columns())
    }

    /// Columns for texts if `taken` columns are used already.
    fn text_columns(&self, taken: usize) -> usize {
        self.options.width.map_or(usize::MAX, |width| width.saturating_sub(taken).max(MIN_WIDTH / 2))
    }

    /// `error[schema/type]: message`.
    pub(super) fn headline(&mut self, style: TextStyle, name: &str, message: &str) {
        const INDENT: usize = 2;
        let taken = name.width() + ": ".len();
        let lines = wrap_after(taken - INDENT, &clean(message), self.text_columns(INDENT));
        for (number, line) in lines.iter().enumerate() {
            if number == 0 {
                self.push(style, name);
                self.push(TextStyle::Message, &format!(": {line}"));
            } else {
                self.push(TextStyle::Message, &format!("{:INDENT$}{line}", ""));
            }
            self.end_line();
        }
    }

    /// ` --> config/a.yml:3:1`.
    pub(super) fn place(&mut self, arrow: &str, place: &str) {
        self.push(TextStyle::Ruler, &format!("{:width$}{arrow}", "", width = self.margin));
        self.push(TextStyle::Plain, &format!(" {}", clean(place)));
        self.end_line();
    }

    /// An empty line with a ruler.
    pub(super) fn ruler(&mut self) {
        self.row(&[]);
    }

    /// `...`, for omitted lines.
    pub(super) fn gap(&mut self, style: TextStyle, bar: &str) {
        self.push(TextStyle::Ruler, &format!("{:width$}", "...", width = self.margin + " | ".len()));
        self.push(style, bar);
        self.end_line();
    }

    /// A source line: its number, a ruler, pieces of text.
    pub(super) fn numbered(&mut self, number: u32, mark: char, pieces: &[(TextStyle, &str)]) {
        let style = match mark {
            '+' => TextStyle::Added,
            '-' => TextStyle::Removed,
            _ => TextStyle::Ruler,
        };
        self.push(TextStyle::Ruler, &format!("{number:>width$} ", width = self.margin));
        self.push(style, &mark.to_string());
        self.pieces(pieces);
    }

    /// A line below a source line: a ruler and pieces of text.
    pub(super) fn row(&mut self, pieces: &[(TextStyle, &str)]) {
        self.push(TextStyle::Ruler, &format!("{:width$} |", "", width = self.margin));
        self.pieces(pieces);
    }

    fn pieces(&mut self, pieces: &[(TextStyle, &str)]) {
        if !pieces.is_empty() {
            self.out.push(' ');
        }
        pieces.iter().for_each(|(style, text)| self.push(*style, text));
        self.end_line();
    }

    /// `= help: text`; further lines are aligned below the text.
    pub(super) fn remark(&mut self, style: TextStyle, name: &str, lines: &[String]) {
        let indent = self.margin + " = ".len() + name.len() + ": ".len();
        let columns = self.text_columns(indent);
        let lines = lines.iter().flat_map(|line| wrap(&clean(line), columns));
        for (number, line) in lines.enumerate() {
            if number == 0 {
                self.push(TextStyle::Ruler, &format!("{:width$} = ", "", width = self.margin));
                self.push(style, name);
                self.push(TextStyle::Plain, &format!(": {line}"));
            } else {
                self.push(TextStyle::Plain, &format!("{:indent$}{line}", ""));
            }
            self.end_line();
        }
    }

    fn push(&mut self, style: TextStyle, text: &str) {
        match (self.options.colour, style.escape()) {
            (Colour::Ansi, Some(escape)) if !text.trim().is_empty() => {
                self.out.push_str(&format!("\x1b[{escape}m{text}\x1b[0m"));
            }
            _ => self.out.push_str(text),
        }
    }

    /// Ends a line and removes trailing blanks.
    fn end_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }
}

/// Wraps a text at blanks, to lines of at most `columns` columns. A longer word stays whole: it may
/// be a path that someone wants to copy. Leading blanks are repeated on every line.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    wrap_after(0, text, columns)
}

/// The same, if `taken` columns of the first line are used already.
fn wrap_after(taken: usize, text: &str, columns: usize) -> Vec<String> {
    let words = text.trim_start_matches(' ');
    let indent = &text[..text.len() - words.len()];
    let mut lines = vec![indent.to_owned()];
    let mut used = taken + indent.len();
    for (number, word) in words.split(' ').enumerate() {
        let width = word.width();
        let line = lines.last_mut().expect("there is always a line");
        if number > 0 && used + 1 + width > columns {
            lines.push(format!("{indent}{word}"));
            used = indent.len() + width;
            continue;
        }
        if number > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += width;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_wrapped_at_blanks() {
        let check = |text: &str, columns, lines: &[&str]| assert_eq!(wrap(text, columns), lines, "{text}");
        check("one two three", 7, &["one two", "three"]);
        check("one two three", usize::MAX, &["one two three"]);
        check("a-very-long-word b", 5, &["a-very-long-word", "b"]);
        check("  a b c", 5, &["  a b", "  c"]);
        check("日本 語語 x", 7, &["日本", "語語 x"]);
        check("", 10, &[""]);
    }
}
