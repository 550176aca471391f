//! `--source-map`: writes the origin of each output line, for other tools.

use ytterby::{Failure, SourceLine};
use ytterby_text::gojson::{self, Html};

use crate::write::Draft;

/// Writes the map as one JSON document, beside its place: it belongs to output that is still to be
/// written.
pub fn draft(path: &str, lines: &[SourceLine]) -> Result<Draft, Failure> {
    let rows: Vec<String> = lines.iter().map(row).collect();
    let text = format!("{{\"version\":1,\"lines\":[\n{}\n]}}\n", rows.join(",\n"));
    Draft::new(path, text.into_bytes())
}

fn row(line: &SourceLine) -> String {
    let output = line.output.as_ref().map(|path| format!("\"output\":{},", quoted(path))).unwrap_or_default();
    let place =
        format!("\"file\":{},\"sourceLine\":{},\"sourceColumn\":{}", quoted(&line.file), line.source_line, line.column);
    let path = quoted(&line.path.to_string());
    format!("{{{output}\"line\":{},\"document\":{},\"path\":{path},{place}}}", line.line, line.document)
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    gojson::string_into(&mut out, text.as_bytes(), Html::Keep);
    String::from_utf8_lossy(&out).into_owned()
}
