//! Warns about annotations without effect: unknown names, repeated ones, and those without a node.
//!
//! The walk over a template's tree only reads comments; nothing is evaluated.

use std::collections::{HashMap, HashSet};

use ytterby_diag::{Diagnostic, Edit, Help, Id, Part, Pos, Safety, Text};
use ytterby_yaml::{Comment, NodeId, Scalar, Tree, View};

use crate::annotation::{self, Ann};
use crate::run::Run;
use crate::validate::annotations;

/// Checks every annotation of a template.
pub(crate) fn warn(tree: &Tree, run: &Run) {
    if !run.is_beyond_ytt() {
        return;
    }
    let is_ours = |comment: &Comment| {
        own_name(comment).is_some() || disguised(comment).is_some() || code_without_blank(comment).is_some()
    };
    let has_anchors = run.sources.get(tree.file()).is_some_and(|source| has_anchors(source.text()));
    if !has_anchors && !tree.all_comments().iter().any(is_ours) {
        return;
    }
    // Names outside of our namespaces may belong to other tools: ytt's text does not mention them.
    let tells_all = run.options.look_for_slips || run.options.strict_annotations;
    if tells_all {
        for comment in tree.all_comments() {
            if let Some((name, meant)) = disguised(comment) {
                let text = format!("annotation @{name} is not known; did you mean @{meant}?");
                let warning = Diagnostic::warning(Id::ANNOTATION_UNKNOWN, text).at(comment.pos, Part::Annotation);
                run.warn(warning.help(rename(comment.pos, name, meant)).beyond_text());
            }
        }
    }
    let mut linter =
        Linter { tree, run, tells_all, gaps: Vec::new(), owners: HashMap::new(), computed: HashSet::new() };
    for doc in tree.documents() {
        let comments = tree.comments(doc);
        if doc.injected {
            linter.unattached(comments);
            continue;
        }
        linter.item(comments, doc.pos, doc.value);
    }
    linter.misplaced();
}

struct Linter<'a> {
    tree: &'a Tree,
    run: &'a Run,
    tells_all: bool,
    /// From a key (or `-`) to its scalar value.
    gaps: Vec<(Pos, Pos)>,
    /// The nodes that annotations belong to, by the offset of the annotation.
    owners: HashMap<u32, Pos>,
    /// Values that are null in the source because code computes them.
    computed: HashSet<NodeId>,
}

