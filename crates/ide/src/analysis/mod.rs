//! Renders the targets of a project from memory, for everything that only a run can find.
//!
//! This is the only module that calls the engine. Files are compiled once and cached
//! (`EngineCache`); an edit compiles one file. A run stops at the first file that does not compile,
//! so such a file is replaced by its last good version, or left out, and the run is repeated: one
//! broken file must not hide the problems of others.

mod finding;
mod run;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use ytterby::{Cancellation, Meter};
use ytterby::{Inspect, Options, OutputCheck, OutputContent, OutputDocuments, OutputRef};
use ytterby_check::{Depth, ValuesAre};
use ytterby_diag::{Diagnostic, Failure, Pos, Sources};

use crate::config::{self, TargetConfig};
use crate::file::File;
use crate::findings::Finding;
use crate::model::ModelKind;
use crate::project::{FileRole, ProjectSnapshot, SnapshotFile};
use crate::text::TextRange;
use crate::values::DataValue;
use finding::{finding, name_missing_file};
use run::{PartialRun, settings};

/// Creates the check of output for a version of Kubernetes with additional schemas. Provided by the
/// host.
pub type KubernetesCheck = dyn Fn(&str, &[String], &Arc<Sources>) -> Option<Arc<dyn OutputCheck>> + Send + Sync;

/// The host's part in runs.
#[derive(Clone)]
pub struct Engine {
    /// The check of output.
    pub kubernetes: Option<Arc<KubernetesCheck>>,
    /// Maximum steps of the code of one file: an endless loop must not block the server.
    pub max_steps: u64,
    /// Maximum processor time of one run, if there is a clock.
    pub max_time: Duration,
    /// The host's clock.
    pub meter: Option<Arc<dyn Meter>>,
    /// Stops the work that uses this copy.
    pub cancellation: Cancellation,
    /// Compiled files and results.
    cache: Arc<Mutex<EngineCache>>,
}

/// A version of Kubernetes and additional schemas.
type CheckKey = (String, Vec<String>);

/// The files that data values depend on, and the values.
type ValuesOfTarget = (Vec<Arc<File>>, Option<DataValue>);

/// Compiled projects, most recently used first, and checks of Kubernetes.
#[derive(Default)]
struct EngineCache {
    compiled: Vec<CompiledProject>,
    checks: HashMap<CheckKey, Option<Arc<dyn OutputCheck>>>,
    /// Files that do not compile, with their findings, until they change.
    broken: HashMap<String, (Arc<File>, Vec<Finding>)>,
    /// Files that compile, by path, as far as that was needed.
    sound: HashMap<String, Arc<File>>,
    /// The data values of targets, by root and name, with the files that they depend on.
    values: HashMap<TargetKey, ValuesOfTarget>,
}

/// The root of a project, and the name of a target.
type TargetKey = (String, Option<String>);

/// Files and their compiled project.
struct CompiledProject {
    files: Vec<(String, Arc<File>)>,
    project: ytterby::Project,
}

/// Maximum compiled projects in the cache: targets with their own files, and versions without a
/// broken file.
const MAX_COMPILED: usize = 8;

impl Engine {
    /// An engine with this check of output.
    pub fn with_kubernetes(check: Arc<KubernetesCheck>) -> Engine {
        Engine { kubernetes: Some(check), ..Engine::default() }
    }

    /// The limits of one run.
    fn limits(&self) -> ytterby::Limits {
        ytterby::Limits { steps: Some(self.max_steps), time: Some(self.max_time), ..ytterby::Limits::default() }
    }

    /// A copy that shares the cache and stops with this token.
    pub fn with_cancellation(&self, token: Cancellation) -> Engine {
        Engine { cancellation: token, ..self.clone() }
    }
}

