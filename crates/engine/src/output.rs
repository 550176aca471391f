//! Writes documents.

use ytterby_yaml::Sink;
use ytterby_yaml::write::{JsonOptions, JsonWriter, PosWriter, YamlWriter, scalar_text, write_tree};

use crate::api::Failure;
use crate::library::FileDocuments;
use crate::node::{self, Node, Origin, Scalar};
use crate::run::Run;
use ytterby_diag::Pos;

/// Documents as YAML; empty ones are left out. Each is let go of when it is written, so that text takes the place of nodes.
pub(crate) fn yaml(docs: impl IntoIterator<Item = FileDocuments>) -> Vec<u8> {
    let mut writer = YamlWriter::new();
    for docs in docs {
        match docs {
            FileDocuments::Plain(tree) => write_tree(&tree, &mut writer),
            FileDocuments::Nodes(docs) => {
                for doc in docs.items.into_iter().filter(|doc| !doc.is_empty()) {
                    writer.document();
                    write_node(&mut writer, &doc.value);
                }
            }
        }
    }
    writer.finish()
}

/// Documents as JSON; empty ones are left out.
pub(crate) fn json(run: &Run, docs: &[FileDocuments]) -> Result<Vec<u8>, Failure> {
    let mut writer = JsonWriter::new(JsonOptions::default());
    write(&mut writer, docs);
    writer.finish().map_err(|why| {
        let key = docs.iter().find_map(|docs| match docs {
            FileDocuments::Nodes(docs) => docs.items.iter().find_map(|doc| other_key(&doc.value, doc.pos)),
            FileDocuments::Plain(tree) => {
                node::documents_from_tree(tree).items.iter().find_map(|doc| other_key(&doc.value, doc.pos))
            }
        });
        match key {
            Some((kind, pos)) => Failure::new(format!("map key is not a string: {kind} (at {})", run.locate(pos))),
            None => Failure::new(why),
        }
    })
}

/// The first key that is no string: its type and where it stands. What code made stands at the item above it.
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
pub(crate) fn positions(run: &Run, docs: &[FileDocuments]) -> Vec<u8> {
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
            writer.document(place(run, doc.pos).as_deref());
            writer.begin();
            write_positions(run, &mut writer, &doc.value);
            writer.end();
        }
    }
    writer.finish()
}

fn place(run: &Run, pos: Pos) -> Option<String> {
    pos.is_known().then(|| run.locate(pos))
}

fn write_positions(run: &Run, writer: &mut PosWriter, node: &Node) {
    let below = |writer: &mut PosWriter, node: &Node, is_leaf: bool| {
        if !is_leaf {
            writer.begin();
            crate::deep(|| write_positions(run, writer, node));
            writer.end();
        }
    };
    if let Some(text) = leaf(node) {
        return writer.leaf(&text);
    }
    match node {
        Node::Scalar(_) => {}
        Node::Map(map) => {
            for item in map.iter() {
                let leaf = leaf(&item.value);
                writer.map_item(place(run, item.pos).as_deref(), &item.key, leaf.as_deref());
                below(writer, &item.value, leaf.is_some());
            }
        }
        Node::Array(array) => {
            for (at, item) in array.items.iter().enumerate() {
                let leaf = leaf(&item.value);
                writer.array_item(place(run, item.pos).as_deref(), at, leaf.as_deref());
                below(writer, &item.value, leaf.is_some());
            }
        }
    }
}

/// The text of what has no places inside: a scalar, or what code made.
fn leaf(node: &Node) -> Option<Vec<u8>> {
    match node {
        Node::Scalar(scalar) => return Some(scalar_text(scalar)),
        Node::Map(map) if map.origin == Origin::Code => {}
        Node::Array(array) if array.origin == Origin::Code => {}
        Node::Map(_) | Node::Array(_) => return None,
    }
    let mut writer = YamlWriter::new();
    writer.document();
    write_node(&mut writer, node);
    let mut text = writer.finish();
    text.pop_if(|last| *last == b'\n');
    Some(text)
}

fn write<'a>(sink: &mut impl Sink, docs: impl IntoIterator<Item = &'a FileDocuments>) {
    for docs in docs {
        match docs {
            FileDocuments::Plain(tree) => write_tree(tree, sink),
            FileDocuments::Nodes(docs) => {
                for doc in docs.items.iter().filter(|doc| !doc.is_empty()) {
                    sink.document();
                    write_node(sink, &doc.value);
                }
            }
        }
    }
}

/// Writes a value.
pub(crate) fn write_node(sink: &mut impl Sink, node: &Node) {
    match node {
        Node::Scalar(scalar) => sink.scalar(scalar),
        Node::Map(map) => {
            sink.begin_map(map.len());
            for item in map.iter() {
                sink.key(&item.key);
                write_node(sink, &item.value);
            }
            sink.end_map();
        }
        Node::Array(array) => {
            sink.begin_array(array.items.len());
            for item in &array.items {
                write_node(sink, &item.value);
            }
            sink.end_array();
        }
    }
}
