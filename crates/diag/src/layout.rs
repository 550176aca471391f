//! The last step that the reference takes with every error text.
//!
//! It spreads `Doing this: Doing that: what failed` over lines. On the way it reads brackets, so a text whose brackets do
//! not pair up changes: a wrong closing bracket becomes the right one, and what follows a surplus one is lost. Users
//! compare our texts with the reference's, so we take the same step; machine formats are made from the text before it, and
//! texts that the reference does not have can keep their brackets.

use crate::Brackets;

/// Spreads the first line of a text over several. The other lines stay as they are.
pub fn spread(text: &str, brackets: Brackets) -> String {
    let mut result = String::new();
    spread_into(&mut result, text, brackets);
    result
}

/// The same, appended to `out`: a text can hold gigabytes, since the reference repeats a long line for every error on it.
pub(crate) fn spread_into(out: &mut String, text: &str, brackets: Brackets) {
    let first = text.find('\n').unwrap_or(text.len());
    out.push_str(&spread_line(&text[..first], brackets));
    // One more for the line feed that follows.
    out.reserve_exact(text.len() - first + 1);
    out.push_str(&text[first..]);
}

/// How many lines the first line of a text becomes, less one.
pub(crate) fn added_lines(text: &str, brackets: Brackets) -> usize {
    spread_line(text.lines().next().unwrap_or_default(), brackets).matches('\n').count()
}

/// What encloses a character: the closing bracket to write, or raw text in which brackets mean nothing.
#[derive(Clone, Copy, PartialEq)]
enum Container {
    Root,
    Closed(char),
    Raw,
}

const RAW_OPEN: &str = "...|";
const RAW_CLOSE: &str = "|...";

fn spread_line(line: &str, brackets: Brackets) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    let mut stack = vec![Container::Root];
    let mut depth = 0;
    // Where the text outside of brackets that is being written began.
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
                // Whatever closes too much, or something else, is text.
                ']' | ')' | '}' if brackets == Brackets::Keep && top != Container::Closed(c) => {
                    out.push(c);
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
        // The reference does not see an opening mark at the very end of the line.
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
        assert_eq!(spread(text, Brackets::Pair), want, "{text}");
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
    fn brackets_that_do_not_pair_up_change_the_text() {
        check("a (b] c", "a (b) c");
        check("a) b: C", "a");
        check("a (b", "a (b");
        check("x: [Y: {Z: (", "x: [Y: {Z: (");
        check("a]\nb: C", "a\nb: C");
    }

    #[test]
    fn brackets_can_be_kept() {
        let check = |text: &str, want: &str| assert_eq!(spread(text, Brackets::Keep), want, "{text}");
        check("Doing a: Doing b: was \"c)\" (at d:1)", "Doing a:\n  Doing b: was \"c)\" (at d:1)");
        check("Doing (a]: B", "Doing (a]: B");
        check("A: (B: C): D", "A: (B: C):\n  D");
    }

    #[test]
    fn raw_text_keeps_its_brackets() {
        check("a: ...|B: ) C|...: D", "a: ...|B: ) C|...:\n  D");
        check("a ...|", "a ...|");
    }
}
