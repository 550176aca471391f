//! Tests that `docs/` mentions everything that users can write.
//!
//! Each test takes names from a table of the engine (annotations and their arguments, rules,
//! formats, output types, functions) and looks for them on the pages. What is generated is checked
//! elsewhere; the messages name the command that writes it.

use std::collections::BTreeMap;
use std::path::Path;

use ytterby_starlark::HostValue;

use crate::annotation::{self, Level};
use crate::validate::{formats, rules};
use crate::{Compat, OutputTypes, Project, Values, stdlib};

/// The command that writes the pages about functions, annotations and rules.
const BLESS: &str = "YTTERBY_BLESS=docs cargo test -p ytterby-cli --test docs generated";

/// The text of all pages.
fn pages() -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries = docs.read_dir().expect("the documentation is there");
    let paths = entries.map(|entry| entry.expect("its pages can be listed").path());
    let pages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| std::fs::read_to_string(path).expect("a page can be read")).collect()
}

/// Whether a page contains a name, and not only as part of a longer one.
fn names(pages: &str, name: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
    pages.match_indices(name).any(|(at, _)| {
        let (before, after) = (pages[..at].chars().next_back(), pages[at + name.len()..].chars().next());
        !before.is_some_and(goes_on) && !after.is_some_and(goes_on)
    })
}

#[track_caller]
fn check(kind: &str, wanted: impl Iterator<Item = String>) {
    let pages = pages();
    let missing: Vec<String> = wanted.filter(|name| !names(&pages, name)).collect();
    assert!(
        missing.is_empty(),
        "no page in docs/ names these {kind}: {}\nadd them to crates/ide/src/reference, then run {BLESS}",
        missing.join(", ")
    );
}

#[test]
fn annotations() {
    check("annotations", annotation::names().map(|name| format!("@{name}")));
}

/// Each annotation has a section with its keyword arguments. Annotations that are not in the table
/// are listed here.
#[test]
fn arguments() {
    const OTHERS: [(&str, &[&str]); 5] = [
        ("schema/type", &["any", "one_of", "or_inferred"]),
        ("schema/key", &["allowed", "expects", "missing_ok"]),
        ("schema/validation", &["when"]),
        ("schema/examples", &["description", "value"]),
        ("library/ref", &["name"]),
    ];
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/annotations.md");
    let page = std::fs::read_to_string(page).expect("the page can be read");
    let section = |name: &str| {
        let rest = page.split_once(&format!("\n### @{name}\n")).map(|(_, rest)| rest);
        rest.map(|rest| rest.split("\n### ").next().unwrap_or_default().to_owned())
    };
    for name in annotation::names() {
        // The section of an annotation lists its aliases.
        let Some(ann) = annotation::Ann::from_name(name.as_bytes(), Level::Ytterby) else { continue };
        let text = section(ann.name()).unwrap_or_else(|| panic!("docs/annotations.md has no section @{}", ann.name()));
        let others = OTHERS.iter().filter(|(of, _)| *of == ann.name()).flat_map(|(_, names)| names.iter());
        for argument in ann.keywords().iter().chain(others) {
            assert!(text.contains(&format!("- `{argument}`:")), "@{}: {argument}", ann.name());
        }
    }
}

#[test]
fn rules_and_formats() {
    check("rules", rules::names().map(|name| format!("`{name}`")));
    check("formats", formats::names().map(|name| format!("`{name}`")));
}

#[test]
fn output_types() {
    let pages = pages();
    for name in OutputTypes::NAMES {
        let rows = [format!("\n| `{name}`"), format!("\n| [`{name}`]")];
        let is_named = names(&pages, &format!("-o {name}")) || rows.iter().any(|row| pages.contains(row));
        assert!(is_named, "no page in docs/ shows -o {name}, or has a row of a table for `{name}`");
    }
}

#[test]
fn functions() {
    check("functions", members(Level::Ytterby).into_iter());
}

