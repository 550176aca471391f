//! The text front end: `(@ code @)`, `(@= expression @)`, text in between.
//!
//! It splits a text file, or a string in a YAML template, into pieces of code and text, and writes
//! a line of the program for each. `(@-` and `-@)` trim the white space around.

use std::borrow::Cow;

use ytterby_diag::{Diagnostic, FileId, Id, Listing, ListingStyle, Part, Pos};
use ytterby_text::Str;

use super::Malformed;
use super::build::Dialect;
use super::comment::Content;
use super::program::{OperationArgs, ProgramWriter};
use super::table::{Op, SourceValue, TemplateNodeKind};
use crate::node::Scalar;
use crate::run::Run;

const TEXT: u8 = Dialect::Text as u8;

/// A piece of a text template.
#[derive(Debug, PartialEq)]
enum TemplatePiece {
    Text { start: usize, end: usize },
    Code { start: usize, end: usize },
}

/// A text with its bytes, which the pieces between code share.
pub(crate) struct TemplateText<'a> {
    text: Cow<'a, str>,
    bytes: Str,
}

impl TemplateText<'_> {
    /// The text of a file; invalid UTF-8 is replaced.
    pub fn new(bytes: &Str) -> TemplateText<'_> {
        let text = bytes.to_str();
        let bytes = match &text {
            Cow::Borrowed(_) => bytes.clone(),
            Cow::Owned(text) => Str::from(text.as_str()),
        };
        TemplateText { text, bytes }
    }
}

/// The program of a text file.
pub(crate) fn write_program<'a>(text: &'a TemplateText<'_>, file: FileId) -> Result<ProgramWriter<'a>, Malformed> {
    let mut writer = ProgramWriter::new(file, ListingStyle::Text);
    let pieces = split(&text.text, 1).map_err(|problem| problem.at(|offset| Pos::new(file, offset)))?;
    let mut lines = Listing::new(ListingStyle::Text);
    write_pieces(&mut writer, &mut lines, (&text.text, &text.bytes), file, &pieces);
    writer.lines.take_pieces(lines);
    writer.generated_op(Op::Nothing, TEXT, "end_ctx()");
    Ok(writer)
}

/// The program of a string inside a YAML template; the next operation receives the text.
pub(crate) fn write_inline<'a>(
    writer: &mut ProgramWriter<'a>,
    run: &'a Run,
    value: &'a Str,
    pos: Pos,
) -> Result<(), Malformed> {
    let first_line = run.sources.line(pos).max(1);
    let text = value.as_str().unwrap_or_default();
    let pieces = split(text, first_line).map_err(|problem| problem.at(|_| pos))?;
    let Some(outer) = run.sources.get(pos.file) else { return Ok(()) };
    let file = run.sources.add_shared(outer.embedded(value.as_bytes(), first_line));
    let mut lines = Listing::new(ListingStyle::Text);
    writer.inside(pos, |writer| write_pieces(writer, &mut lines, (text, value), file, &pieces));
    run.sources.set_listing(file, lines);
    Ok(())
}

