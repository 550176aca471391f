//! Why a project cannot be rendered.

use std::fmt;
use std::sync::Arc;

use ytterby_diag::render::{Rendering, Report, render};
use ytterby_diag::{Diagnostic, Failure, Id, Sources};

/// Why a project cannot be rendered: problems as data, and the sources that they are about.
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

    /// The problems: errors with id, path, ranges and advice.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.failure.diagnostics()
    }

    /// The warnings that came before.
    pub fn warnings(&self) -> &[Diagnostic] {
        self.failure.warnings()
    }

    /// What positions in the problems refer to.
    pub fn sources(&self) -> &Arc<Sources> {
        &self.sources
    }

    /// The failure that the problems are made of.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// Everything, warnings included, in one of the renderings of the command. `program` is the name in front.
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
