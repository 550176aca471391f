//! Adds an `end` after a line break after `if …:`.

use crate::context::Cursor;
use crate::findings::TextEdit;
use crate::model::{Block, BlockKind, ModelKind, RegionKind};

/// The open block that `else:` or `elif …:` on a line belongs to.
fn branch<'a>(at: Cursor<'a>, line: usize) -> Option<&'a Block> {
    let (model, text) = (at.model(), at.text());
    let head = model.lines.range(text, line).of(text).trim();
    let code = head.trim_start_matches("#@").trim_start_matches("(@").trim_start_matches('-').trim();
    let is_branch = (code.starts_with("else") || code.starts_with("elif ")) && head.contains(':');
    let indent = |line: usize| {
        let text = model.lines.range(text, line).of(text);
        text.len() - text.trim_start().len()
    };
    let open = model.blocks.iter().rev().filter(|block| block.end.is_none() && block.line < line);
    open.filter(|block| block.kind == BlockKind::If).find(|block| is_branch && indent(block.line) == indent(line))
}

/// The edits for a line break just typed before the cursor.
pub fn after_line_break(at: Cursor<'_>) -> Vec<TextEdit> {
    let (model, text) = (at.model(), at.text());
    if !at.is_template() {
        return Vec::new();
    }
    let line = model.lines.line_of(at.offset);
    let Some(above) = line.checked_sub(1) else { return Vec::new() };
    let opened = model.blocks.iter().find(|block| block.line == above);
    // `else:` of an `if` that nothing ends brings the end of both.
    let Some(block) = opened.or_else(|| branch(at, above)) else { return Vec::new() };
    // Where an inner block has taken the `end` of an outer one, the inner one is the new one.
    let outer_is_open = model.blocks.iter().any(|other| other.line < block.line && other.end.is_none());
    if block.end.is_some() && !outer_is_open {
        return Vec::new();
    }
    let is_star = model.regions.first().is_some_and(|region| region.kind == RegionKind::Whole);
    let head_line = model.lines.range(text, above).of(text);
    let word = match at.file.kind() {
        // A block whose marker is not closed continues on the next line.
        ModelKind::Text if !head_line.trim_end().ends_with("@)") => return Vec::new(),
        ModelKind::Text => "(@ end @)",
        _ if is_star => "end",
        _ => "#@ end",
    };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let indent: String = head_line.chars().take_while(|c| c.is_whitespace()).collect();
    let end = model.lines.range(text, line).end;
    vec![TextEdit::insert(&at.file.path, end, format!("{newline}{indent}{word}"))]
}
