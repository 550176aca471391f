//! `lint`: finds mistakes in the rules themselves, and fixes some.
//!
//! The library finds mistakes in one annotation; this command adds their positions, rules that a
//! template's own VM violates, and the output formats.

use std::io::{self, Write};

use super::args::{KubevirtArgs, OutputFormat};
use super::load::LoadedFile;
use super::output::{self, Issue, Level, counted, plain, xml};
use super::report::Position;
use super::validate::{ABBREVIATED, is_abbreviated};
use super::world::{LoadedInputs, place};
use super::{BROKEN, Failure, Host, NOTHING, OK, UNREADABLE, usage, within_limits};
use ytterby_diag::{Id, Pos, Sources};
use ytterby_kubevirt::evaluate::{Status, evaluate};
use ytterby_kubevirt::fix;
use ytterby_kubevirt::lint::{LintSeverity, Linted, lint, unreadable};
use ytterby_kubevirt::objects::{RulesAnnotation, Vm};
use ytterby_kubevirt::rules;
use ytterby_kubevirt::value::quoted;
use ytterby_yaml::Style;

/// A finding and its position.
struct LocatedFinding {
    id: &'static str,
    level: Level,
    rule: String,
    at: Position,
    message: String,
    hint: Option<String>,
}

pub(super) fn run(
    args: &KubevirtArgs,
    host: &dyn Host,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<i32, Failure> {
    let mut world = LoadedInputs::load(args, host)?;
    if args.fix {
        let mut count = 0;
        for file in &world.files {
            count += mend(file, host, stderr)?;
        }
        // Each file had its own count; the sum is useful for several files, or for none.
        if count == 0 || world.files.len() > 1 {
            writeln!(stderr, "{} made", counted(count, "change"))?;
        }
        world = LoadedInputs::load(args, host)?;
    }
    let mut found = Vec::new();
    let mut unreadable = false;
    let mut annotations = 0;
    for file in &world.files {
        match &file.objects {
            Err(problem) => {
                let (line, column) = problem.at.unwrap_or((1, 1));
                let at = Position::unread(file.name.clone(), line, column);
                let message = problem.message.clone();
                found.push(LocatedFinding {
                    id: "unreadable",
                    level: Level::Error,
                    rule: String::new(),
                    at,
                    message,
                    hint: None,
                });
                unreadable = true;
            }
            Ok(objects) => {
                let texts = annotations_of(file);
                annotations += texts.len();
                for annotation in texts {
                    unreadable |= !findings(annotation, file, &mut found).readable;
                }
                for vm in objects.vms.iter().filter(|vm| vm.template.is_some() && vm.problem.is_none()) {
                    let _working = file.working_at(vm.offset);
                    own_rules(vm, file, &world, &mut found);
                    within_limits()?;
                }
            }
        }
    }
    let objects = || world.files.iter().filter_map(|file| file.objects.as_ref().ok());
    if found.is_empty() && objects().all(|objects| objects.vms.is_empty() && objects.templates.is_empty()) {
        let file = args.files.first().map_or(String::new(), |file| file.clone());
        found.push(LocatedFinding {
            id: "nothing-to-check",
            level: Level::Warning,
            rule: String::new(),
            at: Position::unread(file, 1, 1),
            message: NOTHING.to_owned(),
            hint: None,
        });
    }
    if args.quiet {
        found.retain(|finding| finding.level != Level::Note);
    }
    let _working = world.working_at();
    write(&found, annotations, args, &world.sources, stdout)?;
    let worst = found.iter().map(|found| found.level).max();
    Ok(match worst {
        _ if unreadable => UNREADABLE,
        Some(Level::Error) => BROKEN,
        Some(Level::Warning) if args.fail_on_warn => BROKEN,
        _ => OK,
    })
}

/// All annotations with rules of a file.
fn annotations_of(file: &LoadedFile) -> Vec<&RulesAnnotation> {
    let Ok(objects) = &file.objects else { return Vec::new() };
    let own = objects.vms.iter().filter_map(|vm| vm.rules.as_ref());
    let mut all: Vec<&RulesAnnotation> = own.chain(objects.templates.iter().filter_map(|t| t.rules.as_ref())).collect();
    all.sort_by_key(|annotation| annotation.key);
    all.dedup_by_key(|annotation| annotation.key);
    all
}

fn findings(annotation: &RulesAnnotation, file: &LoadedFile, found: &mut Vec<LocatedFinding>) -> Linted {
    let _working = file.working_at(annotation.key);
    let linted = match annotation.readable() {
        Ok(text) => lint(text),
        Err(problem) => Linted { findings: vec![unreadable(&problem)], readable: false },
    };
    for finding in &linted.findings {
        found.push(LocatedFinding {
            id: finding.id,
            level: match finding.severity {
                LintSeverity::Note => Level::Note,
                LintSeverity::Warning => Level::Warning,
                LintSeverity::Error => Level::Error,
            },
            rule: finding.rule.clone(),
            at: place(annotation, file, finding.offset),
            message: finding.message.clone(),
            hint: finding.hint.clone(),
        });
    }
    linted
}

/// Reports rules of a template that its own VM violates.
fn own_rules(vm: &Vm, file: &LoadedFile, world: &LoadedInputs, found: &mut Vec<LocatedFinding>) {
    let enclosing = vm.template.and_then(|index| file.objects.as_ref().ok()?.templates[index].rules.as_ref());
    let Some(annotation) = vm.rules.as_ref().or(enclosing) else { return };
    let Ok(rules) = annotation.rules() else { return };
    if is_abbreviated(vm) {
        found.push(LocatedFinding {
            id: "abbreviated-vm",
            level: Level::Note,
            rule: String::new(),
            at: place(annotation, file, 0),
            message: format!("the rules were not tried on the template: {ABBREVIATED}"),
            hint: None,
        });
        return;
    }
    let (value, sizing) = world.prepared(vm);
    if value.at(&["spec", "template"]).is_none() {
        // An abbreviated template: its VM has no values that could violate a rule.
        return;
    }
    for outcome in evaluate(&rules, &value, &sizing) {
        let broken_rule = rules
            .entries
            .iter()
            .any(|entry| entry.label() == outcome.rule && matches!(entry.state, rules::EntryState::Broken { .. }));
        // Problems of the rule itself are already reported.
        if broken_rule || !matches!(outcome.status, Status::Violation | Status::Error) {
            continue;
        }
        found.push(LocatedFinding {
            id: "own-vm-invalid",
            level: Level::Error,
            rule: outcome.rule,
            at: place(annotation, file, outcome.offset.unwrap_or(0)),
            message: format!("the template's own VM breaks this rule: {}", outcome.detail),
            hint: None,
        });
    }
}

/// Applies the fixes to a file; returns their number.
fn mend(file: &LoadedFile, host: &dyn Host, stderr: &mut dyn Write) -> Result<usize, Failure> {
    let text = file.text();
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    for annotation in annotations_of(file) {
        let _working = file.working_at(annotation.key);
        for edit in fix::edits(&annotation.text) {
            let start = annotation.locate(text, edit.offset);
            let end = start + edit.old.len();
            // Only if the text in the file is still the text of the annotation.
            if text.get(start..end) == Some(edit.old.as_bytes()) {
                let escaped = annotation.style == Style::DoubleQuoted;
                changes.push((start, end, if escaped { edit.new.replace('"', "\\\"") } else { edit.new }));
            }
        }
    }
    if changes.is_empty() {
        return Ok(0);
    }
    let Some(path) = &file.path else {
        return Err(usage(Id::FLAG_VALUE, "--fix cannot change standard input; give a file"));
    };
    changes.sort();
    let mut out = Vec::with_capacity(text.len() + 16 * changes.len());
    let mut at = 0;
    for (start, end, new) in &changes {
        out.extend_from_slice(&text[at..*start]);
        out.extend_from_slice(new.as_bytes());
        at = *end;
    }
    out.extend_from_slice(&text[at..]);
    within_limits()?;
    host.write(path, &out)?;
    writeln!(stderr, "{}: {} made", file.name, counted(changes.len(), "change"))?;
    Ok(changes.len())
}

fn write(
    found: &[LocatedFinding],
    annotations: usize,
    args: &KubevirtArgs,
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    match args.format {
        OutputFormat::Text if args.quiet => text(found, out),
        OutputFormat::Text => {
            text(found, out)?;
            summary(found, annotations, out)
        }
        OutputFormat::Json => json(found, out),
        OutputFormat::Junit => junit(found, out),
        OutputFormat::Diagnostics(rendering) => output::diagnostics(&issues(found), rendering, sources, out),
    }
}

fn issues(found: &[LocatedFinding]) -> Vec<Issue> {
    let issue = |found: &LocatedFinding| {
        let hint = found.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        let rule = if found.rule.is_empty() { String::new() } else { format!("rule {}: ", found.rule) };
        let text = format!("{rule}{}{hint}", found.message);
        let sort = match (found.id, found.level) {
            ("unreadable", _) if found.at.pos == Pos::UNKNOWN => Id::FILE_MISSING,
            (_, Level::Error) => Id::KUBEVIRT_RULE,
            _ => Id::KUBEVIRT_LINT,
        };
        Issue {
            id: found.id.to_owned(),
            sort,
            level: found.level,
            at: found.at.clone(),
            text,
            path: None,
            rule_at: None,
        }
    };
    found.iter().map(issue).collect()
}

fn text(found: &[LocatedFinding], out: &mut dyn Write) -> io::Result<()> {
    for finding in found {
        let rule = if finding.rule.is_empty() { String::new() } else { format!("rule {}: ", finding.rule) };
        let line = format!("{}: {}: {rule}{} [{}]", finding.at, finding.level.as_str(), finding.message, finding.id);
        writeln!(out, "{}", plain(&line))?;
        if let Some(hint) = &finding.hint {
            writeln!(out, "  hint: {}", plain(hint))?;
        }
    }
    Ok(())
}

fn summary(found: &[LocatedFinding], annotations: usize, out: &mut dyn Write) -> io::Result<()> {
    let count = |level| found.iter().filter(|finding| finding.level == level).count();
    let counts = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")];
    let counts: Vec<String> = counts.into_iter().map(|(level, word)| counted(count(level), word)).collect();
    writeln!(out, "{} checked: {}", counted(annotations, "annotation"), counts.join(", "))
}

fn json(found: &[LocatedFinding], out: &mut dyn Write) -> io::Result<()> {
    let valid = !found.iter().any(|finding| finding.level == Level::Error);
    write!(out, "{{\n  \"valid\": {valid},\n  \"findings\": [")?;
    for (i, finding) in found.iter().enumerate() {
        write!(
            out,
            "{}\n    {{\"id\": {}, \"severity\": \"{}\", \"rule\": {}, \"file\": {}, \"line\": {}, \"column\": {}, \"message\": {}, \"hint\": {}}}",
            if i == 0 { "" } else { "," },
            quoted(finding.id),
            finding.level.as_str(),
            quoted(&finding.rule),
            quoted(&finding.at.file),
            finding.at.line,
            finding.at.column,
            quoted(&finding.message),
            finding.hint.as_ref().map_or("null".to_owned(), |hint| quoted(hint)),
        )?;
    }
    writeln!(out, "{}\n}}", if found.is_empty() { "]" } else { "\n  ]" })
}

fn junit(found: &[LocatedFinding], out: &mut dyn Write) -> io::Result<()> {
    let errors = found.iter().filter(|finding| finding.level == Level::Error).count();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"ytterby kubevirt lint\">")?;
    writeln!(out, "  <testsuite name=\"lint\" tests=\"{}\" failures=\"{errors}\">", found.len())?;
    for finding in found {
        let (class, name) = (xml(&finding.at.to_string()), xml(finding.id));
        let message = xml(&finding.message);
        write!(out, "    <testcase classname=\"{class}\" name=\"{name}\">")?;
        if finding.level == Level::Error {
            writeln!(out, "<failure message=\"{message}\"/></testcase>")?;
        } else {
            writeln!(out, "<system-out>{}: {message}</system-out></testcase>", finding.level.as_str())?;
        }
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}
