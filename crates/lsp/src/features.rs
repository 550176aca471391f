//! Requests about documents: converts queries and answers of `ytterby-ide`.
//!
//! `Server::feature` maps a method of the protocol to a question; the functions below turn answers
//! into JSON. Nothing is decided here.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use ytterby_ide::actions::{self, ActionKind};
use ytterby_ide::analysis::Analysis;
use ytterby_ide::complete::{self, Completion, CompletionKind};
use ytterby_ide::context::{Cursor, Knowledge};
use ytterby_ide::folding::{self, FoldKind};
use ytterby_ide::symbols::{self, DocumentSymbol, SymbolKind};
use ytterby_ide::{
    File, ProjectSnapshot, TextEdit, TextRange, format, hover, inlay, links, navigate, on_type, selection, signature,
    tokens,
};

use crate::convert::{position, position_json, range, range_json};
use crate::server::{RpcError, RpcResult, Server};

/// A file of a project.
struct RequestDocument {
    project: Arc<ProjectSnapshot>,
    file: Arc<File>,
    analysis: Option<Arc<Analysis>>,
}

impl RequestDocument {
    fn cursor(&self, place: &Value) -> Result<Cursor<'_>, RpcError> {
        let at = position(place).ok_or_else(RpcError::invalid_params)?;
        let offset = self.file.model().lines.offset(&self.file.text, at);
        Ok(Cursor::new(&self.project, &self.file, offset))
    }

    fn known(&self) -> Knowledge<'_> {
        Knowledge { values: self.analysis.as_ref().and_then(|analysis| analysis.values.as_ref()) }
    }
}

impl Server {
    /// Answers a request about a document.
    pub(crate) fn feature(&mut self, method: &str, params: &Value) -> RpcResult {
        if method == "workspace/symbol" {
            return Ok(self.workspace_symbols(params));
        }
        let is_known = matches!(
            method,
            "textDocument/hover"
                | "textDocument/completion"
                | "textDocument/definition"
                | "textDocument/references"
                | "textDocument/documentHighlight"
                | "textDocument/prepareRename"
                | "textDocument/rename"
                | "textDocument/foldingRange"
                | "textDocument/selectionRange"
                | "textDocument/semanticTokens/full"
                | "textDocument/semanticTokens/range"
                | "textDocument/inlayHint"
                | "textDocument/formatting"
                | "textDocument/onTypeFormatting"
                | "textDocument/signatureHelp"
                | "textDocument/documentLink"
        );
        if !is_known {
            return Err(RpcError::new(-32601, format!("there is no method {method}")));
        }
        let Some((project, file)) = self.document(params) else { return Ok(Value::Null) };
        let analysis = self.last_analysis(&project.root).cloned();
        let document = RequestDocument { project, file, analysis };
        match method {
            "textDocument/hover" => hover(&document, params),
            "textDocument/completion" => self.completion(&document, params),
            "textDocument/definition" => {
                let places = navigate::definition(document.cursor(&params["position"])?);
                let found = places.iter().filter_map(|place| self.location(&place.path, place.range));
                Ok(Value::Array(found.collect()))
            }
            "textDocument/references" => {
                let with_declaration =
                    params.pointer("/context/includeDeclaration").and_then(Value::as_bool).unwrap_or(true);
                let places = navigate::references(document.cursor(&params["position"])?, with_declaration);
                let found = places.iter().filter_map(|place| self.location(&place.path, place.range));
                Ok(Value::Array(found.collect()))
            }
            "textDocument/documentHighlight" => {
                let ranges = navigate::highlights(document.cursor(&params["position"])?);
                let found = ranges.into_iter().map(|range| json!({"range": range_json(&document.file, range)}));
                Ok(Value::Array(found.collect()))
            }
            "textDocument/prepareRename" => {
                let range =
                    navigate::prepare_rename(document.cursor(&params["position"])?).map_err(RpcError::failed)?;
                let name = range.of(&document.file.text);
                Ok(json!({"range": range_json(&document.file, range), "placeholder": name}))
            }
            "textDocument/rename" => {
                let name = params["newName"].as_str().ok_or_else(RpcError::invalid_params)?;
                let edits = navigate::rename(document.cursor(&params["position"])?, name).map_err(RpcError::failed)?;
                Ok(self.workspace_edit(&edits))
            }
            "textDocument/foldingRange" => Ok(folds(&document)),
            "textDocument/selectionRange" => selections(&document, params),
            "textDocument/semanticTokens/full" => Ok(semantic_tokens(&document, None)),
            "textDocument/semanticTokens/range" => {
                let within = range(&document.file, &params["range"]).ok_or_else(RpcError::invalid_params)?;
                Ok(semantic_tokens(&document, Some(within)))
            }
            "textDocument/inlayHint" => {
                self.hints_asked = true;
                let whole = TextRange::new(0, document.file.text.len());
                let within = range(&document.file, &params["range"]).unwrap_or(whole);
                let lines = &document.file.model().lines;
                let hints = inlay::hints(&document.project, &document.file, within, document.known());
                let shown = hints.into_iter().map(|hint| {
                    let at = lines.position(&document.file.text, hint.offset);
                    json!({"position": position_json(at), "label": hint.label, "paddingLeft": false})
                });
                Ok(Value::Array(shown.collect()))
            }
            "textDocument/formatting" => Ok(edits_json(&document.file, &format::format(&document.file))),
            "textDocument/onTypeFormatting" => {
                let edits = match params["ch"].as_str() {
                    Some("\n") => on_type::after_line_break(document.cursor(&params["position"])?),
                    _ => Vec::new(),
                };
                Ok(edits_json(&document.file, &edits))
            }
            "textDocument/signatureHelp" => Ok(signature_help(document.cursor(&params["position"])?)),
            _ => {
                let found = links::links(&document.project, &document.file);
                let link = |(range, path): &(TextRange, String)| json!({"range": range_json(&document.file, *range), "target": self.uri(path)});
                Ok(Value::Array(found.iter().map(link).collect()))
            }
        }
    }

