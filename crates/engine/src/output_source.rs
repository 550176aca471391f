//! Where each line of the output comes from: `-o yaml+source`, `--source-map`.
//!
//! The writer does not track lines. Instead, its output is parsed again, and the two trees are
//! walked in parallel: one has the lines, the other the source positions. Only runs that request it
//! pay for it.

use ytterby_diag::{Failure, FileId, Id, Path, Pos, Source};
use ytterby_yaml::ReadOptions;

use crate::api::SourceLine;
use crate::node::{self, Document, FileDocuments, Node, Scalar, key_text};
use crate::output;
use crate::run::Run;

/// A line of the output and the node that begins on it.
struct NodeLine {
    /// From 1.
    line: u32,
    document: usize,
    path: Path,
    pos: Pos,
    /// Whether a comment can follow on the line.
    takes_comment: bool,
}

/// YAML with the source position in a comment at the end of each line on which a node begins.
pub(crate) fn yaml(run: &Run, docs: Vec<FileDocuments>) -> Result<Vec<u8>, Failure> {
    let docs = documents(docs);
    let text = written(&docs)?;
    let lines = lines(&text, &docs)?;
    let mut places: Vec<Option<String>> = Vec::new();
    for line in lines.iter().filter(|line| line.takes_comment && line.pos.is_known()) {
        let at = line.line as usize;
        places.resize(places.len().max(at + 1), None);
        places[at] = Some(run.locate(line.pos));
    }
    let mut out = Vec::with_capacity(text.len() * 2);
    for (at, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let (line, end) = match line.strip_suffix(b"\n") {
            Some(line) => (line, &b"\n"[..]),
            None => (line, &b""[..]),
        };
        out.extend_from_slice(line);
        if let Some(Some(place)) = places.get(at + 1) {
            out.extend_from_slice(format!(" # {place}").as_bytes());
        }
        out.extend_from_slice(end);
    }
    Ok(out)
}

/// The source positions of all lines when the documents are written as YAML.
pub(crate) fn map(run: &Run, docs: Vec<FileDocuments>, output: Option<&str>) -> Result<Vec<SourceLine>, Failure> {
    let docs = documents(docs);
    let text = written(&docs)?;
    let row = |line: NodeLine| {
        let pos = run.sources.source_place(line.pos);
        let source = run.sources.get(pos.file)?;
        let (source_line, column) = source.line_column(pos.offset);
        Some(SourceLine {
            output: output.map(str::to_owned),
            line: line.line,
            document: line.document,
            path: line.path,
            file: openable(&source),
            source_line,
            column,
        })
    };
    Ok(lines(&text, &docs)?.into_iter().filter_map(row).collect())
}

/// The name of a source as a path that can be opened from the current directory.
pub(crate) fn openable(source: &Source) -> String {
    let name = if source.place().is_empty() { source.name() } else { source.place() };
    name.strip_prefix("./").unwrap_or(name).trim().to_owned()
}

fn documents(docs: Vec<FileDocuments>) -> Vec<Document> {
    docs.into_iter().flat_map(|docs| docs.into_nodes().items).filter(|doc| !doc.is_empty()).collect()
}

fn written(docs: &[Document]) -> Result<Vec<u8>, Failure> {
    output::yaml([FileDocuments::Nodes(node::DocumentSet { items: docs.to_vec() })])
}

fn lines(text: &[u8], docs: &[Document]) -> Result<Vec<NodeLine>, Failure> {
    let wrong = |_| Failure::new(Id::OUTPUT_ENCODE, "the output cannot be read again, so its lines have no places");
    let options = ReadOptions { comments: false, ..ReadOptions::default() };
    let tree = ytterby_yaml::parse(text, FileId(0), &options).map_err(wrong)?;
    let read = node::documents_from_tree(&tree);
    let source = Source::new("", text);
    let mut found = Vec::new();
    let read = read.items.iter().filter(|doc| !doc.is_empty());
    for (at, (doc, read)) in docs.iter().zip(read).enumerate() {
        let mut walk = LineCollector { source: &source, text, document: at + 1, found: &mut found };
        walk.value(&doc.value, &read.value, &Path::document(), doc.pos);
    }
    found.sort_by_key(|line| line.line);
    Ok(found)
}

struct LineCollector<'a> {
    source: &'a Source,
    text: &'a [u8],
    document: usize,
    found: &'a mut Vec<NodeLine>,
}

impl LineCollector<'_> {
    fn value(&mut self, node: &Node, read: &Node, path: &Path, above: Pos) {
        match (node, read) {
            (Node::Map(map), Node::Map(read)) => {
                for item in map.iter() {
                    let Some(twin) = read.get(&item.key) else { continue };
                    let path = path.key(key_text(&item.key));
                    self.item(&item.value, &twin.value, &path, item.pos, twin.pos, above);
                }
            }
            (Node::Array(array), Node::Array(read)) => {
                for (at, (item, twin)) in array.items.iter().zip(&read.items).enumerate() {
                    self.item(&item.value, &twin.value, &path.index(at), item.pos, twin.pos, above);
                }
            }
            _ => {}
        }
    }

    fn item(&mut self, node: &Node, read: &Node, path: &Path, pos: Pos, at: Pos, above: Pos) {
        let pos = if pos.is_known() { pos } else { above };
        let line = self.source.line(at.offset);
        let takes_comment = match node {
            Node::Scalar(Scalar::Str(text)) if text.as_bytes().contains(&b'\n') => self.is_block(line),
            _ => true,
        };
        self.found.push(NodeLine { line, document: self.document, path: path.clone(), pos, takes_comment });
        crate::deep(|| self.value(node, read, path, pos));
    }

    /// Whether the multi-line text that begins on a line is a block scalar (`|` or `>`), whose
    /// header a comment can follow.
    fn is_block(&self, line: u32) -> bool {
        let Some(range) = self.source.line_range(line) else { return false };
        let text = self.text[range].trim_ascii_end();
        let header = text.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        header.first().is_some_and(|first| matches!(first, b'|' | b'>'))
    }
}
