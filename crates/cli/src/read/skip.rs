//! Excludes project files, snapshots and tests from directories.
//!
//! They belong to a project, but are no templates. Naming such a file explicitly includes it.

use std::fs;
use std::path::Path;

use ytterby_diag::Sources;
use ytterby_project::{FILE_NAME, is_below, join};

use super::WalkEntry;

/// The directory of snapshots, beside the tests that they belong to.
pub const SNAPSHOTS: &str = "__snapshots__";

/// Files to exclude from directories.
#[derive(Clone, Copy, Debug)]
pub enum Skip<'a> {
    /// Nothing, as in ytt.
    Nothing,
    /// Snapshots, and these directories: the outputs of a project, as absolute paths.
    Generated(&'a [String]),
    /// Project files, snapshots, tests, and these directories: the outputs of a project, as
    /// absolute paths.
    Project(&'a [String]),
}

impl Skip<'_> {
    /// The filter for a directory walk that begins at `root`.
    pub(super) fn filter(self, root: &str) -> Filter {
        let outputs = match self {
            Skip::Nothing => return Filter::default(),
            Skip::Generated(outputs) | Skip::Project(outputs) => outputs,
        };
        let skips_projects = matches!(self, Skip::Project(_));
        let mut filter = Filter { skips_snapshots: true, skips_projects, ..Filter::default() };
        let Some(top) = absolute(root) else { return filter };
        // The project above the directory. A project file inside it is found during the walk.
        let above = Path::new(&top).ancestors().skip(1).find(|directory| directory.join(FILE_NAME).is_file());
        if let Some(directory) = above.and_then(Path::to_str).filter(|_| skips_projects) {
            filter.add_tests(directory);
        }
        filter.hidden.extend(outputs.iter().cloned());
        // A directory of tests or of output that is named explicitly is included.
        filter.hidden.retain(|hidden| !is_below(&top, hidden));
        filter
    }
}

/// Decides which directory entries are excluded.
#[derive(Default)]
pub(super) struct Filter {
    skips_snapshots: bool,
    skips_projects: bool,
    /// Absolute paths.
    hidden: Vec<String>,
}

impl Filter {
    /// Removes excluded entries of `directory`.
    pub fn apply(&mut self, directory: &str, entries: &mut Vec<WalkEntry>) {
        if !self.skips_snapshots {
            return;
        }
        let name = |below: &str| below.rsplit('/').next().unwrap_or_default().to_owned();
        if self.skips_projects
            && entries.iter().any(|entry| name(&entry.below) == FILE_NAME)
            && let Some(directory) = absolute(directory)
        {
            self.add_tests(&directory);
        }
        let hidden = &self.hidden;
        entries.retain(|WalkEntry { place, below, .. }| {
            let name = name(below);
            let is_part_of_project = self.skips_projects && name == FILE_NAME;
            let is_hidden = || absolute(&place.shown).is_some_and(|path| hidden.contains(&path));
            name != SNAPSHOTS && !is_part_of_project && (hidden.is_empty() || !is_hidden())
        });
    }

    /// Excludes the tests of the project in a directory. An unreadable project file is ignored;
    /// `build` reports it.
    fn add_tests(&mut self, directory: &str) {
        let Ok(text) = fs::read(Path::new(directory).join(FILE_NAME)) else { return };
        let (project, _) = ytterby_project::read(FILE_NAME, text.into(), directory, &Sources::new());
        self.hidden.extend(project.tests.iter().map(|path| join(directory, &path.value)));
    }
}

fn absolute(path: &str) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    Some(super::clean(path.to_str()?))
}
