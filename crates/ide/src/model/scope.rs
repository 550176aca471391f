//! Finds blocks, scopes, definitions and references.
//!
//! The tokens of all regions of a file form one program. Statements are separated by lines and
//! brackets; a word that can only begin a statement does so even inside an open bracket.

mod expression;

use std::collections::HashMap;
use std::ops::Range;

use super::token::{self, Token, TokenKind, string_content};
use super::{Model, RegionKind};
use crate::TextRange;

/// A block of code with its `end`.
#[derive(Clone, Debug)]
pub struct Block {
    /// The statement that opens it.
    pub kind: BlockKind,
    /// The statement that opens it, without its colon.
    pub head: TextRange,
    /// The line of the statement.
    pub line: usize,
    /// The column of the statement's marker.
    pub column: usize,
    /// Its `end`, if any.
    pub end: Option<TextRange>,
    /// The line of its `end`, or the last line.
    pub end_line: usize,
}

/// The statement that opens a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockKind {
    /// `if`.
    If,
    /// `for`.
    For,
    /// `while`.
    While,
    /// `def`.
    Def,
}

/// A part of a file in which names are valid.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The enclosing scope.
    pub parent: Option<usize>,
    /// Its range.
    pub range: TextRange,
}

/// The kind of a definition.
#[derive(Clone, PartialEq, Debug)]
pub enum DefKind {
    /// A function with its parameters as written, and its documentation.
    Function {
        /// Each parameter with its default: `count=1`.
        parameters: Vec<String>,
        /// The documentation below its head.
        doc: Option<String>,
    },
    /// A variable, and its value if that is a chain.
    Variable(Option<Chain>),
    /// A parameter of a function.
    Parameter,
    /// A loop variable, and the iterable if that is a chain.
    LoopVariable(Option<Chain>),
    /// A symbol of another file.
    Loaded {
        /// The index of the `load`.
        load: usize,
        /// Its name in the loaded file.
        symbol: String,
        /// The range of that name.
        symbol_range: TextRange,
    },
}

/// A definition of a name.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// Its range.
    pub range: TextRange,
    /// The scope in which it is valid.
    pub scope: usize,
    /// Its kind.
    pub kind: DefKind,
}

/// A use of a name.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The name.
    pub name: String,
    /// Its range.
    pub range: TextRange,
    /// The definition in this file, if any.
    pub definition: Option<usize>,
    /// Whether it is called.
    pub is_called: bool,
}

/// A name with attributes: `data.values.db.host`, `v["a"]`.
#[derive(Clone, PartialEq, Debug)]
pub struct Chain {
    /// The first name.
    pub root: String,
    /// Its range.
    pub root_range: TextRange,
    /// The attributes and indices.
    pub parts: Vec<ChainPart>,
    /// Whether arguments follow.
    pub is_called: bool,
}

/// An attribute or index of a chain.
#[derive(Clone, PartialEq, Debug)]
pub struct ChainPart {
    /// The attribute or key; `None` for an index that is not a string.
    pub name: Option<String>,
    /// Its range, without quotes.
    pub range: TextRange,
}

/// `load(…)`.
#[derive(Clone, Debug)]
pub struct LoadStatement {
    /// The path or module.
    pub path: String,
    /// Its range, without quotes.
    pub path_range: TextRange,
    /// The whole statement.
    pub range: TextRange,
}

/// Words that can only begin a statement.
const BEGINNINGS: [&str; 10] = ["def", "while", "load", "return", "end", "elif", "break", "continue", "pass", "else"];

