//! Blocks about values and annotations that do not match a schema: source lines, found, expected.

use crate::{By, Exhibit, Origin, PlaceNames, Pos, SchemaBlock, SchemaReport, Sources};

pub(super) fn write(out: &mut String, report: &SchemaReport, sources: &Sources) {
    write_title(out, &report.title);
    let width = report.blocks.iter().map(|block| line_number(sources, block.pos).len()).max().unwrap_or(0);
    for block in &report.blocks {
        write_block(out, block, width, sources);
    }
    out.push('\n');
}

/// A title with its ruler.
pub(super) fn write_title(out: &mut String, title: &str) {
    out.push_str(&format!("\n{title}\n{}\n", "=".repeat(title.len())));
}

fn write_block(out: &mut String, block: &SchemaBlock, width: usize, sources: &Sources) {
    if let Some(about) = &block.about {
        out.push('\n');
        out.push_str(about);
    }
    let margin = |delimiter: &str, number: &str| format!("\n  {number:>width$} {delimiter}");
    match &block.exhibit {
        Exhibit::Calculated(value) => {
            out.push_str("\nData value calculated:");
            out.push_str(&margin("#", ""));
            out.push_str(&margin("#", ""));
            out.push(' ');
            super::push(out, value, sources);
            out.push_str(&margin("#", ""));
        }
        exhibit => {
            let has_line = !matches!(exhibit, Exhibit::FlagCollection | Exhibit::Nothing);
            out.push('\n');
            if has_line && let Some(source) = sources.get(block.pos.file) {
                out.push_str(source.name());
            }
            out.push(':');
            out.push_str(&margin("|", ""));
            let mut lines = block.annotations.clone();
            lines.sort_by_key(|pos| sources.line(*pos));
            lines.push(block.pos);
            for (at, pos) in lines.iter().enumerate() {
                if at > 0 && !are_neighbours(sources, lines[at - 1], *pos) {
                    out.push_str(&margin("|", ""));
                    out.push_str(" ...");
                }
                out.push_str(&margin("|", &line_number(sources, *pos)));
                out.push(' ');
                let is_node = at + 1 == lines.len();
                if has_line && !(is_node && *exhibit == Exhibit::EmptyLine) {
                    out.push_str(&source_text(sources, *pos));
                }
            }
            out.push_str(&margin("|", ""));
        }
    }
    out.push_str("\n\n");
    let field = |name: &str, value: &str| format!("  {:>width$} = {name}: {value}", "");
    let shown = |text: &crate::Text| text.shown(sources, PlaceNames::Reference);
    if !block.found.is_empty() {
        out.push_str(&field("found", &shown(&block.found)));
    }
    out.push('\n');
    let expected = match block.by {
        Some(By::Type(pos)) => format!("{} (by {})", shown(&block.expected), sources.locate(pos)),
        Some(By::Keys(pos)) => format!("{} (from {})", shown(&block.expected), sources.locate(pos)),
        Some(By::Named(_)) | None => shown(&block.expected),
    };
    if !expected.is_empty() {
        out.push_str(&field("expected", &expected));
    }
    for hint in &block.hints {
        out.push('\n');
        out.push_str(&field("hint", hint));
    }
    out.push('\n');
}

fn line_number(sources: &Sources, pos: Pos) -> String {
    match sources.line(pos) {
        0 => "?".to_owned(),
        line => line.to_string(),
    }
}

fn are_neighbours(sources: &Sources, one: Pos, other: Pos) -> bool {
    one.is_known() && other.is_known() && one.file == other.file && sources.line(one).abs_diff(sources.line(other)) <= 1
}

/// The line of a position; for a flag the whole value, which may have several lines.
fn source_text(sources: &Sources, pos: Pos) -> String {
    let Some(source) = sources.get(pos.file) else { return String::new() };
    match source.origin() {
        Origin::Flag(_) | Origin::Variable(_) if !source.is_nameless() => source.shown(0..source.text().len()),
        _ => source.shown_line(source.line(pos.offset)).unwrap_or_default(),
    }
}
