//! Parses templates of kubectl's JSONPath.
//!
//! It accepts and rejects the same as kubectl, with the same messages. It uses loops where kubectl
//! recurses, and limits nested expressions, so that no path exhausts the stack.

use super::{Filter, JsonPathStep, Literal, Slice, TemplatePart};

/// A syntax error of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathError {
    /// The byte offset in the string.
    pub offset: usize,
    /// kubectl's message.
    pub go: String,
}

/// Maximum nesting of expressions (unions, filters).
const MAX_NESTING: usize = 16;

/// Parses literal text and `{…}` expressions.
pub fn parse_template(text: &str) -> Result<Vec<TemplatePart>, PathError> {
    template(text, 0)
}

fn template(text: &str, nesting: usize) -> Result<Vec<TemplatePart>, PathError> {
    let mut parts = Vec::new();
    let mut cursor = PathCursor { text, at: 0, nesting };
    loop {
        let rest = &text[cursor.at..];
        let Some(brace) = rest.find('{') else {
            if !rest.is_empty() {
                parts.push(TemplatePart::Text(rest.to_owned()));
            }
            return Ok(parts);
        };
        if brace > 0 {
            parts.push(TemplatePart::Text(rest[..brace].to_owned()));
        }
        cursor.at += brace + 1;
        parts.push(TemplatePart::Expression(cursor.expression()?));
    }
}

struct PathCursor<'a> {
    text: &'a str,
    at: usize,
    nesting: usize,
}

