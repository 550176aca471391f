//! Checks that the manual is complete: annotations and their arguments, functions, rules, formats,
//! error ids, lints, keys of the project file, environment variables, pages.
//!
//! Names come from the program's own tables. A test of the engine
//! (`crates/engine/src/documented.rs`) checks that the tables of the reference are complete; a test
//! of the program, that `docs/commands.md` has every flag.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use ytterby_diag::Id;
use ytterby_ide::reference::{self, ReferenceEntry};

/// The missing parts, one line each.
pub fn check(root: &Path) -> Result<(), String> {
    let mut problems = Vec::new();
    let manual = Manual { root };
    entries(&manual, "annotations.md", "### @", reference::annotations().iter(), &mut problems);
    let members = reference::modules().iter().flat_map(|module| &module.members);
    entries(&manual, "modules.md", "### ", members, &mut problems);
    entries(&manual, "starlark.md", "### ", reference::builtins().iter(), &mut problems);
    entries(&manual, "validations.md", "### ", reference::rules().iter(), &mut problems);
    for module in reference::modules() {
        manual.wants("modules.md", &format!("## {}\n", module.name), &mut problems);
    }
    for method in reference::types().iter().flat_map(|of| &of.members) {
        manual.wants("starlark.md", &format!("| `{}`", method.signature), &mut problems);
    }
    for format in reference::FORMATS {
        manual.wants("validations.md", &format!("| `{format}` |"), &mut problems);
    }
    for id in Id::all() {
        manual.wants("errors.md", &format!("## {}\n", id.name()), &mut problems);
        if let Some(lint) = id.name().strip_prefix("lint/") {
            manual.wants("check.md", &format!("lint/{lint}"), &mut problems);
        }
    }
    for key in project_keys() {
        manual.wants("projects.md", &format!("`{key}`"), &mut problems);
    }
    let pages = manual.all();
    for variable in variables(&root.join("crates")) {
        if !pages.contains(&variable) {
            problems.push(format!("no page names the variable {variable}"));
        }
    }
    listed(root, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

struct Manual<'a> {
    root: &'a Path,
}

impl Manual<'_> {
    fn page(&self, name: &str) -> String {
        fs::read_to_string(self.root.join("docs").join(name)).unwrap_or_default()
    }

    fn wants(&self, page: &str, text: &str, problems: &mut Vec<String>) {
        if !self.page(page).contains(text) {
            problems.push(format!("docs/{page} lacks `{}`", text.trim_end()));
        }
    }

    fn all(&self) -> String {
        names(self.root).iter().map(|name| self.page(name)).collect()
    }
}

/// Each entry must have a section with its arguments and aliases.
fn entries<'e>(
    manual: &Manual<'_>,
    page: &str,
    mark: &str,
    entries: impl Iterator<Item = &'e ReferenceEntry>,
    problems: &mut Vec<String>,
) {
    let text = manual.page(page);
    for entry in entries {
        let heading = format!("\n{mark}{}\n", entry.name);
        let Some((_, section)) = text.split_once(&heading) else {
            problems.push(format!("docs/{page} has no section `{}`", entry.name));
            continue;
        };
        let section = section.split("\n### ").next().unwrap_or_default();
        let arguments = entry.arguments.iter().map(|(name, _)| name).chain(&entry.aliases);
        for name in arguments.filter(|name| !section.contains(name.as_str())) {
            problems.push(format!("docs/{page}: `{}` lacks `{name}`", entry.name));
        }
    }
}

/// The keys of `ytterby.yml`, from the schema that the program prints.
fn project_keys() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_ytterby")).args(["schema", "project"]).output();
    let output = output.expect("the program can be started").stdout;
    let schema: serde_json::Value = serde_json::from_slice(&output).expect("it is JSON");
    let mut keys = BTreeSet::new();
    collect_keys(&schema, &mut keys);
    assert!(keys.contains("files") && keys.contains("matrix"), "these are not the keys: {keys:?}");
    keys
}

fn collect_keys(schema: &serde_json::Value, keys: &mut BTreeSet<String>) {
    match schema {
        serde_json::Value::Object(map) => {
            if let Some(serde_json::Value::Object(properties)) = map.get("properties") {
                keys.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| collect_keys(value, keys));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

/// The variables that the program itself reads.
fn variables(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("the repository can be read").filter_map(Result::ok) {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_symlink() || ["tests", "benches", "build.rs"].iter().any(|other| name == *other) {
            continue;
        }
        if path.is_dir() {
            found.extend(variables(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for rest in code.split("\"YTTERBY_").skip(1) {
                let (name, _) = rest.split_once('"').unwrap_or_default();
                // Only tests read it.
                if name != "BLESS" && !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                    found.insert(format!("YTTERBY_{name}"));
                }
            }
        }
    }
    found
}

/// Every page must be in the book's table of contents.
fn listed(root: &Path, problems: &mut Vec<String>) {
    let summary = fs::read_to_string(root.join("docs/SUMMARY.md")).expect("the book has a table of contents");
    for name in names(root).iter().filter(|name| *name != "SUMMARY.md") {
        if !summary.contains(&format!("]({name})")) {
            problems.push(format!("docs/SUMMARY.md does not list {name}"));
        }
    }
}

/// All pages of the manual, as paths from `docs/`.
fn names(root: &Path) -> Vec<String> {
    let docs = root.join("docs");
    let pages = crate::markdown(&docs, crate::Depth::Any);
    let names = pages.iter().filter_map(|page| Some(page.strip_prefix(&docs).ok()?.display().to_string()));
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("decisions/")).collect();
    names.sort();
    names
}
