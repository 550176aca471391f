//! Definitions, references and renaming across the files of a project.
//!
//! All three begin with the [`Symbol`] at the cursor. References are the ranges in all files that
//! have the same symbol; renaming replaces these, and fails if the new name is taken.

use std::collections::BTreeSet;

use crate::TextRange;
use crate::context::{Callee, Cursor, open_call};
use crate::dictionaries;
use crate::file::{self, File};
use crate::findings::TextEdit;
use crate::model::{DefKind, Model, TokenKind, is_identifier, string_content};
use crate::project::{FileRange, Meaning, ProjectSnapshot};

/// Something with a name in several places.
#[derive(Clone, PartialEq, Debug)]
pub enum Symbol {
    /// A data value of a library, by its path.
    Value(String, Vec<Option<String>>),
    /// A definition: file and index.
    Definition(usize, usize),
    /// A symbol of another file that is loaded under another name.
    Alias(usize, usize),
    /// A module, by its name.
    Module(String),
    /// A function of a module.
    Member(String, String),
    /// A loaded file, by its index.
    File(usize),
    /// A library, by its directory.
    Library(String),
    /// An anchor of a file.
    Anchor(String),
}

/// The symbol at the cursor, and the range of its name.
pub fn symbol(at: Cursor<'_>) -> Option<(Symbol, TextRange)> {
    let model = at.model();
    if file::is_project_file(&at.file.path) {
        return set_key(at);
    }
    if at.is_template() && at.region().is_some() {
        return code_symbol(at);
    }
    for (range, _) in &model.anchors {
        if range.touches(at.offset) {
            let name = range.of(at.text()).trim_start_matches(['&', '*']);
            return Some((Symbol::Anchor(name.to_owned()), TextRange::new(range.start + 1, range.end)));
        }
    }
    let item = model.key_at(at.offset)?;
    let document = model.items[item].document;
    let gives_values = at.is_values_file() || model.is_schema(document) || model.is_values(document);
    if !gives_values {
        return None;
    }
    let path: Vec<Option<String>> = model.path(item).into_iter().map(|step| step.map(str::to_owned)).collect();
    let library = at.library(document);
    at.project.schema_of_library(&library).find(&path)?;
    Some((Symbol::Value(library, path), key_name(model, at.text(), item)))
}

/// A key without its quotes.
fn key_name(model: &Model, text: &str, item: usize) -> TextRange {
    let range = model.items[item].key_range;
    let is_quoted = range.of(text).starts_with(['"', '\'']) && range.end - range.start > 1;
    if is_quoted { TextRange::new(range.start + 1, range.end - 1) } else { range }
}

/// A key below `set:` in the project file.
fn set_key(at: Cursor<'_>) -> Option<(Symbol, TextRange)> {
    let model = at.model();
    let item = model.key_at(at.offset)?;
    let names = set_names(model, at.text(), item);
    let (path, range) = names.into_iter().find(|(_, range)| range.touches(at.offset))?;
    at.project.schema().find(&path)?;
    Some((Symbol::Value(String::new(), path), range))
}

/// A data value and the range of its name.
type NamedValue = (Vec<Option<String>>, TextRange);

/// The data value that a key below `set:` of the project file gives.
pub(crate) fn set_path(model: &Model, item: usize) -> Option<Vec<Option<String>>> {
    let path = model.path(item);
    let ([Some("set"), below @ ..] | [Some("targets"), Some(_), Some("set"), below @ ..]) = &path[..] else {
        return None;
    };
    let keys: Option<Vec<&str>> = below.iter().copied().collect();
    let steps = keys?.into_iter().flat_map(|key| key.split('.')).map(|step| Some(step.to_owned()));
    Some(steps.collect::<Vec<_>>()).filter(|steps| !steps.is_empty())
}

/// The data values that a key below `set:` names: in `db.host`, both parts.
fn set_names(model: &Model, text: &str, item: usize) -> Vec<NamedValue> {
    let path = model.path(item);
    let below = match &path[..] {
        [Some("set"), rest @ ..] => rest,
        [Some("targets"), Some(_), Some("set"), rest @ ..] => rest,
        _ => return Vec::new(),
    };
    let Some((own, above)) = below.split_last() else { return Vec::new() };
    let Some(own) = own else { return Vec::new() };
    let mut value: Vec<Option<String>> = Vec::new();
    for step in above {
        let Some(step) = step else { return Vec::new() };
        value.extend(step.split('.').map(|part| Some(part.to_owned())));
    }
    let mut found = Vec::new();
    let mut start = key_name(model, text, item).start;
    for part in own.split('.') {
        value.push(Some(part.to_owned()));
        found.push((value.clone(), TextRange::new(start, start + part.len())));
        start += part.len() + 1;
    }
    found
}

