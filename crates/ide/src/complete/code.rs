//! Completion in code: attributes, names, arguments, annotations, strings of `load`.
//!
//! `complete` asks one question after the other, the most specific first: is the cursor in a
//! string, after a dot, in a call, at the start of a line? The rest of the file has a function for
//! each answer. Code is usually incomplete, so all work on tokens.

use super::{Completion, CompletionKind};
use crate::context::{Callee, Cursor, Knowledge, open_call};
use crate::model::{DefKind, ModelKind, RegionKind, TokenKind, string_content};
use crate::project::{FileRole, Meaning};
use crate::{TextRange, describe, infer, reference};

/// The completions at a place in code; `None` if the cursor is not in code.
pub(super) fn complete(at: Cursor<'_>, known: Knowledge<'_>) -> Option<Vec<Completion>> {
    if let Some(found) = annotation_name(at) {
        return Some(found);
    }
    let region = at.region()?;
    if let Some(found) = in_string(at) {
        return Some(found);
    }
    if let Some(found) = attribute(at, known) {
        return Some(found);
    }
    let word = at.word();
    let token = at.model().tokens.partition_point(|token| token.range.start < word.start);
    let mut found = library_values(at, token, word, Quotes::Missing).unwrap_or_default();
    if let RegionKind::Arguments { annotation } = region.kind {
        found.extend(annotation_arguments(at, annotation));
    }
    found.extend(call_arguments(at));
    // Don't offer arguments that are already present: `min=1, ma…`.
    let given = given_arguments(at, region.kind);
    found.extend(names(at).into_iter().filter(|item| !given.contains(&item.label)));
    let is_statement = region.kind.has_statements() && is_first_word(at);
    if is_statement {
        found.extend(snippets(at, region.kind));
    }
    Some(found)
}

/// The names of annotations after `#@`.
fn annotation_name(at: Cursor<'_>) -> Option<Vec<Completion>> {
    let model = at.model();
    let annotation = model.annotations.iter().find(|annotation| annotation.name_range.touches(at.offset))?;
    let range = annotation.name_range;
    let typed = &at.text()[range.start..at.offset];
    let namespace = typed.split_once('/').map(|(namespace, _)| namespace);
    let entries = reference::annotations().iter().filter(|entry| entry.on != "nothing");
    let fits =
        entries.filter(|entry| namespace.is_none_or(|namespace| entry.name.starts_with(&format!("{namespace}/"))));
    let items = |entry: &'static reference::ReferenceEntry| {
        let names = std::iter::once((&entry.name, 5)).chain(entry.aliases.iter().map(|alias| (alias, 6)));
        names.map(move |(name, rank)| {
            let item = Completion::new(name, CompletionKind::Annotation, range).rank(rank);
            item.detail(format!("on {}", entry.on)).documentation(entry.markdown("yaml", "#@"))
        })
    };
    Some(fits.flat_map(items).collect())
}

fn annotation_arguments(at: Cursor<'_>, annotation: usize) -> Vec<Completion> {
    let model = at.model();
    let annotation = &model.annotations[annotation];
    let range = at.word();
    // After `name=` a value is expected.
    if at.text()[..range.start].trim_end().ends_with('=') || open_call(model, at.text(), at.offset).is_some() {
        return Vec::new();
    }
    let given = crate::schema::arguments(model, at.text(), annotation.arguments);
    let is_given = |name: &str| {
        given.iter().any(|argument| argument.name.as_deref() == Some(name) && !argument.range.touches(at.offset))
    };
    let mut found = Vec::new();
    if let Some(entry) = reference::annotation(&annotation.name) {
        let texts = |name: &String| {
            entry.arguments.iter().find(|(argument, _)| argument == name).map_or("", |(_, about)| about.as_str())
        };
        let is_positional = |name: &str| !entry.signature.contains(&format!("{name}="));
        for name in entry.keyword_names() {
            if !is_given(&name) && !is_positional(&name) && name != "rule" {
                let item = Completion::new(&name, CompletionKind::Argument, range).text(format!("{name}="));
                found.push(item.documentation(texts(&name)).detail("argument").rank(1));
            }
        }
    }
    let takes_rules = annotation.name.contains("valid");
    if takes_rules {
        for rule in reference::rules().iter().filter(|rule| !is_given(&rule.name)) {
            let item = Completion::new(&rule.name, CompletionKind::Argument, range);
            let value = rule.signature.split_once('=').map_or("", |(_, value)| value);
            let text = if value == "True" { format!("{}=True", rule.name) } else { format!("{}=", rule.name) };
            found.push(item.text(text).detail(&rule.signature).documentation(rule.markdown("python", "")).rank(1));
        }
    }
    found
}

