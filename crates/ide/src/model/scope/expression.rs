//! Reads expressions: chains of attributes, lambdas, comprehensions and uses of names.
//!
//! This is no parser: it looks for names among tokens and ignores the rest, so half-written code
//! does not stop it. What it must know exactly is where names are bound: lambdas and comprehensions
//! have scopes of their own.

use std::ops::Range;

use super::{Chain, ChainPart, Reference, ScopeReader, TextRange, Token, TokenKind, content_range};

impl ScopeReader<'_> {
    /// Whether a token is between the brackets of an index.
    pub(super) fn is_inside_index(&self, start: usize, index: usize) -> bool {
        let depth: i32 = (start..index)
            .map(|at| match self.word(at) {
                "[" if at > start && (self.is_name(at - 1) || self.is_op(at - 1, "]") || self.is_op(at - 1, ")")) => 1,
                "]" => -1,
                _ => 0,
            })
            .sum();
        depth > 0
    }

    /// The chain that begins at a token, and the token after it.
    pub(super) fn chain(&self, start: usize, end: usize) -> Option<(Chain, usize)> {
        if start >= end || !self.is_name(start) {
            return None;
        }
        let mut chain = Chain {
            root: self.word(start).to_owned(),
            root_range: self.range(start),
            parts: Vec::new(),
            is_called: false,
        };
        let mut at = start + 1;
        while at < end {
            if self.is_op(at, ".") {
                // In `z. for z in`, an attribute is being typed; the keyword belongs to the
                // expression.
                let is_word = |token: &Token| match token.kind {
                    TokenKind::Name | TokenKind::Number => true,
                    TokenKind::Keyword => token.range.start == self.range(at).end,
                    _ => false,
                };
                let has_name =
                    at + 1 < end && is_word(&self.model.tokens[at + 1]) && !self.model.tokens[at + 1].begins_line;
                if !has_name {
                    let empty = TextRange::new(self.range(at).end, self.range(at).end);
                    chain.parts.push(ChainPart { name: Some(String::new()), range: empty });
                    at += 1;
                    break;
                }
                chain.parts.push(ChainPart { name: Some(self.word(at + 1).to_owned()), range: self.range(at + 1) });
                at += 2;
            } else if self.is_op(at, "[") && at + 2 < end && self.is_op(at + 2, "]") {
                let inner = self.model.tokens[at + 1];
                let is_string = inner.kind == TokenKind::Str;
                let range = if is_string { content_range(inner.range, self.text) } else { inner.range };
                chain.parts.push(ChainPart { name: is_string.then(|| range.of(self.text).to_owned()), range });
                at += 3;
            } else if self.is_op(at, "[") && at + 2 == end && self.model.tokens[at + 1].kind == TokenKind::Str {
                // `data.values["na`: the key is being written.
                let range = content_range(self.range(at + 1), self.text);
                chain.parts.push(ChainPart { name: Some(range.of(self.text).to_owned()), range });
                at += 2;
            } else {
                break;
            }
        }
        chain.is_called = at < end && self.is_op(at, "(");
        Some((chain, at))
    }

    /// Finds the names in an expression. At a depth above 0, `name=` is the name of an argument.
    pub(super) fn expression(&mut self, tokens: Range<usize>, outer_depth: usize) {
        if tokens.is_empty() {
            return;
        }
        let mut at = tokens.start;
        let base = self.scopes.len();
        // Open brackets: whether it is a call, and the number of scopes before it.
        let mut brackets: Vec<(bool, usize)> = Vec::new();
        while at < tokens.end {
            let token = self.model.tokens[at];
            match token.kind {
                TokenKind::Op => match self.word(at) {
                    "(" | "[" | "{" => {
                        let is_call = self.word(at) == "("
                            && at > tokens.start
                            && (self.is_name(at - 1) || matches!(self.word(at - 1), ")" | "]"));
                        brackets.push((is_call, self.scopes.len()));
                        // Variables of a comprehension are used before they are defined.
                        if let Some((start, end)) = self.comprehension(at, tokens.end) {
                            self.comprehension_scope(at, start, end);
                        }
                    }
                    ")" | "]" | "}" => {
                        if let Some((_, scopes)) = brackets.pop() {
                            self.scopes.truncate(scopes);
                        }
                    }
                    "," => {
                        // A lambda ends with its argument.
                        let keep = brackets.last().map_or(base, |(_, scopes)| *scopes);
                        while self.scopes.len() > keep && self.is_in_lambda() {
                            self.end_lambda(token.range.start);
                        }
                    }
                    _ => {}
                },
                TokenKind::Keyword if self.word(at) == "lambda" => {
                    at = self.lambda(at, tokens.end);
                    continue;
                }
                TokenKind::Name => {
                    let is_attribute = at > tokens.start && self.is_op(at - 1, ".") && at > tokens.start + 1;
                    let in_call = brackets.last().map_or(outer_depth > 0, |(is_call, _)| *is_call);
                    let is_argument = in_call
                        && self.is_op(at + 1, "=")
                        && at + 1 < tokens.end
                        && (at == tokens.start || matches!(self.word(at - 1), "(" | ","));
                    if !is_attribute && !is_argument && !self.is_comprehension_target(at) {
                        self.name(at, tokens.end);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        // Include blanks at the end of the line: the next word is typed there.
        let end = self.range(tokens.end - 1).end;
        let end = self.model.lines.range(self.text, self.model.lines.line_of(end)).end;
        while self.scopes.len() > base {
            if self.is_in_lambda() {
                self.end_lambda(end);
            } else {
                self.scopes.pop();
            }
        }
    }

    /// Whether the innermost scope is a lambda, whose end is not known yet.
    pub(super) fn is_in_lambda(&self) -> bool {
        self.scopes.last().is_some_and(|scope| self.model.scopes[*scope].range.end == usize::MAX)
    }

    pub(super) fn end_lambda(&mut self, end: usize) {
        if let Some(scope) = self.scopes.pop() {
            self.model.scopes[scope].range.end = end;
        }
    }

    /// The `for` of a comprehension in a bracket, and the end of the bracket.
    pub(super) fn comprehension(&self, bracket: usize, end: usize) -> Option<(usize, usize)> {
        if self.word(bracket) == "(" {
            return None;
        }
        let mut depth = 0;
        let mut found = None;
        for index in bracket..end {
            match (self.model.tokens[index].kind, self.word(index)) {
                (TokenKind::Op, "(" | "[" | "{") => depth += 1,
                (TokenKind::Op, ")" | "]" | "}") => {
                    depth -= 1;
                    if depth == 0 {
                        return found.map(|found| (found, index));
                    }
                }
                (TokenKind::Keyword, "for") if depth == 1 && found.is_none() => found = Some(index),
                _ => {}
            }
        }
        found.map(|found| (found, end))
    }

    pub(super) fn comprehension_scope(&mut self, bracket: usize, first_for: usize, end: usize) {
        let last = self.range(end.min(self.model.tokens.len()).saturating_sub(1)).end;
        let range = TextRange::new(self.range(bracket).start, last.max(self.range(bracket).end));
        let scope = self.new_scope(range, self.scope());
        self.scopes.push(scope);
        let mut at = first_for;
        while at < end {
            if self.model.tokens[at].kind == TokenKind::Keyword && self.word(at) == "for" {
                let place = (at..end).find(|index| self.word(*index) == "in").unwrap_or(end);
                self.define_targets(at + 1..place, (place + 1).min(end)..end, scope);
                at = place;
            }
            at += 1;
        }
    }

    pub(super) fn is_comprehension_target(&self, at: usize) -> bool {
        let range = self.range(at);
        let recent = self.model.definitions.iter().rev().take(12);
        recent.into_iter().any(|definition| definition.range == range)
    }

    /// `lambda a, b=1: …`. Returns the token after the colon.
    pub(super) fn lambda(&mut self, at: usize, end: usize) -> usize {
        let mut depth = 0;
        let mut colon = end;
        for index in at + 1..end {
            match self.word(index) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                ":" if depth == 0 => {
                    colon = index;
                    break;
                }
                _ => {}
            }
            if depth < 0 {
                colon = index;
                break;
            }
        }
        let scope = self.new_scope(TextRange { start: self.range(at).end, end: usize::MAX }, self.scope());
        let mut start = at + 1;
        let mut depth = 0;
        let mut ignored = Vec::new();
        for index in at + 1..colon {
            match self.word(index) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "," if depth == 0 => {
                    self.parameter(start..index, scope, &mut ignored);
                    start = index + 1;
                }
                _ => {}
            }
        }
        self.parameter(start..colon, scope, &mut ignored);
        self.scopes.push(scope);
        if colon < end && self.is_op(colon, ":") { colon + 1 } else { colon }
    }

    /// A use of a name, with its attributes.
    pub(super) fn name(&mut self, at: usize, end: usize) {
        let is_called = self.is_op(at + 1, "(") && at + 1 < end;
        let reference =
            Reference { name: self.word(at).to_owned(), range: self.range(at), definition: None, is_called };
        self.candidates.push((reference, self.scope()));
        if let Some((chain, _)) = self.chain(at, end)
            && !chain.parts.is_empty()
        {
            self.model.chains.push(chain);
        }
        if is_called && matches!(self.word(at), "getattr" | "hasattr") {
            let attribute = self.named_attribute(at + 2, end);
            self.model.chains.extend(attribute);
        }
    }

    /// `data.values, "name"` in a call of `getattr` or `hasattr` means the attribute
    /// `data.values.name`.
    pub(super) fn named_attribute(&self, start: usize, end: usize) -> Option<Chain> {
        let (mut chain, next) = self.chain(start, end)?;
        let name = self.model.tokens[..end].get(next + 1).filter(|token| token.kind == TokenKind::Str)?;
        let range = content_range(name.range, self.text);
        chain.parts.push(ChainPart { name: Some(range.of(self.text).to_owned()), range });
        (self.is_op(next, ",") && !chain.is_called).then_some(chain)
    }
}
