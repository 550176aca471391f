//! Finds problems in projects: what runs of all targets report, and what can be told from the files alone.
//!
//! Code is read as a syntax tree (`code`), its names are bound (`names`), and data values are followed through it
//! along the types of the schema (`flow`). What needs facts rather than reading is found by running the targets:
//! overlays that match nothing, values without effect (`effect`). The crate is pure: a host brings the files, unsaved
//! ones included, and gets diagnostics with fixes.

mod code;
mod declared;
mod effect;
mod flow;
mod ignore;
mod lints;
mod merge;
mod names;
mod project;
mod target;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use ytterby::{InputFile, Options};
use ytterby_diag::{Diagnostic, FileId, Source, Sources};

pub use ignore::is_ignored;
pub use target::Depth;

use project::FileFacts;

/// A set of files with values: a target of a project, or a command line.
#[derive(Clone, Debug)]
pub struct Target {
    /// The files.
    pub files: Vec<InputFile>,
    /// The data values and everything else that a run depends on.
    pub options: Options,
    /// Whether other values will be given, too.
    pub values: ValuesAre,
}

/// What the values of a target stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValuesAre {
    /// The project is rendered with these values.
    All,
    /// Users will give others: an overlay that matches nothing with these may match with those.
    Examples,
}

/// Checks targets: errors that occur in any of them, and lints that hold for all that have the file in question.
/// Findings that comments in the files ignore are left out. Sources are added to `sources`.
pub fn check(targets: &[Target], depth: Depth, sources: &Arc<Sources>, cache: &mut Cache) -> Vec<Diagnostic> {
    cache.sources.clear();
    let reports: Vec<target::Report> =
        targets.iter().map(|target| target::check(target, depth, sources, cache)).collect();
    let mut findings = merge::merge(reports, sources);
    findings.retain(|finding| !is_ignored(finding, sources));
    findings
}

/// What was read from files, kept from check to check. A file that did not change is not read again.
#[derive(Default)]
pub struct Cache {
    files: HashMap<String, Vec<(FileKey, Rc<FileFacts>)>>,
    /// The sources of the check that goes on.
    sources: HashMap<(String, Arc<[u8]>), FileId>,
}

/// Versions of one file that are kept: targets may have different files at one path.
const VERSIONS: usize = 4;

#[derive(PartialEq)]
struct FileKey {
    text: Arc<[u8]>,
    kind: ytterby::FileKind,
    is_template: bool,
    is_library: bool,
}

impl Cache {
    fn facts(&mut self, input: &InputFile, text: &Arc<[u8]>, read: impl FnOnce() -> FileFacts) -> Rc<FileFacts> {
        let key = FileKey {
            text: text.clone(),
            kind: input.kind(),
            is_template: input.is_template(),
            is_library: input.is_library(),
        };
        let versions = self.files.entry(input.path.clone()).or_default();
        if let Some((_, facts)) = versions.iter().find(|(known, _)| *known == key) {
            return facts.clone();
        }
        if versions.len() == VERSIONS {
            versions.remove(0);
        }
        let facts = Rc::new(read());
        versions.push((key, facts.clone()));
        facts
    }

    /// The source of a text, added once in a check.
    fn source(&mut self, sources: &Sources, source: Source) -> FileId {
        let key = (source.place().to_owned(), source.text().clone());
        *self.sources.entry(key).or_insert_with(|| sources.add(source))
    }
}
