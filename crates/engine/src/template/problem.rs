//! From errors of code to problems of a template: the one way for both kinds of errors.
//!
//! The language knows what is wrong and gives advice about code. What only a template knows is added here: names that
//! `load` would bring, annotations whose arguments are written as people who know YAML expect them, pieces of generated
//! programs that stand for lines of the file.

use ytterby_diag::{Cause, CodeMessage, CodeProblem, Edit, Help, Pos, Safety};
use ytterby_starlark::{Error, Problem, SyntaxError};

use super::annotation_hint;
use crate::run::Run;

/// The problem that a running program ended with. `is_foreign` tells files whose lines ytt's text does not show.
pub(crate) fn problem_of_error(run: &Run, error: Error, is_foreign: &dyn Fn(Pos) -> bool) -> CodeProblem {
    let mut problem = error.into_code_problem(is_foreign);
    // Violations name the calling line themselves where that is the line of the rules.
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

/// The problem that a program could not even be run.
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

/// The problem with its places in the user's files instead of generated lines.
fn at_sources(run: &Run, mut problem: CodeProblem) -> CodeProblem {
    if let Some(label) = &mut problem.label {
        label.pos = run.sources.source_place(label.pos);
    }
    for frame in &mut problem.frames {
        frame.place = run.sources.source_place(frame.place);
    }
    problem
}

/// The `load` line that defines a name, where the name is that of a module.
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
