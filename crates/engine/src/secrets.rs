//! The secrets found in a run, which messages and excerpts of sources must not show.

use std::collections::HashSet;

use ytterby_diag::{Diagnostic, FileId, Part, Pos, Secrets, Source, Sources};

/// The secrets of a run's data values: the texts, for messages of code, and the positions, so that
/// excerpts of sources omit the values.
#[derive(Default, Debug)]
pub(crate) struct SecretValues {
    pub texts: Secrets,
    /// The items whose values are secrets.
    pub items: HashSet<Pos>,
    /// The number of names that undeclared keys were compared with.
    pub compared: usize,
}

impl SecretValues {
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.items.is_empty()
    }

    /// Hides secrets in the sources that these diagnostics refer to.
    pub fn hide_in_sources<'d>(&self, sources: &Sources, diagnostics: impl IntoIterator<Item = &'d Diagnostic>) {
        if self.is_empty() {
            return;
        }
        let mut files: HashSet<FileId> = HashSet::new();
        for diagnostic in diagnostics {
            files.extend(diagnostic.labels.iter().map(|label| label.pos.file));
            files.extend(diagnostic.frames.iter().flat_map(|frame| [frame.pos.file, frame.place.file]));
        }
        for file in files {
            let Some(source) = sources.get(file) else { continue };
            let found = self.texts.places(source.text()).into_iter();
            sources.hide(file, found.map(|range| range.start as u32..range.end as u32));
            let items = self.items.iter().filter(|pos| pos.file == file);
            sources.hide(file, items.map(|pos| hidden_range(&source, pos.offset)));
        }
    }
}

/// The range to hide for the item at an offset: its value, or the rest of the line in its place.
fn hidden_range(source: &Source, offset: u32) -> std::ops::Range<u32> {
    match source.outline().item(offset) {
        Some(item) if !item.value.is_empty() => item.value.clone(),
        Some(item) => item.key.end..rest_of_line(source, item.key.end).end,
        None => rest_of_line(source, offset),
    }
}

fn rest_of_line(source: &Source, offset: u32) -> std::ops::Range<u32> {
    source.part(offset, &Part::Line).unwrap_or(offset..offset)
}
