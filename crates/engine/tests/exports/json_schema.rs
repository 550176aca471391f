//! Exported JSON Schemas accept the same values as our schemas.
//!
//! Schemas and values are random. They are checked by a JSON Schema validator on `-o json-schema`
//! and, after a round trip, by ourselves with the result of `schema import`. CRDs are checked in
//! `crd`.

use std::path::Path;

use crate::shape::{check_openapi, check_structural};
use crate::support::{Rules, export, run, validator, values, values_of_file};
use proptest::prelude::*;
use serde_json::{Value, json};
use ytterby::{ImportOptions, Inspect, Options, OutputTypes, import_schema};

/// A node of a schema as text, with valid and invalid values for it.
#[derive(Clone, Debug)]
struct Declared {
    annotations: Vec<String>,
    body: Body,
    given: Value,
}

#[derive(Clone, Debug)]
enum Body {
    Scalar(&'static str),
    Map(Vec<Declared>),
    Array(Box<Declared>),
}

impl Declared {
    fn write(&self, out: &mut String, head: &str, margin: usize) {
        for annotation in &self.annotations {
            out.push_str(&format!("{:margin$}#@schema/{annotation}\n", ""));
        }
        match &self.body {
            Body::Scalar(text) => out.push_str(&format!("{:margin$}{head} {text}\n", "")),
            Body::Map(items) => {
                out.push_str(&format!("{:margin$}{head}\n", ""));
                for (at, item) in items.iter().enumerate() {
                    item.write(out, &format!("k{at}:"), margin + 2);
                }
            }
            Body::Array(item) => {
                out.push_str(&format!("{:margin$}{head}\n", ""));
                item.write(out, "-", margin + 2);
            }
        }
    }
}

impl Declared {
    fn is_required(&self) -> bool {
        self.annotations.iter().any(|annotation| annotation == "required")
    }

