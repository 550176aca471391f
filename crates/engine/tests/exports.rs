//! What an exported schema says about values is what we say about them.
//!
//! Schemas and values are made at random. The judges are a validator of JSON Schema on `-o json-schema` and, after a round
//! trip, ourselves with the schema that `schema import` makes of the export.

use std::collections::HashMap;
use std::rc::Rc;

use proptest::prelude::*;
use serde_json::Value;
use ytterby::{
    Content, Host, ImportOptions, InputFile, Inspect, Options, OutputTypes, ValueFlags, ValuesFile, import_schema,
    render,
};
use ytterby_diag::Sources;

struct Silent;

impl Host for Silent {
    fn print(&self, _: &[u8]) {}
    fn debug(&self, _: &str) {}
}

fn file(path: &str, text: &str) -> InputFile {
    InputFile::new(path, Content::new(text.as_bytes()))
}

fn run(schema: &str, options: &Options) -> Result<String, String> {
    let rendered = render(vec![file("schema.yml", schema)], options, &Rc::new(Sources::new()), Rc::new(Silent));
    match rendered {
        Ok(rendered) => Ok(String::from_utf8(rendered.documents).expect("output is UTF-8")),
        Err(failure) => Err(failure.message.text().to_string()),
    }
}

/// A schema in another format, as JSON.
fn export(schema: &str, format: &str) -> Value {
    let output_types = OutputTypes(vec![format.to_owned(), "json".to_owned()]);
    let options = Options { inspect: Some(Inspect::Schema), output_types, ..Options::default() };
    let text = run(schema, &options).unwrap_or_else(|error| panic!("{error}\n{schema}"));
    serde_json::from_str(&text).expect("it is JSON")
}

#[derive(Clone, Copy)]
enum Rules {
    Checked,
    Skipped,
}

/// The final data values for what is given, as JSON.
fn values(schema: &str, given: &Value, rules: Rules) -> Result<Value, String> {
    let given =
        ValuesFile { library: String::new(), path: "v.yml".into(), files: Ok(vec![file("v.yml", &given.to_string())]) };
    let options = Options {
        inspect: Some(Inspect::Values),
        output_types: OutputTypes(vec!["json".to_owned()]),
        values: ValueFlags { files: vec![given], ..ValueFlags::default() },
        skip_value_validation: matches!(rules, Rules::Skipped),
        ..Options::default()
    };
    run(schema, &options).map(|text| serde_json::from_str(&text).expect("it is JSON"))
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options()
        .should_validate_formats(true)
        .build(schema)
        .unwrap_or_else(|error| panic!("{error}\n{schema}"))
}

/// A node of a schema as text, and values for it, good and bad.
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

fn schema_text(root: &Declared) -> String {
    let mut out = "#@data/values-schema\n---\n".to_owned();
    root.write(&mut out, "root:", 0);
    out
}

fn one(annotation: &str) -> Vec<String> {
    if annotation.is_empty() { Vec::new() } else { vec![annotation.to_owned()] }
}

/// Texts that some of the rules accept. ASCII only: exported lengths count characters.
fn texts() -> impl Strategy<Value = Value> {
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
    // A condition cannot be exported, and one that never holds changes nothing.
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
            let map_rules = proptest::sample::select(vec!["", "nullable", "validation min_len=1"]);
            let maps =
                (map_rules, proptest::collection::vec((inner.clone(), 0..10u8), 1..4)).prop_map(|(rule, items)| {
                    // Some keys are not given, and now and then one is unknown.
                    let pairs = items.iter().enumerate().filter(|(_, (_, chance))| *chance > 1);
                    let mut given: serde_json::Map<String, Value> =
                        pairs.map(|(at, (item, _))| (format!("k{at}"), item.given.clone())).collect();
                    if items.iter().all(|(_, chance)| *chance == 9) {
                        given.insert("unknown".into(), Value::from(1));
                    }
                    let body = Body::Map(items.into_iter().map(|(item, _)| item).collect());
                    Declared { annotations: one(rule), body, given: given.into() }
                });
            let array_rules =
                proptest::sample::select(vec!["", "validation min_len=1, max_len=2", "validation unique=True"]);
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

/// The rules of Kubernetes for structural schemas: each place has a type or says that it has none, and what stands
/// inside `allOf` and the like only restricts values.
fn check_structural(schema: &Value, path: &str) {
    let map = schema.as_object().unwrap_or_else(|| panic!("{path}: {schema}"));
    let forbidden =
        ["$ref", "definitions", "patternProperties", "uniqueItems", "deprecated", "additionalItems", "const"];
    for (name, value) in map {
        assert!(!forbidden.contains(&&**name) && !name.starts_with("x-ytt"), "{path}: {name}");
        assert!(name != "additionalProperties" || value.is_object(), "{path}: {schema}");
        assert!(name != "default" || !value.is_null(), "{path}: {schema}");
    }
    let is = |name: &str| map.get(name) == Some(&Value::Bool(true));
    let has_type = map.get("type").is_some_and(Value::is_string);
    assert!(
        has_type || is("x-kubernetes-int-or-string") || is("x-kubernetes-preserve-unknown-fields"),
        "{path}: {schema}"
    );
    assert!(!(map.contains_key("properties") && map.contains_key("additionalProperties")), "{path}: {schema}");
    for name in ["allOf", "anyOf", "oneOf"] {
        for part in map.get(name).and_then(Value::as_array).into_iter().flatten() {
            for inner in ["type", "default", "nullable", "description", "additionalProperties"] {
                assert!(part.get(inner).is_none(), "{path}: {schema}");
            }
        }
    }
    for (key, value) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check_structural(value, &format!("{path}.{key}"));
    }
    for (name, step) in [("items", "[]"), ("additionalProperties", ".*")] {
        if let Some(value) = map.get(name) {
            check_structural(value, &format!("{path}{step}"));
        }
    }
}

