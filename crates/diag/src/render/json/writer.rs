//! Writes JSON objects, field by field.
//!
//! The machine-readable renderings have a fixed order of fields and omit unknown ones. They need no
//! more than that, so a few lines replace a library.

use ytterby_text::quote;

/// A JSON object being written.
pub(in crate::render) struct ObjectWriter(String);

impl ObjectWriter {
    pub(in crate::render) fn new() -> ObjectWriter {
        ObjectWriter("{".to_owned())
    }

    /// Adds a string.
    pub(in crate::render) fn text(self, name: &str, value: &str) -> ObjectWriter {
        self.raw(name, &quoted(value))
    }

    /// Adds a number.
    pub(in crate::render) fn number(self, name: &str, value: impl Into<u64>) -> ObjectWriter {
        self.raw(name, &value.into().to_string())
    }

    /// Adds a list, unless it is empty.
    pub(in crate::render) fn list(self, name: &str, items: Vec<String>) -> ObjectWriter {
        if items.is_empty() { self } else { self.raw(name, &array(items)) }
    }

    /// Adds a field whose value is JSON already.
    pub(in crate::render) fn raw(mut self, name: &str, value: &str) -> ObjectWriter {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(name));
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    pub(in crate::render) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A JSON array of values that are JSON already.
pub(in crate::render) fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}

/// A JSON string.
pub(in crate::render) fn quoted(text: &str) -> String {
    // Line separators are legal in JSON but end a line for many readers of JSON lines.
    let is_unfit = |c: char| c.is_ascii_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    quote::literal('"', text, |c| is_unfit(c).then(|| quote::unicode_escape(c)))
}
