//! Finds ranges in a source: keys, values and tokens.
//!
//! Nodes keep only where they begin. When a diagnostic needs the end, the source parses its text
//! again ([`Outline`], [`Readers::token`]). Errors are rare, and a run without errors pays nothing.
//! This crate does not know how YAML and Starlark are parsed; crates above pass functions.

use std::ops::Range;

use crate::Source;

/// Which part of the text at a position is meant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Part {
    /// This many bytes.
    Bytes(u32),
    /// The key of the item that begins there.
    Key,
    /// The value of the item that begins there; its key if the value is not visible.
    #[default]
    Value,
    /// The token there: a name, an operator, a call with its arguments.
    Token,
    /// An annotation: `#@overlay/match`.
    Annotation,
    /// One argument of the annotation there, by its name or, if it has none, its index from 0.
    Argument(Argument),
    /// The name of a keyword argument of the call or annotation there; no range if it has no such
    /// argument.
    ArgumentName(String),
    /// The first string with this content on the line, with its quotes; no range if there is none.
    Quoted(String),
    /// Exactly these bytes; no range if the text differs.
    Exactly(String),
    /// The rest of the line, without trailing blanks.
    Line,
}

/// An argument of an annotation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Argument {
    /// `name=…`.
    Named(String),
    /// The argument with this index, counted from 0.
    Position(usize),
}

/// The items of a YAML text, by offset.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Sorted by `at`.
    items: Vec<OutlineItem>,
}

/// One item of a map or an array.
#[derive(Clone, Debug)]
pub struct OutlineItem {
    /// Where it begins: its key or `-`.
    pub at: u32,
    /// The key, including quotes; empty for items of arrays.
    pub key: Range<u32>,
    /// The value, including quotes and brackets; empty if the source contains none.
    pub value: Range<u32>,
}

impl Outline {
    /// An outline of these items.
    pub fn new(mut items: Vec<OutlineItem>) -> Outline {
        items.sort_by_key(|item| item.at);
        Outline { items }
    }

    /// The item that begins at an offset.
    pub fn item(&self, at: u32) -> Option<&OutlineItem> {
        let place = self.items.binary_search_by_key(&at, |item| item.at).ok()?;
        self.items.get(place)
    }

    /// All items, in the order of the text.
    pub fn items(&self) -> &[OutlineItem] {
        &self.items
    }
}

/// Functions that parse a text again to find ranges in it.
#[derive(Clone, Copy, Debug)]
pub struct Readers {
    /// Finds keys and values.
    pub outline: fn(&[u8]) -> Outline,
    /// Finds the token that begins at an offset.
    pub token: fn(&[u8], u32) -> Range<u32>,
}

impl Default for Readers {
    fn default() -> Readers {
        Readers { outline: |_| Outline::default(), token: word_at }
    }
}

/// The outline of `key=value`, the argument of a flag.
pub fn outline_of_pair(text: &[u8]) -> Outline {
    let Some(equals) = text.iter().position(|byte| *byte == b'=') else { return Outline::default() };
    let equals = equals as u32;
    Outline::new(vec![OutlineItem { at: 0, key: 0..equals, value: equals + 1..text.len() as u32 }])
}

/// The word at an offset, or the one character there.
pub fn word_at(text: &[u8], offset: u32) -> Range<u32> {
    let rest = text.get(offset as usize..).unwrap_or_default();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let word = rest.iter().take_while(|byte| is_word(byte)).count();
    let len = if word > 0 { word } else { usize::from(!rest.is_empty() && rest[0] != b'\n') };
    offset..offset + len as u32
}

