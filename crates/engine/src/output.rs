//! Writes documents as YAML, JSON or positions.
//!
//! Plain YAML that nothing changed is written from the reader's tree; all other documents are
//! nodes.

use std::sync::Arc;

use ytterby_diag::{Diagnostic, Failure, Help, Id, Part, Pos, Text};
use ytterby_text::budget;
use ytterby_yaml::write::{JsonOptions, JsonWriter, PosWriter, YamlWriter, scalar_text, write_tree};
use ytterby_yaml::{Sink, Tree};

use crate::api::OutputFile;
use crate::early::{self, WrittenDocuments};
use crate::library::Evaluated;
use crate::limits::working_at;
use crate::node::{
    self, FileDocuments, MAX_NODES, Node, Origin, Scalar, count, count_several, write_below, write_node,
};
use crate::reuse::{CachedNode, Reuse};
use crate::run::Run;

/// What to do with documents after they are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// Free them one by one, so that text replaces nodes in memory.
    Free,
    /// The process ends soon: the documents of the first [`LEFT`] bytes of output stay in memory,
    /// which saves a tenth of the instructions of a small run.
    Leave,
}

/// For more output it is worth freeing its documents.
const LEFT: usize = 4 << 20;

/// Documents as YAML; empty ones are left out.
pub(crate) fn yaml(docs: impl IntoIterator<Item = FileDocuments>) -> Result<Vec<u8>, Failure> {
    yaml_and(Written::Free, None, docs)
}

/// Like [`yaml`], with a choice about freeing documents and a cache for repeated renders.
pub(crate) fn yaml_and(
    written: Written,
    reuse: Option<&Reuse>,
    docs: impl IntoIterator<Item = FileDocuments>,
) -> Result<Vec<u8>, Failure> {
    let mut writer = match written {
        Written::Leave => early::writer(),
        Written::Free => YamlWriter::new(),
    };
    for docs in docs {
        match docs {
            FileDocuments::Plain(tree) => {
                let _working = working_at(Pos::new(tree.file(), 0));
                match reuse {
                    Some(reuse) => write_shared_tree(&mut writer, &tree, reuse),
                    None => write_tree(&tree, &mut writer),
                }
                budget::may_output(writer.written())?;
            }
            FileDocuments::Nodes(docs) => {
                for doc in docs.items.into_iter().filter(|doc| !doc.is_empty()) {
                    let _working = working_at(doc.pos);
                    writer.document();
                    let mut left = MAX_NODES;
                    let result = match reuse {
                        Some(reuse) => write_shared(&mut writer, &doc.value, &mut left, reuse),
                        None => write_below(&mut writer, &doc.value, &mut left),
                    };
                    result.map_err(too_large)?;
                    budget::may_output(writer.written())?;
                    if written == Written::Leave && writer.written() < LEFT {
                        std::mem::forget(doc);
                    }
                }
            }
        }
    }
    Ok(match written {
        Written::Leave => early::text_of(writer),
        Written::Free => writer.finish(),
    })
}

/// Documents that were written early, as one stream.
pub(crate) fn joined(docs: impl IntoIterator<Item = WrittenDocuments>) -> Result<Vec<u8>, Failure> {
    let mut texts = docs.into_iter().collect::<Result<Vec<_>, _>>().map_err(too_large)?;
    texts.retain(|text| !text.is_empty());
    if texts.len() == 1 {
        return Ok(texts.remove(0));
    }
    let mut writer = YamlWriter::with_capacity(texts.iter().map(|text| text.len() + SEPARATOR).sum());
    texts.iter().for_each(|text| writer.add_documents(text));
    Ok(writer.finish())
}

/// The length of the line between two documents.
const SEPARATOR: usize = 4;

