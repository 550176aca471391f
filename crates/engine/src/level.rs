//! Which names are available in a run: all of them, or only those of ytt 0.49.

/// Which names are available in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Level {
    /// Everything.
    #[default]
    Ytterby,
    /// `--compat=0.49`: the names of ytt 0.49.
    Ytt049,
}

/// The modules of `load("@ytt:…")`, and the level that has them. Their content is in `stdlib`.
const MODULES: &[(&str, Level)] = &[
    ("assert", Level::Ytt049),
    ("base64", Level::Ytt049),
    ("data", Level::Ytt049),
    ("ip", Level::Ytt049),
    ("json", Level::Ytt049),
    ("library", Level::Ytt049),
    ("math", Level::Ytt049),
    ("md5", Level::Ytt049),
    ("module", Level::Ytt049),
    ("overlay", Level::Ytt049),
    ("regexp", Level::Ytt049),
    ("schema", Level::Ytterby),
    ("sha256", Level::Ytt049),
    ("spelling", Level::Ytterby),
    ("struct", Level::Ytt049),
    ("template", Level::Ytt049),
    ("toml", Level::Ytt049),
    ("url", Level::Ytt049),
    ("version", Level::Ytt049),
    ("yaml", Level::Ytt049),
];

/// Whether there is a module `@ytt:<name>`.
pub(crate) fn has_module(name: &str, level: Level) -> bool {
    modules_of(level).any(|known| known == name)
}

/// The names of the available modules.
pub(crate) fn modules_of(level: Level) -> impl Iterator<Item = &'static str> {
    let is_available = move |since: Level| level == Level::Ytterby || since == Level::Ytt049;
    MODULES.iter().filter(move |(_, since)| is_available(*since)).map(|(name, _)| *name)
}
