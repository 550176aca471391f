//! Tables of small cases: offered completions, definitions, results of actions.
//!
//! A row is the body of a template (or another file) with the cursor at `«1»`.

mod session;

use session::Session;

const SCHEMA: &str = "#@data/values-schema
---
#@schema/desc \"How many copies run.\"
#@schema/validation min=1, max=9
replicas: 2
#@schema/validation one_of=[\"debug\", \"info\"]
level: info
name: shop
db:
  host: localhost
  port: 5432
zones:
- name: \"\"
  #@schema/nullable
  weight: 0
tls:
  enabled: false
#@schema/validation one_of=[80, 443]
web_port: 80
";

const LOADS: &str = "#@ load(\"@ytt:data\", \"data\")
#@ load(\"@ytt:json\", \"json\")
#@ load(\"@ytt:overlay\", \"overlay\")
#@ load(\"@ytt:library\", \"library\")
---
";

const OTHERS: [(&str, &str); 6] = [
    ("schema.yml", SCHEMA),
    ("names.star", "SUFFIX = \"x\"\ndef full(name, count=1):\n  return name + SUFFIX\nend\n"),
    ("labels.lib.yml", "#@ def labels():\napp: shop\n#@ end\n"),
    ("_ytt_lib/cache/schema.yml", "#@data/values-schema\n---\nsize: 1\n"),
    ("_ytt_lib/cache/help.star", "def helper():\n  return 1\nend\n"),
    ("start.sh", "echo started\n"),
];

fn session(name: &str, language: &str, text: &str) -> Session {
    let mut files = OTHERS.to_vec();
    files.push((name, text));
    let mut session = Session::new(&files);
    session.open(name, language);
    session
}

