//! The origin of values, and their effects: `ytterby explain`.
//!
//! [`session`] renders a project any number of times. The history of a data value is found in the
//! inputs ([`chain`]); that of a node of the output in the results of overlays, which a run only
//! records on request ([`crate::record`]). The data values that affect a node are found by
//! [`experiment`].

mod blocks;
pub(crate) mod causes;
mod chain;
mod constants;
mod experiment;
mod nodes;
mod selector;
mod session;

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Diagnostic, Failure, Id, Path, REDACTED, Sources, Step};
use ytterby_starlark::Eval;
use ytterby_text::{Str, spelling};

use crate::api::{Options, Silent};
use crate::export::json_text;
use crate::input::InputFile;
use crate::library::{Library, RanLibrary, library_of};
use crate::limits;
use crate::node::{Document, Map, Node, Scalar, key_text};
use crate::path::Way;
use crate::record::{History, LibraryCall, Replaced};
use crate::run::Run;
use crate::schema::check::CheckContext;
use crate::schema::{Presence, Slot, Type, redact};
use crate::validate::{CheckedValue, verdicts};
use chain::Link;
use experiment::{Rendering, VariableValue};
use nodes::ComparedDocument;
use selector::{PathPattern, Selector};
use session::Session;

/// Maximum nodes of one document that a wildcard visits.
const MOST_NODES: usize = 100_000;

/// Maximum nodes that one question explains.
const MOST_MATCHES: usize = 1_000;

/// The value to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Question {
    /// A data value (`db.port`) or nodes of the output (`Deployment/web:spec.replicas`).
    About(String),
    /// Which nodes of the output change with a data value.
    Impact(String),
}

/// The explanation of one data value or one node of the output. Values are JSON; secrets are
/// masked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Explanation {
    /// Example: `db.port`, or `Deployment/web:spec.replicas`.
    pub path: String,
    /// The final value; `None` if there is none, for example below an optional key or after an
    /// overlay removed it.
    pub value: Option<String>,
    /// Its type.
    pub type_name: Option<String>,
    /// Its description in the schema.
    pub description: Option<String>,
    /// Its history, from first to last.
    pub chain: Vec<ChainLink>,
    /// The rules of a data value.
    pub rules: Vec<RuleVerdict>,
    /// The data values that affect a node of the output, if requested.
    pub data_values: Option<Vec<String>>,
    /// Nodes of the output that a data value affects, if requested.
    pub impact: Option<Vec<String>>,
    /// Data values that were read but could not be varied: no other legal value can be rendered.
    pub not_varied: Vec<String>,
}

/// A step in the history of a value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChainLink {
    /// `schema`, `document`, `file`, `flag`, `env`, `template`, `library` or `overlay`.
    pub kind: &'static str,
    /// Its position.
    pub place: Option<ExplainedPlace>,
    /// `default`, `set`, `merge`, `replace`, `insert`, `remove` or `append`.
    pub action: &'static str,
    /// The value after it; `None` if it was removed.
    pub value: Option<String>,
    /// Calls, loops and libraries around it, innermost first.
    pub frames: Vec<ExplainedFrame>,
}

/// A position in a file, flag or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedPlace {
    /// The path, or the name of the flag or variable.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// A call, a loop or a library around a step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedFrame {
    /// Its position.
    pub place: ExplainedPlace,
    /// Its code.
    pub text: String,
}

/// A rule and its result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuleVerdict {
    /// `rule/min`.
    pub id: &'static str,
    /// The requirement.
    pub text: String,
    /// Whether the value satisfies it.
    pub ok: bool,
}

