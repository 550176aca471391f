//! A Code Quality report of GitLab: one JSON array, shown in merge requests.
//!
//! GitLab compares the reports of two branches by fingerprint. Line numbers are not part of a
//! fingerprint, so that a problem stays the same when lines above it change.

use std::collections::HashMap;

use super::Report;
use super::json::{ObjectWriter, array};
use super::resolved::{Point, Resolved};
use crate::Severity;

pub(super) fn render(report: &Report<'_>) -> String {
    let mut known = HashMap::new();
    array(report.resolved().iter().map(|problem| entry(problem, &mut known))) + "\n"
}

fn entry(problem: &Resolved, known: &mut HashMap<u64, u32>) -> String {
    let severity = match problem.severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Note => "info",
    };
    ObjectWriter::new()
        .text("description", &problem.message)
        .text("check_name", problem.id.name())
        .text("fingerprint", &fingerprint(problem, known))
        .text("severity", severity)
        .raw("location", &location(problem))
        .finish()
}

/// The position. GitLab ignores entries without one, so a problem of the whole run is reported for
/// the root directory.
fn location(problem: &Resolved) -> String {
    let Some(range) = problem.range() else {
        return ObjectWriter::new()
            .text("path", ".")
            .raw("lines", &ObjectWriter::new().number("begin", 1_u32).finish())
            .finish();
    };
    let point = |point: Point| ObjectWriter::new().number("line", point.line).number("column", point.column).finish();
    let lines = ObjectWriter::new().number("begin", range.start.line).number("end", range.end.line);
    let positions = ObjectWriter::new().raw("begin", &point(range.start)).raw("end", &point(range.end));
    ObjectWriter::new()
        .text("path", &range.file)
        .raw("lines", &lines.finish())
        .raw("positions", &positions.finish())
        .finish()
}

/// A fingerprint that is stable across runs and unique in a report.
fn fingerprint(problem: &Resolved, known: &mut HashMap<u64, u32>) -> String {
    let file = problem.range().map_or("", |range| &range.file);
    let mut hash = FNV_START;
    for text in [problem.id.name(), file, &problem.message] {
        hash = fnv(fnv(hash, text.as_bytes()), &[0]);
    }
    // Identical problems get a sequence number.
    let number = known.entry(hash).or_default();
    if *number > 0 {
        hash = fnv(hash, &number.to_le_bytes());
    }
    *number += 1;
    format!("{hash:016x}")
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: short, and the same on every machine and in every version of Rust.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
