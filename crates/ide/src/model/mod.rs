//! The model of a file that tolerates incomplete text.
//!
//! A [`Model`] is made from the text alone, in one pass that cannot fail: YAML by its indentation
//! (`outline`), code by its tokens (`token`), names by their scopes (`scope`). It belongs to one
//! version of a file; [`crate::project`] connects several files.

pub(crate) mod outline;
pub(crate) mod scope;
#[cfg(test)]
mod tests;
mod text_template;
pub(crate) mod token;

use std::ops::Range;

pub use scope::{Block, BlockKind, Chain, ChainPart, DefKind, Definition, LoadStatement, Reference, Scope};
pub use token::{Token, TokenKind, is_identifier, is_keyword, string_content};

use crate::TextRange;
use crate::text::LineIndex;

/// The kind of a file, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelKind {
    /// YAML.
    Yaml,
    /// Starlark.
    Starlark,
    /// Text, which may be a template.
    Text,
    /// Something else.
    Other,
}

impl ModelKind {
    /// The kind of a file with this path.
    pub fn of(path: &str) -> ModelKind {
        let name = path.rsplit('/').next().unwrap_or_default();
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("yml" | "yaml") => ModelKind::Yaml,
            Some("star") => ModelKind::Starlark,
            Some("txt") => ModelKind::Text,
            _ => ModelKind::Other,
        }
    }
}

/// A document between two `---`.
#[derive(Clone, Debug)]
pub struct YamlDocument {
    /// The line of its `---`, or its first line.
    pub line: usize,
    /// Its last line with content.
    pub end_line: usize,
    /// The indexes of its annotations.
    pub annotations: Vec<usize>,
    /// The line of its `---`.
    pub separator: Option<TextRange>,
}

/// A key with its value, or an item of an array.
#[derive(Clone, Debug)]
pub struct YamlItem {
    /// The key without quotes; `None` for items of arrays.
    pub key: Option<String>,
    /// The key with quotes, or the dash.
    pub key_range: TextRange,
    /// The value on the lines of the key: a scalar, a flow collection, the header of a block
    /// scalar. Empty for others.
    pub value: TextRange,
    /// Its first line.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// The column of its key or dash, in bytes.
    pub column: usize,
    /// The item that contains it.
    pub parent: Option<usize>,
    /// The index of its document.
    pub document: usize,
    /// The indexes of its annotations.
    pub annotations: Vec<usize>,
    /// Whether it is an item of an array.
    pub is_array_item: bool,
    /// Whether it is in `{…}` or `[…]`.
    pub is_flow: bool,
    /// Whether its key has a colon.
    pub has_colon: bool,
}

/// An annotation in a comment: `#@schema/nullable`.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// Its name without `@`.
    pub name: String,
    /// The range of the name.
    pub name_range: TextRange,
    /// Its arguments.
    pub arguments: TextRange,
    /// Its line.
    pub line: usize,
    /// The column of its `#`.
    pub column: usize,
    /// The end of its line.
    pub line_end: usize,
}

/// A region of code in a file.
#[derive(Clone, Debug)]
pub struct CodeRegion {
    /// The construct that contains it.
    pub kind: RegionKind,
    /// The code without the markers around it.
    pub range: TextRange,
    /// Its first line.
    pub line: usize,
    /// The column of its marker.
    pub column: usize,
    /// The indexes of its tokens.
    pub tokens: Range<usize>,
}

/// The construct that contains a region of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionKind {
    /// A whole line: `#@ if …:`.
    Statement,
    /// A value: `a: #@ x`; without an item, after `---`.
    Value {
        /// The item.
        item: Option<usize>,
    },
    /// The arguments of an annotation.
    Arguments {
        /// The index of the annotation.
        annotation: usize,
    },
    /// `(@ code @)`.
    TextCode,
    /// `(@= value @)`.
    TextValue,
    /// A file of code.
    Whole,
}

impl RegionKind {
    /// Whether it contains statements, which may open blocks.
    pub fn has_statements(self) -> bool {
        matches!(self, RegionKind::Statement | RegionKind::TextCode | RegionKind::Whole)
    }
}

/// The contents of a file.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Its lines.
    pub lines: LineIndex,
    /// Its documents; empty if it is not YAML.
    pub documents: Vec<YamlDocument>,
    /// Keys and items in the order of the text.
    pub items: Vec<YamlItem>,
    /// Annotations in the order of the text.
    pub annotations: Vec<Annotation>,
    /// Comments with their markers.
    pub comments: Vec<TextRange>,
    /// Anchors (`true`) and aliases (`false`).
    pub anchors: Vec<(TextRange, bool)>,
    /// Regions of code in the order of the text.
    pub regions: Vec<CodeRegion>,
    /// The tokens of all regions.
    pub tokens: Vec<Token>,
    /// Blocks of code.
    pub blocks: Vec<Block>,
    /// `end`s without a block.
    pub stray_ends: Vec<TextRange>,
    /// Scopes of names; the first one is the file.
    pub scopes: Vec<Scope>,
    /// Definitions in the order of the text.
    pub definitions: Vec<Definition>,
    /// Uses of names.
    pub references: Vec<Reference>,
    /// Names with attributes: `data.values.a`.
    pub chains: Vec<Chain>,
    /// `load(…)`.
    pub loads: Vec<LoadStatement>,
}

