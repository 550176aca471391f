//! Adds the range of an error, related positions and advice.
//!
//! Reading ends with the first error, so this runs at most once for a text. It examines the line of
//! the error and the collections that the parser had open. The reference's message is not changed.

use ytterby_diag::{Edit, Help, Label, Part, Pos, Role, Safety, Span};

use super::parser::{CollectionKind, Parser};
use super::{BoxedReadError, ReadError};

/// The kind of mistake, if there is advice for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Mistake {
    /// A tab in the indentation.
    Tab,
    /// A character that cannot begin a plain scalar: `%`, `@`, `` ` ``, or `*` without a name.
    Indicator,
    /// A quote that is never closed; the error is where it opens.
    Quote,
    /// An escape that does not exist; the error is at its backslash.
    Escape,
    /// A `:` after something that cannot be a key.
    Colon,
    /// A `-` on the line of a key.
    Dash,
    /// No `:` after text that must be a key; the error is where that text begins.
    NoColon,
    /// A line whose indentation matches none before it.
    Indentation,
    #[default]
    Other,
}

/// Spaces in place of a tab.
const TAB: &str = "  ";

/// Maximum number of lines whose tabs one fix replaces.
const MOST_LINES: usize = 1000;

impl Parser<'_> {
    /// The error with its range, related places and advice.
    #[cold]
    pub(super) fn advised(&self, mut error: BoxedReadError) -> BoxedReadError {
        let at = error.span.start as usize;
        let line = LineSpan::around(self.at.text, at);
        if error.span.end == error.span.start {
            error.span.end = error.span.start + token_len(&self.at.text[at..line.end], error.mistake) as u32;
        }
        let brace = [&b"{{"[..], b"{%"].into_iter().find(|brace| contains(&self.at.text[line.start..line.end], brace));
        let help = match brace {
            Some(brace) => Some(Help::new(format!(
                "`{}` begins an expression of Helm or Jinja, which is not YAML; put the value in quotes if it is text",
                String::from_utf8_lossy(brace)
            ))),
            None => self.help(&mut error, line),
        };
        error.helps.extend(help);
        error.helps.extend(self.hidden_bracket(at));
        self.add_open_bracket(&mut error);
        self.add_long_string(&mut error);
        error
    }

    fn help(&self, error: &mut ReadError, line: LineSpan) -> Option<Help> {
        let at = error.span.start as usize;
        match error.mistake {
            Mistake::Tab => Some(self.without_tabs(line)),
            Mistake::Indicator => {
                let first = char::from(self.at.at(at));
                let text = format!("a plain value cannot begin with {first}: put it in quotes");
                Some(self.quoting(text, at, line.end))
            }
            Mistake::Quote => Some(Help::new("close the quote, or write the text without quotes after `|`")),
            Mistake::Escape => {
                let edit = Edit::insert(self.pos(at), "\\");
                let help = Help::new("write \\\\ for a backslash, or use single quotes, which have no escapes");
                Some(help.fixed_by("Escape the backslash", vec![edit], Safety::Likely))
            }
            Mistake::Colon => match find(&self.at.text[line.start..at], b": ") {
                Some(colon) => {
                    let start = self.after_blanks(line.start + colon + 1);
                    Some(self.quoting("a value that contains `: ` needs quotes".to_owned(), start, line.end))
                }
                None => Some(self.key_below_value(error, line)),
            },
            Mistake::Dash => Some(Help::new("begin the array on a separate line: `-` cannot follow a key")),
            Mistake::NoColon => self.colon(at, line),
            Mistake::Indentation => self.reindented(at, line),
            Mistake::Other => self.bracket_in_text(at, line),
        }
    }

    /// `{spec.rules[0]: x}`: inside of braces and brackets, a bracket ends a plain text.
    fn bracket_in_text(&self, at: usize, line: LineSpan) -> Option<Help> {
        let before = *self.at.text[line.start..at].last()?;
        let is_inside = !before.is_ascii_whitespace() && !b",:[{]}\"'".contains(&before);
        let is_bracket = matches!(self.at.at(at), b'[' | b'{');
        (is_inside && is_bracket)
            .then(|| Help::new("inside of braces and brackets, a text that contains [ or { needs quotes"))
    }

    /// A key is indented below a value that is a scalar.
    fn key_below_value(&self, error: &mut ReadError, line: LineSpan) -> Help {
        let above = LineSpan::around(self.at.text, line.start.saturating_sub(1));
        let start = self.after_blanks(above.start);
        let len = self.at.text[start..above.end].trim_ascii_end().len() as u32;
        if above.start < line.start && len > 0 {
            error.labels.push(label(self.pos(start), len, "this value goes on in the next line"));
        }
        Help::new("a key cannot have both a value and keys below it: remove the value, or indent the key less")
    }

    /// A line that must be a key and has no `: `.
    fn colon(&self, at: usize, line: LineSpan) -> Option<Help> {
        let text = &self.at.text[at..line.end];
        let colon = text.iter().position(|byte| *byte == b':').filter(|colon| !text[*colon..].starts_with(b"://"));
        match colon {
            Some(colon) => {
                let edit = Edit::insert(self.pos(at + colon + 1), " ");
                let help = Help::new("a blank has to follow the colon of a key");
                Some(help.fixed_by("Insert a blank after the colon", vec![edit], Safety::Likely))
            }
            None => Some(Help::new("end the key with a colon, or indent the line if it belongs to the value above")),
        }
    }

    /// A line whose indentation matches none: moves it to the nearest one.
    fn reindented(&self, at: usize, line: LineSpan) -> Option<Help> {
        let column = at - line.start;
        if self.after_blanks(line.start) != at {
            return None;
        }
        let outer = self.frames.iter().map(|frame| frame.outer_indent);
        let open = outer.chain([self.indent]).filter_map(|indent| usize::try_from(indent).ok());
        // The map that it belongs to is probably closed already.
        let above = LineSpan::around(self.at.text, line.start.saturating_sub(1));
        let columns = open.chain([self.after_blanks(above.start) - above.start]);
        let meant = columns.filter(|meant| *meant != column).min_by_key(|meant| meant.abs_diff(column))?;
        let edit = Edit::replace(self.pos(line.start), Part::Bytes(column as u32), " ".repeat(meant));
        let help = Help::new(format!("indent the line by {meant}, like the lines that it belongs to"));
        Some(help.fixed_by("Change the indentation", vec![edit], Safety::Likely))
    }

    /// Replaces the tabs that indent lines from here on.
    fn without_tabs(&self, line: LineSpan) -> Help {
        let mut edits = Vec::new();
        let mut start = line.start;
        for line in self.at.text[line.start..].split(|byte| *byte == b'\n') {
            let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let indentation = String::from_utf8_lossy(&line[..blanks]);
            if indentation.contains('\t') {
                let part = Part::Bytes(blanks as u32);
                edits.push(Edit::replace(self.pos(start), part, indentation.replace('\t', TAB)));
            }
            if edits.len() >= MOST_LINES {
                break;
            }
            start += line.len() + 1;
        }
        let help = Help::new("YAML is indented with spaces");
        if edits.is_empty() { help } else { help.fixed_by("Indent with spaces", edits, Safety::Likely) }
    }

    /// Puts the plain scalar that begins at `start` in quotes.
    fn quoting(&self, text: String, start: usize, line_end: usize) -> Help {
        let rest = &self.at.text[start..line_end];
        let comment = find(rest, b" #").unwrap_or(rest.len());
        let bracket = rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}')).filter(|_| self.flow_level > 0);
        let scalar = rest[..comment.min(bracket.unwrap_or(rest.len()))].trim_ascii_end();
        let Ok(plain) = std::str::from_utf8(scalar) else { return Help::new(text) };
        let quoted = match plain.contains(['"', '\\']) {
            true => format!("'{}'", plain.replace('\'', "''")),
            false => format!("\"{plain}\""),
        };
        let edit = Edit::replace(self.pos(start), Part::Bytes(scalar.len() as u32), quoted);
        Help::new(text).fixed_by("Put the value in quotes", vec![edit], Safety::Likely)
    }

    /// Shows the bracket around an error.
    fn add_open_bracket(&self, error: &mut ReadError) {
        if let Some(start) = self.open_bracket(error.span.start as usize) {
            error.labels.push(label(self.pos(start), 1, "this bracket is still open"));
        }
    }

    /// `[a, #comment ]`: the closing bracket is part of a comment.
    fn hidden_bracket(&self, at: usize) -> Option<Help> {
        let start = self.open_bracket(at)?;
        let line = LineSpan::around(self.at.text, start);
        let rest = &self.at.text[start..line.end];
        let begins_comment = |pair: &[u8]| pair[1] == b'#' && b" \t[{,".contains(&pair[0]);
        let comment = rest.windows(2).position(begins_comment)?;
        rest[comment..].iter().any(|byte| matches!(byte, b']' | b'}')).then(|| {
            Help::new("a comment reaches to the end of its line and hides the closing bracket: write one item a line")
        })
    }

    /// Where the innermost bracket opens that is not closed before `at`.
    fn open_bracket(&self, at: usize) -> Option<usize> {
        let is_flow = |kind| matches!(kind, CollectionKind::FlowMap | CollectionKind::FlowArray);
        let frame = self.frames.iter().rev().find(|frame| is_flow(frame.kind))?;
        (self.flow_level > 0 && at > frame.start).then_some(frame.start)
    }

    /// Shows where a string begins that ends on the line of the error: its closing quote is
    /// probably missing.
    fn add_long_string(&self, error: &mut ReadError) {
        let Some((start, end)) = self.long_string else { return };
        let at = error.span.start as usize;
        let is_near = end <= at && !self.at.text[end..at].contains(&b'\n');
        if is_near {
            let line = LineSpan::around(self.at.text, start);
            let len = (line.end - start) as u32;
            error.labels.push(label(self.pos(start), len, "this string ends on the line of the error"));
        }
    }

    fn after_blanks(&self, at: usize) -> usize {
        at + self.at.text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    fn pos(&self, at: usize) -> Pos {
        Pos::new(self.file, at as u32)
    }
}

