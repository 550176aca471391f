//! Finds unused loads and functions, and names that shadow others.

use std::collections::HashSet;
use std::ops::Range;

use ytterby::FileKind;
use ytterby_diag::{Diagnostic, Edit, Help, Id, Label, Part, Pos, Role, Safety};
use ytterby_starlark::{Dialect, universe};
use ytterby_text::budget;

use crate::names::{LoadStmt, LoadedName, Names, Symbol, SymbolKind};
use crate::project::{CheckedFile, CheckedProject, resolve_load};

/// Names that other files load: the index of a file, and a name at its top level.
pub(crate) type LoadedNames = HashSet<(usize, String)>;

/// The names that files load from others.
pub(crate) fn loaded(project: &CheckedProject) -> LoadedNames {
    let mut found = HashSet::new();
    for (number, file) in project.files.iter().enumerate() {
        for load in file.facts.names.iter().flat_map(|names| &names.loads) {
            if let Some(target) = resolve_load(project, number, &load.module) {
                found.extend(load.names.iter().map(|name| (target, name.name.clone())));
            }
        }
    }
    found
}

/// Checks the names of a file. `is_used` is whether something loads or renders the file.
pub(crate) fn check(
    project: &CheckedProject,
    number: usize,
    loaded: &LoadedNames,
    is_used: bool,
    out: &mut Vec<Diagnostic>,
) {
    let file = &project.files[number];
    let Some(names) = &file.facts.names else { return };
    let is_loaded = |symbol: &Symbol| loaded.contains(&(number, symbol.name.clone()));
    for load in &names.loads {
        unused_load(file, names, load, &is_loaded, out);
    }
    // The definitions of a library are for its users.
    let is_interface = file.library != Some(0);
    for symbol in &names.symbols {
        let is_unused =
            symbol.kind == SymbolKind::Function && symbol.uses == 0 && !(symbol.scope == 0 && is_loaded(symbol));
        if is_unused && is_used && !(is_interface && symbol.scope == 0) && !project.has_broken_files() {
            let text = format!("nothing calls the function {}", symbol.name);
            let (pos, part) = file.place(symbol.pos, symbol.name.len());
            out.push(Diagnostic::warning(Id::LINT_UNUSED_FUNCTION, text).at(pos, part).help("remove it"));
        }
    }
    shadowed(file, names, out);
}

/// Maximum findings of one load that have the edit for all of them, which can be long.
const SHARED: usize = 100;

fn unused_load(
    file: &CheckedFile,
    names: &Names,
    load: &LoadStmt,
    is_loaded: &dyn Fn(&Symbol) -> bool,
    out: &mut Vec<Diagnostic>,
) {
    let is_unused = |symbol: usize| {
        let symbol = &names.symbols[symbol];
        let is_handed_on = file.input.is_library() && (is_loaded(symbol) || file.library != Some(0));
        symbol.uses == 0 && matches!(symbol.kind, SymbolKind::Load(..)) && !is_handed_on
    };
    let unused: Vec<&LoadedName> = load.names.iter().filter(|name| is_unused(name.symbol)).collect();
    if unused.is_empty() {
        return;
    }
    budget::or_unwind(budget::work(load.names.len()));
    // The findings share the edit.
    let edit = without_unused(file, load, &is_unused, names);
    for (number, name) in unused.into_iter().enumerate() {
        let bound = &names.symbols[name.symbol].name;
        let text = format!("nothing uses {bound}, which is loaded from \"{}\"", load.module);
        let start = if name.bound_pos.offset <= name.name_pos.offset { name.bound_pos } else { name.name_pos };
        let (pos, mut part) = file.place(start, 0);
        if part == Part::Bytes(0) {
            part = Part::Bytes(token_length(&file.facts.text, pos.offset as usize) as u32);
        }
        let mut help = Help::new("remove it");
        if let Some(edit) = edit.clone().filter(|_| number < SHARED) {
            let title = format!("Remove {bound}");
            help = help.fixed_by(title, vec![edit], Safety::Safe);
        }
        out.push(Diagnostic::warning(Id::LINT_UNUSED_LOAD, text).at(pos, part).help(help));
    }
}

