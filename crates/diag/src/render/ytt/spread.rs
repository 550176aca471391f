//! The last layout step of the reference, applied to every error text.
//!
//! It spreads `Doing this: Doing that: what failed` over several lines. It also parses brackets, so
//! a text with unbalanced brackets changes: a wrong closing bracket becomes the right one, and the
//! text after a surplus one is lost. Users compare our texts with the reference's, so we do the
//! same.

/// Appends a text whose first line is spread over several; the other lines are not changed. A text
/// can have gigabytes, since ytt repeats a long line for every error on it.
pub(super) fn spread_into(out: &mut String, text: &str) {
    let first = text.find('\n').unwrap_or(text.len());
    out.push_str(&spread_line(&text[..first]));
    // One more for the line feed that follows.
    out.reserve_exact(text.len() - first + 1);
    out.push_str(&text[first..]);
}

/// The construct around a character: the closing bracket to write, or raw text in which brackets
/// have no meaning.
#[derive(Clone, Copy, PartialEq)]
enum Container {
    Root,
    Closed(char),
    Raw,
}

const RAW_OPEN: &str = "...|";
const RAW_CLOSE: &str = "|...";

fn spread_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    let mut stack = vec![Container::Root];
    let mut depth = 0;
    // The start of the current run of text outside of brackets.
    let mut run_start = 0;
    for (at, c) in line.char_indices() {
        let Some(&top) = stack.last() else { break };
        if top != Container::Raw {
            match c {
                '[' | '(' | '{' => {
                    out.push(c);
                    stack.push(Container::Closed(match c {
                        '[' => ']',
                        '(' => ')',
                        _ => '}',
                    }));
                    continue;
                }
                ']' | ')' | '}' => {
                    if let Container::Closed(closer) = top {
                        out.push(closer);
                    }
                    stack.pop();
                    run_start = out.len();
                    continue;
                }
                _ => {}
            }
        }
        // The reference does not recognise an opening mark at the very end of the line.
        if line[at..].starts_with(RAW_OPEN) && at + RAW_OPEN.len() < line.len() {
            stack.push(Container::Raw);
            out.push(c);
        } else if line[..at + c.len_utf8()].ends_with(RAW_CLOSE) {
            out.push(c);
            if let Some(Container::Closed(closer)) = stack.pop() {
                out.push(closer);
            }
            run_start = out.len();
        } else {
            if top == Container::Root && c.is_ascii_uppercase() && out[run_start..].ends_with(": ") {
                depth += 1;
                out.pop();
                out.push('\n');
                out.extend(std::iter::repeat_n("  ", depth));
            }
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &str) {
        let mut out = String::new();
        spread_into(&mut out, text);
        assert_eq!(out, want, "{text}");
    }

    #[test]
    fn spreads_causes_over_lines() {
        check("Plain", "Plain");
        check("Doing a: Doing b: it: failed", "Doing a:\n  Doing b: it: failed");
        check("A: B: C\nD: E", "A:\n  B:\n    C\nD: E");
        check("A: (B: C): D", "A: (B: C):\n  D");
        check("A: É", "A: É");
        check("", "");
    }

    #[test]
    fn unbalanced_brackets_change_the_text() {
        check("a (b] c", "a (b) c");
        check("a) b: C", "a");
        check("a (b", "a (b");
        check("x: [Y: {Z: (", "x: [Y: {Z: (");
        check("a]\nb: C", "a\nb: C");
    }

    #[test]
    fn raw_text_keeps_its_brackets() {
        check("a: ...|B: ) C|...: D", "a: ...|B: ) C|...:\n  D");
        check("a ...|", "a ...|");
    }
}