fn code_symbol(at: Cursor<'_>) -> Option<(Symbol, TextRange)> {
    let model = at.model();
    let file = at.index?;
    if let Some(load) = model.loads.iter().find(|load| load.path_range.touches(at.offset)) {
        if let Some(module) = load.path.strip_prefix("@ytt:") {
            return Some((Symbol::Module(module.to_owned()), load.path_range));
        }
        return Some((Symbol::File(at.project.loaded(file, &load.path)?), load.path_range));
    }
    // The quoted symbol in a `load`.
    for definition in &model.definitions {
        let DefKind::Loaded { load, symbol, symbol_range } = &definition.kind else { continue };
        if symbol_range.touches(at.offset) {
            let path = &model.loads[*load].path;
            if let Some(module) = path.strip_prefix("@ytt:") {
                return Some((Symbol::Module(module.to_owned()), *symbol_range));
            }
            let other = at.project.loaded(file, path)?;
            let target = at.project.exported(other, symbol)?;
            return Some((origin(at.project, other, target), *symbol_range));
        }
    }
    if let Some((chain, Some(part))) = at.chain() {
        let range = chain.parts[part].range;
        return match at.project.meaning(file, chain, part + 1)? {
            Meaning::DataValue(path) if !path.is_empty() => {
                let library = at.project.library(&at.project.files[file].logical);
                at.project.schema_for(&at.file.path).find(&path)?;
                Some((Symbol::Value(library, path), range))
            }
            Meaning::ModuleMember(module, name) => Some((Symbol::Member(module, name), range)),
            _ => None,
        };
    }
    if let Some(definition) = model.definitions.iter().position(|definition| definition.range.touches(at.offset)) {
        return Some((own_symbol(at.project, file, definition), model.definitions[definition].range));
    }
    let reference = model.references.iter().find(|reference| reference.range.touches(at.offset));
    if let Some(reference) = reference {
        return Some((own_symbol(at.project, file, reference.definition?), reference.range));
    }
    named_argument(at).or_else(|| library_name(at)).or_else(|| dictionaries::key_at(at))
}

/// The parameter that a named argument of a call refers to.
fn named_argument(at: Cursor<'_>) -> Option<(Symbol, TextRange)> {
    let model = at.model();
    let (index, token) = at.token().filter(|(_, token)| token.kind == TokenKind::Name)?;
    if model.tokens.get(index + 1)?.range.of(at.text()) != "=" {
        return None;
    }
    let call = open_call(model, at.text(), token.range.start)?;
    let Callee::Function(file, function) = at.callee(&call)? else { return None };
    let source = at.project.files[file].file.model();
    let parameter = source.definitions.iter().position(|definition| {
        definition.kind == DefKind::Parameter
            && definition.name == token.range.of(at.text())
            && function_of(source, definition) == Some(function)
    })?;
    Some((Symbol::Definition(file, parameter), token.range))
}

/// The function of a parameter, whose scope begins after the function's name.
fn function_of(model: &Model, parameter: &crate::model::Definition) -> Option<usize> {
    let start = model.scopes[parameter.scope].range.start;
    model
        .definitions
        .iter()
        .position(|definition| matches!(definition.kind, DefKind::Function { .. }) && definition.range.end == start)
}

/// The places where calls of a function name one of its arguments.
fn argument_places(project: &ProjectSnapshot, file: usize, function: usize, name: &str) -> Vec<FileRange> {
    let mut found = Vec::new();
    for (place, _) in definition_occurrences(project, file, function) {
        let Some(source) = project.file(&place.path) else { continue };
        let (model, text) = (source.model(), &*source.text);
        let word = |index: usize| model.tokens.get(index).map_or("", |token| token.range.of(text));
        let callee = model.tokens.partition_point(|token| token.range.start < place.range.start);
        let is_called = word(callee + 1) == "(" && !(callee > 0 && word(callee - 1) == "def");
        if !is_called {
            continue;
        }
        for argument in model.keyword_names(text, callee + 1) {
            if word(argument) == name {
                found.push(FileRange { path: place.path.clone(), range: model.tokens[argument].range });
            }
        }
    }
    found
}

