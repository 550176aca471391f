//! What a YAML comment says to a template.

use ytterby_diag::{Pos, Sources};
use ytterby_yaml::{Comment, NodeId, Tree, View};

use super::Malformed;
use crate::run::Run;

/// A comment as templates read it.
#[derive(Debug, PartialEq)]
pub(crate) enum Meta<'a> {
    /// `#! …`: for people.
    Comment,
    /// `#@ …` above a node, or `#@template/code …`: a line of code.
    Code(Content<'a>),
    /// `#@ …` behind a node, or `#@template/value …`: an expression for its value.
    Value(Content<'a>),
    /// `#@name …`: an annotation with its arguments.
    Annotation { name: &'a str, args: Content<'a> },
}

/// A stretch of code and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Content<'a> {
    pub text: &'a str,
    pub at: Pos,
}

/// What to make of comments that are neither `#@` nor `#!`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnknownComments {
    Refuse,
    Ignore,
}

/// Reads the comment of a node at `owner`.
pub(crate) fn read<'a>(
    comment: &'a Comment,
    owner: Pos,
    sources: &Sources,
    unknown: UnknownComments,
) -> Result<Meta<'a>, Malformed> {
    // Comments come out of text that the reader checked; only `!!binary` scalars need not be UTF-8.
    let text = comment.text.as_str().unwrap_or_default();
    if text.starts_with('!') {
        return Ok(Meta::Comment);
    }
    let Some(rest) = text.strip_prefix('@') else {
        if unknown == UnknownComments::Ignore {
            return Ok(Meta::Comment);
        }
        let text = format!(
            "Failed to parse line {}: '#{text}': Expected ytt-formatted string (use '#@' for annotations or code, '#!' for comments)",
            sources.line(comment.pos)
        );
        return Err(Malformed::at(comment.pos, text));
    };
    let (name, content) = rest.split_once(' ').unwrap_or((rest, ""));
    // `#`, `@`, the name, a blank.
    let at = Pos::new(comment.pos.file, comment.pos.offset + 3 + name.len() as u32);
    let content = Content { text: content, at };
    Ok(match name {
        "comment" => Meta::Comment,
        "" if owner.is_known() && sources.line(owner) == sources.line(comment.pos) => Meta::Value(content),
        "" | "template/code" => Meta::Code(content),
        "template/value" => Meta::Value(content),
        name => Meta::Annotation { name, args: content },
    })
}

/// Whether the comment is more than a remark: code or an annotation.
pub(crate) fn is_templating(comment: &Comment) -> bool {
    comment.text.strip_prefix(b"@").is_some_and(|rest| rest != b"comment" && !rest.starts_with(b"comment "))
}

/// Whether the comment annotates with this name (without `@`).
pub(crate) fn annotates(comment: &Comment, name: &str) -> bool {
    let rest = comment.text.strip_prefix(b"@").and_then(|rest| rest.strip_prefix(name.as_bytes()));
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b' ')
}

/// Whether some document carries one of these annotations. On other nodes they are an error.
pub(crate) fn documents_annotated(tree: &Tree, names: &[&str], run: &Run) -> Result<bool, String> {
    if !tree.all_comments().iter().any(|comment| names.iter().any(|name| annotates(comment, name))) {
        return Ok(false);
    }
    let mut found = false;
    for doc in tree.documents() {
        check_below(tree, doc.value, names, run)?;
    }
    for doc in tree.documents() {
        for name in names {
            let count = tree.comments(doc).iter().filter(|comment| annotates(comment, name)).count();
            if count > 1 {
                return Err(format!("{name} annotation may only be used once per document"));
            }
            found |= count == 1;
        }
    }
    Ok(found)
}

fn check_below(tree: &Tree, id: NodeId, names: &[&str], run: &Run) -> Result<(), String> {
    let check = |comments: &[Comment], kind: &str, pos: Pos| {
        let misplaced = comments.iter().flat_map(|comment| names.iter().filter(|name| annotates(comment, name)));
        misplaced.take(1).try_for_each(|name| {
            Err(format!(
                "Found @{name} on {kind} ({}); only documents (---) can be annotated with @{name}",
                run.locate(pos)
            ))
        })
    };
    match tree.value(id) {
        View::Scalar(_) => Ok(()),
        View::Map(items) => items.iter().try_for_each(|item| {
            check(tree.comments(item), "map item", item.pos)?;
            check_below(tree, item.value, names, run)
        }),
        View::Array(items) => items.iter().try_for_each(|item| {
            check(tree.comments(item), "array item", item.pos)?;
            check_below(tree, item.value, names, run)
        }),
    }
}
