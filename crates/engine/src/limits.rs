//! The budget of a run: how it begins, and the errors when it is exceeded.
//!
//! The account itself is `ytterby_text::budget`, to which all work of a run is charged.

use ytterby_diag::{Diagnostic, Failure, FileId, Id, Label, Part, Pos, Role, Sources, Text};
use ytterby_text::budget::{self, BudgetGuard};

use crate::api::{MAX_STEPS, Options, Rendered};

/// Minimum share of the time, in percent, to report a line as the hottest.
const HOT: u64 = 20;

/// Opens the budget of the options.
pub(crate) fn begin(options: &Options) -> BudgetGuard {
    let mut limits = options.limits;
    if options.meter.is_none() {
        limits.steps.get_or_insert(MAX_STEPS);
    }
    budget::begin(limits, options.cancellation.clone(), options.meter.clone())
}

/// Charges the output of a run.
pub(crate) fn charge_output(rendered: Rendered) -> Result<Rendered, Failure> {
    budget::output(rendered.documents.len())?;
    for file in &rendered.files {
        budget::output(file.bytes.len())?;
    }
    Ok(rendered)
}

/// Runs a function that walks over user data and may be unwound by a limit.
pub(crate) fn caught<T>(run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    budget::catch(run).unwrap_or_else(|exceeded| Err(exceeded.into()))
}

/// Runs a function to the end of the budget, and also reports limits that functions reached which cannot fail. A failure
/// at a limit contains the line that took most of the time, and the flag that raises the limit.
pub(crate) fn within<T>(sources: &Sources, run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let outcome = match (caught(run), budget::check()) {
        (Ok(done), Ok(())) => return Ok(done),
        (Ok(_), Err(exceeded)) => exceeded.into(),
        // The function could only report that it failed; the account knows the reason.
        (Err(failure), Err(exceeded)) if !is_about_limit(&failure) => {
            let mut limit = Failure::from(exceeded);
            let diagnostics = failure.diagnostics();
            if let Some(label) = diagnostics.first().and_then(Diagnostic::problem_label) {
                limit.place_at(label.pos, label.part.clone());
            }
            limit
        }
        (Err(failure), _) => failure,
    };
    Err(explained(outcome, sources))
}

fn is_about_limit(failure: &Failure) -> bool {
    let ids = failure.diagnostics().into_iter().map(|diagnostic| diagnostic.id);
    ids.into_iter().any(|id| id.limit().is_some() || id == Id::LIMIT_CANCELLED)
}

fn explained(mut failure: Failure, sources: &Sources) -> Failure {
    let hottest = hottest_line(sources);
    // Walks over nodes do not know where they are; the code or the overlay that took longest does.
    if let Some((pos, _)) = hottest
        && is_about_limit(&failure)
    {
        failure.place_at(pos, Part::Line);
    }
    failure.explain_limits(hottest.map(|(pos, part)| {
        let words = Text::new(format!("{part} % of the time was spent on this line"));
        Label::new(Role::Related, pos, Part::Line).text(words)
    }));
    failure
}

/// The line that took most of the time.
fn hottest_line(sources: &Sources) -> Option<(Pos, u64)> {
    let mut lines: Vec<((FileId, u32), Pos, u64)> = Vec::new();
    for ((file, offset), part) in budget::hottest() {
        let pos = Pos::new(FileId(file), offset);
        let Some(source) = sources.get(pos.file) else { continue };
        let line = (pos.file, source.line(pos.offset));
        match lines.iter_mut().find(|known| known.0 == line) {
            Some(known) => known.2 += part,
            None => lines.push((line, pos, part)),
        }
    }
    let hottest = lines.into_iter().max_by_key(|line| line.2)?;
    (hottest.2 >= HOT).then_some((hottest.1, hottest.2.min(100)))
}