/// The name of a library in `library.get("…")`.
fn library_name(at: Cursor<'_>) -> Option<(Symbol, TextRange)> {
    let model = at.model();
    let (_, token) = at.token().filter(|(_, token)| token.kind == TokenKind::Str)?;
    let name = string_content(token.range.of(at.text()));
    let is_ref = model.annotation_at(at.offset).is_some_and(|index| model.annotations[index].name == "library/ref");
    let name = match is_ref {
        true => name.strip_prefix('@')?.split('~').next()?,
        false => {
            let call = open_call(model, at.text(), at.offset)?;
            let is_get = at.callee(&call)? == Callee::Member("library".to_owned(), "get".to_owned());
            is_get.then_some(name)?
        }
    };
    let directory = at.project.library_directory(at.index?, name)?;
    Some((Symbol::Library(directory), token.range))
}

/// The target of a definition in a file: itself, an alias, or something in another file.
fn own_symbol(project: &ProjectSnapshot, file: usize, definition: usize) -> Symbol {
    let model = project.files[file].file.model();
    let found = &model.definitions[definition];
    if let DefKind::Loaded { load, symbol, .. } = &found.kind {
        let path = &model.loads[*load].path;
        if let Some(module) = path.strip_prefix("@ytt:") {
            return if found.name == *symbol {
                Symbol::Module(module.to_owned())
            } else {
                Symbol::Alias(file, definition)
            };
        }
        if found.name != *symbol {
            return Symbol::Alias(file, definition);
        }
        if let Some(other) = project.loaded(file, path)
            && let Some(target) = project.exported(other, symbol)
        {
            return origin(project, other, target);
        }
    }
    origin(project, file, definition)
}

/// The first definition of the same name in the same scope, following loads.
fn origin(project: &ProjectSnapshot, file: usize, definition: usize) -> Symbol {
    let (mut file, mut definition) = (file, definition);
    for _ in 0..16 {
        let model = project.files[file].file.model();
        let found = &model.definitions[definition];
        let DefKind::Loaded { load, symbol, .. } = &found.kind else { break };
        let Some(other) = project.loaded(file, &model.loads[*load].path) else { break };
        let Some(target) = project.exported(other, symbol) else { break };
        (file, definition) = (other, target);
    }
    let model = project.files[file].file.model();
    let found = &model.definitions[definition];
    let is_twin = |other: &crate::model::Definition| other.scope == found.scope && other.name == found.name;
    Symbol::Definition(file, model.definitions.iter().position(is_twin).unwrap_or(definition))
}

/// The definitions of the symbol at the cursor.
pub fn definition(at: Cursor<'_>) -> Vec<FileRange> {
    if let Some(places) = target_file(at) {
        return places;
    }
    let project = at.project;
    if let Some((field, _)) = at.field() {
        let target = field.target.map(|(file, definition)| {
            let source = &project.files[file].file;
            FileRange { path: source.path.clone(), range: source.model().definitions[definition].range }
        });
        return std::iter::once(field.place).chain(target).collect();
    }
    let read = crate::links::links(project, at.file).into_iter().find(|(range, _)| range.touches(at.offset));
    let Some((symbol, _)) = symbol(at) else {
        let place = read.map(|(_, path)| FileRange { path, range: TextRange::default() });
        return place.into_iter().collect();
    };
    let of_definition = |file: usize, definition: usize| {
        let source = &project.files[file].file;
        vec![FileRange { path: source.path.clone(), range: source.model().definitions[definition].range }]
    };
    match symbol {
        Symbol::Value(library, path) => {
            let schema = project.schema_of_library(&library);
            schema.find(&path).map(|node| schema.nodes[node].places.clone()).unwrap_or_default()
        }
        Symbol::Definition(file, definition) => of_definition(file, definition),
        Symbol::Alias(file, definition) => {
            let model = project.files[file].file.model();
            if let DefKind::Loaded { load, symbol, .. } = &model.definitions[definition].kind
                && let Some(other) = project.loaded(file, &model.loads[*load].path)
                && let Some(target) = project.exported(other, symbol)
                && let Symbol::Definition(file, definition) = origin(project, other, target)
            {
                return of_definition(file, definition);
            }
            of_definition(file, definition)
        }
        Symbol::File(file) => vec![start_of(&project.files[file].file)],
        Symbol::Library(directory) => {
            let prefix = format!("{directory}/");
            let mut inside: Vec<_> = project.files.iter().filter(|file| file.logical.starts_with(&prefix)).collect();
            inside.sort_by_key(|file| (!file.file.text.contains("#@data/values"), file.logical.matches('/').count()));
            inside.first().map(|file| start_of(&file.file)).into_iter().collect()
        }
        Symbol::Anchor(name) => {
            anchors(at, &name).into_iter().filter(|(_, is_anchor)| *is_anchor).map(|(p, _)| p).collect()
        }
        Symbol::Module(_) | Symbol::Member(..) => Vec::new(),
    }
}

