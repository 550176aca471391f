//! Requirements of the languages beyond their meta-schemas.

use serde_json::Value;

/// Checks Kubernetes' rules for structural schemas, as far as they concern our output.
pub fn check_structural(schema: &Value, path: &str) {
    let Some(map) = schema.as_object() else { panic!("{path}: {schema}") };
    const FORBIDDEN: [&str; 14] = [
        "$ref",
        "$schema",
        "definitions",
        "dependencies",
        "deprecated",
        "discriminator",
        "id",
        "patternProperties",
        "readOnly",
        "writeOnly",
        "xml",
        "uniqueItems",
        "additionalItems",
        "const",
    ];
    for (name, value) in map {
        assert!(!FORBIDDEN.contains(&&**name) && !name.starts_with("x-ytt"), "{path}: {name}");
        match &**name {
            "additionalProperties" => assert!(value.is_object(), "{path}: {schema}"),
            "default" => assert!(!value.is_null(), "{path}: {schema}"),
            "enum" => assert!(value.as_array().is_some_and(|list| !list.is_empty()), "{path}: {schema}"),
            "exclusiveMinimum" | "exclusiveMaximum" | "nullable" => assert!(value.is_boolean(), "{path}: {schema}"),
            "required" => check_required(value, path),
            "x-kubernetes-validations" => check_rules(value, path),
            "allOf" | "anyOf" | "oneOf" => {
                value.as_array().into_iter().flatten().for_each(|part| check_value_validation(part, schema, path));
            }
            _ => {}
        }
    }
    let is = |name: &str| map.get(name) == Some(&Value::Bool(true));
    let ty = map.get("type").and_then(Value::as_str);
    let preserves = is("x-kubernetes-preserve-unknown-fields");
    assert!(ty.is_some() || is("x-kubernetes-int-or-string") || preserves, "{path}: {schema}");
    assert!(ty.is_none() || !is("x-kubernetes-int-or-string"), "{path}: {schema}");
    assert!(!preserves || matches!(ty, None | Some("object")), "{path}: {schema}");
    assert!(ty != Some("array") || map.contains_key("items"), "{path}: {schema}");
    assert!(!(map.contains_key("properties") && map.contains_key("additionalProperties")), "{path}: {schema}");
    if map.get("x-kubernetes-list-type").is_some_and(|kind| kind == "set") {
        let item = &schema["items"];
        let is_scalar = ["string", "integer", "number", "boolean"].iter().any(|name| item["type"] == **name);
        assert!(ty == Some("array") && is_scalar && item.get("nullable").is_none(), "{path}: {schema}");
    }
    if let Some(default) = map.get("default") {
        assert!(is_pruned(schema, default), "{path}: {schema}");
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

/// Schemas inside `allOf` and the like only restrict values, and only name fields that are declared
/// outside.
fn check_value_validation(part: &Value, around: &Value, path: &str) {
    for (name, value) in part.as_object().unwrap_or_else(|| panic!("{path}: {part}")) {
        let forbidden = ["type", "title", "description", "default", "nullable", "additionalProperties", "example"];
        assert!(!forbidden.contains(&&**name) && !name.starts_with("x-"), "{path}: {around}");
        match &**name {
            "properties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    check_value_validation(value, &around["properties"][key], path);
                }
            }
            "items" => check_value_validation(value, &around["items"], path),
            "not" => check_value_validation(value, around, path),
            _ => {}
        }
    }
}

fn check_required(names: &Value, path: &str) {
    let names = names.as_array().unwrap_or_else(|| panic!("{path}: {names}"));
    assert!(!names.is_empty() && names.iter().all(Value::is_string), "{path}: {names:?}");
    assert!(names.iter().enumerate().all(|(at, name)| !names[..at].contains(name)), "{path}: {names:?}");
}

