//! The overlays among a library's documents: takes them out and applies them to the others.

use ytterby_diag::Failure;
use ytterby_starlark::Eval;

use super::Purpose;
use super::left::LeftDocuments;
use super::merge::Merge;
use super::values::clean_with;
use crate::annotation::Ann;
use crate::node::{Annotated, DocumentSet};
use crate::run::Run;

/// Applies documents with `@overlay/match` to those without. `files` are in overlay order; `path`
/// returns a file's name for messages. Empty documents are dropped, and so are files without other
/// documents.
pub(crate) fn post_process<F>(
    eval: &mut Eval,
    run: &Run,
    files: Vec<(F, DocumentSet)>,
    path: impl Fn(&F) -> String,
) -> Result<Vec<(F, DocumentSet)>, Failure> {
    let mut overlays = Vec::new();
    let mut names = Vec::new();
    let mut kept = Vec::new();
    for (file, docs) in files {
        let (own, rest): (Vec<_>, Vec<_>) = docs.items.into_iter().partition(|doc| doc.has(Ann::OverlayMatch));
        if !own.is_empty() {
            names.push(path(&file));
            overlays.extend(own);
        }
        let rest: Vec<_> = rest.into_iter().filter(|doc| !doc.is_empty()).collect();
        if !rest.is_empty() {
            kept.push((file, DocumentSet { items: rest }));
        }
    }
    if overlays.is_empty() {
        return Ok(kept);
    }
    let (files, mut docs): (Vec<F>, Vec<_>) = kept.into_iter().map(|(file, docs)| (file, docs.items)).unzip();
    docs.iter_mut().flatten().for_each(|doc| clean_with(doc, run.reuse.as_deref()));
    let mut left = LeftDocuments::new(docs);
    let result = Merge::new(eval, run, Purpose::Templates).documents(&mut left, &overlays);
    result.map_err(|failure| failure.doing(format!("Overlaying (in following order: {})", names.join(", "))))?;
    let docs = left.into_files().into_iter().map(|items| DocumentSet { items });
    Ok(files.into_iter().zip(docs).collect())
}
