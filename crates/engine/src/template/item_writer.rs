//! Writes the items of a file as they begin, so that no nodes of it exist.
//!
//! It mirrors the open collections of a [`ResultBuilder`](super::build::ResultBuilder), which checks what may follow
//! what. A collection is written with its first item, since an empty one has another form, and an empty document has
//! none. An item whose value is set again goes back to where its value began.

use ytterby_text::budget;
use ytterby_yaml::write::{WriterMark, YamlWriter};
use ytterby_yaml::{Scalar, Sink};

use crate::early::{self, WrittenDocuments};
use crate::node::{self, Node};

/// A collection below more than this many others charges its indentation.
const DEEP: usize = 32;

/// What a collection contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Collection {
    Documents,
    Map,
    Array,
}

/// The text of a file under construction.
pub(super) struct ItemWriter {
    yaml: YamlWriter,
    /// The open collections, the documents first.
    open: Vec<OpenText>,
    problem: Option<String>,
}

struct OpenText {
    collection: Collection,
    has_items: bool,
    item: Option<OpenItem>,
}

struct OpenItem {
    /// Where its value begins.
    value: WriterMark,
    has_value: bool,
}

impl Default for ItemWriter {
    fn default() -> ItemWriter {
        ItemWriter { yaml: early::writer(), open: Vec::new(), problem: None }
    }
}

impl ItemWriter {
    /// A collection begins: the value of the open item, unless it is the outermost.
    pub fn begin_collection(&mut self, collection: Collection) {
        self.clear_value();
        self.open.push(OpenText { collection, has_items: false, item: None });
    }

    /// An item of the innermost collection begins; those of maps have keys.
    pub fn begin_item(&mut self, key: Option<&Scalar>) {
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else { return };
        if depth > DEEP {
            budget::or_unwind(budget::text(2 * depth));
        }
        let is_first = !std::mem::replace(&mut open.has_items, true);
        if is_first && open.collection != Collection::Documents {
            if depth == 2 {
                self.yaml.document();
            }
            begin(&mut self.yaml, open.collection, 1);
        }
        if let Some(key) = key {
            self.yaml.key(key);
        }
        open.item = Some(OpenItem { value: self.yaml.mark(), has_value: false });
    }

    /// Sets the value of the open item.
    pub fn value(&mut self, node: &Node) {
        self.clear_value();
        let is_document = self.open.len() == 1;
        let Some(item) = self.open.last_mut().and_then(|open| open.item.as_mut()) else { return };
        item.has_value = true;
        if self.problem.is_some() || is_document && node.is_blank() {
            return;
        }
        if is_document {
            self.yaml.document();
        }
        self.problem = node::write_node(&mut self.yaml, node).err();
    }

    /// The open item of the innermost collection ends, if there is one.
    pub fn end_item(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        let has_no_value = open.item.take().is_some_and(|item| !item.has_value);
        if has_no_value && open.collection != Collection::Documents {
            self.yaml.scalar(&Scalar::Null);
        }
    }

    /// The innermost collection ends.
    pub fn end_collection(&mut self) {
        self.end_item();
        let Some(OpenText { collection, has_items, .. }) = self.open.pop() else { return };
        let is_document = self.open.len() == 1;
        if let Some(item) = self.open.last_mut().and_then(|open| open.item.as_mut()) {
            item.has_value = true;
        }
        if !has_items && !is_document {
            begin(&mut self.yaml, collection, 0);
        }
        if has_items || !is_document {
            match collection {
                Collection::Documents => {}
                Collection::Map => self.yaml.end_map(),
                Collection::Array => self.yaml.end_array(),
            }
        }
    }

    /// The text, after the documents ended.
    pub fn finish(self) -> WrittenDocuments {
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok(early::text_of(self.yaml)),
        }
    }

    /// Goes back to where the value of the open item began, if it has one.
    fn clear_value(&mut self) {
        let Some(item) = self.open.last_mut().and_then(|open| open.item.as_mut()) else { return };
        if std::mem::replace(&mut item.has_value, false) {
            self.yaml.return_to(item.value);
        }
    }
}

fn begin(yaml: &mut YamlWriter, collection: Collection, len: usize) {
    match collection {
        Collection::Documents => {}
        Collection::Map => yaml.begin_map(len),
        Collection::Array => yaml.begin_array(len),
    }
}
