//! Chooses the format of reports from flags, environment and terminal.

use ytterby::Failure;
use ytterby_diag::render::{Rendering, Report, RichOptions, render};
use ytterby_diag::{Diagnostic, Id, Sources};

use crate::commands::flag;
use crate::flags::{Flag, Invocation};
use crate::host;

/// The format for a command with these flags.
pub fn rendering(program: &str, flags: &Invocation) -> Result<Rendering, Failure> {
    chosen(program, &|flag| flags.given(flag).map(str::to_owned))
}

/// Reports an error of the command line, in the format that it requests. `given` looks up flags.
pub fn error(program: &str, given: &dyn Fn(&Flag) -> Option<String>, failure: &Failure, sources: &Sources) {
    let rendering = chosen(program, given).unwrap_or(Rendering::Text);
    write(&Report::new(program, Some(failure), failure.warnings(), sources), rendering);
}

/// Reports the result of a command: warnings of a success, or a failure.
pub fn outcome(program: &str, result: Result<&[Diagnostic], &Failure>, sources: &Sources, rendering: Rendering) {
    let (failure, warnings) = match result {
        Ok(warnings) => (None, warnings),
        Err(failure) => (Some(failure), failure.warnings()),
    };
    write(&Report::new(program, failure, warnings, sources), rendering);
}

/// Writes a report to standard error.
pub fn write(report: &Report<'_>, rendering: Rendering) {
    host::write_error(&render(report, rendering));
}

/// The format: from the flags, then the environment; otherwise rich on terminals unless the program
/// is called `ytt`. `given` looks up flags.
fn chosen(program: &str, given: &dyn Fn(&Flag) -> Option<String>) -> Result<Rendering, Failure> {
    let variable = || std::env::var("YTTERBY_DIAGNOSTICS").ok().filter(|name| !name.is_empty());
    let by_default = if host::is_terminal() && program != "ytt" { "rich" } else { "text" };
    let name = given(&flag::DIAGNOSTICS).filter(|name| !name.is_empty()).or_else(variable);
    let name = name.as_deref().unwrap_or(by_default);
    let colour = host::colour(host::colour_wish(given(&flag::COLOR.0).as_deref())?);
    match Rendering::find(name) {
        Some(Rendering::Rich(_)) => Ok(Rendering::Rich(RichOptions { colour, width: host::width() })),
        Some(rendering) => Ok(rendering),
        None => {
            let names: Vec<&str> = Rendering::NAMES.iter().map(|(name, _)| *name).collect();
            let text = format!("Unknown diagnostics format '{name}' (expected one of {})", names.join(", "));
            Err(Failure::new(Id::FLAG_VALUE, text))
        }
    }
}
