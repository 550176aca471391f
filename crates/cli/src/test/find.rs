//! Finds test files and snapshots on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_project::{TestFile, join, read_tests};

use super::case::Case;
use crate::project::{LoadedProject, is_test_file};
use crate::read::{SNAPSHOTS, io_text};

/// Test files in order, and paths that do not exist.
#[derive(Debug, Default)]
pub struct TestFiles {
    /// Paths, relative to the working directory.
    pub files: Vec<String>,
    /// Paths that do not exist.
    pub problems: Vec<Diagnostic>,
}

/// The test files below the operands, or below the project's `tests:`.
pub fn files(project: Option<&LoadedProject>, operands: &[String]) -> TestFiles {
    let mut found = TestFiles::default();
    let mut seen = BTreeSet::new();
    let mut add = |path: String, found: &mut TestFiles| {
        if seen.insert(path.clone()) {
            found.files.push(path);
        }
    };
    let named = operands.iter().map(|path| (join("", path), None));
    let from_project =
        project.iter().flat_map(|project| project.file.tests.iter().map(|path| (project.at(&path.value), Some(path))));
    let paths: Vec<_> = if operands.is_empty() { from_project.collect() } else { named.collect() };
    for (path, place) in paths {
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                below(&path).into_iter().for_each(|path| add(path, &mut found));
            }
            Ok(_) => add(path, &mut found),
            Err(error) => {
                let message = format!("{path}: {}", io_text(&error));
                found.problems.push(match place {
                    Some(place) => place.problem(Id::FILE_MISSING, message, None),
                    None => Diagnostic::error(Id::FILE_MISSING, message),
                });
            }
        }
    }
    found
}

/// Test files below a directory, sorted by path.
fn below(directory: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = join(&directory, &name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && name != SNAPSHOTS => pending.push(path),
                Ok(kind) if !kind.is_dir() && is_test_file(Path::new(&path)) => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Reads a test file.
///
/// # Errors
/// The problems of the file.
pub fn read(path: &str, sources: &Sources) -> Result<TestFile, Vec<Diagnostic>> {
    let text = fs::read(path)
        .map_err(|error| vec![Diagnostic::error(Id::FILE_MISSING, format!("{path}: {}", io_text(&error)))])?;
    let (file, problems) = read_tests(path, text.into(), sources);
    if problems.is_empty() { Ok(file) } else { Err(problems) }
}

/// The directory of a test file.
pub fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| if directory.is_empty() { "/" } else { directory })
}

/// Snapshots that tests use, by the directory of the test files.
#[derive(Debug, Default)]
pub struct Used(BTreeMap<String, BTreeSet<String>>);

impl Used {
    /// The snapshots of some tests.
    pub fn of(cases: &[Case]) -> Used {
        let mut used = Used::default();
        for case in cases {
            let names = used.0.entry(directory(&case.path).to_owned()).or_default();
            names.extend(case.test.snapshot.iter().map(|snapshot| snapshot.value.clone()));
        }
        used
    }

    /// Warnings about snapshots that no test uses.
    pub fn unused(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (directory, names) in &self.0 {
            let place = join(directory, SNAPSHOTS);
            let mut pending = vec![String::new()];
            let mut there = BTreeSet::new();
            while let Some(prefix) = pending.pop() {
                for entry in fs::read_dir(join(&place, &prefix)).into_iter().flatten().flatten() {
                    let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => pending.push(format!("{name}/")),
                        _ => drop(there.insert(name)),
                    }
                }
            }
            for name in there.difference(names) {
                let message = format!("no test uses the snapshot {}", join(&place, name));
                found.push(Diagnostic::warning(Id::TEST_UNUSED_SNAPSHOT, message).help("delete it"));
            }
        }
        found
    }
}
