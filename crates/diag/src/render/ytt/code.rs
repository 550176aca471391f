//! Errors in code: the message, then the calls with their source lines, then the rest of a long
//! message.

use crate::{CodeMessage, CodeProblem, Frame, PlaceNames, Pos, Sources};

pub(super) fn write(out: &mut String, problem: &CodeProblem, sources: &Sources) {
    let message = match &problem.message {
        CodeMessage::Text(text) => text.shown(sources, PlaceNames::Reference),
        CodeMessage::Failure(prefix, inner) => format!("{prefix}{}", super::text(inner, sources)),
    };
    let mut lines = message.split('\n');
    let topic = lines.next().unwrap_or_default();
    out.push_str(&format!("\n- {topic}"));
    if let Some(hint) = problem.hint {
        out.push_str(&format!(" (hint: {hint})"));
    }
    let (omitted, before) = problem.omitted;
    for (at, frame) in problem.frames.iter().enumerate() {
        if omitted > 0 && at == before {
            out.push_str(&format!("\n    … {} calls more", with_commas(omitted)));
        }
        write_frame(out, frame, sources);
    }
    for (number, line) in lines.enumerate() {
        out.push_str(if number == 0 { "\n\n    reason:\n     " } else { "\n     " });
        out.push_str(line);
    }
}

fn write_frame(out: &mut String, frame: &Frame, sources: &Sources) {
    let lines = lines(frame, sources);
    if lines.is_empty() {
        return;
    }
    let mut indent = "    ";
    if let Some(name) = &frame.name {
        out.push_str(&format!("\n    in {name}"));
        indent = "      ";
    }
    for line in lines {
        out.push_str(&format!("\n{indent}{line}"));
    }
}

/// The source lines for a call.
fn lines(frame: &Frame, sources: &Sources) -> Vec<String> {
    let pos: Pos = frame.pos;
    let Some(source) = sources.get(pos.file) else { return Vec::new() };
    match source.listing() {
        Some(listing) if !frame.is_foreign => listing.lines(pos, &source),
        _ => vec![format!("{} | (unavailable)", sources.locate(pos))],
    }
}

/// A number with separators between thousands.
pub(in crate::render) fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}