fn label(pos: Pos, len: u32, text: &'static str) -> Label {
    Label::new(Role::Related, pos, Part::Bytes(len)).text(text)
}

/// A line without its line feed.
#[derive(Clone, Copy)]
struct LineSpan {
    start: usize,
    end: usize,
}

impl LineSpan {
    fn around(text: &[u8], at: usize) -> LineSpan {
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |feed| feed + 1);
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len);
        LineSpan { start, end }
    }
}

/// How much of the rest of a line is wrong.
fn token_len(rest: &[u8], mistake: Mistake) -> usize {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    match (mistake, rest) {
        (Mistake::Escape, _) => rest.len().min(2),
        (Mistake::Quote | Mistake::NoColon, _) => rest.trim_ascii_end().len(),
        (_, [b'[' | b']' | b'{' | b'}' | b',' | b':' | b'?' | b'\t' | b'|' | b'>', ..]) => 1,
        _ => rest.iter().position(is_blank).unwrap_or(rest.len()),
    }
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, needle)
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    find(text, needle).is_some()
}

impl ReadError {
    /// Marks the error with a mistake for which there is advice.
    pub(super) fn about(mut self: Box<Self>, mistake: Mistake) -> BoxedReadError {
        self.mistake = mistake;
        self
    }

    /// Moves the error to another offset.
    pub(super) fn at(mut self: Box<Self>, at: usize) -> BoxedReadError {
        self.span = Span::new(self.span.file, at as u32, at as u32);
        self
    }
}
