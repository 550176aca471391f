//! Checks statements in ARCHITECTURE.md, CONTRIBUTING.md and the decisions about the repository
//! itself: existing files, allowed dependencies between crates, the purpose of each dependency.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::links::prose;

/// Checks that the files, folders and modules that a page names exist. Paths are relative to the
/// root, or to the sources of the engine.
pub fn paths(root: &Path, file: &Path) -> Result<(), String> {
    let text = read(file);
    let engine = root.join("crates/engine/src");
    let mut problems = String::new();
    for (line, span) in prose(&text).flat_map(|(line, text)| code_spans(text).map(move |span| (line, span))) {
        let path = span.split(" -- ").next().unwrap_or_default();
        if names_path(path) && !root.join(path).exists() && !engine.join(path).exists() {
            problems.push_str(&format!("line {line}: there is no {path}\n"));
        }
    }
    done(problems)
}

/// Checks the tables of ARCHITECTURE.md: the crates with their dependencies, and the modules of the
/// engine.
pub fn architecture(root: &Path) -> Result<(), String> {
    let text = read(&root.join("ARCHITECTURE.md"));
    let mut problems = String::new();
    let mut told = BTreeSet::new();
    for row in rows(&text, "| crate |") {
        let crates = row.first().and_then(|cell| code_spans(cell).next()).unwrap_or_default();
        let manifest = read(&root.join(crates).join("Cargo.toml"));
        let uses = own_crates(&manifest);
        told.insert(crates.trim_start_matches("crates/").to_owned());
        let may_use: BTreeSet<String> = match row[2] {
            "–" => BTreeSet::new(),
            "all" => uses.clone(),
            "all above" => told.iter().filter(|name| *name != "engine").cloned().collect(),
            names => names.split(", ").map(str::to_owned).collect(),
        };
        if may_use != uses {
            problems.push_str(&format!("{crates} may use {may_use:?}, but uses {uses:?}\n"));
        }
    }
    let there: BTreeSet<String> = entries(&root.join("crates"));
    if told != there {
        problems.push_str(&format!("the crates told are {told:?}, but there are {there:?}\n"));
    }
    let engine = root.join("crates/engine/src");
    for module in rows(&text, "| module |").iter().flat_map(|row| code_spans(row[0])) {
        if !engine.join(module).is_dir() && !engine.join(format!("{module}.rs")).is_file() {
            problems.push_str(&format!("the engine has no module {module}\n"));
        }
    }
    done(problems)
}

/// Checks that each dependency has a line in the list, and each line a dependency.
pub fn dependencies(root: &Path) -> Result<(), String> {
    let list = read(&root.join("docs/decisions/dependencies.md"));
    let told: BTreeSet<String> =
        rows(&list, "| crate |").iter().flat_map(|row| code_spans(row[0])).map(str::to_owned).collect();
    let mut used = BTreeSet::new();
    let crates = entries(&root.join("crates")).into_iter().map(|name| root.join("crates").join(name));
    for folder in crates.chain([root.join("fuzz"), root.join("benches")]) {
        used.extend(dependencies_of(&read(&folder.join("Cargo.toml"))).filter(|name| !name.starts_with("ytterby")));
    }
    let unlisted = used.difference(&told).map(|name| format!("{name} is used but not listed\n"));
    let unused = told.difference(&used).map(|name| format!("{name} is listed but not used\n"));
    done(unlisted.chain(unused).collect())
}

/// The names of our crates among the non-test dependencies of a manifest, by folder.
fn own_crates(manifest: &str) -> BTreeSet<String> {
    let for_all = manifest.split("\n[dev-dependencies]").next().unwrap_or_default();
    let folder = |name: String| match name.strip_prefix("ytterby") {
        Some("") => Some("engine".to_owned()),
        Some(rest) => Some(rest.trim_start_matches('-').to_owned()),
        None => None,
    };
    dependencies_of(for_all).filter_map(folder).collect()
}

/// The names in all sections of dependencies.
fn dependencies_of(manifest: &str) -> impl Iterator<Item = String> {
    let mut wanted = false;
    manifest.lines().filter_map(move |line| {
        if line.starts_with('[') {
            wanted = line.ends_with("dependencies]");
            return None;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        (wanted && !name.is_empty() && !name.starts_with('#')).then(|| name.to_owned())
    })
}

/// Whether a span is the path of a file or folder of ours, not a pattern, another project's file or
/// a URL.
fn names_path(span: &str) -> bool {
    let is_path = span.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let begins = ["crates/", "docs/", "tests/", "fuzz/", ".ci/"].iter().any(|folder| span.starts_with(folder));
    is_path && (begins || span.ends_with(".rs"))
}

/// The texts between backticks.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The cells of the table whose first line begins like this.
fn rows<'t>(text: &'t str, head: &str) -> Vec<Vec<&'t str>> {
    let table = text.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let cells = |row: &'t str| row.trim_matches('|').split('|').map(str::trim).collect();
    table.take_while(|line| line.starts_with('|')).map(cells).collect()
}

fn entries(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("the repository can be read").filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn done(problems: String) -> Result<(), String> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