/// Answers questions about a project, in order; one question may have several answers.
///
/// # Errors
/// If the project cannot be rendered, or a path or document does not exist. Values that violate
/// rules are explained.
pub fn explain(
    files: Vec<InputFile>,
    options: &Options,
    sources: &Arc<Sources>,
    questions: &[Question],
) -> Result<Vec<Explanation>, Failure> {
    crate::on_large_stack(|| {
        let _budget = limits::begin(options);
        let mut run = Run::new(options, sources, Rc::new(Silent));
        run.is_one_of_many = true;
        let run = Rc::new(run);
        Ok(run.conclude(|| answers(&run, library_of(&run, files)?, questions))?.0)
    })
}

/// The answers to questions about a library of input files.
pub(crate) fn answers(
    run: &Rc<Run>,
    library: Rc<Library>,
    questions: &[Question],
) -> Result<Vec<Explanation>, Failure> {
    let mut eval = run.new_eval();
    let session = Session::new(run, &mut eval, library)?;
    let _working = limits::working_at(session.values.pos);
    if let Some(schema) = &session.schema {
        schema.keep_secrets(run, &session.values.value);
    }
    let mut explainer = Explainer { session, eval, output: None, libraries: Vec::new() };
    let mut answers = Vec::new();
    for question in questions {
        match question {
            Question::About(text) => match selector::read(text).map_err(wrong_selector)? {
                Selector::Value { library, path } => {
                    for of in explainer.owners(library.as_deref())? {
                        for path in explainer.values_named(of, &path)? {
                            answers.push(explainer.value(of, &path));
                        }
                    }
                }
                Selector::Output { document, path } => answers.extend(explainer.nodes(text, &document, &path)?),
            },
            Question::Impact(text) => {
                let (library, path) = selector::value(text).map_err(wrong_selector)?;
                // Values for a library apply to each of its runs.
                for of in explainer.owners(library.as_deref())?.into_iter().take(1) {
                    for path in explainer.values_named(of, &path)? {
                        answers.push(explainer.impact(of, &path)?);
                    }
                }
            }
        }
    }
    Ok(answers)
}

fn wrong_selector(why: String) -> Failure {
    let help = "a data value is written db.port, or @app:db.port where it is a library's; a node of the output \
                Deployment/web:spec.replicas, #2:spec, or :spec of any document";
    Diagnostic::error(Id::EXPLAIN_UNKNOWN, why).help(help).into()
}

struct Explainer {
    session: Session,
    eval: Eval,
    output: Option<Rc<Base>>,
    /// Libraries whose data values were requested, with their names.
    libraries: Vec<(String, Session)>,
}

/// The owner of data values: the root, or a library in [`Explainer::libraries`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Root,
    Library(usize),
}

impl Owner {
    fn session<'s>(self, root: &'s Session, libraries: &'s [(String, Session)]) -> &'s Session {
        match self {
            Owner::Root => root,
            Owner::Library(number) => &libraries[number].1,
        }
    }
}

/// The render to compare others with.
struct Base {
    documents: Vec<Document>,
    texts: Vec<(String, Str)>,
    labels: Vec<String>,
    histories: Vec<History>,
    libraries: Vec<LibraryCall>,
    replaced: Vec<Replaced>,
    candidates: Vec<VariableValue>,
}

impl Base {
    fn rendering(&self) -> Rendering<'_> {
        Rendering { documents: &self.documents, texts: &self.texts }
    }
}

/// A node to explain: of the output, or of a document that overlays removed.
struct ExplainedNode {
    label: String,
    /// The index of the document in the output, if it is there.
    document: Option<usize>,
    /// The number of the document in the last history, otherwise.
    removed: Option<usize>,
    path: Path,
}

impl Explainer {
    fn base(&mut self) -> Result<Rc<Base>, Failure> {
        if let Some(base) = &self.output {
            return Ok(base.clone());
        }
        let output = self.session.render(&mut self.eval, &self.session.values, true)?;
        let reads = output.reads.as_deref();
        let mut candidates = experiment::candidates(&self.session, reads);
        candidates.extend(experiment::candidates_of_libraries(&output.libraries, reads));
        let base = Rc::new(Base {
            labels: nodes::labels(&output.documents),
            documents: output.documents,
            texts: output.texts,
            histories: output.histories,
            libraries: output.libraries,
            replaced: output.replaced,
            candidates,
        });
        self.output = Some(base.clone());
        Ok(base)
    }

