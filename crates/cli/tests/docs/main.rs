//! Checks the documentation: runs the examples of README.md, `docs/` and `examples/`, checks the
//! manifests of `examples/`, follows the links of every page, and checks what pages for
//! contributors say about the repository.
//!
//! CONTRIBUTING.md describes how to write examples. `cargo test --test docs [NAME]` runs the pages
//! whose name contains NAME; `YTTERBY_BLESS=docs` writes the outputs of commands into the pages.

mod claims;
mod complete;
mod errors;
mod example;
mod generated;
mod layout;
mod links;
mod manifests;
mod page;
mod picture;
#[path = "../cases/words.rs"]
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use page::Page;

/// Pages without examples. Everything in `docs/decisions` has none either.
const WITHOUT_EXAMPLES: [&str; 9] = [
    "docs/README.md",
    "docs/SUMMARY.md",
    "docs/commands.md",
    "docs/cookbook/README.md",
    "docs/editors.md",
    "docs/embedding.md",
    "docs/errors.md",
    "docs/guides/README.md",
    "docs/modules.md",
];

/// Folders below the root with our pages.
const FOLDERS: [&str; 4] = ["docs", "examples", "crates", "tests/browser"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there");
    let mut files = markdown(&root, Depth::One);
    files.extend(FOLDERS.iter().flat_map(|folder| markdown(&root.join(folder), Depth::Any)));
    files.sort();

    let mut trials = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).expect("it was found there").display().to_string();
        let (at, path) = (root.clone(), file.clone());
        trials.push(Trial::test(format!("links/{name}"), move || links::check(&at, &path).map_err(Failed::from)));
        if ["ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&&*name) || name.starts_with("docs/decisions/") {
            let (at, path) = (root.clone(), file.clone());
            trials.push(Trial::test(format!("paths/{name}"), move || claims::paths(&at, &path).map_err(Failed::from)));
        }
        if name == "README.md" {
            let (at, path) = (root.clone(), file.clone());
            trials.push(Trial::test("pictures", move || picture::check(&at, &path).map_err(Failed::from)));
        }
        if name.starts_with("docs/") {
            let path = file.clone();
            trials
                .push(Trial::test(format!("generated/{name}"), move || generated::check(&path).map_err(Failed::from)));
        }
        let is_of_example = name.starts_with("examples/") && name.matches('/').count() == 2;
        if name == "README.md" || is_of_example || name.starts_with("docs/") && !name.starts_with("docs/decisions/") {
            let root = root.clone();
            trials.push(Trial::test(format!("examples/{name}"), move || examples(&root, &file, &name)));
        }
    }
    for example in manifests::examples(&root) {
        let name = format!("manifests/{example}");
        let at = root.clone();
        trials.push(Trial::test(name, move || manifests::check(&at, &example).map_err(Failed::from)));
    }
    for section in errors::sections(&root) {
        let name = format!("errors/{}", section.id);
        let at = root.clone();
        trials.push(Trial::test(name, move || errors::example(&at, &section).map_err(Failed::from)));
    }
    let at = root.clone();
    trials.push(Trial::test("errors", move || errors::complete(&at).map_err(Failed::from)));
    let at = root.clone();
    trials.push(Trial::test("complete", move || complete::check(&at).map_err(Failed::from)));
    let at = root.clone();
    trials.push(Trial::test("layout", move || layout::check(&at).map_err(Failed::from)));
    let at = root.clone();
    trials.push(Trial::test("architecture", move || claims::architecture(&at).map_err(Failed::from)));
    trials.push(Trial::test("dependencies", move || claims::dependencies(&root).map_err(Failed::from)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Runs the examples of a page.
fn examples(root: &Path, file: &Path, name: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(file).expect("the page can be read");
    let page = Page::parse(&text).map_err(|problem| format!("{name}:{problem}"))?;
    let outcome = example::run(root, name, &page)?;
    if std::env::var("YTTERBY_BLESS").is_ok_and(|what| what == "docs") {
        let blessed = page.with_outputs(&outcome.outputs);
        if blessed != text {
            fs::write(file, blessed).expect("the page can be written");
        }
        return Ok(());
    }
    match (outcome.outputs.len(), WITHOUT_EXAMPLES.contains(&name)) {
        (0, false) => return Err("a page without an example; show one, or list the page as one that has none".into()),
        (1.., true) => return Err("the page is listed as one without examples, but has some".into()),
        _ => {}
    }
    if outcome.differences.is_empty() { Ok(()) } else { Err(outcome.differences.into()) }
}

/// How far to look for pages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    One,
    Any,
}

/// The pages in a folder.
fn markdown(folder: &Path, depth: Depth) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the repository can be read").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() && depth == Depth::Any {
            found.extend(markdown(&path, depth));
        } else if !path.is_symlink() && path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}
