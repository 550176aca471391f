//! `schema import` and `schema diff`.

use std::ffi::OsStr;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use ytterby::{Change, Changes, Failure, Impact, ImportOptions, InputFile, Options, Rendered};
use ytterby_diag::render::Rendering;
use ytterby_diag::{Id, Source, Sources};
use ytterby_text::budget;
use ytterby_text::gojson::{self, Html};

use crate::commands::flag::{self, AnswerFormat};
use crate::flags::Invocation;
use crate::host::Terminal;
use crate::read::{self, Stdin, Symlinks};
use crate::{limits, report};

/// Converts another kind of schema, or values, to a schema.
pub fn import(program: &str, flags: &Invocation, sources: &Sources) -> Result<i32, Failure> {
    let rendering = report::rendering(program, flags)?;
    let [path] = &flags.operands[..] else {
        return Err(Failure::new(
            Id::FLAG_OPERAND,
            format!("Expected one file to import, found {}", flags.operands.len()),
        ));
    };
    let unknown = |value: &str| format!("Unknown kind of import '{value}'");
    let from = flags.choice(&flag::FROM, unknown)?.unwrap_or_default();
    let name = Some(flags.text(&flag::IMPORT_NAME)).filter(|name| !name.is_empty()).map(str::to_owned);
    let files = read::list(std::slice::from_ref(path), &Symlinks::default(), &Stdin::default())?;
    let [file] = &files[..] else {
        return Err(Failure::new(Id::FLAG_OPERAND, format!("Expected '{path}' to be a file, but is a directory")));
    };
    let content = file.content.read()?;
    budget::input(content.len());
    let source = Source::new(file.path.clone(), content.clone()).with_place(file.place.as_deref());
    let _working = budget::working_at(sources.add(source).0, 0);
    let mut options = ImportOptions::new(from);
    options.name = name;
    let imported = ytterby::import_schema(&content, &options).map(|imported| {
        let mut rendered = Rendered::of_text(imported.text);
        rendered.warnings = imported.diagnostics;
        rendered
    });
    let imported = imported.map_err(|failure| failure.doing(format!("Importing '{path}'")));
    if let Ok(imported) = &imported {
        budget::may_output(imported.documents.len())?;
    }
    finish(program, imported, sources, rendering)
}

/// Reports the changes between two schemas.
pub fn diff(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let rendering = report::rendering(program, flags)?;
    let [old, new] = &flags.operands[..] else {
        return Err(Failure::new(
            Id::FLAG_OPERAND,
            format!("Expected two schemas to compare, found {}", flags.operands.len()),
        ));
    };
    let unknown = |value: &str| format!("Unknown output type '{value}'");
    let write: fn(&Changes) -> String = match flags.choice(&flag::DIFF_OUTPUT, unknown)?.unwrap_or_default() {
        AnswerFormat::Text => Changes::to_string,
        AnswerFormat::Json => changes_as_json,
    };
    let fail_on = flags.choice(&flag::FAIL_ON, |value| format!("Unknown kind of change '{value}'"))?;
    let stdin = Stdin::default();
    let (old, new) = (schema_files(old, &stdin)?, schema_files(new, &stdin)?);
    let options = Options {
        program: program.to_owned(),
        limits: limits::of_flags(flags)?,
        meter: Some(Arc::new(limits::Process::default())),
        ..Options::default()
    };
    let first_file = sources.next_id();
    let changes = ytterby::diff_schemas(old, new, &options, sources, Rc::new(Terminal::default()));
    let verdict = changes.as_ref().ok().and_then(Changes::verdict);
    let text = changes.map(|changes| Rendered::of_text(write(&changes)));
    let exit = limits::within(flags, sources, || {
        let _working = budget::working_at(first_file.0, 0);
        finish(program, text, sources, rendering)
    })?;
    Ok(exit.max(i32::from(fail_on.is_some() && verdict >= fail_on)))
}

/// The files of an operand. A single file contains a schema regardless of its name: `<(git show
/// HEAD:schema.yml)`.
fn schema_files(path: &String, stdin: &Stdin) -> Result<Vec<InputFile>, Failure> {
    let mut files = read::list(std::slice::from_ref(path), &Symlinks::default(), stdin)?;
    if let [file] = &mut files[..]
        && !Path::new(path).is_dir()
        && !matches!(Path::new(&file.path).extension().and_then(OsStr::to_str), Some("yml" | "yaml"))
    {
        file.path.push_str(".yml");
    }
    Ok(files)
}

fn changes_as_json(changes: &Changes) -> String {
    let text = |text: &str| {
        let mut out = Vec::new();
        gojson::string_into(&mut out, text.as_bytes(), Html::Keep);
        String::from_utf8_lossy(&out).into_owned()
    };
    let change = |Change { impact, path, text: what, .. }: &Change| {
        format!("{{\"impact\":{},\"path\":{},\"change\":{}}}", text(impact.name()), text(path), text(what))
    };
    let list: Vec<String> = changes.iter().map(change).collect();
    let verdict = text(changes.verdict().map_or("none", Impact::name));
    format!("{{\"verdict\":{verdict},\"changes\":[{}]}}\n", list.join(","))
}

/// Writes the result and reports warnings or the failure.
fn finish(
    program: &str,
    result: Result<Rendered, Failure>,
    sources: &Sources,
    rendering: Rendering,
) -> Result<i32, Failure> {
    let warnings = result.as_ref().map(|rendered| &rendered.warnings[..]);
    report::outcome(program, warnings, sources, rendering);
    match result {
        Ok(rendered) => limits::write_output(&rendered.documents).map(|()| 0),
        Err(_) => Ok(1),
    }
}
