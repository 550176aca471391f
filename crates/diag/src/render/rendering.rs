//! The formats of a report, by name.
//!
//! One table lists them, so that flags, help and completions agree.

/// The format of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Rendering {
    /// ytt's text.
    #[default]
    Text,
    /// Excerpts of the sources with the ranges underlined, advice, colours.
    Rich(RichOptions),
    /// One JSON object per line.
    Json,
    /// One SARIF 2.1.0 log.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// A Code Quality report of GitLab.
    Gitlab,
    /// A JUnit report in XML.
    Junit,
}

impl Rendering {
    /// All renderings by name, as `--diagnostics` accepts them.
    pub const NAMES: [(&'static str, Rendering); 7] = [
        ("text", Rendering::Text),
        ("rich", Rendering::Rich(RichOptions { colour: Colour::Off, width: None })),
        ("json", Rendering::Json),
        ("sarif", Rendering::Sarif),
        ("github", Rendering::Github),
        ("gitlab", Rendering::Gitlab),
        ("junit", Rendering::Junit),
    ];

    /// The rendering with this name, if there is one; `rich` is without colour.
    pub fn find(name: &str) -> Option<Rendering> {
        Rendering::NAMES.iter().find(|(known, _)| *known == name).map(|(_, rendering)| *rendering)
    }

    /// Whether it is machine-readable.
    pub fn is_for_machines(self) -> bool {
        !matches!(self, Rendering::Text | Rendering::Rich(_))
    }

    /// Whether the report is one document, so that nothing else may be written to the same stream.
    pub fn is_one_document(self) -> bool {
        matches!(self, Rendering::Sarif | Rendering::Gitlab | Rendering::Junit)
    }
}

/// How the rich rendering looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RichOptions {
    /// Whether to use colours.
    pub colour: Colour,
    /// Columns of the terminal. `None` means that texts are not wrapped and only very long source
    /// lines are cut.
    pub width: Option<usize>,
}

/// Whether a rendering for people uses colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Colour {
    /// ANSI escapes, with the colours of the terminal's palette.
    Ansi,
    /// No colours.
    #[default]
    Off,
}