    /// The libraries with this name, one for each run; the root if there is no name.
    fn owners(&mut self, library: Option<&str>) -> Result<Vec<Owner>, Failure> {
        let Some(library) = library else { return Ok(vec![Owner::Root]) };
        let known = |(at, (name, _)): (usize, &(String, Session))| (name == library).then_some(Owner::Library(at));
        let found: Vec<Owner> = self.libraries.iter().enumerate().filter_map(known).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let base = self.base()?;
        let mut found = Vec::new();
        let mut seen: Vec<&Document> = Vec::new();
        for call in base.libraries.iter().filter(|call| is_named(&call.name, library)) {
            let Some(ran) = call.details.downcast_ref::<RanLibrary>() else { continue };
            let values = &ran.prepared.values.doc;
            // Runs of a library with the same values count as one.
            if seen.iter().any(|other| other.value.same(&values.value)) {
                continue;
            }
            seen.push(values);
            found.push(Owner::Library(self.libraries.len()));
            self.libraries.push((library.to_owned(), Session::of_ran(ran, &mut self.eval)?));
        }
        if found.is_empty() {
            let mut names: Vec<String> = base.libraries.iter().map(|call| format!("@{}", call.name)).collect();
            names.sort();
            names.dedup();
            let help = suggestion(&format!("@{library}"), &names, "libraries that code runs");
            return Err(Failure::new(Id::EXPLAIN_UNKNOWN, format!("code runs no library @{library}; {help}")));
        }
        Ok(found)
    }

    /// The name of a data value, with its library.
    fn name(&self, of: Owner, path: &Path) -> String {
        match of {
            Owner::Root => path.to_string(),
            Owner::Library(number) => experiment::name_of(Some(&self.libraries[number].0), path),
        }
    }

    /// The paths of data values that match a pattern.
    fn values_named(&mut self, of: Owner, pattern: &PathPattern) -> Result<Vec<Path>, Failure> {
        let session = of.session(&self.session, &self.libraries);
        let values = &session.values;
        if !pattern.has_wildcards() {
            let path = pattern.path();
            if nodes::at(values, &path).is_some() || is_declared(session, &path) {
                return Ok(vec![path]);
            }
            return Err(self.unknown_value(of, &path));
        }
        let mut found = nodes::paths(values, MOST_NODES);
        found.retain(|path| !path.is_document() && pattern.matches(path));
        found.truncate(MOST_MATCHES);
        if found.is_empty() { Err(self.unknown_value(of, &pattern.path())) } else { Ok(found) }
    }

    fn unknown_value(&self, of: Owner, path: &Path) -> Failure {
        let all = nodes::paths(&of.session(&self.session, &self.libraries).values, MOST_NODES);
        let all: Vec<String> = all.iter().skip(1).map(|path| self.name(of, path)).collect();
        let name = self.name(of, path);
        let suggestion = suggestion(&name, &all, "data values");
        Failure::new(Id::EXPLAIN_UNKNOWN, format!("there is no data value {name}; {suggestion}"))
    }

    /// The slot of a path in the schema.
    fn slot(&mut self, of: Owner, path: &Path) -> Option<Slot> {
        let session = of.session(&self.session, &self.libraries);
        let mut slot = session.schema.as_ref()?.root.clone();
        let mut is_secret = slot.secret;
        for step in path.steps() {
            let mut places = Vec::new();
            shapes_of(&slot, &mut places);
            let mut cx = CheckContext { eval: &mut self.eval, run: &session.run };
            let below = places.iter().find_map(|place| match step {
                Step::Key(key) => {
                    let ty = place.as_map()?;
                    cx.item_for(ty, &Scalar::from(key.as_str())).ok()?.map(|item| item.slot.clone())
                }
                Step::Index(_) => place.as_array().map(|ty| ty.item.clone()),
            });
            slot = below?;
            is_secret |= slot.secret;
        }
        Some(Slot { secret: is_secret, ..slot })
    }

