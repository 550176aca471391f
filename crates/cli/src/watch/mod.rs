//! `watch`: rebuilds whenever an input changes.
//!
//! The fingerprint is taken before each build, so that no change during a build is missed. A failed
//! build leaves the output directories unchanged, and the next change is awaited.

mod fingerprint;
mod wake;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ytterby::Failure;
use ytterby_diag::Sources;
use ytterby_diag::render::Rendering;
use ytterby_project::{Target, join};

use self::fingerprint::Fingerprint;
use self::wake::Alarm;
use crate::build::{self, BuildMode, Built, FileChange, counted, unified};
use crate::flags::Invocation;
use crate::project::engine::{RenderSettings, Renderers};
use crate::project::findings::Findings;
use crate::project::inputs::{Inputs, argument};
use crate::project::pool;
use crate::project::progress::Progress;
use crate::project::{self, LoadedProject};
use crate::write::Recovered;
use crate::{host, limits, report, write};

/// A save is complete after this time without changes.
const CALM: Duration = Duration::from_millis(8);

/// A save that takes longer is built nevertheless.
const PATIENCE: Duration = Duration::from_millis(60);

/// Maximum lines of a diff.
const MAX_LINES: usize = 40;

/// Builds until the program is terminated.
pub fn run(program: &str, flags: &Invocation) -> Result<i32, Failure> {
    let rendering = report::rendering(program, flags)?;
    let jobs = build::jobs(flags)?;
    limits::of_flags(flags)?;
    let mut session = Session { program, flags, rendering, jobs, last: HashMap::new(), rounds: 0 };
    let mut alarm = Alarm::new();
    loop {
        let sources = Arc::new(Sources::new());
        let loaded = project::load(&sources);
        if session.rounds == 0 && project::find().is_none() {
            return Err(loaded.err().unwrap_or_else(|| unreachable!("a project without a file was loaded")));
        }
        // An unknown target is an error at the start: waiting does not help.
        if let (0, Ok(project), false) = (session.rounds, &loaded, flags.operands.is_empty())
            && let Err(problem) = build::chosen(project, &flags.operands)
        {
            return Ok(build::refused(program, (*problem).into(), &sources, rendering));
        }
        let (paths, hidden) = watched(loaded.as_ref().ok());
        let (before, directories) = Fingerprint::take(&paths, &hidden);
        alarm.listen(&directories);
        // Include changes between the fingerprint and the start of watching.
        let (before, _) = match session.rounds {
            0 => (before, directories),
            _ => Fingerprint::take(&paths, &hidden),
        };
        session.round(loaded, &sources);
        let after = changed(&alarm, &before, &paths, &hidden);
        let names = before.changes(&after);
        host::write_error(&format!("{} changed\n", shortened(&names)));
    }
}

/// Waits for a change, and until it is complete.
fn changed(alarm: &Alarm, before: &Fingerprint, paths: &BTreeSet<String>, hidden: &BTreeSet<PathBuf>) -> Fingerprint {
    let look = || Fingerprint::take(paths, hidden).0;
    let mut now = look();
    while now == *before {
        alarm.wait();
        now = look();
    }
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        thread::sleep(CALM);
        let next = look();
        if next == now {
            break;
        }
        now = next;
    }
    now
}

/// The paths to watch, and the directories to ignore.
fn watched(project: Option<&LoadedProject>) -> (BTreeSet<String>, BTreeSet<PathBuf>) {
    let base = project.map(|project| project.base.clone()).or_else(|| project::find().map(|(base, _)| base));
    let mut paths = BTreeSet::from([join(&base.unwrap_or_default(), ytterby_project::FILE_NAME)]);
    let mut hidden = BTreeSet::new();
    let Some(project) = project else { return (paths, hidden) };
    for target in std::iter::once(&project.file.base).chain(&project.file.targets) {
        let inputs = target.files.iter().chain(&target.values).chain(&target.schemas);
        for path in inputs.map(|path| argument(&project.base, &path.value)) {
            let path = path.rsplit(['=', ':']).next().unwrap_or_default();
            if !path.starts_with("//") && path != "-" {
                paths.insert(path.to_owned());
            }
        }
        hidden.extend(target.output.iter().map(|output| PathBuf::from(join(&project.root, &output.value))));
    }
    (paths, hidden)
}

struct Session<'a> {
    program: &'a str,
    flags: &'a Invocation,
    rendering: Rendering,
    jobs: Option<usize>,
    /// The last output of targets without a directory.
    last: HashMap<String, Vec<u8>>,
    rounds: usize,
}