impl Engine {
    /// The data values of a variant, cached until a file changes that can affect them.
    fn kept_values(&self, project: &ProjectSnapshot, variant: &Variant) -> Option<DataValue> {
        let decides = |file: &&SnapshotFile| match file.role {
            FileRole::Input => {
                let is_template = file.file.kind() == ModelKind::Yaml && !file.logical.contains(".lib.");
                !is_template || file.file.text.contains("#@data/values") || file.file.text.contains("#@schema")
            }
            FileRole::Values => file.target.is_none() || file.target == variant.number,
            _ => false,
        };
        let files: Vec<Arc<File>> = project.files.iter().filter(decides).map(|file| file.file.clone()).collect();
        let files: Vec<Arc<File>> = files.into_iter().chain(project.project_file.clone()).collect();
        let key = (project.root.clone(), variant.name.clone());
        let known = self.cache.lock().unwrap_or_else(PoisonError::into_inner).values.get(&key).cloned();
        if let Some((old, value)) = known
            && old.len() == files.len()
            && old.iter().zip(&files).all(|(old, new)| Arc::ptr_eq(old, new))
        {
            return value;
        }
        let value = data_values(project, self, variant);
        // An interrupted computation has no result.
        if self.cancellation.is_cancelled() {
            return value;
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.values.len() > 64 {
            cache.values.clear();
        }
        cache.values.insert(key, (files, value.clone()));
        value
    }
}

impl Default for Engine {
    fn default() -> Engine {
        Engine {
            kubernetes: None,
            max_steps: 20_000_000,
            max_time: Duration::from_secs(5),
            meter: None,
            cancellation: Cancellation::new(),
            cache: Arc::default(),
        }
    }
}

/// The results of runs of a project.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The findings, sorted by position.
    pub findings: Vec<Finding>,
    /// The data values of the selected target.
    pub values: Option<DataValue>,
}

/// A possible run: a target, or a single values file.
#[derive(Clone, Debug, Default)]
struct Variant {
    name: Option<String>,
    number: Option<usize>,
    /// A values file that no target names.
    loose: Option<usize>,
    set: Vec<String>,
    kubernetes: Option<String>,
}

/// Maximum repeated runs because of files that do not compile.
const MAX_REPEATS: usize = 12;

/// Finds the problems of a project: those that runs of its targets report, and those that its files
/// show at once. `selected` is the target whose values are shown.
///
/// It runs after every keystroke; [`lint`] finds the rest later.
pub fn analyse(project: &ProjectSnapshot, engine: &Engine, selected: Option<&str>) -> Analysis {
    let targets = targets(project);
    let shown = selected_variant(&targets, selected).unwrap_or_default();
    let values = targets.get(shown).and_then(|variant| engine.kept_values(project, variant));
    let mut findings = all_run_findings(project, engine, &targets);
    let loose = project.files.iter().enumerate().filter(|(_, file)| file.role == FileRole::LooseValues);
    for (index, _) in loose {
        let base = targets.first().cloned().unwrap_or_default();
        let set = if project.config.is_some() { base.set } else { Vec::new() };
        let variant = Variant { loose: Some(index), set, ..Variant::default() };
        findings.extend(values_findings(project, engine, &variant));
    }
    findings.extend(crate::statics::unknown_values(project));
    if let Some(file) = &project.project_file {
        let sources = Sources::new();
        let text = file.text.as_bytes().into();
        let (_, problems) = ytterby_project::read(&file.path, text, &project.root, &sources);
        let own = Variant::default();
        findings.extend(problems.iter().filter_map(|problem| finding(project, &own, problem, &sources)));
        findings.extend(config::missing_files(project, file));
    }
    Analysis { findings: tidy(project, findings), values }
}

/// Findings of `ytterby check` that an analysis does not have: lints, and unknown values that only
/// data flow finds.
pub fn lint(project: &ProjectSnapshot, engine: &Engine, analysis: &Analysis) -> Vec<Finding> {
    let broken = analysis.findings.iter().filter(|finding| stops_compiling(&finding.code));
    let broken: Vec<Finding> = broken.cloned().collect();
    checked(project, engine, &targets(project), &broken)
}

/// Adds findings to those of an analysis.
pub fn merged(project: &ProjectSnapshot, analysis: &Analysis, others: &[Finding]) -> Analysis {
    let findings = analysis.findings.iter().chain(others).cloned().collect();
    Analysis { findings: tidy(project, findings), values: analysis.values.clone() }
}

