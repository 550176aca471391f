//! Finds unused files: code that is never loaded, data that is never read.

use std::collections::HashSet;

use ytterby::FileKind;
use ytterby_diag::{Diagnostic, Id, Part, Pos};
use ytterby_starlark::ast::{ExprKind, Stmt};

use crate::flow::LibraryReads;
use crate::project::{CheckedFile, CheckedProject, relative, resolve_load};

/// Files that people keep beside templates for other people and other tools.
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

/// Extensions of programs, which may be beside templates.
const PROGRAMS: [&str; 12] =
    [".sh", ".bash", ".go", ".mod", ".sum", ".py", ".js", ".ts", ".rs", ".rb", ".java", ".ps1"];

/// The files that are rendered, loaded or read, starting from the root library.
pub(crate) fn used(project: &CheckedProject, flows: &[LibraryReads]) -> HashSet<usize> {
    let mut used: HashSet<usize> = HashSet::new();
    let mut waiting: Vec<usize> = Vec::new();
    for (number, file) in project.files.iter().enumerate() {
        let input = &file.input;
        let is_rendered = input.is_for_output() || (input.is_template() && !input.is_library());
        // The files of a library are its interface. All files are evaluated, so a file may exist
        // for its effects.
        if (is_rendered || file.library != Some(0) || acts(file)) && used.insert(number) {
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

/// Reports unused files of the root library.
pub(crate) fn check(
    project: &CheckedProject,
    flows: &[LibraryReads],
    used: &HashSet<usize>,
    out: &mut Vec<Diagnostic>,
) {
    // A single file cannot be used by others.
    if project.has_broken_files() || project.files.len() < 2 {
        return;
    }
    if !flows.iter().any(|flow| flow.gets_any_library) {
        libraries(project, out);
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
        let part = Part::Bytes(first_line(file));
        out.push(Diagnostic::warning(Id::LINT_UNUSED_FILE, text).at(Pos::new(file.source, 0), part).help(help));
    }
}

/// Whether a file has effects of its own: it calls functions at the top level.
fn acts(file: &CheckedFile) -> bool {
    let Some(syntax) = &file.facts.code.syntax else { return true };
    let is_call = |stmt: &Stmt| match stmt {
        Stmt::Expr(expr) => matches!(&syntax.ast[*expr].kind, ExprKind::Call(callee, _)
            if !matches!(syntax.ast[*callee].kind, ExprKind::HostOp(_))),
        Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } => true,
        _ => false,
    };
    file.input.is_library() && syntax.stmts.iter().any(is_call)
}

/// Reports private libraries that no code refers to, at their first files.
fn libraries(project: &CheckedProject, out: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    for file in project.files.iter().filter(|file| file.library.is_none()) {
        let path = &file.input.path;
        let Some(at) = path.find("_ytt_lib/").map(|at| at + "_ytt_lib/".len()) else { continue };
        let Some((name, _)) = path[at..].split_once('/') else { continue };
        let directory = format!("{}{name}/", &path[..at]);
        // Names of libraries can have several segments.
        let is_part_of_used = project.libraries.iter().any(|used| used.starts_with(&directory));
        if !is_part_of_used && seen.insert(directory) {
            let text = format!("nothing uses the library {name}");
            let part = Part::Bytes(first_line(file));
            let finding = Diagnostic::warning(Id::LINT_UNUSED_FILE, text).at(Pos::new(file.source, 0), part);
            out.push(finding.help("evaluate it with library.get(), load from it, or remove it"));
        }
    }
}

fn first_line(file: &CheckedFile) -> u32 {
    let text = &file.facts.text;
    text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len()) as u32
}

fn is_for_people(name: &str) -> bool {
    let lower = name.to_lowercase();
    // A file without an extension is probably not data.
    !lower.contains('.')
        || lower.starts_with('.')
        || PROGRAMS.iter().any(|end| lower.ends_with(end))
        || FOR_PEOPLE.iter().any(|known| lower == *known || lower.starts_with(&format!("{known}.")))
}
