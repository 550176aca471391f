//! Finds the data values that cause a problem in the output.
//!
//! A rule on the output, or the check of a host, reports a node. The data values that affect it are
//! found in the same way as by `explain`, but with a limited number of renders, depending on the
//! size of the output, because the user did not ask for it.

use std::collections::HashMap;
use std::rc::Rc;

use ytterby_diag::{Path, Pos};
use ytterby_text::budget;

use super::chain::is_same_document;
use super::experiment;
use super::is_related;
use super::nodes::{self, ComparedDocument};
use super::session::Session;
use crate::api::Silent;
use crate::causes::FindCauses;
use crate::library::{LibraryRun, PreparedLibrary};
use crate::node::Document;
use crate::run::Run;

/// Maximum number of nodes rendered in total: a fraction of a second.
const NODES: usize = 200_000;

/// Maximum number of nodes whose causes are found; reports list no more.
const TARGETS: usize = 1_000;

/// Finds causes in a library and its inputs.
pub(crate) struct Causes {
    library: LibraryRun,
    prepared: PreparedLibrary,
}

impl Causes {
    fn new(library: &LibraryRun, prepared: &PreparedLibrary) -> Causes {
        Causes { library: library.clone(), prepared: prepared.clone() }
    }

    /// The finder for the root library, if the host requests causes.
    pub fn wanted(library: &LibraryRun, prepared: &PreparedLibrary) -> Option<Causes> {
        let run = &library.run;
        let is_wanted = run.options.find_causes && run.is_beyond_ytt() && library.library.is_root();
        is_wanted.then(|| Causes::new(library, prepared))
    }
}

impl FindCauses for Causes {
    fn of(&self, wrong: &[(Document, Path)]) -> Vec<Vec<(Path, Pos)>> {
        let nothing = || vec![Vec::new(); wrong.len()];
        // Prints and warnings of the code were already reported.
        let run = &self.library.run;
        let mut quiet = Run::new(&run.options, &run.sources, Rc::new(Silent));
        quiet.is_one_of_many = true;
        let quiet = Rc::new(quiet);
        let eval = &mut quiet.new_eval();
        let library = LibraryRun { run: quiet, ..self.library.clone() };
        let session = Session::of(&library, &self.prepared);
        let Ok(base) = session.render(eval, &session.values, true) else { return nothing() };
        let mut at: HashMap<Pos, Vec<usize>> = HashMap::new();
        for (number, doc) in base.documents.iter().enumerate() {
            at.entry(doc.pos).or_default().push(number);
        }
        let target = |(doc, path): &(Document, Path)| {
            let number = at.get(&doc.pos)?.iter().find(|number| {
                budget::or_unwind(budget::work(1));
                is_same_document(&base.documents[**number], doc)
            })?;
            Some((*number, path.clone()))
        };
        let targets: Vec<Option<(usize, Path)>> =
            wrong.iter().enumerate().map(|(at, wrong)| if at < TARGETS { target(wrong) } else { None }).collect();
        // Findings show data values by path alone, so those of libraries are left out.
        let candidates = experiment::candidates(&session, base.reads.as_deref());
        let size: usize = base.documents.iter().map(|doc| nodes::paths(doc, NODES).len()).sum();
        let is_hit = |changed: &[nodes::Changed], (number, path): &(usize, Path)| {
            budget::or_unwind(budget::work(1 + changed.len() / 8));
            changed.iter().any(|one| one.document == ComparedDocument::Before(*number) && is_related(&one.path, path))
        };
        let until = |changed: &[nodes::Changed]| targets.iter().flatten().all(|target| is_hit(changed, target));
        let rendering = experiment::Rendering { documents: &base.documents, texts: &base.texts };
        let renders = NODES / (size + 50);
        let effects = experiment::run(&session, eval, &rendering, &candidates, renders, &until);
        let deciding = |target: &Option<(usize, Path)>| {
            let Some(target) = target else { return Vec::new() };
            let effects = effects.iter().filter(|effect| is_hit(&effect.changed, target));
            let given = |path: &Path| nodes::at(&session.values, path).map_or(Pos::UNKNOWN, |found| found.place);
            effects.map(|effect| (effect.path.clone(), given(&effect.path))).collect()
        };
        targets.iter().map(deciding).collect()
    }
}