    /// Removes the sample values of required nodes from what was filled in.
    fn without_samples(&self, given: Option<&Value>, filled: &mut Value) {
        match (&self.body, filled) {
            (Body::Map(items), Value::Object(map)) => {
                for (at, item) in items.iter().enumerate() {
                    let key = format!("k{at}");
                    let own = given.and_then(|given| given.get(&key));
                    if item.is_required() && own.is_none() {
                        map.remove(&key);
                    } else if let Some(value) = map.get_mut(&key) {
                        item.without_samples(own, value);
                    }
                }
            }
            (Body::Array(item), Value::Array(list)) => {
                for (at, value) in list.iter_mut().enumerate() {
                    item.without_samples(given.and_then(|given| given.get(at)), value);
                }
            }
            _ => {}
        }
    }
}

fn schema_text(root: &Declared) -> String {
    let mut out = "#@data/values-schema\n---\n".to_owned();
    root.write(&mut out, "root:", 0);
    out
}

fn one(annotation: &str) -> Vec<String> {
    if annotation.is_empty() { Vec::new() } else { vec![annotation.to_owned()] }
}

/// Texts that some of the rules accept. ASCII only, because exported lengths count characters.
fn texts() -> impl Strategy<Value = Value> + Clone {
    proptest::sample::select(vec![
        "",
        "a",
        "ab",
        "abc",
        "x-1",
        "127.0.0.1",
        "::1",
        "2020-02-29",
        "2019-02-29",
        "10%",
        "80",
        "a.b",
    ])
    .prop_map(Value::from)
}

fn any_given(good: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    let bad = proptest::sample::select(vec![
        Value::Null,
        Value::from(true),
        Value::from("s"),
        Value::from(7),
        Value::from(1.5),
    ]);
    prop_oneof![9 => good, 1 => bad].boxed()
}

fn scalars() -> BoxedStrategy<Declared> {
    let string_rules = proptest::sample::select(vec![
        "",
        "nullable",
        "validation min_len=1",
        "validation max_len=2",
        "validation len=2",
        "validation one_of=[\"a\", \"abc\"]",
        "validation matches=\"^a\"",
        "validation matches=\"^a\", starts_with=\"ab\", ends_with=\"c\"",
        "validation contains=\".\"",
        "validation format=\"ipv4\"",
        "validation format=\"ip\"",
        "validation format=\"date\"",
        "validation format=\"percent\"",
        "validation format=\"port\"",
        "validation min_len=1, when=lambda v: False",
    ]);
    // A condition cannot be exported, but one that is never true changes nothing.
    let strings = (string_rules, any_given(texts())).prop_map(|(rule, given)| Declared {
        annotations: one(rule),
        body: Body::Scalar("\"\""),
        given,
    });
    let int_rules = proptest::sample::select(vec![
        "",
        "nullable",
        "validation min=1, max=10",
        "validation above=1, below=10",
        "validation min=5, above=2",
        "validation even=True",
        "validation odd=True",
        "validation multiple_of=3",
        "validation one_of=[1, 2, 3]",
        "validation format=\"port\"",
        "type one_of=[\"int\", \"string\"]",
        "type one_of=[\"int\", \"null\"]",
    ]);
    let ints = (int_rules, any_given((-3i64..14).prop_map(Value::from))).prop_map(|(rule, given)| Declared {
        annotations: one(rule),
        body: Body::Scalar("1"),
        given,
    });
    let float_rules = proptest::sample::select(vec![
        "",
        "nullable",
        "validation min=0.5",
        "validation below=2.5",
        "validation multiple_of=0.5",
    ]);
    let floats =
        (float_rules, any_given(proptest::sample::select(vec![0.25, 0.5, 1.5, 2.5, 3.75]).prop_map(Value::from)))
            .prop_map(|(rule, given)| Declared { annotations: one(rule), body: Body::Scalar("0.5"), given });
    let bools = (
        proptest::sample::select(vec!["", "nullable", "validation one_of=[True]"]),
        any_given(any::<bool>().prop_map(Value::from)),
    )
        .prop_map(|(rule, given)| Declared { annotations: one(rule), body: Body::Scalar("true"), given });
    let anything = any_given(texts()).prop_map(|given| Declared {
        annotations: one("type any=True"),
        body: Body::Scalar("null"),
        given,
    });
    prop_oneof![3 => strings, 3 => ints, 1 => floats, 1 => bools, 1 => anything].boxed()
}

fn declared() -> BoxedStrategy<Declared> {
    scalars()
        .prop_recursive(3, 24, 4, |inner| {
            let map_rules = proptest::sample::select(vec![
                "",
                "nullable",
                "validation min_len=1",
                "validation one_not_null=[\"k0\"]",
                "validation contains=\"k0\"",
                "validation contains=\"k9\"",
            ]);
            let presence =
                proptest::sample::select(vec!["", "", "", "", "required", "key-may-be-present", "key expects=\"1+\""]);
            let item = (inner.clone(), presence).prop_map(|(mut item, presence)| {
                if !presence.is_empty() {
                    item.annotations.insert(0, presence.to_owned());
                }
                item
            });
            // A pattern beside literal keys, some of which it also matches.
            let pattern = proptest::sample::select(vec![
                "",
                "",
                "any-key",
                "key allowed=\"k.*|x\", expects=\"0+\"",
                "key allowed=\"x|z\", expects=\"0+\"",
            ]);
            let maps = (map_rules, proptest::collection::vec((item, 0..10u8), 1..4), pattern, scalars()).prop_map(
                |(rule, items, pattern, free)| {
                    // Some keys are not given, and sometimes one is unknown.
                    let pairs = items.iter().enumerate().filter(|(_, (_, chance))| *chance > 1);
                    let mut given: serde_json::Map<String, Value> =
                        pairs.map(|(at, (item, _))| (format!("k{at}"), item.given.clone())).collect();
                    if items.iter().all(|(_, chance)| *chance == 9) {
                        given.insert("unknown".into(), Value::from(1));
                    }
                    let mut items: Vec<Declared> = items.into_iter().map(|(item, _)| item).collect();
                    if !pattern.is_empty() {
                        given.insert("x".into(), free.given.clone());
                        let mut free = free;
                        free.annotations.insert(0, pattern.to_owned());
                        items.push(free);
                    }
                    // An optional key becomes an ordinary item when it is imported, which changes
                    // the number of items.
                    let is_optional = |item: &Declared| item.annotations.iter().any(|text| text.contains("key"));
                    let rule = if items.iter().any(is_optional) { "" } else { rule };
                    Declared { annotations: one(rule), body: Body::Map(items), given: given.into() }
                },
            );
            let array_rules = proptest::sample::select(vec![
                "",
                "validation min_len=1, max_len=2",
                "validation unique=True",
                "validation contains=1",
            ]);
            let arrays = (array_rules, inner, 0..4usize).prop_map(|(rule, item, count)| {
                let given = Value::Array(vec![item.given.clone(); count]);
                Declared { annotations: one(rule), body: Body::Array(Box::new(item)), given }
            });
            let keys = proptest::sample::select(vec![
                "any-key",
                "key allowed=\"[a-z]+\", expects=\"1+\"",
                "key allowed=\"any\", expects=[1, 2]",
            ]);
            let free =
                (keys, scalars(), proptest::collection::vec("[a-z0-9]{1,3}", 0..3)).prop_map(|(key, item, names)| {
                    let given: serde_json::Map<String, Value> =
                        names.into_iter().map(|name| (name, item.given.clone())).collect();
                    let mut item = item;
                    item.annotations.insert(0, key.to_owned());
                    Declared { annotations: Vec::new(), body: Body::Map(vec![item]), given: given.into() }
                });
            prop_oneof![3 => maps, 2 => arrays, 1 => free]
        })
        .boxed()
}

/// A node with several shapes.
#[derive(Clone, Debug)]
struct Shaped {
    combination: &'static str,
    shapes: Vec<Declared>,
    /// The node itself: its annotations, and whether it is in a list.
    annotations: Vec<String>,
    is_listed: bool,
    given: Value,
}

impl Shaped {
    fn schema(&self) -> String {
        let mut out = String::new();
        for (at, shape) in self.shapes.iter().enumerate() {
            out.push_str(&format!("#@ def s{at}():\n"));
            for annotation in &shape.annotations {
                out.push_str(&format!("#@schema/{annotation}\n"));
            }
            match &shape.body {
                Body::Scalar(text) => out.push_str(&format!("--- {text}\n")),
                Body::Map(items) => {
                    out.push_str("---\n");
                    for (at, item) in items.iter().enumerate() {
                        item.write(&mut out, &format!("k{at}:"), 0);
                    }
                }
                Body::Array(item) => {
                    out.push_str("---\n");
                    item.write(&mut out, "-", 0);
                }
            }
            out.push_str("#@ end\n");
        }
        let calls: Vec<String> = (0..self.shapes.len()).map(|at| format!("s{at}()")).collect();
        let mut lines = vec![format!("#@schema/{} {}", self.combination, calls.join(", "))];
        lines.extend(self.annotations.iter().map(|annotation| format!("#@schema/{annotation}")));
        let (start, end) = if self.is_listed { ("root:\n", "- null\n") } else { ("", "root: null\n") };
        format!("{out}#@data/values-schema\n---\n{start}{}\n{end}", lines.join("\n"))
    }
}

fn shaped() -> BoxedStrategy<Shaped> {
    let rules = |text: &'static str, rules: &[&'static str], given: &'static [i64]| {
        let rule = proptest::sample::select(rules.to_vec());
        (rule, proptest::sample::select(given)).prop_map(move |(rule, given)| Declared {
            annotations: one(rule),
            body: Body::Scalar(text),
            given: given.into(),
        })
    };
    // The samples satisfy their rules, so that omitted values are valid.
    let number = rules("5", &["", "validation min=3", "validation max=6", "required", "nullable"], &[1, 2, 4, 5, 7]);
    let text = proptest::sample::select(vec!["", "validation min_len=1", "validation matches=\"^a\""]);
    let text = (text, texts()).prop_map(|(rule, given)| Declared {
        annotations: one(rule),
        body: Body::Scalar("\"a\""),
        given,
    });
    let field = prop_oneof![number, text.clone()];
    let map = proptest::collection::vec((field, 0..4u8), 1..4).prop_map(|items| {
        let pairs = items.iter().enumerate().filter(|(_, (_, chance))| *chance > 0);
        let given: serde_json::Map<String, Value> =
            pairs.map(|(at, (item, _))| (format!("k{at}"), item.given.clone())).collect();
        let items = items.into_iter().map(|(item, _)| item).collect();
        Declared { annotations: Vec::new(), body: Body::Map(items), given: given.into() }
    });
    let bare = rules("5", &["", "validation min=3", "validation max=6"], &[1, 2, 4, 5, 7]);
    let shape = prop_oneof![4 => map, 1 => bare, 1 => text];
    let combination = proptest::sample::select(vec!["one-of", "any-of"]);
    let around = proptest::sample::select(vec!["", "validation not_null=True", "key-may-be-present", "desc \"x\""]);
    (combination, proptest::collection::vec(shape, 2..4), around, any::<bool>(), 0..5usize)
        .prop_map(|(combination, shapes, around, is_listed, which)| {
            let own = shapes.get(which).map_or(Value::Null, |shape| shape.given.clone());
            let given = if is_listed { json!([own]) } else { own };
            let annotations = if is_listed { Vec::new() } else { one(around) };
            Shaped { combination, shapes, annotations, is_listed, given }
        })
        .boxed()
}

