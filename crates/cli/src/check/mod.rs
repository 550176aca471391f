//! `check`: finds problems without writing output.
//!
//! `ytterby_check` finds the problems; this module handles flags, input files, the report on
//! standard output, and fixes.

mod targets;

use std::sync::Arc;

use ytterby::{Failure, Limits};
use ytterby_check::{Cache, Depth};
use ytterby_diag::render::{Rendering, Report, render as report_text};
use ytterby_diag::{
    Cause, Diagnostic, Fix, Id, PlaceNames, Pos, Safety, Severity, Sources, Text, apply_fixes, diff_of_fixes,
};
use ytterby_text::budget;
use ytterby_text::spelling;

use crate::commands::flag;
use crate::flags::Invocation;
use crate::limits::Process;
use crate::write::Recovered;
use crate::{host, limits, report, write};

/// Maximum rounds of fixing: one fix can reveal another finding.
const ROUNDS: usize = 5;

/// Runs the command and returns the exit code.
pub fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let rendering = report::rendering(program, flags)?;
    // A limit that is set is for the whole command; the default is for each target.
    let given = limits::of_flags(flags)?;
    let whole = Limits { time: given.time, ..Limits::NONE };
    let _running = given.time.map(|_| budget::begin(whole, None, Some(Arc::new(Process::default()))));
    let ignored = ignored(flags)?;
    let deny = match flags.text(&flag::DENY) {
        "" => false,
        "warnings" => true,
        other => {
            let problem = Diagnostic::error(Id::FLAG_VALUE, format!("Unknown value '{other}' of --deny"));
            return Err(problem.help("--deny takes warnings").into());
        }
    };
    let mut sources = sources.clone();
    let mut findings = find(program, flags, rendering, &ignored, &sources)?;
    if flags.is_on(&flag::CHECK_DIFF) {
        let diff = diff_of_fixes(&sources, safe_fixes(&findings));
        if let Err(failure) = limits::write_result(diff.as_bytes(), given.output, place(&findings), &sources) {
            report::outcome(program, Err(&failure), &sources, rendering);
            return Ok(1);
        }
        return Ok(exit_code(&findings, deny));
    }
    let mut fixed = 0;
    let mut output = 0;
    let mut recovered = Recovered::default();
    if flags.is_on(&flag::FIX) {
        for _ in 0..ROUNDS {
            let changed = apply_fixes(&sources, safe_fixes(&findings));
            if changed.is_empty() {
                break;
            }
            output += changed.iter().map(|(_, content)| content.len()).sum::<usize>();
            if let Err(failure) = limits::charge_result(output, given.output, place(&findings), &sources) {
                report::outcome(program, Err(&failure), &sources, rendering);
                return Ok(1);
            }
            let before = findings.len();
            for (file, content) in changed {
                let Some(source) = sources.get(file) else { continue };
                write::change_source(source.place(), &content, &mut recovered)?;
            }
            sources = Arc::new(Sources::new());
            findings = find(program, flags, rendering, &ignored, &sources)?;
            fixed += before.saturating_sub(findings.len());
        }
    }
    let code = exit_code(&findings, deny);
    let pos = place(&findings);
    let reached: Vec<Diagnostic> = findings.iter().filter(|finding| finding.id.limit().is_some()).cloned().collect();
    let mut text = shown(program, findings, rendering, &sources);
    if fixed > 0 && !rendering.is_for_machines() {
        text.push_str(&format!("Fixed {fixed} problem{}\n", if fixed == 1 { "" } else { "s" }));
    }
    if let Err(failure) = limits::charge_result(output + text.len(), given.output, pos, &sources) {
        if reached.is_empty() {
            report::outcome(program, Err(&failure), &sources, rendering);
            return Ok(1);
        }
        // A limit that a target reached is reported in any case. The report of limits is short.
        text = shown(program, reached, rendering, &sources);
    }
    host::write_output(text.as_bytes())?;
    Ok(code)
}

/// The position of the first finding.
fn place(findings: &[Diagnostic]) -> Pos {
    let mut labels = findings.iter().filter_map(Diagnostic::primary);
    labels.next().map_or(Pos::UNKNOWN, |label| label.pos)
}

