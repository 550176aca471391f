//! `fmt`: YAML files in one form, on standard output.

use std::time::Instant;

use ytterby::FileKind;
use ytterby_diag::FileId;
use ytterby_yaml::{ReadOptions, format, parse};

use crate::flags::Invocation;
use crate::host;
use crate::read::{self, Stdin, Symlinks};

/// Formats the YAML files among those that the flags name. What was formatted before an error is written.
pub fn run(flags: &Invocation) -> Result<i32, String> {
    let started = Instant::now();
    let files = read::list(flags.list("file"), &Symlinks::default(), &Stdin::default())?;
    let options = ReadOptions { strict: flags.is_on("strict"), ..ReadOptions::default() };
    for file in files.iter().filter(|file| file.kind() == FileKind::Yaml) {
        let content = file.content.read()?;
        let tree = parse(&content, FileId(0), &options).map_err(|error| error.message)?;
        host::write_output(&format(&tree))?;
    }
    if flags.is_on("debug") {
        host::write_error(&format!("total: {:?}\n", started.elapsed()));
    }
    Ok(0)
}
