//! Detects the language of a file, and selects one of its schemas.
//!
//! `schema` tries what is unambiguous first: a CRD, then OpenAPI, then JSON Schema, which has no
//! mark of its own and is recognised by its keywords. The end of the file makes JSON readable for
//! the YAML reader.

use crate::node::{Map, Node, Scalar, key_text};
use ytterby_diag::{Failure, Id};

/// The language of a schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SchemaLanguage {
    JsonSchema,
    OpenApi,
    Crd,
}

/// A schema in a file.
pub(super) struct RecognisedSchema {
    pub language: SchemaLanguage,
    pub schema: Node,
}

/// Keywords that distinguish a JSON Schema from other documents.
const TELLING: [&str; 10] =
    ["$schema", "properties", "items", "$ref", "oneOf", "anyOf", "allOf", "enum", "$defs", "additionalProperties"];

/// Finds the schema in a document.
pub(super) fn schema(document: &Node, name: Option<&str>) -> Result<RecognisedSchema, Failure> {
    let Some(map) = document.as_map() else {
        return Err(unknown());
    };
    let text = |key: &str| match map.get_str(key).map(|item| &item.value) {
        Some(Node::Scalar(scalar)) => Some(key_text(scalar).into_owned()),
        _ => None,
    };
    if text("kind").as_deref() == Some("CustomResourceDefinition") {
        return Ok(RecognisedSchema { language: SchemaLanguage::Crd, schema: version_of(map, name)? });
    }
    if let Some(version) = text("openapi") {
        if !version.starts_with("3.") {
            return Err(Failure::new(
                Id::SCHEMA_IMPORT,
                format!("Expected an OpenAPI document of version 3, found version {version}"),
            ));
        }
        let schemas = within(map, &["components", "schemas"]);
        return Ok(RecognisedSchema { language: SchemaLanguage::OpenApi, schema: member(schemas, name, "schema")? });
    }
    if let Some(version) = text("swagger") {
        return Err(Failure::new(
            Id::SCHEMA_IMPORT,
            format!("Expected an OpenAPI document of version 3, found Swagger {version}"),
        ));
    }
    if let Some(item) = map.get_str("openAPIV3Schema") {
        return Ok(RecognisedSchema { language: SchemaLanguage::Crd, schema: item.value.clone() });
    }
    if let (Some(name), None) = (name, text("openAPIV3Schema")) {
        let definitions = map.get_str("$defs").or_else(|| map.get_str("definitions"));
        let definitions = definitions.and_then(|item| item.value.as_map());
        return Ok(RecognisedSchema {
            language: SchemaLanguage::JsonSchema,
            schema: member(definitions, Some(name), "definition")?,
        });
    }
    let names_type = map.get_str("type").is_some_and(|item| is_type(&item.value));
    if names_type || TELLING.iter().any(|keyword| map.get_str(keyword).is_some()) {
        return Ok(RecognisedSchema { language: SchemaLanguage::JsonSchema, schema: document.clone() });
    }
    Err(unknown())
}

fn unknown() -> Failure {
    Failure::new(
        Id::SCHEMA_IMPORT,
        "Expected a JSON Schema, an OpenAPI 3 document or a CustomResourceDefinition; to make a schema of plain values, use --from values",
    )
}

fn is_type(value: &Node) -> bool {
    let known = |value: &Node| match value {
        Node::Scalar(Scalar::Str(text)) => {
            ["string", "integer", "number", "boolean", "object", "array", "null"].contains(&&*text.to_str())
        }
        _ => false,
    };
    match value {
        Node::Array(list) => list.items.iter().all(|item| known(&item.value)),
        other => known(other),
    }
}

