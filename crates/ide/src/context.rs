//! The cursor, and what it is at.
//!
//! A [`Cursor`] is an offset in a file of a project. Its methods find the token, the chain of names
//! and the item there; every feature starts from them.

use ytterby_kubernetes::Catalog;

use crate::file::{EditorLanguage, File};
use crate::model::{Chain, CodeRegion, Model, RegionKind, Token, TokenKind};
use crate::project::{FileRole, Meaning, ProjectSnapshot};
use crate::values::DataValue;

/// Additional knowledge for answering a query.
#[derive(Clone, Copy, Default)]
pub struct Knowledge<'a> {
    /// The data values of the selected target.
    pub values: Option<&'a DataValue>,
}

/// A position in a file of a project.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    /// The project.
    pub project: &'a ProjectSnapshot,
    /// The file.
    pub file: &'a File,
    /// The index of the file, if it is part of the project.
    pub index: Option<usize>,
    /// The offset.
    pub offset: usize,
}

impl<'a> Cursor<'a> {
    /// A place.
    pub fn new(project: &'a ProjectSnapshot, file: &'a File, offset: usize) -> Cursor<'a> {
        let mut offset = offset.min(file.text.len());
        while !file.text.is_char_boundary(offset) {
            offset -= 1;
        }
        Cursor { project, file, index: project.index(&file.path), offset }
    }

    /// The model of the file.
    pub fn model(&self) -> &'a Model {
        self.file.model()
    }

    /// The text of the file.
    pub fn text(&self) -> &'a str {
        &self.file.text
    }

    /// The region of code at the cursor; blanks at the end of a line belong to it.
    pub fn region(&self) -> Option<&'a CodeRegion> {
        let model = self.model();
        let after = model.regions.partition_point(|region| region.range.start <= self.offset);
        let region = model.regions[..after].last()?;
        let is_comment =
            matches!(region.kind, RegionKind::Statement | RegionKind::Value { .. } | RegionKind::Arguments { .. });
        let line = model.lines.line_of(self.offset);
        let is_here = region.range.touches(self.offset) || is_comment && region.line == line;
        is_here.then_some(region)
    }

    /// The token at the cursor.
    pub fn token(&self) -> Option<(usize, Token)> {
        let index = self.model().token_at(self.offset)?;
        Some((index, self.model().tokens[index]))
    }

    /// The chain at the cursor, and the index of its part; `None` for its root.
    pub fn chain(&self) -> Option<(&'a Chain, Option<usize>)> {
        let model = self.model();
        let after = model.chains.partition_point(|chain| chain.root_range.start <= self.offset);
        for chain in model.chains[..after].iter().rev().take(8) {
            if chain.root_range.touches(self.offset) {
                return Some((chain, None));
            }
            if let Some(part) = chain.parts.iter().rposition(|part| part.range.touches(self.offset)) {
                return Some((chain, Some(part)));
            }
        }
        None
    }

    /// The meaning of the chain at the cursor, up to and including the part there.
    pub fn meaning(&self) -> Option<Meaning> {
        let (chain, part) = self.chain()?;
        self.project.meaning(self.index?, chain, part.map_or(0, |part| part + 1))
    }

    /// The field of a struct or module of the project that the cursor is in.
    pub fn field(&self) -> Option<(crate::project::StructField, crate::TextRange)> {
        let (chain, part) = self.chain()?;
        let part = &chain.parts[part.filter(|part| *part == 0)?];
        let Meaning::Definition(file, definition) = self.project.meaning(self.index?, chain, 0)? else { return None };
        let mut fields = self.project.fields(file, definition).into_iter();
        Some((fields.find(|field| part.name.as_deref() == Some(&field.name))?, part.range))
    }

    /// The word that the cursor is in or directly after: its text up to the cursor.
    pub fn word(&self) -> crate::TextRange {
        let text = self.text();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let before = text[..self.offset].trim_end_matches(is_word).len();
        let after = text.len() - text[self.offset..].trim_start_matches(is_word).len();
        crate::TextRange::new(before, after)
    }

    /// The library that a document sets data values of.
    pub fn library(&self, document: usize) -> String {
        match self.index {
            Some(index) if !self.is_values_file() => self.project.library_of_document(index, document),
            _ => String::new(),
        }
    }

    /// The schema for a document.
    pub fn schema(&self, document: usize) -> std::sync::Arc<crate::LibrarySchema> {
        self.project.schema_of_library(&self.library(document))
    }

    /// Whether the file is a values file.
    pub fn is_values_file(&self) -> bool {
        self.file.language == EditorLanguage::Values || self.project.is_values_file(&self.file.path)
    }

    /// Whether code in the file is evaluated.
    pub fn is_template(&self) -> bool {
        let role = self.index.map(|index| self.project.files[index].role);
        !self.is_values_file() && (role.is_none_or(|role| matches!(role, FileRole::Input | FileRole::Outside)))
    }

    /// The document that the cursor is in.
    pub fn document(&self) -> usize {
        let line = self.model().lines.line_of(self.offset);
        self.model().documents.partition_point(|document| document.line <= line).saturating_sub(1)
    }

    /// The item that text inserted at the cursor would belong to, by its indentation; and the
    /// relevant column.
    pub fn surroundings(&self) -> (Option<usize>, usize) {
        let model = self.model();
        let line = model.lines.line_of(self.offset);
        let range = model.lines.range(self.text(), line);
        let body = range.of(self.text());
        let indent = body.len() - body.trim_start_matches([' ', '\t']).len();
        let content = body.trim_start();
        // A key after a dash has the column at which it begins.
        let dashes = content.len() - content.trim_start_matches(['-', ' ']).len();
        let column = if content.is_empty() { self.offset - range.start } else { indent + dashes };
        if content.starts_with("- ") || content == "-" {
            let own = model.items.iter().rposition(|item| item.line == line && item.is_array_item);
            if own.is_some() {
                return (own, column);
            }
        }
        let document = self.document();
        let before = model.items.partition_point(|item| item.line < line);
        let above = model.items[..before].iter().enumerate().rev();
        let mut above = above.take_while(|(_, item)| item.document == document).filter(|(_, item)| !item.is_flow);
        (above.find(|(_, item)| item.column < column).map(|(index, _)| index), column)
    }

    /// The catalog of Kubernetes: the version that the project asks for, or the latest. Fields are
    /// known either way; only a project that asks for it is checked.
    pub fn catalog(&self) -> Option<&'a Catalog> {
        self.project.catalog()
    }

    /// Whether the project checks its output for Kubernetes.
    pub fn is_for_kubernetes(&self) -> bool {
        self.project.config.as_ref().is_some_and(|config| config.kubernetes.is_some())
    }

    /// `apiVersion` and `kind` of a document: its own, or those that an overlay matches.
    pub fn kind(&self, document: usize) -> Option<(String, String)> {
        self.own_kind(document).or_else(|| self.matched_kind(document))
    }

    /// The kind that an overlay's `overlay.subset({"kind": "Deployment"})` names. Without
    /// `apiVersion`, the most stable version of the kind is used.
    fn matched_kind(&self, document: usize) -> Option<(String, String)> {
        let model = self.model();
        let annotations = &model.documents.get(document)?.annotations;
        let matching = annotations.iter().map(|index| &model.annotations[*index]);
        let range = matching.into_iter().find(|annotation| annotation.name == "overlay/match")?.arguments;
        let first = model.tokens.partition_point(|token| token.range.start < range.start);
        let end = model.tokens.partition_point(|token| token.range.start < range.end);
        let text_of = |index: usize| {
            let token = model.tokens[..end].get(index).filter(|token| token.kind == TokenKind::Str)?;
            Some(crate::model::string_content(token.range.of(self.text())))
        };
        let value = |key: &str| {
            let is_colon = |index: usize| model.tokens.get(index).is_some_and(|t| t.range.of(self.text()) == ":");
            let at = (first..end).find(|index| text_of(*index) == Some(key) && is_colon(index + 1))?;
            text_of(at + 2).map(str::to_owned)
        };
        let kind = value("kind")?;
        let api_version = value("apiVersion").or_else(|| self.stable_version(&kind))?;
        Some((api_version, kind))
    }

    /// The most stable API version of a kind.
    fn stable_version(&self, kind: &str) -> Option<String> {
        let known = self.catalog()?.kinds();
        let versions = known.into_iter().filter(|(_, other)| *other == kind).map(|(version, _)| version);
        versions.min_by_key(|version| (version.contains("alpha"), version.contains("beta"), version.len()))
    }

    fn own_kind(&self, document: usize) -> Option<(String, String)> {
        let model = self.model();
        let scalar = |key: &str| {
            let mut items = model.children(document, None);
            let item = items.find(|item| model.items[*item].key.as_deref() == Some(key))?;
            let value = model.items[item].value.of(self.text());
            (!value.is_empty()).then(|| crate::schema::scalar_text(value))
        };
        let kind = scalar("kind")?;
        // Authors often write the kind first, and some compute the version.
        let api_version = scalar("apiVersion").or_else(|| self.stable_version(&kind))?;
        Some((api_version, kind))
    }
}

