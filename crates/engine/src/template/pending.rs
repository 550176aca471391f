//! What a context remembers about nodes beyond their values: annotations and keys of nodes that
//! have not started yet, and overlay annotations that have no effect.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use ytterby_diag::Pos;
use ytterby_text::Str;

use super::table::{NodeNumber, TemplateNodeKind};
use crate::annotation::{Ann, Annotation};
use crate::node::Meta;

/// Annotations and keys of nodes that have not started yet.
#[derive(Default)]
pub(super) struct Pending {
    annotations: Vec<(NodeNumber, Annotation)>,
    keys: Vec<(NodeNumber, Str)>,
}

impl Pending {
    /// Stores an annotation for the node that is started under `tag`. The last one with a name
    /// wins.
    pub fn annotate(&mut self, tag: NodeNumber, annotation: Annotation) {
        self.annotations.push((tag, annotation));
    }

    /// Stores a key for the map item that is started under `tag`.
    pub fn set_key(&mut self, tag: NodeNumber, key: Str) {
        self.keys.push((tag, key));
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.annotations.is_empty() && self.keys.is_empty()
    }

    #[inline]
    pub fn take_key(&mut self, tag: NodeNumber) -> Option<Str> {
        if self.keys.is_empty() {
            return None;
        }
        self.keys.iter().position(|(of, _)| *of == tag).map(|at| self.keys.remove(at).1)
    }

    #[inline]
    pub fn take_annotations(&mut self, tag: NodeNumber) -> Option<Rc<Meta>> {
        if self.annotations.is_empty() {
            return None;
        }
        let own: Vec<Annotation> =
            self.annotations.extract_if(.., |(of, _)| *of == tag).map(|(_, annotation)| annotation).collect();
        let annotations = last_of_each_name(own);
        (!annotations.is_empty()).then(|| Rc::new(Meta { annotations, ..Meta::default() }))
    }
}

/// Overlay annotations in documents that are not overlays.
#[derive(Default)]
pub(super) struct IdleOverlays {
    /// The first overlay annotation on the open document or on a node below that is written here.
    in_document: Option<(Ann, Pos)>,
    /// The first one of each document.
    found: Vec<(Ann, Pos)>,
}

impl IdleOverlays {
    /// An item starts.
    #[inline]
    pub fn note(&mut self, kind: &TemplateNodeKind, meta: Option<&Meta>) {
        if matches!(kind, TemplateNodeKind::Document) {
            self.in_document = None;
        }
        if let (None, Some(meta)) = (self.in_document, meta) {
            self.in_document = idle_overlay(meta, kind);
        }
    }

    /// An item that may be a document ends. The annotations of documents tell whether they are
    /// overlays.
    #[inline]
    pub fn item_ends(&mut self, is_overlay: impl FnOnce() -> Option<bool>) {
        if let Some(overlay) = self.in_document
            && is_overlay() == Some(false)
        {
            self.found.push(overlay);
        }
    }

    /// Whether the open document has none so far.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.in_document.is_none()
    }

    pub fn into_found(self) -> Vec<(Ann, Pos)> {
        self.found
    }
}

/// Whether overlay annotations may have an effect in a document with this position and these
/// annotations.
pub(super) fn may_be_overlay(pos: Pos, meta: Option<&Meta>) -> bool {
    let has = |ann| meta.is_some_and(|meta| meta.annotations.iter().any(|annotation| annotation.ann == Some(ann)));
    !pos.is_known() || [Ann::OverlayMatch, Ann::DataValues, Ann::DataValuesSchema].into_iter().any(has)
}

/// The first overlay annotation on a node that requires an overlay: a document that an overlay
/// would append is part of the output anyway.
fn idle_overlay(meta: &Meta, kind: &TemplateNodeKind) -> Option<(Ann, Pos)> {
    let is_added = |ann| matches!((kind, ann), (TemplateNodeKind::Document, Ann::OverlayInsert | Ann::OverlayAppend));
    let is_idle = |ann: &Ann| ann.is_in("overlay") && !is_added(*ann);
    meta.annotations.iter().find_map(|annotation| Some((annotation.ann.filter(is_idle)?, annotation.pos)))
}

/// The last annotation of each name, in order. `@schema/desc` wins over its alias, whichever comes
/// last.
fn last_of_each_name(annotations: Vec<Annotation>) -> Vec<Annotation> {
    if annotations.len() < 2 {
        return annotations;
    }
    let is_alias = |ann: &Annotation| ann.ann == Some(Ann::SchemaDesc) && ann.name != Ann::SchemaDesc.name();
    let has_desc = annotations.iter().any(|ann| ann.ann == Some(Ann::SchemaDesc) && !is_alias(ann));
    let mut seen = FxHashSet::default();
    let is_last = |ann: &Annotation| {
        let name = if ann.ann.is_some() { Str::EMPTY } else { ann.name.clone() };
        !(has_desc && is_alias(ann)) && seen.insert((ann.ann, name))
    };
    let mut kept: Vec<Annotation> = annotations.into_iter().rev().filter(is_last).collect();
    kept.reverse();
    kept
}
