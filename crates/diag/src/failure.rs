//! Why a run failed.
//!
//! A [`Failure`] has a cause. On its way out of the engine it collects what was being done
//! ([`Context`]). A cause is one problem or a report of many. It stays structured data, so that
//! ytt's text ([`crate::render::ytt`]) and the diagnostics ([`Failure::diagnostics`]) are two views
//! of it.

use std::fmt;

use ytterby_text::budget::Exceeded;

use crate::outline::Part;
use crate::shortened::shortened;
use crate::{Diagnostic, DiagnosticKind, Frame, Help, Id, Label, Path, Pos, Role, Secrets, Sources, Step, Text};

/// Why a run failed. Boxed, so that it is as small as a pointer.
#[derive(Clone)]
pub struct Failure(Box<FailureData>);

#[derive(Clone)]
struct FailureData {
    cause: Cause,
    /// Innermost first.
    contexts: Vec<Context>,
    warnings: Vec<Diagnostic>,
}

/// The operation during which something failed.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Context {
    /// `Doing this: …`, on the same line as the text after it.
    Doing(Text),
    /// The same on a separate line, unless the text after it begins with a line feed.
    Stage(Text),
}

/// The problem.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// One problem.
    Problem(Box<Diagnostic>),
    /// Code that cannot be parsed, or failed: one problem or several.
    Code(Vec<CodeProblem>),
    /// Values or annotations that do not match a schema, under a title.
    Schema(SchemaReport),
    /// A failure that ytt reports again under a title.
    Nested(String, Failure),
    /// Values that break rules.
    Violations(Vec<ViolationBlock>),
    /// Annotations that `--strict-annotations` refuses. One of them may be the reason for the
    /// failure of the run, so ytt's text omits that failure.
    StrictAnnotations(Vec<Diagnostic>, Option<Failure>),
    /// Failures that are reported one after the other.
    Series(Vec<Failure>),
}

/// A problem of code.
#[derive(Clone, Debug)]
pub struct CodeProblem {
    /// The id of the problem.
    pub id: Id,
    /// The problem.
    pub message: CodeMessage,
    /// Where.
    pub label: Option<Label>,
    /// Other positions that matter.
    pub related: Vec<Label>,
    /// The active calls, innermost first; for code that cannot be parsed, its position.
    pub frames: Vec<Frame>,
    /// How many calls are omitted, and before which frame.
    pub omitted: (usize, usize),
    /// The hint that ytt adds to the message.
    pub hint: Option<&'static str>,
    /// Advice.
    pub helps: Vec<Help>,
}

/// The message of a problem of code.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CodeMessage {
    /// A text.
    Text(Text),
    /// A failure of the engine that a function passed on, after the names of functions:
    /// `overlay.apply: `.
    Failure(String, Failure),
}

/// Blocks about values or annotations that do not match a schema, under a title.
#[derive(Clone, Debug)]
pub struct SchemaReport {
    /// `One or more data values were invalid`.
    pub title: String,
    /// One for each problem.
    pub blocks: Vec<SchemaBlock>,
}

/// A value, or an annotation, that does not match a schema.
#[derive(Clone, Debug)]
pub struct SchemaBlock {
    /// The id of the problem.
    pub id: Id,
    /// The problem, if found and expected do not explain it.
    pub about: Option<String>,
    /// Annotations that matter.
    pub annotations: Vec<Pos>,
    /// The node.
    pub pos: Pos,
    /// The part of the node that is wrong.
    pub part: Part,
    /// The call that created it, if no source contains it.
    pub call: Pos,
    /// The value as text, if no source contains it.
    pub exhibit: Exhibit,
    /// The text or value that was found.
    pub found: Text,
    /// The expected text or value.
    pub expected: Text,
    /// The position of the type or annotation that expects it, and how ytt introduces that
    /// position.
    pub by: Option<By>,
    /// ytt's hints.
    pub hints: Vec<String>,
    /// More advice.
    pub helps: Vec<Help>,
    /// Facts that help to understand it.
    pub notes: Vec<Text>,
    /// The declared key that is most similar to the undeclared one.
    pub near: Option<String>,
    /// The data value in question.
    pub path: Option<Path>,
}

/// The position that a type, a list of keys or a notice comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum By {
    /// `(by a.yml:3)`, after what was expected.
    Type(Pos),
    /// `(from a.yml:3)`, after what was expected.
    Keys(Pos),
    /// A position that the text itself contains.
    Named(Pos),
}