/// The names of an annotation's arguments that are already present.
fn given_arguments(at: Cursor<'_>, kind: RegionKind) -> Vec<String> {
    let RegionKind::Arguments { annotation } = kind else { return Vec::new() };
    let model = at.model();
    let given = crate::schema::arguments(model, at.text(), model.annotations[annotation].arguments);
    let others = given.into_iter().filter(|argument| !argument.range.touches(at.offset));
    others.filter_map(|argument| argument.name).collect()
}

/// Completes strings that refer to something: modules and files in `load`, libraries, formats,
/// keys.
fn in_string(at: Cursor<'_>) -> Option<Vec<Completion>> {
    let model = at.model();
    let inside = model.tokens.partition_point(|token| token.range.start < at.offset).checked_sub(1)?;
    let is_inside = |token: &crate::model::Token| {
        let text = token.range.of(at.text());
        let is_closed = text.len() > 1 && text.ends_with(['"', '\'']);
        token.kind == TokenKind::Str && at.offset <= token.range.end - usize::from(is_closed)
    };
    if !is_inside(&model.tokens[inside]) {
        return None;
    }
    let token = model.tokens[inside];
    let written = token.range.of(at.text());
    let content = string_content(written);
    let start = token.range.start + written.find(['"', '\'']).map_or(0, |quote| quote + 1);
    let range = TextRange::new(start, start + content.len());
    let before = |back: usize| {
        inside.checked_sub(back).and_then(|index| model.tokens.get(index)).map_or("", |token| token.range.of(at.text()))
    };
    if let Some(load) = model.loads.iter().find(|load| load.range.touches(at.offset)) {
        if load.path_range.touches(at.offset) {
            return Some(load_paths(at, range));
        }
        return Some(load_symbols(at, &load.path, range));
    }
    if before(1) == "=" && before(2) == "format" {
        return Some(
            reference::FORMATS.iter().map(|name| Completion::new(*name, CompletionKind::Value, range)).collect(),
        );
    }
    if let Some(call) = open_call(model, at.text(), at.offset)
        && let Some(Callee::Member(module, function)) = at.callee(&call)
    {
        match (module.as_str(), function.as_str()) {
            ("library", "get") => return Some(libraries(at, range)),
            ("data", "read") => return Some(readable_files(at, range)),
            _ => {}
        }
    }
    let region = at.region()?;
    if let RegionKind::Arguments { annotation } = region.kind
        && model.annotations[annotation].name == "library/ref"
    {
        let mut found = libraries(at, range);
        for item in &mut found {
            item.label.insert(0, '@');
            item.text.insert(0, '@');
        }
        return Some(found);
    }
    // `data.values["…"]` and `hasattr(data.values, "…")`.
    if let Some((chain, Some(part))) = at.chain()
        && let Some(Meaning::DataValue(path)) = at.project.meaning(at.index?, chain, part)
    {
        return Some(data_values(at, &path, range, Knowledge::default()));
    }
    if let Some(found) = library_values(at, inside, range, Quotes::Given) {
        return Some(found);
    }
    if matches!(before(1), "==" | "!=") {
        return Some(compared_values(at, model.tokens[inside - 2].range, range).unwrap_or_default());
    }
    Some(Vec::new())
}