impl Model {
    /// The names of the keyword arguments in a call, as tokens; `open` is the token of its bracket.
    pub fn keyword_names(&self, text: &str, open: usize) -> Vec<usize> {
        let word = |index: usize| self.tokens.get(index).map_or("", |token| token.range.of(text));
        let mut names = Vec::new();
        let mut depth = 0_usize;
        for index in open..self.tokens.len() {
            match word(index) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth <= 1 => break,
                ")" | "]" | "}" => depth -= 1,
                "=" if depth == 1 && index >= 2 && matches!(word(index - 2), "(" | ",") => names.push(index - 1),
                _ => {}
            }
        }
        names
    }

    /// The model of a text. Without `is_template`, comments have no meaning.
    pub fn new(text: &str, kind: ModelKind, is_template: bool) -> Model {
        let mut model = Model { lines: LineIndex::new(text), ..Model::default() };
        let whole = TextRange::new(0, text.len());
        match kind {
            ModelKind::Yaml => outline::read(&mut model, text, is_template),
            ModelKind::Starlark => {
                model.regions.push(CodeRegion {
                    kind: RegionKind::Whole,
                    range: whole,
                    line: 0,
                    column: 0,
                    tokens: 0..0,
                });
            }
            ModelKind::Text => model.regions = text_template::regions(text, whole, &model.lines),
            ModelKind::Other => {}
        }
        model.regions.sort_by_key(|region| region.range.start);
        scope::read(&mut model, text);
        model
    }

    /// The region of code at an offset.
    pub fn region_at(&self, offset: usize) -> Option<&CodeRegion> {
        let after = self.regions.partition_point(|region| region.range.start <= offset);
        let candidates = self.regions[..after].iter().rev().take(2);
        candidates.into_iter().find(|region| region.range.touches(offset))
    }

    /// The index of the token that a cursor touches; between two tokens, the second if it is a
    /// word.
    pub fn token_at(&self, offset: usize) -> Option<usize> {
        let after = self.tokens.partition_point(|token| token.range.start <= offset);
        let is_word = |token: &Token| matches!(token.kind, TokenKind::Name | TokenKind::Keyword);
        let here = after.checked_sub(1).filter(|index| self.tokens[*index].range.touches(offset))?;
        let before = here.checked_sub(1).filter(|index| self.tokens[*index].range.end == offset);
        match before {
            Some(before) if !is_word(&self.tokens[here]) && is_word(&self.tokens[before]) => Some(before),
            _ => Some(here),
        }
    }

    /// The annotation at an offset.
    pub fn annotation_at(&self, offset: usize) -> Option<usize> {
        let is_it =
            |annotation: &Annotation| TextRange::new(annotation.name_range.start, annotation.line_end).touches(offset);
        self.annotations.iter().position(is_it)
    }

    /// The item whose key a cursor touches.
    pub fn key_at(&self, offset: usize) -> Option<usize> {
        let line = self.lines.line_of(offset);
        let from = self.items.partition_point(|item| item.line < line);
        let on_line = self.items[from..].iter().take_while(|item| item.line == line).enumerate();
        let hit = on_line.filter(|(_, item)| item.key.is_some() && item.key_range.touches(offset)).last();
        hit.map(|(index, _)| from + index)
    }

    /// The item whose value on its line a cursor touches.
    pub fn value_at(&self, offset: usize) -> Option<usize> {
        let is_it = |item: &YamlItem| !item.value.is_empty() && item.value.touches(offset);
        self.items.iter().rposition(is_it)
    }

    /// The path from the document to an item: keys, and `None` for items of arrays.
    pub fn path(&self, item: usize) -> Vec<Option<&str>> {
        let mut path = Vec::new();
        let mut next = Some(item);
        while let Some(index) = next {
            path.push(self.items[index].key.as_deref());
            next = self.items[index].parent;
        }
        path.reverse();
        path
    }

    /// The items directly below another, or at the top of a document.
    pub fn children(&self, document: usize, parent: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let from = match parent {
            Some(parent) => parent + 1,
            None => self.items.partition_point(|item| item.document < document),
        };
        let in_document = self.items[from..].iter().take_while(move |item| item.document == document);
        in_document.enumerate().filter(move |(_, item)| item.parent == parent).map(move |(index, _)| from + index)
    }

    /// Whether a document has an annotation of one of these names.
    pub fn is_annotated(&self, document: usize, names: &[&str]) -> bool {
        let annotations = self.documents.get(document).map(|document| &document.annotations[..]).unwrap_or_default();
        annotations.iter().any(|index| names.contains(&self.annotations[*index].name.as_str()))
    }

    /// Whether a document declares data values.
    pub fn is_schema(&self, document: usize) -> bool {
        self.is_annotated(document, &["data/values-schema", "schema/definition", "schema/match", "schema"])
    }

    /// Whether a document sets data values.
    pub fn is_values(&self, document: usize) -> bool {
        self.is_annotated(document, &["data/values"])
    }

    /// Whether a document is an overlay.
    pub fn is_overlay(&self, document: usize) -> bool {
        self.is_annotated(document, &["overlay/match"])
    }
}
