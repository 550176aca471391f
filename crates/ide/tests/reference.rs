//! Runs every example of the reference for hover, completion and the manual, and compares its
//! output.
//!
//! `YTTERBY_BLESS=reference` writes the results into the files; read the diff.

use std::collections::BTreeMap;
use std::path::Path;

use ytterby::{Project, Values};
use ytterby_ide::reference::{self, ReferenceEntry};

const SCHEMA: &str = "#@data/values-schema\n---\nname: shop\nreplicas: 2\nport: 8080\n";
const BASE: &str = "\
kind: Deployment
metadata:
  name: shop
  labels:
    app: shop
  annotations:
    old: \"1\"
replicas: 2
containers:
- name: web
- name: logs
";
const DECLARED: &str =
    "#@data/values-schema\n---\n#@schema/desc \"How many copies run.\"\n#@schema/validation min=1\nreplicas: 2\n";

/// The subject of an example, which determines the code around it.
#[derive(Clone, Copy, PartialEq)]
enum Setting {
    Template,
    Schema,
    SchemaOverlay,
    Overlay,
}

fn setting(example: &str) -> Setting {
    let has = |text: &str| example.contains(text);
    match () {
        () if has("-anns") => Setting::SchemaOverlay,
        () if has("@schema/") && !has("schema.apply") => Setting::Schema,
        () if has("#@overlay/") => Setting::Overlay,
        () => Setting::Template,
    }
}

/// Renders an example with the code that it needs around it; the error is the text of the failure.
fn run(entry: &ReferenceEntry) -> Result<String, String> {
    let setting = setting(&entry.example);
    let mut text = String::new();
    for module in reference::modules() {
        let is_loaded = entry.example.contains(&format!("@ytt:{}\"", module.name));
        if entry.example.contains(&format!("{}.", module.name)) && !is_loaded {
            text.push_str(&format!("#@ load(\"@ytt:{0}\", \"{0}\")\n", module.name));
        }
    }
    // If an annotation has code, or a header has a document, the example is the whole file.
    let has_header = entry.example.contains("\n---") || entry.example.starts_with("---");
    match setting {
        Setting::Schema | Setting::SchemaOverlay if !entry.example.contains("@data/values-schema") => {
            text.push_str("#@data/values-schema\n---\n");
        }
        Setting::Overlay if !has_header => {
            text.insert_str(0, "#@ load(\"@ytt:overlay\", unused=\"overlay\")\n");
            text.push_str("#@overlay/match by=lambda index, left, right: True\n---\n");
        }
        Setting::Template if !has_header && !entry.example.contains("@data/values") => text.push_str("---\n"),
        _ => {}
    }
    text.push_str(&entry.example);
    let mut files = vec![
        (
            "names.star",
            "def full(name):\n  return name + \".example.com\"\nend\ndef short(name):\n  return name\nend\n",
        ),
        ("start.sh", "echo started\n"),
        ("assets/logo.txt", "logo\n"),
        ("_ytt_lib/cache/schema.yml", "#@data/values-schema\n---\nsize: 1\n"),
        ("_ytt_lib/cache/labels.star", "def labels():\n  return {\"app\": \"cache\"}\nend\n"),
        ("_ytt_lib/cache/config.yml", "#@ load(\"@ytt:data\", \"data\")\n---\nsize: #@ data.values.size\n"),
    ];
    match setting {
        Setting::Template => files.push(("schema.yml", SCHEMA)),
        Setting::Overlay => files.extend([("schema.yml", SCHEMA), ("base.yml", BASE)]),
        Setting::SchemaOverlay => files.push(("schema.yml", DECLARED)),
        Setting::Schema => {}
    }
    if entry.example.contains("@library/ref") {
        let text = "#@ load(\"@ytt:library\", \"library\")\n#@ load(\"@ytt:template\", \"template\")\n\
                    --- #@ template.replace(library.get(\"cache\").eval())\n";
        files.push(("use.yml", text));
    }
    files.push(("zz.yml", &text));
    let project = Project::new(files).map_err(|error| error.to_string())?;
    // Two examples are about required values.
    let values = match &*entry.name {
        "schema/required" => Values::new().set_text("host", "shop.test"),
        "not_null" => Values::new().set_text("name", "shop"),
        _ => Values::new(),
    };
    let output = project.render(&values).map_err(|error| format!("{error}\n{text}"))?;
    let warnings = output.warnings().iter().map(|warning| format!("{warning:?}"));
    // The module's own warning is irrelevant for an example.
    let warnings: Vec<String> = warnings.filter(|text| !text.contains("@ytt:math")).collect();
    if !warnings.is_empty() {
        return Err(format!("{}\n{text}", warnings.join("\n")));
    }
    let yaml = output.yaml().map_err(|error| error.to_string())?;
    Ok(match setting {
        Setting::Schema | Setting::SchemaOverlay => String::new(),
        // Files of the library and text files are not part of an example.
        Setting::Template | Setting::Overlay => yaml,
    })
}