impl By {
    /// The position.
    pub fn pos(self) -> Pos {
        match self {
            By::Type(pos) | By::Keys(pos) | By::Named(pos) => pos,
        }
    }
}

/// How ytt's text shows a node that does not match.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Exhibit {
    /// By its line.
    Line,
    /// By an empty line, because ytt has no line for a document without a leading `---`.
    EmptyLine,
    /// As a collection that is the whole value of a flag. ytt has neither file nor line for it.
    FlagCollection,
    /// Not at all: it is a whole document that code created.
    Nothing,
    /// By this text: code created it, so no line contains it.
    Calculated(Text),
}

impl SchemaBlock {
    /// A block about the node at `pos`.
    pub fn at(pos: Pos, found: impl Into<Text>, expected: impl Into<Text>) -> SchemaBlock {
        SchemaBlock {
            id: Id::SCHEMA_INVALID,
            about: None,
            annotations: Vec::new(),
            pos,
            part: Part::Value,
            call: Pos::UNKNOWN,
            exhibit: Exhibit::Line,
            found: found.into(),
            expected: expected.into(),
            by: None,
            hints: Vec::new(),
            helps: Vec::new(),
            notes: Vec::new(),
            near: None,
            path: None,
        }
    }

    /// Adds what is wrong.
    #[must_use]
    pub fn about(mut self, text: impl Into<String>) -> SchemaBlock {
        self.about = Some(text.into());
        self
    }

    /// Adds an annotation that matters.
    #[must_use]
    pub fn annotation(mut self, pos: Pos) -> SchemaBlock {
        self.annotations.push(pos);
        self
    }

    /// Adds one of ytt's hints.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> SchemaBlock {
        self.hints.push(text.into());
        self
    }

    /// Adds advice that ytt does not have.
    #[must_use]
    pub fn help(mut self, help: impl Into<Help>) -> SchemaBlock {
        self.helps.push(help.into());
        self
    }

    /// Adds the position that expects something else.
    #[must_use]
    pub fn by(mut self, by: By) -> SchemaBlock {
        self.by = Some(by);
        self
    }

    /// The failure of this one block under a title.
    pub fn under(self, title: impl Into<String>) -> Failure {
        Failure::of(Cause::Schema(SchemaReport { title: title.into(), blocks: vec![self] }))
    }

    /// The problem in one line, without the path.
    fn message(&self, title: &str) -> Text {
        match (&self.about, self.id.kind()) {
            (Some(about), _) => Text::new(about.clone()),
            (None, DiagnosticKind::Schema) => Text::new(title.to_owned()),
            (None, _) => self.expectation(),
        }
    }

    /// `expected integer, found string`.
    pub fn expectation(&self) -> Text {
        Text::new("expected ").join(self.expected.clone()).then(", found ").join(self.found.clone())
    }

    fn diagnostic(&self, title: &str) -> Diagnostic {
        let some = |text: &Text| (!text.is_empty()).then(|| text.clone());
        let is_schema = self.id == Id::SCHEMA_INVALID;
        let place = if self.pos.is_known() { self.pos } else { self.call };
        let mut diagnostic = Diagnostic::error(self.id, self.message(title));
        // A problem of a schema is usually a problem of an annotation.
        if let (true, Some(annotation)) = (is_schema, self.annotations.first()) {
            diagnostic = diagnostic.at(*annotation, Part::Line).label(Label::new(Role::Related, place, Part::Key));
        } else {
            diagnostic = diagnostic.at(place, self.part.clone());
            let words = match self.id.kind() {
                DiagnosticKind::Schema => None,
                DiagnosticKind::UnknownKey => Some(Text::new("not declared")),
                DiagnosticKind::Removed => Some(Text::new("removed")),
                _ => some(&self.found).map(|found| Text::new("found ").join(found)),
            };
            if let (Some(label), Some(words)) = (diagnostic.labels.first_mut(), words) {
                label.text = words;
            }
        }
        if let Some(by) = self.by {
            let words = some(&self.expected).filter(|_| matches!(by, By::Type(_)));
            let words =
                words.map(|expected| Text::new("expected ").join(expected)).unwrap_or_else(|| "declared here".into());
            diagnostic = diagnostic.label(Label::new(Role::Rule, by.pos(), Part::Key).text(words));
        }
        let hints = self.hints.iter().map(|hint| Help::new(hint.clone()));
        Diagnostic {
            path: self.path.clone(),
            expected: some(&self.expected),
            found: some(&self.found),
            helps: with_fixes_first(hints.chain(self.helps.iter().cloned())),
            notes: self.notes.clone(),
            ..diagnostic
        }
    }
}

