//! Finds, by experiments, data values that are read but never affect the output.
//!
//! A value is reported if changing it never changes the output, even if booleans and other switches
//! are changed, too. A value that is read under conditions is tried on top of generated values, and
//! only if these reach every line of code: experiments cannot show what unreached code does. Values
//! that only an overlay hides are not reported: a target without the overlay may need them.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use ytterby::facts::{OverlayRecord, PlainData};
use ytterby::{
    Content, Coverage, GenerateOptions, InputFile, Options, OutputFile, OutputForm, OutputNode, OutputValue,
    PlacedValue, Project, Renderer, Silent, ValuesFile,
};
use ytterby_diag::{Diagnostic, Id, Part, Pos, Sources};
use ytterby_text::budget;
use ytterby_yaml::Scalar;

use crate::declared::{TrackedType, TrackedValues, ValueId};
use crate::flow::LibraryReads;
use crate::target::UNITS;

/// Maximum bytes of input that all experiments render together.
const BUDGET: usize = 24 << 20;

/// Maximum renders, however small the input is. They also end with the time of the target.
const RENDERS: usize = 2_000;

/// Maximum values tried for one data value.
const TRIED: usize = 4;

/// Maximum generated documents for values that are read under conditions.
const BASES: usize = 24;

/// The result of a run with other values.
enum TrialResult {
    Output(Vec<OutputFile>),
    /// The values are not allowed, so the run shows nothing.
    Refused,
    /// The run failed for another reason.
    Failed,
}

/// Reports values of the root library without effect.
pub(crate) fn check(
    experiment: &mut Experiment,
    table: &TrackedValues,
    flow: &LibraryReads,
    overlays: &[(Pos, bool)],
    out: &mut Vec<Diagnostic>,
) {
    let is_tried = |id: &ValueId| flow.whole[*id] && settable(table, *id).is_some();
    let is_hidden = |id: &ValueId| flow.conditional[*id] || is_read_above(table, flow, *id);
    let candidates = (1..table.values.len()).filter(is_tried);
    let (hidden, open): (Vec<ValueId>, Vec<ValueId>) = candidates.partition(is_hidden);
    if !open.is_empty() {
        let Some(TrialResult::Output(base)) = experiment.run(&[]) else { return };
        let idle = open.into_iter().filter(|id| experiment.is_idle(table, *id, &base) == Some(true));
        out.extend(idle.map(|id| finding(table, id)));
    }
    if !hidden.is_empty() && overlays.is_empty() && experiment.generate() {
        let idle = hidden.into_iter().filter(|id| experiment.is_idle_in_all(table, *id) == Some(true));
        out.extend(idle.map(|id| finding(table, id)));
    }
}

fn finding(table: &TrackedValues, id: ValueId) -> Diagnostic {
    let text = format!("the data value {} is read, but changes nothing", table.path(id));
    let finding = Diagnostic::warning(Id::LINT_NO_EFFECT_VALUE, text).at(table.values[id].pos, Part::Key);
    finding.help("remove it, or what reads it")
}

/// Whether a parent of a value is read as a whole; then it matters through that, too.
fn is_read_above(table: &TrackedValues, flow: &LibraryReads, mut id: ValueId) -> bool {
    while let Some(parent) = table.values[id].parent {
        if flow.whole[parent] && flow.conditional[parent] {
            return true;
        }
        id = parent;
    }
    false
}

/// The key of a value in a flag, if a flag can set it: `db.name`.
fn settable(table: &TrackedValues, id: ValueId) -> Option<String> {
    let is_scalar = matches!(table.values[id].shape, TrackedType::Scalar);
    let keys = table.keys(id).filter(|_| is_scalar)?;
    let is_plain = |key: &&str| key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    keys.iter().all(is_plain).then(|| keys.join("."))
}