/// The call whose arguments contain an offset.
#[derive(Clone, Debug)]
pub struct OpenCall {
    /// The index of its `(`, or of the first token of an annotation's arguments.
    pub bracket: usize,
    /// The index of the last token of the callee.
    pub callee: usize,
    /// The number of arguments before the offset.
    pub argument: usize,
    /// The name of the argument, if it has one.
    pub name: Option<String>,
}

/// The innermost call around an offset.
pub fn open_call(model: &Model, text: &str, offset: usize) -> Option<OpenCall> {
    let end = model.tokens.partition_point(|token| token.range.start < offset);
    let mut depth = 0;
    let mut argument = 0;
    let mut name = None;
    for index in (0..end).rev() {
        let token = &model.tokens[index];
        // A string at the cursor is part of its argument.
        match token.range.of(text) {
            ")" | "]" | "}" if token.kind == TokenKind::Op => depth += 1,
            "(" if token.kind == TokenKind::Op && depth == 0 => {
                let callee = index.checked_sub(1)?;
                let is_callee = model.tokens[callee].kind == TokenKind::Name
                    || model.tokens[callee].kind == TokenKind::Keyword && model.tokens[callee].range.of(text) == "load";
                return is_callee.then_some(OpenCall { bracket: index, callee, argument, name });
            }
            "[" | "{" if token.kind == TokenKind::Op && depth == 0 => {
                argument = 0;
                name = None;
            }
            "(" | "[" | "{" if token.kind == TokenKind::Op => depth -= 1,
            "," if token.kind == TokenKind::Op && depth == 0 => argument += 1,
            "=" if depth == 0 && argument == 0 && name.is_none() && index > 0 => {
                let before = &model.tokens[index - 1];
                name = (before.kind == TokenKind::Name).then(|| before.range.of(text).to_owned());
            }
            _ => {}
        }
        // A statement begins here, so nothing before it is open.
        if token.begins_line && token.kind == TokenKind::Keyword && depth == 0 && index + 1 < end {
            let word = token.range.of(text);
            if matches!(word, "def" | "if" | "for" | "while" | "return" | "end" | "elif" | "else") {
                return None;
            }
        }
        let region = model.regions.partition_point(|region| region.range.start <= token.range.start);
        let region = model.regions.get(region.checked_sub(1)?)?;
        if !region.kind.has_statements() && region.tokens.start == index {
            return None;
        }
    }
    None
}

