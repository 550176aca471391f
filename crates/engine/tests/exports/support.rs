//! Helpers of the tests: running the engine on a schema.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use ytterby::{
    Content, InputFile, Inspect, Options, OutputTypes, Silent, ValueFlags, ValuesFile, diff_schemas, render,
};
use ytterby_diag::Sources;

fn file(path: &str, text: &str) -> InputFile {
    InputFile::new(path, Content::new(text.as_bytes()))
}

/// The output of a run on a schema, or its error.
pub fn run(schema: &str, options: &Options) -> Result<String, String> {
    let rendered = render(vec![file("schema.yml", schema)], options, &Arc::new(Sources::new()), Rc::new(Silent));
    match rendered {
        Ok(rendered) => Ok(String::from_utf8(rendered.documents).expect("output is UTF-8")),
        Err(failure) => Err(failure.to_string()),
    }
}

/// A schema in another format, as JSON.
pub fn export(schema: &str, format: &str) -> Value {
    let output_types = OutputTypes(vec![format.to_owned(), "json".to_owned()]);
    let options = Options { inspect: Some(Inspect::Schema), output_types, ..Options::default() };
    let text = run(schema, &options).unwrap_or_else(|error| panic!("{error}\n{schema}"));
    serde_json::from_str(&text).expect("it is JSON")
}

/// Whether to validate values.
#[derive(Clone, Copy)]
pub enum Rules {
    Checked,
    Skipped,
}

/// The final data values for given ones, as JSON.
pub fn values(schema: &str, given: &Value, rules: Rules) -> Result<Value, String> {
    values_of_file(schema, &given.to_string(), rules)
}

/// The final data values for a values file, as JSON.
pub fn values_of_file(schema: &str, text: &str, rules: Rules) -> Result<Value, String> {
    let given = ValuesFile { library: String::new(), path: "v.yml".into(), files: Ok(vec![file("v.yml", text)]) };
    let options = Options {
        inspect: Some(Inspect::Values),
        output_types: OutputTypes(vec!["json".to_owned()]),
        values: ValueFlags { files: vec![given], ..ValueFlags::default() },
        skip_value_validation: matches!(rules, Rules::Skipped),
        ..Options::default()
    };
    run(schema, &options).map(|text| serde_json::from_str(&text).expect("it is JSON"))
}

/// A JSON Schema validator that also checks formats.
pub fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options()
        .should_validate_formats(true)
        .build(schema)
        .unwrap_or_else(|error| panic!("{error}\n{schema}"))
}

/// The changes between two schemas.
pub fn diff(old: &str, new: &str) -> String {
    let files = |path: &str, text: &str| vec![file(path, text)];
    let (old, new) = (files("old.yml", old), files("new.yml", new));
    let changes = diff_schemas(old, new, &Options::default(), &Arc::new(Sources::new()), Rc::new(Silent));
    changes.unwrap_or_else(|failure| panic!("{failure}")).to_string()
}
