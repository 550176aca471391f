//! `-o pos`: the structure of documents, with the position of each node in front of it.

use ytterby_text::budget;

use super::yaml::scalar_text;
use crate::Scalar;

/// Writes lines like `config.yml:3 |   name: "5"`. The column of positions widens for longer ones.
#[derive(Debug, Default)]
pub struct PosWriter {
    out: Vec<u8>,
    width: usize,
    depth: usize,
}

impl PosWriter {
    /// An empty writer.
    pub fn new() -> PosWriter {
        PosWriter::default()
    }

    /// The output.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    /// A document; its content follows between [`PosWriter::begin`] and [`PosWriter::end`].
    pub fn document(&mut self, place: Option<&str>) {
        self.line(place, b"[doc]");
    }

    /// An item of a map. The text of a `leaf` is on the same line if it fits; a collection follows
    /// between `begin` and `end`.
    pub fn map_item(&mut self, place: Option<&str>, key: &Scalar, leaf: Option<&[u8]>) {
        let mut text = match key {
            Scalar::Str(text) => text.to_vec(),
            other => scalar_text(other),
        };
        text.push(b':');
        self.item(place, text, leaf);
    }

    /// The item of an array at `index`, as [`PosWriter::map_item`].
    pub fn array_item(&mut self, place: Option<&str>, index: usize, leaf: Option<&[u8]>) {
        self.item(place, format!("[{index}]").into_bytes(), leaf);
    }

    /// The text of a leaf on a separate line.
    pub fn leaf(&mut self, text: &[u8]) {
        self.line(Some(""), text);
    }

    /// The following items belong to the item or document before.
    pub fn begin(&mut self) {
        self.depth += 1;
    }

    /// Ends the scope of [`PosWriter::begin`].
    pub fn end(&mut self) {
        self.depth -= 1;
    }

    fn item(&mut self, place: Option<&str>, mut text: Vec<u8>, leaf: Option<&[u8]>) {
        match leaf {
            Some(value) if !value.contains(&b'\n') => {
                text.push(b' ');
                text.extend_from_slice(value);
                self.line(place, &text);
            }
            Some(value) => {
                self.line(place, &text);
                self.begin();
                self.leaf(value);
                self.end();
            }
            None => self.line(place, &text),
        }
    }

    /// A line; a node without a known position has no column for it.
    fn line(&mut self, place: Option<&str>, text: &[u8]) {
        if let Some(place) = place {
            if place.len() > self.width {
                self.width = place.len() + 10;
            }
            let width = self.width;
            self.out.extend_from_slice(format!("{place:>width$} | ").as_bytes());
        }
        budget::or_unwind(budget::text(self.width + 2 * self.depth + text.len()));
        super::layout::spaces(2 * self.depth, &mut self.out);
        self.out.extend_from_slice(text);
        self.out.push(b'\n');
    }
}