/// Each output file with its content.
pub(crate) fn files(evaluated: Evaluated, written: Written, reuse: Option<&Reuse>) -> Result<Vec<OutputFile>, Failure> {
    let texts = evaluated.texts.into_iter().map(|(path, text)| OutputFile { path, bytes: text });
    let mut files: Vec<OutputFile> = texts.collect();
    let mut ready: usize = files.iter().map(|file| file.bytes.len()).sum();
    for (file, docs) in evaluated.documents {
        let _working = file.file.working_at();
        let bytes = yaml_and(written, reuse, [docs])?;
        ready += bytes.len();
        budget::may_output(ready)?;
        files.push(OutputFile { path: file.path, bytes: bytes.into() });
    }
    for (file, docs) in evaluated.written {
        let _working = file.file.working_at();
        let bytes = docs.map_err(too_large)?;
        if !bytes.is_empty() {
            ready += bytes.len();
            budget::may_output(ready)?;
            files.push(OutputFile { path: file.path, bytes: bytes.into() });
        }
    }
    Ok(files)
}

fn too_large(why: String) -> Failure {
    match budget::check() {
        Err(exceeded) => exceeded.into(),
        Ok(()) => Failure::new(Id::LIMIT_OUTPUT, why),
    }
}

/// Documents as JSON; empty ones are omitted.
pub(crate) fn json(docs: &[FileDocuments]) -> Result<Vec<u8>, Failure> {
    let mut writer = JsonWriter::new(JsonOptions::default());
    write(&mut writer, docs).map_err(too_large)?;
    writer.finish().map_err(|why| {
        let key = docs.iter().find_map(|docs| match docs {
            FileDocuments::Nodes(docs) => docs.items.iter().find_map(|doc| other_key(&doc.value, doc.pos)),
            FileDocuments::Plain(tree) => {
                node::documents_from_tree(tree).items.iter().find_map(|doc| other_key(&doc.value, doc.pos))
            }
        });
        match key {
            Some((kind, pos)) => {
                let is_complex = matches!(kind, "map" | "array");
                let cause = if is_complex { format!("; {})", node::COMPLEX_KEY_CAUSE) } else { ")".to_owned() };
                let text = Text::new(format!("map key is not a string: {kind} (at ")).at(pos).then(cause);
                let help = is_complex.then(|| Help::new(node::COMPLEX_KEY_HELP));
                Diagnostic::error(Id::OUTPUT_ENCODE, text).at(pos, Part::Key).helps(help).into()
            }
            None => Failure::new(Id::OUTPUT_ENCODE, why),
        }
    })
}

/// The first key that is not a string: its type and position. Keys that code created have the
/// position of the item above.
fn other_key(node: &Node, above: Pos) -> Option<(&'static str, Pos)> {
    let place = |pos: Pos| if pos.is_known() { pos } else { above };
    match node {
        Node::Scalar(_) => None,
        Node::Map(map) => map.iter().find_map(|item| match &item.key {
            Scalar::Str(_) => crate::deep(|| other_key(&item.value, place(item.pos))),
            key => Some((Node::Scalar(key.clone()).type_name(), place(item.pos))),
        }),
        Node::Array(array) => {
            array.items.iter().find_map(|item| crate::deep(|| other_key(&item.value, place(item.pos))))
        }
    }
}

/// Documents with the origin of each line (`-o pos`).
pub(crate) fn positions(run: &Run, docs: &[FileDocuments]) -> Result<Vec<u8>, Failure> {
    let mut writer = PosWriter::new();
    for docs in docs {
        let nodes;
        let docs = match docs {
            FileDocuments::Nodes(docs) => docs,
            FileDocuments::Plain(tree) => {
                nodes = node::documents_from_tree(tree);
                &nodes
            }
        };
        for doc in docs.items.iter().filter(|doc| !doc.is_empty()) {
            let _working = working_at(doc.pos);
            writer.document(place(run, doc.pos).as_deref());
            writer.begin();
            let mut left = MAX_NODES;
            write_positions(run, &mut writer, &doc.value, &mut left).map_err(too_large)?;
            writer.end();
        }
    }
    Ok(writer.finish())
}

fn place(run: &Run, pos: Pos) -> Option<String> {
    pos.is_known().then(|| run.locate(pos))
}

