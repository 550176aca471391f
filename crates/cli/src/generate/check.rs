//! Renders with generated data values; each failure is shrunk to the smallest values that fail in
//! the same way.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use ytterby::{
    Content, Failure, InputFile, Options, Project, ProjectError, Renderer, Silent, ValuesDocument, ValuesFile,
};
use ytterby_diag::{Diagnostic, Sources};
use ytterby_text::budget::Limit;

use crate::limits::SharedClock;
use crate::project::progress::Progress;

/// Maximum Starlark steps for one input: generated values must not make a check endless.
const STEPS: u64 = 50_000_000;

/// Maximum number of reported failures.
const TOLD: usize = 10;

/// Legal data values that fail to render.
pub struct Failing {
    /// The smallest values found that fail in the same way.
    pub values: ValuesDocument,
    /// How they fail.
    pub failure: Failure,
    /// Resolves the failure's positions.
    pub sources: Arc<Sources>,
}

impl Failing {
    /// The failure in one line: `code/value at t.yml:4: division by zero`.
    pub fn summary(&self) -> String {
        let Some(first) = self.failure.diagnostics().into_iter().next() else { return String::new() };
        let place = place(&first, &self.sources);
        let message = first.message.plain();
        let line = message.lines().next().unwrap_or_default();
        format!("{} at {place}: {line}", first.id.name())
    }
}

/// The identity of a failure: the id and position of its first problem.
type FailureKey = (&'static str, String);

/// Renders with each document on top of `options`; returns one failing document for each distinct
/// failure. Files are compiled once. The time limit is for all documents together if `started` is
/// given, the processor time when it began; otherwise it is for each.
///
/// # Errors
/// If the files cannot be compiled at all.
pub fn check(
    files: &[InputFile],
    options: &Options,
    documents: &[ValuesDocument],
    started: Option<Duration>,
) -> Result<Vec<Failing>, ProjectError> {
    let mut options = options.clone();
    options.limits.steps = Some(options.limits.steps.map_or(STEPS, |steps| steps.min(STEPS)));
    let project = Project::builder().inputs(files.to_vec()).options(options.clone()).build()?;
    let mut attempts = Attempts { renderer: project.renderer(), options, started };
    let mut known: HashSet<FailureKey> = HashSet::new();
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
        // The limit is for the whole run: neither shrinking nor further inputs may exceed it.
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

/// Whether a limit is for the whole run; the limit of steps is for each input.
fn is_of_the_run(limit: Limit) -> bool {
    limit != Limit::Steps
}

struct Attempts {
    renderer: Renderer,
    options: Options,
    started: Option<Duration>,
}

impl Attempts {
    /// Renders with these values; an error includes its sources.
    fn attempt(&mut self, values: &ValuesDocument) -> Result<(), (Failure, Arc<Sources>)> {
        let text = values.yaml().map_err(|failure| (failure, Arc::default()))?;
        let file = InputFile::new("generated.yml", Content::new(text));
        let path = "generated.yml".to_owned();
        let mut options = self.options.clone();
        if let Some(started) = self.started {
            options.meter = Some(Arc::new(SharedClock::since(started)));
        }
        options.values.files.push(ValuesFile { library: String::new(), path, files: Ok(vec![file]) });
        let outcome = self.renderer.run(&options, Rc::new(Silent));
        outcome.map(|_| ()).map_err(|error| (error.failure().clone(), error.sources().clone()))
    }
}

/// The ids and positions of all problems.
fn ways(failure: &Failure, sources: &Sources) -> Vec<FailureKey> {
    failure.diagnostics().iter().map(|problem| (problem.id.name(), place(problem, sources))).collect()
}

fn place(problem: &Diagnostic, sources: &Sources) -> String {
    problem.primary().map(|label| sources.locate(label.pos)).unwrap_or_default()
}