impl Linter<'_> {
    /// A document, map item or array item.
    fn item(&mut self, comments: &[Comment], pos: Pos, value: NodeId) {
        self.names(comments, pos);
        if matches!(self.tree.value(value), View::Scalar(Scalar::Null)) {
            self.absent_value(comments, pos, value);
        } else {
            self.value(pos, value);
        }
    }

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
                    self.item(self.tree.comments(item), item.pos, item.value);
                }
            }
            View::Array(items) => {
                for item in items {
                    self.item(self.tree.comments(item), item.pos, item.value);
                }
            }
        }
    }

    /// A value that is not in the source: code that was mistaken for an annotation, or an alias to
    /// a computed value.
    fn absent_value(&mut self, comments: &[Comment], owner: Pos, value: NodeId) {
        let mut inline = comments.iter().filter(|comment| comment.inline).peekable();
        if inline.peek().is_none() && self.computed.contains(&value) {
            let text = "this alias is null: the code at its anchor gives a value there only; \
                        give it a name (`#@ name = …`) and write `#@ name` in both places";
            self.run.warn(Diagnostic::warning(Id::CODE_TEMPLATE, text).at(owner, Part::Value));
        }
        for comment in inline {
            if comment.text.starts_with(b"@ ") || comment.text.starts_with(b"@template/value ") {
                self.computed.insert(value);
            } else if self.tells_all
                && let Some(code) = code_without_blank(comment)
            {
                let text = format!("@{code} is an annotation without effect; for a value write `#@ {code}`");
                let blank = Edit::insert(Pos::new(comment.pos.file, comment.pos.offset + 2), " ");
                let help =
                    Help::new(format!("write `#@ {code}`")).fixed_by("Add the blank", vec![blank], Safety::Likely);
                let warning = Diagnostic::warning(Id::ANNOTATION_UNKNOWN, text).at(comment.pos, Part::Line);
                self.run.warn(warning.help(help).beyond_text());
            }
        }
    }

    /// Warns about names that are unknown or repeated on one node.
    fn names(&mut self, comments: &[Comment], owner: Pos) {
        let desc = Ann::SchemaDesc.name();
        let has_desc = comments.iter().filter_map(own_name).any(|name| name == desc);
        // The annotations after the current one. The number of names is limited.
        let mut later: Vec<(Ann, Option<&str>)> = Vec::new();
        for comment in comments.iter().rev() {
            let Some(name) = own_name(comment) else { continue };
            self.owners.insert(comment.pos.offset, owner);
            let Some(ann) = Ann::from_name(name.as_bytes(), self.run.level) else {
                self.unknown(comment, name);
                continue;
            };
            let key = (ann, (ann == Ann::SchemaDesc).then_some(name));
            let is_repeated = later.contains(&key);
            if !is_repeated {
                later.push(key);
            }
            if ann == Ann::SchemaDesc && name != desc && has_desc {
                let text = format!("@{name} is ignored: @{} is given too", ann.name());
                self.run.warn_of_annotation(Id::ANNOTATION_DUPLICATE, comment.pos, text);
            }
            if is_repeated && !ann.may_repeat() {
                let text = format!("duplicate annotation @{}; this one is ignored", ann.name());
                self.run.warn_of_annotation(Id::ANNOTATION_DUPLICATE, comment.pos, text);
            }
        }
    }

    fn unknown(&self, comment: &Comment, name: &str) {
        let warning = Diagnostic::warning(Id::ANNOTATION_UNKNOWN, annotation::unknown(name));
        let warning = warning.at(comment.pos, Part::Annotation);
        self.run.warn(match annotations::meant_by_unknown(name, self.run.level) {
            Some(annotations::Meant::Name(meant)) => warning.help(rename(comment.pos, name, meant)),
            Some(annotations::Meant::Advice(text)) => warning.help(text),
            None => warning,
        });
    }

    /// Comments after the last node.
    fn unattached(&self, comments: &[Comment]) {
        for comment in comments {
            if let Some(name) = own_name(comment) {
                if Ann::from_name(name.as_bytes(), self.run.level).is_none() {
                    self.unknown(comment, name);
                }
                let text = format!("@{} is attached to no node", shown(name));
                self.run.warn_of_annotation(Id::ANNOTATION_MISPLACED, comment.pos, text);
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
                    let words =
                        format!("@{} is not attached to the value below it but to the next node, at ", shown(name));
                    let text = Text::new(words).at(*owner).then("; write it above the item");
                    self.run.warn_of_annotation(Id::ANNOTATION_MISPLACED, comment.pos, text);
                }
            }
        }
    }
}

/// Advice to rename an annotation.
fn rename(pos: Pos, name: &str, meant: &str) -> Help {
    let edit = Edit::replace(pos, Part::Annotation, format!("#@{meant}"));
    let title = format!("Change @{name} to @{meant}");
    Help::new(format!("did you mean @{meant}?")).fixed_by(title, vec![edit], Safety::Likely)
}

/// Whether a text can have anchors and aliases.
fn has_anchors(text: &[u8]) -> bool {
    text.contains(&b'&') && text.contains(&b'*')
}

/// The text of an annotation outside of all namespaces that looks like an expression: `#@v.name`,
/// `#@f(x, y)`.
fn code_without_blank(comment: &Comment) -> Option<&str> {
    let text = comment.text.as_str()?.strip_prefix('@')?;
    let name = text.split_once(' ').map_or(text, |(name, _)| name);
    let namespace = name.split_once('/').map(|(namespace, _)| namespace);
    let is_code = namespace.is_none_or(|namespace| namespace.contains(['(', '[', '{', '"', '\'']));
    let is_other = name.is_empty() || matches!(name, "comment" | "schema") || annotation::disguised(name).is_some();
    (is_code && !is_other).then_some(text.trim_end())
}

/// The name of an annotation in one of our namespaces.
fn own_name(comment: &Comment) -> Option<&str> {
    let text = comment.text.as_str()?.strip_prefix('@')?;
    let name = text.split_once(' ').map_or(text, |(name, _)| name);
    (annotation::split_own(name).is_some() || name == "schema").then_some(name)
}

/// The name of an annotation that differs from one of ours only in capitals or the separator, and
/// that one.
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