fn write_positions(run: &Run, writer: &mut PosWriter, node: &Node, left: &mut u32) -> Result<(), String> {
    count(left)?;
    if let Some(text) = leaf(node)? {
        writer.leaf(&text);
        return Ok(());
    }
    let mut below = |writer: &mut PosWriter, node: &Node, is_leaf: bool| -> Result<(), String> {
        if is_leaf {
            return count(left);
        }
        writer.begin();
        crate::deep(|| write_positions(run, writer, node, left))?;
        writer.end();
        Ok(())
    };
    match node {
        Node::Scalar(_) => {}
        Node::Map(map) => {
            for item in map.iter() {
                let leaf = leaf(&item.value)?;
                writer.map_item(place(run, item.pos).as_deref(), &item.key, leaf.as_deref());
                below(writer, &item.value, leaf.is_some())?;
            }
        }
        Node::Array(array) => {
            for (at, item) in array.items.iter().enumerate() {
                let leaf = leaf(&item.value)?;
                writer.array_item(place(run, item.pos).as_deref(), at, leaf.as_deref());
                below(writer, &item.value, leaf.is_some())?;
            }
        }
    }
    Ok(())
}

/// The text of a value without positions inside: a scalar, or a value that code created.
fn leaf(node: &Node) -> Result<Option<Vec<u8>>, String> {
    match node {
        Node::Scalar(scalar) => return Ok(Some(scalar_text(scalar))),
        Node::Map(map) if map.origin == Origin::Code => {}
        Node::Array(array) if array.origin == Origin::Code => {}
        Node::Map(_) | Node::Array(_) => return Ok(None),
    }
    let mut writer = YamlWriter::new();
    writer.document();
    write_node(&mut writer, node)?;
    let mut text = writer.finish();
    text.pop_if(|last| *last == b'\n');
    Ok(Some(text))
}

fn write<'a>(sink: &mut impl Sink, docs: impl IntoIterator<Item = &'a FileDocuments>) -> Result<(), String> {
    for docs in docs {
        match docs {
            FileDocuments::Plain(tree) => {
                let _working = working_at(Pos::new(tree.file(), 0));
                write_tree(tree, sink);
            }
            FileDocuments::Nodes(docs) => {
                for doc in docs.items.iter().filter(|doc| !doc.is_empty()) {
                    let _working = working_at(doc.pos);
                    sink.document();
                    write_node(sink, &doc.value)?;
                }
            }
        }
    }
    Ok(())
}

/// Writes a value like [`write_below`], reusing the texts of nodes that earlier renders wrote.
fn write_shared(writer: &mut YamlWriter, node: &Node, left: &mut u32, reuse: &Reuse) -> Result<(), String> {
    let place = match reuse.text_of_node(node, writer.point()) {
        CachedNode::Text(value, nodes) => {
            budget::text(value.size()).map_err(|exceeded| exceeded.to_string())?;
            writer.repeat(&value);
            return count_several(left, nodes);
        }
        CachedNode::Write { address, point } => Some((address, point)),
        CachedNode::Alone => None,
    };
    let (start, before) = (writer.written(), *left);
    match node {
        Node::Scalar(_) => write_below(writer, node, left)?,
        Node::Map(map) => {
            count(left)?;
            writer.begin_map(map.len());
            for item in map.iter() {
                writer.key(&item.key);
                write_shared(writer, &item.value, left, reuse)?;
            }
            writer.end_map();
        }
        Node::Array(array) => {
            count(left)?;
            writer.begin_array(array.items.len());
            for item in &array.items {
                write_shared(writer, &item.value, left, reuse)?;
            }
            writer.end_array();
        }
    }
    if let Some(place) = place {
        reuse.keep_node(place, node, before - *left, writer, start);
    }
    Ok(())
}

fn write_shared_tree(writer: &mut YamlWriter, tree: &Arc<Tree>, reuse: &Reuse) {
    match reuse.text_of_tree(tree, writer.point()) {
        CachedNode::Text(value, _) => writer.repeat(&value),
        CachedNode::Alone => write_tree(tree, writer),
        CachedNode::Write { address, point } => {
            let start = writer.written();
            write_tree(tree, writer);
            reuse.keep_tree((address, point), tree, writer, start);
        }
    }
}
