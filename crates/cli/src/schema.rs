//! `schema import` and `schema diff`.

use std::rc::Rc;

use ytterby::{Failure, ImportFrom, ImportOptions, Options, Rendered};
use ytterby_diag::Sources;
use ytterby_diag::render::{Rendering, Report, render as report};

use crate::flags::Invocation;
use crate::host::{self, Terminal};
use crate::read::{self, Stdin, Symlinks};

/// Writes a schema made of another one, or of values.
pub fn import(program: &str, flags: &Invocation) -> Result<i32, String> {
    let [path] = &flags.operands[..] else {
        return Err(format!("Expected one file to import, found {}", flags.operands.len()));
    };
    let from = match flags.text("from") {
        "" | "schema" => ImportFrom::Schema,
        "values" => ImportFrom::Values,
        other => return Err(format!("Unknown kind of import '{other}' (expected schema or values)")),
    };
    let name = Some(flags.text("name")).filter(|name| !name.is_empty()).map(str::to_owned);
    let files = read::list(std::slice::from_ref(path), &Symlinks::default(), &Stdin::default())?;
    let [file] = &files[..] else {
        return Err(format!("Expected '{path}' to be a file, but is a directory"));
    };
    let content = file.content.read()?;
    let imported = ytterby::import_schema(&content, &ImportOptions { name, from });
    let imported = imported.map(|imported| Rendered {
        documents: imported.text.into_bytes(),
        diagnostics: imported.diagnostics,
        ..Rendered::default()
    });
    finish(program, imported.map_err(|failure| failure.prefixed(&format!("Importing '{path}': "))), &Sources::new())
}

/// Tells what changed from one schema to the next.
pub fn diff(program: &str, flags: &Invocation) -> Result<i32, String> {
    let [old, new] = &flags.operands[..] else {
        return Err(format!("Expected two schemas to compare, found {}", flags.operands.len()));
    };
    let stdin = Stdin::default();
    let list = |path: &String| read::list(std::slice::from_ref(path), &Symlinks::default(), &stdin);
    let (old, new) = (list(old)?, list(new)?);
    let options = Options { program: program.to_owned(), ..Options::default() };
    let sources = Rc::new(Sources::new());
    finish(program, ytterby::diff_schemas(old, new, &options, &sources, Rc::new(Terminal)), &sources)
}

/// Writes the result and what is to be said about it.
fn finish(program: &str, result: Result<Rendered, Failure>, sources: &Sources) -> Result<i32, String> {
    let (failure, diagnostics) = match &result {
        Ok(rendered) => (None, &rendered.diagnostics),
        Err(failure) => (Some(&failure.message), &failure.diagnostics),
    };
    host::write_error(&report(&Report { program, failure, diagnostics, sources }, Rendering::Text));
    match result {
        Ok(rendered) => host::write_output(&rendered.documents).map(|()| 0),
        Err(_) => Ok(1),
    }
}
