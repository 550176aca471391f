//! Generates valid data values from a schema and its rules.
//!
//! [`Space`](space::Space) lists the choices in a schema, [`interesting`] the values worth trying
//! for each. Documents are assembled from them and then merged and validated like a values file:
//! only accepted ones are returned, so that rules about several values, including code, are
//! respected. Documents depend only on schema, rules and seed.

mod interesting;
mod pattern;
mod random;
mod shrink;
mod space;
mod text;

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Diagnostic, Failure, Id, Path, Sources};
use ytterby_regexp::Regexp;
use ytterby_starlark::Eval;

use crate::api::{Options, Silent};
use crate::export::json_text;
use crate::input::InputFile;
use crate::library::{Library, library_of, library_run};
use crate::limits;
use crate::node::{self, Node};
use crate::run::Run;
use crate::schema::Slot;
use crate::values::{self, Trial};
use interesting::{Given, Maker};
use random::Random;
use space::Space;

/// Maximum changes of a rejected document.
const ATTEMPTS: usize = 24;

/// Which documents to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GenerateOptions {
    /// The number of documents. If the schema has fewer choices, documents repeat.
    pub count: usize,
    /// The seed of random choices.
    pub seed: u64,
}

impl GenerateOptions {
    /// This many documents with this seed.
    pub fn new(count: usize, seed: u64) -> GenerateOptions {
        GenerateOptions { count, seed }
    }
}

/// Documents of valid data values.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Generated {
    /// In order of generation: the defaults first, then alternating between one choice and many at
    /// once.
    pub documents: Vec<ValuesDocument>,
    /// The number of values and documents that a rule rejected.
    pub rejected: usize,
    /// Rules for which no value was found.
    pub warnings: Vec<Diagnostic>,
    /// Shapes (`@schema/one-of`) that no document has, because none with them was accepted: a
    /// values file is merged with the default, which may have another shape. The path, and the
    /// smallest document that was tried.
    pub unreached: Vec<(Path, ValuesDocument)>,
}

/// A document of data values, as in a values file.
#[derive(Clone, Debug)]
pub struct ValuesDocument(Node);

impl ValuesDocument {
    /// The document as YAML.
    ///
    /// # Errors
    /// If it is too large.
    pub fn yaml(&self) -> Result<Vec<u8>, Failure> {
        let mut writer = ytterby_yaml::write::YamlWriter::new();
        ytterby_yaml::Sink::document(&mut writer);
        node::write_node(&mut writer, &self.0).map_err(|why| Failure::new(Id::LIMIT_OUTPUT, why))?;
        Ok(writer.finish())
    }

    /// The document as JSON, on one line.
    pub fn json(&self) -> String {
        json_text(&self.0)
    }

    /// The total number of keys and items.
    pub fn size(&self) -> usize {
        fn size(node: &Node) -> usize {
            match node {
                Node::Scalar(_) => 0,
                Node::Map(map) => map.iter().map(|item| 1 + size(&item.value)).sum(),
                Node::Array(array) => array.items.iter().map(|item| 1 + size(&item.value)).sum(),
            }
        }
        size(&self.0)
    }

    /// The smallest document found for which `fails` returns true. It must be true for this one.
    pub fn shrunk(&self, fails: &mut dyn FnMut(&ValuesDocument) -> bool) -> ValuesDocument {
        ValuesDocument(shrink::shrink(&self.0, &mut |node| fails(&ValuesDocument(node.clone()))))
    }
}

/// Generates data values that the schema in `files` and its rules accept, on top of the data values
/// in `files` and `options`.
///
/// # Errors
/// If there is no schema, if it is wrong, or if no valid values were found.
pub fn generate(
    files: Vec<InputFile>,
    options: &Options,
    sources: &Arc<Sources>,
    how: &GenerateOptions,
) -> Result<Generated, Failure> {
    crate::on_large_stack(|| {
        let _budget = limits::begin(options);
        let run = Rc::new(Run::new(options, sources, Rc::new(Silent)));
        // Warnings about single values are irrelevant here.
        Ok(run.conclude(|| documents(&run, library_of(&run, files)?, how))?.0)
    })
}

