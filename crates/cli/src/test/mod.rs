//! `test`: renders with the values of tests and compares the output with their expectations.
//!
//! A broken test file ([`TestResult::Wrong`]) does not prevent others from running. Tests run on
//! all cores and are reported in the order of their files.

mod case;
mod coverage;
mod expect;
mod find;
mod output;
mod remedy;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use ytterby::{Failure, OutputFile};
use ytterby_diag::render::{Colour, Rendering, RichOptions};
use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_project::{ProjectFile, Target, Test, select};

use self::case::Case;
pub use self::coverage::CoverageFormat;
pub use self::output::TestFormat;
use self::output::Writer;
use crate::commands::flag;
use crate::flags::Invocation;
use crate::host::ColourWish;
use crate::project::engine::{Reached, RenderSettings, Renderers};
use crate::project::inputs::Inputs;
use crate::project::pool;
use crate::project::progress::Progress;
use crate::project::{self, LoadedProject};
use crate::{build, host, limits, write};

/// The result of a test.
#[derive(Debug)]
pub enum TestResult {
    Passed,
    Failed(Vec<TestFailure>),
    /// It could not be run.
    Wrong(Vec<Diagnostic>),
}

/// Why a test failed.
#[derive(Debug)]
pub struct TestFailure {
    /// The problem, with positions in the shared sources.
    pub diagnostic: Diagnostic,
    /// Lines of a diff; empty if there is nothing to compare.
    pub diff: String,
}

impl From<Diagnostic> for TestFailure {
    fn from(diagnostic: Diagnostic) -> TestFailure {
        TestFailure { diagnostic, diff: String::new() }
    }
}

/// The result of one test.
#[derive(Debug)]
pub struct Tested {
    verdict: TestResult,
    seconds: f64,
    /// A snapshot to write.
    snapshot: Option<(String, OutputFile)>,
    printed: Vec<u8>,
    /// Rules that the render violated: the path of the value, and the requirement.
    broken: Vec<(String, String)>,
}

/// Runs tests as the flags request. Returns the exit code.
pub fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let format =
        flags.choice(&flag::FORMAT, |value| format!("Unknown value '{value}' of --format"))?.unwrap_or_default();
    let coverage = coverage::CoverageFormat::of(flags)?;
    let shard = build::shard(flags)?;
    let jobs = build::jobs(flags)?;
    limits::of_flags(flags)?;
    let mut writer = Writer::new(format, program, rich(flags)?, sources);
    if coverage == Some(coverage::CoverageFormat::Lcov) {
        writer = writer.aside();
    }
    let project = match load(&flags.operands, sources) {
        Ok(project) => project,
        Err(failure) => {
            writer.wrong("", &failure.diagnostics());
            return writer.finish().map(|_| 2);
        }
    };
    let found = find::files(project.as_ref(), &flags.operands);
    let empty = ProjectFile::default();
    let (file, root) = project.as_ref().map_or((&empty, ""), |project| (&project.file, &*project.root));
    let mut cases: Vec<Case> = Vec::new();
    for path in &found.files {
        match find::read(path, sources) {
            Ok(file) => {
                let (good, problems) = bind(project.as_ref(), path, file);
                if !problems.is_empty() {
                    writer.wrong(path, &problems);
                } else {
                    cases.extend(good);
                }
            }
            Err(problems) => writer.wrong(path, &problems),
        }
    }
    found.problems.iter().for_each(|problem| writer.wrong("", std::slice::from_ref(problem)));
    let all = cases.len();
    let used = find::Used::of(&cases);
    let filter = flags.text(&flag::FILTER);
    cases.retain(|case| case.test.name.value.contains(filter));
    cases.retain(|case| shard.is_none_or(|shard| shard.contains(&case.id())));
    if cases.is_empty() && writer.is_good() {
        writer.nothing(match (found.files.is_empty(), all) {
            (true, _) if file.tests.is_empty() && flags.operands.is_empty() => {
                "no tests: the project file has no tests:"
            }
            (true, _) => "no tests: there is no file named *_test.yml",
            (false, 0) => "no tests: the files contain none",
            (false, _) => "no tests: none is left by --filter and --shard",
        });
        return writer.finish();
    }
    // All problems of a render must be found, because `fails` may expect any of them.
    let reached = coverage.map(|_| Reached::default());
    let engine = RenderSettings {
        program: program.to_owned(),
        rendering: Rendering::Json,
        sources: Arc::clone(sources),
        reached,
        find_causes: true,
    };
    let inputs = Inputs::new(file, root, flags, engine.rendering, sources);
    let update = flags.is_on(&flag::UPDATE);
    let mut progress = Progress::new("Running tests");
    let mut broken = BTreeSet::new();
    let mut waiting: BTreeMap<usize, Tested> = BTreeMap::new();
    let mut next = 0;
    let work = |own: &mut Renderers, number: usize| {
        let started = Instant::now();
        let base = project.as_ref().map_or("", |project| &*project.base);
        let tested = case::run(&engine, own, &inputs, base, &cases[number], update);
        Tested { seconds: started.elapsed().as_secs_f64(), ..tested }
    };
    pool::each(cases.len(), pool::threads(jobs, cases.len()), &mut progress, work, |number, tested, progress| {
        waiting.insert(number, tested);
        while let Some(tested) = waiting.remove(&next) {
            progress.clear();
            let case = &cases[next];
            next += 1;
            host::write_error(&String::from_utf8_lossy(&tested.printed));
            broken.extend(tested.broken);
            let verdict = match tested.snapshot {
                Some((directory, file)) => written(case, &directory, file).unwrap_or(tested.verdict),
                None => tested.verdict,
            };
            writer.tested(case, &verdict, tested.seconds);
        }
    });
    if filter.is_empty() && shard.is_none() {
        used.unused().iter().for_each(|warning| writer.warning(warning));
    }
    write::end_if_interrupted();
    let exit = writer.finish()?;
    if let (Some(format), Some(reached)) = (coverage, &engine.reached) {
        let text = coverage::report(format, reached, &inputs, &broken, sources);
        host::write_output(text.as_bytes())?;
    }
    Ok(exit)
}