impl<'a> PathCursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error<T>(&self, go: impl Into<String>) -> Result<T, PathError> {
        Err(PathError { offset: self.at, go: go.into() })
    }

    /// Parses steps up to the closing brace.
    fn expression(&mut self) -> Result<Vec<JsonPathStep>, PathError> {
        let mut steps = Vec::new();
        loop {
            let rest = self.rest();
            if rest.starts_with('}') {
                self.at += 1;
                return Ok(steps);
            }
            if rest.starts_with("[?(") {
                steps.push(self.filter()?);
                continue;
            }
            if rest.starts_with("..") {
                if steps.last() == Some(&JsonPathStep::Recursive) {
                    return self.error("invalid multiple recursive descent");
                }
                self.at += 2;
                steps.push(JsonPathStep::Recursive);
                if self.rest().chars().next().is_some_and(alphanumeric) {
                    steps.push(self.field());
                }
                continue;
            }
            match rest.chars().next() {
                None | Some('\r' | '\n') => return self.error("unclosed action"),
                Some(' ' | '@' | '$') => self.at += 1,
                Some('[') => self.array(&mut steps)?,
                Some(quote @ ('"' | '\'')) => steps.push(self.quoted(quote)?),
                Some('.') => {
                    self.at += 1;
                    steps.push(self.field());
                }
                Some(c) if matches!(c, '+' | '-') || c.is_numeric() => steps.push(self.number()?),
                Some(c) if alphanumeric(c) => {
                    let end = rest.find(terminator).unwrap_or(rest.len());
                    self.at += end;
                    steps.push(match &rest[..end] {
                        "true" => JsonPathStep::Literal(Literal::Bool(true)),
                        "false" => JsonPathStep::Literal(Literal::Bool(false)),
                        word => JsonPathStep::Identifier(word.to_owned()),
                    });
                }
                Some(c) => return self.error(format!("unrecognized character in action: {}", go_rune(c))),
            }
        }
    }

    /// A name up to the next unescaped terminator; backslashes are dropped.
    fn field(&mut self) -> JsonPathStep {
        let mut name = String::new();
        let mut chars = self.rest().char_indices();
        let mut end = self.rest().len();
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                if let Some((_, escaped)) = chars.next()
                    && escaped != '\\'
                {
                    name.push(escaped);
                }
            } else if terminator(c) {
                end = at;
                break;
            } else {
                name.push(c);
            }
        }
        let wildcard = &self.rest()[..end] == "*";
        self.at += end;
        if wildcard { JsonPathStep::Wildcard } else { JsonPathStep::Field(name) }
    }

    fn number(&mut self) -> Result<JsonPathStep, PathError> {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with(['+', '-']));
        let end = rest[sign..].find(|c: char| c != '.' && !c.is_numeric()).map_or(rest.len(), |at| at + sign);
        let text = &rest[..end];
        self.at += end;
        if let Ok(int) = text.parse() {
            return Ok(JsonPathStep::Literal(Literal::Int(int)));
        }
        match text.parse() {
            Ok(float) => Ok(JsonPathStep::Literal(Literal::Float(float))),
            Err(_) => self.error(format!("cannot parse number {text}")),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<JsonPathStep, PathError> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut end = 1;
        loop {
            match bytes.get(end) {
                None | Some(b'\n') => return self.error("unterminated quoted string"),
                Some(&byte) if byte == quote as u8 && bytes[end - 1] != b'\\' => break,
                Some(_) => end += 1,
            }
        }
        let raw = &rest[..=end];
        match unquote(&rest[1..end], quote) {
            Some(text) => {
                self.at += end + 1;
                Ok(JsonPathStep::Literal(Literal::Text(text)))
            }
            None => self.error(format!("unquote string {raw} error invalid syntax")),
        }
    }

    /// `[…]` without a filter: `*`, a union, a key, an index or a slice.
    fn array(&mut self, steps: &mut Vec<JsonPathStep>) -> Result<(), PathError> {
        let rest = self.rest();
        let end = match rest.find([']', '\n']) {
            Some(at) if rest.as_bytes()[at] == b']' => at,
            _ => return self.error("unterminated array"),
        };
        let inside = match &rest[1..end] {
            "*" => ":",
            text => text,
        };
        if inside.contains(',') {
            let alternatives = inside.split(',').map(|alternative| {
                let parts = self.nested(&format!("{{[{}]}}", alternative.trim_matches(' ')))?;
                Ok(first_expression(parts))
            });
            steps.push(JsonPathStep::Union(alternatives.collect::<Result<_, PathError>>()?));
        } else if let Some(key) = inside.strip_prefix('\'').and_then(|key| key.strip_suffix('\''))
            && !key.contains('\'')
        {
            steps.extend(first_expression(self.nested(&format!("{{.{key}}}"))?));
        } else {
            steps.push(JsonPathStep::Slice(self.slice(inside)?));
        }
        self.at += end + 1;
        Ok(())
    }

    fn slice(&self, text: &str) -> Result<Slice, PathError> {
        let pieces: Vec<&str> = text.split(':').collect();
        let shaped = |piece: &&str| piece.strip_prefix('-').unwrap_or(piece).bytes().all(|byte| byte.is_ascii_digit());
        if pieces.len() > 3 || !pieces.iter().all(shaped) {
            return self.error(format!("invalid array index {text}"));
        }
        let number = |index: usize| -> Result<Option<i64>, PathError> {
            match pieces.get(index) {
                None | Some(&"") => Ok(None),
                Some(piece) => match piece.parse() {
                    Ok(number) => Ok(Some(number)),
                    Err(_) => self.error(format!("array index {piece} is not a number")),
                },
            }
        };
        let (start, end, step) = (number(0)?, number(1)?, number(2)?);
        let single = pieces.len() == 1;
        let end = if single { Some(start.map_or(1, |start| start.saturating_add(1))) } else { end };
        Ok(Slice { start, end, single, step })
    }

    fn filter(&mut self) -> Result<JsonPathStep, PathError> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut at = 3;
        // Only one pair of quotes is recognised; a parenthesis inside it does not count.
        let (mut open, mut closed) = (None, false);
        loop {
            match bytes.get(at) {
                None | Some(b'\n') => return self.error("unterminated filter"),
                Some(&quote @ (b'"' | b'\'')) => match open {
                    None => open = Some(quote),
                    Some(first) if first == quote && bytes[at - 1] != b'\\' => closed = true,
                    Some(_) => {}
                },
                Some(b')') if open.is_some() == closed => break,
                Some(_) => {}
            }
            at += 1;
        }
        if bytes.get(at + 1) != Some(&b']') {
            return self.error("unclosed array expect ]");
        }
        let text = &rest[3..at];
        let side = |text: &str| Ok(first_expression(self.nested(&format!("{{{text}}}"))?));
        let filter = match split_comparison(text) {
            Some((left, operator, right)) => {
                Filter { left: side(left)?, operator: operator.to_owned(), right: side(right)? }
            }
            None => Filter { left: side(text)?, operator: "exists".to_owned(), right: Vec::new() },
        };
        self.at += at + 2;
        Ok(JsonPathStep::Filter(filter))
    }

    fn nested(&self, text: &str) -> Result<Vec<TemplatePart>, PathError> {
        if self.nesting == MAX_NESTING {
            return self.error("expressions are nested too deeply");
        }
        template(text, self.nesting + 1).map_err(|error| PathError { offset: self.at, ..error })
    }
}

