//! Runs every case directory as one test: our own, and the recorded corpora if they are beside the
//! repository.
//!
//! `cargo test --test cases [NAME]` runs those whose name contains NAME. `tests/known-failures.txt`
//! lists expected failures; a listed case that passes fails the run. `YTTERBY_BLESS=known-failures`
//! rewrites that list, `YTTERBY_BLESS=cases` the expectations of our own cases. `YTTERBY_BIN` names
//! another program to test, for example the reference.

mod acceptance;
mod conformance;
mod execute;
mod known;
mod own;
mod pattern;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use known::KnownFailures;
use libtest_mimic::{Arguments, Failed, Trial};

/// The result of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It passed all levels.
    Passed,
    /// It failed the first level, with these differences.
    FailedL1(String),
    /// Exit code, output and files are right, the error text is not.
    FailedL2(String),
}

/// A case that is ready to run.
pub struct Case {
    /// `<corpus>/<area>/<name>`.
    pub name: String,
    /// Runs it.
    pub run: Box<dyn Fn() -> Outcome + Send + Sync>,
}

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = root.join("../shared");
    let mut cases = own::cases(&root.join("tests/cases"));
    cases.extend(conformance::cases(&shared.join("conformance")));
    cases.extend(acceptance::cases(&shared.join("acceptance/cases")));

    let list = root.join("tests/known-failures.txt");
    let known = Arc::new(KnownFailures::read(&list));
    let is_filtered = arguments.filter.is_some() || !arguments.skip.is_empty();
    if !is_filtered && shared.is_dir() {
        known.check_names(cases.iter().map(|case| case.name.as_str()));
    }
    let trials = cases.into_iter().map(|case| trial(case, &known)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if known.is_blessing() && !is_filtered && !arguments.list {
        known.write(&list);
    }
    conclusion.exit();
}

fn trial(case: Case, known: &Arc<KnownFailures>) -> Trial {
    let known = Arc::clone(known);
    let name = case.name.clone();
    Trial::test(case.name, move || known.judge(&name, (case.run)()).map_err(Failed::from))
}

/// The subdirectories of a directory, by name; empty if it does not exist.
fn directories(path: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .map(|path| (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path))
        .collect();
    found.sort();
    found
}
