//! Problems as data.
//!
//! A [`Diagnostic`] contains what is wrong, where, and how to correct it, in pieces that a program
//! can use. It contains no layout: that is the business of [`crate::render`].

use crate::outline::Part;
use crate::{Id, Path, PlaceNames, Pos, Secrets, Sources, Span, Text};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Severity {
    /// The run fails.
    Error,
    /// The run goes on.
    Warning,
    /// Nothing is wrong, but it is useful to know.
    Note,
}

impl Severity {
    /// Its name in renderings.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// One problem.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The id of the problem.
    pub id: Id,
    /// Error, warning or note.
    pub severity: Severity,
    /// The problem, in one line that can be understood alone.
    pub message: Text,
    /// Whether the text rendering omits it: warnings about common mistakes that ytt does not have.
    pub beyond_text: bool,
    /// ytt's wording, if it differs from the message.
    pub reference: Option<Text>,
    /// Positions that matter. The first one is the position of the problem.
    pub labels: Vec<Label>,
    /// The data value or node in question.
    pub path: Option<Path>,
    /// Text after the path in a sentence: ` (document 0 at config.yml:1)`.
    pub suffix: Text,
    /// The requirement of a rule.
    pub must_be: Option<Text>,
    /// The expectation of a type, an annotation or a matcher.
    pub expected: Option<Text>,
    /// The text or value that was found instead.
    pub found: Option<Text>,
    /// Facts that help to understand it.
    pub notes: Vec<Text>,
    /// Advice, the most useful first.
    pub helps: Vec<Help>,
    /// The calls that led to it, innermost first.
    pub frames: Vec<Frame>,
    /// The data values that caused it, if known.
    pub data_values: Vec<Path>,
}

/// A position that matters for a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// Where it begins.
    pub pos: Pos,
    /// How far it reaches.
    pub part: Part,
    /// Why it matters.
    pub role: Role,
    /// A few words about it.
    pub text: Text,
}

/// Why a position matters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Role {
    /// The problem is here.
    Problem,
    /// The rule, type or annotation that expects something else.
    Rule,
    /// A candidate that was considered.
    Candidate,
    /// Anything else.
    Related,
}

impl Role {
    /// Its name in machine-readable renderings.
    pub fn name(self) -> &'static str {
        match self {
            Role::Problem => "problem",
            Role::Rule => "rule",
            Role::Candidate => "candidate",
            Role::Related => "related",
        }
    }
}

/// Advice about a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Help {
    /// The advice: a sentence without a full stop.
    pub text: Text,
    /// Edits that implement the advice, if a tool can apply them.
    pub fix: Option<Fix>,
}

/// Edits that correct a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Fix {
    /// The effect of the edits: `Change "nmae" to "name"`.
    pub title: String,
    /// The edits. No two overlap.
    pub edits: Vec<Edit>,
    /// Whether the edits can be applied without asking.
    pub safety: Safety,
}

/// Whether edits can be applied without asking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Safety {
    /// They are always correct.
    Safe,
    /// They are probably what the user meant.
    Likely,
}

/// One edit: replaces a part of a source.
#[derive(Clone, PartialEq, Debug)]
pub struct Edit {
    /// Where the part begins.
    pub pos: Pos,
    /// How far it reaches.
    pub part: Part,
    /// The new text.
    pub replacement: String,
}

/// One call that was active.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// Its function; `None` for a position that is not a call.
    pub name: Option<String>,
    /// The position that ytt's text shows.
    pub pos: Pos,
    /// The actual position.
    pub place: Pos,
    /// Whether it belongs to a library whose lines ytt's text omits.
    pub is_foreign: bool,
}

impl Diagnostic {
    /// An error with only a message.
    pub fn error(id: Id, message: impl Into<Text>) -> Diagnostic {
        Diagnostic::new(Severity::Error, id, message)
    }