/// Rows: a body, offered labels, and labels that must not be offered.
type Rows<'a> = &'a [(&'a str, &'a [&'a str], &'a [&'a str])];

#[track_caller]
fn offers(name: &str, language: &str, head: &str, rows: Rows<'_>) {
    for (body, wanted, unwanted) in rows {
        let labels = session(name, language, &format!("{head}{body}")).labels(&format!("{name}@1"));
        let has = |label: &&&str| labels.iter().any(|known| known == **label);
        let missing: Vec<_> = wanted.iter().filter(|label| !has(label)).collect();
        let surplus: Vec<_> = unwanted.iter().filter(has).collect();
        assert!(missing.is_empty() && surplus.is_empty(), "{body}: without {missing:?}, with {surplus:?}: {labels:?}");
    }
}

#[test]
fn data_values_are_completed_everywhere() {
    let top: &[&str] = &["replicas", "db"];
    let zone: &[&str] = &["name", "weight"];
    offers(
        "t.yml",
        "ytt",
        LOADS,
        &[
            ("a: #@ data.values.zones[0].«1»", zone, &["replicas"]),
            ("#@ for z in data.values.zones:\n- #@ z.«1»\n#@ end\n", zone, &["replicas"]),
            ("a: #@ [z.«1» for z in data.values.zones]\n", zone, &["replicas"]),
            ("a: #@ data.values[\"«1»\"]\n", top, &["host"]),
            ("a: #@ data.values[\"db\"].«1»\n", &["host", "port"], &["replicas"]),
            ("a: #@ data.values.db.host if data.values.tls.«1» else 1\n", &["enabled"], &["replicas"]),
            ("#@yaml/text-templated-strings\na: \"x-(@= data.values.«1» @)\"\n", top, &["host"]),
            ("#@ if/end data.values.«1»\na: 1\n", top, &["host"]),
            ("a: #@ hasattr(data.values, \"«1»\")\n", top, &["host"]),
            ("a: #@ getattr(data.values.db, \"«1»\", 1)\n", &["host", "port"], &["replicas"]),
            ("a: #@ data.values.name.«1»\n", &["upper", "split"], &["append"]),
            ("a: #@ data.values.zones.«1»\n", &["index"], &["upper"]),
            ("#! data.values.«1»\na: 1\n", &[], top),
            ("a: #@ data . values . «1»\n", top, &["host"]),
            ("a: #@ data.values. «1»\n", top, &["host"]),
            ("a: #@ data.values[\"«1»\n", top, &["host"]),
            ("a: #@ str(data.values[\"db\"][\"«1»\n", &["host", "port"], &["replicas"]),
            ("#@ for i, z in enumerate(data.values.zones):\n- #@ z.«1»\n#@ end\n", zone, &["replicas"]),
            ("#@ for z in reversed(data.values.zones):\n- #@ z.«1»\n#@ end\n", zone, &["replicas"]),
            ("a: #@ [z.«1» for i, z in enumerate(data.values.zones)]\n", zone, &["replicas"]),
            ("#@ if data.values.level == \"«1»\":\na: 1\n#@ end\n", &["debug", "info"], &["replicas"]),
            ("#@ if data.values.name == \"«1»\":\na: 1\n#@ end\n", &[], &["debug", "replicas"]),
            ("a: #@ \"data.values.«1»\"\n", &[], top),
        ],
    );
}

#[test]
fn completed_methods_depend_on_types() {
    offers(
        "t.yml",
        "ytt",
        LOADS,
        &[
            ("a: #@ \"x\".«1»\n", &["upper", "format"], &["append", "keys"]),
            ("#@ names = [\"a\"]\na: #@ names.«1»\n", &["append"], &["upper"]),
            ("#@ d = {\"a\": 1}\na: #@ d.«1»\n", &["keys", "get"], &["append"]),
            ("#@ s = \"a\" + str(1)\na: #@ s.«1»\n", &["upper"], &["append"]),
            ("#@ s = \"a,b\".split(\",\")\na: #@ s.«1»\n", &["append"], &["upper"]),
            ("a: #@ (\"a\").«1»\n", &["upper"], &[]),
            ("a: #@ json.encode({}).«1»\n", &["upper"], &["append"]),
            ("a: #@ library.get(\"cache\").«1»\n", &["eval", "export"], &["get"]),
            ("#@ lib = library.get(\"cache\").with_data_values({})\na: #@ lib.«1»\n", &["eval"], &["get"]),
            ("a: #@ library.«1»\n", &["get"], &["eval"]),
            ("a: #@ base64.«1»\n", &["encode", "decode"], &["upper"]),
            ("#@ x = 1 if True else \"a\"\na: #@ x.«1»\n", &[], &["upper"]),
            ("#@ def f(x):\n#@   return x.«1»\n#@ end\n", &[], &["upper", "append"]),
        ],
    );
}

#[test]
fn annotations_and_strings_are_completed() {
    offers(
        "t.yml",
        "ytt",
        LOADS,
        &[
            ("#@schema/«1»\na: 1\n", &["schema/desc", "schema/any-key", "schema/one-of"], &["overlay/match"]),
            ("#@overlay/match by=overlay.all, «1»\na: 1\n", &["expects", "missing_ok", "when"], &["by"]),
            ("#@schema/validation min=1, «1»\na: 1\n", &["max", "one_of", "when"], &["min"]),
            ("#@assert/validate «1»\na: 1\n", &["min", "when"], &["by"]),
            ("#@schema/type «1»\na: 1\n", &["any", "one_of", "or_inferred"], &["by"]),
            ("#@library/ref \"«1»\"\n#@data/values\n---\na: 1\n", &["@cache"], &[]),
            ("#@ load(\"«1»\", \"x\")\na: 1\n", &["names.star", "labels.lib.yml", "@cache:help.star"], &["schema.yml"]),
            ("#@ load(\"@cache:help.star\", \"«1»\")\na: 1\n", &["helper"], &[]),
            ("#@ load(\"names.star\", \"«1»\")\na: 1\n", &["full", "SUFFIX"], &[]),
            ("#@schema/validation format=\"«1»\na: 1\n", &["email", "port"], &[]),
            ("#@ load(\"/«1»\", \"x\")\na: 1\n", &["/names.star", "/labels.lib.yml"], &["names.star"]),
            ("a: #@ data.read(\"«1»\")\n", &["names.star", "schema.yml"], &["t.yml"]),
            ("#@ def f(name, count=1):\n#@ end\na: #@ f(name=1, «1»)\n", &["count"], &["name"]),
        ],
    );
}

#[test]
fn manifests_need_no_project_file() {
    let container = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    imagePullPolicy: «1»\n";
    offers(
        "t.yml",
        "ytt",
        LOADS,
        &[
            ("apiVersion: apps/v1\nkind: Deployment\nspec:\n  «1»\n", &["replicas", "selector"], &["clusterIP"]),
            ("apiVersion: v1\nkind: «1»\n", &["Service", "Pod"], &["Deployment"]),
            (container, &["Always", "Never"], &["image"]),
            ("shop:\n  name: a\n«1»\n", &[], &["apiVersion", "kind"]),
            ("apiVersion: apps/v1\nkind: Deployment\nspec: {paused: true, «1»}\n", &["replicas"], &["paused", "kind"]),
        ],
    );
    // An overlay has the kind that it matches.
    offers(
        "o.yml",
        "ytt",
        "#@ load(\"@ytt:overlay\", \"overlay\")\n",
        &[
            (
                "#@overlay/match by=overlay.subset({\"kind\": \"Service\"})\n---\nspec:\n  «1»\n",
                &["ports"],
                &["replicas"],
            ),
            ("#@overlay/match by=overlay.all\n---\nspec:\n  «1»\n", &[], &["ports"]),
        ],
    );
}

#[test]
fn values_files_are_completed_everywhere() {
    offers(
        "values.yml",
        "ytt-values",
        "",
        &[
            ("«1»\n", &["replicas", "db"], &["host"]),
            ("db: {host: a, «1»}\n", &["port"], &["replicas"]),
            ("zones:\n- name: a\n  «1»\n", &["weight"], &["name", "replicas"]),
            ("zones: [{«1»}]\n", &["name", "weight"], &["replicas"]),
            ("tls:\n  enabled: «1»\n", &["true", "false"], &[]),
            ("level: \"«1»\"\n", &["debug", "info"], &[]),
            ("web_port: «1»\n", &["80", "443"], &[]),
            ("# «1»\n", &[], &["replicas", "db"]),
            ("level: info # «1»\n", &[], &["debug", "replicas"]),
            ("# é😀\ndb:\n  host: \"é😀\"\n  «1»\nlevel: info\n", &["port"], &["host", "replicas"]),
        ],
    );
    offers("v.yml", "ytt", "#@library/ref \"@cache\"\n#@data/values\n---\n", &[("«1»\n", &["size"], &["replicas"])]);
}

#[test]
fn project_files_are_completed_everywhere() {
    offers(
        "ytterby.yml",
        "yaml",
        "",
        &[
            ("«1»\n", &["files", "targets"], &[]),
            ("files: [«1»]\n", &["_ytt_lib", "schema.yml"], &["start.sh"]),
            ("files:\n- «1»\n", &["schema.yml"], &[]),
            ("files: [schema.yml]\ntargets:\n  dev: {«1»}\n", &["values", "set"], &["targets"]),
            ("files: [schema.yml]\ntargets:\n  dev:\n    values: [«1»]\n", &["schema.yml"], &["_ytt_lib"]),
            ("files: [schema.yml]\ntargets:\n  dev:\n    set: {«1»}\n", &["replicas", "db"], &["values"]),
            ("files: [schema.yml]\nset:\n  db:\n    «1»\n", &["host", "port"], &["replicas"]),
            ("kubernetes: «1»\n", &["\"1.36\""], &[]),
            ("files: [schema.yml]\nset:\n  db.«1»\n", &["db.host", "db.port"], &["replicas", "db"]),
            ("files: [schema.yml]\nset:\n  level: «1»\n", &["debug", "info"], &["files"]),
            ("files: [schema.yml]\ntargets:\n  dev: {set: {tls.enabled: «1»}}\n", &["true", "false"], &["files"]),
        ],
    );
}

#[test]
fn definitions_are_found_everywhere() {
    let libraries = "#@library/ref \"@«2»cache\"\n#@data/values\n---\n«1»size: 2\n";
    let mut own = session("v.yml", "ytt", libraries);
    assert_eq!(own.places("definition", "v.yml@1"), ["_ytt_lib/cache/schema.yml:3"]);
    assert_eq!(own.places("definition", "v.yml@2"), ["_ytt_lib/cache/schema.yml:1"]);
    let files = [
        ("schema.yml", SCHEMA),
        ("names.star", "def full(«p»name, count=1):\n  return name\nend\n"),
        ("t.yml", "#@ load(\"names.star\", \"full\")\n---\na: #@ full(«a»name=1)\nb: #@ full(count=2, name=3)\n"),
        ("ytterby.yml", "files: [schema.yml, names.star, t.yml]\nset: {db.«h»host: x, replicas: 1}\n"),
    ];
    let mut session = Session::new(&files);
    session.open("t.yml", "ytt");
    assert_eq!(session.places("definition", "t.yml@a"), ["names.star:1"]);
    assert_eq!(session.places("references", "names.star@p"), ["names.star:1", "names.star:2", "t.yml:3", "t.yml:4"]);
    assert_eq!(session.places("definition", "ytterby.yml@h"), ["schema.yml:10"]);
}

#[test]
fn structs_and_modules_of_a_project_have_fields() {
    let code = "load(\"@ytt:module\", \"module\")\nload(\"@ytt:struct\", \"struct\")
def _full(name, suffix=\"\"):
  \"\"\"Gives the full name.\"\"\"
  return name
end
names = module.make(\"names\", full=_full, limit=3)
place = struct.make(host=\"a\", port=1)
";
    let template =
        "#@ load(\"own.star\", \"names\", \"place\")\n---\na: #@ names.«1»f«2»ull(«3»)\nb: #@ place.«4»host\n";
    let mut session = Session::new(&[("own.star", code), ("t.yml", template)]);
    session.open("t.yml", "ytt");
    assert_eq!(session.labels("t.yml@1"), ["full", "limit"]);
    assert_eq!(session.labels("t.yml@4"), ["host", "port"]);
    assert!(session.hover("t.yml@2").contains("Gives the full name."));
    assert_eq!(session.places("definition", "t.yml@2"), ["own.star:3", "own.star:7"]);
    assert_eq!(session.places("definition", "t.yml@4"), ["own.star:8"]);
    let at = session.at("t.yml@3");
    let help = session.request("textDocument/signatureHelp", at).unwrap();
    assert_eq!(help["signatures"][0]["label"], "_full(name, suffix=\"\")");
}

#[test]
fn attributes_in_strings_are_data_values() {
    let template = "#@ load(\"@ytt:data\", \"data\")\n---\n#@ if hasattr(data.values.db, \"host\"):
a: #@ getattr(data.values.db, \"«1»host\")\n#@ end\n";
    let mut session = session("t.yml", "ytt", template);
    assert!(session.hover("t.yml@1").contains("localhost"));
    assert_eq!(session.places("references", "t.yml@1"), ["schema.yml:10", "t.yml:3", "t.yml:4"]);
    let mut params = session.at("t.yml@1");
    params["newName"] = serde_json::json!("address");
    let edit = session.request("textDocument/rename", params).unwrap();
    let after = &session.edited(&edit)["t.yml"];
    assert!(
        after.contains("hasattr(data.values.db, \"address\")")
            && after.contains("getattr(data.values.db, \"address\")")
    );
}

#[test]
fn hovers_tell_unions_comments_and_values_of_set() {
    let files = [
        (
            "schema.yml",
            "#@data/values-schema\n---\n#@schema/type \"string\", \"int\"\n«1»size: 1\n#@schema/desc \"Its colour.\"\ncolor: red\n",
        ),
        ("own.star", "# Gives it back.\n# Unchanged.\ndef same(x):\n  return x\nend\n"),
        (
            "t.yml",
            "#@ load(\"own.star\", \"same\")\n#! Makes labels.\n#@ def labels():\na: 1\n#@ end\n---\na: #@ «1»same(1)\nb: #@ «2»labels()\n",
        ),
        ("ytterby.yml", "files: [schema.yml, own.star, t.yml]\nset: {«1»color: blue}\n"),
    ];
    let mut session = Session::new(&files);
    for (name, _) in &files {
        session.open(name, "ytt");
    }
    assert!(session.hover("schema.yml@1").contains("`string or integer`"));
    assert!(session.hover("t.yml@1").contains("Gives it back.\nUnchanged."));
    assert!(session.hover("t.yml@2").contains("Makes labels."));
    assert!(session.hover("ytterby.yml@1").contains("Its colour."));
}

#[test]
fn definitions_of_the_project_count_as_kinds() {
    let definition = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.test.io}
spec:
  group: test.io
  names: {kind: Shop, plural: shops}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1, default: 3, description: How big it is.}
              mode: {type: string, enum: [fast, slow]}
";
    let files = [
        ("crds/shop.yml", definition),
        ("ytterby.yml", "files: [t.yml]\nkubernetes: \"1.36\"\nschemas: [crds]\n"),
        ("t.yml", "apiVersion: test.io/v1\nkind: Shop\nspec:\n  «1»size: 1\n  mode: «2»\n"),
    ];
    let mut session = Session::new(&files);
    session.open("t.yml", "ytt");
    let hover = session.hover("t.yml@1");
    assert!(
        ["**spec.size**: `integer`", "How big it is.", "Default: `3`"].iter().all(|part| hover.contains(part)),
        "{hover}"
    );
    assert_eq!(session.labels("t.yml@2"), ["fast", "slow"]);
}

#[test]
fn a_kind_without_a_version_is_the_stable_one() {
    let mut session = Session::new(&[("t.yml", "kind: Deployment\nspec:\n  «1»\n")]);
    session.open("t.yml", "ytt");
    assert!(session.labels("t.yml@1").contains(&"replicas".to_owned()));
}

/// Without a project file, a library belongs to the project of those who use it.
#[test]
fn dictionaries_for_libraries_are_values() {
    let template = "#@ load(\"@ytt:library\", \"library\")\n#@ app = library.get(\"app\", alias=\"x\")\n\
        #@ app = app.with_data_values({\"«1»port\": 1, \"db\": {\"«2»\": 3}, \"users\": [{\"«3»name\": \"a\"}]})\n\
        #@ other = library.get(\"app\").with_data_values({\"db\": {}, «4»})\n---\na: 1\n";
    let schema = "#@data/values-schema\n---\nport: 80\ndb:\n  host: h\nusers:\n- name: \"\"\n";
    let files = [
        ("t.yml", template),
        ("_ytt_lib/app/schema.yml", schema),
        ("_ytt_lib/app/t.yml", "#@ load(\"@ytt:data\", \"data\")\n---\np: #@ data.values.«1»port\n"),
    ];
    let mut session = Session::new(&files);
    session.open("t.yml", "ytt");
    session.open("_ytt_lib/app/t.yml", "ytt");
    assert_eq!(session.labels("t.yml@2"), ["host"]);
    let labels = session.labels("t.yml@4");
    assert!(labels.contains(&"port".to_owned()) && !labels.contains(&"db".to_owned()), "{labels:?}");
    assert!(session.hover("t.yml@1").contains("**port**: `integer`"));
    assert_eq!(session.places("definition", "t.yml@3"), ["_ytt_lib/app/schema.yml:7"]);
    for place in ["t.yml@1", "_ytt_lib/app/t.yml@1"] {
        let mut params = session.at(place);
        params["newName"] = serde_json::json!("number");
        let edit = session.request("textDocument/rename", params).unwrap();
        let texts = session.edited(&edit);
        assert!(texts["t.yml"].contains("{\"number\": 1,"), "{texts:?}");
        assert!(texts["_ytt_lib/app/schema.yml"].contains("number: 80"), "{texts:?}");
        assert!(texts["_ytt_lib/app/t.yml"].contains("data.values.number"), "{texts:?}");
    }
}

#[test]
fn brackets_of_code_fold() {
    let code = "a = {\n  \"b\": [\n    1,\n  ],\n}\nf(1,\n  2)\nx = (\n";
    let mut session = Session::new(&[("a.star", code), ("t.yml", "#@ a = [\n#@   1,\n#@ ]\n---\nb: 1\n")]);
    let mut folds = |name: &str| -> Vec<(u64, u64)> {
        session.open(name, "ytt");
        let params = serde_json::json!({"textDocument": {"uri": session.uri(name)}});
        let found = session.request("textDocument/foldingRange", params).unwrap();
        let line = |fold: &serde_json::Value, key: &str| fold[key].as_u64().unwrap();
        found.as_array().unwrap().iter().map(|fold| (line(fold, "startLine"), line(fold, "endLine"))).collect()
    };
    assert_eq!(folds("a.star"), [(0, 3), (1, 2), (5, 6)]);
    assert!(folds("t.yml").contains(&(0, 1)));
}

#[test]
fn keys_that_a_pattern_allows_are_known() {
    let files = [
        (
            "schema.yml",
            "#@data/values-schema\n---\nshops:\n  #@schema/any-key\n  any:\n    #@schema/desc \"Its colour.\"\n    color: red\n",
        ),
        ("values.yml", "shops:\n  north:\n    «1»color: blue\n  south:\n    «2»\n  «3»\n"),
        ("t.yml", "#@ load(\"@ytt:data\", \"data\")\n---\na: #@ data.values.shops.north.«1»color\n"),
    ];
    let mut session = Session::new(&files);
    session.open("values.yml", "ytt-values");
    session.open("t.yml", "ytt");
    assert!(session.hover("values.yml@1").contains("Its colour."));
    assert_eq!(session.labels("values.yml@2"), ["color"]);
    assert_eq!(session.labels("values.yml@3"), Vec::<String>::new());
    assert!(session.hover("t.yml@1").contains("Its colour."));
    assert_eq!(session.places("definition", "t.yml@1"), ["schema.yml:7"]);
    // A pattern declares no name: new names are free.
    let files = [
        ("schema.yml", "#@data/values-schema\n---\n«1»name: a\n#@schema/any-key\nany: \"\"\n"),
        ("t.yml", "#@ load(\"@ytt:data\", \"data\")\n---\nimage: «1»nginx\n"),
    ];
    let mut session = Session::new(&files);
    session.open("t.yml", "ytt");
    assert!(session.action("t.yml@1", "Extract")["schema.yml"].contains("\nimage: nginx\n"));
    let mut params = session.at("schema.yml@1");
    params["newName"] = serde_json::json!("title");
    assert!(session.request("textDocument/rename", params).is_ok());
}

#[test]
fn anchors_in_flow_collections_are_found() {
    let mut session = session("t.yml", "ytt", "a: {b: &«d»x {c: 1}}\nd: [*«1»x, 2]\ne: *x\n");
    assert_eq!(session.places("references", "t.yml@1"), ["t.yml:1", "t.yml:2", "t.yml:3"]);
    assert_eq!(session.places("definition", "t.yml@1"), ["t.yml:1"]);
}

#[test]
fn symbols_of_libraries_are_found() {
    let mut session = session("t.yml", "ytt", "a: 1\n");
    let found = session.request("workspace/symbol", serde_json::json!({"query": "size"})).unwrap();
    assert_eq!(found[0]["location"]["uri"], session.uri("_ytt_lib/cache/schema.yml"));
}

/// Takes an action, and checks that nothing is wrong afterwards.
#[track_caller]
fn mends(name: &str, language: &str, text: &str, title: &str, result: &str) {
    let mut session = session(name, language, text);
    session.open("schema.yml", "ytt");
    session.settle();
    let texts = session.action(&format!("{name}@1"), title);
    let after = texts.get(name).map_or_else(|| session.text(name).to_owned(), Clone::clone);
    let all: String = texts.values().cloned().collect();
    assert!(all.contains(result), "{title} gives\n{all}");
    for (changed, new) in &texts {
        let length = session.text(changed).len();
        session.edit(changed, 0, length, new);
    }
    for changed in [name, "schema.yml"] {
        let found = session.diagnostics(changed);
        assert!(found.iter().all(|found| found.contains(" lint/")), "{title}: {found:?} in\n{after}");
    }
}

#[test]
fn actions_leave_valid_files() {
    let load = "#@ load(\"@ytt:data\", \"data\")\n---\n";
    let t = |body: &str| format!("{load}{body}");
    for (body, title, result) in [
        ("a: #@ data.values.db.«1»user\n", "Declare data value db.user", "  user: \"\""),
        ("#@ for z in data.values.zones:\n- #@ z.«1»color\n#@ end\n", "Declare", "  color: \"\""),
        ("«1»#@ if True:\na: 1\n", "Add #@ end", "a: 1\n#@ end"),
        ("x:\n  «1»#@ for i in [1]:\n  - #@ i\nz: 1\n", "Add #@ end", "  - #@ i\n  #@ end\nz: 1"),
        ("a: #@ «1»full(\"x\")\n", "Load full from names.star", "load(\"names.star\", \"full\")"),
        ("a:\n  image: «1»nginx #! keep me\n", "Extract", "  #! keep me\n  image: #@ data.values.image"),
        ("zones: «1»[a, b]\n", "Extract", "#@schema/default [\"a\", \"b\"]\nzones2:\n- \"\""),
        ("\"on\": «1»true\n", "Extract", "value_on: true"),
        ("a: #@ data.values.«1»replcas\n", "replicas", "data.values.replicas"),
        ("a: 1\n«1»#@ end\nb: 1\n", "Remove the end", "a: 1\nb: 1\n"),
    ] {
        mends("t.yml", "ytt", &t(body), title, result);
    }
    for (values, title, result) in [
        ("«1»color: red # keep me\n", "Declare data value color", "color: red\n"),
        ("db:\n  «1»options: {a: 1}\n", "Declare data value db.options", "#@schema/type any=True\n  options: null"),
        ("level: «1»inf # keep me\n", "Replace by info", "level: info # keep me"),
        ("web_port: «1»81\n", "Replace by 80", "web_port: 80"),
        ("name: «1»5 # keep me\n", "Quote", "name: \"5\" # keep me"),
    ] {
        mends("values.yml", "ytt-values", values, title, result);
    }
}

#[test]
fn a_required_value_can_be_added() {
    let schema =
        "#@data/values-schema\n---\n#@schema/required\nhost: \"\"\ndb:\n  #@schema/required\n  user: \"\"\n  port: 1\n";
    let files = [("schema.yml", schema), ("values.yml", "# keep me\n«1»db:\n  port: 2\n")];
    let mut session = Session::new(&files);
    session.open("values.yml", "ytt-values");
    session.settle();
    let texts = session.action("values.yml@1", "Add the required value host");
    assert_eq!(texts["values.yml"], "# keep me\nhost: \"\"\ndb:\n  port: 2\n");
    let texts = session.action("values.yml@1", "Add the required value user");
    assert_eq!(texts["values.yml"], "# keep me\ndb:\n  user: \"\"\n  port: 2\n");
}
