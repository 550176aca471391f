//! Symbols of files and of the workspace.
//!
//! The outline of a file has its functions and, for each document, its keys; the workspace has
//! functions, data values and documents whose names contain a query. Both are bounded, because
//! generated files can have a million keys.

use crate::TextRange;
use crate::file::{self, File};
use crate::model::{BlockKind, DefKind, Model, ModelKind};
use crate::project::{FileRange, ProjectSnapshot};

/// The kind of a symbol, for its icon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A document.
    Document,
    /// A key with a map.
    Map,
    /// A key with an array.
    Array,
    /// A key with a scalar.
    Scalar,
    /// A function.
    Function,
    /// A variable.
    Variable,
}

/// A symbol of a file.
#[derive(Clone, Debug)]
pub struct DocumentSymbol {
    /// Its name.
    pub name: String,
    /// Additional text.
    pub detail: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// Its whole range.
    pub range: TextRange,
    /// The range of its name.
    pub selection: TextRange,
    /// Nested symbols.
    pub children: Vec<DocumentSymbol>,
}

/// Documents with more items show fewer symbols.
const LONG: usize = 2_000;

/// Maximum symbols of a file.
const MAX_SYMBOLS: usize = 50_000;

/// The symbols of a file, nested.
pub fn document(file: &File) -> Vec<DocumentSymbol> {
    let (model, text) = (file.model(), &*file.text);
    let mut top: Vec<DocumentSymbol> = functions(model, text);
    let documents = (0..model.documents.len()).map(|document| of_document(model, text, document));
    let documents: Vec<DocumentSymbol> = documents.flatten().collect();
    match <[DocumentSymbol; 1]>::try_from(documents) {
        Ok([only]) if only.name == "document" => top.extend(only.children),
        Ok([only]) => top.push(only),
        Err(documents) => top.extend(documents),
    }
    top.sort_by_key(|symbol| symbol.selection.start);
    top
}

fn functions(model: &Model, text: &str) -> Vec<DocumentSymbol> {
    let top = model.definitions.iter().filter(|definition| definition.scope == 0);
    let symbol = |definition: &crate::model::Definition| {
        let kind = match definition.kind {
            DefKind::Function { .. } => SymbolKind::Function,
            DefKind::Variable(_) => SymbolKind::Variable,
            _ => return None,
        };
        let block = model.blocks.iter().find(|block| {
            block.kind == BlockKind::Def
                && block.head.start <= definition.range.start
                && definition.range.end <= block.head.end
        });
        let end = block.and_then(|block| block.end).map_or(definition.range.end, |end| end.end);
        Some(DocumentSymbol {
            name: definition.name.clone(),
            detail: crate::describe::signature(definition),
            kind,
            range: TextRange::new(block.map_or(definition.range.start, |block| block.head.start), end),
            selection: definition.range,
            children: Vec::new(),
        })
    };
    let mut found: Vec<DocumentSymbol> = Vec::new();
    for symbol in top.filter_map(symbol) {
        if !found.iter().any(|other| other.name == symbol.name) {
            found.push(symbol);
        }
    }
    let _ = text;
    found
}

fn of_document(model: &Model, text: &str, document: usize) -> Option<DocumentSymbol> {
    let children = items(model, text, document);
    if children.is_empty() {
        return None;
    }
    let place = &model.documents[document];
    let start = place.separator.map_or(children[0].range.start, |separator| separator.start);
    let end = model.lines.range(text, place.end_line).end.max(children[children.len() - 1].range.end);
    let name = document_name(model, text, document);
    let selection = place.separator.unwrap_or(children[0].selection);
    Some(DocumentSymbol {
        name,
        detail: String::new(),
        kind: SymbolKind::Document,
        range: TextRange::new(start.min(children[0].range.start), end),
        selection,
        children,
    })
}

/// Example: `Deployment web`, `schema`, or just `document`.
fn document_name(model: &Model, text: &str, document: usize) -> String {
    let child = |parent: Option<usize>, key: &str| {
        model.children(document, parent).find(|item| model.items[*item].key.as_deref() == Some(key))
    };
    let scalar = |item: usize| {
        Some(crate::schema::scalar_text(model.items[item].value.of(text))).filter(|value| !value.is_empty())
    };
    if let Some(kind) = child(None, "kind").and_then(scalar) {
        let metadata = child(None, "metadata");
        let name = metadata.and_then(|metadata| child(Some(metadata), "name")).and_then(scalar);
        return name.map_or(kind.clone(), |name| format!("{kind} {name}"));
    }
    let is = |names: &[&str]| model.is_annotated(document, names);
    if model.is_schema(document) {
        "schema".to_owned()
    } else if model.is_values(document) {
        "data values".to_owned()
    } else if is(&["overlay/match"]) {
        "overlay".to_owned()
    } else {
        "document".to_owned()
    }
}

