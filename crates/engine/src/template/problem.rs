//! Converts errors of code to problems of a template, for both kinds of errors.
//!
//! The language explains the error and gives advice about code. This module adds what only a
//! template knows: names that `load` would define, annotations whose arguments are written as in
//! YAML, and the mapping from generated programs to lines of the file.

use ytterby_diag::{Cause, CodeMessage, CodeProblem, Edit, Help, Pos, Safety};
use ytterby_starlark::{Error, Problem, SyntaxError};

use super::annotation_hint;
use crate::run::Run;

/// The problem for an error at run time. `is_foreign` returns whether ytt's text omits the lines of
/// a file.
pub(crate) fn problem_of_error(run: &Run, error: Error, is_foreign: &dyn Fn(Pos) -> bool) -> CodeProblem {
    let mut problem = error.into_code_problem(is_foreign);
    // Violations already contain the calling line if it is the line of the rules.
    if let CodeMessage::Failure(_, failure) = &problem.message
        && let Cause::Violations(blocks) = failure.cause()
    {
        let is_named = |pos: Pos| {
            blocks.iter().any(|block| block.from == pos && block.violations.iter().any(|rule| rule.by == pos))
        };
        problem.frames.retain(|frame| !is_named(frame.pos));
    }
    at_sources(run, problem)
}

/// The problem for a syntax error.
pub(crate) fn problem_of_syntax(run: &Run, error: SyntaxError) -> CodeProblem {
    let help = match &error.problem {
        Problem::Undefined { name, .. } => load_line(run, error.label.pos, &name.to_str()),
        _ => None,
    };
    let help = help.or_else(|| annotation_hint::about_annotation(run, &error));
    let mut problem = error.into_code_problem(&|_| false);
    problem.helps.splice(0..0, help);
    at_sources(run, problem)
}

/// Replaces positions of generated lines by those in the user's files.
fn at_sources(run: &Run, mut problem: CodeProblem) -> CodeProblem {
    if let Some(label) = &mut problem.label {
        label.pos = run.sources.source_place(label.pos);
    }
    for frame in &mut problem.frames {
        frame.place = run.sources.source_place(frame.place);
    }
    problem
}

/// The `load` line that defines a name, if it is the name of a module.
fn load_line(run: &Run, pos: Pos, name: &str) -> Option<Help> {
    crate::level::has_module(name, run.level).then_some(())?;
    let source = run.sources.get(pos.file)?;
    let text = source.text();
    let statement = format!("load(\"@ytt:{name}\", \"{name}\")");
    let is_code = text.starts_with(b"load(") || source.name().ends_with(".star");
    let line = match is_code {
        true => format!("{statement}\n"),
        false if source.name().ends_with(".txt") => format!("(@ {statement} -@)\n"),
        false => format!("#@ {statement}\n"),
    };
    let help = Help::new(format!("load the module first: {}", line.trim_end()));
    let edit = Edit::insert(Pos::new(pos.file, 0), line);
    Some(help.fixed_by(format!("Add {statement}"), vec![edit], Safety::Likely))
}