    fn completion(&mut self, document: &RequestDocument, params: &Value) -> RpcResult {
        let at = document.cursor(&params["position"])?;
        let items = complete::complete(at, document.known());
        let json = items.iter().map(|item| self.completion_json(document, item));
        Ok(json!({"isIncomplete": false, "items": json.collect::<Vec<_>>()}))
    }

    fn completion_json(&self, document: &RequestDocument, item: &Completion) -> Value {
        let kind = match item.kind {
            CompletionKind::Field => 5,
            CompletionKind::Function => 3,
            CompletionKind::Variable => 6,
            CompletionKind::Module => 9,
            CompletionKind::Annotation => 7,
            CompletionKind::Argument => 10,
            CompletionKind::Keyword => 14,
            CompletionKind::Snippet => 15,
            CompletionKind::File => 17,
            CompletionKind::Value => 12,
        };
        let is_snippet = item.is_snippet && self.client.snippets;
        let text = if item.is_snippet && !is_snippet { without_places(&item.text) } else { item.text.clone() };
        let mut json = json!({
            "label": item.label,
            "kind": kind,
            "sortText": format!("{}{}", item.rank, item.label),
            "filterText": filter_text(document, item),
            "textEdit": {"range": range_json(&document.file, item.range), "newText": text},
            "insertTextFormat": if is_snippet { 2 } else { 1 },
        });
        if item.is_snippet {
            json["insertTextMode"] = json!(2);
        }
        if !item.detail.is_empty() {
            json["detail"] = json!(item.detail);
        }
        if !item.documentation.is_empty() {
            json["documentation"] = json!({"kind": "markdown", "value": item.documentation});
        }
        if item.is_deprecated {
            json["tags"] = json!([1]);
        }
        if let Some((offset, text)) = &item.also {
            let range = range_json(&document.file, TextRange::new(*offset, *offset));
            json["additionalTextEdits"] = json!([{"range": range, "newText": text}]);
        }
        json
    }

    /// The symbols of a document as JSON.
    pub(crate) fn document_symbols(&mut self, params: &Value) -> String {
        let Some((_, file)) = self.document(params) else { return "null".to_owned() };
        let symbols = symbols::document(&file);
        let mut writer = SymbolWriter { file: &file, out: String::from("["), flat: None };
        if !self.client.hierarchical_symbols {
            writer.flat = Some(json!(self.uri(&file.path)).to_string());
        }
        writer.all(&symbols, "");
        writer.out.push(']');
        writer.out
    }

