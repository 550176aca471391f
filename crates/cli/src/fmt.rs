//! `fmt`: YAML files in one form, on standard output.

use std::time::Instant;

use ytterby::FileKind;
use ytterby_diag::{Diagnostic, Failure, Source, Sources};
use ytterby_yaml::{ReadOptions, format, parse};

use crate::flags::Invocation;
use crate::host;
use crate::read::{self, Stdin, Symlinks};

/// Formats the YAML files among those that the flags name. What was formatted before an error is written.
pub fn run(flags: &Invocation, sources: &Sources) -> Result<i32, Failure> {
    let started = Instant::now();
    let files = read::list(flags.list("file"), &Symlinks::default(), &Stdin::default())?;
    let options = ReadOptions { strict: flags.is_on("strict"), ..ReadOptions::default() };
    for file in files.iter().filter(|file| file.kind() == FileKind::Yaml) {
        let content = file.content.read()?;
        ytterby::budget::input(content.len());
        let source = Source::new(file.path.clone(), content.clone()).with_place(file.place.as_deref());
        let tree =
            parse(&content, sources.add(source), &options).map_err(|error| Failure::from(Diagnostic::from(error)))?;
        host::write_output(&format(&tree))?;
    }
    if flags.is_on("debug") {
        host::write_error(&format!("total: {:?}\n", started.elapsed()));
    }
    Ok(0)
}
