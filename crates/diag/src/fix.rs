//! Applies fixes: returns the changed sources, or the difference as text.
//!
//! Nothing is written here; a host decides what to do with the result. A fix is applied as a whole
//! or not at all.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use ytterby_text::budget;

use crate::{FileId, Fix, Origin, REDACTED, Source, Sources, unified_hunks};

/// The files that fixes change, with their new content. A fix is omitted if it overlaps an earlier
/// one, or if it changes sources other than files. Identical edits are applied once.
pub fn apply_fixes<'a>(sources: &Sources, fixes: impl IntoIterator<Item = &'a Fix>) -> Vec<(FileId, Vec<u8>)> {
    let edited = |(file, edits): (FileId, Vec<PlainEdit>)| Some((file, content(&*sources.get(file)?, &edits)));
    accepted(sources, fixes).into_iter().filter_map(edited).collect()
}

/// The same as a unified diff for people: secrets are replaced.
pub fn diff_of_fixes<'a>(sources: &Sources, fixes: impl IntoIterator<Item = &'a Fix>) -> String {
    let mut out = String::new();
    for (file, edits) in accepted(sources, fixes) {
        let Some(source) = sources.get(file) else { continue };
        let (old, new) = (source.shown_text(), shown_content(&source, &edits));
        let hunks = unified_hunks(&old, &new);
        if !hunks.is_empty() {
            let name = source.place();
            out.push_str(&format!("--- {name}\n+++ {name}\n{hunks}"));
        }
    }
    out
}

/// An edit as a range of bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PlainEdit {
    range: Range<usize>,
    replacement: String,
}

impl PlainEdit {
    /// Whether the edits conflict. Adjacent edits do not.
    fn overlaps(&self, other: &PlainEdit) -> bool {
        self.range.start < other.range.end && other.range.start < self.range.end
    }
}

/// The accepted edits of a file, of which none overlap.
#[derive(Default)]
struct Made {
    edits: HashSet<PlainEdit>,
    /// The ends of ranges by their starts; insertions are separate.
    ranges: BTreeMap<usize, usize>,
    insertions: BTreeSet<usize>,
}

impl Made {
    fn add(&mut self, edit: &PlainEdit) {
        match edit.range.is_empty() {
            true => drop(self.insertions.insert(edit.range.start)),
            false => drop(self.ranges.insert(edit.range.start, edit.range.end)),
        }
        self.edits.insert(edit.clone());
    }

    fn overlaps(&self, edit: &PlainEdit) -> bool {
        let Range { start, end } = edit.range;
        let last = self.ranges.range(..end).next_back();
        let inside = start + 1..end.max(start + 1);
        last.is_some_and(|(_, last)| *last > start) || self.insertions.range(inside).next().is_some()
    }
}

/// The edits to apply in each file, sorted by their ranges.
fn accepted<'a>(sources: &Sources, fixes: impl IntoIterator<Item = &'a Fix>) -> BTreeMap<FileId, Vec<PlainEdit>> {
    let mut found: BTreeMap<FileId, Vec<PlainEdit>> = BTreeMap::new();
    let mut made: BTreeMap<FileId, Made> = BTreeMap::new();
    for fix in fixes {
        let Some(edits) = plain_edits(sources, fix) else { continue };
        let is_new = |(file, edit): &(FileId, PlainEdit)| !made.get(file).is_some_and(|made| made.edits.contains(edit));
        let new: Vec<_> = edits.into_iter().filter(is_new).collect();
        let _ = budget::work(new.len() * new.len());
        let fits = new.iter().enumerate().all(|(number, (file, edit))| {
            let mut own = new[..number].iter().filter(|(other, _)| other == file).map(|(_, edit)| edit);
            !made.get(file).is_some_and(|made| made.overlaps(edit)) && !own.any(|other| other.overlaps(edit))
        });
        if fits {
            for (file, edit) in new {
                made.entry(file).or_default().add(&edit);
                found.entry(file).or_default().push(edit);
            }
        }
    }
    // The sort is stable: insertions at one position stay in the order of the problems.
    found.values_mut().for_each(|edits| edits.sort_by_key(|edit| (edit.range.start, edit.range.end)));
    found
}

/// The edits of a fix, if all of them are in files.
fn plain_edits(sources: &Sources, fix: &Fix) -> Option<Vec<(FileId, PlainEdit)>> {
    let plain = |edit: &crate::Edit| {
        let span = edit.span(sources)?;
        let is_file = sources.get(span.file)?.origin() == Origin::File;
        let range = span.start as usize..span.end as usize;
        is_file.then(|| (span.file, PlainEdit { range, replacement: edit.replacement.clone() }))
    };
    fix.edits.iter().map(plain).collect()
}

