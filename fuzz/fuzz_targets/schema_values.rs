//! Any schema with any values ends in values or in problems that can be shown; exports of the
//! schema end, too.

#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;
use ytterby::{Content, InputFile, Inspect, Options, OutputTypes, ValueFlags, ValuesFile};

const FORMATS: [&str; 7] = ["openapi-v3", "json-schema", "crd", "ytt-schema", "markdown", "html", "values"];

fuzz_target!(|data: &[u8]| {
    let Some((&kind, data)) = data.split_first() else { return };
    let parts = common::parts(data);
    let schema = [b"#@data/values-schema\n---\n", parts[0]].concat();
    let files: [(&str, &[u8]); 1] = [("schema.yml", &schema)];
    if kind % 2 == 0 {
        let format = FORMATS[usize::from(kind / 2) % FORMATS.len()].to_owned();
        let options =
            Options { inspect: Some(Inspect::Schema), output_types: OutputTypes(vec![format]), ..Options::default() };
        return common::render(&files, &options);
    }
    let values = parts.iter().skip(1).map(|text| ValuesFile {
        library: String::new(),
        path: "values.yml".to_owned(),
        files: Ok(vec![InputFile::new("values.yml", Content::new(*text))]),
    });
    let options = Options {
        inspect: Some(Inspect::Values),
        values: ValueFlags { files: values.collect(), ..ValueFlags::default() },
        all_errors: kind & 2 != 0,
        coerce_values: kind & 4 != 0,
        ..Options::default()
    };
    common::render(&files, &options);
});