/// Reads tokens, statements and names into the model.
pub(super) fn read(model: &mut Model, text: &str) {
    let mut regions = std::mem::take(&mut model.regions);
    let mut long_string: Option<(usize, &str)> = None;
    for index in 0..regions.len() {
        let first = model.tokens.len();
        let range = regions[index].range;
        let mut start = range.start;
        // A triple-quoted string from an earlier line continues until its quotes.
        if let Some((_, quotes)) = long_string {
            if regions[index].kind != RegionKind::Statement {
                long_string = None;
            } else if let Some(at) = range.of(text).find(quotes) {
                let token = TextRange::new(range.start, range.start + at + quotes.len());
                model.tokens.push(Token { kind: TokenKind::Str, range: token, begins_line: false });
                start = token.end;
                long_string = None;
            } else {
                let token = Token { kind: TokenKind::Str, range, begins_line: false };
                model.tokens.push(token);
                start = range.end;
            }
        }
        token::tokens(text, TextRange::new(start, range.end), &mut model.tokens);
        if start > range.start
            && let Some(token) = model.tokens.get_mut(first + 1)
        {
            token.begins_line = false;
        }
        if long_string.is_none() && regions[index].kind == RegionKind::Statement {
            long_string = opens_long_string(&regions, index, model.tokens.last(), text);
        }
        regions[index].tokens = first..model.tokens.len();
    }
    model.regions = regions;
    model.scopes.push(Scope { parent: None, range: TextRange::new(0, text.len()) });
    let mut reader = ScopeReader { text, model, blocks: Vec::new(), scopes: vec![0], candidates: Vec::new() };
    for statement in statements(reader.model, text) {
        reader.statement(statement);
    }
    reader.finish();
}

/// Whether the last token of a line is a triple-quoted string that a later line closes.
fn opens_long_string<'a>(
    regions: &[super::CodeRegion],
    index: usize,
    last: Option<&Token>,
    text: &str,
) -> Option<(usize, &'a str)> {
    let last = last.filter(|last| last.kind == TokenKind::Str)?.range.of(text);
    let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| {
        last.trim_start_matches(['r', 'b']).strip_prefix(quotes).is_some_and(|rest| !rest.ends_with(quotes))
    })?;
    let mut line = regions[index].line;
    for region in &regions[index + 1..] {
        if region.kind != RegionKind::Statement || region.line != line + 1 {
            return None;
        }
        if region.range.of(text).contains(quotes) {
            return Some((index, quotes));
        }
        line = region.line;
    }
    None
}

/// A statement: its tokens, and the region in which it begins.
#[derive(Clone)]
struct Statement {
    tokens: Range<usize>,
    region: usize,
}

fn statements(model: &Model, text: &str) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let mut depth = 0_usize;
    let mut last_line = None;
    for (number, region) in model.regions.iter().enumerate() {
        let goes_on = region.kind == RegionKind::Statement && last_line == region.line.checked_sub(1);
        if !goes_on || !region.kind.has_statements() {
            depth = 0;
        }
        let mut is_first = true;
        for index in region.tokens.clone() {
            let token = &model.tokens[index];
            let word = token.range.of(text);
            let is_long_string_part = token.kind == TokenKind::Str && !token.begins_line && is_first && goes_on;
            let begins = match region.kind {
                RegionKind::Statement if is_first => {
                    !is_long_string_part
                        && (depth == 0 || token.kind == TokenKind::Keyword && BEGINNINGS.contains(&word))
                }
                RegionKind::Whole | RegionKind::TextCode if token.begins_line => {
                    depth == 0 || token.kind == TokenKind::Keyword && BEGINNINGS.contains(&word)
                }
                _ => is_first,
            };
            if begins || found.is_empty() {
                depth = 0;
                found.push(Statement { tokens: index..index, region: number });
            }
            if token.kind == TokenKind::Op {
                match word {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            if let Some(last) = found.last_mut() {
                last.tokens.end = index + 1;
            }
            is_first = false;
        }
        last_line = (region.kind == RegionKind::Statement).then_some(region.line);
    }
    found
}

struct ScopeReader<'a> {
    text: &'a str,
    model: &'a mut Model,
    /// Open blocks: index, and whether the block has a scope.
    blocks: Vec<(usize, bool)>,
    /// Open scopes, outermost first.
    scopes: Vec<usize>,
    /// Uses of names, with their scopes.
    candidates: Vec<(Reference, usize)>,
}

