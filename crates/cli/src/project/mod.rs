//! Finds and reads the project file in this directory or above, and the files that it names.
//!
//! `build`, `watch`, `test` and others use this. Only [`engine`] calls the engine; [`inputs`] turns
//! targets into its input; [`pool`] distributes work over all cores.

pub mod engine;
pub mod findings;
pub mod inputs;
pub mod one;
pub mod pool;
pub mod progress;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ytterby_diag::{Cause, Diagnostic, Failure, Id, Sources};
use ytterby_project::{FILE_NAME, ProjectFile, is_below, join};

use crate::read::io_text;

/// A project on disk.
#[derive(Debug)]
pub struct LoadedProject {
    /// The parsed project file.
    pub file: ProjectFile,
    /// Its directory, relative to the working directory: empty, or `../..`.
    pub base: String,
    /// Its directory as an absolute path.
    pub root: String,
}

impl LoadedProject {
    /// The path of the project file.
    pub fn path(&self) -> String {
        self.at(FILE_NAME)
    }

    /// A path of the project, relative to the working directory.
    pub fn at(&self, path: &str) -> String {
        join(&self.base, path)
    }
}

/// Finds the project file here or above and reads it.
///
/// # Errors
/// If there is none, or it is wrong; then the failure contains all its problems.
pub fn load(sources: &Sources) -> Result<LoadedProject, Failure> {
    let (project, problems) = read(sources, "ytterby init makes a new project")?;
    if problems.is_empty() { Ok(project) } else { Err(series(problems)) }
}

/// Finds the project file here or above and reads it, as far as possible; `hint` is for the error
/// if there is none.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn read(sources: &Sources, hint: &'static str) -> Result<(LoadedProject, Vec<Diagnostic>), Failure> {
    let Some((base, root)) = find() else {
        let message = format!("there is no {FILE_NAME} in this directory or above it");
        let problem = Diagnostic::error(Id::PROJECT_MISSING, message.clone());
        return Err(problem.reference(format!("{message}\n    hint: {hint}")).help(hint).into());
    };
    let path = join(&base, FILE_NAME);
    let text = fs::read(&path).map_err(|error| {
        Failure::new(Id::FILE_MISSING, format!("Reading project file '{path}': {}", io_text(&error)))
    })?;
    let (file, problems) = ytterby_project::read(&path, text.into(), &root, sources);
    Ok((LoadedProject { file, base, root }, problems))
}

/// Combines several problems into one failure.
pub fn series(problems: Vec<Diagnostic>) -> Failure {
    Failure::of(Cause::Series(problems.into_iter().map(Failure::from).collect()))
}

/// The directory of the project file, relative to the working directory and as an absolute path.
pub fn find() -> Option<(String, String)> {
    let here = std::env::current_dir().ok()?;
    let mut base = String::new();
    for directory in here.ancestors() {
        if directory.join(FILE_NAME).is_file() {
            return Some((base, directory.to_str()?.to_owned()));
        }
        base = if base.is_empty() { "..".to_owned() } else { format!("{base}/..") };
    }
    None
}

/// The output directories of all targets of the project in the directory `root`, as absolute paths.
pub fn outputs(project: &ProjectFile, root: &str) -> Vec<String> {
    let outputs = project.targets.iter().filter_map(|target| target.output.as_ref());
    outputs.map(|output| join(root, &output.value)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The project file, and the existing files and directories that it names: inputs, values files and
/// tests.
pub fn own_paths(project: &LoadedProject) -> Vec<String> {
    let targets = std::iter::once(&project.file.base).chain(&project.file.targets);
    let inputs = targets.flat_map(|target| target.files.iter().chain(&target.values)).chain(&project.file.tests);
    let paths = inputs.map(|path| path.value.rsplit('=').next().unwrap_or_default());
    let existing = paths.map(|path| project.at(path)).filter(|path| Path::new(path).exists());
    let paths: BTreeSet<String> = existing.chain([project.path()]).collect();
    // A file below a directory that is named as well would be listed twice.
    let is_covered = |path: &String| paths.iter().any(|other| other != path && is_below(path, other));
    paths.iter().filter(|path| !is_covered(path)).cloned().collect()
}

/// Whether a path is that of a test file.
pub fn is_test_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with("_test.yml") || name.ends_with("_test.yaml")
}
