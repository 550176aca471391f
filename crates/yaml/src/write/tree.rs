//! Drives a [`Sink`] with what the reader made.

use super::Sink;
use crate::tree::last_wins;
use crate::{MapItem, NodeId, Tree, View};

/// Writes a plain YAML file as `ytt -f` does: empty documents are left out, of equal keys the last value remains.
pub fn write_tree(tree: &Tree, sink: &mut impl Sink) {
    for document in tree.documents() {
        let empty = match tree.value(document.value) {
            View::Scalar(value) => value.is_null(),
            View::Map(items) => items.is_empty(),
            View::Array(items) => items.is_empty(),
        };
        if !empty {
            sink.document();
            write_node(tree, document.value, sink);
        }
    }
}

enum Open<'a> {
    Map(std::vec::IntoIter<&'a MapItem>),
    Array(std::slice::Iter<'a, crate::ArrayItem>),
}

fn write_node(tree: &Tree, id: NodeId, sink: &mut impl Sink) {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut next = Some(id);
    loop {
        if let Some(id) = next.take() {
            match tree.value(id) {
                View::Scalar(value) => sink.scalar(value),
                View::Map(items) => {
                    let items: Vec<&MapItem> = last_wins(items).into_iter().map(|(item, _)| item).collect();
                    sink.begin_map(items.len());
                    open.push(Open::Map(items.into_iter()));
                }
                View::Array(items) => {
                    sink.begin_array(items.len());
                    open.push(Open::Array(items.iter()));
                }
            }
        }
        match open.last_mut() {
            None => return,
            Some(Open::Map(items)) => match items.next() {
                Some(item) => {
                    sink.key(&item.key);
                    next = Some(item.value);
                }
                None => {
                    sink.end_map();
                    open.pop();
                }
            },
            Some(Open::Array(items)) => match items.next() {
                Some(item) => next = Some(item.value),
                None => {
                    sink.end_array();
                    open.pop();
                }
            },
        }
    }
}
