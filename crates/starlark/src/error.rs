//! Errors of running programs.
//!
//! An [`Error`] collects its frames while it propagates, so that creating one costs only its
//! message. It can contain a failure of the host unchanged. Problems found before a program runs
//! are [`crate::SyntaxError`]s. For the host, both become a [`CodeProblem`].

use std::borrow::Cow;
use std::fmt;

use ytterby_diag::{CodeMessage, CodeProblem, Diagnostic, Failure, Help, Label, Part, Pos, Role, Sources, Text};
use ytterby_text::Str;
use ytterby_text::budget::Exceeded;

use crate::{Problem, advice};

/// A call that was active when an error happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StackFrame {
    /// The function's name; `<toplevel>` for the body of a module, `lambda` for a lambda.
    pub name: Str,
    /// Its current position; unknown for functions without positions.
    pub pos: Pos,
}

const KEPT_FRAMES: usize = 100;
const OMITTED_AT_ONCE: usize = 1000;

/// An error of a running program, with its active calls. As small as a pointer.
#[derive(Clone)]
pub struct Error(Box<ErrorData>);

#[derive(Clone)]
struct ErrorData {
    problem: Problem,
    /// The problem; empty if it contains a failure of the host.
    message: String,
    failure: Option<Failure>,
    /// Names of functions that prefix the message, innermost first.
    contexts: Vec<String>,
    blame: Blame,
    /// The string literal on the line of the error that the error is about.
    string: Option<Str>,
    frames: Vec<StackFrame>,
    /// The number of frames omitted after the first [`KEPT_FRAMES`].
    omitted: usize,
    helps: Vec<Help>,
}

/// The code responsible for an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blame {
    /// The innermost code.
    Innermost,
    /// The call: its arguments are wrong.
    Call,
    /// A part of the innermost code.
    Part(Pos),
}

impl Error {
    /// An error about a value, without frames.
    #[cold]
    #[inline(never)]
    pub fn new(message: impl Into<String>) -> Error {
        Error::of(Problem::Value, message)
    }

    /// An error with a given problem.
    #[cold]
    #[inline(never)]
    pub fn of(problem: Problem, message: impl Into<String>) -> Error {
        Error(Box::new(ErrorData {
            problem,
            message: message.into(),
            failure: None,
            contexts: Vec::new(),
            blame: Blame::Innermost,
            string: None,
            frames: Vec::new(),
            omitted: 0,
            helps: Vec::new(),
        }))
    }

