//! Writes a tree of the reader to a [`Sink`].

use ytterby_diag::Pos;
use ytterby_text::budget;

use super::Sink;
use crate::{ArrayItem, MapItem, NodeId, Tree, View, has_duplicate_keys, last_wins};

/// Writes a plain YAML file as `ytt -f` does: empty documents are omitted, and the last of
/// duplicate keys wins.
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

/// A collection whose items are being written.
enum WrittenItems<'a> {
    Map(std::slice::Iter<'a, MapItem>),
    /// A map that had duplicate keys.
    Resolved(std::vec::IntoIter<(&'a MapItem, Pos)>),
    Array(std::slice::Iter<'a, ArrayItem>),
}

/// Charges a collection that is about to be written; an alias writes its node again.
#[inline]
fn charge(len: usize) {
    if len > 0 {
        budget::or_unwind(budget::work(1 + len / 4).and_then(|()| budget::memory(16 * len)));
    }
}

fn write_node(tree: &Tree, id: NodeId, sink: &mut impl Sink) {
    let mut open: Vec<WrittenItems<'_>> = Vec::new();
    let mut next = Some(id);
    loop {
        if let Some(id) = next.take() {
            match tree.value(id) {
                View::Scalar(value) => sink.scalar(value),
                View::Map(items) => {
                    charge(items.len());
                    if has_duplicate_keys(items) {
                        let items = last_wins(items);
                        sink.begin_map(items.len());
                        open.push(WrittenItems::Resolved(items.into_iter()));
                    } else {
                        sink.begin_map(items.len());
                        open.push(WrittenItems::Map(items.iter()));
                    }
                }
                View::Array(items) => {
                    charge(items.len());
                    sink.begin_array(items.len());
                    open.push(WrittenItems::Array(items.iter()));
                }
            }
        }
        let (map, item) = match open.last_mut() {
            None => return,
            Some(WrittenItems::Map(items)) => (true, items.next().map(|item| (Some(&item.key), item.value))),
            Some(WrittenItems::Resolved(items)) => (true, items.next().map(|(item, _)| (Some(&item.key), item.value))),
            Some(WrittenItems::Array(items)) => (false, items.next().map(|item| (None, item.value))),
        };
        match item {
            Some((key, value)) => {
                if let Some(key) = key {
                    sink.key(key);
                }
                next = Some(value);
            }
            None => {
                if map {
                    sink.end_map()
                } else {
                    sink.end_array()
                };
                open.pop();
            }
        }
    }
}
