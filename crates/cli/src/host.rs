//! Standard output and error.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};

use ytterby_diag::render::{Colour, Rendering, note};
use ytterby_diag::{Failure, Id};

use crate::commands::flag::COLOR;

/// Receives `print()` and debug output of the engine and writes it to standard error at once, so
/// that it is visible even if a run is stopped. With `--diagnostics` for programs, it has the same
/// format as the diagnostics.
#[derive(Default)]
pub struct Terminal {
    rendering: Rendering,
    /// Output that waits for the end, because the format is one document.
    printed: RefCell<String>,
}

impl Terminal {
    /// Writes in the format of the diagnostics.
    pub fn new(rendering: Rendering) -> Terminal {
        Terminal { rendering, printed: RefCell::default() }
    }

    /// Removes and returns the output that waits for the end.
    pub fn take_printed(&self) -> String {
        self.printed.take()
    }

    fn say(&self, kind: &str, text: &str) {
        match self.rendering {
            Rendering::Json => write_error(&note(kind, text.strip_suffix('\n').unwrap_or(text))),
            rendering if rendering.is_one_document() => self.printed.borrow_mut().push_str(text),
            _ => write_error(text),
        }
    }
}

impl ytterby::Host for Terminal {
    fn print(&self, text: &[u8]) {
        match self.rendering {
            rendering if rendering == Rendering::Json || rendering.is_one_document() => {
                self.say("print", &String::from_utf8_lossy(text));
            }
            _ => _ = io::stderr().write_all(text),
        }
    }

    fn debug(&self, text: &str) {
        self.say("debug", text);
    }
}

/// Writes to standard error. Failures are ignored: there is nowhere left to report them.
pub fn write_error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes the result. If the reader closes the pipe (`| head`), ends the program quietly, with the
/// exit code that a shell shows after SIGPIPE.
pub fn write_output(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(141),
        Err(error) => Err(Failure::new(Id::FILE_WRITE, format!("write /dev/stdout: {}", crate::read::io_text(&error)))),
    }
}

/// The width of the terminal on standard error, if known.
pub fn width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.filter(|columns| *columns > 0).or_else(terminal_width)
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    None
}

/// Whether standard error is a terminal.
pub fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// The value of `--color`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ColourWish {
    /// Only on terminals, unless the environment decides.
    #[default]
    Auto,
    Always,
    Never,
}

/// Reads the value of `--color`.
///
/// # Errors
/// If the value is unknown.
pub fn colour_wish(given: Option<&str>) -> Result<ColourWish, Failure> {
    let Some(name) = given.filter(|name| !name.is_empty()) else { return Ok(ColourWish::Auto) };
    COLOR.find(name).ok_or_else(|| {
        let text = format!("Unknown value '{name}' of --color (expected {})", COLOR.expected());
        Failure::new(Id::FLAG_VALUE, text)
    })
}

/// Whether to use colours: first `--color` decides, then the environment, then the terminal.
pub fn colour(wish: ColourWish) -> Colour {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_forced = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let is_on = match wish {
        ColourWish::Always => true,
        ColourWish::Never => false,
        ColourWish::Auto => {
            let is_refused = is_set("NO_COLOR");
            let is_wanted = is_forced("FORCE_COLOR") || is_forced("CLICOLOR_FORCE");
            !is_refused && (is_wanted || is_terminal() && !is_dumb())
        }
    };
    if is_on { Colour::Ansi } else { Colour::Off }
}
