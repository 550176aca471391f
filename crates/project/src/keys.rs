//! The keys of project files and test files, in one table each.

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// The type of its value.
    pub kind: KeyKind,
    /// Its meaning in one sentence.
    pub about: &'static str,
}

/// The type of a key's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyKind {
    /// A list of paths.
    Paths,
    /// One path.
    Path,
    /// Data values: a map with any content.
    Set,
    /// `true` or `false`.
    Bool,
    /// A version of Kubernetes, or `off`.
    Version,
    /// Targets by their names.
    Targets,
    /// A map of lists of scalars.
    Matrix,
    /// A map with [`LIMITS`].
    Limits,
    /// A duration: `30s`.
    Duration,
    /// A size: `2GiB`.
    Size,
    /// A non-negative integer.
    Count,
    /// Any text.
    Text,
    /// A list of tests.
    Tests,
    /// A list of expectations.
    Expectations,
    /// Paths of nodes with expected values.
    Nodes,
    /// A list of paths of nodes.
    NodePaths,
    /// A text, or a map with [`FAILS`].
    Fails,
}

const fn key(name: &'static str, kind: KeyKind, about: &'static str) -> Key {
    Key { name, kind, about }
}

/// Keys of a project file.
pub const PROJECT: &[Key] = &[
    key("files", KeyKind::Paths, "Input files and directories of every target, as -f takes them."),
    key("values", KeyKind::Paths, "Values files of every target, as --data-values-file takes them."),
    key("set", KeyKind::Set, "Data values of every target. Keys may be dotted."),
    key("strict-annotations", KeyKind::Bool, "Whether unknown, repeated and misplaced annotations fail."),
    key("kubernetes", KeyKind::Version, "The version of Kubernetes that output is checked against, or off."),
    key("schemas", KeyKind::Paths, "Further schemas for that check: CRDs, policies, OpenAPI documents, directories."),
    key("targets", KeyKind::Targets, "What can be built, by name."),
    key("tests", KeyKind::Paths, "Test files, and directories that contain files named *_test.yml."),
    key("limits", KeyKind::Limits, "Limits of each run."),
];

/// Keys of a target.
pub const TARGET: &[Key] = &[
    key("files", KeyKind::Paths, "Further input files and directories."),
    key("values", KeyKind::Paths, "Further values files; later ones win."),
    key("set", KeyKind::Set, "Further data values, which win over values files. Keys may be dotted."),
    key("output", KeyKind::Path, "The directory that is replaced as a whole; without it, standard output."),
    key("strict-annotations", KeyKind::Bool, "Whether unknown, repeated and misplaced annotations fail."),
    key("matrix", KeyKind::Matrix, "Lists of values; the target is built for every combination of them."),
    key("kubernetes", KeyKind::Version, "The version of Kubernetes that output is checked against, or off."),
    key("schemas", KeyKind::Paths, "Further schemas for that check."),
    key("limits", KeyKind::Limits, "Limits of this target's runs."),
];

/// Keys of `limits`.
pub const LIMITS: &[Key] = &[
    key("time", KeyKind::Duration, "Time of the processor, such as 30s or 2m."),
    key("memory", KeyKind::Size, "Memory, such as 2GiB."),
    key("steps", KeyKind::Count, "Turns of loops and calls of functions."),
    key("output", KeyKind::Size, "Size of the output, such as 100MiB."),
    key("depth", KeyKind::Count, "Calls within calls."),
];

/// Keys of a test file.
pub const TEST_FILE: &[Key] = &[key("tests", KeyKind::Tests, "The tests.")];

/// Keys of a test.
pub const TEST: &[Key] = &[
    key("name", KeyKind::Text, "What the test shows, in a few words."),
    key("target", KeyKind::Text, "The target that is rendered."),
    key("files", KeyKind::Paths, "Input files, relative to the test file, in place of a target's or beside them."),
    key("values", KeyKind::Paths, "Further values files, relative to the test file."),
    key("set", KeyKind::Set, "Further data values. Keys may be dotted."),
    key("expect", KeyKind::Expectations, "What the output must look like."),
    key("snapshot", KeyKind::Path, "A file below __snapshots__ that the output must equal."),
    key("fails", KeyKind::Fails, "The problem that the render must end with."),
    key("generate", KeyKind::Count, "How many generated inputs must render."),
];

/// Keys of an expectation.
pub const EXPECTATION: &[Key] = &[
    key("document", KeyKind::Nodes, "Which documents are meant: what they must contain."),
    key("count", KeyKind::Count, "How many documents there must be."),
    key("equals", KeyKind::Nodes, "What nodes must be, by their paths."),
    key("contains", KeyKind::Nodes, "What nodes must contain, by their paths."),
    key("absent", KeyKind::NodePaths, "Paths of nodes that must not exist."),
];

/// Keys of `fails`.
pub const FAILS: &[Key] = &[
    key("id", KeyKind::Text, "The id of the problem, such as rule/min."),
    key("path", KeyKind::Text, "The data value or node in question."),
    key("message", KeyKind::Text, "A text that the message contains."),
];

/// The row of a key.
pub(crate) fn find(table: &'static [Key], name: &str) -> Option<&'static Key> {
    table.iter().find(|key| key.name == name)
}
