//! Causes with too many parts to read.
//!
//! A template of one line can make a list of a million values that all break a rule. Nobody reads a
//! report of 200 MB, and making it takes longer than the run: the first parts are kept, and one
//! more problem counts the rest.

use crate::failure::{Cause, CodeMessage, CodeProblem, SchemaBlock, ViolationBlock};
use crate::{Diagnostic, Failure, Pos, Text};

/// Parts of one cause that are reported.
const MAX_PARTS: usize = 1_000;

/// The same cause with [`MAX_PARTS`] parts at most.
pub(crate) fn shortened(cause: Cause) -> Cause {
    match cause {
        Cause::Violations(mut blocks) if blocks.len() > MAX_PARTS => {
            let rest = blocks.split_off(MAX_PARTS);
            let more = more_violations(&rest);
            series(Cause::Violations(blocks), more)
        }
        Cause::Schema(mut report) if report.blocks.len() > MAX_PARTS => {
            let rest = report.blocks.split_off(MAX_PARTS);
            let more = more_mismatches(&rest);
            series(Cause::Schema(report), more)
        }
        // Errors about names end with one that counts the rest.
        Cause::Code(mut problems) if problems.len() > MAX_PARTS + 1 => {
            let rest = problems.split_off(MAX_PARTS);
            problems.extend(more_problems(rest));
            Cause::Code(problems)
        }
        Cause::StrictAnnotations(mut refused, failure) if refused.len() > MAX_PARTS => {
            let rest = refused.split_off(MAX_PARTS);
            refused.extend(more_annotations(rest));
            Cause::StrictAnnotations(refused, failure)
        }
        Cause::Series(mut failures) if failures.len() > MAX_PARTS => {
            let rest = failures.split_off(MAX_PARTS);
            failures.extend(more_failures(&rest));
            Cause::Series(failures)
        }
        short => short,
    }
}

fn series(first: Cause, more: Option<Diagnostic>) -> Cause {
    let more = more.map(Failure::from);
    Cause::Series(std::iter::once(Failure::of(first)).chain(more).collect())
}

fn more_violations(rest: &[ViolationBlock]) -> Option<Diagnostic> {
    let first = rest.first()?;
    let message = format!("{} more values break rules, of which this is the first", rest.len());
    Some(Diagnostic::error(first.violations.first()?.id, message).at(first.from, first.part.clone()))
}

fn more_mismatches(rest: &[SchemaBlock]) -> Option<Diagnostic> {
    let first = rest.first()?;
    let message = format!("{} more values do not fit the schema, of which this is the first", rest.len());
    Some(Diagnostic::error(first.id, message).at(first.pos, first.part.clone()))
}

fn more_problems(rest: Vec<CodeProblem>) -> Option<CodeProblem> {
    let message = Text::new(format!("{} more errors, of which this is the first", rest.len()));
    let first = rest.into_iter().next()?;
    let message = CodeMessage::Text(message);
    Some(CodeProblem { message, related: Vec::new(), hint: None, helps: Vec::new(), ..first })
}

fn more_failures(rest: &[Failure]) -> Option<Failure> {
    let first = rest.first()?.diagnostics().into_iter().next()?;
    let place = first.problem_label().map_or(Pos::UNKNOWN, |label| label.pos);
    let message = format!("{} more errors, of which this is the first", rest.len());
    let mut text = Text::new(message.clone());
    if place.is_known() {
        text = text.then(" (").at(place).then(")");
    }
    let mut more = Diagnostic::error(first.id, message).reference(text);
    more.labels.extend(first.labels.into_iter().next());
    Some(more.into())
}

fn more_annotations(rest: Vec<Diagnostic>) -> Option<Diagnostic> {
    let message = format!("{} more annotations, of which this is the first", rest.len());
    let first = rest.into_iter().next()?;
    Some(Diagnostic { labels: first.labels, ..Diagnostic::error(first.id, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::Part;
    use crate::{Id, Path, Violation, ViolationPath};

    fn violations(count: usize) -> Cause {
        let violation = Violation {
            id: Id::RULE_MIN,
            must_be: Text::new("a value >= 2"),
            found: Text::new("value < 2"),
            message: None,
            by: Pos::UNKNOWN,
            by_part: Part::Value,
            reasons: Vec::new(),
            helps: Vec::new(),
        };
        let block = ViolationBlock {
            path: ViolationPath::Path(Path::default()),
            suffix: Text::default(),
            from: Pos::UNKNOWN,
            part: Part::Value,
            reads: Vec::new(),
            violations: vec![violation],
        };
        Cause::Violations(vec![block; count])
    }

    /// The last one of `count` diagnostics.
    fn last_of(cause: Cause, count: usize) -> String {
        let diagnostics = Failure::of(cause).diagnostics();
        assert_eq!(diagnostics.len(), count);
        diagnostics.last().expect("there are some").message.plain().into_owned()
    }

    #[test]
    fn the_rest_of_a_long_list_is_counted() {
        let series = |count: usize| Cause::Series(vec![Failure::new(Id::RULE_MIN, "wrong"); count]);
        let refused = |count: usize| {
            Cause::StrictAnnotations(vec![Diagnostic::error(Id::ANNOTATION_DUPLICATE, "wrong"); count], None)
        };
        let lists: [(&dyn Fn(usize) -> Cause, &str); 3] = [
            (&violations, "7 more values break rules, of which this is the first"),
            (&series, "7 more errors, of which this is the first"),
            (&refused, "7 more annotations, of which this is the first"),
        ];
        for (of, rest) in lists {
            assert_ne!(last_of(of(MAX_PARTS), MAX_PARTS), rest);
            assert_eq!(last_of(of(MAX_PARTS + 7), MAX_PARTS + 1), rest);
        }
    }
}
