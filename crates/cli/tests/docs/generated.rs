//! Parts of pages that are generated from tables of the program.
//!
//! The text between `<!-- generated: NAME … -->` and `<!-- end -->` is generated here from the
//! reference that editors show (`crates/ide/src/reference`), so that the manual, hover and
//! completion say the same. `YTTERBY_BLESS=docs` writes it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use ytterby_ide::reference::{self, ReferenceEntry};

const START: &str = "<!-- generated: ";
const END: &str = "<!-- end -->\n";

/// Checks the generated parts of a page, or writes them.
pub fn check(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).expect("the page can be read");
    let made = page(&text)?;
    if made == text {
        return Ok(());
    }
    if std::env::var("YTTERBY_BLESS").is_ok_and(|what| what == "docs") {
        fs::write(file, made).expect("the page can be written");
        return Ok(());
    }
    let lines = similar::TextDiff::from_lines(&text, &made);
    let diff = lines.unified_diff().header("the page", "the reference").to_string();
    Err(format!("a generated part is out of date; YTTERBY_BLESS=docs writes it:\n{diff}"))
}

fn page(text: &str) -> Result<String, String> {
    let mut pieces = text.split(START);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (what, rest) = piece.split_once(" -->\n").ok_or("a generated part without a name")?;
        let (_, after) = rest.split_once(END).ok_or_else(|| format!("`{what}` has no end"))?;
        let _ =
            write!(out, "{START}{what} -->\n\n{}\n{END}{after}", part(what)?.trim_end_matches('\n').to_owned() + "\n");
    }
    Ok(out)
}

fn part(what: &str) -> Result<String, String> {
    match what.split_once(' ').unwrap_or((what, "")) {
        ("modules", _) => Ok(modules()),
        ("builtins", _) => Ok(reference::builtins().iter().map(entry).collect()),
        ("methods", _) => Ok(methods()),
        ("rules", _) => Ok(reference::rules().iter().map(entry).collect()),
        ("annotations", prefix) => {
            let chosen = reference::annotations().iter().filter(|entry| entry.name.starts_with(prefix));
            Ok(chosen.map(entry).collect())
        }
        _ => Err(format!("nothing makes `{what}`")),
    }
}

fn modules() -> String {
    let mut out = String::new();
    for module in reference::modules() {
        let _ = writeln!(out, "## {}\n\n{}\n", module.name, module.text);
        let _ = writeln!(out, "```text\n#@ load(\"@ytt:{0}\", \"{0}\")\n```\n", module.name);
        out.extend(module.members.iter().map(entry));
    }
    out
}

/// The methods of built-in types: a table each.
fn methods() -> String {
    let mut out = String::new();
    for of in reference::types() {
        let _ = writeln!(out, "### {}\n\n{}\n", of.name, of.text);
        out.push_str("| method | meaning | example |\n|---|---|---|\n");
        for entry in &of.members {
            let dagger = if entry.beyond_ytt { " †" } else { "" };
            let call = entry.name.rsplit('.').next().map(|name| format!(".{name}(")).unwrap_or_default();
            let example = entry.example.lines().find(|line| line.contains(&call)).unwrap_or_default();
            let example = example.split_once("#@ ").map_or(example, |(_, code)| code);
            let cell = |text: &str| text.replace('|', "\\|");
            let _ = writeln!(out, "| `{}`{dagger} | {} | `{}` |", entry.signature, cell(&entry.text), cell(example));
        }
        out.push('\n');
    }
    out
}

/// One function, annotation or rule.
fn entry(entry: &ReferenceEntry) -> String {
    let is_annotation = !entry.on.is_empty();
    let at = if is_annotation { "@" } else { "" };
    let mut out = format!("### {at}{}\n\n`{at}{}`\n\n{}", entry.name, entry.signature, entry.text);
    if !entry.aliases.is_empty() {
        let names: Vec<String> = entry.aliases.iter().map(|name| format!("`{at}{name}`")).collect();
        let _ = write!(out, " Other names: {}.", names.join(", "));
    }
    if is_annotation && entry.on != "nothing" {
        let _ = write!(out, "\n\nOn: {}.", entry.on);
    }
    if entry.beyond_ytt {
        out.push_str(" (†: not in ytt.)");
    }
    out.push('\n');
    if !entry.arguments.is_empty() {
        out.push('\n');
    }
    for (name, about) in &entry.arguments {
        let _ = writeln!(out, "- `{name}`: {about}");
    }
    if !entry.example.is_empty() {
        let _ = write!(out, "\n```yaml title=example\n{}```\n", entry.example);
    }
    if !entry.result.is_empty() {
        let _ = write!(out, "\nIts output:\n\n```yaml title=example\n{}```\n", entry.result);
    }
    out.push('\n');
    out
}
