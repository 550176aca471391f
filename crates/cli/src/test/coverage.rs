//! `test --coverage`: reports what no test reaches.
//!
//! Counted are lines of templates with code, or with nodes that code creates. A data value is
//! reached when code reads it, an overlay when it matches, a rule when a test violates it:
//! otherwise the rule could as well be missing.

use std::collections::{BTreeMap, BTreeSet};

use ytterby::Failure;
use ytterby_diag::{Origin, Pos, Sources};

use crate::commands::flag;
use crate::flags::Invocation;
use crate::project::engine::Reached;
use crate::project::inputs::Inputs;

/// The format of the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoverageFormat {
    /// Lines for people.
    Text,
    /// The format that coverage tools read; templates only.
    Lcov,
}

impl CoverageFormat {
    /// The format that the flags request, if any.
    ///
    /// # Errors
    /// If the format is unknown.
    pub fn of(flags: &Invocation) -> Result<Option<CoverageFormat>, Failure> {
        flags.choice(&flag::COVERAGE, |value| format!("Unknown value '{value}' of --coverage"))
    }
}

/// Lines of a file, and whether each was reached.
type ReachedLines = BTreeMap<u32, bool>;

/// The report.
pub fn report(
    format: CoverageFormat,
    reached: &Reached,
    inputs: &Inputs<'_>,
    broken: &BTreeSet<(String, String)>,
    sources: &Sources,
) -> String {
    let files = files(reached, sources);
    if format == CoverageFormat::Lcov {
        return lcov(&files);
    }
    let values = reached.coverage.values();
    let overlays: BTreeMap<String, bool> = {
        let mut found: BTreeMap<String, bool> = BTreeMap::new();
        for (pos, matched) in reached.overlays.items() {
            *found.entry(place(pos, sources)).or_default() |= matched;
        }
        found
    };
    let is_broken = |path: &str, text: &str| {
        let mut breaks = broken.iter().filter(|(at, _)| at == path);
        breaks.any(|(_, must_be)| must_be.contains(text) || text.contains(must_be.as_str()))
    };
    let rules = inputs.rules().into_iter();
    let rules: BTreeMap<String, bool> =
        rules.map(|(path, text)| (format!("{path} ({text})"), is_broken(&path, &text))).collect();
    let lines = files.values().flat_map(|lines| lines.values());
    let mut out = format!(
        "coverage: {} lines, {} data values, {} rules, {} overlays\n",
        part(lines),
        part(values.values()),
        part(rules.values()),
        part(overlays.values())
    );
    for (file, lines) in &files {
        let missed: Vec<u32> = lines.iter().filter(|(_, reached)| !**reached).map(|(line, _)| *line).collect();
        if !missed.is_empty() {
            out.push_str(&format!("  {file}: no test reaches {}\n", ranges(&missed)));
        }
    }
    for (what, items) in [
        ("data values that no test reads", &values),
        ("rules that no test breaks", &rules),
        ("overlays that match in no test", &overlays),
    ] {
        let missed: Vec<&str> = items.iter().filter(|(_, reached)| !**reached).map(|(name, _)| &**name).collect();
        if !missed.is_empty() {
            out.push_str(&format!("  {what}: {}\n", missed.join(", ")));
        }
    }
    out
}

/// Example: `3 of 4`.
fn part<'a>(items: impl Iterator<Item = &'a bool> + Clone) -> String {
    format!("{} of {}", items.clone().filter(|reached| **reached).count(), items.count())
}

/// The lines of files that contain code. A line is reached if anything on it is.
fn files(reached: &Reached, sources: &Sources) -> BTreeMap<String, ReachedLines> {
    let mut found: BTreeMap<String, ReachedLines> = BTreeMap::new();
    for (pos, ran) in reached.coverage.statements() {
        let pos = sources.source_place(pos);
        let Some(source) = sources.get(pos.file).filter(|source| source.origin() == Origin::File) else { continue };
        let line = source.line(pos.offset);
        *found.entry(source.place().to_owned()).or_default().entry(line).or_default() |= ran;
    }
    found
}

/// Example: `config/app.yml:3`.
fn place(pos: Pos, sources: &Sources) -> String {
    let pos = sources.source_place(pos);
    match sources.get(pos.file) {
        Some(source) => format!("{}:{}", source.place(), source.line(pos.offset)),
        None => "?".to_owned(),
    }
}

/// Example: `lines 3-5 and 9`.
fn ranges(lines: &[u32]) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for &line in lines {
        match found.last_mut() {
            Some((_, end)) if *end + 1 == line => *end = line,
            _ => found.push((line, line)),
        }
    }
    let shown = |(start, end): &(u32, u32)| match start == end {
        true => start.to_string(),
        false => format!("{start}-{end}"),
    };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("{word} {}", found.iter().map(shown).collect::<Vec<_>>().join(", "))
}

fn lcov(files: &BTreeMap<String, ReachedLines>) -> String {
    let mut out = String::from("TN:\n");
    for (file, lines) in files {
        out.push_str(&format!("SF:{file}\n"));
        lines.iter().for_each(|(line, reached)| out.push_str(&format!("DA:{line},{}\n", u8::from(*reached))));
        let hit = lines.values().filter(|reached| **reached).count();
        out.push_str(&format!("LF:{}\nLH:{hit}\nend_of_record\n", lines.len()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined() {
        assert_eq!(ranges(&[7]), "line 7");
        assert_eq!(ranges(&[3, 4, 5, 9]), "lines 3-5, 9");
    }
}
