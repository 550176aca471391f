//! Reads YAML from standard input and writes it again, as `ytt -f -` does with plain YAML. The
//! flags `--strict`, `--json` and `--fmt` select the mode. Used to compare the reader and the
//! writer with others, by hand or by script.

use std::io::{Read, Write};
use std::process::ExitCode;

use ytterby_diag::FileId;
use ytterby_yaml::write::{JsonOptions, JsonWriter, YamlWriter, write_tree};
use ytterby_yaml::{ReadOptions, format, parse};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).expect("standard input can be read");
    let options = ReadOptions { strict: has("--strict"), ..ReadOptions::default() };
    let result = parse(&text, FileId(0), &options).map_err(|error| error.reference()).and_then(|tree| {
        if has("--fmt") {
            return Ok(format(&tree));
        }
        if has("--json") {
            let mut json = JsonWriter::new(JsonOptions::default());
            write_tree(&tree, &mut json);
            return json.finish();
        }
        let mut yaml = YamlWriter::with_capacity(text.len());
        write_tree(&tree, &mut yaml);
        Ok(yaml.finish())
    });
    match result {
        Ok(out) => {
            std::io::stdout().write_all(&out).expect("standard output can be written");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
