//! Compares verdicts with those of a real API server, recorded in `../shared/kubernetes/corpus`.
//!
//! Every case of the classes `decode`, `schema`, `cel` and `nokind` must be refused, none of `ok`,
//! and of `semantic` at least the share below. `YTTERBY_CORPUS=verbose` prints each case that
//! differs; a name prints its findings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use ytterby_diag::{FileId, PlaceNames, Severity, Sources};
use ytterby_kubernetes::{Catalog, CheckOptions, Checked, Node, UnknownKinds, documents};
use ytterby_yaml::{ReadOptions, parse};

fn main() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kubernetes/corpus");
    if !shared.exists() {
        println!("corpus: skipped, {} is absent", shared.display());
        return;
    }
    let wanted = std::env::var("YTTERBY_CORPUS").unwrap_or_default();
    let mut names: Vec<_> =
        std::fs::read_dir(shared.join("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut scores: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for case in names {
        let name = case.file_name().unwrap().to_str().unwrap();
        let expect = read(&case.join("expect.json")).remove(0);
        let class = expect.text("class").unwrap().to_owned();
        let found = check(&shared, &case, &expect);
        let is_valid = found.is_empty();
        let is_right = is_valid == (class == "ok");
        let paths: BTreeSet<String> = found.iter().map(|(path, _)| path.clone()).collect();
        let fields = |key: &str| -> Vec<String> {
            let list = expect.get(key).map(Node::items).unwrap_or_default();
            list.iter().filter_map(|field| field.as_str().map(normal)).collect()
        };
        let expected = if fields("at").is_empty() { fields("fields") } else { fields("at") };
        let is_placed = expected.iter().all(|field| paths.iter().any(|path| is_place(&normal(path), field)));
        let score = scores.entry(class.clone()).or_default();
        score[0] += 1;
        score[1] += usize::from(is_right);
        score[2] += usize::from(is_right && is_placed);
        let is_wanted =
            wanted == name || (wanted == "verbose" && !is_right) || (wanted == "places" && !is_placed && is_right);
        if is_wanted {
            println!("\n{name} ({class} {})", expect.text("sub").unwrap_or_default());
            println!("  server: {} {:?}", &expect.text("message").unwrap_or_default(), expected);
            found.iter().for_each(|(path, message)| println!("  ours:   {path}: {message}"));
        }
    }
    for (class, [all, right, placed]) in &scores {
        println!("corpus: {class}: {right} of {all} right, {placed} with the server's fields");
    }
    for (class, [all, right, _]) in scores {
        let least = if class == "semantic" { all * 9 / 10 } else { all };
        assert!(right >= least, "{class}: {right} of {all}");
    }
}

/// Paths as text, without quotes and brackets around keys, to compare with those of the server.
fn normal(path: &str) -> String {
    path.replace(['[', ']', '"'], ".").split('.').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

/// Whether our path is the server's field, or more precise: the server names a label by its map, a
/// field of an item without its index, a schema by another path, and some things not at all.
fn is_place(path: &str, field: &str) -> bool {
    let schema = |text: &str| text.split_once("openAPIV3Schema").map(|(_, rest)| rest.to_owned());
    let indexless = |text: &str| -> String {
        text.split('.').filter(|part| part.parse::<usize>().is_err()).collect::<Vec<_>>().join(".")
    };
    field == "<nil>"
        || path == field
        || path.ends_with(&format!(".{field}"))
        || path.starts_with(&format!("{field}."))
        || indexless(path) == field
        || schema(field).is_some_and(|field| schema(path).is_some_and(|path| path.starts_with(&field)))
}

fn read(path: &Path) -> Vec<Arc<Node>> {
    let text = std::fs::read(path).unwrap();
    let tree = parse(&text, FileId(0), &ReadOptions::default()).unwrap();
    documents(&tree).into_iter().map(|document| document.root).collect()
}

/// The errors of a case: path and message.
fn check(shared: &Path, case: &Path, expect: &Node) -> Vec<(String, String)> {
    let mut catalog = Catalog::new(CheckOptions { unknown: UnknownKinds::Error, ..CheckOptions::default() });
    for crd in expect.get("crds").map(Node::items).unwrap_or_default() {
        for node in read(&shared.join("crds").join(crd.as_str().unwrap())) {
            catalog.add_definition(&node);
        }
    }
    let text = std::fs::read(case.join("manifest.yml")).unwrap();
    let tree = match parse(&text, FileId(0), &ReadOptions::default()) {
        Ok(tree) => tree,
        Err(error) => return vec![(String::new(), format!("{error:?}"))],
    };
    let sources = Sources::new();
    let mut found = Vec::new();
    for Checked { findings, .. } in documents(&tree).iter().flat_map(|document| catalog.check(document)) {
        for finding in findings.into_iter().filter(|finding| finding.severity == Severity::Error) {
            let path = finding.path.as_ref().map(ToString::to_string).unwrap_or_default();
            found.push((path, finding.message.shown(&sources, PlaceNames::Full)));
        }
    }
    found
}
