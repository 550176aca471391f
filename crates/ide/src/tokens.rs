//! Semantic tokens of code. YAML itself is highlighted by the editor's grammar.

use crate::TextRange;
use crate::file::File;
use crate::model::{DefKind, TokenKind, is_keyword};

/// The types of tokens; the index is the type's number.
pub const TYPES: [&str; 11] = [
    "keyword",
    "string",
    "number",
    "operator",
    "comment",
    "function",
    "parameter",
    "variable",
    "property",
    "namespace",
    "decorator",
];

/// The modifiers of tokens.
pub const MODIFIERS: [&str; 2] = ["declaration", "defaultLibrary"];

const KEYWORD: usize = 0;
const STRING: usize = 1;
const NUMBER: usize = 2;
const OPERATOR: usize = 3;
const COMMENT: usize = 4;
const FUNCTION: usize = 5;
const PARAMETER: usize = 6;
const VARIABLE: usize = 7;
const PROPERTY: usize = 8;
const NAMESPACE: usize = 9;
const DECORATOR: usize = 10;

/// A token with its type and its modifiers as a bit set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SemanticToken {
    /// Its range, on one line.
    pub range: TextRange,
    /// Its type, an index into [`TYPES`].
    pub kind: usize,
    /// Its modifiers.
    pub modifiers: u32,
}

/// The tokens of a file in order, or those of a part of it.
pub fn tokens(file: &File, within: Option<TextRange>) -> Vec<SemanticToken> {
    let (model, text) = (file.model(), &*file.text);
    let mut found = Vec::new();
    for annotation in &model.annotations {
        found.push(SemanticToken { range: annotation.name_range, kind: DECORATOR, modifiers: 0 });
    }
    let mut definition = 0;
    let mut definitions: Vec<&crate::model::Definition> = model.definitions.iter().collect();
    definitions.sort_by_key(|definition| definition.range.start);
    for (index, token) in model.tokens.iter().enumerate() {
        let word = token.range.of(text);
        let next = model.tokens.get(index + 1).map_or("", |next| next.range.of(text));
        let (kind, modifiers) = match token.kind {
            TokenKind::Keyword => (KEYWORD, 0),
            TokenKind::Str => (STRING, 0),
            TokenKind::Number => (NUMBER, 0),
            TokenKind::Comment => (COMMENT, 0),
            TokenKind::Op if matches!(word, "(" | ")" | "[" | "]" | "{" | "}" | "," | ":" | ".") => continue,
            TokenKind::Op => (OPERATOR, 0),
            TokenKind::Name => {
                while definitions.get(definition).is_some_and(|d| d.range.start < token.range.start) {
                    definition += 1;
                }
                let defined = definitions.get(definition).filter(|d| d.range == token.range);
                let is_attribute = index > 0 && model.tokens[index - 1].range.of(text) == ".";
                match defined {
                    Some(defined) => (kind_of(&defined.kind), 1),
                    None if next == "(" => {
                        let is_builtin = !is_attribute && crate::reference::builtin(word).is_some();
                        (FUNCTION, u32::from(is_builtin) << 1)
                    }
                    None if is_attribute => (PROPERTY, 0),
                    None => {
                        let reference = model.references.binary_search_by_key(&token.range.start, |r| r.range.start);
                        let target = reference.ok().and_then(|index| model.references[index].definition);
                        match target.map(|target| &model.definitions[target].kind) {
                            Some(DefKind::Loaded { load, .. }) if model.loads[*load].path.starts_with("@ytt:") => {
                                (NAMESPACE, 0)
                            }
                            Some(kind) => (kind_of(kind), 0),
                            // `name=` of a call or annotation.
                            None if next == "=" => (PARAMETER, 0),
                            None => (VARIABLE, 0),
                        }
                    }
                }
            }
        };
        let _ = is_keyword(word);
        push_lines(text, token.range, kind, modifiers, &mut found);
    }
    found.sort_by_key(|token| token.range.start);
    if let Some(within) = within {
        found.retain(|token| token.range.start < within.end && within.start < token.range.end);
    }
    found
}

fn kind_of(kind: &DefKind) -> usize {
    match kind {
        DefKind::Function { .. } => FUNCTION,
        DefKind::Parameter => PARAMETER,
        _ => VARIABLE,
    }
}

/// Splits a token that spans several lines.
fn push_lines(text: &str, range: TextRange, kind: usize, modifiers: u32, found: &mut Vec<SemanticToken>) {
    let mut start = range.start;
    for line in range.of(text).split('\n') {
        let end = start + line.trim_end_matches('\r').len();
        if end > start {
            found.push(SemanticToken { range: TextRange::new(start, end), kind, modifiers });
        }
        start += line.len() + 1;
    }
}