/// Removes duplicate advice: if it is both a hint of ytt and advice with a fix, the one with the
/// fix stays.
fn with_fixes_first(helps: impl Iterator<Item = Help>) -> Vec<Help> {
    let mut found: Vec<Help> = Vec::new();
    for help in helps {
        match found.iter_mut().find(|other| other.text == help.text) {
            Some(other) if other.fix.is_none() => *other = help,
            Some(_) => {}
            None => found.push(help),
        }
    }
    found
}

/// The violations of one value.
#[derive(Clone, Debug)]
pub struct ViolationBlock {
    /// The path of the value.
    pub path: ViolationPath,
    /// Text after the path: ` (document 0 at config.yml:1)`.
    pub suffix: Text,
    /// Where the value is.
    pub from: Pos,
    /// Which part of the text at `from` is meant.
    pub part: Part,
    /// Data values that the line there reads, and where each comes from.
    pub reads: Vec<(Path, Pos)>,
    /// The broken rules.
    pub violations: Vec<Violation>,
}

/// How the path of a value is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ViolationPath {
    /// A path through a document.
    Path(Path),
    /// The name of something else that code checks.
    Name(String),
}

impl ViolationPath {
    /// The path, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            ViolationPath::Path(path) => Some(path),
            ViolationPath::Name(_) => None,
        }
    }

    /// As messages show it.
    pub fn shown(&self) -> String {
        match self {
            ViolationPath::Path(path) => path.shown(),
            ViolationPath::Name(name) => name.clone(),
        }
    }
}

/// One broken rule.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The id of the problem.
    pub id: Id,
    /// A description of valid values.
    pub must_be: Text,
    /// The text or value that was found instead; may be empty.
    pub found: Text,
    /// A custom message that replaces both.
    pub message: Option<Text>,
    /// Where the rule is.
    pub by: Pos,
    /// Which part of the text at `by` is meant.
    pub by_part: Part,
    /// Reasons, each on a separate line.
    pub reasons: Vec<Text>,
    /// Advice.
    pub helps: Vec<Help>,
}

impl ViolationBlock {
    fn diagnostic(&self, violation: &Violation) -> Diagnostic {
        let found = (!violation.found.is_empty()).then(|| violation.found.clone());
        let what = match (&violation.message, &found) {
            (Some(message), _) => message.clone(),
            (None, Some(found)) => {
                Text::new("must be: ").join(violation.must_be.clone()).then("; found: ").join(found.clone())
            }
            (None, None) => Text::new("must be: ").join(violation.must_be.clone()),
        };
        let message = match &self.path {
            ViolationPath::Path(_) => what,
            ViolationPath::Name(name) => Text::new(name.clone()).then(": ").join(what),
        };
        let mut diagnostic = Diagnostic::error(violation.id, message).at(self.from, self.part.clone());
        let is_given = violation.id != Id::VALUES_REQUIRED;
        if let (Some(label), Some(found), true) = (diagnostic.labels.first_mut(), &found, is_given) {
            label.text = Text::new("found: ").join(found.clone());
        }
        // In `assert.validate()`, the value and its rules have the same position.
        if violation.by != self.from || violation.by_part != self.part {
            let words = if is_given { "required by this rule" } else { "required here" };
            diagnostic = diagnostic.label(Label::new(Role::Rule, violation.by, violation.by_part.clone()).text(words));
        }
        for (path, pos) in &self.reads {
            let words = Text::new(format!("data value {path} comes from here"));
            diagnostic = diagnostic.label(Label::new(Role::Related, *pos, Part::Value).text(words));
        }
        Diagnostic {
            path: self.path.path().cloned(),
            suffix: self.suffix.clone(),
            must_be: Some(violation.must_be.clone()),
            found,
            notes: violation.reasons.clone(),
            helps: violation.helps.clone(),
            data_values: self.reads.iter().map(|(path, _)| path.clone()).collect(),
            ..diagnostic
        }
    }
}