    fn workspace_symbols(&mut self, params: &Value) -> Value {
        let query = params["query"].as_str().unwrap_or_default();
        let projects = self.projects();
        let mut found = Vec::new();
        for project in projects {
            for symbol in symbols::workspace(&project, query) {
                if let Some(location) = self.location(&symbol.place.path, symbol.place.range) {
                    let kind = symbol_kind(symbol.kind);
                    let container = symbol.container;
                    found.push(
                        json!({"name": symbol.name, "kind": kind, "location": location, "containerName": container}),
                    );
                }
            }
        }
        Value::Array(found)
    }

    /// The code actions at a position, if the analysis is ready.
    pub(crate) fn ready_code_actions(&mut self, params: &Value) -> Option<Value> {
        let Some((project, file)) = self.document(params) else { return Some(Value::Null) };
        let analysis = self.current_analysis(&project)?.clone();
        let Some(selected) = range(&file, &params["range"]) else { return Some(Value::Array(Vec::new())) };
        let at = Cursor::new(&project, &file, selected.start);
        let only: Option<Vec<String>> = params
            .pointer("/context/only")
            .and_then(Value::as_array)
            .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        let mut found = Vec::new();
        for action in actions::actions(at, selected, &analysis.findings) {
            let kind = match action.kind {
                ActionKind::QuickFix => "quickfix",
                ActionKind::Extract => "refactor.extract",
                ActionKind::Rewrite => "refactor.rewrite",
            };
            let is_wanted = |only: &Vec<String>| {
                only.iter().any(|wanted| kind == wanted || kind.starts_with(&format!("{wanted}.")) || wanted.is_empty())
            };
            if !only.as_ref().is_none_or(is_wanted) {
                continue;
            }
            let mut json = json!({"title": action.title, "kind": kind, "edit": self.workspace_edit(&action.edits)});
            if action.is_preferred {
                json["isPreferred"] = json!(true);
            }
            if let Some(finding) = action.finding.and_then(|number| self.finding_json(&analysis.findings[number])) {
                json["diagnostics"] = json!([finding]);
            }
            found.push(json);
        }
        Some(Value::Array(found))
    }
}

/// The text that the editor compares with what was typed: without the prefix before the label.
fn filter_text(document: &RequestDocument, item: &Completion) -> String {
    match item.range.of(&document.file.text).starts_with('.') {
        true => format!(".{}", item.label),
        false => item.label.clone(),
    }
}

/// A snippet without its placeholders.
fn without_places(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((place, after)) => {
                out.push_str(place.split_once(':').map_or("", |(_, name)| name));
                rest = after;
            }
            None => rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        }
    }
    out + rest
}

fn hover(document: &RequestDocument, params: &Value) -> RpcResult {
    let found = hover::hover(document.cursor(&params["position"])?, document.known());
    Ok(found.map_or(Value::Null, |hover| {
        let contents = json!({"kind": "markdown", "value": hover.markdown});
        json!({"contents": contents, "range": range_json(&document.file, hover.range)})
    }))
}

fn symbol_kind(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::Document => 2,
        SymbolKind::Map => 19,
        SymbolKind::Array => 18,
        SymbolKind::Scalar => 7,
        SymbolKind::Function => 12,
        SymbolKind::Variable => 13,
    }
}

/// Writes symbols as JSON text, because a long file has thousands of them.
struct SymbolWriter<'a> {
    file: &'a File,
    out: String,
    /// The URI of the file as JSON, for clients without nested symbols.
    flat: Option<String>,
}