fn first_expression(parts: Vec<TemplatePart>) -> Vec<JsonPathStep> {
    match parts.into_iter().next() {
        Some(TemplatePart::Expression(steps)) => steps,
        _ => Vec::new(),
    }
}

/// Splits `left operator right`: the operator is the first run of `!<>=`; neither side may be
/// empty.
fn split_comparison(text: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let start = text.find(is_operator).filter(|&at| at > 0)?;
    let run = text[start..].find(|c| !is_operator(c)).unwrap_or(text.len() - start);
    let end = if start + run == text.len() { start + run - 1 } else { start + run };
    if end == start {
        return None;
    }
    Some((&text[..start], &text[start..end], &text[end..]))
}

fn terminator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

fn alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// A character in the format of Go's `%#U`.
fn go_rune(c: char) -> String {
    if c.is_control() { format!("U+{:04X}", c as u32) } else { format!("U+{:04X} '{c}'", c as u32) }
}

/// Undoes Go's escapes; `None` if one is invalid.
fn unquote(text: &str, quote: char) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let escape = chars.next()?;
        let (count, radix, first) = match escape {
            'x' => (2, 16, 0),
            'u' => (4, 16, 0),
            'U' => (8, 16, 0),
            '0'..='7' => (2, 8, escape.to_digit(8)?),
            _ => {
                out.push(match escape {
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'v' => '\u{b}',
                    '\\' => '\\',
                    c if c == quote => c,
                    _ => return None,
                });
                continue;
            }
        };
        let code: u32 = (0..count)
            .try_fold(first, |code: u32, _| code.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?))?;
        out.push(char::from_u32(code)?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use crate::jsonpath::{JsonPath, JsonPathStep};

    fn error(path: &str) -> String {
        JsonPath::parse(path).map_or_else(|error| error.go, |path| format!("{:?}", path.parts))
    }

    #[test]
    fn errors_are_those_of_kubectl() {
        for (path, expect) in [
            (".spec", "invalid JSONPath"),
            ("jsonpath::.disks[*", "unterminated array"),
            ("jsonpath::{.a}", "unrecognized character in action: U+007B '{'"),
            ("jsonpath::random56junk%(*$%&*()", "unrecognized character in action: U+0025 '%'"),
            ("jsonpath::.a[x]", "invalid array index x"),
            ("jsonpath::.a[99999999999999999999]", "array index 99999999999999999999 is not a number"),
            ("jsonpath::.a[?(@.b=='c']", "unterminated filter"),
            ("jsonpath::.a[?(@.b=='c')", "unclosed array expect ]"),
            ("jsonpath::....a", "invalid multiple recursive descent"),
            ("jsonpath::.a 'b", "unterminated quoted string"),
        ] {
            assert_eq!(error(path), expect, "{path}");
        }
    }

    #[test]
    fn dots_split_keys_unless_escaped() {
        let fields = |path: &str| JsonPath::parse(path).unwrap().fields().map(|names| names.join("|"));
        assert_eq!(fields("jsonpath::.metadata.labels.a\\.b/c").as_deref(), Some("metadata|labels|a.b/c"));
        assert_eq!(fields("jsonpath::.metadata.labels['a\\.b/c']").as_deref(), Some("metadata|labels|a.b/c"));
        assert_eq!(fields("jsonpath::['a.b']").as_deref(), Some("a|b"));
        assert_eq!(fields("jsonpath::$.a .b").as_deref(), Some("a|b"));
        assert_eq!(fields("jsonpath::spec"), None);
    }

    #[test]
    fn hostile_paths_do_not_panic_or_hang() {
        for path in [
            "jsonpath::[,]",
            "jsonpath::['']",
            "jsonpath::[?()]",
            "jsonpath::[?(=)]",
            "jsonpath::[?(==)]",
            "jsonpath::}{",
            "jsonpath::.a\\",
            "jsonpath::é",
            "jsonpath::[-]",
            "jsonpath::+",
        ] {
            let _ = JsonPath::parse(path);
        }
        let deep = format!("jsonpath::{}", "[?(@".repeat(10_000));
        assert!(JsonPath::parse(&deep).is_err());
        let path = JsonPath::parse(&format!("jsonpath::{}", ".a".repeat(100_000))).unwrap();
        assert!(path.steps().unwrap().iter().all(|step| *step == JsonPathStep::Field("a".to_owned())));
    }
}