    /// A warning with only a message.
    pub fn warning(id: Id, message: impl Into<Text>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, id, message)
    }

    /// A problem with only a message.
    pub fn new(severity: Severity, id: Id, message: impl Into<Text>) -> Diagnostic {
        Diagnostic {
            id,
            severity,
            message: message.into(),
            beyond_text: false,
            reference: None,
            labels: Vec::new(),
            path: None,
            suffix: Text::default(),
            must_be: None,
            expected: None,
            found: None,
            notes: Vec::new(),
            helps: Vec::new(),
            frames: Vec::new(),
            data_values: Vec::new(),
        }
    }

    /// Adds the position of the problem; an unknown one changes nothing.
    #[must_use]
    pub fn at(self, pos: Pos, part: Part) -> Diagnostic {
        self.label(Label::new(Role::Problem, pos, part))
    }

    /// Adds one more position; an unknown one changes nothing.
    #[must_use]
    pub fn label(mut self, label: Label) -> Diagnostic {
        if label.pos.is_known() {
            self.labels.push(label);
        }
        self
    }

    /// Adds ytt's wording.
    #[must_use]
    pub fn reference(mut self, text: impl Into<Text>) -> Diagnostic {
        self.reference = Some(text.into());
        self
    }

    /// Omits the problem from the text rendering.
    #[must_use]
    pub fn beyond_text(self) -> Diagnostic {
        Diagnostic { beyond_text: true, ..self }
    }

    /// Adds a path.
    #[must_use]
    pub fn path(mut self, path: Path) -> Diagnostic {
        self.path = Some(path);
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<Help>) -> Diagnostic {
        self.helps.push(help.into());
        self
    }

    /// Adds several pieces of advice.
    #[must_use]
    pub fn helps(mut self, helps: impl IntoIterator<Item = Help>) -> Diagnostic {
        self.helps.extend(helps);
        self
    }

    /// Adds a fact that helps to understand the problem.
    #[must_use]
    pub fn note(mut self, note: impl Into<Text>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Adds what was expected.
    #[must_use]
    pub fn expected(mut self, text: impl Into<Text>) -> Diagnostic {
        self.expected = Some(text.into());
        self
    }

    /// Adds what was found instead.
    #[must_use]
    pub fn found(mut self, text: impl Into<Text>) -> Diagnostic {
        self.found = Some(text.into());
        self
    }

    /// The position of the problem: its first label.
    pub fn primary(&self) -> Option<&Label> {
        self.labels.first()
    }

    /// Where the offending value or code is: JSON's `from`.
    pub fn problem_label(&self) -> Option<&Label> {
        self.labels.iter().find(|label| label.role == Role::Problem)
    }

    /// Where the rule or type is: JSON's `by`.
    pub fn rule_label(&self) -> Option<&Label> {
        self.labels.iter().find(|label| label.role == Role::Rule)
    }

    /// The message with the path in front, in one line.
    pub fn sentence(&self, sources: &Sources) -> String {
        let shown = |text: &Text| one_line(&text.shown(sources, PlaceNames::Full));
        let message = shown(&self.message);
        match &self.path {
            Some(path) if self.suffix.is_empty() => format!("{}: {message}", path.shown()),
            Some(path) => format!("{} {}: {message}", path.shown(), shown(&self.suffix)),
            None => message,
        }
    }

    /// Moves edits without a position to the position of the problem. Drops a fix that has no
    /// position then.
    #[must_use]
    pub(crate) fn with_placed_edits(mut self) -> Diagnostic {
        let place = self.labels.first().map_or(Pos::UNKNOWN, |label| label.pos);
        for help in &mut self.helps {
            let Some(fix) = &mut help.fix else { continue };
            for edit in fix.edits.iter_mut().filter(|edit| !edit.pos.is_known()) {
                edit.pos = place;
            }
            if fix.edits.iter().any(|edit| !edit.pos.is_known()) {
                help.fix = None;
            }
        }
        self
    }

    /// Changes all positions. They are looked up in `layer` now, and `place` returns where they are
    /// afterwards (see [`Sources::absorb`]).
    #[must_use]
    pub fn relocate(mut self, layer: &Sources, place: &dyn Fn(Pos) -> Pos) -> Diagnostic {
        let Diagnostic { message, reference, suffix, must_be, expected, found, notes, .. } = &mut self;
        let texts =
            [Some(message), Some(suffix), reference.as_mut(), must_be.as_mut(), expected.as_mut(), found.as_mut()];
        texts.into_iter().flatten().chain(notes).for_each(|text| text.relocate(place));
        let real = |pos: Pos| place(layer.source_place(pos));
        for label in &mut self.labels {
            label.pos = real(label.pos);
            label.text.relocate(place);
        }
        for help in &mut self.helps {
            help.text.relocate(place);
            help.fix.iter_mut().flat_map(|fix| &mut fix.edits).for_each(|edit| edit.pos = real(edit.pos));
        }
        for frame in &mut self.frames {
            (frame.pos, frame.place) = (real(frame.pos), real(frame.place));
        }
        self
    }

    /// Replaces secrets in all texts.
    pub fn hide(&mut self, secrets: &Secrets) {
        let Diagnostic { message, reference, suffix, must_be, expected, found, notes, .. } = self;
        let texts =
            [Some(message), Some(suffix), reference.as_mut(), must_be.as_mut(), expected.as_mut(), found.as_mut()];
        texts.into_iter().flatten().chain(notes).for_each(|text| text.hide(secrets));
        self.labels.iter_mut().for_each(|label| label.text.hide(secrets));
        self.helps.iter_mut().for_each(|help| help.hide(secrets));
        if let Some(path) = &mut self.path {
            path.hide(secrets);
        }
    }
}

