//! `kubernetes validate`: checks plain manifests.
//!
//! Files are read twice: first to collect definitions and kinds, then to check them. Nothing is
//! kept in between, so that memory does not grow with the number of files. Only the texts of files
//! with findings are kept, to quote them.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::limits::working_at;
use ytterby_diag::render::{Rendering, Report, render as report};
use ytterby_diag::{Cause, Diagnostic, Failure, FileId, Id, Pos, Readers, Severity, Source, Sources};
use ytterby_kubernetes::{CheckState, Checked, Version, documents, types_of};
use ytterby_text::budget::{self, Exceeded};
use ytterby_yaml::{ReadOptions, Tree, parse};

use super::results::{ResourceResult, ResourceResults, ResultFormat};
use super::schemas::{self, Schemas};
use crate::commands::flag;
use crate::flags::Invocation;
use crate::{host, limits, read};

/// Budget charge for a document, besides its expressions and patterns, which are charged where they
/// run.
const DOCUMENT: usize = 1_000;

/// The exit code for unreadable input.
const UNREADABLE: i32 = 2;

/// One input.
enum Input {
    Stdin(Vec<u8>),
    File(PathBuf),
    /// A URL and its content.
    Url(String, Vec<u8>),
}

impl Input {
    fn name(&self) -> String {
        match self {
            Input::Stdin(_) => "stdin".to_owned(),
            Input::File(path) => path.to_string_lossy().into_owned(),
            Input::Url(url, _) => url.clone(),
        }
    }

    fn text(&self) -> Result<Vec<u8>, String> {
        match self {
            Input::Stdin(text) | Input::Url(_, text) => Ok(text.clone()),
            Input::File(path) => std::fs::read(path).map_err(|error| read::io_text(&error)),
        }
    }

    /// Its text as a source, to quote it.
    fn source(&self, text: Vec<u8>) -> Source {
        let readers = Readers { outline: ytterby_yaml::outline, ..Readers::default() };
        Source::new(self.name(), text).with_readers(readers)
    }
}

/// Runs the command.
pub fn run(program: &str, flags: &Invocation, rendering: Rendering, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let version = match flags.text(&flag::KUBERNETES_VERSION) {
        "" => Version::NEWEST.to_string(),
        version => version.to_owned(),
    };
    let unknown = |value: &str| format!("Unknown output format '{value}'");
    let format = flags.choice(&flag::VALIDATE_OUTPUT, unknown)?;
    let options = super::options(flags, &version)?;
    let mut schemas = match schemas::load(flags.list(&flag::KUBERNETES_SCHEMA), options, sources) {
        Ok(schemas) => schemas,
        Err(failure) => return Ok(unreadable(program, rendering, &failure, sources)),
    };
    let operands = if flags.operands.is_empty() { vec!["-".to_owned()] } else { flags.operands.clone() };
    let mut inputs = Vec::new();
    for operand in &operands {
        if let Err(failure) = list(operand, &mut inputs) {
            return Ok(unreadable(program, rendering, &failure, sources));
        }
    }
    let resources = ResourceResults::new(format, flags.is_on(&flag::VERBOSE));
    let mut results = Results { sources: sources.clone(), resources, findings: Vec::new(), unreadable: false };
    for input in &inputs {
        results.attempt(input, |_| learn(input, &mut schemas, sources.next_id()))?;
    }
    for input in &inputs {
        results.attempt(input, |results| results.check(input, &schemas))?;
    }
    results.report(inputs.first(), program, flags, rendering, format)
}

/// Reports unreadable input.
fn unreadable(program: &str, rendering: Rendering, failure: &Failure, sources: &Arc<Sources>) -> i32 {
    let version = env!("CARGO_PKG_VERSION");
    let report_of = Report { program, version, failure: Some(failure), warnings: &[], sources, printed: "" };
    host::write_error(&report(&report_of, rendering));
    UNREADABLE
}

/// Lists the files of an operand; those of a directory are filtered by extension and sorted by
/// name.
fn list(operand: &str, inputs: &mut Vec<Input>) -> Result<(), Failure> {
    let fail = |error: &std::io::Error| -> Failure {
        let text = format!("Reading '{operand}': {}", read::io_text(error));
        Diagnostic::error(Id::FILE_MISSING, text).into()
    };
    if operand == "-" {
        let mut text = Vec::new();
        std::io::stdin().lock().read_to_end(&mut text).map_err(|error| fail(&error))?;
        inputs.push(Input::Stdin(text));
        return Ok(());
    }
    if operand.starts_with("http://") || operand.starts_with("https://") {
        let symlinks = read::Symlinks { allow_all: true, allowed: Vec::new() };
        for file in read::list(&[operand.to_owned()], &symlinks, &read::Stdin::default())? {
            inputs.push(Input::Url(operand.to_owned(), file.content.read()?.to_vec()));
        }
        return Ok(());
    }
    let path = Path::new(operand);
    let metadata = std::fs::metadata(path).map_err(|error| fail(&error))?;
    if !metadata.is_dir() {
        inputs.push(Input::File(path.to_owned()));
        return Ok(());
    }
    let mut waiting = vec![path.to_owned()];
    let mut found = Vec::new();
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).map_err(|error| fail(&error))? {
            let entry = entry.map_err(|error| fail(&error))?;
            let kind = entry.file_type().map_err(|error| fail(&error))?;
            let path = entry.path();
            let is_manifest =
                path.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end == *known));
            if kind.is_dir() {
                waiting.push(path);
            } else if is_manifest && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    inputs.extend(found.into_iter().map(Input::File));
    Ok(())
}

