//! Standard output and error.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};

use ytterby_diag::render::{Colour, Rendering, note};

/// The engine's voice: `print()` and debug output go to standard error at once, so that they show up even if a run is
/// stopped. Where a program reads standard error, they take the form that it reads.
#[derive(Default)]
pub struct Terminal {
    rendering: Rendering,
    /// What waits for the end, since the form is one whole.
    printed: RefCell<String>,
}

impl Terminal {
    /// A voice that speaks in the form of the diagnostics.
    pub fn new(rendering: Rendering) -> Terminal {
        Terminal { rendering, printed: RefCell::default() }
    }

    /// What was kept back.
    pub fn take_printed(&self) -> String {
        self.printed.take()
    }

    fn say(&self, kind: &str, text: &str) {
        match self.rendering {
            Rendering::Json => write_error(&note(kind, text.strip_suffix('\n').unwrap_or(text))),
            Rendering::Sarif => self.printed.borrow_mut().push_str(text),
            Rendering::Text | Rendering::Rich(_) | Rendering::Github => write_error(text),
        }
    }
}

impl ytterby::Host for Terminal {
    fn print(&self, text: &[u8]) {
        match self.rendering {
            Rendering::Json | Rendering::Sarif => self.say("print", &String::from_utf8_lossy(text)),
            _ => _ = io::stderr().write_all(text),
        }
    }

    fn debug(&self, text: &str) {
        self.say("debug", text);
    }
}

/// Writes to standard error. If that is gone, there is nobody to tell.
pub fn write_error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes the result. A reader that has seen enough (`| head`) ends the program quietly, with the exit code that a shell
/// shows for a program ended by SIGPIPE.
pub fn write_output(bytes: &[u8]) -> Result<(), String> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(141),
        Err(error) => Err(format!("write /dev/stdout: {}", crate::read::io_text(&error))),
    }
}

/// Colour for terminals whose user did not say no.
pub fn colour() -> Colour {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if !refused && io::stderr().is_terminal() { Colour::Ansi } else { Colour::Off }
}
