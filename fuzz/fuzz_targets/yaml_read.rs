//! Any bytes are read, formatted and written, or refused with a message; nothing else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ytterby_diag::FileId;
use ytterby_yaml::write::{JsonOptions, JsonWriter, YamlWriter, write_tree};
use ytterby_yaml::{ReadOptions, parse, parse_slowly};

fuzz_target!(|text: &[u8]| {
    let strict = text.first() == Some(&b's');
    let options = ReadOptions { strict, ..ReadOptions::default() };
    let read = parse(text, FileId(0), &options);
    // The short ways of the reader give what the long way gives.
    assert_eq!(format!("{read:?}"), format!("{:?}", parse_slowly(text, FileId(0), &options)));
    match read {
        Ok(tree) => {
            ytterby_yaml::format(&tree);
            let mut json = JsonWriter::new(JsonOptions::default());
            write_tree(&tree, &mut json);
            let _ = json.finish();
            let mut yaml = YamlWriter::new();
            write_tree(&tree, &mut yaml);
            yaml.finish();
        }
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end as usize <= text.len(), "{error:?}");
        }
    }
});
