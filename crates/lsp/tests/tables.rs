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

/// Applies an action, and checks that there are no findings afterwards.
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
