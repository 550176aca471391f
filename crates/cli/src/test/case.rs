//! Runs one test: renders, and compares the result with the expectation.
//!
//! `run` renders once and compares the result: with an expected failure, or with documents and a
//! snapshot. If that succeeds and the test asks for it, it renders with generated values. All
//! differences are reported, not only the first.

use std::fs;
use std::sync::Arc;

use ytterby::{Failure, Options, OutputCheck, OutputFile, Rendered};
use ytterby_diag::{Diagnostic, Id, Part, PlaceNames, Sources, Step, limits};
use ytterby_project::{Expectation, ExpectedFailure, Placed, PlacedData, Target, Test, join};
use ytterby_text::budget;

use super::{TestFailure, TestResult, Tested, expect, find, remedy};
use crate::build::unified;
use crate::project::engine::{DocumentCollector, Failing, RenderJob, RenderSettings, Renderers};
use crate::project::inputs::{Additions, Inputs};
use crate::read::SNAPSHOTS;

/// A test and its target.
#[derive(Debug)]
pub struct Case {
    /// The test file, relative to the working directory.
    pub path: String,
    /// The test.
    pub test: Test,
    /// The target that the test modifies.
    pub target: Target,
}

impl Case {
    /// Its unique name.
    pub fn id(&self) -> String {
        format!("{}: {}", self.path, self.test.name.value)
    }
}

/// Runs a test. Paths of the project are relative to `base`; `update` replaces a snapshot that
/// differs.
pub fn run(
    engine: &RenderSettings,
    renderers: &mut Renderers,
    inputs: &Inputs<'_>,
    base: &str,
    case: &Case,
    update: bool,
) -> Tested {
    let Case { test, target, .. } = case;
    let directory = find::directory(&case.path);
    let more = Additions { base: directory, files: &test.files, values: &test.values, set: &test.set };
    let mut job = match inputs.job_with(target, base, &more, ytterby::OutputForm::Documents) {
        Ok(job) => job,
        Err(problems) => {
            let verdict = TestResult::Wrong(problems);
            return Tested { verdict, seconds: 0.0, snapshot: None, printed: Vec::new(), broken: Vec::new() };
        }
    };
    let documents = Arc::new(DocumentCollector::and_then(job.check.take()));
    job.check = Some(documents.clone() as Arc<dyn OutputCheck>);
    let outcome = engine.render(renderers, &job);
    let mut snapshot = None;
    let problems = match (&outcome.result, &test.fails) {
        (Ok(_), Some(expected)) => vec![not_failed(expected)],
        (Err(failure), Some(expected)) => other_failure(expected, failure, &outcome.sources),
        (Err(failure), None) => failure.diagnostics().into_iter().map(TestFailure::from).collect(),
        (Ok(rendered), None) => {
            let options = engine.options(&job);
            let mut found = compared(test, &documents.take(), &options, &outcome.sources);
            if let Some(name) = &test.snapshot {
                let place = join(directory, SNAPSHOTS);
                match (snapshot_problem(name, &join(&place, &name.value), rendered), update) {
                    (Some(_), true) => {
                        let file = OutputFile::new(name.value.clone(), rendered.documents.clone());
                        snapshot = Some((place, file));
                    }
                    (problem, _) => found.extend(problem),
                }
            }
            found
        }
    };
    let place = engine.sources.absorb(&outcome.sources);
    let is_own = Arc::ptr_eq(&engine.sources, &outcome.sources);
    let problems: Vec<TestFailure> = problems
        .into_iter()
        .map(|problem| match is_own {
            true => problem,
            false => TestFailure { diagnostic: problem.diagnostic.relocate(&outcome.sources, &place), ..problem },
        })
        .collect();
    let mut problems = problems;
    if let (Some(count), true) = (&test.generate, problems.is_empty()) {
        problems.extend(generated(engine, renderers, &job, count));
    }
    for problem in &mut problems {
        problem.diff = expect::cut_diff(&problem.diff);
    }
    let broken = outcome.result.as_ref().err().map(|failure| rules_of(failure, &outcome.sources)).unwrap_or_default();
    let verdict = if problems.is_empty() { TestResult::Passed } else { TestResult::Failed(problems) };
    Tested { verdict, seconds: 0.0, snapshot, printed: outcome.printed, broken }
}

/// Problems of rendering with generated values.
fn generated(
    engine: &RenderSettings,
    renderers: &mut Renderers,
    job: &RenderJob,
    count: &Placed<u64>,
) -> Vec<TestFailure> {
    // The test's own render is separate from those with generated values.
    let number = usize::try_from(count.value).unwrap_or(MAX_GENERATED).min(MAX_GENERATED);
    let moved = |diagnostic: Diagnostic, layer: &Arc<Sources>| {
        let place = engine.sources.absorb(layer);
        diagnostic.relocate(layer, &place)
    };
    match engine.generate(renderers, job, number) {
        Err((failure, layer)) => {
            failure.diagnostics().into_iter().map(|problem| moved(problem, &layer).into()).collect()
        }
        Ok(failing) => failing
            .into_iter()
            .map(|Failing { values, failure, sources }| {
                let first = failure.diagnostics().into_iter().next();
                let why = first.as_ref().map(|first| actual(first, &sources)).unwrap_or_default();
                let message = format!("values that the schema allows make the render fail: {why}");
                let help = "add a rule to the schema that refuses these values, or handle them in the template";
                let mut diagnostic = count.problem(Id::TEST_GENERATE, message, Some(help.to_owned()));
                if let Some(label) = first.and_then(|first| first.labels.into_iter().next()) {
                    let role = ytterby_diag::Role::Related;
                    diagnostic = moved(diagnostic.label(ytterby_diag::Label { role, ..label }), &sources);
                }
                TestFailure { diagnostic, diff: format!("the smallest values that fail:\n{values}") }
            })
            .collect(),
    }
}