fn check_rules(rules: &Value, path: &str) {
    for rule in rules.as_array().unwrap_or_else(|| panic!("{path}: {rules}")) {
        let text = |name: &str| rule[name].as_str().unwrap_or_else(|| panic!("{path}: {rule}"));
        assert!(!text("rule").trim().is_empty(), "{path}: {rule}");
        assert!(!text("message").trim().is_empty() && !text("message").contains(['\n', '\r']), "{path}: {rule}");
        cel::Program::compile(text("rule")).unwrap_or_else(|error| panic!("{path}: {rule}: {error}"));
    }
}

/// Whether a default has no fields that Kubernetes would prune.
fn is_pruned(schema: &Value, value: &Value) -> bool {
    let preserves = schema["x-kubernetes-preserve-unknown-fields"] == true;
    match value {
        Value::Array(list) => preserves || list.iter().all(|item| is_pruned(&schema["items"], item)),
        Value::Object(map) => map.iter().all(|(key, value)| {
            let declared = schema.get("properties").and_then(|properties| properties.get(key));
            let declared = declared.or_else(|| schema.get("additionalProperties"));
            declared.map_or(preserves, |schema| is_pruned(schema, value))
        }),
        _ => true,
    }
}

/// Checks all defaults of a CRD with `judge`; Kubernetes fills in nested defaults first.
pub fn check_defaults(schema: &Value, judge: &dyn Fn(&Value, &Value) -> bool) {
    if let Some(default) = schema.get("default") {
        let filled = filled(schema, default);
        assert!(judge(schema, &filled), "{default} is no valid default, filled {filled}: {schema}");
    }
    for value in schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(_, value)| value) {
        check_defaults(value, judge);
    }
    for name in ["items", "additionalProperties"] {
        if let Some(value) = schema.get(name) {
            check_defaults(value, judge);
        }
    }
}

/// A value with defaults for missing fields.
fn filled(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(|item| filled(&schema["items"], item)).collect(),
        Value::Object(map) => {
            let mut result = map.clone();
            for (key, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let own = map.get(key).or_else(|| schema.get("default"));
                if let Some(own) = own {
                    result.insert(key.clone(), filled(schema, own));
                }
            }
            result.into()
        }
        other => other.clone(),
    }
}

/// Checks the dialect of OpenAPI 3.0: one type, exclusive bounds by a flag, null by a flag.
pub fn check_openapi(schema: &Value) {
    let map = schema.as_object().unwrap_or_else(|| panic!("{schema}"));
    const KNOWN: [&str; 31] = [
        "title",
        "description",
        "format",
        "pattern",
        "default",
        "example",
        "minimum",
        "maximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "enum",
        "required",
        "type",
        "nullable",
        "deprecated",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "uniqueItems",
        "writeOnly",
        "readOnly",
        "properties",
        "items",
        "additionalProperties",
        "oneOf",
        "anyOf",
        "allOf",
    ];
    for (name, value) in map {
        assert!(KNOWN.contains(&&**name) || name.starts_with("x-"), "{name}: {schema}");
        match &**name {
            "type" => {
                let types = ["string", "integer", "number", "boolean", "object", "array"];
                assert!(types.iter().any(|known| value == known), "{schema}");
            }
            "nullable" | "deprecated" | "exclusiveMinimum" | "exclusiveMaximum" | "uniqueItems" | "writeOnly" => {
                assert!(value.is_boolean(), "{schema}");
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                assert!(value.is_u64(), "{schema}");
            }
            "multipleOf" => assert!(value.as_f64().is_some_and(|number| number > 0.0), "{schema}"),
            "enum" => assert!(value.as_array().is_some_and(|list| !list.is_empty()), "{schema}"),
            "required" => check_required(value, ""),
            "properties" => value.as_object().into_iter().flatten().for_each(|(_, value)| check_openapi(value)),
            "items" => check_openapi(value),
            "additionalProperties" if value.is_object() => check_openapi(value),
            "oneOf" | "anyOf" | "allOf" => value.as_array().into_iter().flatten().for_each(check_openapi),
            _ => {}
        }
    }
    assert!(map.get("type") != Some(&Value::from("array")) || map.contains_key("items"), "{schema}");
}
