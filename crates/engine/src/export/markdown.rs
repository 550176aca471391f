//! `-o markdown`: the fields as a table.

use std::fmt::Write;

use ytterby_text::gojson::Html;
use ytterby_yaml::write::{JsonOptions, JsonWriter};

use super::model::{DocumentedField, model, must_be};
use crate::node::{Node, write_node};
use crate::schema::Schema;
use crate::validate::Detail;

/// The documentation of a schema.
pub(crate) fn markdown(schema: &Schema) -> String {
    let model = model(schema, Detail::Texts);
    let title = model.title.map_or_else(|| "Data values".to_owned(), |title| title.to_string());
    let mut out = format!("# {title}\n\n");
    if let Some(text) = model.documentation {
        let _ = write!(out, "{text}\n\n");
    }
    if let Some(text) = must_be(&model.rules) {
        let _ = write!(out, "{text}\n\n");
    }
    out.push_str("| Name | Title | Type | Default | Description | Example |\n");
    out.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for field in &model.fields {
        row(&mut out, field);
    }
    out
}

fn row(out: &mut String, field: &DocumentedField) {
    let default = match &field.default {
        _ if field.required => "(required)".to_owned(),
        Some(value) => code(value),
        None => String::new(),
    };
    let examples: Vec<String> = field
        .examples
        .iter()
        .map(|example| match example.description.as_ref().filter(|text| !text.is_empty()) {
            Some(description) => format!("{}: {}", escaped(&description.to_str()), code(&example.value)),
            None => code(&example.value),
        })
        .collect();
    let type_name = if field.nullable { format!("{} or null", field.type_name) } else { field.type_name.clone() };
    let _ = writeln!(
        out,
        "| `{}` | {} | {} | {default} | {} | {} |",
        escaped(&field.path),
        escaped(&field.title),
        escaped(&type_name),
        escaped(&description(field)),
        examples.join("<br>")
    );
}

fn description(field: &DocumentedField) -> String {
    let remarks = field.remarks.iter().map(|remark| format!("**{}:** {}", remark.label(), remark.text));
    let mut parts: Vec<String> = remarks.collect();
    parts.extend(field.documentation.as_ref().map(ToString::to_string));
    parts.extend(must_be(&field.rules));
    if field.secret {
        parts.push("Secret.".to_owned());
    }
    parts.join(" ")
}

/// A value as JSON, in a code span.
fn code(value: &Node) -> String {
    let json = escaped(&json_text(value));
    // A code span that contains backticks is delimited by more of them.
    let fence = "`".repeat(json.split(|c| c != '`').map(str::len).max().unwrap_or(0) + 1);
    match json.starts_with('`') || json.ends_with('`') {
        true => format!("{fence} {json} {fence}"),
        false => format!("{fence}{json}{fence}"),
    }
}

/// A value as JSON on one line.
pub(crate) fn json_text(value: &Node) -> String {
    let mut writer = JsonWriter::new(JsonOptions { indent: 0, html: Html::Keep });
    ytterby_yaml::Sink::document(&mut writer);
    let bytes = write_node(&mut writer, value).and_then(|()| writer.finish()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

/// Escapes text for a table cell. Lines of a paragraph are joined, as in Markdown; paragraphs and
/// items of lists begin a new line.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut is_new_paragraph = false;
    for line in text.trim_end().lines() {
        let line = line.trim_end();
        if line.trim_start().is_empty() {
            is_new_paragraph = !out.is_empty();
            continue;
        }
        if !out.is_empty() {
            let begins_item = begins_item(line.trim_start());
            out.push_str(match (is_new_paragraph, begins_item) {
                (_, true) => "<br>",
                (true, false) => "<br><br>",
                (false, false) => " ",
            });
        }
        out.push_str(&line.trim_start().replace('|', "\\|"));
        is_new_paragraph = false;
    }
    out
}

/// Whether a line begins an item of a list.
fn begins_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || (digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_contain_paragraphs_and_lists() {
        for (text, cell) in [
            ("One\ntwo | three\n", "One two \\| three"),
            ("One\n\nTwo\n", "One<br><br>Two"),
            ("Ways:\n- a\n- b\n  more\n\nEnd", "Ways:<br>- a<br>- b more<br><br>End"),
            ("1. a\r\n2) b", "1. a<br>2) b"),
            ("-1 or 2019\n2020", "-1 or 2019 2020"),
            ("", ""),
        ] {
            assert_eq!(escaped(text), cell, "{text:?}");
        }
    }
}
