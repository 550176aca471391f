//! Renders documents of data values and finds those that fail, each shrunk to the smallest that fails in the same way.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use ytterby::{
    Content, Failure, InputFile, Options, Project, ProjectError, Renderer, Silent, ValuesDocument, ValuesFile,
};
use ytterby_diag::{Diagnostic, Sources};
use ytterby_text::budget::Limit;

use crate::project::progress::Progress;

/// Turns of loops and calls that one input may take: generated values must not make a check endless.
const STEPS: u64 = 50_000_000;

/// Different failures that are told.
const TOLD: usize = 10;

/// Values that are legal and fail.
pub struct Failing {
    /// The smallest values found that fail in this way.
    pub values: ValuesDocument,
    /// How they fail.
    pub failure: Failure,
    /// What the failure points into.
    pub sources: Arc<Sources>,
}

impl Failing {
    /// The failure in a line: `code/value at t.yml:4: division by zero`.
    pub fn summary(&self) -> String {
        let Some(first) = self.failure.diagnostics().into_iter().next() else { return String::new() };
        let place = place(&first, &self.sources);
        let message = first.message.plain();
        let line = message.lines().next().unwrap_or_default();
        format!("{} at {place}: {line}", first.id.name())
    }
}

/// What makes two failures the same: the id and the place of the first problem.
type Way = (&'static str, String);

/// Renders each document on top of `options`; gives one for each way in which they fail. Files are compiled once.
///
/// # Errors
/// Where the files cannot be compiled at all.
pub fn check(
    files: &[InputFile],
    options: &Options,
    documents: &[ValuesDocument],
) -> Result<Vec<Failing>, ProjectError> {
    let mut options = options.clone();
    options.limits.steps = Some(options.limits.steps.map_or(STEPS, |steps| steps.min(STEPS)));
    let project = Project::builder().inputs(files.to_vec()).options(options.clone()).build()?;
    let mut attempts = Attempts { renderer: project.renderer(), options };
    let mut known: HashSet<Way> = HashSet::new();
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut found = Vec::new();
    let mut progress = Progress::new("Trying inputs");
    for (number, document) in documents.iter().enumerate() {
        if found.len() >= TOLD {
            break;
        }
        progress.step(number, documents.len());
        if document.yaml().is_ok_and(|text| !seen.insert(text)) {
            continue;
        }
        let Err((failure, sources)) = attempts.attempt(document) else { continue };
        let Some(way) = ways(&failure, &sources).into_iter().next() else { continue };
        if !known.insert(way.clone()) {
            continue;
        }
        // A limit is for all of it: neither smaller values nor other ones are tried at its cost.
        if failure.diagnostics().iter().any(|problem| problem.id.limit().is_some_and(is_of_the_run)) {
            found.push(Failing { values: document.clone(), failure, sources });
            break;
        }
        let values = document.shrunk(&mut |values| match attempts.attempt(values) {
            Ok(()) => false,
            Err((failure, sources)) => ways(&failure, &sources).contains(&way),
        });
        let (failure, sources) = attempts.attempt(&values).err().unwrap_or((failure, sources));
        known.extend(ways(&failure, &sources));
        found.push(Failing { values, failure, sources });
    }
    progress.clear();
    Ok(found)
}

/// Whether a limit is not the one of steps, which each input has for itself.
fn is_of_the_run(limit: Limit) -> bool {
    limit != Limit::Steps
}

struct Attempts {
    renderer: Renderer,
    options: Options,
}

impl Attempts {
    /// Renders with these values; an error comes with its sources.
    fn attempt(&mut self, values: &ValuesDocument) -> Result<(), (Failure, Arc<Sources>)> {
        let text = values.yaml().map_err(|failure| (failure, Arc::default()))?;
        let file = InputFile::new("generated.yml", Content::new(text));
        let path = "generated.yml".to_owned();
        let mut options = self.options.clone();
        options.values.files.push(ValuesFile { library: String::new(), path, files: Ok(vec![file]) });
        let outcome = self.renderer.run(&options, Rc::new(Silent));
        outcome.map(|_| ()).map_err(|error| (error.failure().clone(), error.sources().clone()))
    }
}

/// The ids and places of all problems.
fn ways(failure: &Failure, sources: &Sources) -> Vec<Way> {
    failure.diagnostics().iter().map(|problem| (problem.id.name(), place(problem, sources))).collect()
}

fn place(problem: &Diagnostic, sources: &Sources) -> String {
    problem.primary().map(|label| sources.locate(label.pos)).unwrap_or_default()
}
