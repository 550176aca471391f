//! Maps lines of the output to lines of source files.
//!
//! The run records the position of each node; the output is parsed again, and both trees are walked
//! in parallel.

use ytterby_diag::{FileId, Origin, Pos, Sources};
use ytterby_yaml::{NodeId, ReadOptions, Tree, View, last_wins, parse};

use crate::analysis::SeenNode;
use crate::text::LineIndex;

/// Output line, path and source line, all from 0, in the order of the output.
pub(crate) fn line_map(output: &str, documents: &[SeenNode], sources: &Sources) -> Vec<(usize, String, usize)> {
    let Ok(tree) = parse(output.as_bytes(), FileId(0), &ReadOptions::default()) else { return Vec::new() };
    let mut mapper = Mapper { tree: &tree, lines: LineIndex::new(output), sources, rows: Vec::new() };
    let written = tree.documents().iter().filter(|document| !document.injected);
    for (document, node) in written.zip(documents) {
        mapper.node(document.value, node, 0);
    }
    mapper.rows.sort();
    mapper.rows.dedup_by_key(|row| row.0);
    mapper.rows
}

struct Mapper<'a> {
    tree: &'a Tree,
    lines: LineIndex,
    sources: &'a Sources,
    rows: Vec<(usize, String, usize)>,
}

impl Mapper<'_> {
    fn node(&mut self, id: NodeId, node: &SeenNode, depth: usize) {
        if depth > 200 {
            return;
        }
        match self.tree.value(id) {
            View::Scalar(_) => {}
            View::Array(items) => {
                for (item, child) in items.iter().zip(&node.children) {
                    self.row(item.pos, child);
                    self.node(item.value, child, depth + 1);
                }
            }
            View::Map(items) => {
                for ((item, _), child) in last_wins(items).into_iter().zip(&node.children) {
                    self.row(item.pos, child);
                    self.node(item.value, child, depth + 1);
                }
            }
        }
    }

    fn row(&mut self, written: Pos, node: &SeenNode) {
        let place = self.sources.source_place(node.pos);
        let Some(source) = self.sources.get(place.file).filter(|source| source.origin() == Origin::File) else {
            return;
        };
        let line = source.line(place.offset).saturating_sub(1) as usize;
        self.rows.push((self.lines.line_of(written.offset as usize), source.place().to_owned(), line));
    }
}
