//! What is probably wrong where code cannot be read, and where. The reference tells the place behind the token that it
//! could not use; the mistake is often on the line before.

use ytterby_diag::Pos;
use ytterby_starlark::{OpenBracket, SyntaxError};

use super::annotation_hint;
use crate::run::Run;

/// Where the mistake is, and what to try.
pub(super) struct Advice {
    pub place: Pos,
    pub hint: Option<String>,
}

/// What to say about an error beyond the reference's text.
pub(super) fn advise(run: &Run, error: &SyntaxError) -> Advice {
    let token = if error.token.is_known() { error.token } else { error.pos };
    let token = run.source_place(token);
    let line_of = |pos: Pos| run.sources.line(pos);
    if let Some(open) = error.open.filter(|open| open.is_unclosed && line_of(open.pos) > 0) {
        return Advice { place: open.pos, hint: Some(unclosed(&open)) };
    }
    let line = run.sources.line_text(token).unwrap_or_default();
    let message = error.message.as_str();
    let hint = match message {
        "unexpected end" => Some(
            "no block is open here; `if/end`, `for/end`, `def/end` and blocks of one line (`def f(): return 1`) have no `end`"
                .to_owned(),
        ),
        "got else, want primary expression" => Some("missing colon behind 'else'?".to_owned()),
        _ if message.starts_with("mismatched set of block openings") => {
            Some("the block that begins here has no `end`".to_owned())
        }
        _ if message.ends_with("want primary expression") => {
            annotation_hint::annotation_of(&line).and_then(unquoted_expectation)
        }
        _ => None,
    };
    let hint = hint.or_else(|| annotation_hint::about_annotation(run, error)).or_else(|| {
        let open = error.open.filter(|open| line_of(open.pos) < line_of(token) && wants_end(message))?;
        Some(format!("{}, on line {}?", unclosed(&open), line_of(open.pos)))
    });
    Advice { place: token, hint }
}

fn unclosed(open: &OpenBracket) -> String {
    let closing = match open.bracket {
        '[' => ']',
        '{' => '}',
        _ => ')',
    };
    format!("missing '{closing}' for '{}'", open.bracket)
}

/// Whether a bracket was to be closed, or to go on.
fn wants_end(message: &str) -> bool {
    ["')'", "']'", "'}'", "','"].iter().any(|wanted| message.ends_with(&format!("want {wanted}")))
}

/// `expects=1+`, which is no expression.
fn unquoted_expectation(line: &str) -> Option<String> {
    line.match_indices('=').find_map(|(at, _)| {
        let name = line[..at].trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
        let value = line[at + 1..].trim_start();
        let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rest = value[digits..].strip_prefix('+')?.trim_start();
        let is_end = rest.is_empty() || rest.starts_with([',', ')']);
        (digits > 0 && is_end && !name.is_empty()).then(|| format!("write {name}=\"{}+\"", &value[..digits]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_need_quotes() {
        let meant = |line| unquoted_expectation(line);
        assert_eq!(meant("#@overlay/match by=\"name\", expects=1+").as_deref(), Some("write expects=\"1+\""));
        assert_eq!(meant("#@overlay/match expects = 12+, by=x").as_deref(), Some("write expects=\"12+\""));
        assert_eq!(meant("#@overlay/match expects=1+x"), None);
        assert_eq!(meant("#@overlay/match expects=+"), None);
    }
}
