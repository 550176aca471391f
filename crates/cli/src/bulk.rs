//! Files as JSON, in and out: `{"files": [{"name": …, "data": …}], "errors": …}`.
//!
//! The reference reads this with Go's `encoding/json`: names are compared case-insensitively,
//! unknown members are ignored, and error messages name Go's types. So the input is parsed to a
//! small tree here, instead of with a derived deserializer.

use std::borrow::Cow;
use std::ops::Range;

use ytterby::{Content, Failure, InputFile, OutputFile};
use ytterby_diag::Id;
use ytterby_text::gojson::{self, Build, Html, JsonScalar};

/// The files of `--bulk-in`. Member names are compared case-insensitively and unknown members
/// ignored, as in Go.
pub fn read(text: &str) -> Result<Vec<InputFile>, Failure> {
    files(text).map_err(|why| Failure::new(Id::FLAG_VALUE, why))
}

fn files(text: &str) -> Result<Vec<InputFile>, String> {
    let json = gojson::read(text.as_bytes(), gojson::MAX_DEPTH, &mut ToJson).map_err(|error| error.to_string())?;
    let members = match json {
        Json::Null => return Ok(Vec::new()),
        Json::Object(members) => members,
        other => return Err(mismatch(&other, "Go value", "template.BulkFiles")),
    };
    let mut files = Vec::new();
    for (name, value) in members {
        if name.eq_ignore_ascii_case("files") {
            files = match value {
                Json::Null => Vec::new(),
                Json::Array(items) => items.into_iter().map(file).collect::<Result<_, _>>()?,
                other => return Err(mismatch(&other, "Go struct field BulkFiles.files", "[]template.BulkFile")),
            };
        } else if name.eq_ignore_ascii_case("errors") && !matches!(value, Json::Text(_) | Json::Null) {
            return Err(mismatch(&value, "Go struct field BulkFiles.errors", "string"));
        }
    }
    Ok(files)
}

fn file(value: Json) -> Result<InputFile, String> {
    let members = match value {
        Json::Null => Vec::new(),
        Json::Object(members) => members,
        other => return Err(mismatch(&other, "Go struct field BulkFiles.files", "template.BulkFile")),
    };
    let (mut name, mut data) = (String::new(), String::new());
    for (key, value) in members {
        for (field, place) in [("name", &mut name), ("data", &mut data)] {
            if !key.eq_ignore_ascii_case(field) {
                continue;
            }
            match value {
                Json::Null => {}
                Json::Text(ref text) => text.clone_into(place),
                ref other => {
                    return Err(mismatch(other, &format!("Go struct field BulkFile.files.{field}"), "string"));
                }
            }
        }
    }
    Ok(InputFile::new(name, Content::new(data.into_bytes())))
}

/// A JSON value, as far as this module needs it.
enum Json {
    Null,
    Bool,
    Number,
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Go's name for the type, used in its error messages.
    fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool => "bool",
            Json::Number => "number",
            Json::Text(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }
}

struct ToJson;

impl Build for ToJson {
    type Value = Json;
    type Key = String;

    fn scalar(&mut self, scalar: JsonScalar<'_>, _: Range<usize>) -> Json {
        match scalar {
            JsonScalar::Null => Json::Null,
            JsonScalar::Bool(_) => Json::Bool,
            JsonScalar::Number(_) => Json::Number,
            JsonScalar::String(text) => Json::Text(text.into_owned()),
        }
    }

    fn key(&mut self, text: Cow<'_, str>, _: Range<usize>) -> String {
        text.into_owned()
    }

    fn array(&mut self, items: Vec<Json>, _: Range<usize>) -> Json {
        Json::Array(items)
    }

    fn object(&mut self, members: Vec<(String, Json)>, _: Range<usize>) -> Json {
        Json::Object(members)
    }
}

fn mismatch(found: &Json, place: &str, expected: &str) -> String {
    format!("json: cannot unmarshal {} into {place} of type {expected}", found.kind())
}

/// The output of `--bulk-out`, which includes a failure.
pub fn write(result: Result<&[OutputFile], &str>) -> Vec<u8> {
    let mut out = vec![b'{'];
    let string = |out: &mut Vec<u8>, bytes: &[u8]| gojson::string_into(out, bytes, Html::Escape);
    match result {
        Ok([]) => {}
        Ok(files) => {
            out.extend_from_slice(b"\"files\":[");
            for (at, file) in files.iter().enumerate() {
                out.extend_from_slice(if at == 0 { &b"{\"name\":"[..] } else { b",{\"name\":" });
                string(&mut out, file.path.as_bytes());
                out.extend_from_slice(b",\"data\":");
                string(&mut out, &file.bytes);
                out.push(b'}');
            }
            out.push(b']');
        }
        Err(text) => {
            out.extend_from_slice(b"\"errors\":");
            string(&mut out, text.as_bytes());
        }
    }
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_files() {
        let files = read(r#"{"Files":[{"NAME":"a.yml","data":"a: 1\n","x":[]},null],"y":1}"#).unwrap();
        assert_eq!(files[0].path, "a.yml");
        assert_eq!(&*files[0].content.read().unwrap(), b"a: 1\n");
        assert_eq!(files[1].path, "");
        assert!(read("null").unwrap().is_empty());
    }

    #[test]
    fn wrong_types_are_reported() {
        let check = |text, want| assert_eq!(read(text).unwrap_err().to_string(), want);
        check("nul", "invalid character ' ' in literal null (expecting 'l')");
        check("[]", "json: cannot unmarshal array into Go value of type template.BulkFiles");
        check(
            r#"{"files":3}"#,
            "json: cannot unmarshal number into Go struct field BulkFiles.files of type []template.BulkFile",
        );
        check(
            r#"{"files":[{"name":1}]}"#,
            "json: cannot unmarshal number into Go struct field BulkFile.files.name of type string",
        );
    }

    #[test]
    fn writes_files_or_the_failure() {
        let files = [OutputFile::new("a.yml", "a: 1\n")];
        assert_eq!(write(Ok(&files)), br#"{"files":[{"name":"a.yml","data":"a: 1\n"}]}"#);
        assert_eq!(write(Ok(&[])), b"{}");
        assert_eq!(write(Err("no")), br#"{"errors":"no"}"#);
    }
}
