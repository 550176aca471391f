//! Converts between offsets in files and positions of the protocol.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use ytterby_ide::{File, LineColumn, TextEdit, TextRange};

use crate::server::Server;
use crate::uri;

/// Parses a position of the protocol.
pub(crate) fn position(value: &Value) -> Option<LineColumn> {
    let number = |name: &str| value.get(name)?.as_u64().map(|number| number.min(u32::MAX.into()) as u32);
    Some(LineColumn { line: number("line")?, column: number("character")? })
}

pub(crate) fn position_json(at: LineColumn) -> Value {
    json!({"line": at.line, "character": at.column})
}

/// Converts a range of a file to one of the protocol.
pub(crate) fn range_json(file: &File, range: TextRange) -> Value {
    let lines = &file.model().lines;
    let (start, end) = (lines.position(&file.text, range.start), lines.position(&file.text, range.end));
    json!({"start": position_json(start), "end": position_json(end)})
}

/// Converts a range of the protocol to one of a file.
pub(crate) fn range(file: &File, value: &Value) -> Option<TextRange> {
    let lines = &file.model().lines;
    let start = lines.offset(&file.text, position(value.get("start")?)?);
    let end = lines.offset(&file.text, position(value.get("end")?)?);
    Some(TextRange::new(start.min(end), start.max(end)))
}

impl Server {
    /// The URI of a path, as the editor spells it.
    pub(crate) fn uri(&self, path: &str) -> String {
        self.uris.get(path).cloned().unwrap_or_else(|| uri::of(path))
    }

    /// A location of the protocol.
    pub(crate) fn location(&mut self, path: &str, range: TextRange) -> Option<Value> {
        let uri = self.uri(path);
        self.workspace.file(path).map(|file| json!({"uri": uri, "range": range_json(&file, range)}))
    }

    /// Edits of several files.
    pub(crate) fn workspace_edit(&mut self, edits: &[TextEdit]) -> Value {
        let mut by_path: BTreeMap<&str, Vec<&TextEdit>> = BTreeMap::new();
        for edit in edits {
            by_path.entry(&edit.path).or_default().push(edit);
        }
        let mut changes = Vec::new();
        for (path, edits) in by_path {
            let Some(file) = self.workspace.file(path) else { continue };
            let edits: Vec<Value> = edits
                .iter()
                .map(|edit| json!({"range": range_json(&file, edit.range), "newText": edit.text}))
                .collect();
            changes.push((self.uri(path), file.version, edits));
        }
        if self.client.document_changes {
            let changes: Vec<Value> = changes
                .into_iter()
                .map(|(uri, version, edits)| json!({"textDocument": {"uri": uri, "version": version}, "edits": edits}))
                .collect();
            return json!({"documentChanges": changes});
        }
        let changes: serde_json::Map<String, Value> =
            changes.into_iter().map(|(uri, _, edits)| (uri, Value::Array(edits))).collect();
        json!({"changes": changes})
    }
}