/// Files and values files in the project file.
fn target_file(at: Cursor<'_>) -> Option<Vec<FileRange>> {
    let model = at.model();
    if !file::is_project_file(&at.file.path) {
        return None;
    }
    let item = model.value_at(at.offset)?;
    let path = file::join(&at.project.root, &crate::schema::scalar_text(model.items[item].value.of(at.text())));
    let file = at.project.file(&path)?;
    Some(vec![start_of(file)])
}

fn start_of(file: &File) -> FileRange {
    FileRange { path: file.path.clone(), range: TextRange::default() }
}

fn anchors(at: Cursor<'_>, name: &str) -> Vec<(FileRange, bool)> {
    let own = at.model().anchors.iter().filter(|(range, _)| range.of(at.text()).trim_start_matches(['&', '*']) == name);
    let place =
        |range: &TextRange| FileRange { path: at.file.path.clone(), range: TextRange::new(range.start + 1, range.end) };
    own.map(|(range, is_anchor)| (place(range), *is_anchor)).collect()
}

/// All references to the symbol at the cursor.
pub fn references(at: Cursor<'_>, with_declaration: bool) -> Vec<FileRange> {
    let Some((symbol, _)) = symbol(at) else { return Vec::new() };
    let found = occurrences(at, &symbol);
    let wanted = found.into_iter().filter(|(_, is_declaration)| with_declaration || !is_declaration);
    wanted.map(|(place, _)| place).collect()
}

/// The places of a symbol, each with whether it is a declaration.
fn occurrences(at: Cursor<'_>, symbol: &Symbol) -> BTreeSet<(FileRange, bool)> {
    match symbol {
        Symbol::Value(library, path) => value_occurrences(at.project, library, path),
        Symbol::Definition(file, definition) => definition_occurrences(at.project, *file, *definition),
        Symbol::Alias(file, definition) => {
            let source = &at.project.files[*file].file;
            let place = |range| FileRange { path: source.path.clone(), range };
            let model = source.model();
            let uses = model.references.iter().filter(|reference| reference.definition == Some(*definition));
            let mut found: BTreeSet<(FileRange, bool)> =
                uses.map(|reference| (place(reference.range), false)).collect();
            found.insert((place(model.definitions[*definition].range), true));
            found
        }
        Symbol::Anchor(name) => anchors(at, name).into_iter().collect(),
        Symbol::Module(name) => module_occurrences(at, name),
        Symbol::Member(module, name) => member_occurrences(at.project, module, name),
        Symbol::File(file) => {
            let mut found = BTreeSet::new();
            for (index, source) in at.project.inputs() {
                for load in &source.file.model().loads {
                    if at.project.loaded(index, &load.path) == Some(*file) {
                        found.insert((FileRange { path: source.file.path.clone(), range: load.path_range }, false));
                    }
                }
            }
            found
        }
        Symbol::Library(directory) => library_occurrences(at.project, directory),
    }
}

/// The places that name a library.
fn library_occurrences(project: &ProjectSnapshot, directory: &str) -> BTreeSet<(FileRange, bool)> {
    let mut found = BTreeSet::new();
    let name = directory.rsplit_once("_ytt_lib/").map_or(directory, |(_, name)| name);
    for (_, source) in project.inputs().filter(|(_, source)| source.file.text.contains(name)) {
        let file = &source.file;
        for token in file.model().tokens.iter().filter(|token| token.kind == TokenKind::Str) {
            let at = Cursor::new(project, file, token.range.start + 1);
            let is_it = token.range.of(&file.text).contains(name)
                && library_name(at).is_some_and(|(symbol, _)| symbol == Symbol::Library(directory.to_owned()));
            if is_it {
                found.insert((FileRange { path: file.path.clone(), range: token.range }, false));
            }
        }
    }
    found
}