/// Collects the definitions of an input, then looks up schemas of kinds that are still unknown. The
/// input is the source `file` if a limit ends this.
fn learn(input: &Input, schemas: &mut Schemas, file: FileId) {
    const DEFINITION: &[u8] = b"CustomResourceDefinition";
    let Ok(text) = input.text() else { return };
    let has_definition = memchr::memmem::find(&text, DEFINITION).is_some();
    if !has_definition && !schemas.has_templates() {
        return;
    }
    let _working = budget::working_at(file.0, 0);
    let Ok(tree) = tree(&text, file) else { return };
    for document in documents(&tree) {
        let _working = budget::working_at(file.0, document.root.pos.offset);
        schemas.catalog.add_definition(&document.root);
        schemas.look_up(types_of(&document.root));
    }
}

fn tree(text: &[u8], file: FileId) -> Result<Tree, ytterby_yaml::ReadError> {
    parse(text, file, &ReadOptions { comments: false, ..ReadOptions::default() })
}

/// The results so far.
struct Results {
    /// Contains only files with findings.
    sources: Arc<Sources>,
    resources: ResourceResults,
    findings: Vec<Diagnostic>,
    unreadable: bool,
}

impl Results {
    /// Works on an input; if that reaches a limit, the report names the input.
    fn attempt(&mut self, input: &Input, work: impl FnOnce(&mut Results)) -> Result<(), Exceeded> {
        let next = self.sources.next_id();
        let done = budget::catch(|| work(self)).and_then(|()| budget::check());
        if done.is_err() && self.sources.next_id() == next {
            self.sources.add(input.source(input.text().unwrap_or_default()));
        }
        done
    }

    fn check(&mut self, input: &Input, schemas: &Schemas) {
        let name: Rc<str> = input.name().into();
        let text = match input.text() {
            Ok(text) => text,
            Err(why) => {
                self.unreadable = true;
                let problem = Diagnostic::error(Id::FILE_MISSING, format!("Reading '{name}': {why}"));
                let message = problem.message.plain().into_owned();
                self.resources.add(ResourceResult::failed(&name, message.clone()));
                self.findings.push(problem.reference(format!("\n- {message}")));
                return;
            }
        };
        budget::input(text.len());
        let file = self.sources.next_id();
        let _working = budget::working_at(file.0, 0);
        let before = self.findings.len();
        match tree(&text, file) {
            Err(error) => {
                let reference = format!("\n- Reading '{name}': {}", error.reference());
                let problem = Diagnostic::from(error);
                self.resources.add(ResourceResult::failed(&name, problem.message.plain().into_owned()));
                self.findings.push(problem.reference(reference));
            }
            Ok(tree) => {
                for document in documents(&tree) {
                    if budget::work(DOCUMENT).is_err() {
                        return;
                    }
                    for checked in schemas.catalog.check(&document) {
                        self.resources.add(ResourceResult::of(&name, &checked));
                        self.take(checked);
                    }
                }
            }
        }
        if self.findings.len() > before {
            self.sources.add(input.source(text));
        }
    }

    fn take(&mut self, checked: Checked) {
        if checked.state == CheckState::Checked || !checked.findings.is_empty() {
            self.findings.extend(checked.findings);
        }
    }

    /// Writes the results and returns the exit code. A limit that this reaches is reported at the
    /// first finding, or at the first input.
    fn report(
        self,
        first: Option<&Input>,
        program: &str,
        flags: &Invocation,
        rendering: Rendering,
        format: Option<ResultFormat>,
    ) -> Result<i32, Failure> {
        let sources = self.sources.clone();
        let next = Pos::new(sources.next_id(), 0);
        let pos = self.findings.iter().find_map(Diagnostic::primary).map_or(next, |label| label.pos);
        let _working = working_at(pos);
        let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
        let has_errors = self.findings.iter().any(is_error);
        let rendering = if format == Some(ResultFormat::Sarif) { Rendering::Sarif } else { rendering };
        let mut text = match format {
            Some(format) if format != ResultFormat::Sarif => self.resources.write(format, flags.is_on(&flag::SUMMARY)),
            _ => {
                let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
                    self.findings.into_iter().partition(is_error);
                let failures: Vec<Failure> = errors.into_iter().map(Failure::from).collect();
                let failure = (!failures.is_empty()).then(|| Failure::of(Cause::Series(failures)));
                let version = env!("CARGO_PKG_VERSION");
                let failure = failure.as_ref();
                report(
                    &Report { program, version, failure, warnings: &warnings, sources: &sources, printed: "" },
                    rendering,
                )
            }
        };
        if flags.is_on(&flag::SUMMARY) && (format.is_none() && !rendering.is_for_machines()) {
            text.push_str(&self.resources.summary());
        }
        limits::write_output(text.as_bytes()).inspect_err(|_| {
            if let (true, Some(first)) = (pos == next, first) {
                sources.add(first.source(first.text().unwrap_or_default()));
            }
        })?;
        Ok(if self.unreadable { UNREADABLE } else { i32::from(has_errors) })
    }
}
