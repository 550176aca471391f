//! The help of a command: `--help` is short, `ytterby help COMMAND` complete.
//!
//! Both are made of the rows of the table of commands and fit 80 columns, so help needs no text of
//! its own. The short one shows only the flags that most users look for; `help::examples` names
//! them, beside an example of the command.

use std::fmt::Write;

use super::examples::{self, Example};
use super::wrap;
use crate::flags::{Command, Flag, FlagKind, HELP, Operands};

/// Maximum width of the column of flags; the text of longer ones begins on the next line.
const FLAG_COLUMN: usize = 34;
const WIDTH: usize = 80;

/// The help of the last command on `path`: its purpose, an example, and its most common flags.
pub fn short(program: &str, path: &[&Command]) -> String {
    let Some((&command, _)) = path.split_last() else { return String::new() };
    let example = examples::of(path);
    let mut out = beginning(program, path);
    push_examples(&mut out, program, example);
    push_commands(&mut out, command);
    let all = command.all_flags().count();
    let named = |name: &&str| command.all_flags().find(|flag| flag.name == *name);
    let flags: Vec<&Flag> = match example.common {
        [] => command.all_flags().collect(),
        names => names.iter().filter_map(named).chain([&HELP.0]).collect(),
    };
    out.push_str(if flags.len() < all { "\nMost used flags:\n" } else { "\nFlags:\n" });
    let width = column_width(flags.iter().copied());
    push_flags(&mut out, flags.iter().copied(), width);
    let topic = if path.len() == 1 { "render".to_owned() } else { names(path) };
    if flags.len() < all {
        let _ = write!(out, "\n\"{program} help {topic}\" shows all {all} flags");
        out.push_str(if path.len() == 1 { ",\n" } else { ".\n" });
    }
    if path.len() == 1 {
        let _ = writeln!(out, "\"{program} help COMMAND\" explains a command, \"{program} help\" lists the manual.");
    }
    out
}

/// Everything about the last command on `path`; the first is the program itself.
pub fn long(program: &str, path: &[&Command]) -> String {
    let Some((&command, _)) = path.split_last() else { return String::new() };
    let mut out = beginning(program, path);
    push_examples(&mut out, program, examples::of(path));
    push_commands(&mut out, command);
    // One column for all groups.
    let width = column_width(command.all_flags());
    for group in command.flags {
        let _ = writeln!(out, "\n{}:", group.title);
        push_flags(&mut out, group.flags, width);
    }
    // The help flag joins the last group if that is a general one.
    if command.flags.last().is_none_or(|group| !matches!(group.title, "Flags" | "Other")) {
        out.push_str(if command.flags.is_empty() { "\nFlags:\n" } else { "\nOther:\n" });
    }
    push_flags(&mut out, [&HELP.0], width);
    if let Some(page) = examples::of(path).page.filter(|page| *page != names(path)) {
        let _ = writeln!(out, "\n\"{program} help {page}\" is the page of the manual.");
    }
    out
}

/// Example: `ytterby completion bash`.
pub fn command_name(program: &str, path: &[&Command]) -> String {
    format!("{program} {}", names(path)).trim_end().to_owned()
}

fn names(path: &[&Command]) -> String {
    path.iter().skip(1).map(|command| command.name).collect::<Vec<_>>().join(" ")
}

/// The usage lines, without the program's name.
pub fn usages(path: &[&Command]) -> Vec<String> {
    let Some((&command, _)) = path.split_last() else { return Vec::new() };
    let name = names(path);
    let mut usages: Vec<String> = match command.operands {
        Operands::None if command.commands.is_empty() || path.len() == 1 => vec![format!("{name} [flags]")],
        Operands::None => Vec::new(),
        Operands::Some(operands) => vec![format!("{name} [flags] {operands}")],
        Operands::Raw(operands) => vec![format!("{name} {operands}")],
    };
    if !command.commands.is_empty() && !matches!(command.operands, Operands::Raw(_)) {
        usages.push(format!("{name} [command]"));
    }
    usages.iter().map(|usage| usage.trim_start().to_owned()).collect()
}

fn beginning(program: &str, path: &[&Command]) -> String {
    let Some((&command, _)) = path.split_last() else { return String::new() };
    let mut out = format!("{}.\n", command.summary);
    if !command.details.is_empty() {
        wrap::push(&mut out, command.details, "", "", WIDTH);
    }
    out.push_str("\nUsage:\n");
    for usage in usages(path) {
        let _ = writeln!(out, "  {program} {usage}");
    }
    out
}

fn push_examples(out: &mut String, program: &str, example: &Example) {
    if !example.lines.is_empty() {
        out.push_str(if example.lines.len() == 1 { "\nExample:\n" } else { "\nExamples:\n" });
    }
    for line in example.lines {
        let _ = writeln!(out, "  {program} {line}");
    }
}

fn push_commands(out: &mut String, command: &Command) {
    if command.commands.is_empty() {
        return;
    }
    out.push_str("\nCommands:\n");
    let shown = || command.commands.iter().filter(|command| !command.is_hidden());
    let width = shown().map(|command| command.name.len()).max().unwrap_or(0);
    for command in shown() {
        let _ = writeln!(out, "  {:width$}  {}", command.name, command.summary);
    }
}

/// The width of the column of flags: that of the longest flag within the limit.
fn column_width<'f>(flags: impl IntoIterator<Item = &'f Flag>) -> usize {
    let lengths = flags.into_iter().map(|flag| flag_column(flag).chars().count());
    lengths.filter(|length| *length <= FLAG_COLUMN).max().unwrap_or(FLAG_COLUMN)
}

fn push_flags<'f>(out: &mut String, flags: impl IntoIterator<Item = &'f Flag>, width: usize) {
    for flag in flags {
        let column = flag_column(flag);
        let others = " ".repeat(width + 2);
        if column.chars().count() > width {
            let _ = writeln!(out, "{column}");
            wrap::push(out, flag.help, &others, &others, WIDTH);
        } else {
            wrap::push(out, flag.help, &format!("{column:width$}  "), &others, WIDTH);
        }
    }
}

/// Example: `  -f, --file path`.
pub fn flag_column(flag: &Flag) -> String {
    let short = flag.short.map_or("    ".to_owned(), |short| format!("-{short}, "));
    match flag.kind.value_name() {
        Some(value) => format!("  {short}--{} {value}", flag.name),
        None => match flag.kind {
            FlagKind::Optional(value) => format!("  {short}--{}[={value}]", flag.name),
            _ => format!("  {short}--{}", flag.name),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::ROOT;

    fn check(path: &[&Command]) {
        for text in [short("ytterby", path), long("ytterby", path)] {
            let wide = text.lines().find(|line| line.chars().count() > WIDTH);
            assert_eq!(wide, None, "{}", names(path));
        }
        let command = path[path.len() - 1];
        for command in command.commands.iter().filter(|command| !command.is_hidden()) {
            check(&[path, &[command]].concat());
        }
    }

    #[test]
    fn help_fits_80_columns() {
        check(&[&ROOT]);
    }
}