fn all() -> BTreeMap<&'static str, Vec<&'static ReferenceEntry>> {
    let grouped =
        |groups: &'static [reference::ReferenceModule]| groups.iter().flat_map(|group| &group.members).collect();
    BTreeMap::from([
        ("annotations", reference::annotations().iter().collect()),
        ("builtins", reference::builtins().iter().collect()),
        ("methods", grouped(reference::types())),
        ("modules", grouped(reference::modules())),
        ("rules", reference::rules().iter().collect()),
    ])
}

#[test]
fn examples_run() {
    let mut problems = Vec::new();
    let bless = std::env::var("YTTERBY_BLESS").is_ok_and(|what| what == "reference");
    for (file, entries) in all() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/reference/{file}.txt"));
        let mut text = std::fs::read_to_string(&path).expect("the reference is there");
        for entry in entries.into_iter().filter(|entry| entry.on != "nothing") {
            match run(entry) {
                Err(problem) => problems.push(format!("{}: {problem}", entry.name)),
                Ok(printed) if bless => {
                    let lines: String = printed.lines().map(|line| format!("=> {line}\n")).collect();
                    let example: String = entry.example.lines().map(|line| format!("    {line}\n")).collect();
                    let shown = matches!(file, "builtins" | "methods" | "modules") && lines.lines().count() < 8;
                    let old: String = entry.result.lines().map(|line| format!("=> {line}\n")).collect();
                    let new = if shown { lines } else { String::new() };
                    let start = text.find(&format!("\n## {}", entry.signature)).map_or(0, |at| at + 1);
                    let at = text[start..].find(&example).map_or(0, |at| start + at + example.len());
                    text.replace_range(at..at + old.len(), &new);
                }
                Ok(printed) if !entry.result.is_empty() && printed != entry.result => {
                    problems.push(format!("{} prints\n{printed}not\n{}", entry.name, entry.result));
                }
                Ok(_) => {}
            }
        }
        if bless {
            std::fs::write(&path, text).expect("the reference can be written");
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn entries_are_complete() {
    for (file, entries) in all() {
        for entry in entries {
            let name = &entry.name;
            assert!(entry.text.ends_with('.'), "{file}: {name} has no sentence");
            assert!(entry.on == "nothing" || !entry.example.is_empty(), "{file}: {name} has no example");
            assert!(file != "annotations" || !entry.on.is_empty(), "{name} does not say where it belongs");
            // All parameters in the signature of a function are described.
            let described = |parameter: &String| {
                let parameter = parameter.trim_matches(['[', ']', '*', '…']);
                let own = parameter.split(['=', ',', '(']).next().unwrap_or_default();
                own.is_empty() || entry.arguments.iter().any(|(name, _)| name == own)
            };
            let missing: Vec<String> = entry.parameters().into_iter().filter(|one| !described(one)).collect();
            let is_function = matches!(file, "builtins" | "methods" | "modules");
            assert!(!is_function || missing.is_empty(), "{file}: {name} does not describe {missing:?}");
        }
    }
}

/// The methods of each type are those of the engine.
#[test]
fn methods_are_those_of_the_engine() {
    for (of, value) in [("string", "\"\""), ("list", "[]"), ("dict", "{}"), ("set", "set([])")] {
        let project = Project::new([("a.yml", format!("a: #@ dir({value})\n"))]).expect("the template compiles");
        let printed = project.render(&Values::new()).expect("it renders").yaml().expect("it can be written");
        let mut names: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        let of = reference::types().iter().find(|group| group.name == of).expect("the type is described");
        let mut known: Vec<&str> = of.members.iter().map(ReferenceEntry::own_name).collect();
        names.sort_unstable();
        known.sort_unstable();
        assert_eq!(names, known);
    }
}

#[test]
fn parameters_are_split_at_commas() {
    let entry = reference::member("assert", "validate").expect("it is described");
    let expected = ["key", "value", "[rule=argument, …]", "[(description, function), …]"];
    assert_eq!(entry.parameters(), expected);
}
