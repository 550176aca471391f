//! Tries inputs: would this values file be accepted?
//!
//! Everything before the file is merged once, so an attempt costs only the merge of the file and a
//! validation. Nothing is evaluated again except rules.

use ytterby_diag::{Failure, Pos};
use ytterby_starlark::Eval;

use super::check::Mistyped;
use super::envelope::{Envelope, Input};
use super::merge::{MergeResult, try_merge};
use super::stage;
use crate::library::LibraryRun;
use crate::node::{Document, Node};
use crate::schema::Schema;
use crate::schema::check::CheckContext;

/// The data values of a library before and after one values file.
pub(crate) struct Trial {
    before: Document,
    /// Variables and flags, which apply after files.
    after: Vec<Envelope>,
}

impl Trial {
    /// Merges the files of a library and those of `given` that apply before a further values file.
    pub fn new(library: &LibraryRun, eval: &mut Eval, schema: &Schema, given: Vec<Envelope>) -> Result<Trial, Failure> {
        let (files, after): (Vec<Envelope>, Vec<Envelope>) =
            given.into_iter().partition(|envelope| envelope.separator.is_none());
        let before = stage::merged(library, eval, files, schema)?;
        Ok(Trial { before, after })
    }

    /// Whether the values are valid; otherwise the errors. Other failures end the attempt.
    pub fn accepts(
        &self,
        library: &LibraryRun,
        eval: &mut Eval,
        schema: &Schema,
        values: &Node,
    ) -> Result<Result<(), Failure>, Failure> {
        let mut doc = Document::new(values.clone(), Pos::UNKNOWN);
        crate::node::merge_plainly(&mut doc);
        let own = Envelope::new(doc, Input::Document)?;
        let mut merged = self.before.clone();
        // An empty values file has no effect.
        let own = Some(&own).filter(|_| !values.is_null());
        for input in own.into_iter().chain(&self.after) {
            match try_merge(&mut CheckContext { eval, run: &library.run }, schema, merged, input) {
                Ok(MergeResult::Merged(doc)) => merged = doc,
                Ok(MergeResult::Wrong(blocks)) => return Ok(Err(stage::wrong(blocks))),
                Err(failure) => return Ok(Err(failure)),
            }
        }
        match stage::validate(library, eval, &mut merged, Some(schema), &Mistyped::default()) {
            Ok(None) => Ok(Ok(())),
            Ok(Some(failure)) | Err(failure) => Ok(Err(failure)),
        }
    }
}
