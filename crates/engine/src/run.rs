//! What all parts of one run share: sources, options, warnings.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ytterby_diag::{Diagnostic, FileId, Kind, Note, Pos, Severity, Sources};
use ytterby_starlark::{Eval, Limits};

use crate::annotation::Level;
use crate::api::{Compat, Failure, Host, MAX_STEPS, Options};
use crate::node::Node;
use crate::schema::{Schema, Secrets};
use crate::stdlib::Stdlib;
use crate::template::{FileLines, OpenContexts, ShownLine};

/// Names that unknown keys are compared with in all: enough for every schema that people write, and a bound where
/// thousands of keys are wrong.
const COMPARISONS: usize = 500_000;

/// One run of the engine, from files to documents.
pub(crate) struct Run {
    pub sources: Rc<Sources>,
    pub options: Options,
    /// Whether what goes beyond ytt is switched on.
    pub level: Level,
    pub host: Rc<dyn Host>,
    /// The templates at work, innermost last.
    pub contexts: Rc<OpenContexts>,
    pub stdlib: Stdlib,
    /// What texts must not show.
    secrets: RefCell<Secrets>,
    warnings: RefCell<Warnings>,
    lines: RefCell<HashMap<FileId, FileLines>>,
    unseen: RefCell<HashMap<&'static str, FileId>>,
    /// How many names unknown keys were compared with.
    compared: Cell<usize>,
}

#[derive(Default)]
struct Warnings {
    seen: HashSet<(Pos, String)>,
    list: Vec<Diagnostic>,
}

impl Run {
    pub fn new(options: &Options, sources: &Rc<Sources>, host: Rc<dyn Host>) -> Run {
        let level = match options.compat {
            Compat::Latest => Level::Ytterby,
            Compat::V0_49 => Level::Ytt049,
        };
        Run {
            sources: sources.clone(),
            options: options.clone(),
            level,
            host,
            contexts: Rc::default(),
            stdlib: Stdlib::default(),
            secrets: RefCell::default(),
            warnings: RefCell::default(),
            lines: RefCell::default(),
            unseen: RefCell::default(),
            compared: Cell::default(),
        }
    }

    /// A new evaluation whose `print()` goes to the host.
    pub fn new_eval(self: &Rc<Run>) -> Eval {
        let mut eval = Eval::new();
        let steps = self.options.max_steps.unwrap_or(MAX_STEPS);
        eval.set_limits(Limits { steps: Some(steps), ..Limits::default() });
        let host = self.host.clone();
        eval.set_print(move |line| host.print(&[line, b"\n"].concat()));
        eval.set_data(self.clone());
        eval
    }

    /// Whether what goes beyond ytt 0.49 is switched on.
    pub fn is_beyond_ytt(&self) -> bool {
        self.level == Level::Ytterby
    }

    /// Notes the secrets of data values, of all libraries: none of them is shown from now on.
    pub fn keep_secrets(&self, values: &Node, schema: &Schema) {
        if schema.uses.secrets {
            self.secrets.borrow_mut().add(values, &schema.root);
        }
    }

    /// A text with secrets replaced.
    pub fn hide(&self, text: String) -> String {
        let secrets = self.secrets.borrow();
        if secrets.is_empty() { text } else { secrets.hide(&text) }
    }

    /// The line of a position as excerpts show it, with secrets replaced.
    pub fn excerpt_without_secrets(&self, pos: Pos) -> Option<String> {
        let source = self.sources.get(pos.file)?;
        let window = source.window(pos.offset)?;
        let secrets = self.secrets.borrow();
        // A secret may begin in front of the window or end behind it.
        let is_inside = |at: &usize| source.text().get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let start = window.start.saturating_sub(secrets.longest());
        let start = (0..=start).rev().find(|at| !is_inside(at)).unwrap_or(0);
        let end = window.end.saturating_add(secrets.longest()).min(source.text().len());
        let end = (end..).find(|at| !is_inside(at)).unwrap_or(end);
        let Ok(text) = std::str::from_utf8(&source.text()[start..end]) else {
            // It is no text.
            let text = source.line_text(source.line(pos.offset))?;
            return Some(secrets.hide(text.trim_end()));
        };
        let shown = secrets.hide_in(text, window.start - start..window.end - start);
        Some(source.marked(&window, shown.trim_end()))
    }

    /// Whether there are secrets to hide.
    pub fn has_secrets(&self) -> bool {
        !self.secrets.borrow().is_empty()
    }

    /// Whether an unknown key is compared with so many names that it could be meant for.
    pub fn may_compare(&self, names: usize) -> bool {
        self.compared.set(self.compared.get() + names);
        self.compared.get() <= COMPARISONS
    }