/// Whether the cursor is in the quotes of a key already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Given,
    Missing,
}

/// The data values of a library in a dictionary that it gets: `lib.with_data_values({"…`. The key
/// is at a token, or will be, and `range` is its text.
fn library_values(at: Cursor<'_>, token: usize, range: TextRange, quotes: Quotes) -> Option<Vec<Completion>> {
    let model = at.model();
    let Dictionary { callee, path, given } = dictionary(at, token)?;
    let dot = callee.checked_sub(1).filter(|_| model.tokens[callee].range.of(at.text()) == "with_data_values")?;
    let name = infer::library_name(at, model.tokens[dot].range.start)?;
    let schema = at.project.schema_of_library(&at.project.library_directory(at.index?, name)?);
    let owner = if path.is_empty() { None } else { Some(schema.find(&path)?) };
    let open = schema.keys(owner).iter().filter(|node| !given.contains(&schema.nodes[**node].key.as_str()));
    let item = |node: &usize| {
        let declared = &schema.nodes[*node];
        let item = Completion::new(&declared.key, CompletionKind::Field, range).rank(1);
        let item = match quotes {
            Quotes::Given => item,
            Quotes::Missing => item.text(format!("\"{}\": ", declared.key)),
        };
        let text = describe::value(&schema, *node, Knowledge::default());
        let item = item.detail(describe::short(&schema, *node)).documentation(text);
        Completion { is_deprecated: declared.is_retired, ..item }
    };
    Some(open.map(item).collect())
}

/// The most tokens that are read to find the beginning of a dictionary.
const MAX_DICTIONARY: usize = 4096;

/// A dictionary that is the argument of a call, seen from a place where a key can be written.
struct Dictionary<'a> {
    /// The last token of the callee.
    callee: usize,
    /// The keys of the dictionaries around this one, the outermost first.
    path: Vec<Option<&'a str>>,
    /// The keys before the place.
    given: Vec<&'a str>,
}