    /// Adds a hint, which is not part of the message.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<Help>) -> Error {
        self.0.helps.push(help.into());
        self
    }

    /// Adds `name: ` before the message and removes frames: those of the caller count, as for a new
    /// error. The problem and a contained failure are kept.
    #[must_use]
    pub fn in_context(mut self, name: impl fmt::Display) -> Error {
        let inner = &mut *self.0;
        inner.contexts.push(name.to_string());
        inner.blame = Blame::Innermost;
        inner.frames.clear();
        inner.omitted = 0;
        self
    }

    /// Adds a call, for host functions that represent code.
    #[must_use]
    pub fn with_frame(mut self, frame: StackFrame) -> Error {
        self.push_frame(frame);
        self
    }

    /// Marks the error as being about the arguments of the call.
    pub(crate) fn about_call(mut self) -> Error {
        self.0.blame = Blame::Call;
        self
    }

    /// Marks the error as being about a part of the running code.
    pub(crate) fn about_part(mut self, pos: Pos) -> Error {
        self.0.blame = Blame::Part(pos);
        self
    }

    /// Marks the error as being about a string literal on its line.
    pub(crate) fn about_string(mut self, text: Str) -> Error {
        self.0.string = Some(text);
        self
    }

    /// The message with its prefixes. If the error contains a failure, these are only the prefixes;
    /// see [`Error::text`].
    pub fn message(&self) -> Cow<'_, str> {
        match self.0.contexts.is_empty() {
            true => (&*self.0.message).into(),
            false => (self.prefix() + &self.0.message).into(),
        }
    }

    /// The message without prefixes; empty if the error contains a failure.
    pub fn bare_message(&self) -> &str {
        &self.0.message
    }

    /// The names of functions before the message, outermost first.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.0.contexts.iter().rev().map(String::as_str)
    }

    /// The whole text without calls; positions of a contained failure are resolved by `sources`.
    pub fn text(&self, sources: &Sources) -> String {
        match &self.0.failure {
            Some(failure) => self.prefix() + &failure.text(sources),
            None => self.message().into_owned(),
        }
    }

    /// The names before the text: `overlay.apply: `.
    fn prefix(&self) -> String {
        self.contexts().map(|name| format!("{name}: ")).collect()
    }

    /// The kind of error.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The contained failure of the host.
    pub fn failure(&self) -> Option<&Failure> {
        self.0.failure.as_ref()
    }

    /// The active calls, innermost first.
    pub fn frames(&self) -> &[StackFrame] {
        &self.0.frames
    }

    /// The calls as messages show them: all; or the innermost, the number of omitted ones, and the
    /// outermost.
    fn calls(&self) -> (&[StackFrame], usize, &[StackFrame]) {
        let frames = &self.0.frames;
        if self.0.omitted == 0 {
            return (frames, 0, &[]);
        }
        let (inner, rest) = frames.split_at(KEPT_FRAMES.min(frames.len()));
        let (between, outer) = rest.split_at(rest.len().saturating_sub(KEPT_FRAMES));
        (inner, self.0.omitted + between.len(), outer)
    }

    /// The innermost known position. Wrong arguments are the caller's mistake.
    pub fn place(&self) -> Pos {
        let skipped = match self.0.blame {
            Blame::Part(pos) => return pos,
            Blame::Call => usize::from(self.0.frames.len() > 1),
            Blame::Innermost => 0,
        };
        let mut places = self.0.frames.iter().skip(skipped).map(|frame| frame.pos);
        places.find(|pos| pos.is_known()).unwrap_or(Pos::UNKNOWN)
    }

    /// Whether it is a limit or a cancellation, which a host must not swallow.
    pub fn is_fatal(&self) -> bool {
        self.0.problem.is_fatal()
    }

    /// Converts the error to a problem of code, with its calls. `is_foreign` recognises positions
    /// whose lines the reference does not show.
    pub fn into_code_problem(self, is_foreign: &dyn Fn(Pos) -> bool) -> CodeProblem {
        let frame = |frame: &StackFrame| ytterby_diag::Frame {
            name: Some(frame.name.to_str().into_owned()),
            pos: frame.pos,
            place: frame.pos,
            is_foreign: is_foreign(frame.pos),
        };
        let (inner, omitted, outer) = self.calls();
        let omitted = (omitted, inner.len());
        let frames = inner.iter().chain(outer).map(frame).collect();
        let place = self.place();
        let hint = self.hint();
        let id = self.0.problem.id();
        let helps = self.helps();
        let prefix = self.prefix();
        let ErrorData { message, failure, string, .. } = *self.0;
        let message = match failure {
            Some(failure) => CodeMessage::Failure(prefix, failure),
            None => CodeMessage::Text(Text::new(prefix + &message)),
        };
        let part = string.map_or(Part::Token, |text| Part::Quoted(text.to_str().into_owned()));
        let label = place.is_known().then(|| Label::new(Role::Problem, place, part));
        CodeProblem { id, message, label, related: Vec::new(), frames, omitted, hint, helps }
    }

    /// Converts the error to a failure without calls.
    pub fn into_failure(self) -> Failure {
        let place = self.place();
        let helps = self.helps();
        let message = self.message().into_owned();
        let ErrorData { problem, contexts, failure, .. } = *self.0;
        match failure {
            Some(failure) => contexts.into_iter().fold(failure, Failure::doing),
            None => Diagnostic::error(problem.id(), message).at(place, Part::Token).helps(helps).into(),
        }
    }

    /// The reference's hint; it has none if the message has a function's name as prefix.
    fn hint(&self) -> Option<&'static str> {
        if !self.0.contexts.is_empty() { None } else { self.0.problem.hint() }
    }

    fn helps(&self) -> Vec<Help> {
        let place = if self.0.contexts.is_empty() { self.place() } else { Pos::UNKNOWN };
        self.0.helps.iter().cloned().chain(advice::helps(&self.0.problem, place)).collect()
    }

    /// Keeps only the innermost and outermost of very many frames: runaway recursion has 200,000 of
    /// them.
    pub(crate) fn push_frame(&mut self, frame: StackFrame) {
        let frames = &mut self.0.frames;
        frames.push(frame);
        if frames.len() > 2 * KEPT_FRAMES + OMITTED_AT_ONCE {
            frames.drain(KEPT_FRAMES..KEPT_FRAMES + OMITTED_AT_ONCE);
            self.0.omitted += OMITTED_AT_ONCE;
        }
    }

    pub(crate) fn set_message(&mut self, message: String) {
        self.0.message = message;
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&Sources::new()))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorData { problem, message, failure, frames, .. } = &*self.0;
        let mut shown = f.debug_struct("Error");
        shown.field("problem", problem).field("message", message);
        shown.field("failure", failure).field("frames", frames).finish()
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(message: String) -> Error {
        Error::new(message)
    }
}

impl From<Exceeded> for Error {
    #[cold]
    #[inline(never)]
    fn from(exceeded: Exceeded) -> Error {
        let problem = exceeded.limit().map_or(Problem::Cancelled, Problem::Limit);
        Error::of(problem, exceeded.to_string())
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Failure {
        error.into_failure()
    }
}

impl From<Failure> for Error {
    #[cold]
    fn from(failure: Failure) -> Error {
        let mut error = Error::of(Problem::of_failure(&failure), "");
        error.0.failure = Some(failure);
        error
    }
}

/// Formats the message here and not in the failing function, to keep that small.
#[cold]
#[inline(never)]
pub(crate) fn failed(problem: Problem, message: fmt::Arguments<'_>) -> Error {
    Error::of(problem, message.to_string())
}

/// The same for an error about a value.
#[cold]
#[inline(never)]
pub(crate) fn failed_value(message: fmt::Arguments<'_>) -> Error {
    failed(Problem::Value, message)
}

/// Returns from a function with a formatted error. The problem comes first; the default is
/// [`Problem::Value`].
macro_rules! fail {
    ($problem:ident, $($arg:tt)*) => {
        return Err($crate::error::failed($crate::Problem::$problem, format_args!($($arg)*)))
    };
    ($($arg:tt)*) => {
        return Err($crate::error::failed_value(format_args!($($arg)*)))
    };
}
pub(crate) use fail;
