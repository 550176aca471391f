//! Folding ranges: maps and arrays, blocks and brackets of code, documents, comments.

use std::collections::BTreeMap;

use crate::file::File;
use crate::model::{Model, RegionKind, TokenKind};

/// The kind of a folding range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldKind {
    /// YAML or code.
    Region,
    /// Comments.
    Comment,
    /// Loads.
    Imports,
}

/// Lines that can be folded, from 0, inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The first line, which stays visible.
    pub start: usize,
    /// The last line.
    pub end: usize,
    /// Its kind.
    pub kind: FoldKind,
}

/// The folding ranges of a file, sorted by first line; if several begin on a line, the longest.
pub fn folds(file: &File) -> Vec<Fold> {
    let model = file.model();
    let mut found: BTreeMap<usize, (usize, FoldKind)> = BTreeMap::new();
    let mut add = |start: usize, end: usize, kind: FoldKind| {
        if end > start {
            let known = found.entry(start).or_insert((end, kind));
            known.0 = known.0.max(end);
        }
    };
    for item in &model.items {
        add(item.line, item.end_line, FoldKind::Region);
    }
    for block in model.blocks.iter().filter(|block| block.end.is_some()) {
        // The `end` stays visible.
        add(block.line, block.end_line.saturating_sub(1), FoldKind::Region);
    }
    for (start, end) in brackets(model, &file.text) {
        add(start, end, FoldKind::Region);
    }
    for document in model.documents.iter().filter(|document| document.separator.is_some()) {
        add(document.line, document.end_line, FoldKind::Region);
    }
    let load_lines: Vec<usize> = model.loads.iter().map(|load| model.lines.line_of(load.range.start)).collect();
    for (start, end) in runs(&load_lines) {
        add(start, end, FoldKind::Imports);
    }
    let is_code =
        |line: usize| model.regions.iter().any(|region| region.line == line && region.kind != RegionKind::Whole);
    let comment_lines: Vec<usize> = model
        .comments
        .iter()
        .filter(|range| {
            let text = range.of(&file.text);
            !text.starts_with("#@") && range.start == first_of_line(file, range.start)
        })
        .map(|range| model.lines.line_of(range.start))
        .collect();
    for (start, end) in runs(&comment_lines) {
        if !is_code(start) {
            add(start, end, FoldKind::Comment);
        }
    }
    found.into_iter().map(|(start, (end, kind))| Fold { start, end, kind }).collect()
}

/// How many open brackets are compared with a closing one, so that hostile code takes linear time.
const MAX_OPEN: usize = 64;

/// The lines between brackets of code that belong together. A line that begins with the closing one
/// stays visible.
fn brackets(model: &Model, text: &str) -> Vec<(usize, usize)> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut found = Vec::new();
    for token in model.tokens.iter().filter(|token| token.kind == TokenKind::Op) {
        let line = model.lines.line_of(token.range.start);
        match token.range.of(text) {
            "(" => open.push((")", line)),
            "[" => open.push(("]", line)),
            "{" => open.push(("}", line)),
            close @ (")" | "]" | "}") => {
                // Brackets that nobody closed yet are dropped.
                let known = open.iter().enumerate().rev().take(MAX_OPEN);
                if let Some((at, (_, start))) = known.into_iter().find(|(_, (expected, _))| *expected == close) {
                    found.push((*start, line.saturating_sub(usize::from(token.begins_line))));
                    open.truncate(at);
                }
            }
            _ => {}
        }
    }
    found
}

fn first_of_line(file: &File, offset: usize) -> usize {
    let lines = &file.model().lines;
    let range = lines.range(&file.text, lines.line_of(offset));
    let body = range.of(&file.text);
    range.start + body.len() - body.trim_start().len()
}

/// Runs of lines that follow each other.
fn runs(lines: &[usize]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        match found.last_mut() {
            Some(last) if last.1 + 1 == *line => last.1 = *line,
            _ => found.push((*line, *line)),
        }
    }
    found.retain(|(start, end)| end > start);
    found
}