    fn value(&mut self, of: Owner, path: &Path) -> Explanation {
        let slot = self.slot(of, path);
        let rules = slot.as_ref().map(|slot| self.rules(of, slot, path)).unwrap_or_default();
        let session = of.session(&self.session, &self.libraries);
        let found = nodes::at(&session.values, path);
        let defaults = session.schema.as_ref().map(|schema| schema.defaults());
        let links = chain::of_value(session, defaults.as_ref(), path);
        let shown = |node: &Node| match &slot {
            Some(slot) if slot.secret => json_text(&Node::str(REDACTED)),
            Some(slot) => json_text(&redact(node, slot)),
            None => shown(&session.run, node),
        };
        Explanation {
            path: self.name(of, path),
            value: found.map(|found| shown(found.value)),
            type_name: Some(match (&slot, found) {
                (Some(slot), _) if slot.nullable => format!("{} or null", slot.ty.name_besides_null()),
                (Some(slot), _) => slot.ty.name(),
                (None, Some(found)) => found.value.type_name().to_owned(),
                (None, None) => "any".to_owned(),
            }),
            description: slot.as_ref().and_then(|slot| slot.docs.description.as_ref()).map(ToString::to_string),
            chain: links.iter().map(|link: &Link<'_>| link.written(&session.run.sources, &shown)).collect(),
            rules,
            ..Explanation::default()
        }
    }

    fn rules(&mut self, of: Owner, slot: &Slot, path: &Path) -> Vec<RuleVerdict> {
        let session = of.session(&self.session, &self.libraries);
        let root = session.values.clone();
        let Some(found) = nodes::at(&root, path) else { return Vec::new() };
        let mut verdict = Vec::new();
        if let Some(required) = &slot.required {
            let text = required.description.as_ref().map_or_else(|| "given a value".to_owned(), ToString::to_string);
            let defaults = session.schema.as_ref().map(|schema| schema.defaults());
            let ok = chain::of_value(session, defaults.as_ref(), path).iter().any(|link| link.kind != "schema");
            verdict.push(RuleVerdict { id: Id::VALUES_REQUIRED.name(), text, ok });
        }
        let Some(rules) = &slot.rules else { return verdict };
        let parent: Path = path.steps()[..path.steps().len().saturating_sub(1)].iter().cloned().collect();
        let parent = (!path.is_document()).then(|| nodes::at(&root, &parent)).flatten().map(|found| found.value);
        let spot =
            CheckedValue { value: found.value, parent, way: &Way::Document, pos: found.place, secret: slot.secret };
        let each = verdicts(rules, &mut self.eval, &session.run, &spot, &root.value);
        verdict.extend(each.into_iter().map(|(id, text, ok)| RuleVerdict { id: id.name(), text, ok }));
        verdict
    }

    /// The nodes that match a selector.
    fn nodes(
        &mut self,
        text: &str,
        document: &selector::DocumentPattern,
        path: &PathPattern,
    ) -> Result<Vec<Explanation>, Failure> {
        let base = self.base()?;
        let targets = targets(&base, document, path);
        if targets.is_empty() {
            return Err(unknown_node(&base, text, document, path));
        }
        let present: Vec<(usize, Path)> =
            targets.iter().filter_map(|target| Some((target.document?, target.path.clone()))).collect();
        let is_hit = |changed: &[nodes::Changed], document: usize, path: &Path| {
            changed.iter().any(|one| one.document == ComparedDocument::Before(document) && is_related(&one.path, path))
        };
        let until = |changed: &[nodes::Changed]| present.iter().all(|(doc, path)| is_hit(changed, *doc, path));
        let effects = match present.is_empty() {
            true => Vec::new(),
            false => experiment::run(
                &self.session,
                &mut self.eval,
                &base.rendering(),
                &base.candidates,
                experiment::ALL,
                &until,
            ),
        };
        let not_varied: Vec<String> =
            effects.iter().filter(|effect| !effect.is_varied).map(experiment::Effect::name).collect();
        let session = &self.session;
        let shown = |node: &Node| shown(&session.run, node);
        let record = chain::Recorded {
            sources: &session.run.sources,
            blocks: &session.code().blocks,
            histories: &base.histories,
            libraries: &base.libraries,
            replaced: &base.replaced,
        };
        let explanation = |target: &ExplainedNode| {
            let found = target.document.and_then(|number| nodes::at(&base.documents[number], &target.path));
            let links = match (target.document, target.removed) {
                (Some(number), _) => {
                    let doc = &base.documents[number];
                    let turn = chain::twins(base.documents.iter().map(|doc| doc.pos), number);
                    chain::of_node(doc, number, &target.path, turn, &record)
                }
                (None, Some(slot)) => {
                    let mut links = Vec::new();
                    if let Some(history) = base.histories.last() {
                        chain::history_of(history, slot, &target.path, None, &record, &mut links);
                    }
                    links
                }
                (None, None) => Vec::new(),
            };
            let deciding = effects
                .iter()
                .filter(|effect| target.document.is_some_and(|number| is_hit(&effect.changed, number, &target.path)));
            Explanation {
                path: nodes::shown(&target.label, &target.path),
                value: found.map(|found| shown(found.value)),
                type_name: found.map(|found| found.value.type_name().to_owned()),
                chain: links.iter().map(|link| link.written(&session.run.sources, &shown)).collect(),
                data_values: Some(deciding.map(experiment::Effect::name).collect()),
                not_varied: not_varied.clone(),
                ..Explanation::default()
            }
        };
        Ok(targets.iter().map(explanation).collect())
    }

    /// The effects of a data value.
    fn impact(&mut self, of: Owner, path: &Path) -> Result<Explanation, Failure> {
        let base = self.base()?;
        let mut answer = self.value(of, path);
        let is_of = |candidate: &VariableValue| match (of, &candidate.library) {
            (Owner::Root, None) => true,
            (Owner::Library(number), Some(name)) => is_named(name, &self.libraries[number].0),
            _ => false,
        };
        let own: Vec<&VariableValue> =
            base.candidates.iter().filter(|candidate| is_of(candidate) && is_related(&candidate.path, path)).collect();
        let rendering = base.rendering();
        let effects = experiment::run(&self.session, &mut self.eval, &rendering, own, experiment::ALL, &|_| false);
        let mut changed: Vec<(usize, Path)> = Vec::new();
        let mut added: Vec<String> = Vec::new();
        for effect in &effects {
            for one in &effect.changed {
                let ComparedDocument::Before(number) = one.document else { continue };
                let entry = (number, one.path.clone());
                if !changed.contains(&entry) {
                    changed.push(entry);
                }
            }
            let new = effect.added.iter().filter(|label| !added.contains(label)).cloned().collect::<Vec<_>>();
            added.extend(new);
        }
        // In the order of the output; nodes that only other renders have come last.
        let order: Vec<Vec<Path>> = base.documents.iter().map(|doc| nodes::paths(doc, MOST_NODES)).collect();
        changed.sort_by_cached_key(|(number, path)| {
            (*number, order[*number].iter().position(|known| known == path).unwrap_or(usize::MAX), path.to_string())
        });
        let shown = changed.iter().map(|(number, path)| nodes::shown(&base.labels[*number], path));
        answer.impact = Some(shown.chain(added).collect());
        let not_varied = effects.iter().filter(|effect| !effect.is_varied);
        answer.not_varied = not_varied.map(experiment::Effect::name).collect();
        Ok(answer)
    }
}

/// Whether the schema declares a path itself, not only as a free key.
fn is_declared(session: &Session, path: &Path) -> bool {
    let Some(schema) = &session.schema else { return false };
    let mut places = Vec::new();
    shapes_of(&schema.root, &mut places);
    for step in path.steps() {
        let mut below = Vec::new();
        for place in places {
            let slot = match step {
                Step::Key(key) => {
                    let item = place.as_map().and_then(|ty| ty.literal(&Scalar::from(key.as_str())));
                    item.filter(|item| !matches!(item.presence, Presence::Removed(_))).map(|item| &item.slot)
                }
                Step::Index(_) => None,
            };
            slot.into_iter().for_each(|slot| shapes_of(slot, &mut below));
        }
        places = below;
    }
    !places.is_empty()
}

/// Whether a name refers to a library, as in flags: an alias may be omitted.
fn is_named(name: &str, asked: &str) -> bool {
    let (own, asked): (Vec<&str>, Vec<&str>) = (name.split('@').collect(), asked.split('@').collect());
    let fits = |(own, asked): (&&str, &&str)| own == asked || own.split('~').next() == Some(asked);
    own.len() == asked.len() && own.iter().zip(&asked).all(fits)
}

/// A value of the output as JSON, with secrets masked.
fn shown(run: &Run, node: &Node) -> String {
    let secrets = run.secrets.borrow();
    let hidden = (!secrets.is_empty()).then(|| without_secrets(&secrets.texts, node)).flatten();
    json_text(hidden.as_ref().unwrap_or(node))
}

/// Whether the paths are equal or one contains the other.
fn is_related(one: &Path, other: &Path) -> bool {
    let shared = one.steps().len().min(other.steps().len());
    one.steps()[..shared] == other.steps()[..shared]
}

fn shapes_of<'s>(slot: &'s Slot, places: &mut Vec<&'s Slot>) {
    match &slot.ty {
        Type::Shapes(shapes) => shapes.slots.iter().for_each(|shape| crate::deep(|| shapes_of(shape, places))),
        _ => places.push(slot),
    }
}

