//! The data that all parts of one run share: sources, options, secrets, warnings.
//!
//! Warnings are collected here, and [`Run::conclude`] returns them with the result. It also removes
//! secrets from all diagnostics.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ytterby_diag::{
    Cause, Diagnostic, DiagnosticKind, Failure, FileId, Id, Origin, Part, Pos, Readers, Severity, Source, Sources, Text,
};
use ytterby_starlark::{Dialect, Eval, EvalLimits, Exports};
use ytterby_text::budget;
use ytterby_yaml::{ByteOrderMark, ReadOptions};

use crate::api::{Compat, Host, Options};
use crate::contexts::OpenContexts;
use crate::level::Level;
use crate::limits;
use crate::reuse::Reuse;
use crate::secrets::SecretValues;

/// Maximum number of names to compare unknown keys with: enough for realistic schemas, and a limit
/// if thousands of keys are wrong.
const COMPARISONS: usize = 500_000;

/// One run of the engine, from files to documents.
pub(crate) struct Run {
    /// Identifies the run.
    pub number: u64,
    /// Whether other runs use the same files.
    pub is_one_of_many: bool,
    pub sources: Arc<Sources>,
    pub options: Options,
    /// Whether extensions of ytt are enabled.
    pub level: Level,
    pub host: Rc<dyn Host>,
    /// The open contexts of templates, innermost last.
    pub contexts: Rc<OpenContexts>,
    /// The modules of `load("@ytt:…")` created so far.
    pub modules: RefCell<HashMap<&'static str, Rc<Exports>>>,
    /// Values that diagnostics must not show.
    pub secrets: RefCell<SecretValues>,
    /// Whether the documents of the root library are written as soon as they are complete.
    pub writes_early: Cell<bool>,
    /// What runs of the same project on one thread share.
    pub reuse: Option<Rc<Reuse>>,
    warnings: RefCell<Warnings>,
    unseen: RefCell<HashMap<&'static str, FileId>>,
    /// The number of names that unknown keys were compared with.
    compared: Cell<usize>,
    /// Records for provenance, if enabled.
    pub record: RefCell<Option<Rc<dyn Any>>>,
}

#[derive(Default)]
struct Warnings {
    seen: HashSet<(Pos, Id, String)>,
    list: Vec<Diagnostic>,
}

/// Further warnings of the same kind are only counted.
const LISTED: usize = 1_000;

/// The first warnings of each kind, and how many more there are.
fn listed(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut counts: BTreeMap<&'static str, (usize, Option<Diagnostic>)> = BTreeMap::new();
    let mut list = Vec::with_capacity(all.len().min(LISTED));
    for warning in all {
        let (count, more) = counts.entry(warning.id.name()).or_default();
        *count += 1;
        if *count <= LISTED {
            list.push(warning);
        } else {
            more.get_or_insert(warning);
        }
    }
    for (count, more) in counts.into_values() {
        let Some(more) = more else { continue };
        let text = format!("{} more warnings of this kind, of which this is the first", count - LISTED);
        let mut counted = Diagnostic::warning(more.id, text);
        counted.labels = more.labels;
        list.push(if more.beyond_text { counted.beyond_text() } else { counted });
    }
    list
}

impl Run {
    pub fn new(options: &Options, sources: &Arc<Sources>, host: Rc<dyn Host>) -> Run {
        let level = match options.compat {
            Compat::Latest => Level::Ytterby,
            Compat::Ytt { .. } => Level::Ytt049,
        };
        static RUNS: AtomicU64 = AtomicU64::new(0);
        Run {
            number: RUNS.fetch_add(1, Ordering::Relaxed) + 1,
            is_one_of_many: false,
            sources: sources.clone(),
            options: options.clone(),
            level,
            host,
            contexts: Rc::default(),
            modules: RefCell::default(),
            secrets: RefCell::default(),
            writes_early: Cell::default(),
            reuse: None,
            warnings: RefCell::default(),
            unseen: RefCell::default(),
            compared: Cell::default(),
            record: RefCell::default(),
        }
    }

    /// A new evaluation whose `print()` goes to the host.
    pub fn new_eval(self: &Rc<Run>) -> Eval {
        let mut eval = Eval::new();
        if let Some(depth) = self.options.limits.depth {
            eval.set_limits(EvalLimits { depth, ..EvalLimits::default() });
        }
        let host = self.host.clone();
        eval.set_print(move |line| host.print(&[line, b"\n"].concat()));
        eval.set_data(self.clone());
        eval.set_dialect(self.dialect());
        eval.set_coverage(self.options.coverage.as_ref().map(|coverage| coverage.of_code()));
        eval
    }

    /// The emulated release of ytt, 0.N, apart from extensions.
    pub fn ytt_minor(&self) -> u8 {
        self.options.compat.minor()
    }

    /// Whether extensions of ytt are enabled.
    pub fn is_beyond_ytt(&self) -> bool {
        self.level == Level::Ytterby
    }