fn value_occurrences(project: &ProjectSnapshot, library: &str, path: &[Option<String>]) -> BTreeSet<(FileRange, bool)> {
    let mut found = BTreeSet::new();
    let mut keys_of = |file: &File, is_it: &dyn Fn(&Model, usize) -> bool, is_declaration: bool| {
        let model = file.model();
        for (item, written) in model.items.iter().enumerate() {
            if written.key.as_deref() == path.last().and_then(Option::as_deref)
                && is_it(model, written.document)
                && same_path(&model.path(item), path)
            {
                let place = FileRange { path: file.path.clone(), range: key_name(model, &file.text, item) };
                found.insert((place, is_declaration));
            }
        }
    };
    for (index, source) in project.inputs() {
        if source.file.kind() == crate::model::ModelKind::Yaml {
            let is_own = |document: usize| project.library_of_document(index, document) == library;
            keys_of(&source.file, &|model, document| model.is_schema(document) && is_own(document), true);
            keys_of(&source.file, &|model, document| model.is_values(document) && is_own(document), false);
        }
    }
    if library.is_empty() {
        for source in project.values_files() {
            keys_of(&source.file, &|_, _| true, false);
        }
    }
    for (index, source) in project.inputs() {
        for key in dictionaries::given_keys(project, index) {
            if key.library == library && key.path == path {
                found.insert((FileRange { path: source.file.path.clone(), range: key.range }, false));
            }
        }
    }
    for (index, source) in project.inputs() {
        if project.library(&source.logical) != library {
            continue;
        }
        for chain in &source.file.model().chains {
            let Some(last) = path.last().and_then(Option::as_deref) else { continue };
            for (part, written) in chain.parts.iter().enumerate() {
                if written.name.as_deref() == Some(last)
                    && project.meaning(index, chain, part + 1) == Some(Meaning::DataValue(path.to_vec()))
                {
                    found.insert((FileRange { path: source.file.path.clone(), range: written.range }, false));
                }
            }
        }
    }
    if let Some(file) = project.project_file.as_ref().filter(|_| library.is_empty()) {
        let model = file.model();
        let names = (0..model.items.len()).flat_map(|item| set_names(model, &file.text, item));
        for (_, range) in names.filter(|(value, _)| value == path) {
            found.insert((FileRange { path: file.path.clone(), range }, false));
        }
    }
    found
}

fn same_path(written: &[Option<&str>], path: &[Option<String>]) -> bool {
    written.len() == path.len() && written.iter().zip(path).all(|(a, b)| *a == b.as_deref())
}

fn definition_occurrences(project: &ProjectSnapshot, file: usize, definition: usize) -> BTreeSet<(FileRange, bool)> {
    let mut found = BTreeSet::new();
    let source = &project.files[file].file;
    let model = source.model();
    let Some(origin_of) = model.definitions.get(definition) else { return found };
    let place = |file: &File, range| FileRange { path: file.path.clone(), range };
    let is_twin = |other: &crate::model::Definition| other.scope == origin_of.scope && other.name == origin_of.name;
    for twin in model.definitions.iter().filter(|other| is_twin(other)) {
        found.insert((place(source, twin.range), true));
    }
    let uses = |reference: &&crate::model::Reference| {
        reference.definition.is_some_and(|index| is_twin(&model.definitions[index]))
    };
    for reference in model.references.iter().filter(uses) {
        found.insert((place(source, reference.range), false));
    }
    if origin_of.scope != 0 {
        if origin_of.kind == DefKind::Parameter
            && let Some(function) = function_of(model, origin_of)
        {
            let places = argument_places(project, file, function, &origin_of.name);
            found.extend(places.into_iter().map(|place| (place, false)));
        }
        return found;
    }
    for (other, loader) in project.inputs() {
        let model = loader.file.model();
        for (index, definition) in model.definitions.iter().enumerate() {
            let DefKind::Loaded { load, symbol, symbol_range } = &definition.kind else { continue };
            if *symbol != origin_of.name
                || project.loaded(other, &model.loads[*load].path).is_none_or(|loaded| {
                    let exported = project.exported(loaded, symbol);
                    exported
                        .is_none_or(|exported| !leads_to(project, loaded, exported, file, definition_key(origin_of)))
                })
            {
                continue;
            }
            found.insert((place(&loader.file, *symbol_range), false));
            if definition.name == *symbol {
                let uses = model.references.iter().filter(|reference| reference.definition == Some(index));
                found.extend(uses.map(|reference| (place(&loader.file, reference.range), false)));
            }
        }
    }
    found
}

fn definition_key(definition: &crate::model::Definition) -> &str {
    &definition.name
}