impl Label {
    /// A label without text.
    pub fn new(role: Role, pos: Pos, part: Part) -> Label {
        Label { pos, part, role, text: Text::default() }
    }

    /// Adds a text.
    #[must_use]
    pub fn text(mut self, text: impl Into<Text>) -> Label {
        self.text = text.into();
        self
    }

    /// The range in its source; the token at the position if the part is not found.
    pub fn span(&self, sources: &Sources) -> Option<Span> {
        span(sources, self.pos, &self.part).or_else(|| span(sources, self.pos, &Part::Token))
    }
}

impl Edit {
    /// Replaces a part of a source by a text.
    pub fn replace(pos: Pos, part: Part, replacement: impl Into<String>) -> Edit {
        Edit { pos, part, replacement: replacement.into() }
    }

    /// Inserts a text at a position.
    pub fn insert(pos: Pos, text: impl Into<String>) -> Edit {
        Edit::replace(pos, Part::Bytes(0), text)
    }

    /// The range that is replaced.
    pub fn span(&self, sources: &Sources) -> Option<Span> {
        span(sources, self.pos, &self.part)
    }
}

fn span(sources: &Sources, pos: Pos, part: &Part) -> Option<Span> {
    let pos = sources.source_place(pos);
    let range = sources.get(pos.file)?.part(pos.offset, part)?;
    Some(Span::new(pos.file, range.start, range.end))
}

impl Help {
    /// Advice without edits.
    pub fn new(text: impl Into<Text>) -> Help {
        Help { text: text.into(), fix: None }
    }

    /// Advice to rename a keyword argument of the call or annotation that is the problem.
    pub fn rename_argument(text: impl Into<Text>, name: &str, meant: &str) -> Help {
        let title = format!("Change {name}= to {meant}=");
        Help::replace_here(text, title, Part::ArgumentName(name.to_owned()), meant)
    }

    /// Advice to write another string on the line of the problem.
    pub fn rename_string(name: &str, meant: &str) -> Help {
        let (old, new) = (format!("\"{name}\""), format!("\"{meant}\""));
        let title = format!("Change {old} to {new}");
        Help::replace_here(format!("did you mean {new}?"), title, Part::Quoted(name.to_owned()), &new)
    }

    /// Adds edits that implement the advice; adds none if the position of one is unknown.
    #[must_use]
    pub fn fixed_by(mut self, title: impl Into<String>, edits: Vec<Edit>, safety: Safety) -> Help {
        if edits.iter().all(|edit| edit.pos.is_known()) {
            self.fix = Some(Fix { title: title.into(), edits, safety });
        }
        self
    }

    /// Advice to replace a part of the text at the position of the problem, which is set later.
    fn replace_here(text: impl Into<Text>, title: String, part: Part, replacement: &str) -> Help {
        let edits = vec![Edit::replace(Pos::UNKNOWN, part, replacement)];
        Help { text: text.into(), fix: Some(Fix { title, edits, safety: Safety::Likely }) }
    }

    /// Replaces secrets in the text, and drops edits that would write one.
    pub(crate) fn hide(&mut self, secrets: &Secrets) {
        self.text.hide(secrets);
        let shows_secret = self.fix.as_ref().is_some_and(|fix| {
            let texts = std::iter::once(&fix.title).chain(fix.edits.iter().map(|edit| &edit.replacement));
            texts.into_iter().any(|text| secrets.hidden_value(text).is_some())
        });
        if shows_secret {
            self.fix = None;
        }
    }
}

impl<T: Into<Text>> From<T> for Help {
    fn from(text: T) -> Help {
        Help::new(text)
    }
}

/// Joins the lines of a text: each is trimmed, with a space between them.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}
