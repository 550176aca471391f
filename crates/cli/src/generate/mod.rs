//! `gen`: generates data values that a schema allows, and searches for valid values that fail to
//! render.
//!
//! The engine generates; this module reads the flags, writes the documents, and reports what no
//! values file can set. With `--check`, `check` renders each document and keeps the smallest values
//! of each distinct failure.

mod check;

use std::sync::Arc;

use ytterby::{Failure, GenerateOptions, Generated, Meter, Options, ValuesDocument};
use ytterby_diag::render::Rendering;
use ytterby_diag::{Id, Pos, Sources};

use crate::commands::flag;
use crate::flags::{Invocation, TextFlag};
use crate::project::one::{self, Unnamed};
use crate::render::Inputs;
use crate::{host, limits, report};

pub use check::{Failing, check};

/// Default number of documents.
const COUNT: usize = 20;
const CHECKED: usize = 200;

/// A larger number of documents is probably a typo.
const MOST: usize = 1_000_000;

/// The format of generated documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ValuesFormat {
    #[default]
    Yaml,
    Json,
}

/// Generates documents, or checks them. Returns the exit code.
pub fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    // The default time limit is for each input, since there may be many.
    let started = flags.given(&flag::LIMIT_TIME).and_then(|_| limits::Process::default().time());
    let rendering = report::rendering(program, flags)?;
    let is_check = flags.is_on(&flag::GEN_CHECK);
    if let Some(extra) = flags.operands.get(1) {
        let text = format!("Expected one target at most, but found '{extra}', too");
        return Err(Failure::new(Id::FLAG_OPERAND, text));
    }
    let count = number(flags, &flag::COUNT)?.unwrap_or(if is_check { CHECKED as u64 } else { COUNT as u64 });
    let count = usize::try_from(count).ok().filter(|count| *count <= MOST).ok_or_else(|| {
        Failure::new(Id::FLAG_VALUE, format!("Expected --count to be at most {MOST}, but was {count}"))
    })?;
    let how = GenerateOptions::new(count, number(flags, &flag::SEED)?.unwrap_or(0));
    let unknown = |value: &str| format!("Unknown output type '{value}'");
    let format = flags.choice(&flag::GEN_OUTPUT, unknown)?.unwrap_or_default();
    let Inputs { files, options } =
        one::inputs(program, flags, rendering, (flags.operands.first(), Unnamed::Common), sources)?;
    // `--output` means another format here than in a render.
    let options = Options { output_types: ytterby::OutputTypes::default(), ..options };
    let first_file = sources.next_id();
    let write = |text: &[u8]| limits::write_result(text, options.limits.output, Pos::new(first_file, 0), sources);
    let made = ytterby::generate(files.clone(), &options, sources, &how);
    let generated = match made {
        Ok(generated) => generated,
        Err(failure) => {
            report::outcome(program, Err(&failure), sources, rendering);
            return Ok(1);
        }
    };
    report::outcome(program, Ok(&generated.warnings), sources, rendering);
    if !is_check {
        let mut text = written(&generated.documents, format)?;
        if format == ValuesFormat::Yaml {
            text.extend_from_slice(unreached(&generated)?.as_bytes());
        }
        write(&text)?;
        remark(rendering, &rejections(&generated));
        return Ok(0);
    }
    let failing = match check(&files, &options, &generated.documents, started) {
        Ok(failing) => failing,
        Err(error) => {
            report::outcome(program, Err(error.failure()), error.sources(), rendering);
            return Ok(1);
        }
    };
    for found in &failing {
        report::outcome(program, Err(&found.failure), &found.sources, rendering);
    }
    write(&written_failing(&failing, format)?)?;
    let verdict = match failing.len() {
        0 => format!("{count} valid inputs were rendered, none fails"),
        1 => format!("{count} valid inputs were tried; the smallest one that fails is above"),
        kinds => {
            format!("{count} valid inputs were tried; they fail at {kinds} places, the smallest for each is above")
        }
    };
    remark(rendering, &format!("{verdict}{}", rejections(&generated)));
    Ok(i32::from(!failing.is_empty()))
}

/// Comments about values that no values file can set.
fn unreached(generated: &Generated) -> Result<String, Failure> {
    let mut out = String::new();
    for (path, values) in &generated.unreached {
        out.push_str(&format!(
            "# No values file was found that gives this shape of {path}: files are merged with the default.\n"
        ));
        let text = values.yaml()?;
        let text = String::from_utf8_lossy(&text);
        text.lines().for_each(|line| out.push_str(&format!("#   {line}\n")));
    }
    Ok(out)
}

/// The number of generated documents that rules rejected; empty if zero.
fn rejections(generated: &Generated) -> String {
    match generated.rejected {
        0 => String::new(),
        1 => "; 1 draw was rejected by rules".to_owned(),
        count => format!("; {count} draws were rejected by rules"),
    }
}

/// Prints an informational message, but only for people.
fn remark(rendering: Rendering, text: &str) {
    let text = text.trim_start_matches("; ");
    if !text.is_empty() && !rendering.is_for_machines() {
        host::write_error(&format!("{text}\n"));
    }
}

fn written(documents: &[ValuesDocument], format: ValuesFormat) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        add(document, None, number, format, &mut out)?;
    }
    Ok(out)
}

/// The smallest values of each failure, with the failure as a comment.
fn written_failing(failing: &[Failing], format: ValuesFormat) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    for (number, found) in failing.iter().enumerate() {
        add(&found.values, Some(&found.summary()), number, format, &mut out)?;
    }
    Ok(out)
}

fn add(
    document: &ValuesDocument,
    comment: Option<&str>,
    number: usize,
    format: ValuesFormat,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    match format {
        ValuesFormat::Json => {
            out.extend_from_slice(document.json().as_bytes());
            out.push(b'\n');
        }
        ValuesFormat::Yaml => {
            if number > 0 {
                out.extend_from_slice(b"---\n");
            }
            if let Some(comment) = comment {
                out.extend_from_slice(format!("# {comment}\n").as_bytes());
            }
            out.extend_from_slice(&document.yaml()?);
        }
    }
    Ok(())
}

/// The value of a flag as a whole number.
fn number(flags: &Invocation, flag: &TextFlag) -> Result<Option<u64>, Failure> {
    let Some(text) = flags.given(flag) else { return Ok(None) };
    let name = flag.name;
    text.parse().map(Some).map_err(|_| {
        Failure::new(Id::FLAG_VALUE, format!("Expected --{name} to be a whole number, 0 or more, but was '{text}'"))
    })
}
