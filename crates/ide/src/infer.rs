//! Infers the type of an expression from its tokens.
//!
//! Completion and hover need the methods that may follow `x.`. Types are inferred through literals,
//! variables, calls with known results, and data values with their schema. Anything uncertain has
//! no type: offering a wrong method would be worse than none.

use crate::context::Cursor;
use crate::model::{DefKind, Model, TokenKind, string_content};
use crate::project::{Meaning, ProjectSnapshot};
use crate::reference::{self, ReferenceEntry};

/// A type with methods: the name of a group of `reference::types`, or `library`.
pub type TypeName = &'static str;

/// Maximum length of a chain of variables.
const MAX_STEPS: usize = 8;

/// The type of the expression before the dot at an offset.
pub fn receiver(at: Cursor<'_>, dot: usize) -> Option<TypeName> {
    let model = at.model();
    let token = model.tokens.partition_point(|token| token.range.start < dot);
    let is_dot = model.tokens.get(token).is_some_and(|token| token.range.start == dot);
    let types = Types { project: at.project, file: at.index?, model, text: at.text() };
    if is_dot { types.before(token, MAX_STEPS) } else { None }
}

/// The name of the library that the expression before the dot at an offset is:
/// `library.get("name")`, also through variables and `with_data_values`.
pub fn library_name<'a>(at: Cursor<'a>, dot: usize) -> Option<&'a str> {
    let model = at.model();
    let token = model.tokens.partition_point(|token| token.range.start < dot);
    let types = Types { project: at.project, file: at.index?, model, text: at.text() };
    types.library_before(token, MAX_STEPS)
}

/// A method of a type.
pub fn method(of: TypeName, name: &str) -> Option<&'static ReferenceEntry> {
    if of == "library" {
        return reference::member("library", name).filter(|entry| is_library_method(entry));
    }
    reference::method(of, name)
}

/// The methods of a type.
pub fn methods(of: TypeName) -> Vec<&'static ReferenceEntry> {
    if of == "library" {
        let members = reference::module("library").map(|module| &module.members[..]).unwrap_or_default();
        return members.iter().filter(|entry| is_library_method(entry)).collect();
    }
    let group = reference::types().iter().find(|group| group.name == of);
    group.map(|group| group.members.iter().collect()).unwrap_or_default()
}

/// Whether an entry of the module `library` is a method of the result of `library.get`.
pub fn is_library_method(entry: &ReferenceEntry) -> bool {
    entry.name.starts_with("library.") && entry.name != "library.get"
}

/// The type of a data value.
pub fn of_value(project: &ProjectSnapshot, path: &str, value: &[Option<String>]) -> Option<TypeName> {
    let schema = project.schema_for(path);
    match schema.nodes[schema.find(value)?].type_name.as_str() {
        "string" => Some("string"),
        "array" => Some("list"),
        _ => None,
    }
}

struct Types<'a> {
    project: &'a ProjectSnapshot,
    file: usize,
    model: &'a Model,
    text: &'a str,
}