    /// The dialect of Starlark.
    pub fn dialect(&self) -> Dialect {
        if self.is_beyond_ytt() { Dialect::Current } else { Dialect::Ytt }
    }

    /// The options of the YAML reader.
    pub fn read_options(&self) -> ReadOptions {
        let mark = if self.is_beyond_ytt() { ByteOrderMark::Mark } else { ByteOrderMark::Content };
        ReadOptions { mark, ..ReadOptions::default() }
    }

    /// Whether an unknown key may be compared with this many more names.
    pub fn may_compare(&self, names: usize) -> bool {
        self.compared.set(self.compared.get() + names);
        self.compared.get() <= COMPARISONS
    }

    /// Adds a text that is parsed as YAML or code.
    pub fn add_source(&self, source: Source) -> FileId {
        budget::input(source.text().len());
        self.sources.add(source.with_readers(READERS))
    }

    /// The same for the text of a file that other runs share.
    pub fn add_shared_source(&self, source: Source) -> FileId {
        self.sources.add_shared(source.with_readers(READERS))
    }

    /// `file:line` of a position, for values that code sees and for `-o pos`; `?` if it is unknown.
    pub fn locate(&self, pos: Pos) -> String {
        self.sources.locate(pos)
    }

    /// Writes debug output, if `--debug` is set.
    pub fn debug(&self, text: impl FnOnce() -> String) {
        if self.options.debug {
            self.host.debug(&text());
        }
    }

    /// A source that has a name but no lines, for traces through code that is not visible.
    pub fn unseen_source(&self, name: &'static str) -> FileId {
        let add = || self.sources.add(Source::new(name, *b"").with_origin(Origin::Code));
        *self.unseen.borrow_mut().entry(name).or_insert_with(add)
    }

    /// Warns, once per position and text. Warnings about annotations fail the run with
    /// `--strict-annotations`.
    pub fn warn(&self, warning: Diagnostic) {
        if !self.is_beyond_ytt() {
            return;
        }
        let pos = warning.primary().map_or(Pos::UNKNOWN, |label| label.pos);
        let mut warnings = self.warnings.borrow_mut();
        if warnings.seen.insert((pos, warning.id, warning.message.plain().into_owned())) {
            warnings.list.push(warning);
        }
    }

    /// Runs `work` and returns the warnings that it caused, instead of keeping them.
    pub fn collect_warnings<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<Diagnostic>) {
        let before = self.warnings.take();
        let result = work();
        (result, self.warnings.replace(before).list)
    }

    /// Warns about the annotation at a position.
    pub fn warn_of_annotation(&self, id: Id, pos: Pos, text: impl Into<Text>) {
        self.warn(Diagnostic::warning(id, text).at(pos, Part::Annotation));
    }

    /// Does the work of the run within its limits; the rest is as for [`Run::concluded`].
    pub fn conclude<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Vec<Diagnostic>), Failure> {
        self.concluded(limits::within(&self.sources, work))
    }

    /// The result of the run with its warnings, in the order of the sources, and without secrets.
    /// With `--strict-annotations`, warnings about annotations become one error.
    pub fn concluded<T>(&self, result: Result<T, Failure>) -> Result<(T, Vec<Diagnostic>), Failure> {
        let mut warnings = std::mem::take(&mut self.warnings.borrow_mut().list);
        warnings.sort_by_key(|warning| {
            let pos = warning.primary().map_or(Pos::UNKNOWN, |label| label.pos);
            (pos.file, pos.offset)
        });
        let is_strict = self.options.strict_annotations;
        let (mut refused, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
            warnings.into_iter().partition(|warning| is_strict && warning.id.kind() == DiagnosticKind::Annotation);
        let mut warnings = listed(warnings);
        refused.iter_mut().for_each(|warning| warning.severity = Severity::Error);
        let outcome = match (result, refused.is_empty()) {
            (result, true) => result,
            (Ok(_), false) => Err(Failure::of(Cause::StrictAnnotations(refused, None))),
            (Err(failure), false) => Err(Failure::of(Cause::StrictAnnotations(refused, Some(failure)))),
        };
        let secrets = self.secrets.borrow();
        match outcome {
            Ok(rendered) => {
                warnings.iter_mut().for_each(|warning| warning.hide(&secrets.texts));
                secrets.hide_in_sources(&self.sources, &warnings);
                Ok((rendered, warnings))
            }
            Err(mut failure) => {
                failure.set_warnings(warnings);
                if !secrets.is_empty() {
                    failure.hide(&secrets.texts);
                    secrets.hide_in_sources(&self.sources, failure.diagnostics().iter().chain(failure.warnings()));
                }
                Err(failure)
            }
        }
    }
}

/// The functions that find ranges in sources.
pub(crate) const READERS: Readers = Readers { outline: ytterby_yaml::outline, token: ytterby_starlark::token_at };
