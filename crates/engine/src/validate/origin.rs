//! Which data values a line of a template reads, to find the cause of a violation in the output.
//!
//! The line is searched as text: `data.values.db.port`, `data.values["db"].port`. Values that reach
//! it through variables and functions are not found; the line itself is shown anyway.

use ytterby_diag::{Path, Pos, Step};

use crate::node::{Document, Node};
use crate::run::Run;

/// The data values in the line of `pos`: their paths, and where each comes from.
pub(crate) fn values_read(run: &Run, pos: Pos, values: &Document) -> Vec<(Path, Pos)> {
    let Some(line) = run.sources.line_text(pos) else { return Vec::new() };
    let mut found: Vec<(Path, Pos)> = Vec::new();
    let mut rest = &line[..];
    while let Some(at) = rest.find("data.values") {
        let is_whole = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        rest = &rest[at + "data.values".len()..];
        if is_whole
            && let Some(entry) = follow(rest, &values.value)
            && !found.contains(&entry)
        {
            found.push(entry);
        }
    }
    found
}

/// Follows the steps at the beginning of a text as far as there are values.
fn follow(mut text: &str, values: &Node) -> Option<(Path, Pos)> {
    let mut node = values;
    let mut path = Path::document();
    let mut pos = None;
    while let Some((key, rest)) = step(text) {
        let item = node.as_map().and_then(|map| map.get_str(key));
        let Some(item) = item else { break };
        path.push(Step::Key(key.to_owned()));
        (node, pos, text) = (&item.value, Some(item.pos), rest);
    }
    pos.map(|pos| (path, pos))
}

/// `.name` or `["name"]` at the beginning, and the rest.
fn step(text: &str) -> Option<(&str, &str)> {
    if let Some(name) = text.strip_prefix('.') {
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        return (end > 0).then(|| name.split_at(end));
    }
    let index = text.strip_prefix('[')?;
    let quote = index.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (key, rest) = index[1..].split_once(quote)?;
    Some((key, rest.strip_prefix(']')?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::rules::tests::yaml;

    #[test]
    fn finds_the_data_values_of_a_line() {
        let values = yaml("{db: {port: 1, 'a-b': 2}, name: x}");
        let path = |text: &str| follow(text, &values).map(|(path, _)| path.to_string());
        assert_eq!(path(".db.port + 1").as_deref(), Some("db.port"));
        assert_eq!(path("[\"db\"]['a-b']").as_deref(), Some("db.a-b"));
        assert_eq!(path(".name.upper()").as_deref(), Some("name"));
        assert_eq!(path(".db[\"gone\"]").as_deref(), Some("db"));
        assert_eq!(path(".gone"), None);
        assert_eq!(path(""), None);
        assert_eq!(path("[é"), None);
    }
}
