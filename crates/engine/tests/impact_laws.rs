//! `explain` finds the same effects of a data value as comparing all renders.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;
use ytterby::{Content, InputFile, Options, OutputTypes, Question, Silent, explain, render};
use ytterby_diag::Sources;

/// Data values with few values each, so that all of them can be tried: annotation, default, all
/// values.
const VALUES: [(&str, &str, &str, &[&str]); 5] = [
    ("a", "", "false", &["true", "false"]),
    ("b", "#@schema/validation min=0, max=3", "1", &["0", "1", "2", "3"]),
    ("c", "#@schema/validation one_of=[\"x\", \"w\", \"zz\"]", "x", &["x", "w", "zz"]),
    ("d", "#@schema/validation min=5, max=8", "6", &["5", "6", "7", "8"]),
    ("e", "", "true", &["true", "false"]),
];

/// Expressions over data values: direct, through conditions that may never matter, through
/// variables, functions of code and of YAML, comparisons, tables and comprehensions.
const EXPRESSIONS: [&str; 18] = [
    "data.values.b",
    "data.values.c",
    "data.values.d + data.values.b",
    "data.values.c if data.values.a else \"no\"",
    "data.values.b if data.values.d > 6 else data.values.b",
    "1 if data.values.d > 0 else 2",
    "var",
    "f(data.values.b)",
    "len(data.values.c)",
    "data.values.b % 2 == 0",
    "data.values.e and data.values.a",
    "max(data.values.b, data.values.d)",
    "7",
    "[data.values.b] * data.values.b",
    "\"on\" if data.values.c == \"zz\" else \"off\"",
    "{\"x\": 1, \"w\": 1, \"zz\": 2}[data.values.c]",
    "[n for n in range(data.values.b) if n > 1]",
    "g(data.values.a)",
];

const VARIABLES: [&str; 4] = ["data.values.d * 0", "data.values.c.upper()", "data.values.a or data.values.e", "3"];

