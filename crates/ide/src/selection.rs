//! Expanding selections: from a word to its expression, its line, its item, its document.
//!
//! An editor asks for many cursors at a time. The items and blocks around each line are therefore
//! prepared once per request, and each cursor visits only what contains it.

use std::collections::HashMap;

use crate::TextRange;
use crate::context::Cursor;
use crate::model::{Model, TokenKind};

/// Data that the selections of all cursors in a file share.
pub struct SelectionIndex {
    items: Enclosing,
    blocks: Enclosing,
    /// The items with the same parent, by document and parent.
    siblings: HashMap<(usize, Option<usize>), Siblings>,
    /// The last line of the blocks that begin in each document.
    block_ends: Vec<Option<usize>>,
}

/// The extent of the items with one parent.
struct Siblings {
    /// The offset of the first key.
    start: usize,
    /// The last line of any of them.
    end_line: usize,
}

impl SelectionIndex {
    /// The index of a file, in linear time.
    pub fn new(model: &Model) -> SelectionIndex {
        let mut siblings: HashMap<(usize, Option<usize>), Siblings> = HashMap::new();
        for item in &model.items {
            let siblings = siblings
                .entry((item.document, item.parent))
                .or_insert(Siblings { start: item.key_range.start, end_line: item.end_line });
            siblings.end_line = siblings.end_line.max(item.end_line);
        }
        let mut block_ends = vec![None; model.documents.len()];
        for block in &model.blocks {
            // Blocks that begin in a document belong to it, including their ends.
            let after = model.documents.partition_point(|document| document.line <= block.line);
            if let Some(document) = after.checked_sub(1).filter(|at| block.line <= model.documents[*at].end_line) {
                block_ends[document] = block_ends[document].max(Some(block.end_line));
            }
        }
        SelectionIndex {
            items: Enclosing::new(model.items.iter().map(|item| (item.line, item.end_line))),
            blocks: Enclosing::new(model.blocks.iter().map(|block| (block.line, block.end_line))),
            siblings,
            block_ends,
        }
    }
}

/// Finds the ranges of lines that contain a line.
struct Enclosing {
    /// First line, last line and index of each range, by first line.
    sorted: Vec<(usize, usize, usize)>,
    /// The nearest range before it that does not end before it begins, for each range.
    outer: Vec<Option<usize>>,
}

impl Enclosing {
    fn new(ranges: impl Iterator<Item = (usize, usize)>) -> Enclosing {
        let mut sorted: Vec<_> = ranges.enumerate().map(|(index, (line, end))| (line, end, index)).collect();
        sorted.sort_by_key(|(line, _, index)| (*line, *index));
        let mut open: Vec<usize> = Vec::new();
        let mut outer = Vec::with_capacity(sorted.len());
        for (index, (line, ..)) in sorted.iter().enumerate() {
            while open.pop_if(|last| sorted[*last].1 < *line).is_some() {}
            outer.push(open.last().copied());
            open.push(index);
        }
        Enclosing { sorted, outer }
    }

    /// The indices of the ranges that contain a line, the last one first.
    fn of(&self, line: usize) -> impl Iterator<Item = usize> + '_ {
        let last = self.sorted.partition_point(|(start, ..)| *start <= line).checked_sub(1);
        let around = std::iter::successors(last, |index| self.outer[*index]);
        around.filter(move |index| line <= self.sorted[*index].1).map(|index| self.sorted[index].2)
    }
}

/// The ranges around the cursor, each contained in the next one.
pub fn ranges(at: Cursor<'_>, index: &SelectionIndex) -> Vec<TextRange> {
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
    for block in index.blocks.of(line).map(|block| &model.blocks[block]) {
        let end = model.lines.range(text, block.end_line).end;
        found.push(TextRange::new(model.lines.start(block.line), end));
    }
    let mut next =
        index.items.of(line).find(|item| model.items[*item].key_range.start <= at.offset.max(line_range.start));
    while let Some(own) = next {
        let item = &model.items[own];
        if item.key_range.touches(at.offset) {
            found.push(item.key_range);
        }
        if !item.value.is_empty() && item.value.touches(at.offset) {
            found.push(item.value);
        }
        let end = model.lines.range(text, item.end_line).end.max(item.value.end);
        found.push(TextRange::new(item.key_range.start, end));
        // All keys of a map, without the key that it belongs to.
        if let (Some(siblings), false) = (index.siblings.get(&(item.document, item.parent)), item.is_flow) {
            let last = model.lines.range(text, siblings.end_line).end;
            found.push(TextRange::new(siblings.start, last.max(end)));
        }
        next = item.parent;
    }
    let document = model.documents.get(at.document());
    if let Some(document) = document {
        let last = index.block_ends[at.document()].map_or(document.end_line, |end| end.max(document.end_line));
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

/// The contents of the brackets around the cursor, the brackets themselves, and calls with their
/// names.
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

#[cfg(test)]
mod tests {
    use super::Enclosing;

    #[test]
    fn enclosing_finds_what_a_scan_finds() {
        // Nested, touching, overlapping and equal ranges.
        let ranges = [(0, 9), (1, 3), (3, 5), (2, 4), (3, 3), (3, 3), (6, 6), (7, 12), (20, 21)];
        let index = Enclosing::new(ranges.into_iter());
        for line in 0..24 {
            let mut found: Vec<usize> = index.of(line).collect();
            found.sort_unstable();
            let contains = |at: &usize| ranges[*at].0 <= line && line <= ranges[*at].1;
            assert_eq!(found, (0..ranges.len()).filter(contains).collect::<Vec<_>>(), "line {line}");
        }
    }
}