/// The nodes that match a selector: first those of the output, then those that overlays removed.
fn targets(base: &Base, document: &selector::DocumentPattern, path: &PathPattern) -> Vec<ExplainedNode> {
    let mut found: Vec<ExplainedNode> = Vec::new();
    let own_path = (!path.has_wildcards()).then(|| path.path());
    let matching = |doc: &Document| match &own_path {
        Some(path) => Vec::from_iter(nodes::at(doc, path).map(|_| path.clone())),
        None => nodes::paths(doc, MOST_NODES).into_iter().filter(|one| path.matches(one)).collect(),
    };
    for (number, doc) in base.documents.iter().enumerate() {
        if !nodes::DocumentName::of(doc).matches(document, number + 1) {
            continue;
        }
        let label = base.labels[number].clone();
        found.extend(matching(doc).into_iter().map(|path| ExplainedNode {
            label: label.clone(),
            document: Some(number),
            removed: None,
            path,
        }));
    }
    // Only a name finds documents that are not in the output.
    let is_in_output_only = !matches!(document, selector::DocumentPattern::Named { .. });
    if let Some(history) = base.histories.last().filter(|_| !is_in_output_only) {
        let before = history.steps.iter().map(|(_, docs)| docs);
        for (slot, doc) in std::iter::once(&history.start).chain(before).flatten() {
            let name = nodes::DocumentName::of(doc);
            if !name.matches(document, 0) {
                continue;
            }
            // Among documents of the same name, its namespace distinguishes it.
            let others = base.documents.iter().filter(|other| nodes::DocumentName::of(other) != name).cloned();
            let all: Vec<Document> = std::iter::once(doc.clone()).chain(others).collect();
            let label = nodes::labels(&all).swap_remove(0);
            for path in matching(doc) {
                let is_known = found.iter().any(|target| target.path == path && target.label == label)
                    || found.iter().any(|target| target.path == path && target.removed == Some(*slot))
                    || is_left(history, *slot, &path);
                if !is_known {
                    found.push(ExplainedNode { label: label.clone(), document: None, removed: Some(*slot), path });
                }
            }
        }
    }
    found.truncate(MOST_MATCHES);
    found
}

