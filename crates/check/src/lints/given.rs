//! Checks data values in files: redundant defaults, and secrets.

use std::collections::HashMap;

use ytterby::facts::PlainData;
use ytterby_diag::{Diagnostic, Edit, FileId, Help, Id, Part, Pos, Safety, Sources};
use ytterby_text::budget;
use ytterby_yaml::{Comment, MapItem, NodeId, Scalar, Style, Tree, View};

use crate::declared::{TrackedType, TrackedValues, ValueId};

/// A document that sets data values, in the order in which they are merged.
pub(crate) struct Given<'a> {
    pub tree: &'a Tree,
    /// The value of the document.
    pub root: NodeId,
    pub source: FileId,
    pub text: &'a [u8],
    /// Whether it has code or annotations, so that its values are not all visible.
    pub is_templated: bool,
}

/// Values that earlier documents set.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Default,
    Different,
}

/// Checks documents that set data values.
pub(crate) fn check(table: &TrackedValues, documents: &[Given<'_>], sources: &Sources, out: &mut Vec<Diagnostic>) {
    let mut before = HashMap::new();
    for given in documents {
        let mut walk = ValuesWalk { table, given, sources, before: &mut before, out };
        walk.value(given.root, 0, true);
    }
}

struct ValuesWalk<'a> {
    table: &'a TrackedValues,
    given: &'a Given<'a>,
    sources: &'a Sources,
    before: &'a mut HashMap<ValueId, Before>,
    out: &'a mut Vec<Diagnostic>,
}

