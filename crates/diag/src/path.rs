//! The path from a document to one of its nodes, as data.
//!
//! A path is a list of keys and indexes. Its text (`db.hosts[0]`) is for people: a key may contain
//! dots and brackets, so nothing ever parses the text of a path.

use std::fmt;

use crate::Secrets;

/// One step of a [`Path`].
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Step {
    /// Into a map.
    Key(String),
    /// Into an array, counted from 0.
    Index(usize),
}

/// Keys and indexes, outermost first. The empty path is the document itself.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Path(Vec<Step>);

impl Path {
    /// The document itself.
    pub fn document() -> Path {
        Path::default()
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether this is the document itself.
    pub fn is_document(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of an item of the map here.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Path {
        self.with(Step::Key(key.into()))
    }

    /// The path of an item of the array here.
    #[must_use]
    pub fn index(&self, index: usize) -> Path {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Path {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Path(steps)
    }

    /// Appends a step.
    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Removes the last step.
    pub fn pop(&mut self) -> Option<Step> {
        self.0.pop()
    }

    /// Prepends a step: the path as seen from one level further out.
    pub fn prepend(&mut self, step: Step) {
        self.0.insert(0, step);
    }

    /// The path `below`, relative to this one.
    #[must_use]
    pub fn join(&self, below: &Path) -> Path {
        Path(self.0.iter().chain(&below.0).cloned().collect())
    }

    /// The path up to the outermost array; the whole path if there is none.
    #[must_use]
    pub fn without_items(&self) -> Path {
        let end = self.0.iter().position(|step| matches!(step, Step::Index(_))).unwrap_or(self.0.len());
        Path(self.0[..end].to_vec())
    }

    /// Replaces keys that are secrets; templates can create such keys.
    pub fn hide(&mut self, secrets: &Secrets) {
        for step in &mut self.0 {
            if let Step::Key(key) = step
                && let Some(hidden) = secrets.hidden_value(key)
            {
                *key = hidden;
            }
        }
    }

    /// The text for messages, `(document)` for the document itself.
    pub fn shown(&self) -> String {
        if self.is_document() { "(document)".to_owned() } else { self.to_string() }
    }
}

impl From<Vec<Step>> for Path {
    fn from(steps: Vec<Step>) -> Path {
        Path(steps)
    }
}

impl FromIterator<Step> for Path {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Path {
        Path(steps.into_iter().collect())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) => f.write_str(key),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            if at > 0 && matches!(step, Step::Key(_)) {
                f.write_str(".")?;
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_text() {
        let path = Path::document().key("db").key("hosts").index(0).key("a.b");
        assert_eq!(path.to_string(), "db.hosts[0].a.b");
        assert_eq!(path.without_items(), Path::document().key("db").key("hosts"));
        assert_eq!(Path::document().shown(), "(document)");
        assert_eq!(Path::document().index(1).index(2).to_string(), "[1][2]");
    }
}