/// The dictionary that a key at a token would belong to.
fn dictionary(at: Cursor<'_>, end: usize) -> Option<Dictionary<'_>> {
    let (model, text) = (at.model(), at.text());
    let word = |index: usize| model.tokens.get(index).map_or("", |token| token.range.of(text));
    let key = |index: usize| {
        let token = model.tokens.get(index).filter(|token| token.kind == TokenKind::Str)?;
        Some(string_content(token.range.of(text)))
    };
    if !matches!(word(end.checked_sub(1)?), "{" | ",") {
        return None;
    }
    let (mut path, mut given) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    for index in (0..end).rev().take(MAX_DICTIONARY) {
        match word(index) {
            ")" | "]" | "}" => depth += 1,
            "{" if depth == 0 => match word(index.checked_sub(1)?) {
                "(" => {
                    path.reverse();
                    return Some(Dictionary { callee: index.checked_sub(2)?, path, given });
                }
                ":" => path.push(Some(key(index.checked_sub(2)?)?)),
                _ => return None,
            },
            "(" | "[" if depth == 0 => return None,
            "(" | "[" | "{" => depth -= 1,
            ":" if depth == 0 && path.is_empty() => given.extend(index.checked_sub(1).and_then(key)),
            _ => {}
        }
    }
    None
}

/// The values that a data value can have, where it is compared with a string.
fn compared_values(at: Cursor<'_>, operand: TextRange, range: TextRange) -> Option<Vec<Completion>> {
    let (chain, part) = Cursor { offset: operand.end, ..at }.chain()?;
    let meaning = at.project.meaning(at.index?, chain, part.map_or(0, |part| part + 1))?;
    let Meaning::DataValue(path) = meaning else { return None };
    let schema = at.project.schema_for(&at.file.path);
    let members = schema.nodes[schema.find(&path)?].members.iter().filter(|member| member.starts_with(['"', '\'']));
    Some(members.map(|member| Completion::new(string_content(member), CompletionKind::Value, range)).collect())
}

/// The files that `data.read("…")` can read.
fn readable_files(at: Cursor<'_>, range: TextRange) -> Vec<Completion> {
    let Some(own) = at.index.map(|index| &at.project.files[index]) else { return Vec::new() };
    let library = at.project.library(&own.logical);
    let others = at.project.inputs().map(|(_, file)| file).filter(|file| file.file.path != own.file.path);
    let files = others.filter(|file| at.project.library(&file.logical) == library);
    let path = |file| written_path(at, own, &library, file, range);
    files.map(|file| Completion::new(path(file), CompletionKind::File, range).detail("file")).collect()
}

/// How a file names another one of its library: relative to its own directory where it can, else
/// from the root.
fn written_path(
    at: Cursor<'_>,
    own: &crate::project::SnapshotFile,
    library: &str,
    other: &crate::project::SnapshotFile,
    range: TextRange,
) -> String {
    let directory = own.logical.rsplit_once('/').map_or("", |(directory, _)| directory);
    let is_absolute = range.of(at.text()).starts_with('/');
    match relative(directory, &other.logical).filter(|_| !is_absolute) {
        Some(path) => path,
        None => format!("/{}", other.logical.strip_prefix(&format!("{library}/")).unwrap_or(&other.logical)),
    }
}

fn load_paths(at: Cursor<'_>, range: TextRange) -> Vec<Completion> {
    let modules = reference::modules().iter().map(|module| {
        let item = Completion::new(format!("@ytt:{}", module.name), CompletionKind::Module, range);
        item.documentation(&module.text).detail("module").rank(4)
    });
    let Some(own) = at.index.map(|index| &at.project.files[index]) else { return modules.collect() };
    let library = at.project.library(&own.logical);
    let is_loadable = |file: &&crate::project::SnapshotFile| {
        is_loadable_file(file) && file.file.path != own.file.path && at.project.library(&file.logical) == library
    };
    let files = at.project.files.iter().filter(is_loadable).map(|file| {
        let path = written_path(at, own, &library, file, range);
        Completion::new(path, CompletionKind::File, range).detail("file").rank(1)
    });
    let in_libraries = at.project.files.iter().filter(|file| is_loadable_file(file)).filter_map(|file| {
        let (_, below) = file.logical.rsplit_once("_ytt_lib/")?;
        let (name, rest) = below.split_once('/')?;
        let directory = at.project.library_directory(at.index?, name)?;
        let is_it = file.logical.strip_prefix(&directory).and_then(|path| path.strip_prefix('/')) == Some(rest);
        let path = format!("@{name}:{rest}");
        is_it.then(|| Completion::new(path, CompletionKind::File, range).detail("file of a library").rank(2))
    });
    files.chain(in_libraries).chain(modules).collect()
}

/// Whether `load` accepts a file.
pub(crate) fn is_loadable_file(file: &crate::project::SnapshotFile) -> bool {
    let is_code = match file.file.kind() {
        ModelKind::Starlark => true,
        ModelKind::Yaml | ModelKind::Text => file.file.name().contains(".lib."),
        ModelKind::Other => false,
    };
    file.role == FileRole::Input && is_code
}

/// A path below a directory.
pub(crate) fn relative(directory: &str, path: &str) -> Option<String> {
    match directory.is_empty() {
        true => Some(path.to_owned()),
        false => path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned),
    }
}

fn load_symbols(at: Cursor<'_>, path: &str, range: TextRange) -> Vec<Completion> {
    if let Some(module) = path.strip_prefix("@ytt:") {
        let Some(module) = reference::module(module) else { return Vec::new() };
        let item = Completion::new(&module.name, CompletionKind::Module, range);
        return vec![item.documentation(&module.text)];
    }
    let Some(other) = at.index.and_then(|index| at.project.loaded(index, path)) else { return Vec::new() };
    let source = &at.project.files[other];
    let exported = source.file.model().definitions.iter();
    let exported = exported.filter(|definition| definition.scope == 0 && !definition.name.starts_with('_'));
    exported
        .map(|definition| {
            let item = Completion::new(&definition.name, definition_kind(&definition.kind), range);
            item.detail(describe::signature(definition))
                .documentation(describe::definition(definition, &source.logical))
        })
        .collect()
}