#[derive(Clone, Debug)]
struct Project {
    variable: &'static str,
    keys: Vec<(&'static str, Option<char>)>,
    overlay: Option<&'static str>,
    document_if: Option<char>,
    /// A loop over as many turns as a data value says, which inserts by `template.replace()`.
    has_loop: bool,
}

fn project() -> impl Strategy<Value = Project> {
    let condition = prop::option::of(prop::sample::select(vec!['a', 'e']));
    let keys = prop::collection::vec((prop::sample::select(&EXPRESSIONS[..]), condition.clone()), 1..6);
    let overlay = prop::option::of(prop::sample::select(&EXPRESSIONS[..5]));
    (prop::sample::select(&VARIABLES[..]), keys, overlay, condition, any::<bool>()).prop_map(
        |(variable, keys, overlay, document_if, has_loop)| Project { variable, keys, overlay, document_if, has_loop },
    )
}

fn files(project: &Project) -> Vec<InputFile> {
    let mut schema = "#@data/values-schema\n---\n".to_owned();
    for (name, annotation, default, _) in VALUES {
        schema.push_str(&format!("{annotation}\n{name}: {default}\n").replace("\n\n", "\n"));
    }
    let schema = schema.replace("---\n\n", "---\n");
    let variable = project.variable;
    let mut template = format!(
        "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"@ytt:template\", \"template\")\n#@ var = {variable}\n#@ def f(x):\n#@   return x + data.values.d\n#@ end\n#@ def g(x):\n#@ if x:\ninner: #@ data.values.d\n#@ end\nm: 1\n#@ end\n---\nkind: K\nmetadata: {{name: main}}\nfixed: 1\nspec:\n  first: 0\n"
    );
    for (at, (expression, condition)) in project.keys.iter().enumerate() {
        let line = format!("  k{at}: #@ {expression}\n");
        match condition {
            Some(name) => template.push_str(&format!("  #@ if data.values.{name}:\n{line}  #@ end\n")),
            None => template.push_str(&line),
        }
    }
    if project.has_loop {
        template.push_str("list:\n#@ for n in range(data.values.b):\n- #@ template.replace([n + (1 if data.values.e else 0)])\n#@ end\n");
    }
    if let Some(name) = project.document_if {
        template.push_str(&format!("#@ if data.values.{name}:\n---\nkind: Extra\nmetadata: {{name: extra}}\n#@ end\n"));
    }
    let mut files = vec![("schema.yml", schema), ("t.yml", template)];
    if let Some(expression) = project.overlay {
        let overlay = format!(
            "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"@ytt:overlay\", \"overlay\")\n#@ var = 1\n#@overlay/match by=overlay.subset({{\"kind\": \"K\"}})\n---\nspec:\n  first: #@ {expression}\n"
        );
        files.push(("z.yml", overlay));
    }
    files.into_iter().map(|(name, text)| InputFile::new(name, Content::new(text.into_bytes()))).collect()
}

/// The output as JSON documents by name.
fn documents(project: &Project, name: &str, value: &str) -> Vec<(String, serde_json::Value)> {
    let mut options = Options { output_types: OutputTypes(vec!["json".to_owned()]), ..Options::default() };
    options.values.yaml.push(format!("{name}={value}"));
    let sources = Arc::new(Sources::new());
    let rendered = render(files(project), &options, &sources, Rc::new(Silent));
    let rendered = rendered.unwrap_or_else(|failure| panic!("{}\n{project:?}", failure.text(&sources)));
    let stream = serde_json::Deserializer::from_slice(&rendered.documents).into_iter::<serde_json::Value>();
    let label = |doc: &serde_json::Value| {
        format!("{}/{}", doc["kind"].as_str().unwrap_or_default(), doc["metadata"]["name"].as_str().unwrap_or_default())
    };
    stream.map(|doc| doc.expect("the output is JSON")).map(|doc| (label(&doc), doc)).collect()
}

fn leaves(label: &str, value: &serde_json::Value, path: &str, found: &mut BTreeSet<(String, String)>) {
    match value {
        serde_json::Value::Object(map) if !map.is_empty() => {
            for (key, below) in map {
                let step = if path.is_empty() { format!("{label}:{key}") } else { format!("{path}.{key}") };
                leaves(label, below, &step, found);
            }
        }
        serde_json::Value::Array(items) if !items.is_empty() => {
            for (at, below) in items.iter().enumerate() {
                leaves(label, below, &format!("{path}[{at}]"), found);
            }
        }
        other => {
            found.insert((path.to_owned(), other.to_string()));
        }
    }
}

/// The leaves that depend on the value; for documents that appear or disappear, their names.
fn brute_force(project: &Project, name: &str, default: &str, all: &[&str]) -> BTreeSet<String> {
    let base = documents(project, name, default);
    let mut changed = BTreeSet::new();
    for value in all {
        let other = documents(project, name, value);
        for (one, two) in [(&base, &other), (&other, &base)] {
            for (label, doc) in one {
                let Some((_, partner)) = two.iter().find(|(name, _)| name == label) else {
                    changed.insert(label.clone());
                    continue;
                };
                let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
                leaves(label, doc, "", &mut before);
                leaves(label, partner, "", &mut after);
                changed.extend(before.difference(&after).map(|(path, _)| path.clone()));
            }
        }
    }
    changed
}

/// Collections are reported as a whole where they appear or become empty, and by their items
/// otherwise: compares the keys of `spec`.
fn by_key(paths: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let key = |path: String| {
        let path = path.split('[').next().unwrap_or_default();
        path.split('.').take(2).collect::<Vec<_>>().join(".")
    };
    paths.into_iter().map(key).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn impact_is_what_a_comparison_of_all_renders_finds(project in project()) {
        for (name, _, default, all) in VALUES {
            let sources = Arc::new(Sources::new());
            let question = [Question::Impact(name.to_owned())];
            let answers = explain(files(&project), &Options::default(), &sources, &question);
            let answers = answers.unwrap_or_else(|failure| panic!("{}\n{project:?}", failure.text(&sources)));
            let found = answers[0].impact.clone().unwrap_or_default();
            let expected = brute_force(&project, name, default, all);
            prop_assert_eq!(by_key(found), by_key(expected), "{} of {:?}", name, project);
        }
    }
}
