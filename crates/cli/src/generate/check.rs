//! Renders documents of data values and finds those that fail, each shrunk to the smallest that fails in the same way.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use ytterby::{Content, Failure, InputFile, Options, Silent, ValuesDocument, ValuesFile, render};
use ytterby_diag::Sources;

/// Turns of loops and calls that one input may take: generated values must not make a check endless.
const STEPS: u64 = 50_000_000;

/// Different failures that are told.
const TOLD: usize = 10;

/// Values that are legal and fail.
pub struct Failing {
    /// The smallest values found that fail in this way.
    pub values: ValuesDocument,
    /// How they fail.
    pub failure: Failure,
    /// What the failure points into.
    pub sources: Arc<Sources>,
}

/// What makes two failures the same: the id and the place of the first problem.
type Way = (&'static str, String);

/// Renders each document on top of `options`; gives one for each way in which they fail.
pub fn check(files: &[InputFile], options: &Options, documents: &[ValuesDocument]) -> Vec<Failing> {
    let mut known: HashSet<Way> = HashSet::new();
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut found = Vec::new();
    for document in documents {
        if found.len() >= TOLD {
            break;
        }
        if document.yaml().is_ok_and(|text| !seen.insert(text)) {
            continue;
        }
        let Err((failure, sources)) = attempt(files, options, document) else { continue };
        let Some(way) = ways(&failure, &sources).into_iter().next() else { continue };
        if !known.insert(way.clone()) {
            continue;
        }
        let fails_so = |values: &ValuesDocument| match attempt(files, options, values) {
            Ok(()) => false,
            Err((failure, sources)) => ways(&failure, &sources).contains(&way),
        };
        let values = document.shrunk(&mut { fails_so });
        let (failure, sources) = attempt(files, options, &values).err().unwrap_or((failure, sources));
        known.extend(ways(&failure, &sources));
        found.push(Failing { values, failure, sources });
    }
    found
}

/// Renders with these values; an error comes with its sources.
fn attempt(files: &[InputFile], options: &Options, values: &ValuesDocument) -> Result<(), (Failure, Arc<Sources>)> {
    let sources = Arc::new(Sources::new());
    let text = values.yaml().map_err(|failure| (failure, sources.clone()))?;
    let mut options = options.clone();
    options.limits.steps = Some(options.limits.steps.map_or(STEPS, |steps| steps.min(STEPS)));
    let file = InputFile::new("generated.yml", Content::new(text));
    let files_of_values = Ok(vec![file]);
    options.values.files.push(ValuesFile {
        library: String::new(),
        path: "generated.yml".to_owned(),
        files: files_of_values,
    });
    match render(files.to_vec(), &options, &sources, Rc::new(Silent)) {
        Ok(_) => Ok(()),
        Err(failure) => Err((failure, sources)),
    }
}

/// The ids and places of all problems.
fn ways(failure: &Failure, sources: &Sources) -> Vec<Way> {
    let way = |diagnostic: &ytterby_diag::Diagnostic| {
        let place = diagnostic.primary().map(|label| sources.locate(label.pos)).unwrap_or_default();
        (diagnostic.id.name(), place)
    };
    failure.diagnostics().iter().map(way).collect()
}
