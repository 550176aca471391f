//! `build`: renders the targets of a project.
//!
//! Targets are independent. All cores render them and compare the results with the disk; one thread
//! writes files, so that an interrupt leaves either the old or the new directory. Directories that
//! are up to date are not written.

mod compare;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use ytterby::{Failure, Rendered};
use ytterby_diag::render::Rendering;
use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_project::{Placed, Shard, Target, is_below, select};

pub use self::compare::{Comparison, FileChange, compare, unified};
use crate::commands::flag;
use crate::flags::Invocation;
use crate::project::engine::{RenderSettings, Renderers};
use crate::project::findings::Findings;
use crate::project::inputs::{self, Inputs};
use crate::project::pool;
use crate::project::progress::Progress;
use crate::project::{self, LoadedProject, series};
use crate::write::Recovered;
use crate::{host, limits, report, write};

/// Builds as the flags request. Returns the exit code.
pub fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let rendering = report::rendering(program, flags)?;
    let shard = shard(flags)?;
    let jobs = jobs(flags)?;
    limits::of_flags(flags)?;
    let mode = BuildMode { check: flags.is_on(&flag::BUILD_CHECK), diff: flags.is_on(&flag::BUILD_DIFF) };
    let project = match project::load(sources) {
        Ok(project) => project,
        Err(failure) => return Ok(refused(program, failure, sources, rendering)),
    };
    let targets = match chosen(&project, &flags.operands) {
        Ok(targets) => targets,
        Err(problem) => return Ok(refused(program, (*problem).into(), sources, rendering)),
    };
    let targets: Vec<&Target> =
        targets.into_iter().filter(|target| shard.is_none_or(|shard| shard.contains(&target.name))).collect();
    let engine = RenderSettings {
        program: program.to_owned(),
        rendering,
        sources: Arc::clone(sources),
        reached: None,
        find_causes: true,
    };
    let inputs = Inputs::new(&project.file, &project.root, flags, rendering, sources);
    let mut findings = Findings::default();
    let mut stream = Stream::default();
    let mut counts = Counts::default();
    let mut recovered = Recovered::default();
    let mut progress = Progress::new("Building targets");
    let work = |own: &mut Renderers, number: usize| build(&engine, own, &inputs, &project, targets[number], mode);
    pool::each(targets.len(), pool::threads(jobs, targets.len()), &mut progress, work, |number, built, progress| {
        let target = targets[number];
        let name = if project.file.targets.len() > 1 { &*target.name } else { "" };
        if !built.printed.is_empty() {
            progress.clear();
            host::write_error(&String::from_utf8_lossy(&built.printed));
        }
        let layer = Arc::clone(&built.sources);
        let counted = (&mut counts, &mut recovered);
        let documents = match finish(&project, target, built, mode, counted, &mut findings, (number, name)) {
            Ok(documents) => documents,
            Err(failure) => {
                findings.fail(number, name, failure, &layer);
                None
            }
        };
        if stream.add(number, documents) {
            progress.clear();
        }
    });
    let streamed = stream.finish();
    let is_good = findings.is_good() && (!mode.check || counts.changed.is_empty());
    host::write_error(&findings.report(program, sources, rendering));
    if host::is_terminal() && is_good && !mode.diff {
        let verb = if mode.check { "checked" } else { "built" };
        host::write_error(&format!("{verb} {}, {}\n", counted(counts.targets, "target"), counts.shown()));
    }
    write::end_if_interrupted();
    streamed.map(|()| i32::from(!is_good))
}

/// How to treat differences.
#[derive(Clone, Copy, Debug)]
pub struct BuildMode {
    /// Differences are errors.
    pub check: bool,
    /// Differences are printed.
    pub diff: bool,
}

impl BuildMode {
    fn writes(self) -> bool {
        !self.check && !self.diff
    }
}

/// Number of built targets, and the directories that changed.
#[derive(Debug, Default)]
struct Counts {
    targets: usize,
    changed: Vec<String>,
}

impl Counts {
    /// Example: `2 changed: out/dev, out/prod`.
    fn shown(&self) -> String {
        const NAMED: usize = 3;
        let names = self.changed[..self.changed.len().min(NAMED)].join(", ");
        match self.changed.len() {
            0 => "0 changed".to_owned(),
            count if count > NAMED => format!("{count} changed: {names} and {} more", count - NAMED),
            count => format!("{count} changed: {names}"),
        }
    }
}