/// A text that a regular expression matches.
pub(crate) fn example(pattern: &[u8]) -> Option<String> {
    let regexp = Regexp::new(pattern).ok()?;
    let text = pattern::ParsedPattern::read(&regexp)?.text(&mut Random::new(0), 0);
    regexp.is_match_in(&text).then_some(text)
}

/// At most `most` values to try for one place: what [`generate`] would try, and null and free keys
/// where they are allowed.
pub(crate) fn variations(eval: &mut Eval, run: &Run, slot: &Slot, path: &Path, most: usize) -> Vec<Node> {
    let mut maker = Maker { eval, run, random: Random::new(0), rejected: 0, warnings: Vec::new() };
    maker.values(slot, path, most)
}

/// The reason that there are no documents: slots without a value, otherwise the problem of the
/// first document.
fn unsatisfied(maker: &Maker<'_>, why: &Failure) -> Failure {
    let reasons = if maker.warnings.is_empty() { why.diagnostics() } else { maker.warnings.clone() };
    let told = |reason: &Diagnostic| match (&reason.path, reason.id == Id::GEN_UNSATISFIED) {
        (Some(path), false) => format!("{path}: {}", reason.message.plain()),
        _ => reason.message.plain().into_owned(),
    };
    let texts: Vec<String> = reasons.iter().take(3).map(told).collect();
    let text = format!("no valid values were found in {} draws; {}", maker.rejected, texts.join("; "));
    let mut problem = Diagnostic::error(Id::GEN_UNSATISFIED, text);
    if let Some(first) = reasons.first() {
        problem.labels.clone_from(&first.labels);
        problem.path.clone_from(&first.path);
        problem.helps.clone_from(&first.helps);
    }
    problem.into()
}

fn no_schema() -> Failure {
    let help = "declare the data values in a document with #@data/values-schema above it";
    Diagnostic::error(Id::GEN_NO_SCHEMA, "Expected a schema in the files, found none").help(help).into()
}

/// Generates data values for a library of input files.
pub(crate) fn documents(run: &Rc<Run>, library: Rc<Library>, how: &GenerateOptions) -> Result<Generated, Failure> {
    let library = library_run(run, library);
    let mut eval = run.new_eval();
    let given = values::from_flags(run)?.into_iter().filter(|envelope| !envelope.is_for_child()).collect();
    let declared = library.schema(&mut eval, Vec::new())?;
    let Some(schema) = declared.schema else { return Err(no_schema()) };
    let _working = limits::working_at(schema.root.pos);
    let trial = Trial::new(&library, &mut eval, &schema, given)?;
    let nothing = Node::NULL;
    let enough = trial.accepts(&library, &mut eval, &schema, &nothing)?.is_ok();
    let mut maker = Maker { eval: &mut eval, run, random: Random::new(how.seed), rejected: 0, warnings: Vec::new() };
    let given = if enough { Given::Enough } else { Given::Nothing };
    let mut space = Space::of(&mut maker, &schema.root, &Path::document(), given);
    let mut found: Vec<Node> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut refused: Option<Failure> = None;
    let mut number = 0;
    // Stop eventually if hardly anything is valid.
    let most = how.count.saturating_mul(6).saturating_add(200);
    while found.len() < how.count && number < most {
        let proposal = space.propose(&mut maker, number);
        number += 1;
        let mut picks = proposal.picks.clone();
        for attempt in 0..ATTEMPTS {
            let document = space.document(&picks);
            match trial.accepts(&library, maker.eval, &schema, &document)? {
                Ok(()) => {
                    space.note(&picks);
                    if seen.insert(json_text(&document)) {
                        found.push(document);
                    }
                    break;
                }
                Err(failure) => {
                    maker.rejected += 1;
                    refused.get_or_insert(failure);
                    picks = space.changed(&mut maker, &proposal, attempt);
                }
            }
        }
    }
    if let (true, Some(why)) = (found.is_empty(), refused) {
        return Err(unsatisfied(&maker, &why));
    }
    let distinct = found.len();
    for at in 0..how.count.saturating_sub(distinct) {
        found.extend(found.get(at % distinct.max(1)).cloned());
    }
    let unreached = space.unreached().into_iter().map(|(path, node)| (path, ValuesDocument(node))).collect();
    let Maker { rejected, warnings, .. } = maker;
    Ok(Generated { documents: found.into_iter().map(ValuesDocument).collect(), rejected, warnings, unreached })
}
