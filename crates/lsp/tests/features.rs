//! Features of the server, one by one, from a client's point of view.

mod session;

use serde_json::{Value, json};
use session::{Session, applied};

const SCHEMA: &str = "#@data/values-schema
---
#@schema/desc \"How many copies run.\"
#@schema/validation min=1, max=9
«replicas»replicas: 2
#@schema/validation one_of=[\"debug\", \"info\"]
level: info
db:
  «host»host: localhost
  port: 5432
";

const LOAD: &str = "#@ load(\"@ytt:data\", \"data\")\n---\n";

fn with_template(body: &str) -> Session {
    let template = format!("{LOAD}{body}");
    let mut session = Session::new(&[("schema.yml", SCHEMA), ("t.yml", &template)]);
    session.open("t.yml", "ytt");
    session
}

#[test]
fn completes_data_values_in_broken_files() {
    for body in [
        "a: #@ data.values.«1»",
        "a: b: c\n  x: [1, {\nspec:\n  replicas: #@ data.values.«1»\n \t- q\n",
        "#@ if data.values.«1»\n",
        "a: #@ [x for x in data.values.«1»",
        "b: #@ \"abc + data.\nc: #@ len(data.values.re«1»",
        "#@ v = data.values\na: #@ v.«1»",
        "#@ def f(x, y=data.values.«1»",
        "\"grüße 😀\": #@ \"😀é\" + data.values.«1» + \"😀\"",
    ] {
        let labels = with_template(body).labels("t.yml@1");
        assert!(labels.contains(&"replicas".to_owned()) && labels.contains(&"db".to_owned()), "{body}: {labels:?}");
        assert!(!labels.contains(&"host".to_owned()), "{body}: {labels:?}");
    }
    assert_eq!(with_template("a: #@ data.values.db.«1»").labels("t.yml@1"), ["host", "port"]);
}

#[test]
fn completes_names_arguments_and_annotations() {
    let mut session = with_template(
        "#@ total = 3\n#@ def f(name, count=1):\n#@   return «1»\n#@ end\na: #@ f(«2»)\n#@over«3»\n#@ fo«4»\n",
    );
    let inside = session.labels("t.yml@1");
    assert!(["name", "count", "total", "len"].iter().all(|name| inside.contains(&(*name).to_owned())), "{inside:?}");
    let call = session.labels("t.yml@2");
    assert!(call.contains(&"count".to_owned()) && call.contains(&"total".to_owned()), "{call:?}");
    assert!(session.labels("t.yml@3").contains(&"overlay/match".to_owned()));
    assert!(session.labels("t.yml@4").contains(&"for".to_owned()));
}

#[test]
fn completes_loads() {
    let files = [
        ("t.yml", "#@ load(\"«1»\")\n#@ load(\"lib/names.star\", \"«2»\")\n#@ load(\"@ytt:«3»\")\na: 1\n"),
        ("lib/names.star", "def full(n):\n  return n\nend\ndef _own():\n  return 1\nend\n"),
    ];
    let mut session = Session::new(&files);
    session.open("t.yml", "ytt");
    assert!(session.labels("t.yml@1").contains(&"lib/names.star".to_owned()));
    assert_eq!(session.labels("t.yml@2"), ["full"]);
    assert!(session.labels("t.yml@3").contains(&"@ytt:overlay".to_owned()));
}

#[test]
fn completes_keys_and_values_of_values_files() {
    let values = "replicas: 3\ndb:\n  po«2»\nlevel: «1»\n«3»\n";
    let mut session = Session::new(&[("schema.yml", SCHEMA), ("values.yml", values)]);
    session.open("values.yml", "ytt-values");
    assert_eq!(session.labels("values.yml@1"), ["debug", "info"]);
    assert_eq!(session.labels("values.yml@2"), ["host", "port"]);
    assert_eq!(session.labels("values.yml@3"), Vec::<String>::new());
}

#[test]
fn hovers_show_declarations() {
    let mut session =
        with_template("a: #@ data.values.«1»replicas\nb: #@ «2»len([1])\n#@overlay/«3»match missing_ok=True\nc: 1\n");
    let hover = session.hover("t.yml@1");
    assert!(hover.contains("How many copies run.") && hover.contains("`min=1`") && hover.contains("`2`"), "{hover}");
    assert!(session.hover("t.yml@2").contains("length"));
    assert!(session.hover("t.yml@3").contains("missing_ok"));
}