/// A line of a values file with its comment mark removed, as by a user who sets the proposed value.
fn without_mark(line: &str) -> String {
    match line.trim_start().strip_prefix('#') {
        // A single blank marks a remark.
        Some(rest) if !rest.starts_with(' ') || rest.starts_with("  ") => line.replacen('#', "", 1),
        _ => line.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exports_and_imports_keep_the_verdict(root in declared()) {
        let schema = schema_text(&root);
        let given = json!({ "root": root.given });
        let exported = export(&schema, "json-schema");
        prop_assert!(jsonschema::meta::is_valid(&exported), "{}", exported);
        check_structural(&export(&schema, "crd")["openAPIV3Schema"], "");
        check_openapi(&export(&schema, "openapi-v3")["components"]["schemas"]["dataValues"]);
        let judge = validator(&exported);
        let ours = values(&schema, &given, Rules::Checked);
        match values(&schema, &given, Rules::Skipped) {
            // Missing values are filled in before the comparison.
            Ok(mut filled) => {
                root.without_samples(given.get("root"), &mut filled["root"]);
                prop_assert_eq!(ours.is_ok(), judge.is_valid(&filled), "{}\n{}\n{}\n{:?}", schema, filled, exported, ours);
            }
            Err(why) => prop_assert!(!judge.is_valid(&given), "{}\n{}\n{}\n{}", schema, given, exported, why),
        }
        let imported = import_schema(exported.to_string().as_bytes(), &ImportOptions::default()).expect("it is a JSON Schema");
        let theirs = values(&imported.text, &given, Rules::Checked);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}\n{}\n{}\n{:?}\n{:?}", schema, imported.text, given, ours, theirs);
    }

    /// A values file generated from a schema changes nothing, is not accepted as if it were filled
    /// in, and proposes valid values.
    #[test]
    fn values_files_fit(root in declared()) {
        let schema = schema_text(&root);
        let output_types = OutputTypes(vec!["values".to_owned()]);
        let options = Options { inspect: Some(Inspect::Schema), output_types, ..Options::default() };
        let text = run(&schema, &options).expect("the schema is right");
        let unchanged = values(&schema, &json!({}), Rules::Checked);
        let found = values_of_file(&schema, &text, Rules::Checked);
        match unchanged {
            Ok(_) => prop_assert_eq!(found, unchanged, "{}\n{}", schema, text),
            Err(_) => prop_assert!(found.is_err(), "{}\n{}", schema, text),
        }
        // A placeholder for keys of a pattern need not match it; required values are already
        // present.
        if schema.contains("allowed=") || schema.contains("required") {
            return Ok(());
        }
        let proposed: String = text.lines().map(|line| without_mark(line) + "\n").collect();
        let accepted = values_of_file(&schema, &proposed, Rules::Skipped);
        prop_assert!(accepted.is_ok(), "{}\n{}\n{:?}", schema, proposed, accepted);
    }

    /// Nodes with several shapes. Values are checked as given: filled in, one may match other
    /// shapes, too.
    #[test]
    fn shapes_keep_the_verdict(shaped in shaped()) {
        let schema = shaped.schema();
        let given = json!({ "root": shaped.given });
        let exported = export(&schema, "json-schema");
        prop_assert!(jsonschema::meta::is_valid(&exported), "{}", exported);
        check_structural(&export(&schema, "crd")["openAPIV3Schema"], "");
        check_openapi(&export(&schema, "openapi-v3")["components"]["schemas"]["dataValues"]);
        let ours = values(&schema, &given, Rules::Checked);
        prop_assert_eq!(ours.is_ok(), validator(&exported).is_valid(&given), "{}\n{}\n{}\n{:?}", schema, given, exported, ours);
        let imported = import_schema(exported.to_string().as_bytes(), &ImportOptions::default()).expect("it is a JSON Schema");
        prop_assert!(imported.diagnostics.is_empty(), "{:?}\n{}", imported.diagnostics, exported);
        let theirs = values(&imported.text, &given, Rules::Checked);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}\n{}\n{}\n{:?}\n{:?}", schema, imported.text, given, ours, theirs);
    }

    #[test]
    fn values_fit_the_schema_made_of_them(root in declared()) {
        let given = json!({ "root": root.given });
        let options = ImportOptions::new(ytterby::ImportFrom::Values);
        let imported = import_schema(given.to_string().as_bytes(), &options).expect("values are no problem");
        let result = values(&imported.text, &json!({}), Rules::Checked);
        prop_assert_eq!(result.as_ref(), Ok(&given), "{}", imported.text);
    }
}

/// All schemas of the examples.
#[test]
fn examples_are_exported_well() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut count = 0;
    for folder in std::fs::read_dir(examples).expect("there are examples") {
        let Ok(schema) = std::fs::read_to_string(folder.expect("it can be listed").path().join("schema.yml")) else {
            continue;
        };
        count += 1;
        let exported = export(&schema, "json-schema");
        assert!(jsonschema::meta::is_valid(&exported), "{exported}");
        check_structural(&export(&schema, "crd")["openAPIV3Schema"], "");
        check_openapi(&export(&schema, "openapi-v3")["components"]["schemas"]["dataValues"]);
        let imported =
            import_schema(exported.to_string().as_bytes(), &ImportOptions::default()).expect("it is a schema");
        let options = Options { inspect: Some(Inspect::SchemaDocs), ..Options::default() };
        run(&imported.text, &options).unwrap_or_else(|error| panic!("{error}\n{}", imported.text));
    }
    assert!(count >= 2, "{count}");
}