impl Cursor<'_> {
    /// The callee of a call.
    pub fn callee(&self, call: &OpenCall) -> Option<Callee> {
        let model = self.model();
        let range = model.tokens[call.callee].range;
        let at = Cursor { offset: range.end, ..*self };
        let name = range.of(self.text());
        if let Some((chain, Some(part))) = at.chain()
            && let Some(Meaning::ModuleMember(module, name)) = self.project.meaning(self.index?, chain, part + 1)
        {
            return Some(Callee::Member(module, name));
        }
        if let Some((field, _)) = at.field() {
            return field.target.map(|(file, definition)| Callee::Function(file, definition));
        }
        // A method: `library.get("x").with_data_values(…)`, `names.append(…)`.
        let dot = call.callee.checked_sub(1).map(|index| model.tokens[index].range);
        if let Some(dot) = dot.filter(|dot| dot.of(self.text()) == ".") {
            let of = crate::infer::receiver(*self, dot.start)?;
            return crate::infer::method(of, name).map(|_| Callee::Method(of, name.to_owned()));
        }
        let reference = model.references.binary_search_by_key(&range.start, |r| r.range.start).ok();
        match reference.and_then(|reference| model.references[reference].definition) {
            Some(definition) => match self.project.resolve(self.index?, definition)? {
                Meaning::Definition(file, definition) => Some(Callee::Function(file, definition)),
                Meaning::ModuleMember(module, name) => Some(Callee::Member(module, name)),
                _ => None,
            },
            None => crate::reference::builtin(name).map(|_| Callee::Builtin(name.to_owned())),
        }
    }
}

/// The callee of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Callee {
    /// A function: file and definition.
    Function(usize, usize),
    /// A function of a module.
    Member(String, String),
    /// A method of a type.
    Method(crate::infer::TypeName, String),
    /// A built-in function.
    Builtin(String),
}
