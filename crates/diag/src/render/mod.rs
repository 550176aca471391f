//! Renderings of a run's diagnostics.
//!
//! Each takes the same [`Report`] and gives the bytes for standard error. The text rendering is ytt's, to the letter; the
//! machine-readable ones are made from the diagnostics as data.

mod github;
mod json;
mod rich;
mod sarif;
mod text;

use crate::{Diagnostic, Kind, Message, Severity, Sources};

pub use github::{WorkflowPlace, workflow_command};
pub use json::note;

/// What there is to say at the end of a run.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// The name in front of messages.
    pub program: &'a str,
    /// Why the run failed, if it did.
    pub failure: Option<&'a Message>,
    /// Warnings and errors in their order. The errors of a failure may be missing.
    pub diagnostics: &'a [Diagnostic],
    /// Where positions are looked up.
    pub sources: &'a Sources,
    /// What code printed, for a rendering that must hold everything.
    pub printed: &'a str,
}

/// How to say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rendering {
    /// ytt's text.
    #[default]
    Text,
    /// ytt's text with source excerpts and hints.
    Rich(Colour),
    /// One JSON object per line.
    Json,
    /// One SARIF 2.1.0 log.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
}

impl Rendering {
    /// Whether a program reads it.
    pub fn is_for_machines(self) -> bool {
        matches!(self, Rendering::Json | Rendering::Sarif | Rendering::Github)
    }
}

/// Whether the rich rendering uses colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// ANSI escapes.
    Ansi,
    /// None.
    Off,
}

/// Renders a report.
pub fn render(report: &Report<'_>, rendering: Rendering) -> String {
    match rendering {
        Rendering::Text => text::render(report),
        Rendering::Rich(colour) => rich::render(report, colour),
        Rendering::Json => json::render(report),
        Rendering::Sarif => sarif::render(report),
        Rendering::Github => github::render(report),
    }
}

impl Report<'_> {
    fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning)
    }

    /// All diagnostics; a failure that came as text only is made into one.
    fn entries(&self) -> Vec<Diagnostic> {
        let mut entries = self.diagnostics.to_vec();
        let has_error = entries.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        if let Some(message) = self.failure
            && !has_error
        {
            entries.push(Diagnostic::new(Severity::Error, Kind::Other, message.one_line()));
        }
        entries
    }
}

#[cfg(test)]
mod tests;
