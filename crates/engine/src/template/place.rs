//! Where a new node belongs among the open collections of a context.
//!
//! Starting a node closes the open ones down to the nearest common ancestor in the source. Usually
//! that is the parent of the new one.

use super::table::{NodeNumber, NodeTable};

/// What a collection contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Collection {
    Documents,
    Map,
    Array,
}

/// A collection under construction, and the item of it that is open.
pub(super) trait OpenCollection {
    fn tag(&self) -> NodeNumber;

    /// The tag of the open item; 0 if there is none.
    fn item(&self) -> NodeNumber;
}

/// A place among open collections.
pub(super) enum Place {
    /// In the collection at this index. Its open item ends, too.
    Collection(usize),
    /// In the open item of the collection at this index.
    Item(usize),
}

impl Place {
    /// The number of collections that stay open.
    pub fn depth(&self) -> usize {
        match self {
            Place::Collection(index) | Place::Item(index) => index + 1,
        }
    }
}

/// The place of a new node; `None` if it has none.
pub(super) fn place_of(open: &[impl OpenCollection], table: &NodeTable, new: NodeNumber) -> Option<Place> {
    let innermost = open.last()?;
    place(open, table.node(new).parent).or_else(|| {
        let innermost = if innermost.item() == 0 { innermost.tag() } else { innermost.item() };
        place(open, table.common_parent(innermost, new))
    })
}

fn place(open: &[impl OpenCollection], tag: NodeNumber) -> Option<Place> {
    if tag == 0 {
        return None;
    }
    let index = open.iter().rposition(|open| open.tag() == tag || open.item() == tag)?;
    Some(if open[index].tag() == tag { Place::Collection(index) } else { Place::Item(index) })
}
