//! Limits cycles of dependencies between modules of the engine, because modules in a cycle cannot
//! be understood, tested or changed one by one. Finds rows of tables that no code uses, and names
//! of types in all crates that tell too little.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum modules in a cycle.
const MOST: usize = 3;

/// Maximum modules of all crates that define a type of the same name. Where more do, a reader who
/// meets the name has to look up which one is meant: `Reader` is better called `TomlReader`.
const NAMESAKES: usize = 2;

/// Names that more modules may use, and why.
const COMMON_NAMES: &[(&str, &str)] = &[
    ("Type", "CEL, schemas and the code that `check` follows each have a type system; each crate has one `Type`"),
    ("Value", "Starlark, manifests and KubeVirt's VMs each have values; each crate has one `Value`"),
];

type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn circles_are_small() {
    let graph = graph(&sources());
    assert!(graph.len() > 15, "the sources were not found");
    assert!(graph["library"].contains("template"), "dependencies were not found");
    let largest = graph.keys().map(|module| circle_of(&graph, module)).max_by_key(BTreeSet::len).unwrap_or_default();
    assert!(largest.len() <= MOST, "{} modules depend on each other: {largest:?}", largest.len());
}

/// The compiler cannot tell: the table itself uses each variant.
#[test]
fn each_annotation_has_code() {
    let root = sources();
    let mut files = Vec::new();
    list(&root, &mut files);
    let code: String = files
        .iter()
        .filter(|path| !is_test(path) && !path.ends_with("annotation.rs"))
        .map(|path| without_tests(&fs::read_to_string(path).unwrap()).to_owned())
        .collect();
    let words: BTreeSet<&str> = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).collect();
    let table = fs::read_to_string(root.join("annotation.rs")).unwrap();
    let (_, rows) = table.split_once("\nannotations! {").expect("the table of annotations");
    let rows = rows.split("\n}").next().unwrap_or_default();
    let row = |line: &str| {
        let (variant, _) = line.strip_prefix("    ")?.split_once(" \"")?;
        variant.chars().all(char::is_alphanumeric).then(|| variant.to_owned())
    };
    let variants: Vec<String> = rows.lines().filter_map(row).collect();
    assert!(variants.len() > 30, "the rows were not found");
    for variant in variants {
        // Those of the template front end never reach a node: it recognises them by their names.
        let is_front_end = variant.starts_with("Template");
        let is_used = words.iter().any(|word| word.strip_suffix(&variant).is_some_and(|path| path.ends_with("Ann::")));
        assert!(
            is_used || is_front_end,
            "Ann::{variant}: crates/engine/src/annotation.rs has a row, but no code uses it"
        );
    }
}

#[test]
fn names_of_types_tell_which_one_is_meant() {
    let crates = sources().join("../..");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        list(&entry.unwrap().path().join("src"), &mut files);
    }
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files.iter().filter(|path| !is_test(path)) {
        let text = fs::read_to_string(path).unwrap();
        let module = path.strip_prefix(&crates).unwrap().display().to_string();
        for name in types(without_tests(&text)) {
            modules.entry(name.to_owned()).or_default().insert(module.clone());
        }
    }
    assert!(
        modules["Project"].iter().any(|module| module.ends_with("engine/src/project/mod.rs")),
        "no types were found"
    );
    for (name, modules) in &modules {
        let is_common = COMMON_NAMES.iter().any(|(common, _)| common == name);
        assert!(
            modules.len() <= NAMESAKES || is_common,
            "a name that tells, please: `{name}` is in each of {modules:?}"
        );
        assert!(modules.len() > NAMESAKES || !is_common, "`{name}` need not be in COMMON_NAMES any more");
    }
}

#[test]
fn types_are_found() {
    let text = "pub(super) struct A<'a> {\n    x: u8,\n}\nenum B {}\npub trait C: D {}\npub type E = u8;\n\
                impl C for B {\n    type F = u8;\n}\n/// struct G\nfn f() {\n    struct H;\n}\n";
    assert_eq!(types(text).collect::<Vec<_>>(), ["A", "B", "C", "E", "H"]);
}

/// The names of the types and traits that a source defines, without associated types.
fn types(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let code = line.trim_start();
        let code = match code.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
            Some(rest) => rest.trim_start(),
            None => code,
        };
        let (keyword, rest) = code.split_once(' ')?;
        let defines = matches!(keyword, "struct" | "enum" | "trait" | "union")
            || keyword == "type" && !line.starts_with(char::is_whitespace);
        defines.then(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
    })
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
    let modules = ["deep", "node", "run", "template", "x"].map(str::to_owned).into();
    let known = names(
        "mod x;\npub use node::{\n    Map, Node,\n};\nuse deep::deep;\npub use ytterby_diag as diag;\n",
        &modules,
    );
    assert_eq!(known["Node"], "node");
    assert!(!known.contains_key("diag"));
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
    let names = names(&fs::read_to_string(root.join("lib.rs")).unwrap(), &modules);
    let mut graph: Graph = modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
    for path in &files {
        let module = module_of(path);
        let Some(edges) = graph.get_mut(&module).filter(|_| !is_test(path)) else { continue };
        let text = fs::read_to_string(path).unwrap();
        let uses = uses(without_tests(&text), &names);
        edges.extend(uses.into_iter().map(|name| names[&name].clone()).filter(|other| *other != module));
    }
    graph
}

/// The module of each name directly below `crate::`: modules, and what `lib.rs` exports from them.
fn names(lib: &str, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut names: BTreeMap<String, String> = modules.iter().map(|name| (name.clone(), name.clone())).collect();
    for item in lib.split(';') {
        let Some((_, path)) = item.trim().rsplit_once("use ") else { continue };
        let Some((module, exports)) = path.split_once("::").filter(|(module, _)| modules.contains(*module)) else {
            continue;
        };
        let exports = exports.trim_matches(['{', '}']).split(',').map(str::trim).filter(|name| !name.is_empty());
        names.extend(exports.map(|name| (name.to_owned(), module.to_owned())));
    }
    names
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
        || ["tests.rs", "laws.rs", "documented.rs"].iter().any(|name| path.ends_with(name))
}

fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod ").next().unwrap_or_default()
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

/// The names directly after `crate::` in a source.
fn uses(text: &str, names: &BTreeMap<String, String>) -> BTreeSet<String> {
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
    found.retain(|name| names.contains_key(name));
    found
}
