//! Writes documents.

use ytterby_yaml::Sink;

use crate::node::{Document, Node};

/// Writes documents, all but empty ones.
pub(crate) fn write<'a>(sink: &mut impl Sink, docs: impl IntoIterator<Item = &'a Document>) {
    for doc in docs {
        if !doc.is_empty() {
            sink.document();
            write_node(sink, &doc.value);
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