impl SymbolWriter<'_> {
    fn all(&mut self, symbols: &[DocumentSymbol], container: &str) {
        for symbol in symbols {
            if !self.out.ends_with('[') {
                self.out.push(',');
            }
            let whole = TextRange::new(
                symbol.range.start.min(symbol.selection.start),
                symbol.range.end.max(symbol.selection.end),
            );
            let kind = symbol_kind(symbol.kind);
            self.out.push_str("{\"name\":");
            self.text(&symbol.name);
            let _ = write!(self.out, ",\"kind\":{kind}");
            if let Some(uri) = &self.flat {
                let _ = write!(self.out, ",\"location\":{{\"uri\":{uri},");
                self.range("range", whole);
                self.out.push_str("},\"containerName\":");
                self.text(container);
                self.out.push('}');
                self.all(&symbol.children, &symbol.name);
                continue;
            }
            self.out.push(',');
            self.range("range", whole);
            self.out.push(',');
            self.range("selectionRange", symbol.selection);
            if !symbol.detail.is_empty() {
                self.out.push_str(",\"detail\":");
                self.text(&symbol.detail);
            }
            if !symbol.children.is_empty() {
                self.out.push_str(",\"children\":[");
                self.all(&symbol.children, &symbol.name);
                self.out.push(']');
            }
            self.out.push('}');
        }
    }

    fn text(&mut self, text: &str) {
        let is_plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
        match is_plain {
            true => {
                self.out.push('"');
                self.out.push_str(text);
                self.out.push('"');
            }
            false => self.out.push_str(&json!(text).to_string()),
        }
    }

    fn range(&mut self, name: &str, range: TextRange) {
        let lines = &self.file.model().lines;
        let (start, end) = (lines.position(&self.file.text, range.start), lines.position(&self.file.text, range.end));
        let _ = write!(
            self.out,
            "\"{name}\":{{\"start\":{{\"line\":{},\"character\":{}}},\"end\":{{\"line\":{},\"character\":{}}}}}",
            start.line, start.column, end.line, end.column
        );
    }
}

fn folds(document: &RequestDocument) -> Value {
    let fold = |fold: folding::Fold| {
        let mut json = json!({"startLine": fold.start, "endLine": fold.end});
        match fold.kind {
            FoldKind::Region => {}
            FoldKind::Comment => json["kind"] = json!("comment"),
            FoldKind::Imports => json["kind"] = json!("imports"),
        }
        json
    };
    Value::Array(folding::folds(&document.file).into_iter().map(fold).collect())
}

fn selections(document: &RequestDocument, params: &Value) -> RpcResult {
    let places = params["positions"].as_array().ok_or_else(RpcError::invalid_params)?;
    let index = selection::SelectionIndex::new(document.file.model());
    let mut found = Vec::new();
    for place in places {
        let chain = selection::ranges(document.cursor(place)?, &index);
        let nested = chain.iter().rev().fold(Value::Null, |parent, range| {
            let range = range_json(&document.file, *range);
            if parent.is_null() { json!({"range": range}) } else { json!({"range": range, "parent": parent}) }
        });
        found.push(nested);
    }
    Ok(Value::Array(found))
}

fn semantic_tokens(document: &RequestDocument, within: Option<TextRange>) -> Value {
    let file = &document.file;
    let lines = &file.model().lines;
    let mut data: Vec<u32> = Vec::new();
    let (mut last_line, mut last_column) = (0, 0);
    for token in tokens::tokens(file, within) {
        let start = lines.position(&file.text, token.range.start);
        let text = token.range.of(&file.text);
        let length = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
        let line = start.line - last_line;
        let column = if line == 0 { start.column.saturating_sub(last_column) } else { start.column };
        data.extend([line, column, length as u32, token.kind as u32, token.modifiers]);
        (last_line, last_column) = (start.line, start.column);
    }
    json!({"data": data})
}

fn edits_json(file: &File, edits: &[TextEdit]) -> Value {
    let edit = |edit: &TextEdit| json!({"range": range_json(file, edit.range), "newText": edit.text});
    Value::Array(edits.iter().map(edit).collect())
}

fn signature_help(at: Cursor<'_>) -> Value {
    let Some(signature) = signature::signature(at) else { return Value::Null };
    let units = |end: usize| signature.label[..end].encode_utf16().count();
    let parameters: Vec<Value> =
        signature.parameters.iter().map(|(start, end)| json!({"label": [units(*start), units(*end)]})).collect();
    let mut json = json!({"label": signature.label, "parameters": parameters});
    if !signature.documentation.is_empty() {
        json["documentation"] = json!({"kind": "markdown", "value": signature.documentation});
    }
    let mut help = json!({"signatures": [json], "activeSignature": 0});
    if let Some(active) = signature.active {
        help["activeParameter"] = json!(active);
    }
    help
}
