//! The data values of a run, for display.

use ytterby_diag::FileId;
use ytterby_yaml::{NodeId, ReadOptions, Scalar, Tree, View, parse};

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum DataValue {
    /// A leaf as YAML text.
    Scalar(String),
    /// Items.
    Array(Vec<DataValue>),
    /// Keys and values.
    Map(Vec<(String, DataValue)>),
}

/// Maximum bytes of a displayed value.
const MAX_SHOWN: usize = 60;

impl DataValue {
    /// The first document of a YAML text.
    pub fn parse(bytes: &[u8]) -> Option<DataValue> {
        let tree = parse(bytes, FileId(0), &ReadOptions::default()).ok()?;
        let document = tree.documents().iter().find(|document| !document.injected)?;
        Some(value(&tree, document.value, 0))
    }

    /// The value at a path.
    pub fn at(&self, path: &[Option<impl AsRef<str>>]) -> Option<&DataValue> {
        let mut at = self;
        for step in path {
            at = match (at, step) {
                (DataValue::Map(items), Some(key)) => &items.iter().find(|(name, _)| name == key.as_ref())?.1,
                _ => return None,
            };
        }
        Some(at)
    }

    /// The value on one line, truncated.
    pub fn shown(&self) -> String {
        let mut text = self.whole();
        if text.chars().count() > MAX_SHOWN {
            text = text.chars().take(MAX_SHOWN - 1).collect();
            text.push('…');
        }
        text
    }

    fn whole(&self) -> String {
        match self {
            DataValue::Scalar(text) => text.clone(),
            DataValue::Array(items) => format!("[{}]", joined(items.iter().map(DataValue::whole))),
            DataValue::Map(items) => {
                format!("{{{}}}", joined(items.iter().map(|(key, value)| format!("{key}: {}", value.whole()))))
            }
        }
    }
}

/// Joins pieces with commas, up to the displayed length.
fn joined(pieces: impl Iterator<Item = String>) -> String {
    let mut out = String::new();
    for piece in pieces {
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(&piece);
        if out.len() > 4 * MAX_SHOWN {
            break;
        }
    }
    out
}

fn value(tree: &Tree, node: NodeId, depth: usize) -> DataValue {
    if depth > 100 {
        return DataValue::Scalar("…".to_owned());
    }
    match tree.value(node) {
        View::Scalar(scalar) => DataValue::Scalar(scalar_text(scalar)),
        View::Array(items) => DataValue::Array(items.iter().map(|item| value(tree, item.value, depth + 1)).collect()),
        View::Map(items) => DataValue::Map(
            items.iter().map(|item| (scalar_text(&item.key), value(tree, item.value, depth + 1))).collect(),
        ),
    }
}

fn scalar_text(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::UInt(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Str(text) if text.is_empty() => "\"\"".to_owned(),
        Scalar::Str(text) => text.to_str().lines().next().unwrap_or_default().to_owned(),
        Scalar::Complex(_) => "…".to_owned(),
    }
}
