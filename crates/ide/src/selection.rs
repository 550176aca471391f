//! Expanding selections: from a word to its expression, its line, its item, its document.

use crate::TextRange;
use crate::context::Cursor;
use crate::model::TokenKind;

/// The ranges around the cursor, each contained in the next one.
pub fn ranges(at: Cursor<'_>) -> Vec<TextRange> {
    let (model, text) = (at.model(), at.text());
    let mut found = Vec::new();
    if let Some(region) = at.region() {
        if let Some((_, token)) = at.token() {
            if token.kind == TokenKind::Str && token.range.end - token.range.start >= 2 {
                let word = at.word();
                found.extend((!word.is_empty()).then_some(word));
                found.push(TextRange::new(token.range.start + 1, token.range.end - 1));
            }
            found.push(token.range);
        }
        if let Some((chain, part)) = at.chain() {
            let ends = chain.parts.iter().map(|part| part.range.end).skip(part.unwrap_or_default());
            found.extend(ends.map(|end| TextRange::new(chain.root_range.start, end)));
        }
        found.extend(brackets(at));
        found.push(trimmed(text, region.range));
    }
    let line = model.lines.line_of(at.offset);
    let line_range = model.lines.range(text, line);
    found.push(trimmed(text, line_range));
    for block in &model.blocks {
        if block.line <= line && line <= block.end_line {
            let end = model.lines.range(text, block.end_line).end;
            found.push(TextRange::new(model.lines.start(block.line), end));
        }
    }
    let own = model.items.iter().rposition(|item| {
        item.line <= line && line <= item.end_line && item.key_range.start <= at.offset.max(line_range.start)
    });
    let mut next = own;
    while let Some(index) = next {
        let item = &model.items[index];
        if item.key_range.touches(at.offset) {
            found.push(item.key_range);
        }
        if !item.value.is_empty() && item.value.touches(at.offset) {
            found.push(item.value);
        }
        let end = model.lines.range(text, item.end_line).end.max(item.value.end);
        found.push(TextRange::new(item.key_range.start, end));
        // All keys of a map, without the key that it belongs to.
        let siblings = model.children(item.document, item.parent);
        let ends = siblings.map(|sibling| model.lines.range(text, model.items[sibling].end_line).end);
        let first = model.children(item.document, item.parent).next().map(|first| model.items[first].key_range.start);
        if let (Some(first), Some(last), false) = (first, ends.max(), item.is_flow) {
            found.push(TextRange::new(first, last.max(end)));
        }
        next = item.parent;
    }
    let document = model.documents.get(at.document());
    if let Some(document) = document {
        // Blocks that begin in a document belong to it, including their ends.
        let within = model.blocks.iter().filter(|block| (document.line..=document.end_line).contains(&block.line));
        let last = within.map(|block| block.end_line).max().map_or(document.end_line, |end| end.max(document.end_line));
        let end = model.lines.range(text, last).end;
        found.push(TextRange::new(model.lines.start(document.line), end));
    }
    found.push(TextRange::new(0, text.len()));
    found.retain(|range| range.touches(at.offset));
    found.sort_by_key(|range| (range.end - range.start, range.start));
    let mut chain: Vec<TextRange> = Vec::new();
    for range in found {
        let fits = chain.last().is_none_or(|last| range.start <= last.start && last.end <= range.end && range != *last);
        if fits {
            chain.push(range);
        }
    }
    chain
}

/// The contents of the brackets around the cursor, the brackets themselves, and calls with their names.
fn brackets(at: Cursor<'_>) -> Vec<TextRange> {
    let (model, text) = (at.model(), at.text());
    let Some(region) = at.region() else { return Vec::new() };
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for index in region.tokens.clone() {
        let token = &model.tokens[index];
        if token.kind != TokenKind::Op {
            continue;
        }
        match token.range.of(text) {
            "(" | "[" | "{" => open.push(index),
            ")" | "]" | "}" => {
                let Some(start) = open.pop() else { continue };
                let bracket = TextRange::new(model.tokens[start].range.start, token.range.end);
                if !bracket.touches(at.offset) {
                    continue;
                }
                found.push(trimmed(text, TextRange::new(bracket.start + 1, bracket.end - 1)));
                found.push(bracket);
                let mut first = start;
                while first > region.tokens.start {
                    let before = &model.tokens[first - 1];
                    let joins = before.range.end == model.tokens[first].range.start
                        && (before.kind == TokenKind::Name || before.range.of(text) == ".");
                    if !joins {
                        break;
                    }
                    first -= 1;
                }
                found.push(TextRange::new(model.tokens[first].range.start, bracket.end));
            }
            _ => {}
        }
    }
    found
}

fn trimmed(text: &str, range: TextRange) -> TextRange {
    let body = range.of(text);
    let start = range.start + body.len() - body.trim_start().len();
    TextRange::new(start, start + body.trim().len())
}
