//! `--help` and `ytterby help`: commands, pages of the manual, error ids, annotations, functions
//! and rules.
//!
//! `--help` is short: what a command does, an example, the most common flags. `ytterby help
//! COMMAND` shows all flags. Every other word is looked up in the manual, which is part of the
//! program ([`pages`]), and in the reference that editors show; then in the headings of the manual
//! ([`search`]).

mod command;
mod examples;
mod man;
mod markdown;
mod pages;
#[cfg(test)]
mod reference;
mod search;
mod wrap;

use std::fmt::Write;

use ytterby_diag::{Diagnostic, Failure, Id};
use ytterby_ide::reference::{self as entries, ReferenceEntry};
use ytterby_text::quote::quote;
use ytterby_text::spelling;

use crate::commands::{ROOT, flag};
use crate::flags::{Command, Invocation};
pub use command::{command_name, long, short};

/// The word that shows the flags of the program without a subcommand.
const RENDER: &str = "render";

/// The word by which all error ids are found.
const ERRORS: &str = "errors";

/// `ytterby help …`.
pub fn answer(program: &str, flags: &Invocation) -> Result<String, Failure> {
    let words: Vec<&str> = flags.operands.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let mut path = vec![&ROOT];
    for (number, word) in words.iter().enumerate() {
        match path[path.len() - 1].find(word) {
            Some(command) => path.push(command),
            None if number == 0 && words.len() == 1 => return topic(program, word, flags.is_on(&flag::MAN)),
            None => {
                let phrase = words.join(" ");
                return match &search::mentions(&phrase)[..] {
                    [] => Err(unknown_command(program, &path, word)),
                    mentions => Ok(mentioned(program, &phrase, mentions)),
                };
            }
        }
    }
    Ok(match (flags.is_on(&flag::MAN), words.is_empty()) {
        (true, _) => man::page(program, &path),
        (false, true) => overview(program),
        // Commands such as `check` also have a page.
        (false, false) => match pages::find(&words.join(" ")) {
            Some(page) => format!("{}\n{}", long(program, &path), markdown::render(&page.text, wrap::width())),
            None => long(program, &path),
        },
    })
}

/// The help on a word that is not a command.
fn topic(program: &str, word: &str, as_man: bool) -> Result<String, Failure> {
    if word == RENDER {
        return Ok(if as_man { man::page(program, &[&ROOT]) } else { long(program, &[&ROOT]) });
    }
    if word == ERRORS {
        return Ok(error_ids(program));
    }
    if let Some(page) = pages::find(word) {
        return Ok(markdown::render(&page.text, wrap::width()));
    }
    if let Some(id) = Id::find(word) {
        let section = format!("# {id}\n\n{}\n", ytterby_diag::render::help(id));
        return Ok(markdown::render(&section, wrap::width()));
    }
    if let Some(text) = reference_text(word) {
        return Ok(markdown::render(&text, wrap::width()));
    }
    match &search::mentions(word)[..] {
        [] => Err(unknown_topic(program, word)),
        mentions => Ok(mentioned(program, word, mentions)),
    }
}

/// The topics that mention a word.
fn mentioned(program: &str, word: &str, mentions: &[search::Mention]) -> String {
    let mut out = format!("{} is explained here (\"{program} help TOPIC\" shows it):\n", quote(word.as_bytes()));
    let rows: Vec<(&str, &str)> = mentions.iter().map(|(topic, about)| (topic.as_str(), about.as_str())).collect();
    push_rows(&mut out, &rows);
    out
}

/// An annotation, a module, a function or a rule, as Markdown.
fn reference_text(word: &str) -> Option<String> {
    let name = word.trim_start_matches("#@").trim_start_matches('@');
    let name = name.trim_end_matches("()");
    if let Some(module) = entries::module(name.trim_start_matches("ytt:")) {
        let members = module.members.iter().map(entry_text).collect::<Vec<_>>().join("\n");
        return Some(format!("# @ytt:{}\n\n{}\n\n{members}", module.name, module.text));
    }
    let member = || {
        let (of, own) = name.split_once('.')?;
        entries::member(of, own).or_else(|| entries::method(of, own))
    };
    let entry = entries::annotation(name).or_else(member);
    entry.or_else(|| entries::builtin(name)).or_else(|| entries::rule(name)).map(entry_text)
}

fn entry_text(entry: &ReferenceEntry) -> String {
    let at = if entry.on.is_empty() { "" } else { "@" };
    let mut out = format!("## {at}{}\n\n{}\n", entry.signature, entry.text);
    for (name, about) in &entry.arguments {
        let _ = write!(out, "\n- `{name}`: {about}");
    }
    if !entry.on.is_empty() && entry.on != "nothing" {
        let _ = write!(out, "\n\nOn: {}.", entry.on);
    }
    if entry.beyond_ytt {
        out.push_str("\n\nNot in ytt.");
    }
    if !entry.example.is_empty() {
        let _ = write!(out, "\n\n```yaml\n{}```\n", entry.example);
    }
    if !entry.result.is_empty() {
        let _ = write!(out, "\nIts output:\n\n```yaml\n{}```\n", entry.result);
    }
    out
}

