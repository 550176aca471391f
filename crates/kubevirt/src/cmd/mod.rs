//! `ytterby kubevirt …`: the command line around the library.
//!
//! [`main`] parses arguments, asks a [`Host`] for files and writes what the library finds. Exit codes: 0 all is well, 1 rules
//! are broken or lint found errors, 2 something could not be read or the command was misused.

mod args;
mod explain;
mod export;
mod lint;
mod load;
mod output;
mod report;
#[cfg(feature = "server")]
mod serve;
mod validate;
mod world;

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use args::{Args, Command};

/// What the commands need from the world.
pub trait Host {
    /// The content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// All of standard input.
    fn stdin(&self) -> io::Result<Vec<u8>>;
    /// The paths in a directory, in any order; nothing if the path is no directory. Links to other directories are not
    /// among them: they can lead in circles.
    fn entries(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>>;
    /// Replaces the content of a file; only `lint --fix` does.
    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()>;
    /// What looks up the addresses of a host; only `serve` does.
    fn resolver(&self) -> fn(&str, u16) -> io::Result<Vec<SocketAddr>> {
        |host, port| (host, port).to_socket_addrs().map(Iterator::collect)
    }
}

/// Everything is well.
const OK: i32 = 0;
/// Rules are broken.
const BROKEN: i32 = 1;
/// Something could not be read, or the command was misused.
const UNREADABLE: i32 = 2;

/// What is said of a wrong folder.
const NOTHING: &str = "there is no VirtualMachine and no Template in the input";

const HELP: &str = "\
Check VirtualMachines against the rules of their templates (vm.kubevirt.io/validations)

Usage:
  {program} kubevirt validate [-t TEMPLATE]... [-p NAME=VALUE]... FILE...
  {program} kubevirt lint [--fix] FILE...
  {program} kubevirt export cel FILE...
  {program} kubevirt explain [--rule NAME] FILE...
  {program} kubevirt serve [OPTION]...

FILE is a file, a directory (searched for .yaml, .yml and .json) or - for standard input.
The options of serve are others; its own help tells them.

Options:
  -o, --output FORMAT       text, json, sarif, junit or github (validate, lint)
  -t, --template FILE       look templates up here; their own VMs are not checked (validate, explain)
  -p, --param NAME=VALUE    set a parameter of templates
      --instancetype FILE   instance types and preferences that VMs refer to
      --field-validation X  unknown fields and wrong types in VMs: ignore, warn (default) or strict (validate)
      --compat ssp          evaluate as the reference validator of ssp-operator does
      --fail-on-warn        exit with 1 on warnings, too
      --fix                 straighten quotes and add missing prefixes in place (lint)
      --rule NAME           explain only this rule
      --name NAME           name of the policies that are exported
  -h, --help                show this text

Exit codes: 0 valid, 1 rules are broken, 2 something cannot be read.
";

/// Runs a command; `args` are those behind `kubevirt`, `program` is the name for messages. Returns the exit code.
pub fn main(program: &str, args: &[OsString], host: &dyn Host, stdout: &mut dyn Write, stderr: &mut dyn Write) -> i32 {
    let result = match Args::parse(args) {
        _ if args.first().is_some_and(|command| command == "serve") => serve(program, &args[1..], host, stdout),
        Ok(args) => match args.command.filter(|_| !args.help) {
            Some(Command::Validate) => validate::run(&args, host, stdout),
            Some(Command::Lint) => lint::run(&args, host, stdout, stderr),
            Some(Command::Export) => export::run(&args, host, stdout, stderr),
            Some(Command::Explain) => explain::run(&args, host, stdout, stderr),
            None => write_help(program, stdout),
        },
        Err(usage) => Err(Failure::Usage(usage)),
    };
    match result {
        Ok(code) => code,
        // A closed pipe is nobody's fault and there is nobody to tell.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => OK,
        Err(Failure::Output(error)) => {
            let _ = writeln!(stderr, "{program}: Error: Writing output: {error}");
            UNREADABLE
        }
        Err(Failure::Usage(text)) => {
            let _ = writeln!(stderr, "{program}: Error: {text}\n(see `{program} kubevirt --help`)");
            UNREADABLE
        }
    }
}

#[cfg(feature = "server")]
fn serve(program: &str, args: &[OsString], host: &dyn Host, stdout: &mut dyn Write) -> Result<i32, Failure> {
    serve::run(program, args, host, stdout)
}

#[cfg(not(feature = "server"))]
fn serve(_: &str, _: &[OsString], _: &dyn Host, _: &mut dyn Write) -> Result<i32, Failure> {
    Err(Failure::Usage("This program was built without the server (feature `server`)".to_owned()))
}

fn write_help(program: &str, stdout: &mut dyn Write) -> Result<i32, Failure> {
    stdout.write_all(HELP.replace("{program}", program).as_bytes())?;
    Ok(OK)
}

/// Why a command could not be carried out.
#[derive(Debug)]
enum Failure {
    Usage(String),
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}