impl CodeProblem {
    /// The diagnostics: those of a failure that was passed on, with the calls added, or a single
    /// one.
    fn diagnostics(&self) -> Vec<Diagnostic> {
        let text = match &self.message {
            CodeMessage::Text(text) => text,
            CodeMessage::Failure(prefix, inner) => {
                let mut found = inner.problems();
                for diagnostic in &mut found {
                    if diagnostic.problem_label().is_none() {
                        diagnostic.labels.splice(0..0, self.label.clone());
                        if diagnostic.path.is_none() && !prefix.is_empty() {
                            diagnostic.message = Text::new(prefix.clone()).join(diagnostic.message.clone());
                        }
                    }
                    diagnostic.frames.extend(self.frames.iter().cloned());
                }
                return found;
            }
        };
        let mut diagnostic = Diagnostic::error(self.id, text.clone());
        diagnostic.labels.extend(self.label.iter().chain(&self.related).cloned());
        diagnostic.frames = self.frames.iter().filter(|frame| frame.name.is_some()).cloned().collect();
        let hint = self.hint.map(Help::new);
        diagnostic.helps = with_fixes_first(self.helps.iter().cloned().chain(hint));
        vec![diagnostic]
    }
}

impl Failure {
    /// A failure with this cause. Of a cause with thousands of parts, the first thousand are kept.
    pub fn of(cause: Cause) -> Failure {
        let cause = shortened(cause);
        Failure(Box::new(FailureData { cause, contexts: Vec::new(), warnings: Vec::new() }))
    }

    /// A failure of one problem with only a message.
    pub fn new(id: Id, message: impl Into<Text>) -> Failure {
        Diagnostic::error(id, message).into()
    }

    /// A failure of code.
    pub fn of_code(problem: CodeProblem) -> Failure {
        Failure::of(Cause::Code(vec![problem]))
    }

    /// The problem.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The operations during which it failed, innermost first.
    pub fn contexts(&self) -> &[Context] {
        &self.0.contexts
    }

