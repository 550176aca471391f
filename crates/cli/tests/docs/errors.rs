//! `docs/errors.md` has a section for each id, whose example really reports that id.

use std::fs;
use std::path::Path;
use std::process::Command;

use ytterby_diag::Id;

use crate::example::Directory;
use crate::words::words;

/// Ids whose examples cannot be run: they need a broken machine, a second program or a bug, or they
/// are reserved.
const NOT_RUN: [&str; 5] = ["file/symlink", "file/write", "internal/bug", "kubernetes/limit", "limit/cancelled"];

/// One section of the page.
pub struct Section {
    /// The id in its heading.
    pub id: String,
    text: String,
}

/// The sections of the page.
pub fn sections(root: &Path) -> Vec<Section> {
    let page = fs::read_to_string(root.join("docs/errors.md")).expect("the page can be read");
    let section = |text: &str| {
        let (id, text) = text.split_once('\n').unwrap_or((text, ""));
        Section { id: id.to_owned(), text: text.to_owned() }
    };
    page.split("\n## ").skip(1).map(section).collect()
}

/// Checks that there is a section for each id in the order of the table, and that the program
/// prints this page.
pub fn complete(root: &Path) -> Result<(), String> {
    let told: Vec<String> = sections(root).into_iter().map(|section| section.id).collect();
    let known: Vec<String> = Id::all().iter().map(|id| id.name().to_owned()).collect();
    if let Some(id) = known.iter().find(|id| !told.contains(id)) {
        return Err(format!("docs/errors.md has no section {id}"));
    }
    if told != known {
        return Err("the sections of docs/errors.md are not those of the table of ids, in its order".to_owned());
    }
    let page = fs::read(root.join("docs/errors.md")).expect("the page can be read");
    if fs::read(root.join("crates/diag/src/render/errors.txt")).expect("the copy can be read") != page {
        return Err("copy docs/errors.md to crates/diag/src/render/errors.txt, which `ytterby help ID` prints".into());
    }
    Ok(())
}

/// Runs the example of a section and checks that it reports this id.
pub fn example(root: &Path, section: &Section) -> Result<(), String> {
    if !section.text.contains("**Remedy:**") {
        return Err("the section has no remedy".to_owned());
    }
    let directory = Directory::new(root, &section.id, section.text.contains("examples/"));
    let mut commands = Vec::new();
    let mut lines = section.text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some((_, name)) = info.split_once(" file=") {
            directory.write(name, &(block.join("\n") + "\n"))?;
        } else if info == "sh" {
            commands.extend(block);
        }
    }
    match (commands.is_empty(), NOT_RUN.contains(&&*section.id)) {
        (true, true) => return Ok(()),
        (true, false) => return Err("the section has no example".to_owned()),
        (false, true) => return Err("the id is listed as one without an example, but has one".to_owned()),
        (false, false) => {}
    }
    let mut reports = String::new();
    for command in commands {
        let words = words(command)?;
        let start = words.iter().position(|word| !word.contains('=')).unwrap_or(words.len());
        let (variables, words) = words.split_at(start);
        let Some(("ytterby", args)) = words.split_first().map(|(program, args)| (program.as_str(), args)) else {
            return Err(format!("`{command}` does not run ytterby"));
        };
        let output = Command::new(env!("CARGO_BIN_EXE_ytterby"))
            .args(args)
            .current_dir(&directory.path)
            .env_clear()
            .env("YTTERBY_DIAGNOSTICS", "json")
            .envs(variables.iter().filter_map(|word| word.split_once('=')))
            .output()
            .expect("the program can be started");
        reports.push_str(&String::from_utf8_lossy(&output.stderr));
        reports.push_str(&String::from_utf8_lossy(&output.stdout));
    }
    let field = format!("\"id\":\"{}\"", section.id);
    if reports.contains(&field) { Ok(()) } else { Err(format!("the example gives no {}, but:\n{reports}", section.id)) }
}