    /// `file:line` of a position, `?` where it is unknown. Rich messages name what the reference has no name for.
    pub fn locate(&self, pos: Pos) -> String {
        match self.sources.get(pos.file) {
            Some(source) if self.options.rich && !source.full_name().is_empty() => {
                format!("{}:{}", source.full_name(), source.line(pos.offset))
            }
            _ => self.sources.locate(pos),
        }
    }

    /// Tells what goes on, where `--debug` asks for it.
    pub fn debug(&self, text: impl FnOnce() -> String) {
        if self.options.debug {
            self.host.debug(&text());
        }
    }

    /// A source that has a name but no lines, for traces through code that nobody can see.
    pub fn unseen_source(&self, name: &'static str) -> FileId {
        *self.unseen.borrow_mut().entry(name).or_insert_with(|| self.sources.add(name, *b""))
    }

    /// Says how messages show the lines of a source.
    pub fn add_lines(&self, file: FileId, lines: FileLines) {
        self.lines.borrow_mut().insert(file, lines);
    }

    /// The lines that a message shows for a place in code; `is_own` is false for code of another library.
    pub fn show_line(&self, pos: Pos, is_own: bool) -> Vec<ShownLine> {
        let lines = self.lines.borrow();
        match lines.get(&pos.file) {
            _ if !pos.is_known() => Vec::new(),
            Some(lines) if is_own => lines.show(pos, &self.sources),
            other => {
                let full = other.and_then(|lines| Some(lines.show(pos, &self.sources).first()?.full().to_owned()));
                vec![ShownLine { text: format!("{} | (unavailable)", self.locate(pos)), full }]
            }
        }
    }

    /// The place of the source that a place in code stands for.
    pub fn source_place(&self, pos: Pos) -> Pos {
        self.lines.borrow().get(&pos.file).map_or(pos, |lines| lines.source_place(pos))
    }

    /// Warns about a place, once per text. Warnings about annotations fail the run with `--strict-annotations`.
    pub fn warn(&self, kind: Kind, pos: Pos, text: impl Into<String>) {
        self.warn_showing(kind, pos, None, text);
    }

    /// The same; excerpts show this line instead of the one in the source.
    pub fn warn_showing(&self, kind: Kind, pos: Pos, line: Option<String>, text: impl Into<String>) {
        let from = pos.is_known().then_some(pos);
        self.push_warning(pos, Diagnostic { from, line, ..Diagnostic::new(Severity::Warning, kind, text) });
    }

    /// Warns about an annotation; rich messages and machine formats say what to try.
    pub fn warn_hinting(&self, pos: Pos, text: impl Into<String>, hint: Option<String>) {
        let (from, hints) = (pos.is_known().then_some(pos), hint.into_iter().collect());
        self.push_warning(
            pos,
            Diagnostic { from, hints, ..Diagnostic::new(Severity::Warning, Kind::Annotation, text) },
        );
    }

    fn push_warning(&self, pos: Pos, warning: Diagnostic) {
        if !self.is_beyond_ytt() {
            return;
        }
        let mut warnings = self.warnings.borrow_mut();
        if warnings.seen.insert((pos, warning.message.clone())) {
            warnings.list.push(warning);
        }
    }

    /// Hands over the warnings, in the order of the sources. With `--strict-annotations`, those about annotations become
    /// one error.
    pub fn take_warnings(&self) -> Result<Vec<Diagnostic>, Failure> {
        let mut list = std::mem::take(&mut self.warnings.borrow_mut().list);
        list.sort_by_key(|warning| {
            let pos = warning.from.unwrap_or(Pos::UNKNOWN);
            (pos.file, pos.offset)
        });
        if !self.options.strict_annotations {
            return Ok(list);
        }
        let (strict, rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|warning| warning.kind == Kind::Annotation);
        if strict.is_empty() {
            return Ok(rest);
        }
        let mut failure = Failure::new("Strict annotations:");
        failure.diagnostics = rest;
        for warning in strict {
            let at = warning.from.map_or_else(|| "?".to_owned(), |pos| self.locate(pos));
            failure.message.push_str(&format!("\n  - {} ({at})", warning.message));
            if let Some(pos) = warning.from {
                let line = warning.line.clone();
                failure.message.note(line.map_or(Note::Excerpt(pos), |line| Note::Redacted(pos, line)));
            }
            failure.diagnostics.push(Diagnostic { severity: Severity::Error, ..warning });
        }
        Err(failure)
    }
}

/// Whether what goes beyond ytt 0.49 is switched on, for functions that only have the evaluation.
pub(crate) fn is_beyond_ytt(eval: &Eval) -> bool {
    eval.data::<Run>().is_none_or(|run| run.is_beyond_ytt())
}
