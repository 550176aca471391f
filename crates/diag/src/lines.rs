//! Differences of texts, line by line, in bounded time.
//!
//! Small differences are found by `similar`, whose time is quadratic in the number of changed
//! lines. Long texts are first divided at lines that occur once in both; a part that is still too
//! long is shown as replaced. The result depends on the texts only, unless the budget of the run
//! ends.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use similar::{Algorithm, DiffOp, TextDiff, capture_diff_slices, group_diff_ops};
use ytterby_text::budget;

/// Maximum product of the lines on both sides of what is compared in quadratic time: about half a
/// second.
const MAX_PRODUCT: usize = 4_000_000;

/// Maximum divisions of a part: each one reads it once.
const MAX_DIVISIONS: usize = 16;

/// Lines around a difference.
const CONTEXT: usize = 3;

/// The hunks of a unified diff.
pub fn unified_hunks(old: &str, new: &str) -> String {
    let lines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let product = lines(old).saturating_mul(lines(new));
    if product <= MAX_PRODUCT && budget::work(product).is_ok() {
        return TextDiff::from_lines(old, new).unified_diff().context_radius(CONTEXT).to_string();
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut found = Vec::new();
    compare(&old, &new, 0..old.len(), 0..new.len(), 0, &mut found);
    let groups = group_diff_ops(joined(found), CONTEXT);
    let mut out = String::new();
    for group in groups.iter().filter(|group| group.iter().any(|op| !matches!(op, DiffOp::Equal { .. }))) {
        write_hunk(group, &old, &new, &mut out);
    }
    out
}

/// Finds the operations for two ranges of lines, which are parts of parts at this depth.
fn compare(
    old: &[&str],
    new: &[&str],
    mut a: Range<usize>,
    mut b: Range<usize>,
    depth: usize,
    found: &mut Vec<DiffOp>,
) {
    let head = old[a.clone()].iter().zip(&new[b.clone()]).take_while(|(one, other)| one == other).count();
    equal(&a, &b, head, found);
    (a.start, b.start) = (a.start + head, b.start + head);
    let back = old[a.clone()].iter().rev().zip(new[b.clone()].iter().rev());
    let tail = back.take_while(|(one, other)| one == other).count();
    (a.end, b.end) = (a.end - tail, b.end - tail);
    let product = a.len().saturating_mul(b.len());
    if product <= MAX_PRODUCT && budget::work(product).is_ok() {
        let (one, other) = (&old[a.clone()], &new[b.clone()]);
        found.extend(capture_diff_slices(Algorithm::Myers, one, other).into_iter().map(|op| moved(op, &a, &b)));
    } else {
        let (mut from, mut to) = (a.start, b.start);
        let anchors = if depth < MAX_DIVISIONS { anchors(old, new, &a, &b) } else { Vec::new() };
        for (one, other) in &anchors {
            // Those that the equal lines after the last one contain.
            if *one < from || *other < to {
                continue;
            }
            compare(old, new, from..*one, to..*other, depth + 1, found);
            let rest = old[*one..a.end].iter().zip(&new[*other..b.end]);
            let run = rest.take_while(|(one, other)| one == other).count();
            equal(&(*one..a.end), &(*other..b.end), run, found);
            (from, to) = (one + run, other + run);
        }
        match anchors.is_empty() {
            true => found.push(DiffOp::Replace {
                old_index: a.start,
                old_len: a.len(),
                new_index: b.start,
                new_len: b.len(),
            }),
            false => compare(old, new, from..a.end, to..b.end, depth + 1, found),
        }
    }
    equal(&(a.end..a.end + tail), &(b.end..b.end + tail), tail, found);
}

fn equal(a: &Range<usize>, b: &Range<usize>, len: usize, found: &mut Vec<DiffOp>) {
    if len > 0 {
        found.push(DiffOp::Equal { old_index: a.start, new_index: b.start, len });
    }
}

/// Pairs of lines that occur once on each side, in the same order on both: the longest such list.
fn anchors(old: &[&str], new: &[&str], a: &Range<usize>, b: &Range<usize>) -> Vec<(usize, usize)> {
    if budget::work(a.len() + b.len()).is_err() {
        return Vec::new();
    }
    let once = |lines: &[&str], range: &Range<usize>| {
        let mut places: HashMap<String, Option<usize>> = HashMap::new();
        for at in range.clone() {
            places.entry(lines[at].to_owned()).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let there = once(new, b);
    let mut pairs: Vec<(usize, usize)> =
        once(old, a).iter().filter_map(|(line, at)| Some(((*at)?, (*there.get(line)?)?))).collect();
    pairs.sort_unstable();
    // For each length, the list that ends first; and the pair before each one in its list.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut list = Vec::new();
    let mut at = ends.last().copied();
    while let Some(number) = at {
        list.push(pairs[number]);
        at = before[number];
    }
    list.reverse();
    list
}

/// An operation of a part, in the whole.
fn moved(op: DiffOp, a: &Range<usize>, b: &Range<usize>) -> DiffOp {
    let (old, new) = (op.old_range(), op.new_range());
    let (old_index, new_index) = (old.start + a.start, new.start + b.start);
    match op {
        DiffOp::Equal { len, .. } => DiffOp::Equal { old_index, new_index, len },
        DiffOp::Delete { old_len, .. } => DiffOp::Delete { old_index, old_len, new_index },
        DiffOp::Insert { new_len, .. } => DiffOp::Insert { old_index, new_index, new_len },
        DiffOp::Replace { old_len, new_len, .. } => DiffOp::Replace { old_index, old_len, new_index, new_len },
    }
}

/// Joins equal lines that follow each other, because groups are divided at long ones.
fn joined(ops: Vec<DiffOp>) -> Vec<DiffOp> {
    let mut out: Vec<DiffOp> = Vec::new();
    for op in ops {
        match (out.last_mut(), op) {
            (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) => *len += more,
            _ => out.push(op),
        }
    }
    out
}

fn write_hunk(group: &[DiffOp], old: &[&str], new: &[&str], out: &mut String) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let removed = first.old_range().start..last.old_range().end;
    let added = first.new_range().start..last.new_range().end;
    let _ = writeln!(out, "@@ -{} +{} @@", shown(removed), shown(added));
    for op in group {
        match op {
            DiffOp::Equal { .. } => write_lines(' ', &old[op.old_range()], out),
            _ => {
                write_lines('-', &old[op.old_range()], out);
                write_lines('+', &new[op.new_range()], out);
            }
        }
    }
}

fn write_lines(mark: char, lines: &[&str], out: &mut String) {
    for line in lines {
        out.push(mark);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Lines as in the header of a hunk.
fn shown(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers as lines.
    fn numbers(range: Range<usize>) -> String {
        range.map(|number| format!("{number}\n")).collect()
    }

    #[test]
    fn long_texts_are_divided_at_equal_lines() {
        let (old, new) = (numbers(0..9000), numbers(0..9000).replace("\n5\n", "\nx\n").replace("\n8990\n", "\n"));
        let whole = TextDiff::from_lines(&old, &new).unified_diff().context_radius(CONTEXT).to_string();
        assert_eq!(unified_hunks(&old, &new), whole);
        let end = (old.clone() + "a", old + "b\n");
        let whole = TextDiff::from_lines(&end.0, &end.1).unified_diff().context_radius(CONTEXT).to_string();
        assert_eq!(unified_hunks(&end.0, &end.1), whole);
    }

    /// Quadratic time would be minutes.
    #[test]
    fn texts_without_equal_lines_are_replaced() {
        let (old, new) = ("a\n".repeat(100_000), "b\n".repeat(200_000));
        let found = unified_hunks(&old, &new);
        assert!(found.starts_with("@@ -1,100000 +1,200000 @@\n-a\n") && found.ends_with("+b\n"));
        assert_eq!(found.lines().count(), 300_001);
        // Each line occurs once in the rest after the one before it.
        let chain = |end: &str| -> String {
            let lines = (0..50_000).map(|number| format!("{}\n{number}\n", number + 2));
            format!("1\n0\n{}{end}", lines.collect::<String>())
        };
        assert!(unified_hunks(&chain("a\n"), &("b\n".to_owned() + &chain("c\n"))).ends_with("+c\n"));
        // In another order, each line occurs once on both sides.
        let back: String = (0..50_000).rev().map(|number| format!("{number}\n")).collect();
        let found = unified_hunks(&numbers(0..50_000), &back);
        assert_eq!(found.lines().filter(|line| line.starts_with('+')).count(), 49_999);
    }
}
