//! `schema import`: creates a ytt schema from a schema in another language, or from example values.
//!
//! [`recognise`] detects what a file contains, [`keywords`] converts its schema to nodes with
//! annotations ([`shapes`] if it has alternatives), [`sample`] does so with plain values, [`print`]
//! writes them. Keywords without a counterpart are reported, never dropped silently.

mod annotate;
mod flat;
mod keywords;
mod print;
mod recognise;
mod rules;
mod sample;
mod shapes;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use ytterby_diag::{Diagnostic, Pos};
use ytterby_yaml::{ReadOptions, parse};

use crate::node::{DocumentSet, Node, documents_from_tree};
use ytterby_diag::{Failure, Id};

/// The options of `schema import`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ImportOptions {
    /// `--name`: a schema of an OpenAPI document, a version of a CRD, or a definition of a JSON
    /// Schema.
    pub name: Option<String>,
    /// `--from`.
    pub from: ImportFrom,
}

impl ImportOptions {
    /// The options for content of this kind.
    pub fn new(from: ImportFrom) -> ImportOptions {
        ImportOptions { from, name: None }
    }
}

/// The content of the file to import.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum ImportFrom {
    /// A schema, whose language is detected by its content.
    #[default]
    Schema,
    /// Example values.
    Values,
}

/// An imported schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The schema file.
    pub text: String,
    /// Warnings about keywords without a counterpart.
    pub diagnostics: Vec<Diagnostic>,
}

/// Creates a schema file from another schema, or from values.
///
/// # Errors
/// If the content cannot be parsed, or is not what [`ImportOptions::from`] says.
pub fn import_schema(content: &[u8], options: &ImportOptions) -> Result<Imported, Failure> {
    crate::on_large_stack(|| import(content, options))
}

fn import(content: &[u8], options: &ImportOptions) -> Result<Imported, Failure> {
    let value = read(content)?;
    let mut notes = Notes::default();
    let file = match options.from {
        ImportFrom::Values => {
            print::SchemaFile { root: sample::place(&value, &mut notes), ..print::SchemaFile::default() }
        }
        ImportFrom::Schema => {
            let found = recognise::schema(&value, options.name.as_deref())?;
            keywords::file(&value, &found, &mut notes)?
        }
    };
    Ok(Imported { text: print::print(&file), diagnostics: notes.into_diagnostics() })
}

/// The first document of the file.
fn read(content: &[u8]) -> Result<Node, Failure> {
    let json = recognise::json_as_yaml(content);
    let options = ReadOptions { comments: false, ..ReadOptions::default() };
    let tree = parse(json.as_deref().unwrap_or(content), Pos::UNKNOWN.file, &options)
        .map_err(|error| Failure::from(Diagnostic::from(error)))?;
    let DocumentSet { items } = documents_from_tree(&tree);
    let mut documents = items.into_iter().map(|doc| doc.value).filter(|value| !value.is_null());
    match (documents.next(), documents.next()) {
        (Some(value), None) => Ok(value),
        (Some(_), Some(_)) => Err(Failure::new(Id::SCHEMA_IMPORT, "Expected one document to import, found several")),
        (None, _) => Err(Failure::new(Id::SCHEMA_IMPORT, "Expected a document to import, found none")),
    }
}

/// Omitted keywords, in order and without duplicates.
#[derive(Default)]
struct Notes {
    texts: Vec<String>,
    known: HashSet<String>,
}

impl Notes {
    /// Records that the keyword at this path has no counterpart.
    fn unsupported(&mut self, keyword: &str, path: &str) {
        let path = if path.is_empty() { "(document)" } else { path };
        let text = format!("keyword \"{keyword}\" at {path} is not supported");
        if self.known.insert(text.clone()) {
            self.texts.push(text);
        }
    }

    fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.texts.into_iter().map(|text| Diagnostic::warning(Id::SCHEMA_IMPORT, text)).collect()
    }
}