/// The functions and values of all modules: `base64.encode`.
fn members(level: Level) -> Vec<String> {
    let of = |module: stdlib::Module| {
        let names = module.attr_names();
        names.into_iter().map(move |name| format!("{}.{name}", module.name()))
    };
    let mut members: Vec<String> = stdlib::modules(level).flat_map(of).collect();
    members.extend(members_of_files(level));
    members
}

/// The same for modules that are created for each file.
fn members_of_files(level: Level) -> Vec<String> {
    let modules =
        "#@ load('@ytt:data', 'data')\n#@ load('@ytt:library', 'library')\n#@ load('@ytt:template', 'template')\n";
    let lists = "data: #@ dir(data)\nlibrary: #@ dir(library) + dir(library.get('one'))\ntemplate: #@ dir(template)\n";
    let compat = match level {
        Level::Ytterby => Compat::Latest,
        Level::Ytt049 => Compat::V0_49,
    };
    let project = Project::builder()
        .file("config.yml", format!("{modules}---\n{lists}"))
        .file("_ytt_lib/one/a.yml", "a: 1\n")
        .compat(compat)
        .build()
        .expect("the template is right");
    let output = project.render(&Values::new()).expect("modules can be listed");
    let modules: Vec<BTreeMap<String, Vec<String>>> = output.deserialize().expect("the document contains lists");
    let names = modules.iter().flatten();
    names.flat_map(|(of, names)| names.iter().map(move |name| format!("{of}.{name}"))).collect()
}

/// The reference for editors has an entry for everything.
#[test]
fn reference_of_editors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ide/src/reference");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the reference is there");
    // The names of entries and their aliases; a signature ends a name.
    let entries = |file: &str| -> Vec<String> {
        let text = read(file);
        let name =
            |line: &str| line.split(['(', ' ', '=']).next().unwrap_or_default().trim_start_matches('@').to_owned();
        let headings = text.lines().filter_map(|line| line.strip_prefix("## ")).map(name);
        let aliases = text.lines().filter_map(|line| line.strip_prefix("also: ")).flat_map(|line| line.split(", "));
        headings.chain(aliases.map(str::to_owned)).collect()
    };
    let wanted: [(&str, Vec<String>); 3] = [
        ("annotations.txt", annotation::names().map(str::to_owned).collect()),
        ("rules.txt", rules::names().map(str::to_owned).collect()),
        ("modules.txt", members(Level::Ytterby)),
    ];
    let missing = wanted.iter().flat_map(|(file, wanted)| {
        let known = entries(file);
        let missing = wanted.iter().filter(move |name| !known.contains(name));
        missing.map(move |name| format!("crates/ide/src/reference/{file} has no entry for {name}\n"))
    });
    let missing: String = missing.collect();
    assert!(missing.is_empty(), "{missing}");
    // Everything marked as missing in ytt is missing there.
    let marked = |file: &str| -> Vec<(String, bool)> {
        let text = read(file);
        let entry = |part: &str| {
            let name = part.split(['(', ' ', '=', '\n']).next().unwrap_or_default().trim_start_matches('@').to_owned();
            (name, part.lines().any(|line| line == "only: ytterby"))
        };
        format!("\n{text}").split("\n## ").skip(1).map(entry).collect()
    };
    let of_ytt = members(Level::Ytt049);
    for (name, is_marked) in marked("modules.txt") {
        assert_eq!(is_marked, !of_ytt.contains(&name), "modules.txt: {name}");
    }
    for (name, is_marked) in marked("rules.txt") {
        assert_eq!(is_marked, rules::find(&name, Level::Ytt049).is_none(), "rules.txt: {name}");
    }
    for (name, is_marked) in marked("annotations.txt") {
        let is_new = annotation::Ann::from_name(name.as_bytes(), Level::Ytt049).is_none();
        assert_eq!(is_marked, is_new, "annotations.txt: {name}");
    }
    let rules = read("rules.txt");
    for format in formats::names() {
        assert!(names(&rules, format), "rules.txt does not name the format {format}");
    }
}

#[test]
fn longer_names_do_not_count() {
    assert!(names("see `@schema/desc`.", "@schema/desc"));
    assert!(!names("see @schema/description and a@schema/desc", "@schema/desc"));
}
