//! The calls that led to an error in code, as the lines of a note.

use super::{counted, names};
use crate::Sources;
use crate::render::resolved::ResolvedFrame;

/// Maximum number of calls: the innermost ones, and the outermost.
const MAX_CALLS: usize = 5;

/// The name of code outside of functions.
const TOP_LEVEL: &str = "<toplevel>";

/// A line for each call, innermost first; none if the only call is not a function.
pub(super) fn lines(frames: &[ResolvedFrame], sources: &Sources) -> Vec<String> {
    let is_function = |frame: &ResolvedFrame| frame.name.as_deref().is_some_and(|name| name != TOP_LEVEL);
    if !frames.iter().any(is_function) {
        return Vec::new();
    }
    let calls = folded(frames);
    let hidden = calls.len().saturating_sub(MAX_CALLS);
    let mut lines: Vec<String> = Vec::new();
    for (number, (frame, times)) in calls.iter().enumerate() {
        let is_hidden = hidden > 0 && (MAX_CALLS - 1..calls.len() - 1).contains(&number);
        if is_hidden {
            if number == MAX_CALLS - 1 {
                let more: usize = calls[number..calls.len() - 1].iter().map(|(_, times)| times).sum();
                lines.push(format!("… {} more", counted(more, "call")));
            }
            continue;
        }
        let words = if number == 0 { "in" } else { "called from" };
        let place = names::place(&frame.range, sources);
        let mut line = match &frame.name {
            Some(name) if is_function(frame) => format!("{words} {name} ({place})"),
            _ => format!("{words} {place}"),
        };
        if *times > 1 {
            line.push_str(&format!(", {times} times"));
        }
        lines.push(line);
    }
    lines
}

/// The calls, with consecutive equal ones counted.
fn folded(frames: &[ResolvedFrame]) -> Vec<(&ResolvedFrame, usize)> {
    let mut found: Vec<(&ResolvedFrame, usize)> = Vec::new();
    for frame in frames {
        match found.last_mut() {
            Some((last, times)) if last.name == frame.name && last.range == frame.range => {
                *times += 1;
            }
            _ => found.push((frame, 1)),
        }
    }
    found
}