#[test]
fn secrets_are_not_shown() {
    let schema = "#@data/values-schema\n---\n#@schema/secret\n«k»token: xyzzy\n";
    let template = format!("{LOAD}a: #@ data.values.«1»token\n");
    let values = "«v»token: hunter2\n";
    let project = "files: [schema.yml, t.yml]\ntargets:\n  dev: {values: [v.yml]}\n";
    let mut session =
        Session::new(&[("schema.yml", schema), ("t.yml", &template), ("v.yml", values), ("ytterby.yml", project)]);
    session.open("t.yml", "ytt");
    session.open("v.yml", "ytt-values");
    session.settle();
    for place in ["t.yml@1", "v.yml@v", "schema.yml@k"] {
        let hover = session.hover(place);
        assert!(hover.contains("token") && !hover.contains("xyzzy") && !hover.contains("hunter2"), "{place}: {hover}");
    }
    let params = json!({"textDocument": {"uri": session.uri("t.yml")}, "range": {
        "start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}});
    assert!(!session.request("textDocument/inlayHint", params).unwrap().to_string().contains("hunter2"));
}

#[test]
fn finds_definitions_and_references_across_files() {
    let files = [
        ("schema.yml", SCHEMA),
        (
            "t.yml",
            "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"n.star\", \"full\", «a»x=\"full\")\n---\na: #@ «f»full(data.values.db.«h»host)\nb: #@ «y»x(1)\n",
        ),
        ("n.star", "def «d»full(n):\n  return n\nend\n"),
        ("values.yml", "db:\n  host: a\n"),
    ];
    let mut session = Session::new(&files);
    session.open("t.yml", "ytt");
    session.open("values.yml", "ytt-values");
    assert_eq!(session.places("definition", "t.yml@f"), ["n.star:1"]);
    assert_eq!(session.places("definition", "t.yml@y"), ["n.star:1"]);
    assert_eq!(session.places("definition", "t.yml@h"), ["schema.yml:9"]);
    assert_eq!(session.places("references", "schema.yml@host"), ["schema.yml:9", "t.yml:4", "values.yml:2"]);
    assert_eq!(session.places("references", "n.star@d"), ["n.star:1", "t.yml:2", "t.yml:2", "t.yml:4"]);
}

#[test]
fn renames_values_functions_and_aliases() {
    let files = [
        ("schema.yml", SCHEMA),
        (
            "t.yml",
            "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"n.star\", \"full\", x=\"full\")\n---\na: #@ «f»full(data.values.«r»replicas)\nb: #@ «y»x(1)\nfull: full\n",
        ),
        ("n.star", "def full(n):\n  return n\nend\n"),
    ];
    let mut session = Session::new(&files);
    session.open("t.yml", "ytt");
    let mut rename = |place: &str, name: &str| {
        let mut params = session.at(place);
        params["newName"] = json!(name);
        session.request("textDocument/rename", params).map(|edit| session.edited(&edit))
    };
    let texts = rename("t.yml@f", "whole").unwrap();
    assert!(texts["n.star"].starts_with("def whole(n)"));
    assert!(texts["t.yml"].contains("\"whole\", x=\"whole\"") && texts["t.yml"].contains("a: #@ whole(data"));
    assert!(texts["t.yml"].contains("b: #@ x(1)\nfull: full"));
    let texts = rename("t.yml@y", "z").unwrap();
    assert_eq!(texts.len(), 1);
    assert!(texts["t.yml"].contains("\"full\", z=\"full\"") && texts["t.yml"].contains("b: #@ z(1)"));
    let texts = rename("t.yml@r", "copies").unwrap();
    assert!(texts["schema.yml"].contains("\ncopies: 2") && texts["t.yml"].contains("data.values.copies"));
    assert!(rename("t.yml@r", "a: b").is_err());
    assert!(rename("t.yml@r", "level").is_err());
    assert!(rename("t.yml@r", "for").is_err());
}

#[test]
fn diagnostics_come_and_go() {
    let mut session =
        with_template("#@ if data.values.replicas > 100:\na: #@ data.values.«1»nothing\n#@ end\nb: #@ nme\n");
    assert_eq!(session.diagnostics("t.yml"), ["4 code/unknown-value", "6 code/undefined"]);
    session.replace("t.yml", "nothing", "level");
    session.replace("t.yml", "nme", "1");
    assert_eq!(session.diagnostics("t.yml"), Vec::<String>::new());
    session.type_at("t.yml@1", "x");
    assert_eq!(session.diagnostics("t.yml"), ["4 code/unknown-value"]);
}

/// Also the first answer, before the project was checked in the background: a client without
/// support for refreshing does not ask again. A run would stop at the first file, and would not
/// look at the library.
#[test]
fn the_first_answer_knows_every_broken_file() {
    let names: Vec<String> = (0..20).map(|number| format!("t{number}.yml")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "a: b: c\n")).collect();
    files.extend([("schema.yml", SCHEMA), ("_ytt_lib/lib/x.yml", "#@ if True:\na: 1\n")]);
    let mut session = Session::new(&files);
    let paths: Vec<&str> = names.iter().map(String::as_str).chain(["_ytt_lib/lib/x.yml"]).collect();
    paths.iter().for_each(|path| session.open(path, "ytt"));
    for path in paths {
        let params = serde_json::json!({"textDocument": {"uri": session.uri(path)}});
        let report = session.request("textDocument/diagnostic", params).unwrap();
        assert_eq!(report["items"].as_array().unwrap().len(), 1, "{path}: {report}");
    }
}

#[test]
fn one_broken_file_does_not_hide_another() {
    let files = [
        ("a.yml", "a: b: c\n"),
        ("b.yml", "#@ if True:\nb: 1\n"),
        ("c.yml", "c: #@ nothing\n"),
        ("schema.yml", SCHEMA),
        ("values.yml", "replicas: many\n"),
    ];
    let mut session = Session::new(&files);
    session.open("values.yml", "ytt-values");
    session.open("a.yml", "ytt");
    assert_eq!(session.diagnostics("a.yml"), ["1 yaml/syntax"]);
    assert_eq!(session.diagnostics("b.yml"), ["1 code/block"]);
    assert_eq!(session.diagnostics("c.yml"), ["1 code/undefined"]);
    assert_eq!(session.diagnostics("values.yml"), ["1 schema/type"]);
    session.replace("a.yml", "b: c", "b");
    session.write("b.yml", "b: 1\n");
    session.write("c.yml", "c: 1\n");
    assert_eq!(session.diagnostics("a.yml"), Vec::<String>::new());
    assert_eq!(session.diagnostics("values.yml"), ["1 schema/type"]);
}

#[test]
fn created_and_deleted_files_are_noticed() {
    let mut session = Session::new(&[("t.yml", "#@ load(\"n.star\", \"full\")\na: #@ full(1)\n")]);
    session.open("t.yml", "ytt");
    assert_eq!(session.diagnostics("t.yml"), ["1 file/missing"]);
    session.write("n.star", "def full(n):\n  return n\nend\n");
    assert_eq!(session.diagnostics("t.yml"), Vec::<String>::new());
    session.remove("n.star");
    assert_eq!(session.diagnostics("t.yml"), ["1 file/missing"]);
}

#[test]
fn clients_that_cannot_pull_get_current_diagnostics() {
    let files = [("schema.yml", SCHEMA), ("values.yml", "replicas: 4\n")];
    let mut session = Session::with(&files, json!({}));
    session.open("values.yml", "ytt-values");
    session.settle();
    session.replace("values.yml", "4", "many");
    session.settle();
    let uri = session.uri("values.yml");
    let last = |session: &Session| -> Value {
        let of_file = |message: &&Value| message["params"]["uri"] == json!(uri);
        session.notifications.iter().rev().find(of_file).unwrap()["params"]["diagnostics"].clone()
    };
    assert_eq!(last(&session)[0]["code"], "schema/type");
    assert_eq!(last(&session)[0]["relatedInformation"][0]["location"]["range"]["start"]["line"], 4);
    session.close("values.yml");
    session.settle();
    assert_eq!(last(&session), json!([]));
}

#[test]
fn carriage_returns_do_not_shift_anything() {
    let schema = SCHEMA.replace('\n', "\r\n");
    let mut session = Session::new(&[("schema.yml", &schema), ("values.yml", "name: 1\r\nreplicas: «1»many\r\n")]);
    session.open("values.yml", "ytt-values");
    assert_eq!(session.diagnostics("values.yml"), ["1 schema/unknown-key", "2 schema/type"]);
    assert!(session.hover("values.yml@1").contains("How many"));
}

#[test]
fn projects_have_targets() {
    let project = "files: [config]\ntargets:\n  dev: {values: [v/dev.yml]}\n  prod: {values: [v/prod.yml], set: {level: debug}}\n";
    let template = format!("{LOAD}a: #@ data.values.«1»replicas\nb: #@ data.values.level\n");
    let files = [
        ("ytterby.yml", project),
        ("config/schema.yml", SCHEMA),
        ("config/t.yml", &template),
        ("v/dev.yml", "replicas: 7\n"),
        ("v/prod.yml", "replicas: lots\n"),
    ];
    let mut session = Session::new(&files);
    session.open("config/t.yml", "ytt");
    assert_eq!(session.diagnostics("v/prod.yml"), ["1 schema/type"]);
    assert!(session.hover("config/t.yml@1").contains("`7`"));
    session.write("v/prod.yml", "replicas: 8\n");
    let preview = |session: &mut Session, target: Value| {
        let params = json!({"uri": session.uri("config/t.yml"), "target": target});
        session.request("ytterby/preview", params)
    };
    assert_eq!(preview(&mut session, Value::Null).unwrap()["output"], "a: 7\nb: info\n");
    let prod = preview(&mut session, json!("prod")).unwrap();
    assert_eq!(prod["output"], "a: 8\nb: debug\n");
    assert_eq!(prod["map"][1]["sourceLine"], 3);
    assert!(preview(&mut session, json!("nowhere")).is_err());
    let params = json!({"command": "ytterby.selectTarget", "arguments": ["prod"]});
    session.request("workspace/executeCommand", params).unwrap();
    session.settle();
    assert!(session.hover("config/t.yml@1").contains("`8`"));
    session.replace("config/t.yml", "data.values.level", "data.values.");
    let failed = preview(&mut session, json!("prod")).unwrap();
    assert_eq!(failed["output"], "a: 8\nb: debug\n");
    assert!(!failed["diagnostics"].as_array().unwrap().is_empty());
}

#[test]
fn actions_fix_findings() {
    let mut session = with_template("a: #@ data.values.«1»color\nimage: «2»nginx\n");
    let texts = session.action("t.yml@1", "Declare");
    assert!(texts["schema.yml"].ends_with("  port: 5432\ncolor: \"\"\n"), "{texts:?}");
    let texts = session.action("t.yml@2", "Extract");
    assert!(
        texts["schema.yml"].ends_with("image: nginx\n") && texts["t.yml"].contains("image: #@ data.values.image\n")
    );
    let texts = session.action("t.yml@2", "Wrap");
    assert!(texts["t.yml"].ends_with("#@ if True:\nimage: nginx\n#@ end\n"));
}

#[test]
fn missing_ends_are_inserted_once() {
    let check = |body: &str, expect: &str| {
        let mut session = with_template(body);
        let mut params = session.at("t.yml@1");
        params["ch"] = json!("\n");
        let edits = session.request("textDocument/onTypeFormatting", params).unwrap();
        let text = applied(session.text("t.yml"), edits.as_array().unwrap());
        assert_eq!(text.strip_prefix(LOAD).unwrap(), expect, "{body}");
    };
    check("#@ if True:\n«1»", "#@ if True:\n\n#@ end");
    check("spec:\n  #@ for i in [1]:\n  «1»\n", "spec:\n  #@ for i in [1]:\n  \n  #@ end\n");
    check("#@ if True:\n«1»\na: 1\n#@ end\n", "#@ if True:\n\na: 1\n#@ end\n");
    check(
        "#@ if True:\n#@ for i in [1]:\n«1»\na: 1\n#@ end\n",
        "#@ if True:\n#@ for i in [1]:\n\n#@ end\na: 1\n#@ end\n",
    );
}

#[test]
fn comments_suppress_lints() {
    let schema = "#@data/values-schema\n---\nsize: 3\nweight: 10\n";
    let template = format!("{LOAD}a: #@ data.values.size\n");
    let mut session = Session::new(&[("schema.yml", schema), ("t.yml", &template)]);
    session.open("schema.yml", "ytt");
    assert_eq!(session.diagnostics("schema.yml"), ["4 lint/unused-value"]);
    session.replace("schema.yml", "weight", "#! ytterby: ignore lint/unused-value\nweight");
    assert_eq!(session.diagnostics("schema.yml"), Vec::<String>::new());
}

/// Findings of experiments are reported when the session is quiet.
#[test]
fn values_without_effect_are_reported() {
    let schema = "#@data/values-schema\n---\nname: shop\nfactor: 2\n";
    let template = format!("{LOAD}a: #@ data.values.name\nb: #@ data.values.factor * 0\n");
    let mut session = Session::new(&[("schema.yml", schema), ("t.yml", &template)]);
    session.open("schema.yml", "ytt");
    session.open("t.yml", "ytt");
    assert_eq!(session.diagnostics("schema.yml"), ["4 lint/no-effect-value"]);
    session.replace("t.yml", "* 0", "* 3");
    assert_eq!(session.diagnostics("schema.yml"), Vec::<String>::new());
}

#[test]
fn unknown_methods_and_phases_are_errors() {
    let mut session = with_template("a: 1\n");
    assert_eq!(session.request("ytterby/nothing", json!({})).unwrap_err()["code"], -32601);
    assert_eq!(session.request("textDocument/hover", json!({})).unwrap(), Value::Null);
    session.request("shutdown", Value::Null).unwrap();
    assert_eq!(session.request("textDocument/hover", json!({})).unwrap_err()["code"], -32600);
}
