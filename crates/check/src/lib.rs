//! Finds problems in projects: those that runs of all targets report, and those that the files
//! alone show.
//!
//! Code is parsed to a syntax tree (`code`), its names are bound (`names`), and data values are
//! followed through it along the types of the schema (`flow`). Running the targets finds the rest:
//! overlays that match nothing, values without effect (`effect`). The crate is pure: a host
//! provides the files, including unsaved ones, and gets diagnostics with fixes.
//!
//! ```
//! use std::sync::Arc;
//!
//! use ytterby::{Content, InputFile, Options};
//! use ytterby_check::{Cache, CheckTarget, Depth, ValuesAre, check};
//! use ytterby_diag::Sources;
//!
//! let schema = "#@data/values-schema\n---\nname: shop\n";
//! let config = "#@ load('@ytt:data', 'data')\n---\nname: #@ data.values.nmae\n";
//! let files = [("schema.yml", schema), ("config.yml", config)];
//! let files = files.map(|(path, text)| InputFile::new(path, Content::new(text.as_bytes())));
//! let target = CheckTarget { files: files.to_vec(), options: Options::default(), values: ValuesAre::All };
//! let sources = Arc::new(Sources::new());
//! let findings = check(&[target], Depth::Full, &sources, &mut Cache::default());
//! let place = findings[0].primary().map(|label| sources.locate(label.pos));
//! assert_eq!(place.as_deref(), Some("config.yml:3"));
//! ```

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
use ytterby_text::{Str, budget};

pub use target::Depth;

use project::FileFacts;

/// A set of files with values: a target of a project, or a command line.
#[derive(Clone, Debug)]
pub struct CheckTarget {
    /// The files.
    pub files: Vec<InputFile>,
    /// The data values and all other options of a run.
    pub options: Options,
    /// Whether users will set other values, too.
    pub values: ValuesAre,
}

/// The role of a target's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValuesAre {
    /// The project is always rendered with these values.
    All,
    /// Users will set others, with which an overlay may match that matches nothing with these.
    Examples,
}

/// Checks targets: returns errors that occur in any target, and lints that hold in all targets with
/// the file. Findings that comments suppress are left out. Sources are added to `sources`.
pub fn check(targets: &[CheckTarget], depth: Depth, sources: &Arc<Sources>, cache: &mut Cache) -> Vec<Diagnostic> {
    cache.sources.clear();
    let reports: Vec<target::TargetFindings> =
        targets.iter().map(|target| target::check(target, depth, sources, cache)).collect();
    let Some(first) = targets.first() else { return Vec::new() };
    let _budget = target::begin(first);
    let merged = budget::catch(|| {
        let mut findings = merge::merge(reports, sources);
        ignore::drop_ignored(&mut findings, sources);
        findings
    });
    merged.unwrap_or_else(|exceeded| {
        let mut report = target::TargetFindings::default();
        report.exceeded(exceeded, sources);
        report.findings
    })
}

/// Parsed files, kept between checks. Unchanged files are not parsed again.
#[derive(Default)]
pub struct Cache {
    files: HashMap<String, Vec<(FileKey, Rc<FileFacts>)>>,
    /// The sources of the current check.
    sources: HashMap<(String, Str), FileId>,
}

/// Maximum cached versions of one file: targets may have different files at one path.
const VERSIONS: usize = 4;

#[derive(PartialEq)]
struct FileKey {
    text: Str,
    kind: ytterby::FileKind,
    is_template: bool,
    is_library: bool,
}

impl Cache {
    fn facts(&mut self, input: &InputFile, text: &Str, read: impl FnOnce() -> FileFacts) -> Rc<FileFacts> {
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
        // After a limit they are not complete.
        if !budget::is_exceeded() {
            versions.push((key, facts.clone()));
        }
        facts
    }

    /// The source of a text, added once in a check.
    fn source(&mut self, sources: &Sources, source: Source) -> FileId {
        let key = (source.place().to_owned(), source.text().clone());
        *self.sources.entry(key).or_insert_with(|| sources.add(source))
    }
}