/// Marks overlays as effective that match with other values.
pub(crate) fn check_overlays(
    experiment: &mut Experiment,
    table: &TrackedValues,
    overlays: &mut [(Pos, bool)],
    sources: &Sources,
) {
    let place = |sources: &Sources, pos: Pos| Some((sources.get(pos.file)?.place().to_owned(), pos.offset));
    let idle = |overlays: &[(Pos, bool)]| overlays.iter().any(|(_, has_effect)| !has_effect);
    for id in 1..table.values.len() {
        for variation in variations(table, id).into_iter().take(2) {
            if !idle(overlays) {
                return;
            }
            let record = Arc::new(OverlayRecord::default());
            experiment.options.overlay_record = Some(record.clone());
            if experiment.run(&[variation]).is_none() {
                return;
            }
            let items = record.items();
            let effective = items.iter().filter(|(_, has_effect)| *has_effect);
            let effective: HashSet<_> = effective.filter_map(|(pos, _)| place(&experiment.sources, *pos)).collect();
            for (pos, has_effect) in overlays.iter_mut() {
                *has_effect |= place(sources, *pos).is_some_and(|place| effective.contains(&place));
            }
        }
    }
}

/// Runs a target with other values.
pub(crate) struct Experiment {
    /// The files, compiled once for all runs; `None` if they cannot be compiled.
    renderer: Option<Renderer>,
    options: Options,
    /// The sources of the last run.
    sources: Arc<Sources>,
    /// The number of remaining runs.
    left: usize,
    files: Vec<InputFile>,
    /// Generated data values with their outputs.
    bases: Vec<(ValuesFile, Vec<OutputFile>)>,
}

/// The key and value of a data value that is set.
type Set = (String, Scalar);

impl Experiment {
    pub fn new(files: &[InputFile], options: &Options) -> Experiment {
        let size: usize = files.iter().filter_map(|file| file.content.read().ok()).map(|text| text.len()).sum();
        // Checks of the output do not matter for differences of it.
        let options = Options {
            target: OutputForm::Files,
            look_for_slips: false,
            overlay_record: None,
            output_check: None,
            find_causes: false,
            ..options.clone()
        };
        let project = Project::builder().inputs(files.to_vec()).options(options.clone()).build();
        let renderer = project.ok().map(|project| project.renderer());
        let left = (BUDGET / size.max(1)).clamp(1, RENDERS);
        let (files, bases) = (files.to_vec(), Vec::new());
        Experiment { renderer, options, sources: Arc::default(), left, files, bases }
    }

