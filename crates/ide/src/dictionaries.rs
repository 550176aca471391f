//! Data values that code gives to libraries: `library.get("app").with_data_values({"port": 80})`.
//!
//! The keys of such a dictionary are data values of the library, so that they can be looked up and
//! renamed like those of a data values document. Only literal dictionaries are read; what a
//! variable contains is not followed.

use crate::context::Cursor;
use crate::file::File;
use crate::model::{TokenKind, string_content};
use crate::navigate::Symbol;
use crate::project::ProjectSnapshot;
use crate::{TextRange, infer};

/// A key of a dictionary that a library gets.
pub(crate) struct GivenKey {
    /// The directory of the library.
    pub library: String,
    /// The data value; `None` for items of arrays.
    pub path: Vec<Option<String>>,
    /// The key without its quotes.
    pub range: TextRange,
}

/// The key of such a dictionary that the cursor is at.
pub(crate) fn key_at(at: Cursor<'_>) -> Option<(Symbol, TextRange)> {
    let (_, token) = at.token().filter(|(_, token)| token.kind == TokenKind::Str)?;
    let key = given_keys(at.project, at.index?)
        .into_iter()
        .find(|key| token.range.start < key.range.start && key.range.end < token.range.end)?;
    at.project.schema_of_library(&key.library).find(&key.path)?;
    Some((Symbol::Value(key.library, key.path), key.range))
}

/// The keys that a file gives to libraries.
pub(crate) fn given_keys(project: &ProjectSnapshot, file: usize) -> Vec<GivenKey> {
    let source = &project.files[file].file;
    let mut found = Vec::new();
    if source.text.contains(METHOD) {
        let model = source.model();
        let is_method = |index: &usize| model.tokens[*index].range.of(&source.text) == METHOD;
        for callee in (1..model.tokens.len()).filter(is_method) {
            let at = Cursor::new(project, source, model.tokens[callee].range.start);
            let dot = model.tokens[callee - 1].range;
            let library = infer::library_name(at, dot.start).filter(|_| dot.of(&source.text) == ".");
            if let Some(library) = library.and_then(|name| project.library_directory(file, name)) {
                literal_keys(source, callee + 1, &library, &mut found);
            }
        }
    }
    found
}

const METHOD: &str = "with_data_values";

/// The most tokens of a dictionary that are read.
const MAX_TOKENS: usize = 4096;

/// The contents of an open bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Dictionary,
    List,
    Other,
}

/// Adds the keys of a literal dictionary in a call whose `(` is at a token.
fn literal_keys(source: &File, call: usize, library: &str, found: &mut Vec<GivenKey>) {
    let (model, text) = (source.model(), &*source.text);
    let word = |index: usize| model.tokens.get(index).map_or("", |token| token.range.of(text));
    if (word(call), word(call + 1)) != ("(", "{") {
        return;
    }
    // For each open bracket, what it contains and how many steps of the path are above it.
    let mut open = vec![(Bracket::Dictionary, 0)];
    let mut path: Vec<Option<String>> = Vec::new();
    for index in (call + 2..model.tokens.len()).take(MAX_TOKENS) {
        let Some(&(inside, above)) = open.last() else { return };
        let is_value = word(index - 1) == ":" && inside == Bracket::Dictionary;
        match word(index) {
            "{" if is_value => open.push((Bracket::Dictionary, path.len())),
            "[" if is_value => {
                path.push(None);
                open.push((Bracket::List, path.len()));
            }
            "{" if inside == Bracket::List => open.push((Bracket::Dictionary, path.len())),
            "{" | "[" | "(" => open.push((Bracket::Other, path.len())),
            "}" | "]" | ")" => {
                open.pop();
                path.truncate(open.last().map_or(0, |(_, above)| *above));
            }
            written
                if inside == Bracket::Dictionary
                    && model.tokens[index].kind == TokenKind::Str
                    && matches!(word(index - 1), "{" | ",")
                    && word(index + 1) == ":" =>
            {
                let start = model.tokens[index].range.start + written.find(['"', '\'']).map_or(0, |quote| quote + 1);
                let key = string_content(written);
                path.truncate(above);
                path.push(Some(key.to_owned()));
                let range = TextRange::new(start, start + key.len());
                found.push(GivenKey { library: library.to_owned(), path: path.clone(), range });
            }
            _ => {}
        }
    }
}
