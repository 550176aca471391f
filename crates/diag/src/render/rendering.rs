//! The formats that a report can have, by name.
//!
//! One table lists them, so that flags, help and completions cannot disagree.

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
    /// All of them by name, as `--diagnostics` takes them.
    pub const NAMES: [(&'static str, Rendering); 7] = [
        ("text", Rendering::Text),
        ("rich", Rendering::Rich(RichOptions { colour: Colour::Off, width: None })),
        ("json", Rendering::Json),
        ("sarif", Rendering::Sarif),
        ("github", Rendering::Github),
        ("gitlab", Rendering::Gitlab),
        ("junit", Rendering::Junit),
    ];

    /// The rendering of this name, if there is one; `rich` without colour.
    pub fn find(name: &str) -> Option<Rendering> {
        Rendering::NAMES.iter().find(|(known, _)| *known == name).map(|(_, rendering)| *rendering)
    }

    /// Whether a program reads it.
    pub fn is_for_machines(self) -> bool {
        !matches!(self, Rendering::Text | Rendering::Rich(_))
    }

    /// Whether the report is one document, so that nothing else may be written beside it.
    pub fn is_one_document(self) -> bool {
        matches!(self, Rendering::Sarif | Rendering::Gitlab | Rendering::Junit)
    }
}

/// How the rich rendering looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RichOptions {
    /// Whether it has colours.
    pub colour: Colour,
    /// Columns of the terminal. Without it, texts are not wrapped and only very long source lines are cut.
    pub width: Option<usize>,
}

/// Whether a rendering for people uses colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Colour {
    /// ANSI escapes, with the colours of the terminal's palette.
    Ansi,
    /// None.
    #[default]
    Off,
}
