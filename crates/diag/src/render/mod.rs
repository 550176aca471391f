//! Renderings of a run's diagnostics.
//!
//! Each takes the same [`Report`] and returns the text for standard error. The text rendering is
//! ytt's, to the letter. All others use the diagnostics as data, and ignore the fields that they do
//! not show. To add one, add a file and a row in [`Rendering::NAMES`].

mod github;
mod gitlab;
mod help;
mod json;
mod junit;
mod rendering;
mod resolved;
mod rich;
mod sarif;
pub mod ytt;

use crate::{Diagnostic, Failure, Sources};
use resolved::Resolved;

pub use github::{WorkflowPlace, workflow_command};
pub use help::help;
pub use json::note;
pub use rendering::{Colour, Rendering, RichOptions};

/// Everything to report at the end of a run.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// The program's name in front of messages.
    pub program: &'a str,
    /// The version of the program.
    pub version: &'a str,
    /// Why the run failed, if it did.
    pub failure: Option<&'a Failure>,
    /// Warnings in order.
    pub warnings: &'a [Diagnostic],
    /// Used to look up positions.
    pub sources: &'a Sources,
    /// Text that code printed, for renderings that must contain all output.
    pub printed: &'a str,
}

/// Renders a report.
pub fn render(report: &Report<'_>, rendering: Rendering) -> String {
    match rendering {
        Rendering::Text => ytt::render(report),
        Rendering::Rich(options) => rich::render(report, options),
        Rendering::Json => json::render(report),
        Rendering::Sarif => sarif::render(report),
        Rendering::Github => github::render(report),
        Rendering::Gitlab => gitlab::render(report),
        Rendering::Junit => junit::render(report),
    }
}

impl<'a> Report<'a> {
    /// A report without printed text, with the version of this crate.
    pub fn new(
        program: &'a str,
        failure: Option<&'a Failure>,
        warnings: &'a [Diagnostic],
        sources: &'a Sources,
    ) -> Report<'a> {
        Report { program, version: env!("CARGO_PKG_VERSION"), failure, warnings, sources, printed: "" }
    }

    fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.warnings.iter()
    }

    /// All diagnostics: warnings, then errors.
    pub fn entries(&self) -> Vec<Diagnostic> {
        let errors = self.failure.map(Failure::diagnostics).unwrap_or_default();
        self.warnings.iter().cloned().chain(errors).collect()
    }

    /// All diagnostics with their texts and positions resolved.
    fn resolved(&self) -> Vec<Resolved> {
        self.entries().iter().map(|diagnostic| Resolved::new(diagnostic, self.sources)).collect()
    }
}

#[cfg(test)]
mod tests;
