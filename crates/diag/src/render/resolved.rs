//! Diagnostics with their texts formatted and their positions looked up.
//!
//! All renderings except ytt's start from here, so that a position has the same line and column in
//! each of them. Texts are cut at [`MAX_TEXT`]: code can create a message of any length, and log
//! viewers cannot handle that.

use crate::{
    Diagnostic, FileId, Fix, Frame, Help, Id, Label, Origin, Path, PlaceNames, Pos, Role, Severity, Source, Sources,
    Span, Text,
};

/// Maximum bytes of a text.
const MAX_TEXT: usize = 64 * 1024;

/// A problem, ready to be written.
pub(super) struct Resolved {
    pub(super) id: Id,
    pub(super) severity: Severity,
    /// One line, with the path in front.
    pub(super) message: String,
    pub(super) path: Option<Path>,
    pub(super) must_be: Option<String>,
    pub(super) expected: Option<String>,
    pub(super) found: Option<String>,
    pub(super) notes: Vec<String>,
    pub(super) helps: Vec<ResolvedHelp>,
    pub(super) labels: Vec<ResolvedLabel>,
    pub(super) frames: Vec<ResolvedFrame>,
    pub(super) data_values: Vec<Path>,
}

pub(super) struct ResolvedLabel {
    pub(super) range: SourceRange,
    pub(super) role: Role,
    pub(super) text: String,
}

pub(super) struct ResolvedHelp {
    pub(super) text: String,
    pub(super) fix: Option<ResolvedFix>,
}

pub(super) struct ResolvedFix {
    pub(super) title: String,
    /// Ranges and their replacements.
    pub(super) edits: Vec<(SourceRange, String)>,
}

pub(super) struct ResolvedFrame {
    pub(super) name: Option<String>,
    pub(super) range: SourceRange,
}

/// A range of a source, for people and for programs.
#[derive(Clone, PartialEq)]
pub(super) struct SourceRange {
    pub(super) span: Span,
    /// The path to open the source, or its name.
    pub(super) file: String,
    pub(super) start: Point,
    /// One past the last character.
    pub(super) end: Point,
}

/// A position in a source.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// Counted from 1.
    pub(super) line: u32,
    /// Characters, counted from 1.
    pub(super) column: u32,
    /// Bytes, counted from 0.
    pub(super) offset: u32,
}

impl Resolved {
    pub(super) fn new(diagnostic: &Diagnostic, sources: &Sources) -> Resolved {
        let shown = |text: &Text| limited(text.shown(sources, PlaceNames::Full));
        let label = |label: &Label| {
            let range = SourceRange::new(label.span(sources)?, sources)?;
            Some(ResolvedLabel { range, role: label.role, text: shown(&label.text) })
        };
        let help = |help: &Help| ResolvedHelp {
            text: shown(&help.text),
            fix: help.fix.as_ref().and_then(|fix| ResolvedFix::new(fix, sources)),
        };
        Resolved {
            id: diagnostic.id,
            severity: diagnostic.severity,
            message: limited(diagnostic.sentence(sources)),
            path: diagnostic.path.clone(),
            must_be: diagnostic.must_be.as_ref().map(shown),
            expected: diagnostic.expected.as_ref().map(shown),
            found: diagnostic.found.as_ref().map(shown),
            notes: diagnostic.notes.iter().map(shown).collect(),
            helps: diagnostic.helps.iter().map(help).collect(),
            labels: diagnostic.labels.iter().filter_map(label).collect(),
            frames: diagnostic.frames.iter().filter_map(|frame| ResolvedFrame::new(frame, sources)).collect(),
            data_values: diagnostic.data_values.clone(),
        }
    }

    /// Where the problem is.
    pub(super) fn range(&self) -> Option<&SourceRange> {
        self.labels.first().map(|label| &label.range)
    }

    /// The first position with this role.
    pub(super) fn place(&self, role: Role) -> Option<&SourceRange> {
        self.labels.iter().find(|label| label.role == role).map(|label| &label.range)
    }

    /// All advice.
    pub(super) fn hints(&self) -> impl Iterator<Item = &String> {
        self.helps.iter().map(|help| &help.text)
    }

    /// Notes and advice, each with its name: `note` or `help`.
    pub(super) fn remarks(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let notes = self.notes.iter().map(|note| ("note", note));
        notes.chain(self.helps.iter().map(|help| ("help", &help.text)))
    }

    /// The fixes that a program can apply: those that change only files.
    pub(super) fn file_fixes(&self, sources: &Sources) -> Vec<&ResolvedFix> {
        let is_file = |file: FileId| sources.get(file).is_some_and(|source| source.origin() == Origin::File);
        let fixes = self.helps.iter().filter_map(|help| help.fix.as_ref());
        fixes.filter(|fix| fix.edits.iter().all(|(range, _)| is_file(range.span.file))).collect()
    }
}

impl ResolvedFix {
    /// The fix, unless it changes secret text or is longer than a message may be.
    fn new(fix: &Fix, sources: &Sources) -> Option<ResolvedFix> {
        if fix.edits.iter().map(|edit| edit.replacement.len()).sum::<usize>() > MAX_TEXT {
            return None;
        }
        let edits = fix.edits.iter().map(|edit| {
            let span = edit.span(sources)?;
            let hidden = sources.get(span.file)?.hidden_in(span.start as usize..span.end as usize);
            let range = SourceRange::new(span, sources)?;
            hidden.is_empty().then(|| (range, edit.replacement.clone()))
        });
        Some(ResolvedFix { title: limited(fix.title.clone()), edits: edits.collect::<Option<_>>()? })
    }
}

impl ResolvedFrame {
    fn new(frame: &Frame, sources: &Sources) -> Option<ResolvedFrame> {
        let Pos { file, offset } = sources.source_place(frame.place);
        let range = SourceRange::new(Span::new(file, offset, offset), sources)?;
        Some(ResolvedFrame { name: frame.name.clone().map(limited), range })
    }
}

impl SourceRange {
    fn new(span: Span, sources: &Sources) -> Option<SourceRange> {
        let source = sources.get(span.file)?;
        let (start, end) = (Point::new(&source, span.start), Point::new(&source, span.end));
        Some(SourceRange { span, file: source.place().to_owned(), start, end })
    }
}

impl Point {
    fn new(source: &Source, offset: u32) -> Point {
        let (line, column) = source.line_column(offset);
        Point { line, column, offset }
    }
}

/// Cuts a text at the limit.
fn limited(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let fits = (0..=MAX_TEXT - '…'.len_utf8()).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(fits.unwrap_or_default());
        text.push('…');
    }
    text
}
