//! Reports of limits: what a run was doing when it reached one, and what took most of the time.
//!
//! Functions deep inside a run only know that a charge to the budget (`ytterby_text::budget`) was
//! refused. [`within`] surrounds a run and makes a failure of that, with a position, the hottest
//! line and the flag that raises the limit.

use ytterby_text::budget::{self, WorkingAt};

use crate::{Diagnostic, Failure, FileId, Id, Label, Part, Pos, Role, Sources, Text};

/// Minimum share of the time, in percent, to report a line as the hottest.
const HOT: u64 = 20;

/// Notes that the data at a position is being worked on, until the guard is dropped. A limit that
/// is reached in the meantime is reported there, unless code reports it.
pub fn working_at(pos: Pos) -> WorkingAt {
    budget::working_at(pos.file.0, pos.offset)
}

/// Runs a function that walks over user data and may be unwound by a limit.
pub fn caught<T>(run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    budget::catch(run).unwrap_or_else(|exceeded| Err(exceeded.into()))
}

/// Runs a function to the end of the budget, and also reports limits that functions reached which
/// cannot fail. A failure at a limit contains the line that took most of the time, and the flag
/// that raises the limit.
pub fn within<T>(sources: &Sources, run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
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

/// Adds to a failure at a limit what the run was doing, the line that took most of the time, and
/// the flag that raises the limit.
pub fn explained(mut failure: Failure, sources: &Sources) -> Failure {
    let hottest = hottest_line(sources);
    if is_about_limit(&failure)
        && let Some(pos) = likely_position(sources, hottest.map(|(pos, _)| pos))
    {
        failure.place_at(pos, Part::Line);
    }
    failure.explain_limits(hottest.map(|(pos, part)| {
        let words = Text::new(format!("{part} % of the time was spent on this line"));
        Label::new(Role::Related, pos, Part::Line).text(words)
    }));
    failure
}

/// The position of a limit that no code reports: what was being worked on. The hottest line says
/// more if it is in the same file, or if nothing was noted.
fn likely_position(sources: &Sources, hottest: Option<Pos>) -> Option<Pos> {
    let pos = |noted: Option<(u32, u32)>| {
        let pos = noted.map(|(file, offset)| Pos::new(FileId(file), offset));
        pos.filter(|pos| sources.get(pos.file).is_some())
    };
    let noted = budget::exceeded_at();
    let Some(current) = pos(noted.current) else { return hottest.or(pos(noted.last)) };
    Some(hottest.filter(|hottest| current.offset == 0 && hottest.file == current.file).unwrap_or(current))
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