impl Session<'_> {
    /// Builds once.
    fn round(&mut self, loaded: Result<LoadedProject, Failure>, sources: &Arc<Sources>) {
        let is_first = self.rounds == 0;
        self.rounds += 1;
        let project = match loaded {
            Ok(project) => project,
            Err(failure) => {
                build::refused(self.program, failure, sources, self.rendering);
                return self.wait_for(None, false);
            }
        };
        let targets = match build::chosen(&project, &self.flags.operands) {
            Ok(targets) => targets,
            Err(problem) => {
                build::refused(self.program, (*problem).into(), sources, self.rendering);
                return self.wait_for(None, false);
            }
        };
        let program = self.program.to_owned();
        let engine = RenderSettings {
            program,
            rendering: self.rendering,
            sources: Arc::clone(sources),
            reached: None,
            find_causes: true,
        };
        let inputs = Inputs::new(&project.file, &project.root, self.flags, self.rendering, sources);
        let mut findings = Findings::default();
        let mut progress = Progress::new("Building targets");
        // Compute the diff, and write nevertheless.
        let mode = BuildMode { check: false, diff: true };
        let work =
            |own: &mut Renderers, number: usize| build::build(&engine, own, &inputs, &project, targets[number], mode);
        let threads = pool::threads(self.jobs, targets.len());
        let mut changed = 0;
        let mut recovered = Recovered::default();
        pool::each(targets.len(), threads, &mut progress, work, |number, built, progress| {
            progress.clear();
            host::write_error(&String::from_utf8_lossy(&built.printed));
            let name = if project.file.targets.len() > 1 { &*targets[number].name } else { "" };
            let layer = Arc::clone(&built.sources);
            match self.finish(&project, targets[number], built, is_first, &mut recovered) {
                Ok(true) => changed += 1,
                Ok(false) => {}
                Err(failure) => {
                    findings.warn(number, name, failure.warnings(), &layer);
                    findings.fail(number, name, failure, &layer);
                }
            }
        });
        let is_good = findings.is_good();
        host::write_error(&findings.report(self.program, sources, self.rendering));
        self.wait_for(Some((targets.len(), changed)), is_good);
    }

    /// Writes the output of a target and prints its changes. Returns whether there were any.
    fn finish(
        &mut self,
        project: &LoadedProject,
        target: &Target,
        built: Built,
        is_first: bool,
        recovered: &mut Recovered,
    ) -> Result<bool, Failure> {
        let rendered = built.result?;
        let Some((output, comparison)) = target.output.as_ref().zip(built.comparison) else {
            let old = self.last.insert(target.name.clone(), rendered.documents.clone());
            return match old {
                Some(old) if old == rendered.documents => Ok(false),
                Some(old) => {
                    let diff = unified(&target.name, Some(&old), Some(&rendered.documents));
                    host::write_output(diff.as_bytes()).map(|()| true)
                }
                None => host::write_output(&rendered.documents).map(|()| true),
            };
        };
        if comparison.is_equal() {
            return Ok(false);
        }
        let directory = project.at(&output.value);
        write::replace_directory(&directory, &rendered.files, recovered)?;
        write::end_if_interrupted();
        let mut text = String::new();
        for (path, change) in &comparison.changes {
            let word = match change {
                FileChange::Missing => "created",
                FileChange::Differs => "changed",
                FileChange::Extra => "deleted",
            };
            text.push_str(&format!("{}: {word} {}\n", target.name, join(&directory, path)));
        }
        // The first build reports only names; a full diff would be too long.
        let lines = if is_first { 0 } else { MAX_LINES };
        let all = comparison.diff.lines().count();
        comparison.diff.lines().take(lines).for_each(|line| text.push_str(&format!("    {line}\n")));
        if lines > 0 && all > lines {
            text.push_str(&format!("    … and {} more lines\n", all - lines));
        }
        host::write_output(text.as_bytes()).map(|()| true)
    }

    fn wait_for(&self, counts: Option<(usize, usize)>, is_good: bool) {
        let text = match counts {
            Some((targets, changed)) if is_good => format!("built {}, {changed} changed", counted(targets, "target")),
            _ => "not built".to_owned(),
        };
        host::write_error(&format!("{text}; waiting for changes\n"));
    }
}

/// Joins at most three names.
fn shortened(names: &[String]) -> String {
    match names {
        [] => "inputs".to_owned(),
        [.., _] if names.len() > 3 => format!("{} and {} more", names[..3].join(", "), names.len() - 3),
        names => names.join(", "),
    }
}
