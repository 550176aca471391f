//! Writes documents.

use ytterby_yaml::Sink;
use ytterby_yaml::write::{JsonOptions, JsonWriter, PosWriter, YamlWriter, write_tree};

use crate::api::Failure;
use crate::library::FileDocuments;
use crate::node::{self, Node, Scalar};
use crate::run::Run;
use ytterby_diag::Pos;

/// Documents as YAML; empty ones are left out.
pub(crate) fn yaml<'a>(docs: impl IntoIterator<Item = &'a FileDocuments>) -> Vec<u8> {
    let mut writer = YamlWriter::new();
    write(&mut writer, docs);
    writer.finish()
}

/// Documents as JSON; empty ones are left out.
pub(crate) fn json(run: &Run, docs: &[FileDocuments]) -> Result<Vec<u8>, Failure> {
    let mut writer = JsonWriter::new(JsonOptions::default());
    write(&mut writer, docs);
    writer.finish().map_err(|why| {
        let key = docs.iter().find_map(|docs| match docs {
            FileDocuments::Nodes(docs) => docs.items.iter().find_map(|doc| other_key(&doc.value)),
            FileDocuments::Plain(tree) => {
                node::documents_from_tree(tree).items.iter().find_map(|doc| other_key(&doc.value))
            }
        });
        match key {
            Some((kind, pos)) => Failure::new(format!("map key is not a string: {kind} (at {})", run.locate(pos))),
            None => Failure::new(why),
        }
    })
}

/// The first key that is no string: its type and where it stands.
fn other_key(node: &Node) -> Option<(&'static str, Pos)> {
    match node {
        Node::Scalar(_) => None,
        Node::Map(map) => map.iter().find_map(|item| match &item.key {
            Scalar::Str(_) => crate::deep(|| other_key(&item.value)),
            key => Some((Node::Scalar(key.clone()).type_name(), item.pos)),
        }),
        Node::Array(array) => array.items.iter().find_map(|item| crate::deep(|| other_key(&item.value))),
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
    let leaf = |node: &Node| -> Option<Scalar> {
        match node {
            Node::Scalar(scalar) => Some(scalar.clone()),
            _ => None,
        }
    };
    let below = |writer: &mut PosWriter, node: &Node| {
        if leaf(node).is_none() {
            writer.begin();
            write_positions(run, writer, node);
            writer.end();
        }
    };
    match node {
        Node::Scalar(scalar) => writer.leaf(scalar),
        Node::Map(map) => {
            for item in map.iter() {
                writer.map_item(place(run, item.pos).as_deref(), &item.key, leaf(&item.value).as_ref());
                below(writer, &item.value);
            }
        }
        Node::Array(array) => {
            for (at, item) in array.items.iter().enumerate() {
                writer.array_item(place(run, item.pos).as_deref(), at, leaf(&item.value).as_ref());
                below(writer, &item.value);
            }
        }
    }
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
