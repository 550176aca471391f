//! The `ytterby` command: flags, reading, writing, subcommands.
//!
//! All effects on the system are here; the engine only transforms bytes.

mod build;
mod bulk;
mod check;
mod commands;
mod completion;
mod explain;
mod flags;
mod fmt;
mod generate;
mod help;
mod host;
mod init;
mod kubernetes;
mod kubevirt;
mod limits;
mod lsp;
mod profile;
mod project;
mod read;
mod render;
mod report;
mod schema;
mod source_map;
mod test;
mod watch;
mod write;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::commands::flag;
use completion::Descriptions;
use flags::{Flag, HELP, Invocation, Operands};
use ytterby::Failure;
use ytterby_diag::{Diagnostic, Help, Id, Sources};
use ytterby_text::quote::quote;
use ytterby_text::spelling;

/// Renders and other commands that end take small blocks from memory that is not returned to the
/// system.
#[global_allocator]
static ALLOCATOR: ytterby_alloc::RunAllocator = ytterby_alloc::RunAllocator;

/// Stack size for recursive functions, which limit their depth. Pages are committed on first use.
const STACK: usize = 512 << 20;

fn main() {
    let program = program_name();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let panic_text = watch_panics();
    // A grown stack rather than a thread with a large one: 0.1 ms of CPU time less at start-up.
    let exit = panic::catch_unwind(AssertUnwindSafe(|| stacker::grow(STACK, || run(&program, args))));
    let exit = exit.unwrap_or_else(|_| {
        let text = panic_text.lock().map(|text| text.clone()).unwrap_or_default();
        host::write_error(&format!("{program}: Error: {text}\n"));
        1
    });
    std::process::exit(exit);
}

/// Runs a command line and returns the exit code.
fn run(program: &str, args: Vec<OsString>) -> i32 {
    let sources = Arc::new(Sources::new());
    let words = flags::words(args.iter().cloned());
    let result = words.and_then(|words| dispatch(program, &flags::parse(&commands::ROOT, words, &sources)?, &sources));
    result.unwrap_or_else(|failure| {
        let words: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let given = |flag: &Flag| flags::value_of(&commands::ROOT, &words, flag);
        report::error(program, &given, &failure, &sources);
        failure_code(&words, &failure)
    })
}

/// The exit code of a command that could not be run. It is 2 for commands that use 1 for problems
/// in what they check, except for limits, which end every command with 1.
fn failure_code(words: &[String], failure: &Failure) -> i32 {
    if failure.diagnostics().iter().any(|diagnostic| diagnostic.id.limit().is_some()) {
        return 1;
    }
    let path = flags::read_line(&commands::ROOT, words).path;
    if path.get(1).is_some_and(|command| matches!(command.name, "kubevirt" | "test")) { 2 } else { 1 }
}