/// Maximum inputs generated for one test.
const MAX_GENERATED: usize = 100_000;

/// The rules that a failure reports: the path of the value, and the requirement.
fn rules_of(failure: &Failure, sources: &Sources) -> Vec<(String, String)> {
    let rule = |problem: &Diagnostic| {
        let path: String = problem.path.as_ref()?.steps().iter().fold(String::new(), |path, step| match step {
            Step::Index(_) => path + "[]",
            Step::Key(key) if path.is_empty() => key.clone(),
            Step::Key(key) => format!("{path}.{key}"),
        });
        Some((path, problem.must_be.as_ref()?.shown(sources, PlaceNames::Full)))
    };
    failure.diagnostics().iter().filter_map(rule).collect()
}

/// Compares documents with all expectations, within the limits of the test.
fn compared(test: &Test, documents: &[PlacedData], options: &Options, sources: &Sources) -> Vec<TestFailure> {
    let _running = budget::begin(options.limits, None, options.meter.clone());
    let compare = || {
        let mut index = expect::DocumentIndex::new(documents);
        let check = |expectation: &Expectation| {
            let _working = limits::working_at(expectation.pos);
            expect::check(expectation, &mut index)
        };
        test.expect.iter().flat_map(check).collect()
    };
    budget::catch(compare).unwrap_or_else(|exceeded| {
        let mut failure = limits::explained(exceeded.into(), sources);
        failure.place_at(test.name.pos, Part::Value);
        failure.diagnostics().into_iter().map(TestFailure::from).collect()
    })
}

/// The problem with a snapshot, if any.
fn snapshot_problem(name: &Placed<String>, path: &str, rendered: &Rendered) -> Option<TestFailure> {
    let old = fs::read(path).ok();
    match &old {
        Some(old) if *old == rendered.documents => None,
        None => {
            let message = format!("the snapshot {path} does not exist");
            let hint = "ytterby test --update writes it".to_owned();
            Some(name.problem(Id::TEST_SNAPSHOT, message, Some(hint)).into())
        }
        Some(old) => {
            let message = format!("the output differs from the snapshot {path}");
            let hint = "where the new output is right, ytterby test --update writes it".to_owned();
            let diff = unified(path, Some(old), Some(&rendered.documents));
            Some(TestFailure { diagnostic: name.problem(Id::TEST_SNAPSHOT, message, Some(hint)), diff })
        }
    }
}

fn not_failed(expected: &Placed<ExpectedFailure>) -> TestFailure {
    let message = format!("expected the render to fail with {}, but it succeeded", words(&expected.value));
    expected.problem(Id::TEST_FAILS, message, Some(remedy::of_success(&expected.value))).into()
}

/// The problem with a failure, unless it contains the expected one.
fn other_failure(expected: &Placed<ExpectedFailure>, failure: &Failure, sources: &Sources) -> Vec<TestFailure> {
    let found = failure.diagnostics();
    if found.iter().any(|problem| is_expected(&expected.value, problem, sources)) {
        return Vec::new();
    }
    // A message may be that of several problems, or of the failed operation.
    let ExpectedFailure { id, path, message } = &expected.value;
    if let (None, None, Some(text)) = (id, path, message)
        && failure.text(sources).contains(text)
    {
        return Vec::new();
    }
    let message = format!("expected the render to fail with {}, but it failed with", words(&expected.value));
    let shown: Vec<String> = found.iter().take(3).map(|problem| actual(problem, sources)).collect();
    let help = found.first().map(|first| remedy::of_failure(first.id.name(), first.path.as_ref()));
    let mut diagnostic = expected.problem(Id::TEST_FAILS, format!("{message} {}", shown.join(", and ")), help);
    for problem in found.iter().take(3) {
        for label in problem.labels.iter().take(1) {
            diagnostic = diagnostic.label(ytterby_diag::Label { role: ytterby_diag::Role::Related, ..label.clone() });
        }
    }
    vec![diagnostic.into()]
}

fn is_expected(expected: &ExpectedFailure, problem: &Diagnostic, sources: &Sources) -> bool {
    let has_id = expected.id.as_ref().is_none_or(|id| problem.id.name() == id);
    let has_path = |path: &String| problem.path.as_ref().is_some_and(|found| found.to_string() == *path);
    let has_text = |text: &String| problem.sentence(sources).contains(text);
    has_id && expected.path.as_ref().is_none_or(has_path) && expected.message.as_ref().is_none_or(has_text)
}

/// Example: `rule/min at port`.
fn words(expected: &ExpectedFailure) -> String {
    let mut out = expected.id.clone().unwrap_or_default();
    for (word, text) in [("at", &expected.path), ("and the message", &expected.message)] {
        if let Some(text) = text {
            let text = if word == "at" { text.clone() } else { format!("\"{text}\"") };
            let word = if out.is_empty() && word != "at" { "the message" } else { word };
            out = format!("{out} {word} {text}").trim().to_owned();
        }
    }
    out
}

fn actual(problem: &Diagnostic, sources: &Sources) -> String {
    format!("{} ({})", problem.id, problem.sentence(sources))
}
