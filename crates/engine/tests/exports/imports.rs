//! `schema import` prints a valid schema for any input.

use crate::support::run;
use proptest::prelude::*;
use serde_json::Value;
use ytterby::{ImportOptions, Inspect, Options, import_schema};

/// A random schema of another language, with keywords that may contradict each other.
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
            serde_json::json!({"enum": ["a"]}),
            serde_json::json!({"type": "null"}),
            serde_json::json!({"pattern": "^a|b"}),
            serde_json::json!([{"type": "string", "minLength": 1}, {"type": "integer"}]),
            serde_json::json!([{"required": ["a"]}, {"required": ["y"]}]),
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
        "anyOf",
        "allOf",
        "not",
        "propertyNames",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
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
                "oneOf",
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
                    "oneOf" | "anyOf" | "allOf" => members.into_iter().map(|(_, value)| value).collect(),
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
}
