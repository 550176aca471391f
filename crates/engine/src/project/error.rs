//! Errors of projects.

use std::fmt;
use std::sync::Arc;

use ytterby_diag::render::{Rendering, Report, render};
use ytterby_diag::{Diagnostic, Failure, Id, Sources};

/// The reason that a project cannot be rendered: problems as data, with their sources.
#[derive(Clone)]
pub struct ProjectError {
    failure: Failure,
    sources: Arc<Sources>,
}

impl ProjectError {
    pub(crate) fn new(failure: Failure, sources: Arc<Sources>) -> ProjectError {
        ProjectError { failure, sources }
    }

    pub(super) fn of(id: Id, text: impl Into<String>) -> ProjectError {
        ProjectError::new(Failure::new(id, text.into()), Arc::default())
    }

    /// The problems: errors with id, path, ranges and hints.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.failure.diagnostics()
    }

    /// The warnings before the failure.
    pub fn warnings(&self) -> &[Diagnostic] {
        self.failure.warnings()
    }

    /// Resolves the positions of the problems.
    pub fn sources(&self) -> &Arc<Sources> {
        &self.sources
    }

    /// The underlying failure.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// Formats problems and warnings like the command. `program` is the name before each message.
    pub fn report(&self, program: &str, rendering: Rendering) -> String {
        render(&Report::new(program, Some(&self.failure), self.failure.warnings(), &self.sources), rendering)
    }
}

impl fmt::Display for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.failure.text(&self.sources))
    }
}

impl fmt::Debug for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ProjectError {}
