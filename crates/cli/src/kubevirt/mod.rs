//! `ytterby kubevirt …`: the commands around `ytterby-kubevirt`.
//!
//! [`run`] gives a command its files through a [`Host`] and writes what the library finds. Exit
//! codes: 0 success, 1 rules are violated or lint found errors, 2 something could not be read or
//! the command line is wrong.

mod args;
mod commands;
mod disk;
mod explain;
mod export;
mod flag;
mod lint;
mod load;
mod output;
mod report;
#[cfg(feature = "server")]
mod serve;
#[cfg(test)]
mod tests;
mod validate;
mod world;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ytterby_diag::{Id, Sources};
use ytterby_text::budget;

use crate::flags::Invocation;
use args::KubevirtArgs;
pub(crate) use commands::KUBEVIRT;
use disk::Disk;

/// The system as the commands see it; tests replace it.
trait Host {
    /// The content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// All of standard input.
    fn stdin(&self) -> io::Result<Vec<u8>>;
    /// The paths in a directory, in any order; `None` if the path is no directory. Links to
    /// directories are left out because they can form cycles.
    fn entries(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>>;
    /// Replaces the content of a file; only `lint --fix` uses it.
    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()>;
}

/// Success.
const OK: i32 = 0;
/// Rules are violated.
const BROKEN: i32 = 1;
/// Something could not be read, or the command line is wrong.
const UNREADABLE: i32 = 2;

/// The message for input without objects to check.
const NOTHING: &str = "there is no VirtualMachine and no Template in the input";

/// Runs the command of an invocation: findings go to standard output. Returns the exit code.
pub(crate) fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, ytterby_diag::Failure> {
    let mut output = LimitedOutput::default();
    // Not locked, because the threads of `serve` write there, too.
    let code = call(program, flags, &Disk, sources, &mut output, &mut io::stderr());
    let code = code.and_then(|code| {
        within_limits()?;
        let mut stdout = io::stdout().lock();
        Ok(stdout.write_all(&output.0).and_then(|()| stdout.flush()).map(|()| code)?)
    });
    match code {
        Ok(code) => Ok(code),
        // A closed pipe is not an error of this program.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(OK),
        Err(Failure::Output(error)) => {
            let text = format!("Writing output: {}", crate::read::io_text(&error));
            Err(ytterby_diag::Failure::new(Id::FILE_WRITE, text))
        }
        Err(Failure::Usage(failure)) => Err(*failure),
    }
}

fn call(
    program: &str,
    flags: &Invocation,
    host: &dyn Host,
    sources: &Arc<Sources>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<i32, Failure> {
    match flags.command().name {
        #[cfg(feature = "server")]
        "serve" => serve::run(program, flags, host),
        "cel" => export::run(&KubevirtArgs::read(flags, sources)?, host, stdout, stderr),
        "explain" => explain::run(&KubevirtArgs::read(flags, sources)?, host, stdout, stderr),
        "lint" => lint::run(&KubevirtArgs::read(flags, sources)?, host, stdout, stderr),
        "validate" => validate::run(&KubevirtArgs::read(flags, sources)?, host, stdout),
        name => unreachable!("kubevirt has no command {name}"),
    }
}

/// The output of a command, kept until the command is done: a command that reaches a limit writes
/// nothing.
#[derive(Default)]
struct LimitedOutput(Vec<u8>);

impl Write for LimitedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let charged = budget::text(bytes.len()).and_then(|()| budget::output(bytes.len()));
        charged.map_err(|exceeded| io::Error::other(exceeded.to_string()))?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The reason that a command could not be run.
#[derive(Debug)]
enum Failure {
    Usage(Box<ytterby_diag::Failure>),
    Output(io::Error),
}

/// Fails if a limit of the command was reached, because the results are then incomplete.
fn within_limits() -> Result<(), Failure> {
    budget::check().map_err(|exceeded| Failure::Usage(Box::new(exceeded.into())))
}

/// An error of the command line.
fn usage(id: Id, text: impl Into<String>) -> Failure {
    Failure::Usage(Box::new(ytterby_diag::Failure::new(id, text.into())))
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}