/// The range of a part of the text at an offset, if it exists. It never exceeds the text.
pub(crate) fn range_of(source: &Source, offset: u32, part: &Part) -> Option<Range<u32>> {
    let end = source.text().len() as u32;
    let offset = offset.min(end);
    let range = match part {
        Part::Bytes(len) => offset..offset.saturating_add(*len),
        Part::Token => source.token(offset),
        Part::Line => rest_of_line(source.text(), offset),
        Part::Annotation => annotation_name(source.text(), offset),
        Part::Argument(argument) => {
            argument_range(source.text(), offset, argument).unwrap_or_else(|| annotation_name(source.text(), offset))
        }
        Part::ArgumentName(name) => keyword_range(source.text(), offset, name.as_bytes())?,
        Part::Quoted(text) => quoted_range(source.text(), offset, text)?,
        Part::Exactly(text) => {
            source.text()[offset as usize..].starts_with(text.as_bytes()).then(|| offset..offset + text.len() as u32)?
        }
        Part::Key | Part::Value => match source.outline().item(offset) {
            Some(item) if *part == Part::Value && !item.value.is_empty() => item.value.clone(),
            Some(item) if !item.key.is_empty() => item.key.clone(),
            _ => rest_of_line(source.text(), offset),
        },
    };
    Some(range.start.min(end)..range.end.min(end).max(range.start.min(end)))
}

fn rest_of_line(text: &[u8], offset: u32) -> Range<u32> {
    let rest = text.get(offset as usize..).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    offset..offset + line.trim_ascii_end().len() as u32
}

/// `#@name` at an offset, which may be that of the `#` or of the name.
fn annotation_name(text: &[u8], offset: u32) -> Range<u32> {
    let rest = text.get(offset as usize..).unwrap_or_default();
    let is_end = |byte: &u8| byte.is_ascii_whitespace();
    let marks = rest.iter().take_while(|byte| matches!(byte, b'#' | b'@')).count();
    let name = rest[marks..].iter().position(is_end).unwrap_or(rest.len() - marks);
    offset..offset + (marks + name) as u32
}

/// The argument of the annotation on the line of an offset.
fn argument_range(text: &[u8], offset: u32, argument: &Argument) -> Option<Range<u32>> {
    let name = annotation_name(text, offset);
    let line_end = rest_of_line(text, offset).end;
    let args = text.get(name.end as usize..line_end as usize)?;
    let mut start = 0;
    for (number, arg) in split_arguments(args).into_iter().enumerate() {
        let blanks = arg.len() - arg.trim_ascii_start().len();
        let trimmed = arg.trim_ascii();
        let is_it = match argument {
            Argument::Position(wanted) => number == *wanted,
            Argument::Named(wanted) => is_keyword_argument(trimmed, wanted.as_bytes()),
        };
        if is_it {
            let from = name.end + (start + blanks) as u32;
            return Some(from..from + trimmed.len() as u32);
        }
        start += arg.len() + 1;
    }
    None
}

/// Whether an argument begins with `name=`.
fn is_keyword_argument(argument: &[u8], name: &[u8]) -> bool {
    let rest = argument.strip_prefix(name).map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|rest| rest.starts_with(b"=") && !rest.starts_with(b"=="))
}

/// A string with this content on the line of an offset.
fn quoted_range(text: &[u8], offset: u32, content: &str) -> Option<Range<u32>> {
    let rest = rest_of_line(text, offset);
    let line = text.get(rest.start as usize..rest.end as usize)?;
    let found = |quote: char| {
        let literal = format!("{quote}{content}{quote}");
        let at = line.windows(literal.len()).position(|part| part == literal.as_bytes())?;
        Some((at, literal.len()))
    };
    let (at, len) = found('"').into_iter().chain(found('\'')).min()?;
    Some(offset + at as u32..offset + (at + len) as u32)
}

/// The name of a keyword argument of the annotation at an offset, or of the call whose `(` is
/// there.
fn keyword_range(text: &[u8], offset: u32, name: &[u8]) -> Option<Range<u32>> {
    let rest = text.get(offset as usize..)?;
    let (args, mut start) = match rest.strip_prefix(b"(") {
        Some(args) => (args, offset + 1),
        None => {
            let annotation = annotation_name(text, offset);
            (text.get(annotation.end as usize..rest_of_line(text, offset).end as usize)?, annotation.end)
        }
    };
    for arg in split_arguments(args) {
        let trimmed = arg.trim_ascii_start();
        if is_keyword_argument(trimmed, name) {
            let from = start + (arg.len() - trimmed.len()) as u32;
            return Some(from..from + name.len() as u32);
        }
        start += arg.len() as u32 + 1;
    }
    None
}