/// Whether the node still exists after the last overlay.
fn is_left(history: &History, slot: usize, path: &Path) -> bool {
    let last = history.steps.last().map_or(&history.start, |(_, docs)| docs);
    last.iter().any(|(number, doc)| *number == slot && nodes::at(doc, path).is_some())
}

fn unknown_node(base: &Base, text: &str, document: &selector::DocumentPattern, path: &PathPattern) -> Failure {
    let is_named = |(number, doc): &(usize, &Document)| nodes::DocumentName::of(doc).matches(document, number + 1);
    let named: Vec<(usize, &Document)> = base.documents.iter().enumerate().filter(is_named).collect();
    let failure = |text: String, help: String| Failure::new(Id::EXPLAIN_UNKNOWN, format!("{text}; {help}"));
    let Some((number, doc)) = named.first() else {
        let head = text.split(':').next().unwrap_or(text);
        let help = suggestion(head, &base.labels, "documents of the output");
        return failure(format!("no document of the output is {head}"), help);
    };
    let all: Vec<String> = nodes::paths(doc, MOST_NODES).iter().skip(1).map(Path::to_string).collect();
    let path = path.path().to_string();
    if *document == selector::DocumentPattern::Any {
        let each = named.iter().flat_map(|(_, doc)| nodes::paths(doc, MOST_NODES).into_iter().skip(1));
        let mut all: Vec<String> = each.map(|path| path.to_string()).collect();
        all.sort();
        all.dedup();
        return failure(format!("no document of the output has {path}"), suggestion(&path, &all, "nodes"));
    }
    failure(format!("{} has no {path}", base.labels[*number]), suggestion(&path, &all, "its nodes"))
}