impl ScopeReader<'_> {
    fn word(&self, index: usize) -> &str {
        self.model.tokens.get(index).map_or("", |token| token.range.of(self.text))
    }

    fn is_op(&self, index: usize, op: &str) -> bool {
        self.model.tokens.get(index).is_some_and(|token| token.kind == TokenKind::Op) && self.word(index) == op
    }

    fn is_name(&self, index: usize) -> bool {
        self.model.tokens.get(index).is_some_and(|token| token.kind == TokenKind::Name)
    }

    fn range(&self, index: usize) -> TextRange {
        self.model.tokens[index].range
    }

    fn scope(&self) -> usize {
        self.scopes.last().copied().unwrap_or_default()
    }

    fn statement(&mut self, statement: Statement) {
        let region = self.model.regions[statement.region].clone();
        let mut tokens = statement.tokens.clone();
        while tokens.end > tokens.start && self.model.tokens[tokens.end - 1].kind == TokenKind::Comment {
            tokens.end -= 1;
        }
        if tokens.is_empty() {
            return;
        }
        if !region.kind.has_statements() {
            let is_call = matches!(region.kind, RegionKind::Arguments { .. });
            self.expression(tokens, if is_call { 1 } else { 0 });
            return;
        }
        // A line of code can contain several statements: `a = 1; b = 2`.
        let mut start = tokens.start;
        for index in tokens.clone() {
            if self.is_op(index, ";") {
                self.simple(start..index, &region);
                start = index + 1;
            }
        }
        self.simple(start..tokens.end, &region);
    }

    fn simple(&mut self, tokens: Range<usize>, region: &super::CodeRegion) {
        if tokens.is_empty() {
            return;
        }
        let first = self.word(tokens.start).to_owned();
        let ends_with_colon = self.is_op(tokens.end - 1, ":");
        // `if/end` applies to one node and needs no end.
        let is_short = self.is_op(tokens.start + 1, "/") && self.word(tokens.start + 2) == "end";
        let opens = ends_with_colon && !is_short;
        match first.as_str() {
            "def" => self.function(tokens, opens, region),
            "for" => {
                self.loop_targets(tokens.clone(), is_short);
                self.open_block(BlockKind::For, &tokens, opens, false, region);
            }
            "if" => {
                self.expression(tokens.start + 1..tokens.end, 0);
                self.open_block(BlockKind::If, &tokens, opens, false, region);
            }
            "while" => {
                self.expression(tokens.start + 1..tokens.end, 0);
                self.open_block(BlockKind::While, &tokens, opens, false, region);
            }
            "end" => self.end(self.range(tokens.start)),
            "load" => self.load(tokens),
            "elif" | "else" | "return" => self.expression(tokens.start + 1..tokens.end, 0),
            _ => self.assignment(tokens),
        }
    }

    fn open_block(
        &mut self,
        kind: BlockKind,
        tokens: &Range<usize>,
        opens: bool,
        has_scope: bool,
        region: &super::CodeRegion,
    ) {
        if !opens {
            return;
        }
        let head = TextRange::new(self.range(tokens.start).start, self.range(tokens.end - 1).start);
        let line = self.model.lines.line_of(head.start);
        let column = match region.kind {
            RegionKind::Whole => head.start - self.model.lines.start(line),
            _ => region.column,
        };
        let last = self.model.lines.count().saturating_sub(1);
        self.model.blocks.push(Block { kind, head, line, column, end: None, end_line: last });
        self.blocks.push((self.model.blocks.len() - 1, has_scope));
    }

    fn end(&mut self, range: TextRange) {
        let Some((block, has_scope)) = self.blocks.pop() else {
            self.model.stray_ends.push(range);
            return;
        };
        self.model.blocks[block].end = Some(range);
        self.model.blocks[block].end_line = self.model.lines.line_of(range.start);
        if has_scope && let Some(scope) = self.scopes.pop() {
            self.model.scopes[scope].range.end = range.end;
        }
    }

    fn function(&mut self, tokens: Range<usize>, opens: bool, region: &super::CodeRegion) {
        let mut at = tokens.start + 1;
        if self.is_op(at, "/") {
            at += 2;
        }
        if !self.is_name(at) {
            return self.expression(at..tokens.end, 0);
        }
        let name = at;
        let outer = self.scope();
        let scope = self.new_scope(TextRange::new(self.range(name).end, self.text.len()), outer);
        let mut parameters = Vec::new();
        let mut depth = 0;
        let mut start = name + 2;
        let mut body = tokens.end;
        for index in name + 1..tokens.end {
            match (self.model.tokens[index].kind, self.word(index)) {
                (TokenKind::Op, "(" | "[" | "{") => depth += 1,
                (TokenKind::Op, ")" | "]" | "}") => {
                    depth -= 1;
                    if depth == 0 {
                        self.parameter(start..index, scope, &mut parameters);
                        body = index + 1;
                        break;
                    }
                }
                (TokenKind::Op, ",") if depth == 1 => {
                    self.parameter(start..index, scope, &mut parameters);
                    start = index + 1;
                }
                _ => {}
            }
        }
        if body == tokens.end && start < tokens.end {
            self.parameter(start..tokens.end, scope, &mut parameters);
        }
        let doc = self.doc_string(tokens.end).or_else(|| self.comment_above(self.range(name).start, region.kind));
        let definition = Definition {
            name: self.word(name).to_owned(),
            range: self.range(name),
            scope: outer,
            kind: DefKind::Function { parameters, doc },
        };
        self.model.definitions.push(definition);
        self.open_block(BlockKind::Def, &tokens, opens, true, region);
        if opens {
            self.scopes.push(scope);
        } else {
            self.model.scopes[scope].range.end = self.range(tokens.end - 1).end;
            self.scopes.push(scope);
            let from = if self.is_op(body, ":") { body + 1 } else { body };
            if from < tokens.end {
                let is_return = self.word(from) == "return";
                self.expression(from + usize::from(is_return)..tokens.end, 0);
            }
            self.scopes.pop();
        }
    }

    /// The documentation of a function: a string that is the first statement of its body.
    fn doc_string(&self, at: usize) -> Option<String> {
        let token = self.model.tokens.get(at)?;
        if token.kind != TokenKind::Str || !token.begins_line {
            return None;
        }
        let first = token.range.of(self.text);
        let mut doc = string_content(first).to_owned();
        // The lines of a triple-quoted string in comments are separate tokens.
        let mut next = at + 1;
        while let Some(token) =
            self.model.tokens.get(next).filter(|token| token.kind == TokenKind::Str && !token.begins_line)
        {
            let text = token.range.of(self.text).trim();
            doc.push('\n');
            doc.push_str(text.trim_end_matches("\"\"\"").trim_end_matches("'''"));
            next += 1;
        }
        let lines: Vec<&str> = doc.lines().map(str::trim).collect();
        Some(lines.join("\n").trim().to_owned()).filter(|doc| !doc.is_empty())
    }

    /// The comment directly above a function, which documents it where it has no string that does.
    fn comment_above(&self, offset: usize, kind: RegionKind) -> Option<String> {
        let mark = match kind {
            RegionKind::Whole => "#",
            RegionKind::Statement => "#!",
            _ => return None,
        };
        let mut lines = Vec::new();
        let mut line = self.model.lines.line_of(offset);
        while let Some(above) = line.checked_sub(1) {
            let text = self.model.lines.range(self.text, above).of(self.text).trim();
            let Some(comment) = text.strip_prefix(mark).filter(|_| !text.starts_with("#@")) else { break };
            lines.push(comment.trim());
            line = above;
        }
        lines.reverse();
        Some(lines.join("\n").trim().to_owned()).filter(|doc| !doc.is_empty() && !doc.starts_with("ytterby:"))
    }

    fn parameter(&mut self, tokens: Range<usize>, scope: usize, parameters: &mut Vec<String>) {
        if tokens.is_empty() {
            return;
        }
        let whole = TextRange::new(self.range(tokens.start).start, self.range(tokens.end - 1).end);
        parameters.push(whole.of(self.text).to_owned());
        let mut name = tokens.start;
        while name < tokens.end && !self.is_name(name) {
            name += 1;
        }
        if name < tokens.end {
            self.define(name, scope, DefKind::Parameter);
        }
        if self.is_op(name + 1, "=") && name + 2 < tokens.end {
            self.expression(name + 2..tokens.end, 1);
        }
    }

    fn define(&mut self, name: usize, scope: usize, kind: DefKind) {
        let definition = Definition { name: self.word(name).to_owned(), range: self.range(name), scope, kind };
        self.model.definitions.push(definition);
    }

    fn new_scope(&mut self, range: TextRange, parent: usize) -> usize {
        self.model.scopes.push(Scope { parent: Some(parent), range });
        self.model.scopes.len() - 1
    }

    /// `for a, b in xs:`.
    fn loop_targets(&mut self, tokens: Range<usize>, is_short: bool) {
        let start = tokens.start + if is_short { 3 } else { 1 };
        let place = (start..tokens.end).find(|index| self.word(*index) == "in").unwrap_or(tokens.end);
        self.define_targets(start..place, place + 1..tokens.end, self.scope());
        if place + 1 < tokens.end {
            self.expression(place + 1..tokens.end, 0);
        }
    }

    /// Defines the variables of a loop. If the iterable is a chain of names, the loop variable
    /// refers to it.
    fn define_targets(&mut self, targets: Range<usize>, through: Range<usize>, scope: usize) {
        let names: Vec<usize> = targets.filter(|index| self.is_name(*index)).collect();
        let function = if self.is_op(through.start + 1, "(") { self.word(through.start) } else { "" };
        let (is_known, item) = match function {
            "sorted" | "reversed" | "list" | "tuple" => (true, 0),
            "enumerate" => (true, 1),
            _ => (false, 0),
        };
        let first = if is_known { through.start + 2 } else { through.start };
        let chain = self.chain(first, through.end).filter(|(chain, next)| {
            let ends = match is_known {
                true => self.is_op(*next, ")") || self.is_op(*next, ","),
                // Operators would make something else of it: `a + b`.
                false => *next >= through.end || !matches!(self.word(*next), "+" | "*" | "%" | "(" | "["),
            };
            ends && !chain.is_called
        });
        let chain = chain.map(|(chain, _)| chain).filter(|_| names.len() == item + 1);
        for (number, name) in names.into_iter().enumerate() {
            self.define(name, scope, DefKind::LoopVariable(chain.clone().filter(|_| number == item)));
        }
    }

    /// The chain that an expression is, if it is nothing else.
    fn whole_chain(&self, tokens: Range<usize>) -> Option<Chain> {
        let end =
            if tokens.end > tokens.start && self.is_op(tokens.end - 1, ":") { tokens.end - 1 } else { tokens.end };
        let (chain, next) = self.chain(tokens.start, end)?;
        (next == end && !chain.is_called).then_some(chain)
    }

    fn load(&mut self, tokens: Range<usize>) {
        let range = TextRange::new(self.range(tokens.start).start, self.range(tokens.end - 1).end);
        let mut strings = tokens.clone().filter(|index| self.model.tokens[*index].kind == TokenKind::Str);
        let Some(path) = strings.next() else { return };
        let load = self.model.loads.len();
        let path_range = content_range(self.range(path), self.text);
        let content = path_range.of(self.text).to_owned();
        self.model.loads.push(LoadStatement { path: content, path_range, range });
        for index in path + 1..tokens.end {
            if self.model.tokens[index].kind != TokenKind::Str {
                continue;
            }
            let symbol_range = content_range(self.range(index), self.text);
            let symbol = symbol_range.of(self.text).to_owned();
            let is_alias = self.is_op(index.wrapping_sub(1), "=") && self.is_name(index.wrapping_sub(2));
            let (name, range) = match is_alias {
                true => (self.word(index - 2).to_owned(), self.range(index - 2)),
                false => (symbol.clone(), symbol_range),
            };
            let kind = DefKind::Loaded { load, symbol, symbol_range };
            if !name.is_empty() {
                self.model.definitions.push(Definition { name, range, scope: 0, kind });
            }
        }
    }

    fn assignment(&mut self, tokens: Range<usize>) {
        let mut depth = 0_usize;
        let mut equals = None;
        for index in tokens.clone() {
            if self.model.tokens[index].kind != TokenKind::Op {
                continue;
            }
            match self.word(index) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "=" if depth == 0 => {
                    equals = Some(index);
                    break;
                }
                _ => {}
            }
        }
        let Some(equals) = equals else { return self.expression(tokens, 0) };
        let is_single = equals == tokens.start + 1;
        let value = self.whole_chain(equals + 1..tokens.end);
        let mut others = Vec::new();
        for index in tokens.start..equals {
            let is_target = self.is_name(index)
                && !self.is_op(index + 1, ".")
                && !self.is_op(index + 1, "[")
                && (index <= tokens.start || !self.is_op(index - 1, "."))
                && !self.is_inside_index(tokens.start, index);
            if is_target {
                let scope = self.scope();
                self.define(index, scope, DefKind::Variable(value.clone().filter(|_| is_single)));
            } else {
                others.push(index);
            }
        }
        if others.len() == equals - tokens.start {
            self.expression(tokens.start..equals, 0);
        }
        if equals + 1 < tokens.end {
            self.expression(equals + 1..tokens.end, 0);
        }
    }

    fn finish(mut self) {
        for scope in &mut self.model.scopes {
            scope.range.end = scope.range.end.min(self.text.len());
        }
        let mut by_name: HashMap<(usize, &str), Vec<usize>> = HashMap::new();
        for (index, definition) in self.model.definitions.iter().enumerate() {
            by_name.entry((definition.scope, &definition.name)).or_default().push(index);
        }
        let mut references = Vec::with_capacity(self.candidates.len());
        for (mut reference, scope) in std::mem::take(&mut self.candidates) {
            let mut next = Some(scope);
            while let Some(scope) = next {
                if let Some(found) = by_name.get(&(scope, reference.name.as_str())) {
                    let before = found
                        .iter()
                        .rev()
                        .find(|index| self.model.definitions[**index].range.start <= reference.range.start);
                    reference.definition = before.or(found.first()).copied();
                    break;
                }
                next = self.model.scopes[scope].parent;
            }
            references.push(reference);
        }
        references.sort_by_key(|reference| reference.range.start);
        self.model.references = references;
        self.model.definitions_sorted();
    }
}