fn dispatch(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let command = flags.command();
    let done = |text: String| host::write_output(text.as_bytes()).map(|()| 0);
    if flags.is_on(&HELP) {
        return done(help::short(program, &flags.path));
    }
    if flags.is_on(&flag::VERSION) {
        return done(version(program, flags)?);
    }
    if let (Operands::None, Some(extra)) = (command.operands, flags.operands.first())
        && command.commands.is_empty() | command.name.is_empty()
    {
        let name = help::command_name(program, &flags.path);
        let text = match flags.path.get(1) {
            Some(command) if command.name == "completion" => {
                format!("unknown command {} for \"{name}\"", quote(extra.as_bytes()))
            }
            _ => format!("command '{name}' does not accept extra arguments '{extra}'"),
        };
        let problem = Diagnostic::error(Id::FLAG_OPERAND, text);
        let is_file = command.all_flags().any(|flag| flag.name == "file") && Path::new(extra).exists();
        let file = is_file.then(|| Help::new(format!("files are given by -f: {name} -f {extra}")));
        let near = || spelling::nearest(extra, command.commands.iter().map(|command| command.name));
        let advice = file.or_else(|| near().map(|near| Help::new(format!("did you mean the command {name} {near}?"))));
        return Err(problem.helps(advice).into());
    }
    let names: Vec<&str> = flags.path.iter().skip(1).map(|command| command.name).collect();
    if !matches!(names[..], ["lsp" | "watch"] | ["kubevirt", "serve"]) {
        ytterby_alloc::use_on_this_thread();
    }
    match names[..] {
        [] | ["template"] => render::run(program, flags, sources),
        ["build"] => build::run(program, flags, sources),
        ["fmt"] => limits::within(flags, sources, || fmt::run(program, flags, sources)),
        ["init"] => init::run(program, flags, sources),
        ["lsp"] => lsp::run(),
        ["check"] => check::run(program, flags, sources),
        ["explain"] => explain::run(program, flags, sources),
        ["gen"] => generate::run(program, flags, sources),
        ["test"] => test::run(program, flags, sources),
        ["watch"] => watch::run(program, flags),
        ["version"] => done(version(program, flags)?),
        ["kubernetes", "validate"] => {
            let rendering = report::rendering(program, flags)?;
            limits::within(flags, sources, || kubernetes::run(program, flags, rendering, sources))
        }
        // It has limits per review.
        ["kubevirt", "serve"] => kubevirt::run(program, flags, sources),
        ["kubevirt", "explain" | "lint" | "validate"] | ["kubevirt", "export", "cel"] => {
            limits::within(flags, sources, || kubevirt::run(program, flags, sources))
        }
        ["schema", "diff"] => schema::diff(program, flags, sources),
        ["schema", "project"] => done(ytterby_project::json_schema()),
        ["schema", "import"] => limits::within(flags, sources, || schema::import(program, flags, sources)),
        ["help"] => help::answer(program, flags).and_then(done),
        ["completion", shell] => completion_script(program, shell, flags),
        ["__complete"] => completion::answer(&commands::ROOT, &flags.operands, Descriptions::Shown).and_then(done),
        ["__completeNoDesc"] => {
            completion::answer(&commands::ROOT, &flags.operands, Descriptions::Hidden).and_then(done)
        }
        // A command that only has subcommands.
        _ if !command.commands.is_empty() => match flags.operands.first() {
            // `completion` is the reference's only such command; it shows its help for any operand.
            Some(word) if command.name != "completion" => Err(help::unknown_command(program, &flags.path, word)),
            _ => done(help::short(program, &flags.path)),
        },
        _ => {
            let text = format!("{} is not implemented", help::command_name(program, &flags.path));
            Err(Failure::new(Id::INTERNAL_BUG, text))
        }
    }
}

fn completion_script(program: &str, shell: &str, flags: &Invocation) -> Result<i32, Failure> {
    let question = if flags.is_on(&flag::NO_DESCRIPTIONS) { "__completeNoDesc" } else { "__complete" };
    host::write_output(completion::script(shell, program, question).as_bytes()).map(|()| 0)
}

/// Scripts that ask ytt for its version get its text, with `--compat=ytt` or if the program is
/// called `ytt`.
fn version(program: &str, flags: &Invocation) -> Result<String, Failure> {
    let compat = render::compat(program, flags)?;
    let ytt = compat.ytt_version();
    Ok(match compat.is_ytt_only() || program == "ytt" {
        true => format!("ytt version {ytt}\n"),
        false => format!("ytterby version {} (ytt {ytt})\n", env!("CARGO_PKG_VERSION")),
    })
}

/// The name that the program was started by.
fn program_name() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&path).file_name().map(|name| name.to_string_lossy().trim_end_matches(".exe").to_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "ytterby".to_owned())
}

/// Records panics. A panic is a bug of ours; the run ends with an error that asks for a report,
/// without a trace.
fn watch_panics() -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&text);
    panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let what = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown");
        let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
        if let Ok(mut noted) = noted.lock() {
            *noted = format!("Internal error: {what}{place}; please report it with the input");
        }
    }));
    text
}