impl<'a> Types<'a> {
    fn word(&self, index: usize) -> &'a str {
        self.model.tokens.get(index).map_or("", |token| token.range.of(self.text))
    }

    fn kind(&self, index: usize) -> Option<TokenKind> {
        self.model.tokens.get(index).map(|token| token.kind)
    }

    /// The type of the operand that ends before a token.
    fn before(&self, end: usize, steps: usize) -> Option<TypeName> {
        let last = end.checked_sub(1)?;
        match (self.kind(last)?, self.word(last)) {
            (TokenKind::Str, text) => (!text.starts_with(['b', 'B'])).then_some("string"),
            (TokenKind::Name, _) => self.of_name(last, steps),
            (TokenKind::Op, "}") => Some("dict"),
            (TokenKind::Op, "]") => {
                let open = self.open_bracket(last)?;
                match self.is_operand_end(open) {
                    // An item of a string is a string; items of other types are unknown.
                    true => self.before(open, steps).filter(|of| *of == "string"),
                    false => Some("list"),
                }
            }
            (TokenKind::Op, ")") => {
                let open = self.open_bracket(last)?;
                match self.is_operand_end(open) {
                    true => self.of_call(open - 1, steps),
                    // Parentheses around one expression; a tuple has no methods.
                    false => {
                        let has_comma = (open + 1..last).any(|index| self.word(index) == ",");
                        (!has_comma).then(|| self.before(last, steps)).flatten()
                    }
                }
            }
            _ => None,
        }
    }

    /// Whether an operand ends before a token, so that a bracket there begins a call or an index.
    fn is_operand_end(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else { return false };
        let is_same_region = self.region(before) == self.region(index);
        is_same_region
            && match self.kind(before) {
                Some(TokenKind::Name | TokenKind::Str) => true,
                _ => matches!(self.word(before), ")" | "]" | "}"),
            }
    }

    fn region(&self, token: usize) -> usize {
        self.model.regions.partition_point(|region| region.tokens.end <= token)
    }

    /// The opening bracket of a closing one.
    fn open_bracket(&self, close: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for index in (0..=close).rev().take(4096) {
            if self.kind(index) == Some(TokenKind::Op) {
                match self.word(index) {
                    ")" | "]" | "}" => depth += 1,
                    "(" | "[" | "{" => {
                        depth = depth.checked_sub(1)?;
                        if depth == 0 {
                            return Some(index);
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// The type of a variable or an attribute.
    fn of_name(&self, name: usize, steps: usize) -> Option<TypeName> {
        let range = self.model.tokens[name].range;
        let path = &self.project.files[self.file].file.path;
        let chain = self.model.chains.iter().find_map(|chain| {
            let part = chain.parts.iter().position(|part| part.range == range)?;
            Some((chain, part + 1))
        });
        if let Some((chain, parts)) = chain {
            return match self.project.meaning(self.file, chain, parts)? {
                Meaning::DataValue(value) => of_value(self.project, path, &value),
                _ => None,
            };
        }
        let steps = steps.checked_sub(1)?;
        let reference = self.model.references.binary_search_by_key(&range.start, |r| r.range.start).ok()?;
        let number = self.model.references[reference].definition?;
        if let Some(Meaning::DataValue(value)) = self.project.resolve(self.file, number) {
            return of_value(self.project, path, &value);
        }
        self.of_expression(self.assigned(number)?, steps)
    }

    /// The first token of the expression that is assigned to a variable.
    fn assigned(&self, definition: usize) -> Option<usize> {
        let definition = &self.model.definitions[definition];
        if !matches!(definition.kind, DefKind::Variable(_)) {
            return None;
        }
        let target = self.model.tokens.partition_point(|token| token.range.start < definition.range.start);
        (self.word(target + 1) == "=").then_some(target + 2)
    }

    /// The end of the last expression that was assigned to a variable before a token: `app =
    /// app.with_data_values(…)`.
    fn last_assignment(&self, definition: usize, token: usize) -> Option<usize> {
        let own = &self.model.definitions[definition];
        let all = self.model.definitions.iter().enumerate();
        let twins = all.filter(|(_, other)| other.scope == own.scope && other.name == own.name);
        let ends = twins.filter_map(|(twin, _)| self.expression_end(self.assigned(twin)?));
        ends.filter(|end| *end <= token).max()
    }

    /// The library that ends before a token.
    fn library_before(&self, end: usize, steps: usize) -> Option<&'a str> {
        let (last, steps) = (end.checked_sub(1)?, steps.checked_sub(1)?);
        if self.kind(last)? == TokenKind::Name {
            let start = self.model.tokens[last].range.start;
            let reference = self.model.references.binary_search_by_key(&start, |r| r.range.start).ok()?;
            return self
                .library_before(self.last_assignment(self.model.references[reference].definition?, last)?, steps);
        }
        let callee = self.open_bracket(last).filter(|_| self.word(last) == ")")?.checked_sub(1)?;
        let before = callee.checked_sub(1).filter(|dot| self.word(*dot) == ".")?;
        match self.word(callee) {
            "with_data_values" | "with_data_values_schema" => self.library_before(before, steps),
            "get" if self.of_call(callee, steps) == Some("library") => {
                let name = self.model.tokens.get(callee + 2).filter(|token| token.kind == TokenKind::Str)?;
                Some(string_content(name.range.of(self.text)))
            }
            _ => None,
        }
    }

    /// The type of the expression that begins at a token and extends to the end of its statement.
    fn of_expression(&self, start: usize, steps: usize) -> Option<TypeName> {
        let end = self.expression_end(start)?;
        let is_sum = matches!(self.word(start + 1), "+" | "%");
        match self.kind(start) {
            Some(TokenKind::Str) if is_sum => Some("string"),
            _ => self.before(end, steps),
        }
    }

    /// One past the last token of an expression that extends to the end of its statement, if its
    /// last operand decides.
    fn expression_end(&self, start: usize) -> Option<usize> {
        let region = self.model.regions.get(self.region(start))?;
        let mut depth = 0_usize;
        let mut end = start;
        while end < region.tokens.end {
            let token = &self.model.tokens[end];
            if depth == 0 && end > start && token.begins_line || token.kind == TokenKind::Comment {
                break;
            }
            match (token.kind, self.word(end)) {
                (TokenKind::Op, "(" | "[" | "{") => depth += 1,
                (TokenKind::Op, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                // A conditional, a comparison or a lambda: the last operand does not decide.
                (TokenKind::Keyword, _) if depth == 0 => return None,
                (TokenKind::Op, "==" | "!=" | "<" | ">" | "<=" | ">=" | ",") if depth == 0 => return None,
                _ => {}
            }
            end += 1;
        }
        Some(end)
    }

    /// The type of a call's result; `callee` is the last token of the callee.
    fn of_call(&self, callee: usize, steps: usize) -> Option<TypeName> {
        let name = self.word(callee);
        if self.kind(callee) != Some(TokenKind::Name) {
            return None;
        }
        if callee == 0 || self.word(callee - 1) != "." {
            return match name {
                "str" | "repr" | "chr" | "type" => Some("string"),
                "list" | "sorted" | "reversed" | "enumerate" | "zip" | "dir" => Some("list"),
                "dict" => Some("dict"),
                "set" => Some("set"),
                _ => None,
            };
        }
        let range = self.model.tokens[callee].range;
        let chain = self.model.chains.iter().find(|chain| chain.parts.last().is_some_and(|part| part.range == range));
        if let Some(chain) = chain
            && let Some(Meaning::ModuleMember(module, name)) = self.project.meaning(self.file, chain, chain.parts.len())
        {
            return match (module.as_str(), name.as_str()) {
                ("library", "get") => Some("library"),
                ("data", "list") => Some("list"),
                ("data", "read") | ("base64" | "json" | "yaml" | "toml", "encode") | ("base64", "decode") => {
                    Some("string")
                }
                ("sha256" | "md5", "sum") | ("regexp", "replace") => Some("string"),
                ("url", name) if name != "parse" && name != "query_params_decode" => Some("string"),
                _ => None,
            };
        }
        match (self.before(callee - 1, steps)?, name) {
            ("library", "with_data_values" | "with_data_values_schema") => Some("library"),
            ("string", "split" | "rsplit" | "splitlines") => Some("list"),
            ("string", "capitalize" | "format" | "join" | "lower" | "lstrip" | "removeprefix" | "removesuffix") => {
                Some("string")
            }
            ("string", "replace" | "rstrip" | "strip" | "title" | "upper") => Some("string"),
            ("dict", "items" | "keys" | "values") => Some("list"),
            ("set", "difference" | "intersection" | "symmetric_difference" | "union") => Some("set"),
            _ => None,
        }
    }
}