impl Model {
    fn definitions_sorted(&mut self) {
        self.chains.sort_by_key(|chain| chain.root_range.start);
    }

    /// The innermost scope at an offset.
    pub fn scope_at(&self, offset: usize) -> usize {
        let inside = self.scopes.iter().enumerate().filter(|(_, scope)| scope.range.touches(offset));
        inside.min_by_key(|(_, scope)| scope.range.end - scope.range.start).map_or(0, |(index, _)| index)
    }

    /// The definitions that are valid at an offset, inner ones first; of duplicate names only the
    /// innermost.
    pub fn visible(&self, offset: usize) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut next = Some(self.scope_at(offset));
        while let Some(scope) = next {
            let in_scope = self.definitions.iter().enumerate().filter(|(_, definition)| definition.scope == scope);
            for (index, definition) in in_scope {
                if !found.iter().any(|other| self.definitions[*other].name == definition.name) {
                    found.push(index);
                }
            }
            next = self.scopes[scope].parent;
        }
        found
    }
}

/// A string token without its quotes.
fn content_range(range: TextRange, text: &str) -> TextRange {
    let token = range.of(text);
    let content = string_content(token);
    let skip = token.len() - token.trim_start_matches(['r', 'b']).len();
    let body = &token[skip..];
    let quotes = if body.starts_with("\"\"\"") || body.starts_with("'''") { 3 } else { 1 };
    let start = range.start + skip + quotes.min(body.len());
    TextRange::new(start, (start + content.len()).min(range.end))
}