/// Sorts findings and removes duplicates and those that comments suppress.
fn tidy(project: &ProjectSnapshot, mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.iter_mut().for_each(|finding| name_missing_file(project, finding));
    crate::statics::drop_ignored(project, &mut findings);
    // A run that reads an unknown value fails with a less precise message than that of the static
    // check.
    let unknown: Vec<(String, TextRange)> = findings
        .iter()
        .filter(|finding| finding.code == "code/unknown-value")
        .map(|finding| (finding.path.clone(), finding.range))
        .collect();
    findings.retain(|finding| {
        let is_told = |(path, range): &(String, TextRange)| {
            *path == finding.path && range.start <= finding.range.end && finding.range.start <= range.end
        };
        finding.code != "code/attribute" || !unknown.iter().any(is_told)
    });
    findings.sort_by(|a, b| (&a.path, a.range, &a.code, &a.message).cmp(&(&b.path, b.range, &b.code, &b.message)));
    findings.dedup_by(|b, a| is_same(a, b));
    findings
}

/// The findings of all targets, each run on its own thread.
fn all_run_findings(project: &ProjectSnapshot, engine: &Engine, targets: &[Variant]) -> Vec<Finding> {
    match targets {
        [only] => run_findings(project, engine, only),
        _ => std::thread::scope(|scope| {
            let cores = std::thread::available_parallelism().map_or(1, usize::from).min(targets.len());
            let run = move |first: usize| {
                let own = targets.iter().skip(first).step_by(cores);
                own.flat_map(|variant| run_findings(project, engine, variant)).collect::<Vec<Finding>>()
            };
            let others: Vec<_> = (1..cores).map(|first| scope.spawn(move || run(first))).collect();
            let mut findings = run(0);
            // A panic in a run is a bug; the findings of the others are kept.
            findings.extend(others.into_iter().filter_map(|thread| thread.join().ok()).flatten());
            findings
        }),
    }
}

/// Larger projects are checked without experiments.
const MAX_EXPERIMENT_FILES: usize = 200;
const MAX_EXPERIMENT_TARGETS: usize = 4;

/// Findings of `ytterby check` without a run, and by experiments in small projects: files that do
/// not compile, unknown values in any branch, lints. For a file that does not compile, the last
/// good version is used, so that lints do not come and go with every key.
fn checked(project: &ProjectSnapshot, engine: &Engine, variants: &[Variant], broken: &[Finding]) -> Vec<Finding> {
    thread_local! {
        static CACHE: RefCell<ytterby_check::Cache> = RefCell::default();
    }
    let has_targets = project.config.as_ref().is_some_and(|config| !config.targets.is_empty());
    let values = if has_targets { ValuesAre::All } else { ValuesAre::Examples };
    let target = |variant: &Variant| {
        let mut run = PartialRun::new(project, engine, variant);
        run.replace(broken);
        let options = Options {
            values: run.values(),
            all_errors: true,
            limits: engine.limits(),
            meter: engine.meter.clone(),
            cancellation: Some(engine.cancellation.clone()),
            ..settings()
        };
        let files = run.inputs().filter_map(|file| run.input(file)).chain(run.other_inputs());
        ytterby_check::CheckTarget { files: files.collect(), options, values }
    };
    let targets: Vec<ytterby_check::CheckTarget> = variants.iter().map(target).collect();
    let sources = Arc::new(Sources::new());
    let found = CACHE.with_borrow_mut(|cache| {
        let mut found = ytterby_check::check(&targets, Depth::Static, &sources, cache);
        // Experiments render repeatedly; the findings of ordinary runs are already known.
        let is_small = project.files.len() <= MAX_EXPERIMENT_FILES && targets.len() <= MAX_EXPERIMENT_TARGETS;
        if is_small && broken.is_empty() && !engine.cancellation.is_cancelled() {
            let full = ytterby_check::check(&targets, Depth::Full, &sources, cache);
            found.extend(full.into_iter().filter(|diagnostic| diagnostic.id.name().starts_with("lint/")));
        }
        found
    });
    let variant = Variant::default();
    let found = found.iter().filter_map(|diagnostic| finding(project, &variant, diagnostic, &sources));
    let is_broken = |path: &str| broken.iter().any(|finding| finding.path == path);
    // The omitted file may use names that the remaining files do not use.
    let lacks_files = broken.iter().any(|finding| !project.good.contains_key(&finding.path));
    found
        .filter(|finding| !is_broken(&finding.path))
        .filter(|finding| {
            let is_consequence = finding.code.starts_with("lint/")
                || matches!(finding.code.as_str(), "file/missing" | "code/load" | "code/undefined");
            !(lacks_files && is_consequence)
        })
        .collect()
}

