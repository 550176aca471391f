//! `lint`: finds mistakes in the rules themselves, and fixes some.
//!
//! The library finds mistakes in one annotation; this command adds their positions, rules that a
//! template's own VM violates, and the output formats.

use std::borrow::Cow;
use std::io::{self, Write};

use super::args::{KubevirtArgs, OutputFormat};
use super::load::LoadedFile;
use super::output::{self, counted, plain, xml};
use super::report::Position;
use super::validate::{ABBREVIATED, is_abbreviated};
use super::world::{LoadedInputs, place};
use super::{BROKEN, Failure, Host, NOTHING, OK, UNREADABLE, usage, within_limits};
use ytterby_diag::{Diagnostic, Id, Pos, Severity, Sources, Text};
use ytterby_kubevirt::evaluate::{Status, evaluate};
use ytterby_kubevirt::fix;
use ytterby_kubevirt::lint::{LintFinding, Linted, lint, unreadable};
use ytterby_kubevirt::lints::Lint;
use ytterby_kubevirt::objects::{RulesAnnotation, Vm};
use ytterby_kubevirt::rules;
use ytterby_kubevirt::value::quoted;
use ytterby_yaml::Style;

/// A finding and its position.
struct LocatedFinding {
    finding: LintFinding,
    at: Position,
}

impl LocatedFinding {
    /// A finding of this command.
    fn new(lint: Lint, rule: String, at: Position, message: impl Into<String>) -> LocatedFinding {
        LocatedFinding { finding: LintFinding::new(lint, rule, 0, message.into(), None), at }
    }

    fn severity(&self) -> Severity {
        self.finding.diagnostic.severity
    }

