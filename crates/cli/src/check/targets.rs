//! Selects what to check: the targets of the project, or the files of the command line.

use std::sync::Arc;

use ytterby::{Failure, Options};
use ytterby_check::{CheckTarget, ValuesAre};
use ytterby_diag::render::Rendering;
use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_project::select;

use crate::commands::flag;
use crate::flags::Invocation;
use crate::project::engine::RenderSettings;
use crate::project::inputs::Inputs;
use crate::read::{self, Stdin, Symlinks};
use crate::{kubernetes, project, render};

/// The selected targets, and problems of the project file.
pub struct CheckedTargets {
    pub targets: Vec<CheckTarget>,
    pub problems: Vec<Diagnostic>,
}

/// Selects what the command line names.
///
/// # Errors
/// If there is neither a file nor a project, or a target is unknown.
pub fn find(
    program: &str,
    flags: &Invocation,
    rendering: Rendering,
    sources: &Arc<Sources>,
) -> Result<CheckedTargets, Failure> {
    if flags.list(&flag::CHECK_FILE).is_empty() {
        return of_project(program, flags, rendering, sources);
    }
    if let Some(extra) = flags.operands.first() {
        let text = format!("Expected no target with -f, but was '{extra}'");
        let help = "targets are those of the project; -f checks files without it";
        return Err(Diagnostic::error(Id::FLAG_OPERAND, text).help(help).into());
    }
    let compat = render::compat(program, flags)?;
    let symlinks = Symlinks {
        allow_all: flags.is_on(&flag::DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS),
        allowed: flags.list(&flag::ALLOW_SYMLINK_DESTINATION).to_vec(),
    };
    let stdin = Stdin::default();
    let files = read::list_as(render::rules(compat), flags.list(&flag::CHECK_FILE), &symlinks, &stdin)?;
    let options = render::options(program, flags, rendering, compat, &symlinks, &stdin)?;
    let output_check = kubernetes::output_check(flags, sources)?;
    let target = CheckTarget { files, options: Options { output_check, ..options }, values: ValuesAre::Examples };
    Ok(CheckedTargets { targets: vec![target], problems: Vec::new() })
}

fn of_project(
    program: &str,
    flags: &Invocation,
    rendering: Rendering,
    sources: &Arc<Sources>,
) -> Result<CheckedTargets, Failure> {
    let (project, mut problems) = project::read(sources, "check files with -f, or write a project file")?;
    let selected = select(&project.file, &flags.operands).map_err(|problem| *problem)?;
    // A project without targets counts as one target.
    let selected = if project.file.targets.is_empty() { vec![&project.file.base] } else { selected };
    let inputs = Inputs::new(&project.file, &project.root, flags, rendering, sources);
    let engine = RenderSettings {
        program: program.to_owned(),
        rendering,
        sources: sources.clone(),
        reached: None,
        find_causes: true,
    };
    let mut targets = Vec::new();
    for target in selected {
        match inputs.job(target, &project.base, ytterby::OutputForm::default()) {
            Ok(job) => {
                let options = Options { strict_annotations: target.strict_annotations, ..engine.options(&job) };
                targets.push(CheckTarget { files: job.compiled.files.clone(), options, values: ValuesAre::All });
            }
            Err(more) => problems.extend(more),
        }
    }
    Ok(CheckedTargets { targets, problems })
}
