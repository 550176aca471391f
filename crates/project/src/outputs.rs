//! Reports output directories whose replacement would destroy something.
//!
//! A directory is replaced as a whole, so it must not be that of another target, contain that, or
//! contain inputs.

use std::collections::BTreeMap;

use ytterby_diag::{Diagnostic, Id, Label, Part, Pos, Role};

use crate::path::{is_below, join};
use crate::project::{FILE_NAME, ProjectFile, Target};
use crate::value::Placed;

/// Maximum reported problems: a matrix can have thousands.
const MAX_REPORTED: usize = 20;

/// The problems with the outputs of a project in the directory `root`.
pub(crate) fn check(project: &ProjectFile, root: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let inputs = inputs(project, root);
    // In tree order, so that a directory is followed by its contents.
    let mut outputs: BTreeMap<String, &Target> = BTreeMap::new();
    for target in &project.targets {
        let Some(output) = &target.output else { continue };
        if found.len() >= MAX_REPORTED {
            break;
        }
        let path = join(root, &output.value);
        if let Some(first) = outputs.get(&tree_order(&path)) {
            found.push(collision(first, target, output));
            continue;
        }
        outputs.insert(tree_order(&path), target);
        let project_file = join(root, FILE_NAME);
        let from = tree_order(&path);
        let inside = inputs.range(from..).next().filter(|(key, _)| is_below(&key.replace('\0', "/"), &path));
        if is_below(&project_file, &path) {
            let message = format!("the output directory {} contains the project file", output.value);
            found.push(output.problem(Id::PROJECT_OUTPUT, message, Some(ADVICE.to_owned())));
        } else if let Some((_, input)) = inside {
            let message = format!("the output directory {} contains the input {}", output.value, input.value);
            let label = Label::new(Role::Related, input.pos, Part::Value).text("this input would be deleted");
            found.push(output.problem(Id::PROJECT_OUTPUT, message, Some(ADVICE.to_owned())).label(label));
        }
    }
    let mut around: Option<(String, &Target)> = None;
    for (key, target) in &outputs {
        let path = key.replace('\0', "/");
        match &around {
            Some((outer, other)) if is_below(&path, outer) && found.len() < MAX_REPORTED => {
                found.extend(target.output.as_ref().map(|output| nested(other, target, output)));
            }
            _ => around = Some((path, target)),
        }
    }
    found
}

const ADVICE: &str = "output directories are replaced as a whole; choose one with nothing else in it";

fn collision(first: &Target, second: &Target, output: &Placed<String>) -> Diagnostic {
    let message =
        format!("the targets {} and {} have the same output directory {}", first.name, second.name, output.value);
    let names: Vec<String> = second.choices.iter().map(|(name, _)| format!("{{{name}}}")).collect();
    let hint = match first.group == second.group && !names.is_empty() {
        true => format!("use {} in output", names.join(" and ")),
        false => "give each target a separate directory".to_owned(),
    };
    with_other(output.problem(Id::PROJECT_OUTPUT, message, Some(hint)), first, output)
}

fn nested(outer: &Target, inner: &Target, output: &Placed<String>) -> Diagnostic {
    let message = format!(
        "the output directory {} of target {} is inside that of target {}, which is replaced as a whole",
        output.value, inner.name, outer.name
    );
    let hint = Some("give each target a separate directory".to_owned());
    with_other(output.problem(Id::PROJECT_OUTPUT, message, hint), outer, output)
}

fn with_other(problem: Diagnostic, other: &Target, output: &Placed<String>) -> Diagnostic {
    let pos = other.output.as_ref().map_or(Pos::UNKNOWN, |output| output.pos);
    if pos == output.pos {
        return problem;
    }
    problem.label(Label::new(Role::Related, pos, Part::Value).text(format!("output of {}", other.name)))
}

/// Every path that the project reads, in tree order.
fn inputs<'a>(project: &'a ProjectFile, root: &str) -> BTreeMap<String, &'a Placed<String>> {
    let mut found = BTreeMap::new();
    let base = std::iter::once(&project.base);
    for target in base.chain(&project.targets) {
        let values = target.values.iter().map(|path| (path, values_path(&path.value)));
        let others = target.files.iter().chain(&target.schemas).map(|path| (path, &*path.value));
        for (placed, path) in values.chain(others) {
            if let Some(path) = local_path(path) {
                found.entry(tree_order(&join(root, path))).or_insert(placed);
            }
        }
    }
    for placed in &project.tests {
        found.entry(tree_order(&join(root, &placed.value))).or_insert(placed);
    }
    found
}

/// The `path` of `@library:path`.
fn values_path(text: &str) -> &str {
    match text.split_once(':') {
        Some((library, path)) if library.starts_with('@') => path,
        _ => text,
    }
}

/// The path on disk of a `-f` argument, if it has one.
fn local_path(text: &str) -> Option<&str> {
    let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    let path = match text.split_once('=') {
        Some((_, path)) if !is_url(text) => path,
        _ => text,
    };
    (path != "-" && !is_url(path)).then_some(path)
}

/// A sort key for tree order: `a/b` comes before `a-b`.
fn tree_order(path: &str) -> String {
    path.replace('/', "\0")
}
