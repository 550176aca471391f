//! What goes wrong in a running program.
//!
//! An [`Error`] gathers its frames while it travels outwards, so making one costs nothing but its message. Problems
//! found before a program runs are [`crate::SyntaxError`]s.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_text::Str;

/// One call that was going on when an error happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The function's name; `<toplevel>` for the body of a module, `lambda` for a lambda.
    pub name: Str,
    /// Where it was; unknown for functions none of whose instructions has a place.
    pub pos: Pos,
}

/// What sort of error it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The program did something that it must not do.
    Eval,
    /// An attribute does not exist; the VM adds a hint where a similar name does.
    NoSuchAttr,
    /// A limit set by the host was reached.
    Limit,
    /// The host asked to stop.
    Cancelled,
}

const KEPT_FRAMES: usize = 100;
const OMITTED_AT_ONCE: usize = 1000;

/// An error of a running program, with the calls that led to it. As small as a pointer.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    message: String,
    kind: ErrorKind,
    frames: Vec<Frame>,
    /// How many were left out behind the first [`KEPT_FRAMES`].
    omitted: usize,
    hint: Option<String>,
    payload: Option<Rc<dyn Any>>,
}

impl Error {
    /// An error with this message and no frames yet.
    #[cold]
    pub fn new(message: impl Into<String>) -> Error {
        Error::of_kind(ErrorKind::Eval, message)
    }

    /// An error of a given kind.
    #[cold]
    pub fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            message: message.into(),
            kind,
            frames: Vec::new(),
            omitted: 0,
            hint: None,
            payload: None,
        }))
    }

    /// The error with a structured error of the host inside.
    pub fn with_payload(mut self, payload: Rc<dyn Any>) -> Error {
        self.0.payload = Some(payload);
        self
    }

    /// The error with something to try, which is no part of its message.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint = Some(hint.into());
        self
    }

    /// What to try.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The error with `name: ` in front of its message, and without frames: those of the caller count, as for an
    /// error that is newly made there. The payload and the kind stay.
    pub fn in_context(mut self, name: impl fmt::Display) -> Error {
        self.0.message = format!("{name}: {}", self.0.message);
        self.0.frames.clear();
        self.0.omitted = 0;
        self
    }

    /// The error with one more call around it, for functions of the host that stand for code.
    pub fn with_frame(mut self, frame: Frame) -> Error {
        self.push_frame(frame);
        self
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The sort of error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The calls that were going on, innermost first.
    pub fn frames(&self) -> &[Frame] {
        &self.0.frames
    }

    /// The same as messages show them: all of them, or the innermost, how many there are in between, and the outermost.
    pub fn calls(&self) -> (&[Frame], usize, &[Frame]) {
        let frames = &self.0.frames;
        if self.0.omitted == 0 {
            return (frames, 0, &[]);
        }
        let (inner, rest) = frames.split_at(KEPT_FRAMES.min(frames.len()));
        let (between, outer) = rest.split_at(rest.len().saturating_sub(KEPT_FRAMES));
        (inner, self.0.omitted + between.len(), outer)
    }

    /// The host's structured error, if one travels inside.
    pub fn payload(&self) -> Option<&Rc<dyn Any>> {
        self.0.payload.as_ref()
    }

    /// Whether the program could do nothing about it: a limit or a request to stop, which a host must not swallow.
    pub fn is_fatal(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Limit | ErrorKind::Cancelled)
    }

    /// Of very many frames only the innermost and outermost are kept: runaway recursion has 200,000 of them.
    pub(crate) fn push_frame(&mut self, frame: Frame) {
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
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("message", &self.0.message).field("frames", &self.0.frames).finish()
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(message: String) -> Error {
        Error::new(message)
    }
}

/// Leaves a function with an error whose message is formatted.
macro_rules! fail {
    ($($arg:tt)*) => {
        return Err($crate::Error::new(format!($($arg)*)))
    };
}
pub(crate) use fail;
