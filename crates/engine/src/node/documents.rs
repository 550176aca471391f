//! The documents of a file: as nodes, or as the tree of the reader if nothing has looked at them.

use std::sync::Arc;

use ytterby_diag::Pos;
use ytterby_yaml::Tree;

use super::{Annotated, DocumentSet, documents_from_tree, is_empty};
use crate::annotation::Ann;

/// The documents of one file.
#[derive(Clone)]
pub(crate) enum FileDocuments {
    /// Plain YAML that nothing changes: written directly from the reader's tree, without creating
    /// nodes.
    Plain(Arc<Tree>),
    Nodes(DocumentSet),
}

impl FileDocuments {
    /// The documents as nodes.
    pub fn into_nodes(self) -> DocumentSet {
        match self {
            FileDocuments::Plain(tree) => documents_from_tree(&tree),
            FileDocuments::Nodes(docs) => docs,
        }
    }

    /// Drops empty documents; `None` if no others are left.
    pub fn without_empty(self) -> Option<FileDocuments> {
        match self {
            FileDocuments::Plain(tree) => {
                let has_content = tree.documents().iter().any(|doc| !is_empty(&tree, doc.value));
                has_content.then_some(FileDocuments::Plain(tree))
            }
            FileDocuments::Nodes(mut docs) => {
                docs.items.retain(|doc| !doc.is_empty());
                (!docs.items.is_empty()).then_some(FileDocuments::Nodes(docs))
            }
        }
    }

    /// The position of the first document with content.
    pub fn first_pos(&self) -> Option<Pos> {
        match self {
            FileDocuments::Plain(tree) => Some(Pos::new(tree.file(), 0)),
            FileDocuments::Nodes(docs) => docs.items.iter().find(|doc| !doc.is_empty()).map(|doc| doc.pos),
        }
    }

    /// Whether some document is an overlay.
    pub fn has_overlays(&self) -> bool {
        match self {
            FileDocuments::Plain(_) => false,
            FileDocuments::Nodes(docs) => docs.items.iter().any(|doc| doc.has(Ann::OverlayMatch)),
        }
    }
}