    /// The warnings of the run before it failed.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.0.warnings
    }

    /// Adds the warnings of the run.
    pub fn set_warnings(&mut self, warnings: Vec<Diagnostic>) {
        self.0.warnings = warnings;
    }

    /// Adds what was being done one level further out.
    #[must_use]
    pub fn doing(mut self, text: impl Into<Text>) -> Failure {
        self.0.contexts.push(Context::Doing(text.into()));
        self
    }

    /// The same, as the title of a stage.
    #[must_use]
    pub fn in_stage(mut self, text: impl Into<Text>) -> Failure {
        self.0.contexts.push(Context::Stage(text.into()));
        self
    }

    /// The problems in order.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.problems().into_iter().map(Diagnostic::with_placed_edits).collect()
    }

    fn problems(&self) -> Vec<Diagnostic> {
        match &self.0.cause {
            Cause::Problem(diagnostic) => vec![(**diagnostic).clone()],
            Cause::Code(problems) => problems.iter().flat_map(CodeProblem::diagnostics).collect(),
            Cause::Schema(report) => report.blocks.iter().map(|block| block.diagnostic(&report.title)).collect(),
            Cause::Nested(_, inner) => inner.problems(),
            Cause::Violations(blocks) => {
                let each = |block: &ViolationBlock| -> Vec<Diagnostic> {
                    block.violations.iter().map(|violation| block.diagnostic(violation)).collect()
                };
                blocks.iter().flat_map(each).collect()
            }
            Cause::StrictAnnotations(refused, failure) => {
                let further = failure.as_ref().map(Failure::problems).unwrap_or_default();
                refused.iter().cloned().chain(further).collect()
            }
            Cause::Series(failures) => failures.iter().flat_map(Failure::problems).collect(),
        }
    }

    /// Drops the problems for which `keep` returns false; `None` if none is left. Calls `keep` once
    /// for each problem.
    pub fn retain(mut self, keep: &mut dyn FnMut(&Diagnostic) -> bool) -> Option<Failure> {
        let is_left = match &mut self.0.cause {
            Cause::Problem(diagnostic) => keep(&(**diagnostic).clone().with_placed_edits()),
            Cause::Code(problems) => {
                problems.retain(|problem| {
                    let found = problem.diagnostics().into_iter().map(Diagnostic::with_placed_edits);
                    // Calls `keep` for all, even after one that is kept.
                    found.map(|diagnostic| keep(&diagnostic)).filter(|is_kept| *is_kept).count() > 0
                });
                !problems.is_empty()
            }
            Cause::Schema(report) => {
                let title = report.title.clone();
                report.blocks.retain(|block| keep(&block.diagnostic(&title).with_placed_edits()));
                !report.blocks.is_empty()
            }
            Cause::Nested(_, inner) => match inner.clone().retain(keep) {
                Some(left) => {
                    *inner = left;
                    true
                }
                None => false,
            },
            Cause::Violations(blocks) => {
                for block in &mut *blocks {
                    let broken = std::mem::take(&mut block.violations);
                    let left = broken.into_iter().filter(|one| keep(&block.diagnostic(one).with_placed_edits()));
                    block.violations = left.collect();
                }
                blocks.retain(|block| !block.violations.is_empty());
                !blocks.is_empty()
            }
            Cause::StrictAnnotations(refused, failure) => {
                refused.retain(|diagnostic| keep(diagnostic));
                *failure = failure.take().and_then(|failure| failure.retain(keep));
                !refused.is_empty() || failure.is_some()
            }
            Cause::Series(failures) => {
                *failures = std::mem::take(failures).into_iter().filter_map(|one| one.retain(keep)).collect();
                !failures.is_empty()
            }
        };
        is_left.then_some(self)
    }

    /// Sets the position, unless it has one.
    pub fn place_at(&mut self, pos: Pos, part: Part) {
        if !pos.is_known() {
            return;
        }
        match &mut self.0.cause {
            Cause::Problem(diagnostic) if diagnostic.labels.is_empty() => {
                diagnostic.labels.push(Label::new(Role::Problem, pos, part));
            }
            // Other problems of code have a position, or none on purpose.
            Cause::Code(problems) => {
                let problems = problems.iter_mut().filter(|problem| problem.id.limit().is_some());
                for problem in problems.filter(|problem| problem.label.is_none() && problem.frames.is_empty()) {
                    problem.label = Some(Label::new(Role::Problem, pos, part.clone()));
                    problem.frames.push(Frame { name: None, pos, place: pos, is_foreign: false });
                }
            }
            Cause::Nested(_, inner) => inner.place_at(pos, part),
            Cause::Series(failures) => failures.iter_mut().for_each(|failure| failure.place_at(pos, part.clone())),
            _ => {}
        }
    }

    /// Prepends a step to the path: the problem is below this step.
    pub fn add_step(&mut self, step: Step) {
        match &mut self.0.cause {
            Cause::Problem(diagnostic) => diagnostic.path.get_or_insert_default().prepend(step),
            Cause::Nested(_, inner) => inner.add_step(step),
            Cause::Series(failures) => failures.iter_mut().for_each(|failure| failure.add_step(step.clone())),
            _ => {}
        }
    }

    /// Adds advice.
    pub fn add_help(&mut self, help: Help) {
        match &mut self.0.cause {
            Cause::Problem(diagnostic) => diagnostic.helps.push(help),
            Cause::Code(problems) => {
                if let Some(problem) = problems.first_mut() {
                    problem.helps.push(help);
                }
            }
            _ => {}
        }
    }

    /// For limits that were reached, adds which flag raises them and where most of the time was
    /// spent.
    pub fn explain_limits(&mut self, hottest: Option<Label>) {
        let advice = |id: Id| {
            let flag = id.limit()?.flag();
            Some(Help::new(format!("raise the limit with --{flag}, or make the code need less")))
        };
        // Call depth and output have nothing to do with time.
        let is_about_time = |id: Id| [Id::LIMIT_TIME, Id::LIMIT_STEPS, Id::LIMIT_MEMORY].contains(&id);
        match &mut self.0.cause {
            Cause::Problem(diagnostic) => {
                if let Some(help) = advice(diagnostic.id) {
                    diagnostic.helps.push(help);
                    diagnostic.labels.extend(hottest.filter(|_| is_about_time(diagnostic.id)));
                }
            }
            Cause::Code(problems) => {
                for problem in problems {
                    match (&mut problem.message, advice(problem.id)) {
                        (CodeMessage::Failure(_, inner), _) => inner.explain_limits(hottest.clone()),
                        (CodeMessage::Text(_), Some(help)) => {
                            problem.helps.push(help);
                            problem.related.extend(hottest.clone().filter(|_| is_about_time(problem.id)));
                        }
                        (CodeMessage::Text(_), None) => {}
                    }
                }
            }
            Cause::Violations(blocks) => {
                for violation in blocks.iter_mut().flat_map(|block| &mut block.violations) {
                    violation.helps.extend(advice(violation.id));
                }
            }
            Cause::Nested(_, failure) | Cause::StrictAnnotations(_, Some(failure)) => failure.explain_limits(hottest),
            Cause::Series(failures) => {
                failures.iter_mut().for_each(|failure| failure.explain_limits(hottest.clone()));
            }
            Cause::Schema(_) | Cause::StrictAnnotations(_, None) => {}
        }
    }

    /// Replaces secrets in all texts.
    pub fn hide(&mut self, secrets: &Secrets) {
        let inner = &mut *self.0;
        for context in &mut inner.contexts {
            match context {
                Context::Doing(text) | Context::Stage(text) => text.hide(secrets),
            }
        }
        inner.warnings.iter_mut().for_each(|warning| warning.hide(secrets));
        match &mut inner.cause {
            Cause::Problem(diagnostic) => diagnostic.hide(secrets),
            Cause::Code(problems) => problems.iter_mut().for_each(|problem| problem.hide(secrets)),
            Cause::Schema(report) => report.blocks.iter_mut().for_each(|block| block.hide(secrets)),
            Cause::Nested(_, failure) => failure.hide(secrets),
            Cause::Violations(blocks) => blocks.iter_mut().for_each(|block| block.hide(secrets)),
            Cause::StrictAnnotations(refused, failure) => {
                refused.iter_mut().for_each(|diagnostic| diagnostic.hide(secrets));
                failure.iter_mut().for_each(|failure| failure.hide(secrets));
            }
            Cause::Series(failures) => failures.iter_mut().for_each(|failure| failure.hide(secrets)),
        }
    }

    /// ytt's text, with positions looked up in `sources`.
    pub fn text(&self, sources: &Sources) -> String {
        crate::render::ytt::text(self, sources)
    }
}

