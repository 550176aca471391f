use super::*;

fn import(text: &str) -> Imported {
    import_schema(text.as_bytes(), &ImportOptions::default()).expect("it is a schema")
}

fn check(text: &str, expected: &str) {
    let imported = import(text);
    assert_eq!(imported.text, format!("#@data/values-schema\n{expected}"));
    assert!(imported.diagnostics.is_empty(), "{:?}", imported.diagnostics);
}

#[test]
fn keywords_become_annotations() {
    check(
        r#"{"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "description": "who", "minLength": 1, "maxLength": 5},
            "port": {"type": "integer", "default": 80, "maximum": 99, "minimum": 1},
            "tags": {"type": "object", "additionalProperties": {"type": "string"}},
            "opt": {"type": ["string", "null"], "title": "T"}}}"#,
        "---
#@schema/desc \"who\"
#@schema/required
#@schema/validation min_len=1, max_len=5
name: \"\"
#@schema/validation min=1, max=99
port: 80
tags:
  #@schema/any-key
  _: \"\"
#@schema/title \"T\"
#@schema/nullable
opt: \"\"
",
    );
}

#[test]
fn json_that_is_not_yaml_is_read() {
    check("{\"type\":\t\"string\", \"default\": \"a\\/b \\ud83d\\ude00\"}", "---\n\"a/b 😀\"\n");
}

#[test]
fn references_are_followed_without_cycles() {
    let imported = import(
        r##"{"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "size": {"type": "integer"}}}},
            "$ref": "#/$defs/node"}"##,
    );
    assert_eq!(imported.text, "#@data/values-schema\n---\n#@schema/type any=True\nnext: null\nsize: 0\n");
    let texts: Vec<_> = imported.diagnostics.iter().map(|diagnostic| diagnostic.message.plain()).collect();
    assert_eq!(texts, ["keyword \"$ref\" at next is not supported"]);
}

#[test]
fn the_number_of_nodes_is_limited() {
    let mut defs = String::from(r#""d0": {"type": "string"}"#);
    for level in 1..40 {
        let inner = level - 1;
        defs.push_str(&format!(
            r##", "d{level}": {{"type": "object", "properties": {{"a": {{"$ref": "#/$defs/d{inner}"}}, "b": {{"$ref": "#/$defs/d{inner}"}}}}}}"##
        ));
    }
    let text = format!(r##"{{"$defs": {{{defs}}}, "$ref": "#/$defs/d39"}}"##);
    assert!(import_schema(text.as_bytes(), &ImportOptions::default()).is_err());
}

#[test]
fn keywords_without_counterpart_are_reported() {
    let imported = import(
        r#"{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string", "if": {}}}}}}"#,
    );
    let texts: Vec<_> = imported.diagnostics.iter().map(|diagnostic| diagnostic.message.plain()).collect();
    assert_eq!(texts, ["keyword \"if\" at a.b is not supported"]);
}

#[test]
fn other_documents_are_refused() {
    for text in
        ["a: 1", "[]", "", "swagger: '2.0'", "openapi: 3.0.0", "kind: CustomResourceDefinition", "a: 1\n---\nb: 1"]
    {
        assert!(import_schema(text.as_bytes(), &ImportOptions::default()).is_err(), "{text}");
    }
}

#[test]
fn schemas_from_example_values() {
    let options = ImportOptions::new(ImportFrom::Values);
    let text = "a: 1\nhosts:\n- name: x\n  port: 1\n- name: z\nnone: null\nempty: []\nratio: [1, 0.5]\n";
    let imported = import_schema(text.as_bytes(), &options).expect("it is YAML");
    let expected = "#@data/values-schema
---
a: 1
#@schema/default [{\"name\": \"x\", \"port\": 1}, {\"name\": \"z\"}]
hosts:
  - name: \"x\"
    #@schema/key-may-be-present
    port: 1
#@schema/type any=True
none: null
empty:
  #@schema/type any=True
  - null
#@schema/default [1, 0.5]
ratio:
  - 0.5
";
    assert_eq!(imported.text, expected);
}

#[test]
fn placeholder_keys_differ_from_properties() {
    check(
        r#"{"type": "object", "properties": {"__": {"type": "string"}, "_": false},
            "patternProperties": {"^a$": {"type": "string"}, "^b$": {"type": "string"}, "^c$": {"type": "string"}}}"#,
        "---
__: \"\"
#@schema/key allowed=\"a\", expects=\"0+\"
___: \"\"
#@schema/key allowed=\"b\", expects=\"0+\"
_4: \"\"
#@schema/key allowed=\"c\", expects=\"0+\"
_5: \"\"
#@schema/key expects=0
#@schema/type any=True
_: null
",
    );
}