/// `ytterby help` without operands: the available topics.
fn overview(program: &str) -> String {
    let mut out = format!("Commands (\"{program} help COMMAND\" shows all flags):\n");
    let shown = || ROOT.commands.iter().filter(|command| !command.is_hidden());
    let rows = std::iter::once((RENDER, "Render templates: the flags of the program without a command"));
    let rows: Vec<(&str, &str)> = rows.chain(shown().map(|command| (command.name, command.summary))).collect();
    push_rows(&mut out, &rows);
    let _ = write!(out, "\nPages of the manual (\"{program} help PAGE\"):\n");
    let pages = pages::all();
    let rows: Vec<(&str, &str)> = pages.iter().map(|page| (page.name.as_str(), page.title())).collect();
    push_rows(&mut out, &rows);
    out.push_str("\nAlso:\n");
    push_rows(
        &mut out,
        &[
            (ERRORS, "all errors and warnings by their ids"),
            ("schema/type", "an error by its id"),
            ("@overlay/match", "an annotation"),
            ("json", "a module: all its functions"),
            ("json.encode", "a function"),
            ("min_len", "a rule of @schema/validation"),
            ("required", "any other word: where the manual explains it"),
        ],
    );
    out
}

/// `ytterby help errors`: every id with its meaning.
fn error_ids(program: &str) -> String {
    let mut out = format!("Errors and warnings (\"{program} help ID\" explains one):\n");
    let rows: Vec<(&str, &str)> = Id::all().iter().map(|id| (id.name(), id.title())).collect();
    push_rows(&mut out, &rows);
    out
}

fn push_rows(out: &mut String, rows: &[(&str, &str)]) {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, text) in rows {
        wrap::push(out, text, &format!("  {name:width$}  "), &" ".repeat(width + 4), wrap::width());
    }
}

/// The error for an unknown subcommand, with the nearest name.
pub fn unknown_command(program: &str, path: &[&Command], word: &str) -> Failure {
    let name = command_name(program, path);
    let known = path.last().map_or(&[][..], |command| command.commands).iter().filter(|command| !command.is_hidden());
    let near = spelling::nearest(word, known.map(|command| command.name));
    let hint = match near {
        _ if word == "export" && path.last().is_some_and(|command| command.name == "schema") => {
            "; a schema is exported by --data-values-schema-inspect -o FORMAT".to_owned()
        }
        Some(near) => format!("; did you mean \"{near}\"?"),
        None => String::new(),
    };
    Failure::new(Id::FLAG_UNKNOWN, format!("unknown command {} for \"{name}\"{hint}", quote(word.as_bytes())))
}

/// The error for an unknown topic, with the nearest name. A misspelt command gets the error for
/// commands.
fn unknown_topic(program: &str, word: &str) -> Failure {
    let commands = ROOT.commands.iter().filter(|command| !command.is_hidden()).map(|command| command.name);
    // Commands are plain words: `schema/tpye` is probably an id.
    if !word.contains(['/', '.', '@']) && spelling::nearest(word, commands).is_some() {
        return unknown_command(program, &[&ROOT], word);
    }
    let mut names = Vec::new();
    names.push(ERRORS.to_owned());
    names.extend(pages::all().into_iter().map(|page| page.name));
    names.extend(Id::all().iter().map(|id| id.name().to_owned()));
    names.extend(entries::annotations().iter().map(|entry| format!("@{}", entry.name)));
    for module in entries::modules() {
        names.push(module.name.clone());
        names.extend(module.members.iter().map(|entry| entry.name.clone()));
    }
    let others = entries::builtins().iter().chain(entries::rules());
    names.extend(others.map(|entry| entry.name.clone()));
    let near = spelling::closest(word, names.iter().map(String::as_str), spelling::tolerance(word).max(2));
    let what = match word {
        _ if word.starts_with('@') => "annotation",
        _ if word.contains('/') => "error id",
        _ => "help topic",
    };
    let message = format!("unknown {what} {}", quote(word.as_bytes()));
    let problem = Diagnostic::error(Id::FLAG_OPERAND, message.clone());
    match near {
        Some(near) => {
            // ytt's text format shows no hints, so the message includes this one.
            problem.reference(format!("{message}; did you mean \"{near}\"?")).help(format!("did you mean \"{near}\"?"))
        }
        None => problem
            .reference(format!("{message}; \"ytterby help\" lists commands and pages"))
            .help("\"ytterby help\" lists commands and pages, \"ytterby help errors\" all ids"),
    }
    .into()
}

/// Words that can follow `help`, for completions.
pub fn topics() -> Vec<(String, String)> {
    let errors = (ERRORS.to_owned(), "Errors and warnings".to_owned());
    pages::all().into_iter().map(|page| (page.name.clone(), page.title().to_owned())).chain([errors]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_fits_the_terminal() {
        for page in pages::all() {
            let text = markdown::render(&page.text, 80);
            // Code is shown as it is.
            let wide = text.lines().find(|line| !line.starts_with("    ") && line.chars().count() > 80);
            assert_eq!(wide, None, "{}", page.name);
        }
    }

    #[test]
    fn references_are_found_as_they_are_written() {
        for word in ["#@overlay/match", "@schema/desc", "json.encode", "json.encode()", "@ytt:json", "min_len", "len"] {
            assert!(reference_text(word).is_some(), "{word}");
        }
        assert_eq!(reference_text("nope"), None);
    }
}
