//! Parses a YAML comment as part of a template: code, value, annotation, or a remark.

use ytterby_diag::{Diagnostic, Edit, Failure, Help, Id, Part, Pos, Safety, Sources, Text};
use ytterby_yaml::{Comment, NodeId, Tree, View};

use super::Malformed;

/// A parsed comment.
#[derive(Debug, PartialEq)]
pub(crate) enum Meta<'a> {
    /// `#! …`: for people.
    Comment,
    /// `#@ …` above a node, or `#@template/code …`: a line of code.
    Code(Content<'a>),
    /// `#@ …` after a node, or `#@template/value …`: an expression for its value.
    Value(Content<'a>),
    /// `#@name …`: an annotation with its arguments.
    Annotation { name: &'a str, args: Content<'a> },
}

/// A piece of code and its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Content<'a> {
    pub text: &'a str,
    pub at: Pos,
}

/// How to treat comments that are neither `#@` nor `#!`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnknownComments {
    Refuse,
    Ignore,
}

/// Parses the comment of a node at `owner`.
pub(crate) fn read<'a>(
    comment: &'a Comment,
    owner: Pos,
    sources: &Sources,
    unknown: UnknownComments,
) -> Result<Meta<'a>, Malformed> {
    // The reader checked the text, so comments are UTF-8; only `!!binary` scalars may not be.
    let text = comment.text.as_str().unwrap_or_default();
    if text.starts_with('!') {
        return Ok(Meta::Comment);
    }
    let Some(rest) = text.strip_prefix('@') else {
        if unknown == UnknownComments::Ignore {
            return Ok(Meta::Comment);
        }
        const EXPECTED: &str = "Expected ytt-formatted string (use '#@' for annotations or code, '#!' for comments)";
        let reference = format!("Failed to parse line {}: '#{text}': {EXPECTED}", sources.line(comment.pos));
        let marked = Edit::replace(comment.pos, Part::Bytes(1), "#!");
        let help = Help::new(
            "write comments with #!, ignore them with --ignore-unknown-comments, or do not read the file as a template with --file-mark FILE:type=yaml-plain",
        );
        let problem = Diagnostic::error(Id::CODE_TEMPLATE, EXPECTED).reference(reference).at(comment.pos, Part::Line);
        return Err(Box::new(problem.help(help.fixed_by("Make it a comment", vec![marked], Safety::Likely))));
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

/// Whether the comment is code or an annotation, and not just a remark.
pub(crate) fn is_templating(comment: &Comment) -> bool {
    comment.text.strip_prefix(b"@").is_some_and(|rest| rest != b"comment" && !rest.starts_with(b"comment "))
}

/// Whether the comment is an annotation with this name (without `@`).
pub(crate) fn annotates(comment: &Comment, name: &str) -> bool {
    let rest = comment.text.strip_prefix(b"@").and_then(|rest| rest.strip_prefix(name.as_bytes()));
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b' ')
}

/// Whether some document has one of these annotations. On other nodes they are an error.
pub(crate) fn documents_annotated(tree: &Tree, names: &[&str]) -> Result<bool, Failure> {
    if !tree.all_comments().iter().any(|comment| names.iter().any(|name| annotates(comment, name))) {
        return Ok(false);
    }
    let mut found = false;
    for doc in tree.documents() {
        check_below(tree, doc.value, names)?;
    }
    for doc in tree.documents() {
        for name in names {
            let mut own = tree.comments(doc).iter().filter(|comment| annotates(comment, name));
            found |= own.next().is_some();
            if let Some(second) = own.next() {
                let text = format!("{name} annotation may only be used once per document");
                return Err(Diagnostic::error(Id::ANNOTATION_DUPLICATE, text).at(second.pos, Part::Annotation).into());
            }
        }
    }
    Ok(found)
}

fn check_below(tree: &Tree, id: NodeId, names: &[&str]) -> Result<(), Failure> {
    let check = |comments: &[Comment], kind: &str, pos: Pos| {
        let misplaced = comments.iter().find_map(|comment| {
            let name = names.iter().find(|name| annotates(comment, name))?;
            Some((comment, name))
        });
        let Some((comment, name)) = misplaced else { return Ok(()) };
        let text = Text::new(format!("Found @{name} on {kind} (")).at(pos);
        let text = text.then(format!("); only documents (---) can be annotated with @{name}"));
        let help = "write the annotation above the --- of a document";
        let problem = Diagnostic::error(Id::ANNOTATION_MISPLACED, text).at(comment.pos, Part::Annotation);
        Err(Failure::from(problem.help(help)))
    };
    match tree.value(id) {
        View::Scalar(_) => Ok(()),
        View::Map(items) => items.iter().try_for_each(|item| {
            check(tree.comments(item), "map item", item.pos)?;
            check_below(tree, item.value, names)
        }),
        View::Array(items) => items.iter().try_for_each(|item| {
            check(tree.comments(item), "array item", item.pos)?;
            check_below(tree, item.value, names)
        }),
    }
}