/// A suggestion of what was meant.
fn suggestion(text: &str, known: &[String], what: &str) -> String {
    const SHOWN: usize = 10;
    if known.is_empty() {
        return format!("there are no {what}");
    }
    let near = spelling::closest(text, known.iter().map(String::as_str), spelling::tolerance_of_short(text));
    let shown: Vec<&str> = known.iter().take(SHOWN).map(String::as_str).collect();
    let more = known.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    match near {
        Some(near) => format!("did you mean {near}?"),
        None => format!("{what} are {}{rest}", shown.join(", ")),
    }
}

/// A node with the texts of secrets replaced; `None` if it contains none.
fn without_secrets(secrets: &ytterby_diag::Secrets, node: &Node) -> Option<Node> {
    match node {
        Node::Scalar(Scalar::Str(text)) => secrets.hidden_value(&text.to_str()).map(Node::str),
        Node::Scalar(scalar) => secrets.hidden_value(&key_text(scalar)).map(Node::str),
        Node::Map(map) => {
            let mut copy: Option<Map> = None;
            for (at, item) in map.iter().enumerate() {
                if let Some(value) = crate::deep(|| without_secrets(secrets, &item.value)) {
                    copy.get_or_insert_with(|| Map::clone(map)).item_mut(at).value = value;
                }
            }
            copy.map(Node::map)
        }
        Node::Array(array) => {
            let mut copy = None;
            for (at, item) in array.items.iter().enumerate() {
                if let Some(value) = crate::deep(|| without_secrets(secrets, &item.value)) {
                    copy.get_or_insert_with(|| crate::node::Array::clone(array)).items[at].value = value;
                }
            }
            copy.map(Node::array)
        }
    }
}
