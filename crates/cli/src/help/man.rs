//! Manual pages for `man`, from the table of commands: `ytterby help --man build | man -l -`.

use std::fmt::Write;

use super::command::{command_name, flag_column, usages};
use super::examples;
use crate::flags::{Command, HELP};

/// The manual page of the last command on `path`, in roff.
pub fn page(program: &str, path: &[&Command]) -> String {
    let Some((&command, _)) = path.split_last() else { return String::new() };
    let name = command_name(program, path).replace(' ', "-");
    let mut out = format!(
        ".TH {} 1 \"\" \"{program} {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
        text(&name.to_uppercase()),
        env!("CARGO_PKG_VERSION"),
        text(&name),
        text(command.summary)
    );
    for usage in usages(path) {
        let _ = writeln!(out, ".B {}\n{}\n.br", text(program), text(&usage));
    }
    let _ = write!(out, ".SH DESCRIPTION\n{}.\n", text(command.summary));
    if !command.details.is_empty() {
        let _ = writeln!(out, "{}", text(command.details));
    }
    let shown = || command.commands.iter().filter(|command| !command.is_hidden());
    if shown().next().is_some() {
        out.push_str(".SH COMMANDS\n");
        for command in shown() {
            let _ = writeln!(out, ".TP\n.B {}\n{}.", text(command.name), text(command.summary));
        }
    }
    out.push_str(".SH OPTIONS\n");
    for group in command.flags {
        if command.flags.len() > 1 {
            let _ = writeln!(out, ".SS {}", text(group.title));
        }
        for flag in group.flags {
            let _ = writeln!(out, ".TP\n.B {}\n{}.", text(flag_column(flag).trim()), text(flag.help));
        }
    }
    let _ = writeln!(out, ".TP\n.B {}\n{}.", text(flag_column(&HELP.0).trim()), text(HELP.0.help));
    let example = examples::of(path);
    if !example.lines.is_empty() {
        out.push_str(".SH EXAMPLES\n.nf\n");
        for line in example.lines {
            let _ = writeln!(out, "{} {}", text(program), text(line));
        }
        out.push_str(".fi\n");
    }
    let _ = write!(out, ".SH SEE ALSO\n\\(dq{program} help\\(dq lists the pages of the manual");
    if let Some(page) = example.page {
        let _ = write!(out, "; \\(dq{program} help {page}\\(dq is the one about this command");
    }
    out.push_str(".\n");
    out
}

/// Escapes characters that are special in roff.
fn text(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('"', "\\(dq").replace('…', "...");
    match text.strip_prefix(['.', '\'']) {
        Some(_) => format!("\\&{text}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::ROOT;

    #[test]
    fn a_page_has_every_flag() {
        let page = page("ytterby", &[&ROOT]);
        for flag in ROOT.all_flags() {
            assert!(page.contains(&text(&format!("--{}", flag.name))), "{}", flag.name);
        }
        assert!(page.starts_with(".TH YTTERBY 1 "));
    }
}