    fn id(&self) -> &'static str {
        self.finding.lint.id()
    }

    fn message(&self) -> Cow<'_, str> {
        self.finding.diagnostic.message.plain()
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        self.finding.diagnostic.helps.first().map(|help| help.text.plain())
    }

    /// `rule cores: `; empty if the finding is about the whole annotation.
    fn prefix(&self) -> String {
        let rule = &self.finding.rule;
        if rule.is_empty() { String::new() } else { format!("rule {rule}: ") }
    }

    /// The diagnostic with its position, for renderings that have no fields for the id of the
    /// finding and the rule.
    fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = self.finding.diagnostic.clone();
        let start = Text::new(format!("{}: {}", self.id(), self.prefix()));
        diagnostic.message = start.join(std::mem::take(&mut diagnostic.message));
        if self.finding.lint == Lint::Unreadable && self.at.pos == Pos::UNKNOWN {
            diagnostic.id = Id::FILE_MISSING;
        }
        output::placed(diagnostic, &self.at)
    }
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
                found.push(LocatedFinding::new(Lint::Unreadable, String::new(), at, &*problem.message));
                unreadable = true;
            }
            Ok(objects) => {
                let texts = annotations_of(file);
                annotations += texts.len();
                for annotation in texts {
                    unreadable |= !findings(annotation, file, &mut found);
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
        let at = Position::unread(file, 1, 1);
        found.push(LocatedFinding::new(Lint::NothingToCheck, String::new(), at, NOTHING));
    }
    if args.quiet {
        found.retain(|finding| finding.severity() != Severity::Note);
    }
    let _working = world.working_at();
    write(&found, annotations, args, &world.sources, stdout)?;
    let has = |severity| found.iter().any(|finding| finding.severity() == severity);
    Ok(match () {
        () if unreadable => UNREADABLE,
        () if has(Severity::Error) || args.fail_on_warn && has(Severity::Warning) => BROKEN,
        () => OK,
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

/// Adds the findings in an annotation; returns whether it could be parsed.
fn findings(annotation: &RulesAnnotation, file: &LoadedFile, found: &mut Vec<LocatedFinding>) -> bool {
    let _working = file.working_at(annotation.key);
    let linted = match annotation.readable() {
        Ok(text) => lint(text),
        Err(problem) => Linted { findings: vec![unreadable(&problem)], readable: false },
    };
    let located = |finding: LintFinding| LocatedFinding { at: place(annotation, file, finding.offset), finding };
    found.extend(linted.findings.into_iter().map(located));
    linted.readable
}

/// Reports rules of a template that its own VM violates.
fn own_rules(vm: &Vm, file: &LoadedFile, world: &LoadedInputs, found: &mut Vec<LocatedFinding>) {
    let enclosing = vm.template.and_then(|index| file.objects.as_ref().ok()?.templates[index].rules.as_ref());
    let Some(annotation) = vm.rules.as_ref().or(enclosing) else { return };
    let Ok(rules) = annotation.rules() else { return };
    if is_abbreviated(vm) {
        let message = format!("the rules were not tried on the template: {ABBREVIATED}");
        let at = place(annotation, file, 0);
        found.push(LocatedFinding::new(Lint::AbbreviatedVm, String::new(), at, message));
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
        let at = place(annotation, file, outcome.offset.unwrap_or(0));
        let message = format!("the template's own VM breaks this rule: {}", outcome.detail);
        found.push(LocatedFinding::new(Lint::OwnVmInvalid, outcome.rule, at, message));
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
        OutputFormat::Diagnostics(rendering) => {
            output::diagnostics(found.iter().map(LocatedFinding::diagnostic), rendering, sources, out)
        }
    }
}

fn text(found: &[LocatedFinding], out: &mut dyn Write) -> io::Result<()> {
    for finding in found {
        let (severity, prefix) = (finding.severity().name(), finding.prefix());
        let line = format!("{}: {severity}: {prefix}{} [{}]", finding.at, finding.message(), finding.id());
        writeln!(out, "{}", plain(&line))?;
        if let Some(hint) = finding.hint() {
            writeln!(out, "  hint: {}", plain(&hint))?;
        }
    }
    Ok(())
}

fn summary(found: &[LocatedFinding], annotations: usize, out: &mut dyn Write) -> io::Result<()> {
    let count = |severity| found.iter().filter(|finding| finding.severity() == severity).count();
    let severities = [Severity::Error, Severity::Warning, Severity::Note];
    let counts = severities.map(|severity| counted(count(severity), severity.name()));
    writeln!(out, "{} checked: {}", counted(annotations, "annotation"), counts.join(", "))
}

fn json(found: &[LocatedFinding], out: &mut dyn Write) -> io::Result<()> {
    let valid = !found.iter().any(|finding| finding.severity() == Severity::Error);
    write!(out, "{{\n  \"valid\": {valid},\n  \"findings\": [")?;
    for (i, finding) in found.iter().enumerate() {
        write!(
            out,
            "{}\n    {{\"id\": {}, \"severity\": \"{}\", \"rule\": {}, \"file\": {}, \"line\": {}, \"column\": {}, \"message\": {}, \"hint\": {}}}",
            if i == 0 { "" } else { "," },
            quoted(finding.id()),
            finding.severity().name(),
            quoted(&finding.finding.rule),
            quoted(&finding.at.file),
            finding.at.line,
            finding.at.column,
            quoted(&finding.message()),
            finding.hint().map_or("null".to_owned(), |hint| quoted(&hint)),
        )?;
    }
    writeln!(out, "{}\n}}", if found.is_empty() { "]" } else { "\n  ]" })
}

fn junit(found: &[LocatedFinding], out: &mut dyn Write) -> io::Result<()> {
    let errors = found.iter().filter(|finding| finding.severity() == Severity::Error).count();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"ytterby kubevirt lint\">")?;
    writeln!(out, "  <testsuite name=\"lint\" tests=\"{}\" failures=\"{errors}\">", found.len())?;
    for finding in found {
        let (class, name) = (xml(&finding.at.to_string()), xml(finding.id()));
        let message = xml(&finding.message());
        write!(out, "    <testcase classname=\"{class}\" name=\"{name}\">")?;
        if finding.severity() == Severity::Error {
            writeln!(out, "<failure message=\"{message}\"/></testcase>")?;
        } else {
            writeln!(out, "<system-out>{}: {message}</system-out></testcase>", finding.severity().name())?;
        }
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}
