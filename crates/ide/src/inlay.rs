//! Inlay hints: current values after code, and the block that an `end` closes.

use crate::TextRange;
use crate::context::Knowledge;
use crate::describe;
use crate::file::File;
use crate::model::RegionKind;
use crate::project::{Meaning, ProjectSnapshot};

/// An inlay hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InlayHint {
    /// Its position.
    pub offset: usize,
    /// Its text.
    pub label: String,
}

/// Blocks with at least this many lines are described at their `end`.
const LONG_BLOCK: usize = 20;

/// The hints in a part of a file.
pub fn hints(project: &ProjectSnapshot, file: &File, within: TextRange, known: Knowledge<'_>) -> Vec<InlayHint> {
    let model = file.model();
    let text = &*file.text;
    let mut found = Vec::new();
    for block in &model.blocks {
        if let Some(end) = block.end.filter(|_| block.end_line - block.line >= LONG_BLOCK) {
            let head: String = block.head.of(text).split_whitespace().collect::<Vec<_>>().join(" ");
            let head = if head.chars().count() > 50 { head.chars().take(49).chain(['…']).collect() } else { head };
            found.push(InlayHint { offset: end.end, label: format!(" {head}") });
        }
    }
    let Some(index) = project.index(&file.path) else { return found };
    let is_root = project.library(&project.files[index].logical).is_empty();
    if let (Some(values), true) = (known.values, is_root) {
        let schema = project.schema();
        let regions = model.regions.iter().filter(|region| {
            matches!(region.kind, RegionKind::Value { .. } | RegionKind::TextValue)
                && within.start <= region.range.end
                && region.range.start <= within.end
        });
        for region in regions {
            let code = region.range.of(text).trim();
            let from = model.chains.partition_point(|chain| chain.root_range.start < region.range.start);
            let Some(chain) = model.chains.get(from).filter(|chain| chain.root_range.start < region.range.end) else {
                continue;
            };
            let end = chain.parts.last().map_or(chain.root_range.end, |part| part.range.end);
            if TextRange::new(chain.root_range.start, end).of(text) != code || chain.is_called {
                continue;
            }
            let Some(Meaning::DataValue(path)) = project.meaning(index, chain, chain.parts.len()) else { continue };
            let Some(value) = values.at(&path).filter(|_| !path.is_empty()) else { continue };
            let shown = match schema.find(&path) {
                Some(node) => describe::hidden_parts(&schema, node, value),
                None => value.shown(),
            };
            if shown != describe::HIDDEN {
                found.push(InlayHint { offset: end, label: format!(" = {shown}") });
            }
        }
    }
    found.retain(|hint| within.touches(hint.offset));
    found.sort_by_key(|hint| hint.offset);
    found
}
