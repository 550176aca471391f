//! Generates the JSON Schema of project files from the table of keys.

use std::fmt::Write;

use crate::keys::{self, Key, KeyKind};

/// The JSON Schema (draft 2020-12) of `ytterby.yml`.
pub fn json_schema() -> String {
    let mut out = String::from("{\n");
    out.push_str("  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n");
    out.push_str("  \"title\": \"Project file of Ytterby (ytterby.yml)\",\n");
    out.push_str("  \"type\": \"object\",\n  \"additionalProperties\": false,\n");
    properties(&mut out, keys::PROJECT, 1);
    out.push_str(",\n  \"$defs\": {\n    \"target\": {\n");
    out.push_str("      \"type\": [\"object\", \"null\"],\n      \"additionalProperties\": false,\n");
    properties(&mut out, keys::TARGET, 3);
    out.push_str("\n    },\n    \"limits\": {\n");
    out.push_str("      \"type\": [\"object\", \"null\"],\n      \"additionalProperties\": false,\n");
    properties(&mut out, keys::LIMITS, 3);
    out.push_str("\n    }\n  }\n}\n");
    out
}

fn properties(out: &mut String, table: &[Key], level: usize) {
    let indent = "  ".repeat(level);
    let _ = writeln!(out, "{indent}\"properties\": {{");
    for (at, key) in table.iter().enumerate() {
        let end = if at + 1 < table.len() { "," } else { "" };
        let _ = writeln!(
            out,
            "{indent}  \"{}\": {{\"description\": \"{}\", {}}}{end}",
            key.name,
            key.about,
            constraints(key.kind)
        );
    }
    let _ = write!(out, "{indent}}}");
}

fn constraints(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Paths => r#""type": ["array", "null"], "items": {"type": "string", "minLength": 1}"#,
        KeyKind::Path | KeyKind::Text => r#""type": "string", "minLength": 1"#,
        KeyKind::Set => r#""type": ["object", "null"]"#,
        KeyKind::Bool => r#""type": "boolean""#,
        KeyKind::Version => {
            r#""anyOf": [{"type": "string", "pattern": "^(off|v?1\\.[0-9]+(\\.[0-9]+)?)$"}, {"type": "number"}, {"const": false}]"#
        }
        KeyKind::Targets => r##""type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/target"}"##,
        KeyKind::Matrix => {
            r#""type": "object", "minProperties": 1, "additionalProperties": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": ["string", "number", "boolean"]}}"#
        }
        KeyKind::Limits => r##""$ref": "#/$defs/limits""##,
        KeyKind::Duration => r#""type": "string", "pattern": "^([0-9.]+(us|ms|s|m|h))+$""#,
        KeyKind::Size => {
            r#""anyOf": [{"type": "string", "pattern": "^[0-9.]+ *([kKMGT]?B|[KMGT]iB?|[kKMGT])?$"}, {"type": "integer", "minimum": 0}]"#
        }
        KeyKind::Count => r#""type": "integer", "minimum": 0"#,
        // Only test files have these.
        KeyKind::Tests | KeyKind::Expectations | KeyKind::NodePaths => r#""type": "array""#,
        KeyKind::Nodes => r#""type": "object""#,
        KeyKind::Fails => r#""type": ["string", "object"]"#,
    }
}
