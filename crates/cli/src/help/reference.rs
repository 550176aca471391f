//! Generates the page `docs/commands.md` from the table of commands. `YTTERBY_BLESS=docs` writes
//! it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::command::{flag_column, usages};
use super::examples;
use crate::commands::ROOT;
use crate::flags::{Command, FlagGroup, FlagKind, FlagValues};

const HEAD: &str = "\
# Commands and flags

Every command with every flag. This page is made from the program's own table, which `ytterby help COMMAND` shows in a terminal;
`ytterby COMMAND --help` shows the flags that are used most, and `ytterby help --man COMMAND` a page for `man`.
[The command line](command-line.md) explains inputs, outputs, exit codes and shells.

A flag of type *list* can be given several times. A boolean flag can be switched off: `--debug=false`. `-f=a.yml`, `-f a.yml` and
`-fa.yml` are the same. Every command has `-h`, `--help`.
";

/// Groups shared by several commands; each gets its own section.
const SHARED: [&str; 2] = ["Kubernetes", "Limits"];

/// The whole page.
fn page() -> String {
    let mut out = HEAD.to_owned();
    push_command(&mut out, &[&ROOT]);
    for title in SHARED {
        let group = ROOT.flags.iter().find(|group| group.title == title).expect("the program has it");
        let _ = write!(out, "\n## {title} flags\n\n");
        push_group(&mut out, group);
    }
    out
}

fn push_command(out: &mut String, path: &[&Command]) {
    let command = path[path.len() - 1];
    let names: Vec<&str> = path.iter().skip(1).map(|command| command.name).collect();
    let title = format!("ytterby {}", names.join(" "));
    let _ = write!(out, "\n## {}\n\n{}.", title.trim_end(), cell(command.summary));
    if !command.details.is_empty() {
        let _ = write!(out, " {}", cell(command.details));
    }
    if !command.aliases.is_empty() {
        let aliases: Vec<String> = command.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let _ = write!(out, " Other names: {}.", aliases.join(", "));
    }
    out.push_str("\n\n```text\n");
    for usage in usages(path) {
        let _ = writeln!(out, "ytterby {usage}");
    }
    out.push_str("```\n");
    let example = examples::of(path);
    if !example.lines.is_empty() {
        let lines: Vec<String> = example.lines.iter().map(|line| format!("`ytterby {line}`")).collect();
        let _ = write!(out, "\nFor example: {}.\n", lines.join(", "));
    }
    if let Some(page) = example.page {
        let _ = write!(out, "\nMore: [{page}]({page}.md).\n");
    }
    for group in command.flags.iter().filter(|group| !SHARED.contains(&group.title)) {
        if command.flags.len() > 1 {
            let _ = write!(out, "\n**{}**\n", group.title);
        }
        out.push('\n');
        push_group(out, group);
    }
    let shared: Vec<String> = SHARED
        .iter()
        .filter(|title| command.flags.iter().any(|group| group.title == **title))
        .map(|title| format!("[{title} flags](#{}-flags)", title.to_lowercase()))
        .collect();
    if !shared.is_empty() {
        let _ = write!(out, "\nAlso: {}.\n", shared.join(", "));
    }
    for command in command.commands.iter().filter(|command| !command.is_hidden()) {
        push_command(out, &[path, &[command]].concat());
    }
}

fn push_group(out: &mut String, group: &FlagGroup) {
    out.push_str("| flag | type | meaning |\n|---|---|---|\n");
    for flag in group.flags {
        let kind = match flag.kind {
            FlagKind::Bool => "boolean",
            FlagKind::Text(_) | FlagKind::Optional(_) => "text",
            FlagKind::List(_) => "list",
            FlagKind::Commas(_) => "list, commas too",
        };
        let _ = write!(out, "| `{}` | {kind} | {}.", flag_column(flag).trim(), cell(flag.help));
        match flag.values {
            FlagValues::OneOf(values) if values.iter().any(|value| !flag.help.contains(value)) => {
                let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
                let _ = write!(out, " One of {}.", values.join(", "));
            }
            _ => {}
        }
        out.push_str(" |\n");
    }
}

/// Escapes a text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('*', "\\*").replace('<', "&lt;")
}

#[test]
fn the_page_of_commands_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let page = page();
    if std::env::var("YTTERBY_BLESS").is_ok_and(|what| what == "docs") {
        fs::write(&path, page).expect("the page can be written");
        return;
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == page,
        "docs/commands.md is out of date: YTTERBY_BLESS=docs cargo test -p ytterby-cli --bin ytterby"
    );
}