/// The result of building one target.
pub struct Built {
    /// The output, or the reason for there being none.
    pub result: Result<Rendered, Failure>,
    /// Resolves the positions of warnings and problems.
    pub sources: Arc<Sources>,
    /// The differences from the directory on disk.
    pub comparison: Option<Comparison>,
    /// The output of `print()` in the target's code.
    pub printed: Vec<u8>,
}

/// Renders a target and compares the output with its directory.
pub fn build(
    engine: &RenderSettings,
    renderers: &mut Renderers,
    inputs: &Inputs<'_>,
    project: &LoadedProject,
    target: &Target,
    mode: BuildMode,
) -> Built {
    let form = match target.output {
        Some(_) => ytterby::OutputForm::Files,
        None => ytterby::OutputForm::Documents,
    };
    let job = match inputs.job(target, &project.base, form) {
        Ok(job) => job,
        Err(problems) => {
            let (result, sources) = (Err(series(problems)), engine.sources.clone());
            return Built { result, sources, comparison: None, printed: Vec::new() };
        }
    };
    let outcome = engine.render(renderers, &job);
    let mut result = outcome.result;
    let mut comparison = None;
    if let (Ok(rendered), Some(output)) = (&result, &target.output) {
        let directory = project.at(&output.value);
        match refused_output(project, target, output, &directory) {
            Some(problem) => result = Err(problem.into()),
            None => comparison = Some(compare(&directory, &rendered.files, mode.diff)),
        }
    }
    Built { result, sources: outcome.sources, comparison, printed: outcome.printed }
}

/// The problem with an output directory that must not be replaced: it is a link or a file, or
/// contains inputs.
fn refused_output(
    project: &LoadedProject,
    target: &Target,
    output: &Placed<String>,
    directory: &str,
) -> Option<Diagnostic> {
    let metadata = fs::symlink_metadata(directory).ok()?;
    if metadata.is_symlink() || !metadata.is_dir() {
        let what = if metadata.is_symlink() { "a symbolic link" } else { "a file" };
        let message = format!("the output directory {directory} is {what}");
        let hint = Some("remove it, or choose another directory".to_owned());
        return Some(output.problem(Id::PROJECT_OUTPUT, message, hint));
    }
    let real = fs::canonicalize(directory).ok()?;
    let real = real.to_str()?;
    let paths = target.files.iter().chain(&target.values).chain(&target.schemas).chain(&project.file.tests);
    let inside = paths.filter(|path| {
        let place = inputs::argument(&project.base, &path.value);
        let place = place.rsplit('=').next().unwrap_or_default();
        fs::canonicalize(place).is_ok_and(|input| input.to_str().is_some_and(|input| is_below(input, real)))
    });
    let input = inside.map(|path| path.value.clone()).next()?;
    let message = format!("the output directory {directory} contains the input {input}");
    let hint = Some("output directories are replaced as a whole; choose one with nothing else in it".to_owned());
    Some(output.problem(Id::PROJECT_OUTPUT, message, hint))
}

/// Writes, compares or prints the output of a target. Counts targets and changed directories.
fn finish(
    project: &LoadedProject,
    target: &Target,
    built: Built,
    mode: BuildMode,
    (counts, recovered): (&mut Counts, &mut Recovered),
    findings: &mut Findings,
    (number, name): (usize, &str),
) -> Result<Option<Vec<u8>>, Failure> {
    let rendered = match built.result {
        Ok(rendered) => rendered,
        Err(failure) => {
            findings.warn(number, name, failure.warnings(), &built.sources);
            return Err(failure);
        }
    };
    findings.warn(number, name, &rendered.warnings, &built.sources);
    counts.targets += 1;
    let (Some(comparison), Some(output)) = (built.comparison, &target.output) else {
        return Ok(Some(rendered.documents).filter(|_| mode.writes()));
    };
    let directory = project.at(&output.value);
    if comparison.is_equal() {
        return Ok(None);
    }
    counts.changed.push(directory.clone());
    if mode.writes() {
        let written = write::replace_directory(&directory, &rendered.files, recovered);
        // An interrupt during the write must not wait for the other targets.
        write::end_if_interrupted();
        written?;
        return Ok(None);
    }
    if mode.check {
        findings.fail(number, name, stale(target, output, &directory, &comparison).into(), &built.sources);
    }
    Ok(Some(comparison.diff.into_bytes()).filter(|diff| !diff.is_empty()))
}

