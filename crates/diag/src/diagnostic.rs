//! What is wrong, as data.
//!
//! A [`Diagnostic`] says what is wrong, where, and what would be right, in pieces that a program can use. Nothing here
//! is laid out: that is the business of [`crate::render`].

use crate::outline::Part;
use crate::{Id, Path, PlaceNames, Pos, Secrets, Sources, Span, Text};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Severity {
    /// The run fails.
    Error,
    /// The run goes on.
    Warning,
}

impl Severity {
    /// As renderings call it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One problem.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What sort of problem it is.
    pub id: Id,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one line that needs no other.
    pub message: Text,
    /// Whether the text rendering leaves it out: warnings about common slips, for which ytt has none.
    pub beyond_text: bool,
    /// ytt's words for it, where they differ from the message.
    pub reference: Option<Text>,
    /// Where it is and what else matters; the first one is the place of the problem.
    pub labels: Vec<Label>,
    /// The data value or node in question.
    pub path: Option<Path>,
    /// What follows the path in a sentence: ` (document 0 at config.yml:1)`.
    pub suffix: Text,
    /// What a rule asks for.
    pub must_be: Option<Text>,
    /// What a type, an annotation or a matcher asks for.
    pub expected: Option<Text>,
    /// What was there instead.
    pub found: Option<Text>,
    /// Facts that help to understand it.
    pub notes: Vec<Text>,
    /// What to do about it, the most useful first.
    pub helps: Vec<Help>,
    /// The calls that led to it, innermost first.
    pub frames: Vec<Frame>,
    /// The data values that caused it, where that is known.
    pub data_values: Vec<Path>,
}

/// A place that matters for a problem.
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

/// Why a place matters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The problem is here.
    Problem,
    /// The rule, type or annotation that asks for something else.
    Rule,
    /// A candidate that was considered.
    Candidate,
    /// Anything else.
    Related,
}

impl Role {
    /// As the machine-readable renderings call it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Problem => "problem",
            Role::Rule => "rule",
            Role::Candidate => "candidate",
            Role::Related => "related",
        }
    }
}

/// What to do about a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Help {
    /// The advice, a sentence without a full stop.
    pub text: Text,
    /// Edits that follow it, where a tool can make them.
    pub fix: Option<Fix>,
}

/// Edits that mend a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Fix {
    /// What the edits do: `Change "nmae" to "name"`.
    pub title: String,
    /// The edits. No two overlap.
    pub edits: Vec<Edit>,
    /// Whether the edits can be made without asking.
    pub safety: Safety,
}

/// Whether edits can be made without asking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    /// They cannot be wrong.
    Safe,
    /// They are probably what was meant.
    Likely,
}

/// One edit: a part of a source is replaced.
#[derive(Clone, PartialEq, Debug)]
pub struct Edit {
    /// Where the part begins.
    pub pos: Pos,
    /// How far it reaches.
    pub part: Part,
    /// What comes in its place.
    pub replacement: String,
}

/// One call that was going on.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// Its function; none for a place that is no call.
    pub name: Option<String>,
    /// The place that ytt's text shows.
    pub pos: Pos,
    /// Where it really is.
    pub place: Pos,
    /// Whether it belongs to a library whose lines ytt's text does not show.
    pub is_foreign: bool,
}

impl Diagnostic {
    /// An error with nothing known but its message.
    pub fn error(id: Id, message: impl Into<Text>) -> Diagnostic {
        Diagnostic::new(Severity::Error, id, message)
    }

    /// A warning with nothing known but its message.
    pub fn warning(id: Id, message: impl Into<Text>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, id, message)
    }

    /// A problem with nothing known but its message.
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

    /// The problem at a place; an unknown place changes nothing.
    #[must_use]
    pub fn at(self, pos: Pos, part: Part) -> Diagnostic {
        self.label(Label::new(Role::Problem, pos, part))
    }

    /// The problem with one more place; an unknown one changes nothing.
    #[must_use]
    pub fn label(mut self, label: Label) -> Diagnostic {
        if label.pos.is_known() {
            self.labels.push(label);
        }
        self
    }

    /// The problem with ytt's words for it.
    #[must_use]
    pub fn reference(mut self, text: impl Into<Text>) -> Diagnostic {
        self.reference = Some(text.into());
        self
    }

    /// The problem, left out of the text rendering.
    #[must_use]
    pub fn beyond_text(self) -> Diagnostic {
        Diagnostic { beyond_text: true, ..self }
    }

    /// The problem with a path.
    #[must_use]
    pub fn path(mut self, path: Path) -> Diagnostic {
        self.path = Some(path);
        self
    }

    /// The problem with something to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<Help>) -> Diagnostic {
        self.helps.push(help.into());
        self
    }

    /// The problem with several things to do about it.
    #[must_use]
    pub fn helps(mut self, helps: impl IntoIterator<Item = Help>) -> Diagnostic {
        self.helps.extend(helps);
        self
    }

    /// The problem with a fact that helps to understand it.
    #[must_use]
    pub fn note(mut self, note: impl Into<Text>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// The problem with what was expected.
    #[must_use]
    pub fn expected(mut self, text: impl Into<Text>) -> Diagnostic {
        self.expected = Some(text.into());
        self
    }

    /// The problem with what was found instead.
    #[must_use]
    pub fn found(mut self, text: impl Into<Text>) -> Diagnostic {
        self.found = Some(text.into());
        self
    }

    /// The place of the problem: its first label.
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

    /// The diagnostic, with edits that have no place moved to the place of the problem. A fix without a place is
    /// dropped.
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

    /// The diagnostic with other places: `layer` is where they are looked up now, `place` says where they are afterwards
    /// (see [`Sources::absorb`]).
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
    /// A place without words.
    pub fn new(role: Role, pos: Pos, part: Part) -> Label {
        Label { pos, part, role, text: Text::default() }
    }

    /// The place with words about it.
    #[must_use]
    pub fn text(mut self, text: impl Into<Text>) -> Label {
        self.text = text.into();
        self
    }

    /// The range in its source; the token there where the part is not found.
    pub fn span(&self, sources: &Sources) -> Option<Span> {
        span(sources, self.pos, &self.part).or_else(|| span(sources, self.pos, &Part::Token))
    }
}

impl Edit {
    /// Puts a text in place of a part of a source.
    pub fn replace(pos: Pos, part: Part, replacement: impl Into<String>) -> Edit {
        Edit { pos, part, replacement: replacement.into() }
    }

    /// Inserts a text at a place.
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
    /// Advice that no tool can follow.
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

    /// The advice with edits that follow it; without them where the place of one is unknown.
    #[must_use]
    pub fn fixed_by(mut self, title: impl Into<String>, edits: Vec<Edit>, safety: Safety) -> Help {
        if edits.iter().all(|edit| edit.pos.is_known()) {
            self.fix = Some(Fix { title: title.into(), edits, safety });
        }
        self
    }

    /// Advice to replace a part of what is at the place of the problem, which is known later.
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

/// A text as one line: its lines trimmed, with a space between them.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}
