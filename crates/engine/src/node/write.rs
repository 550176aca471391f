//! Writes nodes to a [`Sink`], up to a number of nodes: values that code shares can be far larger
//! than their memory.

use ytterby_text::budget;
use ytterby_yaml::{Scalar, Sink};

use super::{MAX_NODES, Node};

/// Writes a value. The error is a message.
pub(crate) fn write_node(sink: &mut impl Sink, node: &Node) -> Result<(), String> {
    let mut left = MAX_NODES;
    write_below(sink, node, &mut left)
}

/// Like [`write_node`], for a part of a value: `left` nodes may still be written.
pub(crate) fn write_below(sink: &mut impl Sink, node: &Node, left: &mut u32) -> Result<(), String> {
    count(left)?;
    match node {
        Node::Scalar(scalar) => {
            if let Scalar::Str(text) = scalar {
                budget::memory(16).and_then(|()| budget::text(text.len())).map_err(|exceeded| exceeded.to_string())?;
            }
            sink.scalar(scalar);
        }
        Node::Map(map) => {
            sink.begin_map(map.len());
            for item in map.iter() {
                sink.key(&item.key);
                write_below(sink, &item.value, left)?;
            }
            sink.end_map();
        }
        Node::Array(array) => {
            sink.begin_array(array.items.len());
            for item in &array.items {
                write_below(sink, &item.value, left)?;
            }
            sink.end_array();
        }
    }
    Ok(())
}

/// Counts one node against the number that may still be written.
#[inline]
pub(crate) fn count(left: &mut u32) -> Result<(), String> {
    count_several(left, 1)
}

/// Like [`count`], for several nodes.
#[inline]
pub(crate) fn count_several(left: &mut u32, nodes: u32) -> Result<(), String> {
    match left.checked_sub(nodes) {
        Some(less) => {
            *left = less;
            budget::work(nodes as usize).map_err(|exceeded| exceeded.to_string())
        }
        None => Err(format!("a value of more than {MAX_NODES} nodes cannot be written")),
    }
}
