//! Errors in code: the message, then the calls with their source lines, then the rest of a long
//! message.

use crate::{Cause, CodeMessage, CodeProblem, Frame, PlaceNames, Pos, Sources};

/// Maximum bytes of an error. If it would be longer, the parts in its middle are counted.
const MAX_TEXT: usize = 64 << 10;

/// Spaces in front of each line of a reason.
const INDENT: usize = 5;

pub(super) fn write_all(out: &mut String, problems: &[CodeProblem], sources: &Sources) {
    let parts: Vec<String> = problems.iter().map(|problem| shown(problem, sources)).collect();
    write_some(out, &parts, |out, count| {
        out.push_str(&format!("\n- … {} errors more", with_commas(count)));
    });
}

/// A problem with its reasons. A chain of thousands of files that load each other is a chain of
/// reasons, each indented more than the one before.
fn shown(problem: &CodeProblem, sources: &Sources) -> String {
    let mut levels = Vec::new();
    let mut next = Some(problem);
    while let Some(problem) = next {
        let level;
        (level, next) = level_of(problem, sources);
        levels.push(level);
    }
    let half = kept_half(&levels, INDENT);
    let mut out = "\n".to_owned();
    let mut indent = "\n".to_owned();
    for (at, level) in levels.iter().enumerate() {
        if at >= half && at < levels.len() - half {
            if at == half {
                out.push_str(&format!("… {} errors more{indent}", with_commas(levels.len() - 2 * half)));
            }
            continue;
        }
        out.push_str(&level.replace('\n', &indent));
        indent.extend(std::iter::repeat_n(' ', INDENT));
    }
    out
}

/// The text of a problem without its reason if that is a single problem of code, and the reason.
fn level_of<'a>(problem: &'a CodeProblem, sources: &Sources) -> (String, Option<&'a CodeProblem>) {
    let (message, reason) = match &problem.message {
        CodeMessage::Text(text) => (text.shown(sources, PlaceNames::Reference), None),
        CodeMessage::Failure(prefix, inner) => match inner.cause() {
            Cause::Code(problems) if problems.len() == 1 => {
                let mut message = prefix.clone();
                super::write_contexts(&mut message, inner, sources);
                (message, problems.first())
            }
            _ => (format!("{prefix}{}", super::text(inner, sources)), None),
        },
    };
    let mut lines = message.split('\n');
    let mut out = format!("- {}", lines.next().unwrap_or_default());
    if let Some(hint) = problem.hint {
        out.push_str(&format!(" (hint: {hint})"));
    }
    write_frames(&mut out, problem, sources);
    let mut has_reason = false;
    for line in lines.map(Some).chain(reason.map(|_| None)) {
        out.push_str(if has_reason { "\n     " } else { "\n\n    reason:\n     " });
        out.push_str(line.unwrap_or_default());
        has_reason = true;
    }
    (out, reason)
}

fn write_frames(out: &mut String, problem: &CodeProblem, sources: &Sources) {
    let (omitted, before) = problem.omitted;
    let frame = |at: usize, frame: &Frame| {
        let mut out = match omitted > 0 && at == before {
            true => format!("\n    … {} calls more", with_commas(omitted)),
            false => String::new(),
        };
        write_frame(&mut out, frame, sources);
        out
    };
    let frames: Vec<String> = problem.frames.iter().enumerate().map(|(at, it)| frame(at, it)).collect();
    write_some(out, &frames, |out, count| {
        out.push_str(&format!("\n    … {} calls more", with_commas(count + omitted)));
    });
}

/// Appends the parts; if they are too long, the first and last ones, and between them how many
/// there are.
fn write_some(out: &mut String, parts: &[String], write_omitted: impl Fn(&mut String, usize)) {
    let half = kept_half(parts, 0);
    if 2 * half >= parts.len() {
        parts.iter().for_each(|part| out.push_str(part));
        return;
    }
    let rest = parts.len() - half;
    parts[..half].iter().for_each(|part| out.push_str(part));
    write_omitted(out, rest - half);
    parts[rest..].iter().for_each(|part| out.push_str(part));
}