impl<'a> ValuesWalk<'a> {
    fn tree(&self) -> &'a Tree {
        self.given.tree
    }

    /// Checks a value against its declaration. `is_filled` is whether missing children get their
    /// defaults regardless of this document.
    fn value(&mut self, node: NodeId, id: ValueId, is_filled: bool) {
        budget::or_unwind(budget::work(1));
        match (self.tree().value(node), &self.table.values[id].shape) {
            (View::Map(items), TrackedType::Map { .. }) => {
                let redundant = items.iter().filter(|item| self.is_redundant(item, id, is_filled)).count();
                for item in items {
                    let Some(child) = item.key.as_str().and_then(|key| self.table.child(id, &key.to_str())) else {
                        continue;
                    };
                    let declared = &self.table.values[child];
                    let has_code = self.has_code(self.tree().comments(item));
                    self.secret(item.pos, item.value, child, has_code);
                    if is_leaf(&declared.shape) {
                        if self.is_redundant(item, id, is_filled) {
                            self.same_as_default(item, child, items.len() > redundant);
                        }
                        self.note(item.value, child, has_code);
                    }
                    let is_filled = is_filled && !declared.optional && !declared.nullable;
                    stacker::maybe_grow(64 << 10, 1 << 20, || self.value(item.value, child, is_filled));
                }
            }
            (View::Array(items), TrackedType::Array(item_type)) => {
                for item in items {
                    let has_code = self.has_code(self.tree().comments(item));
                    self.secret(item.pos, item.value, *item_type, has_code);
                    stacker::maybe_grow(64 << 10, 1 << 20, || self.value(item.value, *item_type, false));
                }
            }
            _ => {}
        }
    }

    fn has_code(&self, comments: &[Comment]) -> bool {
        self.given.is_templated && comments.iter().any(|comment| comment.text.starts_with(b"@"))
    }

    /// Whether an item sets the value that would exist without it.
    fn is_redundant(&self, item: &MapItem, parent: ValueId, is_filled: bool) -> bool {
        let Some(child) = item.key.as_str().and_then(|key| self.table.child(parent, &key.to_str())) else {
            return false;
        };
        let declared = &self.table.values[child];
        is_filled
            && !self.given.is_templated
            && is_leaf(&declared.shape)
            && !declared.optional
            && !declared.required
            && !declared.secret
            && self.before.get(&child) != Some(&Before::Different)
            && equals(self.tree(), item.value, &declared.default)
    }

    fn note(&mut self, node: NodeId, id: ValueId, has_code: bool) {
        let is_default = !has_code && equals(self.tree(), node, &self.table.values[id].default);
        let known = self.before.entry(id).or_insert(Before::Default);
        if !is_default || self.given.is_templated {
            *known = Before::Different;
        }
    }

    fn same_as_default(&mut self, item: &MapItem, id: ValueId, leaves_others: bool) {
        let pos = Pos::new(self.given.source, item.pos.offset);
        let text = format!("{} is the default anyway", self.table.path(id));
        let mut help = Help::new("remove it");
        if let Some(edit) = self.removal(item).filter(|_| leaves_others) {
            help = help.fixed_by(format!("Remove {}", self.table.path(id)), vec![edit], Safety::Safe);
        }
        self.out.push(Diagnostic::warning(Id::LINT_SAME_AS_DEFAULT, text).at(pos, Part::Key).help(help));
    }

    /// The edit that removes an item on its own line.
    fn removal(&self, item: &MapItem) -> Option<Edit> {
        let View::Scalar(_) = self.tree().value(item.value) else { return None };
        if !matches!(self.tree().style(item.value), Style::Plain | Style::SingleQuoted | Style::DoubleQuoted) {
            return None;
        }
        let text = self.given.text;
        let at = item.pos.offset as usize;
        // Only blanks may be before it; a line can be long.
        let start = at - text[..at].iter().rev().take_while(|byte| **byte == b' ').count();
        if start > 0 && text[start - 1] != b'\n' {
            return None;
        }
        let value = self.tree().span(item.value);
        let end = (value.end as usize).max(at);
        let rest = text.get(end..)?;
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace() && **byte != b'\n').count();
        let line_end = (end + blanks + 1).min(text.len());
        let is_alone = rest.get(blanks).is_none_or(|byte| *byte == b'\n')
            && !text[at..end].contains(&b'\n')
            && self.tree().comments(item).is_empty();
        let pos = Pos::new(self.given.source, start as u32);
        is_alone.then(|| Edit::replace(pos, Part::Bytes((line_end - start) as u32), ""))
    }

    fn secret(&mut self, owner: Pos, node: NodeId, id: ValueId, has_code: bool) {
        if !self.table.values[id].secret || has_code {
            return;
        }
        let View::Scalar(scalar) = self.tree().value(node) else { return };
        let is_written = match scalar {
            Scalar::Null | Scalar::Bool(_) => false,
            Scalar::Str(text) => !text.as_bytes().is_empty(),
            _ => true,
        };
        if !is_written {
            return;
        }
        let span = self.tree().span(node);
        self.sources.hide(self.given.source, std::iter::once(span.start..span.end));
        let text = format!("the secret {} is written in a file", self.table.path(id));
        let finding = Diagnostic::warning(Id::LINT_PLAIN_SECRET, text);
        let help = "give it by --data-values-env or by a file that is not stored with the project";
        self.out.push(finding.at(Pos::new(self.given.source, owner.offset), Part::Value).help(help));
    }
}

fn is_leaf(shape: &TrackedType) -> bool {
    !matches!(shape, TrackedType::Map { .. })
}

/// Whether a value in a file equals this literal.
fn equals(tree: &Tree, node: NodeId, literal: &PlainData) -> bool {
    match (tree.value(node), literal) {
        (View::Scalar(one), PlainData::Scalar(other)) => match (one, other) {
            (Scalar::Int(int), Scalar::Float(float)) | (Scalar::Float(float), Scalar::Int(int)) => {
                *int as f64 == *float
            }
            _ => one == other,
        },
        (View::Map(items), PlainData::Map(entries)) if items.len() == entries.len() => {
            budget::or_unwind(budget::work(items.len()));
            // Usually the order is the same.
            let next = items.iter().zip(entries).all(|(item, (key, _))| *key == item.key);
            items.iter().zip(entries).all(|(item, (_, value))| {
                let value = match next {
                    true => Some(value),
                    false => {
                        budget::or_unwind(budget::work(1 + entries.len() / 8));
                        entries.iter().find(|(key, _)| *key == item.key).map(|(_, value)| value)
                    }
                };
                value.is_some_and(|value| equals(tree, item.value, value))
            })
        }
        (View::Array(items), PlainData::Array(entries)) => {
            items.len() == entries.len()
                && items.iter().zip(entries).all(|(item, entry)| equals(tree, item.value, entry))
        }
        _ => false,
    }
}