/// OpenAPI 3.0 has a dialect of its own: one type, bounds that are exclusive by a flag, null by a flag.
fn check_openapi(schema: &Value) {
    let map = schema.as_object().unwrap_or_else(|| panic!("{schema}"));
    for (name, value) in map {
        match &**name {
            "type" => assert!(value.is_string() && value != "null", "{schema}"),
            "nullable" | "deprecated" | "exclusiveMinimum" | "exclusiveMaximum" | "uniqueItems" | "writeOnly" => {
                assert!(value.is_boolean(), "{schema}");
            }
            "properties" => value.as_object().into_iter().flatten().for_each(|(_, value)| check_openapi(value)),
            "items" => check_openapi(value),
            "additionalProperties" if value.is_object() => check_openapi(value),
            "oneOf" | "anyOf" | "allOf" => value.as_array().into_iter().flatten().for_each(check_openapi),
            "const" | "examples" | "patternProperties" | "contains" | "not" | "$schema" => panic!("{name}: {schema}"),
            _ => {}
        }
    }
    assert!(map.get("type") != Some(&Value::from("array")) || map.contains_key("items"), "{schema}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exports_and_imports_keep_the_verdict(root in declared()) {
        let schema = schema_text(&root);
        let given = serde_json::json!({ "root": root.given });
        let exported = export(&schema, "json-schema");
        prop_assert!(jsonschema::meta::is_valid(&exported), "{}", exported);
        check_structural(&export(&schema, "crd")["openAPIV3Schema"], "");
        check_openapi(&export(&schema, "openapi-v3")["components"]["schemas"]["dataValues"]);
        let judge = validator(&exported);
        let ours = values(&schema, &given, Rules::Checked);
        match values(&schema, &given, Rules::Skipped) {
            // Of the right types: what is not given is filled in before it is judged.
            Ok(filled) => prop_assert_eq!(ours.is_ok(), judge.is_valid(&filled), "{}\n{}\n{}\n{:?}", schema, filled, exported, ours),
            Err(why) => prop_assert!(!judge.is_valid(&given), "{}\n{}\n{}\n{}", schema, given, exported, why),
        }
        let imported = import_schema(exported.to_string().as_bytes(), &ImportOptions::default()).expect("it is a JSON Schema");
        let theirs = values(&imported.text, &given, Rules::Checked);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}\n{}\n{}\n{:?}\n{:?}", schema, imported.text, given, ours, theirs);
    }
}

/// A lambda is translated into CEL that says the same.
#[test]
fn rules_in_cel_agree() {
    let rules = [
        "lambda v: v[\"lo\"] < v[\"hi\"]",
        "lambda v: v.lo + 2 * v.hi - 1 >= 4",
        "lambda v: (v.lo + 2) * v.hi == 6 or v.lo == v.hi",
        "lambda v: not (v.lo == 1 and v.hi == 2)",
        "lambda v: not v.lo == 1",
        "lambda v: v.hi % 2 == 0",
        "lambda v: v.hi - (v.lo - 1) == 2",
        "lambda v: v.name in [\"a\", \"bc\"]",
        "lambda v: v.name not in [\"a\", \"it's\"]",
        "lambda v: v.name.startswith(\"b\") or v.name.endswith(\"a\")",
        "lambda v: len(v.name) > 1 and (v.lo > 0 or v.hi > 0)",
        "lambda v: -v.lo < v.hi",
    ];
    for rule in rules {
        let schema =
            format!("#@data/values-schema\n---\n#@schema/validation {rule}\nr:\n  lo: 1\n  hi: 2\n  name: a\n");
        let exported = export(&schema, "crd");
        let expression = exported
            .pointer("/openAPIV3Schema/properties/r/x-kubernetes-validations/0/rule")
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("{rule} is not translated: {exported}"));
        let program = cel::Program::compile(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
        for (lo, hi, name) in [(1, 2, "a"), (2, 1, "bc"), (0, 0, ""), (4, 6, "it's"), (-3, 2, "ba")] {
            let given = serde_json::json!({ "lo": lo, "hi": hi, "name": name });
            let mut context = cel::Context::default();
            // By hand: numbers of JSON would become unsigned ones.
            let fields = [("lo", cel::Value::from(i64::from(lo))), ("hi", i64::from(hi).into()), ("name", name.into())];
            context.add_variable_from_value("self", HashMap::from(fields));
            let theirs = program.execute(&context).unwrap_or_else(|error| panic!("{expression}: {error}"));
            let ours = values(&schema, &serde_json::json!({ "r": given }), Rules::Checked).is_ok();
            assert_eq!(theirs, cel::Value::Bool(ours), "{rule} as {expression} on {given}");
        }
    }
}