fn items(model: &Model, text: &str, document: usize) -> Vec<DocumentSymbol> {
    let first = model.items.partition_point(|item| item.document < document);
    let last = model.items.partition_point(|item| item.document <= document);
    // In reverse order, so that the children of every item are complete.
    let mut below: Vec<Vec<DocumentSymbol>> = vec![Vec::new(); (last - first).min(MAX_SYMBOLS)];
    let mut top = Vec::new();
    for index in (first..last.min(first + MAX_SYMBOLS)).rev() {
        let item = &model.items[index];
        let mut children = std::mem::take(&mut below[index - first]);
        children.reverse();
        let name_of_item = item_name(&children, item.value.of(text));
        // In a long document, scalars in arrays would add thousands of useless symbols.
        if last - first > LONG {
            children.retain(|child| {
                child.kind != SymbolKind::Scalar || !item.is_array_item && !child.name.starts_with('[')
            });
        }
        let is_array = children.first().is_some_and(|child| child.name.starts_with('['));
        let value = item.value.of(text);
        let name = match &item.key {
            Some(key) if key.is_empty() => "\"\"".to_owned(),
            Some(key) => key.clone(),
            None => name_of_item,
        };
        let symbol = DocumentSymbol {
            name,
            detail: short(value),
            kind: match (children.is_empty(), is_array) {
                (true, _) => SymbolKind::Scalar,
                (false, true) => SymbolKind::Array,
                (false, false) => SymbolKind::Map,
            },
            range: TextRange::new(item.key_range.start, model.lines.range(text, item.end_line).end.max(item.value.end)),
            selection: item.key_range,
            children,
        };
        match item.parent.filter(|parent| *parent >= first && *parent - first < below.len()) {
            Some(parent) => below[parent - first].push(symbol),
            None => top.push(symbol),
        }
    }
    top.reverse();
    top
}

/// The name of an array item, from its key `name` or its first key.
fn item_name(children: &[DocumentSymbol], value: &str) -> String {
    let named = children.iter().find(|child| child.name == "name").or(children.first());
    let text = named.map_or(value, |child| if child.detail.is_empty() { &child.name } else { &child.detail });
    format!("[{}]", short(text))
}

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() > 40 { line.chars().take(39).chain(['…']).collect() } else { line.to_owned() }
}

/// A symbol of the workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceSymbol {
    /// Its name.
    pub name: String,
    /// The construct that contains it.
    pub container: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// Its place.
    pub place: FileRange,
}

/// Maximum results of a search.
const MAX_FOUND: usize = 500;

/// Functions, data values and documents whose names contain a text.
pub fn workspace(project: &ProjectSnapshot, query: &str) -> Vec<WorkspaceSymbol> {
    let query = query.to_lowercase();
    let fits = |name: &str| is_subsequence(&query, &name.to_lowercase());
    let mut found = Vec::new();
    for (_, source) in project.inputs() {
        let model = source.file.model();
        let exported = model.definitions.iter().filter(|definition| definition.scope == 0 && fits(&definition.name));
        for definition in exported {
            let kind = match definition.kind {
                DefKind::Function { .. } => SymbolKind::Function,
                DefKind::Variable(_) => SymbolKind::Variable,
                _ => continue,
            };
            let place = FileRange { path: source.file.path.clone(), range: definition.range };
            found.push(WorkspaceSymbol {
                name: definition.name.clone(),
                container: source.logical.clone(),
                kind,
                place,
            });
        }
        if source.file.kind() != ModelKind::Yaml {
            continue;
        }
        for document in 0..model.documents.len() {
            let name = document_name(model, &source.file.text, document);
            let first = model.children(document, None).next();
            if let Some(first) = first.filter(|_| name.contains(' ') && name != "data values" && fits(&name)) {
                let place = FileRange { path: source.file.path.clone(), range: model.items[first].key_range };
                let kind = SymbolKind::Document;
                found.push(WorkspaceSymbol { name, container: source.logical.clone(), kind, place });
            }
        }
    }
    let declared =
        project.all_schemas().flat_map(|schema| schema.nodes.iter().enumerate().map(move |node| (schema, node)));
    for (schema, (index, node)) in declared.filter(|(_, (_, node))| !node.key.is_empty()) {
        let path = schema.path(index);
        if fits(&path)
            && let Some(place) = node.places.first()
        {
            let kind = if node.children.is_empty() { SymbolKind::Scalar } else { SymbolKind::Map };
            let container = file::below(&place.path, &project.root).unwrap_or(&place.path).to_owned();
            found.push(WorkspaceSymbol { name: path, container, kind, place: place.clone() });
        }
    }
    // Libraries come in no order.
    found.sort_by(|a, b| {
        let rank = |symbol: &WorkspaceSymbol| (!symbol.name.to_lowercase().contains(&query), symbol.name.len());
        (rank(a), &a.name, &a.place).cmp(&(rank(b), &b.name, &b.place))
    });
    found.truncate(MAX_FOUND);
    found
}

fn is_subsequence(query: &str, name: &str) -> bool {
    let mut chars = name.chars();
    query.chars().filter(|c| !c.is_whitespace()).all(|wanted| chars.any(|c| c == wanted))
}
