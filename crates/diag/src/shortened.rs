//! Causes with too many parts to read.
//!
//! A template of one line can make a list of a million values that all break a rule. Nobody reads a report of 200 MB,
//! and making it takes longer than the run: the first parts are kept, and one more problem counts the rest.

use crate::failure::{Cause, SchemaBlock, ViolationBlock};
use crate::{Diagnostic, Failure};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::Part;
    use crate::{Id, Path, Pos, Text, Violation, ViolationPath};

    fn violations(count: usize) -> Cause {
        let violation = Violation {
            id: Id::find("rule/min").expect("the rule has an id"),
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

    #[test]
    fn a_list_is_kept_or_cut_and_counted() {
        assert_eq!(Failure::of(violations(MAX_PARTS)).diagnostics().len(), MAX_PARTS);
        let cut = Failure::of(violations(MAX_PARTS + 7)).diagnostics();
        assert_eq!(cut.len(), MAX_PARTS + 1);
        let last = cut.last().expect("there are some").message.plain().into_owned();
        assert_eq!(last, "7 more values break rules, of which this is the first");
    }
}
