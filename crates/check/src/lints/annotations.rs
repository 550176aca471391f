//! Finds annotations without effect that a run does not report: those of schemas in templates, and
//! marks of templated strings where no string contains code.

use ytterby_diag::{Diagnostic, Edit, Help, Id, Part, Pos, Safety};
use ytterby_starlark::Syntax;
use ytterby_starlark::ast::{ExprKind, Stmt};
use ytterby_text::budget;
use ytterby_yaml::{Comment, NodeId, Scalar, Tree, View};

use crate::code::Op;
use crate::project::CheckedFile;

/// Checks the annotations of a file. `declares` is whether its documents are schemas or data
/// values.
pub(crate) fn check(file: &CheckedFile, declares: bool, out: &mut Vec<Diagnostic>) {
    let (Some(syntax), Some(tree)) = (&file.facts.code.syntax, &file.facts.code.tree) else { return };
    for doc in tree.documents().iter().filter(|doc| !doc.injected) {
        templated(file, tree, tree.comments(doc), doc.value, None, out);
        below(file, tree, doc.value, out);
    }
    if !declares && !file.input.is_library() && file.library == Some(0) {
        of_schemas(file, syntax, &syntax.stmts, out);
    }
}

/// Schema annotations outside of functions: the result of a function may become a schema.
fn of_schemas(file: &CheckedFile, syntax: &Syntax, stmts: &[Stmt], out: &mut Vec<Diagnostic>) {
    for stmt in stmts {
        match stmt {
            Stmt::Expr(expr) => {
                if let ExprKind::Call(callee, _) = &syntax.ast[*expr].kind
                    && let ExprKind::HostOp(number) = &syntax.ast[*callee].kind
                    && let Some(Op::Annotation(name, at)) = file.facts.code.ops.get(*number as usize)
                    && name.starts_with("schema/")
                {
                    let text = format!("@{name} has no effect outside a schema");
                    out.push(idle(file, *at, name, text));
                }
            }
            Stmt::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| of_schemas(file, syntax, body, out));
                of_schemas(file, syntax, otherwise, out);
            }
            Stmt::For { body, .. } | Stmt::While { body, .. } => of_schemas(file, syntax, body, out),
            _ => {}
        }
    }
}

const TEMPLATED: &str = "yaml/text-templated-strings";

fn below(file: &CheckedFile, tree: &Tree, id: NodeId, out: &mut Vec<Diagnostic>) {
    match tree.value(id) {
        View::Scalar(_) => {}
        View::Map(items) => stacker::maybe_grow(64 << 10, 1 << 20, || {
            for item in items {
                templated(file, tree, tree.comments(item), item.value, Some(&item.key), out);
                below(file, tree, item.value, out);
            }
        }),
        View::Array(items) => stacker::maybe_grow(64 << 10, 1 << 20, || {
            for item in items {
                templated(file, tree, tree.comments(item), item.value, None, out);
                below(file, tree, item.value, out);
            }
        }),
    }
}

fn templated(
    file: &CheckedFile,
    tree: &Tree,
    comments: &[Comment],
    value: NodeId,
    key: Option<&Scalar>,
    out: &mut Vec<Diagnostic>,
) {
    let is_mark =
        |comment: &&Comment| comment.text.as_str().is_some_and(|text| text.trim_end() == format!("@{TEMPLATED}"));
    let Some(mark) = comments.iter().find(is_mark) else { return };
    if key.is_some_and(contains_code) || has_code(tree, value) {
        return;
    }
    let text = format!("@{TEMPLATED} has no effect: no string here contains (@ … @)");
    out.push(idle(file, mark.pos.offset, TEMPLATED, text));
}

fn contains_code(scalar: &Scalar) -> bool {
    matches!(scalar, Scalar::Str(text) if text.to_str().contains("(@"))
}

fn has_code(tree: &Tree, id: NodeId) -> bool {
    // Marks inside of others read everything again.
    budget::or_unwind(budget::work(1));
    stacker::maybe_grow(64 << 10, 1 << 20, || match tree.value(id) {
        View::Scalar(scalar) => contains_code(scalar),
        View::Map(items) => items.iter().any(|item| contains_code(&item.key) || has_code(tree, item.value)),
        View::Array(items) => items.iter().any(|item| has_code(tree, item.value)),
    })
}

fn idle(file: &CheckedFile, at: u32, name: &str, text: String) -> Diagnostic {
    let mut help = Help::new("remove it");
    if let Some(edit) = line(file, at) {
        help = help.fixed_by(format!("Remove @{name}"), vec![edit], Safety::Safe);
    }
    let pos = Pos::new(file.source, at);
    Diagnostic::warning(Id::LINT_NO_EFFECT_ANNOTATION, text).at(pos, Part::Annotation).help(help)
}

/// The edit that removes the line of a comment, if it contains nothing else.
fn line(file: &CheckedFile, at: u32) -> Option<Edit> {
    let (text, at) = (&file.facts.text[..], at as usize);
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
    let rest = &text[at..];
    let end = at + rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |feed| feed + 1);
    let is_alone = text[start..at].iter().all(u8::is_ascii_whitespace);
    let pos = Pos::new(file.source, start as u32);
    is_alone.then(|| Edit::replace(pos, Part::Bytes((end - start) as u32), ""))
}
