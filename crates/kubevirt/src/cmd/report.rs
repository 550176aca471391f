//! What `validate` found, before it is written in one of the formats.

use crate::evaluate::{Outcome, Status, is_valid};

/// Everything that was checked.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub objects: Vec<Checked>,
}

/// One VM, template or file.
#[derive(Debug)]
pub(super) struct Checked {
    pub kind: String,
    pub name: String,
    pub namespace: String,
    pub file: String,
    pub line: u32,
    /// Whether rules or file could not be read at all.
    pub unreadable: bool,
    pub results: Vec<Located>,
}

/// A result and where its rule stands.
#[derive(Debug)]
pub(super) struct Located {
    pub outcome: Outcome,
    pub at: Option<Place>,
}

/// A place of a file, line and column from 1.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Checked {
    pub(super) fn valid(&self) -> bool {
        self.results.iter().all(|result| is_valid(std::slice::from_ref(&result.outcome)))
    }

    /// `VirtualMachine ns/name`.
    pub(super) fn label(&self) -> String {
        match (self.kind.as_str(), self.namespace.as_str(), self.name.as_str()) {
            ("", _, _) => "file".to_owned(),
            (kind, _, "") => kind.to_owned(),
            (kind, "", name) => format!("{kind} {name}"),
            (kind, namespace, name) => format!("{kind} {namespace}/{name}"),
        }
    }

    pub(super) fn count(&self, status: Status) -> usize {
        self.results.iter().filter(|result| result.outcome.status == status).count()
    }
}

impl Report {
    pub(super) fn valid(&self) -> bool {
        self.objects.iter().all(Checked::valid)
    }

    pub(super) fn unreadable(&self) -> bool {
        self.objects.iter().any(|object| object.unreadable)
    }

    pub(super) fn warns(&self) -> bool {
        let mut results = self.objects.iter().flat_map(|object| &object.results);
        results.any(|result| result.outcome.status == Status::Warning || result.outcome.notable)
    }
}
