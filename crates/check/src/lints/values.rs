//! Finds undeclared data values that code reads, and declared ones that no code reads.

use std::collections::HashSet;

use ytterby::facts::is_prose;
use ytterby_diag::{Diagnostic, Edit, Help, Id, Label, Part, Role, Safety};
use ytterby_text::{budget, spelling};

use crate::declared::{TrackedValues, ValueId};
use crate::flow::{LibraryReads, UnknownRead};
use crate::project::{CheckedProject, resolve_load};

/// Maximum keys listed if none is similar.
const LISTED: usize = 6;

/// Maximum keys compared with one misspelt name: more would take quadratic time in a project of
/// many mistakes.
const COMPARED: usize = 500;

/// The error about an undeclared value that is read.
pub(crate) fn unknown(project: &CheckedProject, table: &TrackedValues, read: &UnknownRead) -> Diagnostic {
    let file = &project.files[read.file];
    let (pos, part) = file.place(read.pos, read.name.len());
    let above = table.path(read.within);
    let path = if above.is_empty() { read.name.clone() } else { format!("{above}.{}", read.name) };
    let text = format!("the schema declares no data value {path}");
    // More are neither compared nor listed.
    let below = table.below(read.within).iter().take(COMPARED);
    let keys: Vec<&str> = below.map(|id| table.values[*id].key.as_str()).collect();
    budget::or_unwind(budget::work(1 + keys.len() * read.name.len() / 8));
    let mut finding = Diagnostic::error(Id::CODE_UNKNOWN_VALUE, text).at(pos, part.clone());
    if read.within != 0 {
        finding = finding.label(Label::new(Role::Rule, table.values[read.within].pos, Part::Key).text("declared here"));
    }
    finding.help(match spelling::closest(&read.name, keys.iter().copied(), spelling::tolerance_of_short(&read.name)) {
        Some(near) => {
            let edits = match part {
                Part::Bytes(_) => vec![Edit::replace(pos, part, near)],
                _ => Vec::new(),
            };
            let help = Help::new(format!("did you mean {near}?"));
            match edits.is_empty() {
                true => help,
                false => help.fixed_by(format!("Change {} to {near}", read.name), edits, Safety::Likely),
            }
        }
        None if keys.is_empty() => Help::new("declare it in the schema"),
        None => {
            let more = if keys.len() > LISTED { ", …" } else { "" };
            let listed = keys[..keys.len().min(LISTED)].join(", ");
            Help::new(format!("declare it in the schema; there are {listed}{more}"))
        }
    })
}

/// Reports values that nothing reads: for a map that is not read at all, only the map.
pub(crate) fn unused(table: &TrackedValues, flow: &LibraryReads, words: &HashSet<String>, out: &mut Vec<Diagnostic>) {
    let mut used = vec![false; table.values.len()];
    // Children have higher numbers than their parents.
    for id in (0..table.values.len()).rev() {
        let below = table.below(id).iter().any(|child| used[*child]);
        used[id] = below || is_read(flow, id) || words.contains(&table.values[id].key);
    }
    used[0] = true;
    visit(table, flow, &used, 0, out);
}

fn is_read(flow: &LibraryReads, id: ValueId) -> bool {
    flow.read[id] || flow.whole[id]
}

fn visit(table: &TrackedValues, flow: &LibraryReads, used: &[bool], id: ValueId, out: &mut Vec<Diagnostic>) {
    budget::or_unwind(budget::work(1));
    let value = &table.values[id];
    if flow.whole[id] || value.deprecated {
        return;
    }
    // Items of arrays have no name.
    if !used[id] && !value.key.is_empty() {
        let text = format!("nothing uses the data value {}", table.path(id));
        let finding = Diagnostic::warning(Id::LINT_UNUSED_VALUE, text).at(value.pos, Part::Key);
        out.push(finding.help("use it in a template, or remove it from the schema"));
        return;
    }
    for child in table.below(id) {
        stacker::maybe_grow(64 << 10, 1 << 20, || visit(table, flow, used, *child, out));
    }
}

/// The words in the rules of a library's schemas, and in the code that these use: rules may read
/// what they name.
pub(crate) fn words_of_rules(project: &CheckedProject, library: usize) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut waiting: Vec<usize> = Vec::new();
    for (number, file) in project.files.iter().enumerate() {
        let Some(tree) = file.facts.code.tree.as_ref().filter(|_| file.library == Some(library)) else { continue };
        let texts = || tree.all_comments().iter().filter_map(|comment| comment.text.as_str());
        if !texts().any(is_schema) {
            continue;
        }
        for text in texts() {
            let Some((name, content)) = text.strip_prefix('@').and_then(|rest| rest.split_once(' ')) else { continue };
            if !is_prose(name) {
                add_words(content, &mut words);
            }
        }
        waiting.push(number);
    }
    let mut seen: HashSet<usize> = waiting.iter().copied().collect();
    while let Some(number) = waiting.pop() {
        for load in project.files[number].facts.names.iter().flat_map(|names| &names.loads) {
            if let Some(target) = resolve_load(project, number, &load.module)
                && seen.insert(target)
            {
                add_words(&String::from_utf8_lossy(&project.files[target].facts.text), &mut words);
                waiting.push(target);
            }
        }
    }
    words
}

fn is_schema(comment: &str) -> bool {
    let name = comment.split(' ').next().unwrap_or_default();
    matches!(name, "@data/values-schema" | "@schema/definition" | "@schema/match" | "@schema")
}

fn add_words(text: &str, words: &mut HashSet<String>) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    words.extend(text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned));
}
