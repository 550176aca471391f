//! Finds the ranges of keys and values in a text.
//!
//! Trees keep only where items begin, which suffices for a run. A diagnostic that underlines a key
//! or a value parses the text again.

use ytterby_diag::{FileId, Outline, OutlineItem};

use crate::tree::MapItem;
use crate::{NodeId, ReadOptions, Scalar, Tree, parse};

/// Lists every item of a text's maps and arrays, with the ranges of its key and its value. The list
/// is empty if the text is not YAML.
pub fn outline(text: &[u8]) -> Outline {
    let options = ReadOptions { comments: false, ..ReadOptions::default() };
    let Ok(tree) = parse(text, FileId(0), &options) else { return Outline::default() };
    let mut items = Vec::with_capacity(tree.map_items.len() + tree.array_items.len());
    for item in &tree.map_items {
        let key = key_range(text, item);
        let value = value_range(text, &tree, key.end, item.value);
        items.push(OutlineItem { at: item.pos.offset, key, value });
    }
    for item in &tree.array_items {
        let at = item.pos.offset;
        let value = value_range(text, &tree, at + 1, item.value);
        items.push(OutlineItem { at, key: at..at, value });
    }
    Outline::new(items)
}

type Range = std::ops::Range<u32>;

/// The key of an item, including quotes, without anchor and tag.
fn key_range(text: &[u8], item: &MapItem) -> Range {
    let start = skip_properties(text, item.pos.offset as usize);
    let rest = &text[start..];
    let len = match (rest.first(), &item.key) {
        (Some(quote @ (b'"' | b'\'')), _) => quoted_len(rest, *quote),
        (_, Scalar::Str(key)) if rest.starts_with(key) => key.len(),
        // A number, a boolean, null, or an alias: none contains blanks or commas.
        _ => rest.iter().position(|byte| b" \t\r\n:,]}".contains(byte)).unwrap_or(rest.len()),
    };
    start as u32..(start + len) as u32
}

/// The value of an item whose key, or `-`, ends at `after`.
fn value_range(text: &[u8], tree: &Tree, after: u32, value: NodeId) -> Range {
    let span = tree.span(value);
    if span.start >= after {
        return span.start..span.end;
    }
    // An alias: its node is further up.
    let start = skip_blanks(text, after as usize + usize::from(text.get(after as usize) == Some(&b':')));
    let rest = &text[start..];
    let len = match rest.first() {
        Some(b'*') => rest.iter().position(|byte| b" \t\r\n,]}".contains(byte)).unwrap_or(rest.len()),
        _ => 0,
    };
    start as u32..(start + len) as u32
}

/// The offset after anchors and tags, on the same line.
fn skip_properties(text: &[u8], mut at: usize) -> usize {
    while let Some(b'&' | b'!') = text.get(at) {
        let len = text[at..].iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(text.len() - at);
        at = skip_blanks(text, at + len);
    }
    at
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The length of a quoted scalar at the beginning of a text.
fn quoted_len(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' if quote == b'"' => at += 1,
            b'\'' if quote == b'\'' && text.get(at) == Some(&b'\'') => at += 1,
            _ if byte == quote => break,
            _ => {}
        }
    }
    at.min(text.len())
}
