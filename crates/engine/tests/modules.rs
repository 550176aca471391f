//! Limits cycles of dependencies between modules of the engine, because modules in a cycle cannot be understood, tested or
//! changed one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum modules in a cycle.
const MOST: usize = 6;

type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn circles_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let graph = graph(&root);
    assert!(graph.len() > 15, "the sources were not found");
    assert!(graph["library"].contains("template"), "dependencies were not found");
    let largest = graph.keys().map(|module| circle_of(&graph, module)).max_by_key(BTreeSet::len).unwrap_or_default();
    assert!(largest.len() <= MOST, "{} modules depend on each other: {largest:?}", largest.len());
}

#[test]
fn circles_are_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")];
    let mut graph = Graph::new();
    for (from, to) in edges {
        graph.entry(from.to_owned()).or_default().insert(to.to_owned());
    }
    assert_eq!(circle_of(&graph, "b").into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(circle_of(&graph, "d").len(), 1);
    let text = "use crate::{deep, node::{self, Map}};\nfn f() { crate::run::x(); }\n// crate::template\n";
    let known = ["deep", "node", "run", "template", "x"].map(str::to_owned).into();
    assert_eq!(uses(text, &known).into_iter().collect::<Vec<_>>(), ["deep", "node", "run"]);
}

/// The modules in a cycle with this one.
fn circle_of(graph: &Graph, module: &str) -> BTreeSet<String> {
    let below = reachable(graph, module);
    let mut circle: BTreeSet<String> =
        below.into_iter().filter(|other| reachable(graph, other).contains(module)).collect();
    circle.insert(module.to_owned());
    circle
}

fn reachable(graph: &Graph, module: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![module];
    while let Some(module) = open.pop() {
        for next in graph.get(module).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

/// The dependencies of each module. Tests may use everything.
fn graph(root: &Path) -> Graph {
    let mut files = Vec::new();
    list(root, &mut files);
    let module_of = |path: &Path| -> String {
        let first = path.strip_prefix(root).unwrap().components().next().unwrap();
        first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
    };
    let modules: BTreeSet<String> = files.iter().map(|path| module_of(path)).filter(|name| name != "lib").collect();
    let mut graph: Graph = modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
    for path in &files {
        let module = module_of(path);
        let is_test = path.components().any(|part| part.as_os_str() == "tests")
            || ["tests.rs", "laws.rs", "documented.rs"].iter().any(|name| path.ends_with(name));
        let Some(edges) = graph.get_mut(&module).filter(|_| !is_test) else { continue };
        let text = fs::read_to_string(path).unwrap();
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        edges.extend(uses(text, &modules).into_iter().filter(|other| *other != module));
    }
    graph
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The modules that a source names after `crate::`.
fn uses(text: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let code: String = text.lines().map(|line| format!("{}\n", line.split("//").next().unwrap_or_default())).collect();
    let mut found = BTreeSet::new();
    for (at, start) in code.match_indices("crate::") {
        let rest = &code[at + start.len()..];
        let name = |text: &str| -> String {
            text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        match rest.strip_prefix('{') {
            None => found.extend(Some(name(rest))),
            Some(list) => {
                let mut depth = 0;
                let mut start = 0;
                for (at, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => {
                            found.insert(name(&list[start..]));
                            break;
                        }
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            found.insert(name(&list[start..]));
                            start = at + 1;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found.retain(|name| modules.contains(name));
    found
}