fn libraries(at: Cursor<'_>, range: TextRange) -> Vec<Completion> {
    let mut names: Vec<String> = at
        .project
        .files
        .iter()
        .filter_map(|file| {
            let (_, below) = file.logical.split_once("_ytt_lib/")?;
            let (directory, _) = below.rsplit_once('/')?;
            Some(directory.split('/').next().unwrap_or(directory).to_owned())
        })
        .collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| Completion::new(name, CompletionKind::Module, range).detail("library")).collect()
}

/// Completes the name after a dot.
fn attribute(at: Cursor<'_>, known: Knowledge<'_>) -> Option<Vec<Completion>> {
    let range = at.word();
    // Blanks may follow the dot: `data . values . name`.
    let before = at.text()[..range.start].trim_end_matches([' ', '\t']);
    if !before.ends_with('.') {
        return None;
    }
    let dot = before.len() - 1;
    let name = if range.is_empty() { Cursor { offset: dot + 1, ..at } } else { at };
    let chain = name.chain();
    let meaning = match chain {
        Some((chain, Some(part))) => at.project.meaning(at.index?, chain, part),
        _ => None,
    };
    let mut found = match meaning {
        Some(Meaning::Definition(file, definition)) if matches!(chain, Some((_, Some(0)))) => {
            let fields = at.project.fields(file, definition);
            match infer::receiver(at, dot) {
                Some(of) if fields.is_empty() => methods(of, range),
                _ => fields.into_iter().map(|field| field_item(at, field, range)).collect(),
            }
        }
        Some(Meaning::DataValue(path)) => {
            let keys = data_values(at, &path, range, known);
            match infer::of_value(at.project, &at.file.path, &path) {
                Some(of) if keys.is_empty() => methods(of, range),
                _ => keys,
            }
        }
        Some(Meaning::Module(module)) => {
            let members = reference::module(&module).map(|module| &module.members[..]).unwrap_or_default();
            let is_own = |entry: &&reference::ReferenceEntry| !infer::is_library_method(entry);
            members.iter().filter(is_own).map(|entry| member(entry, range)).collect()
        }
        _ => infer::receiver(at, dot).map(|of| methods(of, range)).unwrap_or_default(),
    };
    // A module that is not loaded yet brings its load with it.
    if let Some((chain, _)) = chain {
        let is_known = at.model().definitions.iter().any(|definition| definition.name == chain.root);
        if !is_known && reference::module(&chain.root).is_some() {
            let also = load_line(at, &chain.root);
            found.iter_mut().for_each(|item| item.also = Some(also.clone()));
        }
    }
    Some(found)
}

/// A field of a struct or a module of the project.
fn field_item(at: Cursor<'_>, field: crate::project::StructField, range: TextRange) -> Completion {
    let item = Completion::new(&field.name, CompletionKind::Field, range).rank(1);
    match field.target {
        Some((file, definition)) => {
            let source = &at.project.files[file];
            let definition = &source.file.model().definitions[definition];
            let text = describe::definition(definition, &source.logical);
            let item = Completion { kind: definition_kind(&definition.kind), ..item };
            item.detail(describe::signature(definition)).documentation(text)
        }
        None => item.detail(field.value),
    }
}

fn methods(of: infer::TypeName, range: TextRange) -> Vec<Completion> {
    infer::methods(of).into_iter().map(|entry| member(entry, range)).collect()
}

fn member(entry: &reference::ReferenceEntry, range: TextRange) -> Completion {
    let name = entry.name.split_once('.').map_or(entry.name.as_str(), |(_, name)| name);
    let is_function = entry.signature.contains('(');
    let kind = if is_function { CompletionKind::Function } else { CompletionKind::Variable };
    let item = Completion::new(name, kind, range);
    item.detail(&entry.signature).documentation(entry.markdown("python", ""))
}