/// Some schema of another language, with keywords that fit together or do not.
fn foreign() -> BoxedStrategy<Value> {
    let values = || {
        proptest::sample::select(vec![
            Value::Null,
            Value::from(true),
            Value::from(-1),
            Value::from(3),
            Value::from(2.5),
            Value::from(""),
            Value::from("a\"\\b\u{2028}\n#@ x"),
            Value::from("^["),
            serde_json::json!([]),
            serde_json::json!(["a", 1]),
            serde_json::json!({}),
            serde_json::json!({"a": 1}),
        ])
    };
    let types = proptest::sample::select(vec![
        Value::from("string"),
        Value::from("integer"),
        Value::from("number"),
        Value::from("boolean"),
        Value::from("object"),
        Value::from("array"),
        Value::from("null"),
        serde_json::json!(["string", "null"]),
        serde_json::json!(["integer", "object"]),
        serde_json::json!(["array", "string", "null"]),
        serde_json::json!([]),
    ]);
    let names = proptest::sample::select(vec![
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "nullable",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "multipleOf",
        "minLength",
        "maxItems",
        "minProperties",
        "pattern",
        "format",
        "enum",
        "const",
        "uniqueItems",
        "required",
        "items",
        "properties",
        "additionalProperties",
        "patternProperties",
        "oneOf",
        "allOf",
        "not",
        "contains",
        "writeOnly",
        "$ref",
        "x-ytt-format",
        "x-kubernetes-int-or-string",
        "x-kubernetes-validations",
        "x-kubernetes-preserve-unknown-fields",
        "if",
    ]);
    let formats = proptest::sample::select(vec!["ipv4", "port", "duration", "password", "int32", "none"]);
    let leaf = (proptest::option::weighted(0.8, types), proptest::collection::vec((names, values()), 0..4), formats);
    let leaf = leaf.prop_map(|(kind, keywords, format)| {
        let mut map: serde_json::Map<String, Value> =
            keywords.into_iter().map(|(name, value)| (name.into(), value)).collect();
        map.extend(kind.map(|kind| ("type".to_owned(), kind)));
        if map.contains_key("format") {
            map.insert("format".into(), format.into());
        }
        Value::Object(map)
    });
    leaf.prop_recursive(3, 20, 3, |inner| {
        let keys = proptest::sample::select(vec!["a", "y", "a-b", "1", "", "x: #", "_", "null"]);
        let maps = proptest::collection::vec((keys, inner.clone()), 1..4);
        (
            proptest::sample::select(vec![
                "properties",
                "patternProperties",
                "items",
                "anyOf",
                "allOf",
                "additionalProperties",
            ]),
            maps,
            inner,
        )
            .prop_map(|(name, members, mut around)| {
                let below: Value = match name {
                    "properties" | "patternProperties" => members
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect::<serde_json::Map<_, _>>()
                        .into(),
                    "anyOf" | "allOf" => members.into_iter().map(|(_, value)| value).collect(),
                    _ => members.into_iter().next().map(|(_, value)| value).unwrap_or_default(),
                };
                around[name] = below;
                around
            })
    })
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn imported_schemas_load(mut foreign in foreign()) {
        foreign["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        if let Ok(imported) = import_schema(foreign.to_string().as_bytes(), &ImportOptions::default()) {
            let options = Options { inspect: Some(Inspect::SchemaDocs), ..Options::default() };
            let loaded = run(&imported.text, &options);
            prop_assert!(loaded.is_ok(), "{}\n{}\n{}", foreign, imported.text, loaded.unwrap_err());
        }
    }

    #[test]
    fn values_fit_the_schema_made_of_them(root in declared()) {
        let given = serde_json::json!({ "root": root.given });
        let options = ImportOptions { from: ytterby::ImportFrom::Values, ..ImportOptions::default() };
        let imported = import_schema(given.to_string().as_bytes(), &options).expect("values are no problem");
        let result = values(&imported.text, &serde_json::json!({}), Rules::Checked);
        prop_assert_eq!(result.as_ref(), Ok(&given), "{}", imported.text);
    }
}