/// Writes a snapshot. Returns a verdict if that fails.
fn written(case: &Case, directory: &str, file: OutputFile) -> Option<TestResult> {
    let failure = write::add_files(directory, &[file]).err()?;
    let place = case.test.snapshot.as_ref().unwrap_or(&case.test.name);
    Some(TestResult::Wrong(vec![place.problem(Id::FILE_WRITE, failure.to_string(), None)]))
}

/// The project here or above. It is optional if test files are named.
fn load(operands: &[String], sources: &Sources) -> Result<Option<LoadedProject>, Failure> {
    if project::find().is_none() && !operands.is_empty() {
        return Ok(None);
    }
    project::load(sources).map(Some)
}

/// The tests of a file with their targets, and problems of finding those.
fn bind(project: Option<&LoadedProject>, path: &str, file: ytterby_project::TestFile) -> (Vec<Case>, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let mut cases = Vec::new();
    for test in file.tests {
        match target(project, &test) {
            Ok(target) => cases.push(Case { path: path.to_owned(), test, target }),
            Err(problem) => problems.push(*problem),
        }
    }
    (cases, problems)
}

/// The target of a test, without the test's additions.
fn target(project: Option<&LoadedProject>, test: &Test) -> Result<Target, Box<Diagnostic>> {
    let base = project.map(|project| project.file.base.clone());
    match &test.target {
        None if test.files.is_empty() => base.ok_or_else(|| {
            let hint = "add files:, or run it in a project";
            let message = "the test names no files, and there is no project";
            Box::new(test.name.problem(Id::TEST_VALUE, message, Some(hint.into())))
        }),
        // The test does not use the project's files, but its output is checked like theirs.
        None => {
            let base = base.unwrap_or_default();
            Ok(Target { kubernetes: base.kubernetes, schemas: base.schemas, limits: base.limits, ..Target::default() })
        }
        Some(name) => {
            let Some(project) = project else {
                let hint = Some("add a ytterby.yml, or give files:".to_owned());
                let message = "there is no project that could have targets";
                return Err(Box::new(name.problem(Id::PROJECT_TARGET, message, hint)));
            };
            let word = std::slice::from_ref(&name.value);
            let found = select(&project.file, word).map_err(|problem| {
                let hint = problem.helps.first().map(|help| help.text.plain().into_owned());
                name.problem(Id::PROJECT_TARGET, problem.message.plain().into_owned(), hint)
            })?;
            match &found[..] {
                [target] => Ok((*target).clone()),
                several => {
                    let message = format!("\"{}\" names {} targets; a test renders one", name.value, several.len());
                    let hint = format!("name one: {}", several[0].name);
                    Err(Box::new(name.problem(Id::PROJECT_TARGET, message, Some(hint))))
                }
            }
        }
    }
}

/// The format of problems on standard output.
fn rich(flags: &Invocation) -> Result<Rendering, Failure> {
    use std::io::IsTerminal;
    let wish = host::colour_wish(flags.given(&flag::COLOR.0))?;
    let is_terminal = std::io::stdout().is_terminal();
    let colour = match host::colour(wish) {
        Colour::Ansi if is_terminal || wish == ColourWish::Always => Colour::Ansi,
        _ => Colour::Off,
    };
    Ok(Rendering::Rich(RichOptions { colour, width: if is_terminal { host::width() } else { None } }))
}