    /// Counts a run; `None` if there was the last one, or the time is used up.
    fn take(&mut self) -> Option<()> {
        if budget::work(UNITS).is_err() {
            self.left = 0;
        }
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// Runs with values set; `None` if the limit is reached.
    fn run(&mut self, set: &[Set]) -> Option<TrialResult> {
        self.take()?;
        let mut options = self.options.clone();
        for (key, value) in set {
            let value = OutputNode { value: OutputValue::Scalar(value.clone()), pos: Pos::UNKNOWN };
            options.values.placed.push(PlacedValue { key: key.clone(), value });
        }
        let result = self.renderer.as_mut()?.run(&options, Rc::new(Silent));
        Some(match result {
            Ok((rendered, sources)) => {
                self.sources = sources;
                TrialResult::Output(rendered.files)
            }
            Err(error) => {
                self.sources = error.sources().clone();
                let failure = error.failure();
                if failure.diagnostics().iter().any(|finding| ends_all(finding.id)) {
                    self.left = 0;
                    return None;
                }
                let is_about_values = |finding: &Diagnostic| {
                    matches!(finding.id.name().split('/').next(), Some("rule" | "schema" | "values"))
                };
                match failure.diagnostics().iter().any(is_about_values) {
                    true => TrialResult::Refused,
                    false => TrialResult::Failed,
                }
            }
        })
    }

    /// Generates values as a basis for trying others; returns whether these reach all of the code.
    fn generate(&mut self) -> bool {
        let how = GenerateOptions::new(BASES, 0);
        let made = ytterby::generate(self.files.clone(), &self.options, &Arc::new(Sources::new()), &how);
        let Ok(made) = made else { return false };
        let coverage = Arc::new(Coverage::default());
        // Coverage needs a separate compilation.
        let options = Options { coverage: Some(coverage.clone()), ..self.options.clone() };
        let project = Project::builder().inputs(self.files.clone()).options(options.clone()).build();
        let Ok(mut renderer) = project.map(|project| project.renderer()) else { return false };
        for document in made.documents {
            if self.take().is_none() {
                return false;
            }
            let Ok(text) = document.yaml() else { continue };
            let path = "generated.yml".to_owned();
            let file = InputFile::new(path.clone(), Content::new(text));
            let values = ValuesFile { library: String::new(), path, files: Ok(vec![file]) };
            let mut options = options.clone();
            options.values.files.push(values.clone());
            if let Ok((rendered, _)) = renderer.run(&options, Rc::new(Silent)) {
                self.bases.push((values, rendered.files));
            }
        }
        coverage.statements().iter().all(|(_, is_reached)| *is_reached)
    }

    /// Whether no other value changes anything on top of any generated values.
    fn is_idle_in_all(&mut self, table: &TrackedValues, id: ValueId) -> Option<bool> {
        let given = self.options.values.files.len();
        let mut is_idle = None;
        for (values, base) in std::mem::take(&mut self.bases) {
            if is_idle != Some(false) {
                self.options.values.files.push(values.clone());
                let found = self.is_idle_among(table, id, &base, &[]);
                self.options.values.files.truncate(given);
                is_idle = found.or(is_idle.filter(|_| self.left > 0));
            }
            self.bases.push((values, base));
        }
        is_idle
    }

    /// Whether no other value changes anything; `None` if that is unknown.
    fn is_idle(&mut self, table: &TrackedValues, id: ValueId, base: &[OutputFile]) -> Option<bool> {
        if !self.is_idle_among(table, id, base, &[])? {
            return Some(false);
        }
        // Another value may enable this one.
        for other in (1..table.values.len()).filter(|other| *other != id) {
            for switch in variations(table, other).into_iter().take(2) {
                let set = [switch];
                let TrialResult::Output(base) = self.run(&set)? else { continue };
                if !self.is_idle_among(table, id, &base, &set)? {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    fn is_idle_among(&mut self, table: &TrackedValues, id: ValueId, base: &[OutputFile], set: &[Set]) -> Option<bool> {
        let mut accepted = 0;
        for variation in variations(table, id) {
            let all: Vec<Set> = set.iter().cloned().chain([variation]).collect();
            match self.run(&all)? {
                TrialResult::Refused => continue,
                TrialResult::Failed => return Some(false),
                TrialResult::Output(output) if output != base => return Some(false),
                TrialResult::Output(_) => accepted += 1,
            }
            if accepted == TRIED {
                break;
            }
        }
        // One of them may equal the current value.
        (accepted >= 2).then_some(true)
    }
}

/// Whether a failure says nothing about values, because there is no time or memory for any run.
fn ends_all(id: Id) -> bool {
    [Id::LIMIT_TIME, Id::LIMIT_MEMORY, Id::LIMIT_CANCELLED].contains(&id)
}

/// Values other than the default.
fn variations(table: &TrackedValues, id: ValueId) -> Vec<Set> {
    let Some(path) = settable(table, id) else { return Vec::new() };
    let texts = |texts: &[&str]| texts.iter().map(|text| Scalar::from(*text)).collect();
    let others: Vec<Scalar> = match &table.values[id].default {
        PlainData::Scalar(Scalar::Bool(value)) => vec![Scalar::Bool(!value), Scalar::Bool(*value)],
        PlainData::Scalar(Scalar::Int(number)) => {
            let near = [number.saturating_add(1), number.saturating_sub(1), number.saturating_mul(2)];
            near.into_iter().chain([1, 2, 3, 80, 8080]).map(Scalar::Int).collect()
        }
        PlainData::Scalar(Scalar::Float(number)) => {
            [number + 1.0, number - 0.5, number * 2.0].into_iter().map(Scalar::Float).collect()
        }
        PlainData::Scalar(Scalar::Str(text)) => {
            let (longer, other) = (format!("{text}x"), format!("x{text}"));
            texts(&[&longer, &other, "other", "a.test", "10.0.0.1", "2"])
        }
        PlainData::Scalar(Scalar::Null) => vec![Scalar::from("x"), Scalar::Int(1), Scalar::Bool(true)],
        _ => Vec::new(),
    };
    others.into_iter().map(|value| (path.clone(), value)).collect()
}