fn data_values(at: Cursor<'_>, path: &[Option<String>], range: TextRange, known: Knowledge<'_>) -> Vec<Completion> {
    let schema = at.project.schema_for(&at.file.path);
    let owner = match path.is_empty() {
        true => None,
        false => match schema.find(path) {
            Some(node) => Some(node),
            None => return Vec::new(),
        },
    };
    let item = |node: &usize| {
        let declared = &schema.nodes[*node];
        let item = Completion::new(&declared.key, CompletionKind::Field, range).rank(1);
        let item = item.detail(describe::short(&schema, *node)).documentation(describe::value(&schema, *node, known));
        Completion { is_deprecated: declared.is_retired, ..item }
    };
    let mut found: Vec<Completion> = schema.keys(owner).iter().map(item).collect();
    // Only an identifier can follow a dot.
    let is_after_dot = at.text()[..range.start].ends_with('.');
    for item in found.iter_mut().filter(|item| is_after_dot && !crate::model::is_identifier(&item.label)) {
        item.text = format!("[\"{}\"]", item.label);
        item.range.start -= 1;
    }
    found
}

/// The names of parameters in a call.
fn call_arguments(at: Cursor<'_>) -> Vec<Completion> {
    let model = at.model();
    let Some(call) = open_call(model, at.text(), at.offset) else { return Vec::new() };
    let range = at.word();
    // After `name=` a value is expected.
    if at.text()[..range.start].trim_end().ends_with('=') {
        return Vec::new();
    }
    let parameters: Vec<String> = match at.callee(&call) {
        Some(Callee::Function(file, definition)) => {
            match &at.project.files[file].file.model().definitions[definition].kind {
                DefKind::Function { parameters, .. } => parameters.clone(),
                _ => Vec::new(),
            }
        }
        Some(Callee::Member(module, name)) if (module.as_str(), name.as_str()) == ("assert", "validate") => {
            reference::rules().iter().map(|rule| rule.name.clone()).collect()
        }
        Some(Callee::Member(module, name)) => {
            reference::member(&module, &name).map(reference::ReferenceEntry::keyword_names).unwrap_or_default()
        }
        Some(Callee::Method(of, name)) => {
            infer::method(of, &name).map(reference::ReferenceEntry::keyword_names).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let names = parameters.iter().map(|parameter| parameter.split('=').next().unwrap_or_default().trim());
    let given = named_arguments(at, call.bracket);
    let names = names.filter(|name| crate::model::is_identifier(name) && !given.contains(name));
    names
        .map(|name| {
            let item = Completion::new(name, CompletionKind::Argument, range);
            item.text(format!("{name}=")).detail("parameter").rank(1)
        })
        .collect()
}

/// The names of the arguments that a call has before the cursor.
fn named_arguments(at: Cursor<'_>, bracket: usize) -> Vec<&str> {
    let model = at.model();
    let word = |index: usize| model.tokens.get(index).map_or("", |token| token.range.of(at.text()));
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for index in bracket..model.tokens.len() {
        match word(index) {
            _ if model.tokens[index].range.start >= at.offset => break,
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "=" if depth == 1 && matches!(word(index - 2), "(" | ",") => found.push(word(index - 1)),
            _ => {}
        }
    }
    found
}

/// Names that are known at the cursor, builtin functions and words of the language.
fn names(at: Cursor<'_>) -> Vec<Completion> {
    let model = at.model();
    let range = at.word();
    let mut found = Vec::new();
    for definition in model.visible(at.offset).into_iter().map(|index| &model.definitions[index]) {
        if definition.range.touches(at.offset) && at.offset == definition.range.end {
            continue;
        }
        let item = Completion::new(&definition.name, definition_kind(&definition.kind), range).rank(3);
        let item = item.detail(describe::signature(definition));
        found.push(item.documentation(describe::definition(definition, "")));
    }
    for entry in reference::builtins().iter().filter(|entry| entry.name != "load") {
        let item = Completion::new(&entry.name, CompletionKind::Function, range).rank(6);
        found.push(item.detail(&entry.signature).documentation(entry.markdown("python", "")));
    }
    for word in ["True", "False", "None", "and", "or", "not", "in", "if", "else", "lambda"] {
        found.push(Completion::new(word, CompletionKind::Keyword, range).rank(7));
    }
    // Modules that are not loaded yet come with an edit that loads them.
    let is_known = |name: &str| model.definitions.iter().any(|definition| definition.name == name);
    for module in reference::modules().iter().filter(|module| !is_known(&module.name)) {
        let item = Completion::new(&module.name, CompletionKind::Module, range).rank(8);
        let also = load_line(at, &module.name);
        let item = item.detail(format!("load(\"@ytt:{0}\", \"{0}\")", module.name)).documentation(&module.text);
        found.push(Completion { also: Some(also), ..item });
    }
    found
}

/// The position and text of a new `load` of a module.
pub(crate) fn load_line(at: Cursor<'_>, module: &str) -> (usize, String) {
    symbol_load_line(at, &format!("@ytt:{module}"), module)
}

/// The position and text of a new `load` of a symbol.
pub(crate) fn symbol_load_line(at: Cursor<'_>, path: &str, symbol: &str) -> (usize, String) {
    let model = at.model();
    let code = format!("load(\"{path}\", \"{symbol}\")");
    let newline = if at.text().contains("\r\n") { "\r\n" } else { "\n" };
    let line = match at.file.kind() {
        ModelKind::Starlark => format!("{code}{newline}"),
        // Without `-`, the line break would be part of the text.
        ModelKind::Text => format!("(@ {code} -@){newline}"),
        _ => format!("#@ {code}{newline}"),
    };
    let last = model.loads.iter().map(|load| model.lines.line_of(load.range.end)).max();
    (last.map_or(0, |last| model.lines.start(last + 1)), line)
}

fn definition_kind(kind: &DefKind) -> CompletionKind {
    match kind {
        DefKind::Function { .. } => CompletionKind::Function,
        _ => CompletionKind::Variable,
    }
}

/// Whether the word at the cursor is the first of its statement.
fn is_first_word(at: Cursor<'_>) -> bool {
    let model = at.model();
    let line = model.lines.range(at.text(), model.lines.line_of(at.offset));
    let before = &at.text()[line.start..at.word().start];
    let before = before.trim();
    before.is_empty() || before == "#@" || before.ends_with("(@") || before.ends_with("(@-")
}

/// Blocks with their `end`.
fn snippets(at: Cursor<'_>, kind: RegionKind) -> Vec<Completion> {
    let range = at.word();
    let blocks = [
        ("if", "if ${1:condition}:"),
        ("for", "for ${1:item} in ${2:items}:"),
        ("def", "def ${1:name}(${2:parameters}):"),
        ("while", "while ${1:condition}:"),
    ];
    let of = |(label, head): (&str, &str)| {
        let text = match kind {
            RegionKind::Whole => format!("{head}\n  $0\nend"),
            RegionKind::TextCode => format!("{head} @)\n$0\n(@ end"),
            _ => format!("{head}\n$0\n#@ end"),
        };
        let item = Completion::new(label, CompletionKind::Snippet, range).text(text).detail(format!("{label} … end"));
        Completion { is_snippet: true, rank: 2, ..item }
    };
    let mut found: Vec<Completion> = blocks.into_iter().map(of).collect();
    let load = Completion::new("load", CompletionKind::Snippet, range).text("load(\"${1:@ytt:data}\", \"${2:data}\")");
    found.push(Completion { is_snippet: true, rank: 2, ..load.detail("load(path, symbol)") });
    for word in ["elif", "else:", "end", "return"] {
        found.push(Completion::new(word, CompletionKind::Keyword, range).rank(4));
    }
    found
}