/// The schema of a version of a CRD: the named one, or the first.
fn version_of(crd: &Map, name: Option<&str>) -> Result<Node, Failure> {
    let spec = within(crd, &["spec"]);
    let schema =
        |version: &Map| within(version, &["schema"])?.get_str("openAPIV3Schema").map(|item| item.value.clone());
    let versions = spec.and_then(|spec| spec.get_str("versions")).and_then(|item| item.value.as_array());
    let mut names = Vec::new();
    for version in versions.iter().flat_map(|list| &list.items).filter_map(|item| item.value.as_map()) {
        let own = version.get_str("name").map_or_else(String::new, |item| match &item.value {
            Node::Scalar(scalar) => key_text(scalar).into_owned(),
            _ => String::new(),
        });
        if name.is_none_or(|name| name == own)
            && let Some(schema) = schema(version)
        {
            return Ok(schema);
        }
        names.push(own);
    }
    // The first version of this API had one schema for all versions.
    let common = spec.and_then(|spec| within(spec, &["validation"])).and_then(|map| map.get_str("openAPIV3Schema"));
    match common {
        Some(item) if name.is_none_or(|name| names.iter().any(|own| own == name)) => Ok(item.value.clone()),
        _ => Err(not_found("version", name, &names)),
    }
}

/// The member with this name, or the first.
fn member(map: Option<&Map>, name: Option<&str>, what: &str) -> Result<Node, Failure> {
    let items = map.map(Map::items).unwrap_or_default();
    let found = match name {
        Some(name) => map.and_then(|map| map.get_str(name)),
        None => items.first(),
    };
    let names: Vec<String> = items.iter().map(|item| key_text(&item.key).into_owned()).collect();
    found.map(|item| item.value.clone()).ok_or_else(|| not_found(what, name, &names))
}

fn not_found(what: &str, name: Option<&str>, names: &[String]) -> Failure {
    match name {
        Some(name) if !names.is_empty() => Failure::new(
            Id::SCHEMA_IMPORT,
            format!("Expected to find a {what} named '{name}' (there are: {})", names.join(", ")),
        ),
        Some(name) => {
            Failure::new(Id::SCHEMA_IMPORT, format!("Expected to find a {what} named '{name}', found none at all"))
        }
        None => Failure::new(Id::SCHEMA_IMPORT, format!("Expected to find a {what}, found none")),
    }
}

/// The map at a path of keys.
fn within<'a>(map: &'a Map, keys: &[&str]) -> Option<&'a Map> {
    keys.iter().try_fold(map, |map, key| map.get_str(key)?.value.as_map())
}

/// JSON that the YAML reader can read: without tabs between tokens, and without the escapes that
/// only JSON has. `None` if the text does not look like JSON.
pub(super) fn json_as_yaml(content: &[u8]) -> Option<Vec<u8>> {
    let start = content.iter().position(|byte| !byte.is_ascii_whitespace())?;
    if content[start] != b'{' || !content.iter().any(|byte| matches!(byte, b'\t' | b'\\')) {
        return None;
    }
    let mut out = Vec::with_capacity(content.len());
    let mut in_string = false;
    let mut at = 0;
    while at < content.len() {
        let rest = &content[at..];
        match rest {
            [b'"', ..] => in_string = !in_string,
            [b'\t', ..] if !in_string => {
                out.push(b' ');
                at += 1;
                continue;
            }
            [b'\\', b'/', ..] if in_string => {
                out.push(b'/');
                at += 2;
                continue;
            }
            [b'\\', b'u', ..] if in_string => {
                if let Some(c) = surrogates(rest) {
                    out.extend_from_slice(c.to_string().as_bytes());
                    at += 12;
                    continue;
                }
            }
            [b'\\', second, ..] if in_string => {
                out.extend_from_slice(&[b'\\', *second]);
                at += 2;
                continue;
            }
            _ => {}
        }
        out.push(content[at]);
        at += 1;
    }
    Some(out)
}

/// The character of a surrogate pair: two escapes at the start of `text`.
fn surrogates(text: &[u8]) -> Option<char> {
    let unit = |text: &[u8]| {
        let digits = text.strip_prefix(b"\\u")?.get(..4)?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let pair = [unit(text)?, unit(text.get(6..)?)?];
    match (pair[0], char::decode_utf16(pair).next()) {
        (0xd800..=0xdbff, Some(Ok(c))) => Some(c),
        _ => None,
    }
}