impl CodeProblem {
    fn hide(&mut self, secrets: &Secrets) {
        match &mut self.message {
            CodeMessage::Text(text) => text.hide(secrets),
            CodeMessage::Failure(prefix, inner) => {
                if let Some(hidden) = secrets.hidden(prefix) {
                    *prefix = hidden;
                }
                inner.hide(secrets);
            }
        }
        self.helps.iter_mut().for_each(|help| help.hide(secrets));
        self.label.iter_mut().for_each(|label| label.text.hide(secrets));
    }
}

impl SchemaBlock {
    fn hide(&mut self, secrets: &Secrets) {
        [&mut self.found, &mut self.expected].into_iter().for_each(|text| text.hide(secrets));
        self.notes.iter_mut().for_each(|note| note.hide(secrets));
        self.helps.iter_mut().for_each(|help| help.hide(secrets));
        for hint in &mut self.hints {
            if let Some(hidden) = secrets.hidden(hint) {
                *hint = hidden;
            }
        }
        if let Exhibit::Calculated(text) = &mut self.exhibit {
            text.hide(secrets);
        }
    }
}

impl ViolationBlock {
    fn hide(&mut self, secrets: &Secrets) {
        if let ViolationPath::Path(path) = &mut self.path {
            path.hide(secrets);
        }
        for violation in &mut self.violations {
            let Violation { must_be, found, message, reasons, helps, .. } = violation;
            let texts = [must_be, found].into_iter().chain(message).chain(reasons);
            texts.for_each(|text| text.hide(secrets));
            helps.iter_mut().for_each(|help| help.hide(secrets));
        }
    }
}

impl From<Exceeded> for Failure {
    #[cold]
    fn from(exceeded: Exceeded) -> Failure {
        let id = exceeded.limit().map_or(Id::LIMIT_CANCELLED, Id::of_limit);
        Failure::new(id, exceeded.to_string())
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::of(Cause::Problem(Box::new(diagnostic)))
    }
}

/// The text without names of sources; [`Failure::text`] includes them.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&Sources::new()))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure").field("cause", &self.0.cause).field("contexts", &self.0.contexts).finish()
    }
}

impl std::error::Error for Failure {}
