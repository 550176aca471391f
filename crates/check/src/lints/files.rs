//! Files that nothing uses: code that nobody loads, data that nobody reads.

use std::collections::HashSet;

use ytterby::FileKind;
use ytterby_diag::{Diagnostic, Id, Part, Pos};

use crate::flow::Flow;
use crate::project::{Project, relative, resolve_load};

/// What people keep beside templates for other people and other tools.
const FOR_PEOPLE: [&str; 12] = [
    "readme",
    "license",
    "licence",
    "notice",
    "changelog",
    "contributing",
    "owners",
    "codeowners",
    "makefile",
    "dockerfile",
    "authors",
    "security",
];

/// The files that are rendered, loaded or read, from the root library on.
pub(crate) fn used(project: &Project, flows: &[Flow]) -> HashSet<usize> {
    let mut used: HashSet<usize> = HashSet::new();
    let mut waiting: Vec<usize> = Vec::new();
    for (number, file) in project.files.iter().enumerate() {
        let input = &file.input;
        let is_rendered = input.is_for_output() || (input.is_template() && !input.is_library());
        // The files of a library are its interface.
        if (is_rendered || file.library != Some(0)) && used.insert(number) {
            waiting.push(number);
        }
    }
    while let Some(number) = waiting.pop() {
        for load in project.files[number].facts.names.iter().flat_map(|names| &names.loads) {
            if let Some(target) = resolve_load(project, number, &load.module)
                && used.insert(target)
            {
                waiting.push(target);
            }
        }
    }
    for flow in flows {
        for (file, path) in &flow.data_reads {
            used.extend(project.find(&relative(project, *file, path)));
        }
    }
    used
}

/// Reports the files of the root library that nothing uses.
pub(crate) fn check(project: &Project, flows: &[Flow], used: &HashSet<usize>, out: &mut Vec<Diagnostic>) {
    // A single file cannot be used by others.
    if project.has_broken_files() || project.files.len() < 2 {
        return;
    }
    let reads_any_file = flows.iter().any(|flow| flow.reads_any_file);
    for (number, file) in project.files.iter().enumerate() {
        let input = &file.input;
        if used.contains(&number) || file.library != Some(0) {
            continue;
        }
        let name = input.name();
        let (text, help) = if input.is_library() {
            (format!("nothing loads {name}"), "load it, or remove it")
        } else if input.kind() == FileKind::Data && !reads_any_file && !is_for_people(name) {
            (format!("nothing reads {name}"), "read it with data.read(), or remove it from the inputs")
        } else {
            continue;
        };
        let first_line = file.facts.text.iter().position(|byte| *byte == b'\n').unwrap_or(file.facts.text.len());
        let part = Part::Bytes(first_line as u32);
        out.push(Diagnostic::warning(Id::LINT_UNUSED_FILE, text).at(Pos::new(file.source, 0), part).help(help));
    }
}

fn is_for_people(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower.starts_with('.') || FOR_PEOPLE.iter().any(|known| lower == *known || lower.starts_with(&format!("{known}.")))
}