fn write_pieces<'a>(
    writer: &mut ProgramWriter<'a>,
    lines: &mut Listing,
    (text, bytes): (&'a str, &Str),
    file: FileId,
    pieces: &[TemplatePiece],
) {
    let root = writer.table.add_node(0, Pos::UNKNOWN, TemplateNodeKind::Text, SourceValue::NULL);
    let shown = writer.count_tags(1);
    writer.generated_op(Op::Nothing, TEXT, "set_ctx_type(\"text\")");
    writer.generated_op(Op::StartText, TEXT, "start_ctx(\"text\")");
    writer.generated_op(Op::Nothing, TEXT, format!("start_node({shown})"));
    for (at, piece) in pieces.iter().enumerate() {
        match *piece {
            TemplatePiece::Text { start, end } => {
                let pos = Pos::new(file, start as u32);
                let mut content = &text[start..end];
                if at > 0 && code_of(text, &pieces[at - 1]).ends_with('-') {
                    content = content.trim_start();
                }
                let from = end - content.len();
                lines.add_piece_without((from - start) as u32, start as u32, end as u32);
                if pieces.get(at + 1).is_some_and(|next| code_of(text, next).starts_with('-')) {
                    content = content.trim_end();
                }
                writer.count_tags(1);
                let value = SourceValue::Scalar(Scalar::Str(bytes.part(from..from + content.len())));
                let tag = writer.table.add_node(root, pos, TemplateNodeKind::Text, value);
                writer.op(Op::AddText(tag), TEXT, OperationArgs::None, pos);
            }
            TemplatePiece::Code { start, end } => {
                let whole = &text[start..end];
                let (code, offset) = inner_code(whole);
                if whole.starts_with('=') || whole.starts_with("-=") {
                    let pos = Pos::new(file, start as u32);
                    lines.add_piece(start as u32, end as u32);
                    writer.count_tags(1);
                    let tag = writer.table.add_node(root, Pos::UNKNOWN, TemplateNodeKind::Text, SourceValue::NULL);
                    let content = Content { text: code, at: Pos::new(file, (start + offset) as u32) };
                    writer.op(Op::AddTextValue(tag), TEXT, OperationArgs::Expr(content), pos);
                    continue;
                }
                let mut at = (start + offset) as u32;
                for line in code.split('\n') {
                    let end = at + line.len() as u32;
                    lines.add_piece(at, end);
                    writer.code(line, Pos::new(file, at));
                    at = end + 1;
                }
            }
        }
    }
}

/// The code inside `(@ … @)`; empty for text.
fn code_of<'a>(text: &'a str, piece: &TemplatePiece) -> &'a str {
    match *piece {
        TemplatePiece::Code { start, end } => &text[start..end],
        TemplatePiece::Text { .. } => "",
    }
}

/// The code without its modifiers (`-`, `=`), and the number of bytes removed in front.
fn inner_code(whole: &str) -> (&str, usize) {
    let front = ["-=", "=", "-"].iter().find(|mark| whole.starts_with(**mark)).map_or(0, |mark| mark.len());
    // A mark can be removed only once: in `(@-@)` it belongs to the opening.
    let rest = &whole[front..];
    (rest.strip_suffix('-').unwrap_or(rest), front)
}

/// An opening or closing mark without its partner.
#[derive(Debug, PartialEq)]
struct Unpaired {
    text: String,
    /// Where the mark begins.
    offset: u32,
}

impl Unpaired {
    /// The problem at the position of the mark.
    fn at(self, place: impl Fn(u32) -> Pos) -> Malformed {
        Box::new(Diagnostic::error(Id::CODE_TEMPLATE, self.text).at(place(self.offset), Part::Bytes(2)))
    }
}

/// Splits a text. Code and text alternate, beginning and ending with text.
///
/// Both marks contain an `@`, which is rare, so only those characters are searched.
fn split(text: &str, first_line: u32) -> Result<Vec<TemplatePiece>, Unpaired> {
    let mut pieces = Vec::new();
    let (mut start, mut in_code) = (0, false);
    let bytes = text.as_bytes();
    // Messages count lines and characters up to the second character of a mark.
    let unpaired = |what: &str, at: usize, offset: usize| {
        let before = &text[..at];
        let line = first_line + memchr::memchr_iter(b'\n', before.as_bytes()).count() as u32;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        Unpaired { text: format!("{what} at line {line} col {column}"), offset: offset as u32 }
    };
    for at in memchr::memchr_iter(b'@', bytes) {
        if at > 0 && bytes[at - 1] == b'(' {
            if in_code {
                return Err(unpaired("Unexpected code opening '(@'", at, at - 1));
            }
            pieces.push(TemplatePiece::Text { start, end: at - 1 });
            (start, in_code) = (at + 1, true);
        }
        if bytes.get(at + 1) == Some(&b')') {
            if !in_code {
                return Err(unpaired("Unexpected code closing '@)'", at + 1, at));
            }
            // `(@)`: the same `@` opens and closes.
            pieces.push(TemplatePiece::Code { start, end: at.max(start) });
            (start, in_code) = (at + 2, false);
        }
    }
    if in_code {
        return Err(unpaired("Missing code closing '@)'", text.len(), start.saturating_sub(2)));
    }
    pieces.push(TemplatePiece::Text { start, end: text.len() });
    Ok(pieces)
}