/// Whether a loaded name comes from a file, following further loads.
fn leads_to(project: &ProjectSnapshot, file: usize, definition: usize, target: usize, name: &str) -> bool {
    match origin(project, file, definition) {
        Symbol::Definition(found, index) => {
            found == target && project.files[found].file.model().definitions[index].name == name
        }
        _ => false,
    }
}

/// The uses of a module in the file.
fn module_occurrences(at: Cursor<'_>, module: &str) -> BTreeSet<(FileRange, bool)> {
    let model = at.model();
    let place = |range| FileRange { path: at.file.path.clone(), range };
    let mut found = BTreeSet::new();
    for (index, definition) in model.definitions.iter().enumerate() {
        let DefKind::Loaded { load, .. } = &definition.kind else { continue };
        if model.loads[*load].path.strip_prefix("@ytt:") == Some(module) {
            found.insert((place(definition.range), true));
            let uses = model.references.iter().filter(|reference| reference.definition == Some(index));
            found.extend(uses.map(|reference| (place(reference.range), false)));
        }
    }
    found
}

fn member_occurrences(project: &ProjectSnapshot, module: &str, name: &str) -> BTreeSet<(FileRange, bool)> {
    let mut found = BTreeSet::new();
    for (index, source) in project.inputs() {
        for chain in &source.file.model().chains {
            let Some(part) = chain.parts.first().filter(|part| part.name.as_deref() == Some(name)) else { continue };
            let meaning = project.meaning(index, chain, 1);
            let is_it = meaning == Some(Meaning::ModuleMember(module.to_owned(), name.to_owned()))
                || module == "data" && name == "values" && meaning == Some(Meaning::DataValue(Vec::new()));
            if is_it {
                found.insert((FileRange { path: source.file.path.clone(), range: part.range }, false));
            }
        }
    }
    found
}

/// The range of the name at the cursor, if it can be renamed.
///
/// # Errors
/// If there is nothing to rename; the text is for users.
pub fn prepare_rename(at: Cursor<'_>) -> Result<TextRange, String> {
    let (symbol, range) = symbol(at).ok_or("there is no name here that can be changed")?;
    match symbol {
        Symbol::Value(..) | Symbol::Definition(..) | Symbol::Alias(..) | Symbol::Anchor(_) => Ok(range),
        Symbol::Module(name) => Err(format!("{name} is a module")),
        Symbol::Member(module, name) => Err(format!("{module}.{name} is part of a module")),
        Symbol::File(_) | Symbol::Library(_) => Err("files and libraries are not renamed here".to_owned()),
    }
}

/// The edits that rename the symbol at the cursor.
///
/// # Errors
/// If there is nothing to rename, or the name is not possible; the text is for users.
pub fn rename(at: Cursor<'_>, name: &str) -> Result<Vec<TextEdit>, String> {
    prepare_rename(at)?;
    let (symbol, _) = symbol(at).ok_or("there is no name here")?;
    let is_anchor = matches!(symbol, Symbol::Anchor(_));
    let is_anchor_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if !(is_identifier(name) || is_anchor && is_anchor_name) {
        return Err(format!("{name:?} is not a name"));
    }
    match &symbol {
        Symbol::Value(library, path) => {
            let schema = at.project.schema_of_library(library);
            let (last, above) = path.split_last().ok_or("there is no name here")?;
            let owner = if above.is_empty() { None } else { schema.find(above) };
            let is_taken = schema.declares(owner, name);
            if is_taken && last.as_deref() != Some(name) {
                return Err(format!("the schema declares {name} already"));
            }
        }
        Symbol::Definition(file, definition) => {
            let model = at.project.files[*file].file.model();
            let own = &model.definitions[*definition];
            let is_taken = model.definitions.iter().any(|other| other.scope == own.scope && other.name == name);
            if is_taken && own.name != name {
                return Err(format!("{name} is defined already"));
            }
        }
        _ => {}
    }
    let places = occurrences(at, &symbol);
    let mut edits: Vec<TextEdit> =
        places.iter().map(|(place, _)| TextEdit::new(&place.path, place.range, name)).collect();
    edits.dedup();
    Ok(edits)
}

/// The places of the symbol at the cursor in the same file.
pub fn highlights(at: Cursor<'_>) -> Vec<TextRange> {
    let own = references(at, true).into_iter().filter(|place| place.path == at.file.path);
    own.map(|place| place.range).collect()
}