/// The length of a name or string.
fn token_length(text: &[u8], at: usize) -> usize {
    let rest = &text[at.min(text.len())..];
    match rest.first() {
        Some(quote @ (b'"' | b'\'')) => {
            1 + rest[1..].iter().position(|byte| byte == quote).map_or(0, |close| close + 1)
        }
        _ => rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count(),
    }
}

/// The edit that removes all unused names of a load; the findings of one load share it.
fn without_unused(
    file: &CheckedFile,
    load: &LoadStmt,
    is_unused: &dyn Fn(usize) -> bool,
    names: &Names,
) -> Option<Edit> {
    if load.pos.file.0 != 0 || file.input.kind() == FileKind::Text {
        return None;
    }
    let text = &file.facts.text[..];
    let start = load.pos.offset as usize;
    let statement = start..closing(text, start)?;
    let kept: Vec<String> = load
        .names
        .iter()
        .filter(|name| !is_unused(name.symbol))
        .map(|name| match &names.symbols[name.symbol].name {
            bound if *bound == name.name => format!("\"{bound}\""),
            bound => format!("{bound}=\"{}\"", name.name),
        })
        .collect();
    if kept.is_empty() {
        let line = whole_lines(text, &statement, file.input.kind() == FileKind::Yaml)?;
        let pos = Pos::new(file.source, line.start as u32);
        return Some(Edit::replace(pos, Part::Bytes(line.len() as u32), ""));
    }
    if text[statement.clone()].contains(&b'\n') || text[statement.clone()].contains(&b'#') {
        return None;
    }
    let pos = Pos::new(file.source, statement.start as u32);
    let new = format!("load(\"{}\", {})", load.module, kept.join(", "));
    Some(Edit::replace(pos, Part::Bytes(statement.len() as u32), new))
}

/// The offset of the closing parenthesis.
fn closing(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0;
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' | b'\'' => at += token_length(text, at).checked_sub(1)?,
            b'#' => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The lines of a statement, if they contain nothing else.
fn whole_lines(text: &[u8], statement: &Range<usize>, is_yaml: bool) -> Option<Range<usize>> {
    let start = text[..statement.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let rest = &text[statement.end..];
    let end = statement.end + rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
    let before = std::str::from_utf8(&text[start..statement.start]).ok()?.trim();
    let is_alone = if is_yaml { before == "#@" } else { before.is_empty() };
    let spans_lines = text[statement.clone()].contains(&b'\n');
    let is_last = text[statement.end..end].iter().all(u8::is_ascii_whitespace);
    (is_alone && is_last && !(is_yaml && spans_lines)).then_some(start..end)
}

fn shadowed(file: &CheckedFile, names: &Names, out: &mut Vec<Diagnostic>) {
    let mut report = |symbol: &Symbol, at: Pos, hidden: &str, original: Option<Pos>| {
        let text = format!("{} hides {hidden}", symbol.name);
        let (pos, part) = file.place(at, symbol.name.len());
        let mut finding = Diagnostic::warning(Id::LINT_SHADOWED_NAME, text).at(pos, part).help("give it another name");
        if let Some(original) = original {
            let (pos, part) = file.place(original, symbol.name.len());
            finding = finding.label(Label::new(Role::Related, pos, part).text("hidden from here on"));
        }
        out.push(finding);
    };
    for (symbol, pos) in &names.rebound {
        let symbol = &names.symbols[*symbol];
        report(symbol, *pos, described(symbol), Some(symbol.pos));
    }
    for (id, symbol) in names.symbols.iter().enumerate() {
        if symbol.name.starts_with('_') || matches!(symbol.kind, SymbolKind::Load(..)) {
            continue;
        }
        if let Some(hidden) = names.hidden_by(id) {
            let is_variable = matches!(hidden.kind, SymbolKind::Variable | SymbolKind::Parameter);
            if !is_variable || names.is_in_function(id) {
                report(symbol, symbol.pos, described(hidden), Some(hidden.pos));
            }
        } else if universe(Dialect::Current, symbol.name.as_bytes()).is_some() {
            report(symbol, symbol.pos, "the built-in function of this name", None);
        }
    }
}

fn described(symbol: &Symbol) -> &'static str {
    match symbol.kind {
        SymbolKind::Load(..) => "the name that is loaded here",
        SymbolKind::Function => "the function of this name",
        SymbolKind::Variable | SymbolKind::Parameter => "the variable of this name",
    }
}