fn content(source: &Source, edits: &[PlainEdit]) -> Vec<u8> {
    let text = source.text();
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for edit in edits {
        out.extend_from_slice(&text[copied..edit.range.start]);
        out.extend_from_slice(edit.replacement.as_bytes());
        copied = edit.range.end;
    }
    out.extend_from_slice(&text[copied..]);
    out
}

/// The content with secrets replaced. The replacement of a part of a secret is secret, too.
fn shown_content(source: &Source, edits: &[PlainEdit]) -> String {
    let mut out = String::new();
    let mut copied = 0;
    for edit in edits {
        out.push_str(&source.shown(copied..edit.range.start));
        let is_hidden = !source.hidden_in(edit.range.clone()).is_empty();
        out.push_str(if is_hidden { REDACTED } else { &edit.replacement });
        copied = edit.range.end;
    }
    out.push_str(&source.shown(copied..source.text().len()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edit, Part, Pos, Safety};

    fn fix(edits: &[(FileId, Range<u32>, &str)]) -> Fix {
        let edit = |(file, range, text): &(FileId, Range<u32>, &str)| {
            Edit::replace(Pos::new(*file, range.start), Part::Bytes(range.end - range.start), *text)
        };
        Fix { title: "Change it".to_owned(), edits: edits.iter().map(edit).collect(), safety: Safety::Safe }
    }

    fn changed(sources: &Sources, fixes: &[Fix]) -> Vec<String> {
        let made = apply_fixes(sources, fixes);
        made.into_iter().map(|(_, content)| String::from_utf8(content).unwrap()).collect()
    }

    #[test]
    fn fixes_are_applied_together() {
        let sources = Sources::new();
        let one = sources.add(Source::new("a.yml", *b"a: no\nb: 1.20\n"));
        let other = sources.add(Source::new("b.yml", *b"nmae: x\n"));
        let fixes = [fix(&[(one, 9..13, "\"1.20\"")]), fix(&[(one, 3..5, "\"no\""), (other, 0..4, "name")])];
        assert_eq!(changed(&sources, &fixes), ["a: \"no\"\nb: \"1.20\"\n", "name: x\n"]);
        assert_eq!(
            diff_of_fixes(&sources, &fixes[..1]),
            "--- a.yml\n+++ a.yml\n@@ -1,2 +1,2 @@\n a: no\n-b: 1.20\n+b: \"1.20\"\n"
        );
    }

    #[test]
    fn overlapping_fixes_are_omitted_as_a_whole() {
        let sources = Sources::new();
        let file = sources.add(Source::new("a.yml", *b"abcdef"));
        let fixes =
            [fix(&[(file, 1..3, "X")]), fix(&[(file, 2..4, "Y"), (file, 5..6, "Z")]), fix(&[(file, 3..4, "W")])];
        assert_eq!(changed(&sources, &fixes), ["aXWef"]);
    }

    #[test]
    fn equal_edits_are_applied_once() {
        let sources = Sources::new();
        let file = sources.add(Source::new("a.yml", *b"x"));
        let (one, other) = (fix(&[(file, 0..0, "1\n")]), fix(&[(file, 0..0, "2\n")]));
        assert_eq!(changed(&sources, &[one.clone(), other, one]), ["1\n2\nx"]);
    }

    #[test]
    fn only_files_are_changed() {
        let sources = Sources::new();
        let flag = sources.add(Source::new("(data-value arg)", *b"a=1").with_origin(Origin::Argument));
        assert!(changed(&sources, &[fix(&[(flag, 0..1, "b")])]).is_empty());
        assert_eq!(diff_of_fixes(&sources, &[fix(&[(flag, 0..1, "b")])]), "");
    }

    #[test]
    fn a_diff_shows_no_secrets() {
        let sources = Sources::new();
        let file = sources.add(Source::new("a.yml", *b"key: hush\nport: 80\n"));
        sources.hide(file, std::iter::once(5..9));
        let fixes = [fix(&[(file, 5..9, "\"hush\"")]), fix(&[(file, 10..14, "prot")])];
        let diff = diff_of_fixes(&sources, &fixes);
        assert!(diff.contains(" key: <redacted>\n-port: 80\n+prot: 80\n"), "{diff}");
        assert_eq!(changed(&sources, &fixes), ["key: \"hush\"\nprot: 80\n"]);
    }
}