/// Splits arguments at commas outside of brackets and quotes, up to the unmatched closing bracket.
fn split_arguments(args: &[u8]) -> Vec<&[u8]> {
    let (mut depth, mut quote, mut start) = (0_i32, None, 0);
    let mut found = Vec::new();
    let mut bytes = args.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => drop(bytes.next()),
            (Some(open), byte) if open == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') if depth == 0 => {
                found.push(&args[start..at]);
                return found;
            }
            (None, b')' | b']' | b'}') => depth -= 1,
            (None, b',') if depth == 0 => {
                found.push(&args[start..at]);
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    found.push(&args[start..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(text: &str, offset: u32, part: &Part) -> String {
        let source = Source::new("a", text.as_bytes());
        let Some(range) = source.part(offset, part) else { return "nothing".to_owned() };
        text[range.start as usize..range.end as usize].to_owned()
    }

    #[test]
    fn finds_words_and_lines() {
        assert_eq!(text_of("a + größe - 1", 4, &Part::Token), "größe");
        assert_eq!(text_of("a + b", 2, &Part::Token), "+");
        assert_eq!(text_of("a: b  \nc", 0, &Part::Line), "a: b");
        assert_eq!(text_of("a", 9, &Part::Token), "");
    }

    #[test]
    fn finds_annotations_and_their_arguments() {
        let line = "#@schema/validation min=1, one_of=[\"a,b\", \"c\"], max = 3\nx: 1";
        let named = |name: &str| text_of(line, 0, &Part::Argument(Argument::Named(name.to_owned())));
        assert_eq!(text_of(line, 0, &Part::Annotation), "#@schema/validation");
        assert_eq!(named("min"), "min=1");
        assert_eq!(named("one_of"), "one_of=[\"a,b\", \"c\"]");
        assert_eq!(named("max"), "max = 3");
        assert_eq!(named("mi"), "#@schema/validation");
        let second = Part::Argument(Argument::Position(1));
        assert_eq!(text_of(line, 0, &second), "one_of=[\"a,b\", \"c\"]");
    }

    #[test]
    fn finds_strings_and_names_of_arguments_on_a_line() {
        let line = "#@overlay/match by='a', missingok=True\nmissingok=1 'b'";
        let name = |name: &str| text_of(line, 0, &Part::ArgumentName(name.to_owned()));
        assert_eq!((name("missingok"), name("expects")), ("missingok".to_owned(), "nothing".to_owned()));
        let quoted = |text: &str| text_of(line, 0, &Part::Quoted(text.to_owned()));
        assert_eq!((quoted("a"), quoted("b")), ("'a'".to_owned(), "nothing".to_owned()));
    }

    #[test]
    fn finds_arguments_of_calls_and_exact_bytes() {
        let text = "f(a, name == 1, g(nmae=2), \n  nmae = 3) + h(port=4)";
        let name = |offset, name: &str| text_of(text, offset, &Part::ArgumentName(name.to_owned()));
        let at = |offset, name: &str| {
            let range = Source::new("a", text.as_bytes()).part(offset, &Part::ArgumentName(name.to_owned()));
            range.map(|range| range.start)
        };
        assert_eq!((name(1, "nmae"), at(1, "nmae")), ("nmae".to_owned(), Some(30)));
        assert_eq!((at(1, "name"), at(1, "port"), at(0, "nmae")), (None, None, None));
        assert_eq!(text_of("x.nmae", 1, &Part::Exactly(".nmae".to_owned())), ".nmae");
        assert_eq!(text_of("x(nmae)", 1, &Part::Exactly(".nmae".to_owned())), "nothing");
    }

    #[test]
    fn flags_have_keys_and_values() {
        let outline = outline_of_pair(b"db.port=80");
        let item = outline.item(0).unwrap();
        assert_eq!((item.key.clone(), item.value.clone()), (0..7, 8..10));
    }
}