/// Whether two findings are the same: a run and the static check both find unknown values.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let overlaps = a.range.start < b.range.end && b.range.start < a.range.end || a.range == b.range;
    a.path == b.path
        && a.code == b.code
        && (overlaps && (a.range == b.range || a.code == "code/unknown-value"))
        && (a.message == b.message || a.code.starts_with("code/"))
}

fn targets(project: &ProjectSnapshot) -> Vec<Variant> {
    let Some(config) = &project.config else { return vec![Variant::default()] };
    let of = |number: usize, target: &TargetConfig| Variant {
        name: Some(target.name.clone()),
        number: Some(number),
        loose: None,
        set: config.set.iter().chain(&target.set).cloned().collect(),
        kubernetes: target.kubernetes.clone().or_else(|| config.kubernetes.clone()),
    };
    let named: Vec<Variant> = config.targets.iter().enumerate().map(|(number, target)| of(number, target)).collect();
    match named.is_empty() {
        true => vec![Variant { set: config.set.clone(), kubernetes: config.kubernetes.clone(), ..Variant::default() }],
        false => named,
    }
}

fn selected_variant(targets: &[Variant], selected: Option<&str>) -> Option<usize> {
    let name = selected?;
    let is_it = |variant: &Variant| {
        variant.name.as_deref().is_some_and(|own| own == name || own.split('[').next() == Some(name))
    };
    targets.iter().position(is_it)
}

/// The names of the targets of a project.
pub fn target_names(project: &ProjectSnapshot) -> Vec<String> {
    targets(project).into_iter().filter_map(|target| target.name).collect()
}

/// Runs a variant without the files that do not compile, which are reported whether a run needs
/// them or not.
fn run_findings(project: &ProjectSnapshot, engine: &Engine, variant: &Variant) -> Vec<Finding> {
    let mut run = PartialRun::new(project, engine, variant);
    let mut findings = run.replace_known();
    let broken = run.broken();
    run.replace(&broken);
    findings.extend(broken.iter().filter(|finding| run.is_to_tell(finding)).cloned());
    for _ in 0..MAX_REPEATS {
        if engine.cancellation.is_cancelled() {
            break;
        }
        let (is_failed, found) = run.findings(None);
        let is_replaced = is_failed && run.replace(&found);
        findings.extend(found.iter().filter(|finding| run.is_to_tell(finding)).cloned());
        if is_replaced {
            continue;
        }
        // Invalid values prevent the evaluation of templates, so run without them.
        if is_failed && !run.without_values && found.iter().any(|finding| is_about_values(&finding.code)) {
            run.without_values = true;
            continue;
        }
        break;
    }
    findings
}

/// The problems of one values file.
fn values_findings(project: &ProjectSnapshot, engine: &Engine, variant: &Variant) -> Vec<Finding> {
    let own = variant.loose.map(|index| &project.files[index].file.path);
    let mut run = PartialRun::new(project, engine, variant);
    let known = run.replace_known().into_iter().filter(|finding| Some(&finding.path) == own);
    let known: Vec<Finding> = known.collect();
    if !known.is_empty() {
        return known;
    }
    for _ in 0..MAX_REPEATS {
        let (is_failed, found) = run.findings(Some(Inspect::Values));
        let own: Vec<Finding> = found.iter().filter(|finding| Some(&finding.path) == own).cloned().collect();
        if !own.is_empty() || !is_failed || !run.replace(&found) {
            return own;
        }
    }
    Vec::new()
}

