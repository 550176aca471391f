//! The text of `--help`.

use std::fmt::Write;

use ytterby_diag::{Diagnostic, Failure, Id};
use ytterby_text::quote::quote;
use ytterby_text::spelling;

use crate::flags::{Command, Flag, FlagKind, HELP, Operands};

/// The help of the last command on `path`; the first is the program itself.
pub fn help(program: &str, path: &[&Command]) -> String {
    let Some((&command, _)) = path.split_last() else { return String::new() };
    let name = command_name(program, path);
    let mut out = format!("{}.\n", command.summary);
    if !command.details.is_empty() {
        let _ = writeln!(out, "{}", command.details);
    }
    out.push_str("\nUsage:\n");
    match command.operands {
        Operands::None if command.commands.is_empty() || path.len() == 1 => {
            let _ = writeln!(out, "  {name} [flags]");
        }
        Operands::None => {}
        Operands::Some(operands) => {
            let _ = writeln!(out, "  {name} [flags] {operands}");
        }
        Operands::Raw(operands) => {
            let _ = writeln!(out, "  {name} {operands}");
        }
    }
    if !command.commands.is_empty() {
        if !matches!(command.operands, Operands::Raw(_)) {
            let _ = writeln!(out, "  {name} [command]");
        }
        out.push_str("\nCommands:\n");
        let shown = || command.commands.iter().filter(|command| !command.is_hidden());
        let width = shown().map(|command| command.name.len()).max().unwrap_or(0);
        for command in shown() {
            let _ = writeln!(out, "  {:width$}  {}", command.name, command.summary);
        }
    }
    push_flags(&mut out, command);
    if !command.commands.is_empty() {
        let _ = writeln!(out, "\n\"{name} [command] --help\" says more about a command.");
    }
    out
}

/// Says that the last command on `path` has no such subcommand, and which one could be meant.
pub fn unknown_command(program: &str, path: &[&Command], word: &str) -> Failure {
    let name = command_name(program, path);
    let known = path.last().map_or(&[][..], |command| command.commands).iter().filter(|command| !command.is_hidden());
    let near = spelling::nearest(word, known.map(|command| command.name));
    let hint = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    Failure::new(Id::FLAG_UNKNOWN, format!("unknown command {} for \"{name}\"{hint}", quote(word.as_bytes())))
}

/// The page of an error id.
pub fn of_id(name: &str) -> Result<String, Failure> {
    if let Some(id) = Id::find(name) {
        return Ok(ytterby_diag::render::help(id));
    }
    let problem = Diagnostic::error(Id::FLAG_OPERAND, format!("unknown error id \"{name}\""));
    let names = Id::all().iter().map(|id| id.name());
    Err(match spelling::closest(name, names, spelling::tolerance(name).max(2)) {
        Some(near) => {
            // In ytt's text there is no other place for the remedy.
            let reference = format!("unknown error id \"{name}\"; did you mean \"{near}\"?");
            problem.reference(reference).help(format!("did you mean \"{near}\"?"))
        }
        None => problem.help("docs/errors.md lists all ids"),
    }
    .into())
}

/// `ytterby completion bash`.
pub fn command_name(program: &str, path: &[&Command]) -> String {
    let names = path.iter().skip(1).map(|command| command.name);
    std::iter::once(program).chain(names).collect::<Vec<_>>().join(" ")
}

fn push_flags(out: &mut String, command: &Command) {
    let width = command.all_flags().map(|flag| flag_column(flag).len()).max().unwrap_or(0);
    for group in command.flags {
        let _ = writeln!(out, "\n{}:", group.title);
        group.flags.iter().for_each(|flag| push_flag(out, flag, width));
    }
    // The help flag joins the last group unless that has a theme of its own.
    if command.flags.last().is_none_or(|group| !matches!(group.title, "Flags" | "Other")) {
        out.push_str(if command.flags.is_empty() { "\nFlags:\n" } else { "\nOther:\n" });
    }
    push_flag(out, &HELP, width);
}

fn push_flag(out: &mut String, flag: &Flag, width: usize) {
    let _ = writeln!(out, "{:width$}  {}", flag_column(flag), flag.help);
}

fn flag_column(flag: &Flag) -> String {
    let short = flag.short.map_or("    ".to_owned(), |short| format!("-{short}, "));
    match flag.kind.value_name() {
        Some(value) => format!("  {short}--{} {value}", flag.name),
        None => match flag.kind {
            FlagKind::Optional(value) => format!("  {short}--{}[={value}]", flag.name),
            _ => format!("  {short}--{}", flag.name),
        },
    }
}
