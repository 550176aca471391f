//! Warns about annotations that do nothing: unknown names, repeated ones, ones that are attached to nothing (SPEC 0.4, 0.5).

use std::collections::HashMap;

use ytterby_diag::{Kind, Pos};
use ytterby_yaml::{Comment, NodeId, Scalar, Tree, View};

use crate::annotation::{self, Ann};
use crate::run::Run;

/// Looks at every annotation of a template.
pub(crate) fn warn(tree: &Tree, run: &Run) {
    let is_ours = |comment: &Comment| own_name(comment).is_some() || disguised(comment).is_some();
    if !run.is_beyond_ytt() || !tree.all_comments().iter().any(is_ours) {
        return;
    }
    // Names outside of our namespaces may be somebody else's: only who wants to hear everything is told.
    if run.options.cut_lines || run.options.strict_annotations {
        for comment in tree.all_comments() {
            if let Some((name, meant)) = disguised(comment) {
                let text = format!("annotation @{name} is not known; did you mean @{meant}?");
                run.warn(Kind::Annotation, comment.pos, text);
            }
        }
    }
    let mut linter = Linter { tree, run, gaps: Vec::new(), owners: HashMap::new() };
    for doc in tree.documents() {
        let comments = tree.comments(doc);
        if doc.injected {
            linter.unattached(comments);
            continue;
        }
        linter.names(comments, doc.pos);
        linter.value(doc.pos, doc.value);
    }
    linter.misplaced();
}

struct Linter<'a> {
    tree: &'a Tree,
    run: &'a Run,
    /// From a key (or `-`) to its scalar value.
    gaps: Vec<(Pos, Pos)>,
    /// The nodes that annotations belong to, by the offset of the annotation.
    owners: HashMap<u32, Pos>,
}

impl Linter<'_> {
    fn value(&mut self, item: Pos, id: NodeId) {
        match self.tree.value(id) {
            View::Scalar(Scalar::Null) => {}
            View::Scalar(_) => {
                let value = self.tree.span(id).pos();
                if value.offset > item.offset {
                    self.gaps.push((item, value));
                }
            }
            View::Map(items) => {
                for item in items {
                    self.names(self.tree.comments(item), item.pos);
                    self.value(item.pos, item.value);
                }
            }
            View::Array(items) => {
                for item in items {
                    self.names(self.tree.comments(item), item.pos);
                    self.value(item.pos, item.value);
                }
            }
        }
    }

    /// Names that are unknown or stand twice on one node.
    fn names(&mut self, comments: &[Comment], owner: Pos) {
        for (at, comment) in comments.iter().enumerate() {
            let Some(name) = own_name(comment) else { continue };
            self.owners.insert(comment.pos.offset, owner);
            let level = self.run.level;
            let Some(ann) = Ann::from_name(name.as_bytes(), level) else {
                self.unknown(comment, name);
                continue;
            };
            let is_repeated = comments[at + 1..].iter().filter_map(own_name).any(|later| {
                Ann::from_name(later.as_bytes(), level) == Some(ann) && (later == name || ann != Ann::SchemaDesc)
            });
            if ann == Ann::SchemaDesc
                && name != ann.name()
                && comments.iter().filter_map(own_name).any(|other| other == ann.name())
            {
                let text = format!("@{name} is ignored: @{} is given too", ann.name());
                self.run.warn(Kind::Annotation, comment.pos, text);
            }
            if is_repeated && !matches!(ann, Ann::TemplateCode | Ann::TemplateValue | Ann::TemplateComment) {
                let text = format!("duplicate annotation @{}; this one is ignored", ann.name());
                self.run.warn(Kind::Annotation, comment.pos, text);
            }
        }
    }

    fn unknown(&self, comment: &Comment, name: &str) {
        let hint = annotation::hint_for_unknown(name, self.run.level);
        self.run.warn_hinting(comment.pos, annotation::unknown(name), hint);
    }

    /// Comments behind the last node.
    fn unattached(&self, comments: &[Comment]) {
        for comment in comments {
            if let Some(name) = own_name(comment) {
                if Ann::from_name(name.as_bytes(), self.run.level).is_none() {
                    self.unknown(comment, name);
                }
                self.run.warn(Kind::Annotation, comment.pos, format!("@{} is attached to no node", shown(name)));
            }
        }
    }

    /// Comments between a key and its scalar belong to the next node below.
    fn misplaced(&self) {
        let comments = self.tree.all_comments();
        for (item, value) in &self.gaps {
            let first = comments.partition_point(|comment| comment.pos.offset < item.offset);
            let between = comments[first..].iter().take_while(|comment| comment.pos.offset < value.offset);
            for comment in between {
                let Some(name) = own_name(comment) else { continue };
                let Some(owner) = self.owners.get(&comment.pos.offset) else { continue };
                if owner.offset > comment.pos.offset {
                    let text = format!(
                        "@{} is not attached to the value below it but to the next node, at {}; write it above the item",
                        shown(name),
                        self.run.locate(*owner)
                    );
                    self.run.warn(Kind::Annotation, comment.pos, text);
                }
            }
        }
    }
}

/// The name of an annotation in one of our namespaces.
fn own_name(comment: &Comment) -> Option<&str> {
    let text = comment.text.as_str()?.strip_prefix('@')?;
    let name = text.split_once(' ').map_or(text, |(name, _)| name);
    (annotation::split_own(name).is_some() || name == "schema").then_some(name)
}

/// The name of an annotation that would be one of ours, and which, but for capitals and the sign between its parts.
fn disguised(comment: &Comment) -> Option<(&str, &'static str)> {
    let text = comment.text.as_str()?.strip_prefix('@')?;
    let name = text.split_once(' ').map_or(text, |(name, _)| name);
    annotation::disguised(name).map(|meant| (name, meant))
}

/// The canonical name.
fn shown(name: &str) -> &str {
    match Ann::from_name(name.as_bytes(), annotation::Level::Ytterby) {
        Some(ann) => ann.name(),
        None => name,
    }
}