fn entries(failure: &Failure) -> Vec<Diagnostic> {
    failure.warnings().iter().cloned().chain(failure.diagnostics()).collect()
}

/// Whether a problem prevents its file from being compiled.
pub fn stops_compiling(code: &str) -> bool {
    matches!(code, "yaml/syntax" | "code/syntax" | "code/block" | "code/undefined" | "code/template")
}

fn is_about_values(code: &str) -> bool {
    ["schema/", "rule/", "values/"].iter().any(|prefix| code.starts_with(prefix))
}

/// The data values of a variant.
fn data_values(project: &ProjectSnapshot, engine: &Engine, variant: &Variant) -> Option<DataValue> {
    let mut run = PartialRun::new(project, engine, variant);
    run.replace_known();
    for _ in 0..MAX_REPEATS {
        let (result, sources) = run.render(Some(Inspect::Values), None);
        match result {
            Ok(rendered) => return DataValue::parse(&rendered.documents),
            Err(failure) => {
                let found: Vec<Finding> =
                    entries(&failure).iter().filter_map(|entry| finding(project, variant, entry, &sources)).collect();
                if !run.replace(&found) {
                    return None;
                }
            }
        }
    }
    None
}

/// The rendered output with the map of its lines.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// All documents.
    pub output: String,
    /// For lines of the output: file and line of the origin; lines count from 0.
    pub map: Vec<(usize, String, usize)>,
    /// The problems, if the run failed.
    pub findings: Vec<Finding>,
    /// Whether the run failed.
    pub is_failed: bool,
}

/// Renders a target; `None` if it does not exist.
pub fn preview(
    project: &ProjectSnapshot,
    engine: &Engine,
    target: Option<&str>,
    selected: Option<&str>,
) -> Option<Preview> {
    let targets = targets(project);
    let number = match target {
        Some(name) => selected_variant(&targets, Some(name))?,
        None => selected_variant(&targets, selected).unwrap_or_default(),
    };
    let variant = &targets[number];
    let run = PartialRun::new(project, engine, variant);
    let seen = Arc::new(RecordedOutput::default());
    let (result, sources) = run.render(None, Some(seen.clone()));
    Some(match result {
        Ok(rendered) => {
            let output = String::from_utf8_lossy(&rendered.documents).into_owned();
            let map = crate::preview::line_map(&output, &seen.documents(), &sources);
            Preview { output, map, findings: Vec::new(), is_failed: false }
        }
        Err(failure) => {
            let found = entries(&failure);
            let findings = found.iter().filter_map(|entry| finding(project, variant, entry, &sources)).collect();
            Preview { findings, is_failed: true, ..Preview::default() }
        }
    })
}

/// An output check that records the documents with their positions.
#[derive(Debug, Default)]
struct RecordedOutput(Mutex<Vec<SeenNode>>);

/// A node of the output: its position and content.
#[derive(Clone, Debug)]
pub(crate) struct SeenNode {
    pub(crate) pos: Pos,
    pub(crate) children: Vec<SeenNode>,
}

impl RecordedOutput {
    fn documents(&self) -> Vec<SeenNode> {
        self.0.lock().map(|seen| seen.clone()).unwrap_or_default()
    }
}

impl OutputCheck for RecordedOutput {
    fn title(&self) -> String {
        "Mapping output".to_owned()
    }

    fn check(&self, documents: &OutputDocuments<'_>) -> Vec<Diagnostic> {
        if let Ok(mut seen) = self.0.lock() {
            *seen = documents.iter().map(|node| seen_node(node, 0)).collect();
        }
        Vec::new()
    }
}

fn seen_node(node: OutputRef<'_>, depth: usize) -> SeenNode {
    let children = match node.content() {
        _ if depth > 200 => Vec::new(),
        OutputContent::Scalar(_) => Vec::new(),
        OutputContent::Array(items) => items.map(|item| seen_node(item, depth + 1)).collect(),
        OutputContent::Map(items) => items.map(|(_, item)| seen_node(item, depth + 1)).collect(),
    };
    SeenNode { pos: node.pos, children }
}