/// How many parts are kept at the beginning, and how many at the end. Each part is indented more
/// than the one before.
fn kept_half(parts: &[String], indent: usize) -> usize {
    let lines: Vec<usize> = match indent {
        0 => vec![0; parts.len()],
        _ => parts.iter().map(|part| part.matches('\n').count()).collect(),
    };
    let size = |half: usize| {
        let kept = (0..half).chain(parts.len().saturating_sub(half).max(half)..parts.len());
        kept.enumerate().map(|(depth, at)| parts[at].len() + lines[at] * depth * indent).sum::<usize>()
    };
    let mut half = parts.len().div_ceil(2);
    while half > 1 && size(half) > MAX_TEXT {
        half = (half * 3 / 4).max(1);
    }
    half
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, FileId, Id, Source, Text};

    fn problem(message: CodeMessage, sources: &Sources) -> CodeProblem {
        let pos = sources.get(FileId(0)).map_or(Pos::UNKNOWN, |_| Pos::new(FileId(0), 0));
        let frame = Frame { name: Some("f".to_owned()), pos, place: pos, is_foreign: true };
        CodeProblem {
            id: Id::CODE_FAIL,
            message,
            label: None,
            related: Vec::new(),
            frames: vec![frame],
            omitted: (0, 0),
            hint: None,
            helps: Vec::new(),
        }
    }

    /// The text of files that load each other.
    fn chain(length: usize) -> String {
        let sources = Sources::default();
        sources.add(Source::new("a.star", *b"load()"));
        let first = problem(CodeMessage::Text(Text::new("wrong\nreally")), &sources);
        let chain = (0..length).fold(first, |inner, number| {
            let inner = Failure::of(Cause::Code(vec![inner]));
            problem(CodeMessage::Failure(format!("cannot load {number}: "), inner), &sources)
        });
        let mut out = String::new();
        write_all(&mut out, &[chain], &sources);
        out
    }

    #[test]
    fn reasons_are_indented() {
        let lines = [
            "",
            "- cannot load 1: ",
            "    in f",
            "      a.star:1 | (unavailable)",
            "",
            "    reason:",
            "     - cannot load 0: ",
            "         in f",
            "           a.star:1 | (unavailable)",
            "     ",
            "         reason:",
            "          - wrong",
            "              in f",
            "                a.star:1 | (unavailable)",
            "          ",
            "              reason:",
            "               really",
        ];
        assert_eq!(chain(2), lines.join("\n"));
    }

    #[test]
    fn long_chains_keep_both_ends() {
        assert!(!chain(50).contains('…'));
        let text = chain(2_000);
        assert!(text.len() < MAX_TEXT + 100, "{} bytes", text.len());
        assert!(text.len() > MAX_TEXT / 2, "{} bytes", text.len());
        assert!(text.starts_with("\n- cannot load 1999: \n") && text.ends_with(" really"));
        assert!(text.contains("… 1,9") && text.contains(" errors more\n"), "{text}");
        assert!(text.contains("- cannot load 1990: ") && text.contains("- cannot load 10: "));
    }

    /// Each of a thousand errors shows the line that all of them are on.
    #[test]
    fn errors_on_a_long_line_are_counted() {
        let sources = Sources::default();
        let file = sources.add(Source::new("a.star", "k=1,".repeat(10_000).into_bytes()));
        sources.set_listing(file, crate::Listing::new(crate::ListingStyle::Starlark));
        let wrong = |number: usize| {
            let mut wrong = problem(CodeMessage::Text(Text::new(format!("wrong {number}"))), &sources);
            wrong.frames[0].is_foreign = false;
            wrong
        };
        let mut out = String::new();
        write_all(&mut out, &(0..1_000).map(wrong).collect::<Vec<_>>(), &sources);
        assert!(out.len() < MAX_TEXT + 100, "{} bytes", out.len());
        assert!(out.contains("\n- wrong 0\n") && out.contains("\n- wrong 999\n") && out.contains(" errors more\n"));
    }

    #[test]
    fn calls_on_long_lines_are_counted() {
        let sources = Sources::default();
        let file = sources.add(Source::new("a.star", "k=1,".repeat(10_000).into_bytes()));
        sources.set_listing(file, crate::Listing::new(crate::ListingStyle::Starlark));
        let mut deep = problem(CodeMessage::Text(Text::new("wrong")), &sources);
        deep.frames[0].is_foreign = false;
        deep.frames = vec![deep.frames[0].clone(); 200];
        deep.omitted = (1_000, 100);
        let mut out = String::new();
        write_all(&mut out, &[deep], &sources);
        assert!(out.len() < MAX_TEXT + 100, "{} bytes", out.len());
        let omitted = 1_200 - out.matches("in f").count();
        assert!(out.contains(&format!("\n    … {} calls more", with_commas(omitted))), "{omitted}");
    }
}
