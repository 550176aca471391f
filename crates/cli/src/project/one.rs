//! The files and values of one target, for commands that render one thing: `explain` and `gen`.

use std::sync::Arc;

use ytterby::{Compat, Failure, Options};
use ytterby_diag::Sources;
use ytterby_diag::render::Rendering;
use ytterby_project::{Target, select};

use super::engine::RenderSettings;
use super::inputs::Inputs as ProjectInputs;
use super::{LoadedProject, series};
use crate::commands::flag;
use crate::flags::Invocation;
use crate::read::{Stdin, Symlinks};
use crate::render::{self, Inputs};

/// Which target to use if none is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unnamed {
    /// The first one.
    First,
    /// The keys of the project itself, which all targets share.
    Common,
}

/// The files of `-f`; without those, the inputs of a target of the project.
///
/// # Errors
/// If files do not exist, flags or project files are wrong, or the target is unknown.
pub fn inputs(
    program: &str,
    flags: &Invocation,
    rendering: Rendering,
    (name, unnamed): (Option<&String>, Unnamed),
    sources: &Arc<Sources>,
) -> Result<Inputs, Failure> {
    let has_files = !flags.list(&flag::FILE).is_empty() || !flags.text(&flag::BULK_IN).is_empty();
    if has_files || super::find().is_none() && name.is_none() {
        return render::inputs(program, flags, rendering, Compat::Latest, sources);
    }
    let project = super::load(sources)?;
    let target = target(&project, name, unnamed)?;
    let inputs = ProjectInputs::new(&project.file, &project.root, flags, rendering, sources);
    let job = inputs.job(target, &project.base, ytterby::OutputForm::default()).map_err(series)?;
    let engine = RenderSettings {
        program: program.to_owned(),
        rendering,
        sources: Arc::clone(sources),
        reached: None,
        find_causes: false,
    };
    let own = engine.options(&job);
    let given = render::options(program, flags, rendering, Compat::Latest, &Symlinks::default(), &Stdin::default())?;
    let mut values = given.values.clone();
    values.files.splice(0..0, own.values.files);
    values.placed.splice(0..0, own.values.placed);
    let options = Options {
        values,
        strict_annotations: target.strict_annotations || given.strict_annotations,
        limits: own.limits,
        output_check: own.output_check,
        ..given
    };
    Ok(Inputs { files: job.compiled.files.clone(), options })
}

fn target<'p>(project: &'p LoadedProject, name: Option<&String>, unnamed: Unnamed) -> Result<&'p Target, Failure> {
    let first = match (name, unnamed) {
        (Some(name), _) => {
            select(&project.file, std::slice::from_ref(name)).map_err(|problem| *problem)?.first().copied()
        }
        (None, Unnamed::First) => project.file.targets.first(),
        (None, Unnamed::Common) => None,
    };
    Ok(first.unwrap_or(&project.file.base))
}