/// The ids that the flags ignore.
fn ignored(flags: &Invocation) -> Result<Vec<Id>, Failure> {
    let find = |name: &String| {
        Id::find(name).ok_or_else(|| {
            let lints = || Id::all().iter().map(|id| id.name()).filter(|id| id.starts_with("lint/"));
            let names = Id::all().iter().map(|id| id.name());
            let short = || lints().find(|id| id.ends_with(&format!("/{name}")));
            let advice = match short().or_else(|| spelling::nearest(name, names)) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("lints are {}", lints().collect::<Vec<_>>().join(", ")),
            };
            let text = format!("Unknown id '{name}' in --ignore");
            let problem = Diagnostic::error(Id::FLAG_VALUE, text.clone());
            Failure::from(problem.reference(format!("{text}\n    hint: {advice}")).help(advice))
        })
    };
    flags.list(&flag::IGNORE).iter().map(find).collect()
}

/// Checks all targets.
fn find(
    program: &str,
    flags: &Invocation,
    rendering: Rendering,
    ignored: &[Id],
    sources: &Arc<Sources>,
) -> Result<Vec<Diagnostic>, Failure> {
    let targets::CheckedTargets { targets, problems: mut findings } =
        targets::find(program, flags, rendering, sources)?;
    findings.extend(ytterby_check::check(&targets, Depth::Full, sources, &mut Cache::default()));
    findings.retain(|finding| {
        let can_be_ignored = finding.severity == Severity::Warning || finding.id == Id::CODE_UNKNOWN_VALUE;
        !(can_be_ignored && ignored.contains(&finding.id))
    });
    Ok(findings)
}

/// The fixes that are safe to apply without review.
fn safe_fixes(findings: &[Diagnostic]) -> impl Iterator<Item = &Fix> {
    let fixes = findings.iter().filter_map(|finding| finding.helps.iter().find_map(|help| help.fix.as_ref()));
    fixes.filter(|fix| fix.safety == Safety::Safe)
}

fn exit_code(findings: &[Diagnostic], deny: bool) -> i32 {
    let counts = |finding: &Diagnostic| deny || finding.severity == Severity::Error;
    i32::from(findings.iter().any(counts))
}

fn shown(program: &str, findings: Vec<Diagnostic>, rendering: Rendering, sources: &Sources) -> String {
    let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
    let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) = findings.into_iter().partition(is_error);
    if rendering == Rendering::Text {
        // ytt has no format for several errors of different stages, so each one gets a line with
        // its position.
        let lines = errors.into_iter().map(|error| Failure::from(with_place(error, sources)));
        let lines = lines.map(|failure| report_text(&Report::new(program, Some(&failure), &[], sources), rendering));
        let warnings: Vec<Diagnostic> = warnings.into_iter().map(|warning| with_place(warning, sources)).collect();
        return report_text(&Report::new(program, None, &warnings, sources), rendering) + &lines.collect::<String>();
    }
    let failures: Vec<Failure> = errors.into_iter().map(Failure::from).collect();
    let failure = (!failures.is_empty()).then(|| Failure::of(Cause::Series(failures)));
    report_text(&Report::new(program, failure.as_ref(), &warnings, sources), rendering)
}

/// Adds the position to a finding's text, relative to the working directory; errors also get their
/// first hint.
fn with_place(finding: Diagnostic, sources: &Sources) -> Diagnostic {
    let mut text = Text::new(finding.sentence(sources));
    if let Some(label) = finding.primary() {
        text = text.then(format!(" ({})", sources.locate_as(label.pos, PlaceNames::Full)));
    }
    if finding.severity == Severity::Warning {
        let warning = Diagnostic::warning(finding.id, text);
        return if finding.beyond_text { warning.beyond_text() } else { warning };
    }
    if let Some(help) = finding.helps.first() {
        text = text.then("\n    hint: ").join(help.text.clone());
    }
    Diagnostic::error(finding.id, finding.message.clone()).reference(text)
}