/// The problem that `--check` reports for a directory that is not up to date.
fn stale(target: &Target, output: &Placed<String>, directory: &str, comparison: &Comparison) -> Diagnostic {
    let message = match comparison.exists {
        true => format!("{directory} is not up to date: {}", comparison.summary()),
        false => format!("{directory} does not exist"),
    };
    output.problem(Id::PROJECT_STALE, message, Some(format!("run ytterby build {}", quoted(&target.name))))
}

/// Quotes a name for a shell.
fn quoted(name: &str) -> String {
    if name.contains(['[', ']', '*', '?']) { format!("'{name}'") } else { name.to_owned() }
}

/// The targets that the operands select.
pub fn chosen<'a>(project: &'a LoadedProject, words: &[String]) -> Result<Vec<&'a Target>, Box<Diagnostic>> {
    if project.file.targets.is_empty() {
        let message = format!("{} has no targets", project.path());
        let hint = "add targets: {dev: {output: out/dev}}";
        let problem = Diagnostic::error(Id::PROJECT_TARGET, message.clone());
        return Err(Box::new(problem.reference(format!("{message}\n    hint: {hint}")).help(hint)));
    }
    select(&project.file, words)
}

/// Reports a failure that prevents the command from starting; returns the exit code.
pub fn refused(program: &str, failure: Failure, sources: &Arc<Sources>, rendering: Rendering) -> i32 {
    let mut findings = Findings::default();
    for (number, problem) in failure.diagnostics().into_iter().enumerate() {
        findings.fail(number, "", problem.into(), sources);
    }
    host::write_error(&findings.report(program, sources, rendering));
    1
}

/// The value of `--shard`.
pub fn shard(flags: &Invocation) -> Result<Option<Shard>, Failure> {
    let text = flags.text(&flag::SHARD);
    match Shard::parse(text) {
        None if flags.is_given(&flag::SHARD) => {
            let text = format!("Expected --shard to be I/N with I from 1 to N, such as 2/3, but was '{text}'");
            Err(Failure::new(Id::FLAG_VALUE, text))
        }
        shard => Ok(shard),
    }
}

/// The value of `--jobs`.
pub fn jobs(flags: &Invocation) -> Result<Option<usize>, Failure> {
    if !flags.is_given(&flag::JOBS) {
        return Ok(None);
    }
    match flags.text(&flag::JOBS).parse() {
        Ok(jobs @ 1..) => Ok(Some(jobs)),
        _ => {
            let text = format!("Expected --jobs to be a number from 1 on, but was '{}'", flags.text(&flag::JOBS));
            Err(Failure::new(Id::FLAG_VALUE, text))
        }
    }
}

/// Example: `1 target`, `2 targets`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Output of targets without a directory: one stream in the order of the project file, regardless
/// of which target finishes first.
#[derive(Default)]
struct Stream {
    waiting: BTreeMap<usize, Option<Vec<u8>>>,
    next: usize,
    has_documents: bool,
    /// Why the stream ended early.
    failure: Option<Failure>,
}

impl Stream {
    /// Adds the output of the target with this number; returns whether anything was written.
    fn add(&mut self, number: usize, text: Option<Vec<u8>>) -> bool {
        self.waiting.insert(number, text);
        let mut has_written = false;
        while let Some(text) = self.waiting.remove(&self.next) {
            self.next += 1;
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                self.write(&text);
                has_written = true;
            }
        }
        has_written
    }

    fn write(&mut self, text: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        let is_diff = text.starts_with(b"--- ");
        let separator: &[u8] = if self.has_documents && !is_diff { b"---\n" } else { b"" };
        self.has_documents = true;
        self.failure = host::write_output(separator).and_then(|()| host::write_output(text)).err();
    }

    /// Fails if some of the output could not be written.
    fn finish(self) -> Result<(), Failure> {
        self.failure.map_or(Ok(()), Err)
    }
}
