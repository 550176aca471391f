//! What only a run can tell: the engine renders the targets of a project from memory.
//!
//! This is the only module that calls the engine. Files are compiled once and kept ([`Cache`]); an edit compiles one
//! file. A run stops at the first file that does not compile; so such a file
//! is replaced by its last good version, or left out, and the run is repeated: one broken file must not hide what is
//! wrong in others.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use ytterby::{
    Content, InputFile, Inspect, Options, OutputCheck, OutputNode, OutputValue, Rendered, Silent, ValueFlags,
    ValuesFile,
};
use ytterby_check::{Depth, ValuesAre};
use ytterby_diag::{Diagnostic, Failure, Form, Label, Origin, PlaceNames, Pos, Safety, Sources, Step};

use crate::config::{self, TargetConfig};
use crate::file::{self, File};
use crate::findings::{Finding, Fix, RelatedPlace, Severity, TextEdit};
use crate::model::FileKind;
use crate::project::{Project, ProjectFile, Role};
use crate::text::{Lines, TextRange};
use crate::values::Value;

/// Makes the check of output against a version of Kubernetes, with further schemas. The host brings it.
pub type KubernetesCheck = dyn Fn(&str, &[String], &Arc<Sources>) -> Option<Arc<dyn OutputCheck>> + Send + Sync;

/// What the host brings for runs.
#[derive(Clone)]
pub struct Engine {
    /// The check of output.
    pub kubernetes: Option<Arc<KubernetesCheck>>,
    /// Steps that the code of one file may take: an endless loop must not keep the server busy.
    pub max_steps: u64,
    /// What was compiled before.
    cache: Arc<Mutex<Cache>>,
}

/// Compiled projects, the last used one first, and checks of Kubernetes.
#[derive(Default)]
struct Cache {
    compiled: Vec<Compiled>,
    checks: HashMap<(String, Vec<String>), Option<Arc<dyn OutputCheck>>>,
    /// The data values of targets, by root and name, with the files that they depend on.
    values: HashMap<(String, Option<String>), (Vec<Arc<File>>, Option<Value>)>,
}

/// Files and what the engine made of them.
struct Compiled {
    files: Vec<(String, Arc<File>)>,
    project: ytterby::Project,
}

/// Compiled projects that are kept: targets with files of their own, and versions with a broken file left out.
const MAX_COMPILED: usize = 8;

impl Engine {
    /// What runs need, with this check of output.
    pub fn with_kubernetes(check: Arc<KubernetesCheck>) -> Engine {
        Engine { kubernetes: Some(check), ..Engine::default() }
    }
}

impl Engine {
    /// The data values of a variant. They are computed again when a file that can change them has changed.
    fn kept_values(&self, project: &Project, variant: &Variant) -> Option<Value> {
        let decides = |file: &&ProjectFile| match file.role {
            Role::Input => {
                let is_template = file.file.kind() == FileKind::Yaml && !file.logical.contains(".lib.");
                !is_template || file.file.text.contains("#@data/values") || file.file.text.contains("#@schema")
            }
            Role::Values => file.target.is_none() || file.target == variant.number,
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
        Engine { kubernetes: None, max_steps: 20_000_000, cache: Arc::default() }
    }
}

/// What runs of a project told.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// What is wrong, ordered by place.
    pub findings: Vec<Finding>,
    /// The data values of the selected target.
    pub values: Option<Value>,
}

/// A run that is possible: a target, or a values file by itself.
#[derive(Clone, Debug, Default)]
struct Variant {
    name: Option<String>,
    number: Option<usize>,
    /// A values file that no target names.
    loose: Option<usize>,
    set: Vec<String>,
    kubernetes: Option<String>,
}

/// Runs that are repeated because a file does not compile.
const MAX_REPEATS: usize = 12;

/// Finds what is wrong with a project: what runs of its targets report, and what a look at its files tells at once.
/// `selected` is the target whose values are shown.
///
/// It is made for every keystroke; [`lint`] finds the rest when there is time.
pub fn analyse(project: &Project, engine: &Engine, selected: Option<&str>) -> Analysis {
    let targets = targets(project);
    let shown = selected_variant(&targets, selected).unwrap_or_default();
    let values = targets.get(shown).and_then(|variant| engine.kept_values(project, variant));
    let mut findings = all_run_findings(project, engine, &targets);
    let loose = project.files.iter().enumerate().filter(|(_, file)| file.role == Role::LooseValues);
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

/// What `ytterby check` adds to the findings of an analysis: lints, and unknown values that only following the code
/// finds.
pub fn lint(project: &Project, engine: &Engine, analysis: &Analysis) -> Vec<Finding> {
    let broken = analysis.findings.iter().filter(|finding| stops_compiling(&finding.code));
    let broken: Vec<Finding> = broken.cloned().collect();
    checked(project, engine, &targets(project), &broken)
}

/// The findings of an analysis with others.
pub fn merged(project: &Project, analysis: &Analysis, others: &[Finding]) -> Analysis {
    let findings = analysis.findings.iter().chain(others).cloned().collect();
    Analysis { findings: tidy(project, findings), values: analysis.values.clone() }
}

/// Findings in order, without those that say the same or that comments silence.
fn tidy(project: &Project, mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.iter_mut().for_each(|finding| name_missing_file(project, finding));
    crate::statics::drop_ignored(project, &mut findings);
    // A run that reads an unknown value fails with less to say than the static pass has.
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

/// The findings of all targets, each run on a thread of its own.
fn all_run_findings(project: &Project, engine: &Engine, targets: &[Variant]) -> Vec<Finding> {
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
            // A panic in a run is a bug; the findings of the others still count.
            findings.extend(others.into_iter().filter_map(|thread| thread.join().ok()).flatten());
            findings
        }),
    }
}

/// What `ytterby check` finds without running anything: all files that do not compile, unknown values in any branch,
/// lints. Of files that do not compile, the last good version counts, so that lints do not come and go with every key.
fn checked(project: &Project, engine: &Engine, variants: &[Variant], broken: &[Finding]) -> Vec<Finding> {
    thread_local! {
        static CACHE: RefCell<ytterby_check::Cache> = RefCell::default();
    }
    let has_targets = project.config.as_ref().is_some_and(|config| !config.targets.is_empty());
    let values = if has_targets { ValuesAre::All } else { ValuesAre::Examples };
    let target = |variant: &Variant| {
        let mut run = Run::new(project, engine, variant);
        run.replace(broken);
        let options = Options { values: run.values(), all_errors: true, ..settings() };
        let files = run.inputs().filter_map(|file| run.input(file)).chain(run.other_inputs());
        ytterby_check::Target { files: files.collect(), options, values }
    };
    let targets: Vec<ytterby_check::Target> = variants.iter().map(target).collect();
    let sources = Arc::new(Sources::new());
    let found = CACHE.with_borrow_mut(|cache| ytterby_check::check(&targets, Depth::Static, &sources, cache));
    let variant = Variant::default();
    let found = found.iter().filter_map(|diagnostic| finding(project, &variant, diagnostic, &sources));
    let is_broken = |path: &str| broken.iter().any(|finding| finding.path == path);
    // What is not used by the files that are left may be used by the one that is left out.
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

/// A load of a file that is not there is about the file.
fn name_missing_file(project: &Project, finding: &mut Finding) {
    if finding.code != "code/load" {
        return;
    }
    let Some(index) = project.index(&finding.path) else { return };
    let loads = &project.files[index].file.model().loads;
    let is_missing = loads.iter().any(|load| {
        let meets = load.range.start <= finding.range.end && finding.range.start <= load.range.end;
        meets && !load.path.starts_with('@') && project.loaded(index, &load.path).is_none()
    });
    if is_missing {
        "file/missing".clone_into(&mut finding.code);
    }
}

/// Whether two findings say the same: a run and the static pass both find unknown values.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let overlaps = a.range.start < b.range.end && b.range.start < a.range.end || a.range == b.range;
    a.path == b.path
        && a.code == b.code
        && (overlaps && (a.range == b.range || a.code == "code/unknown-value"))
        && (a.message == b.message || a.code.starts_with("code/"))
}

fn targets(project: &Project) -> Vec<Variant> {
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
pub fn target_names(project: &Project) -> Vec<String> {
    targets(project).into_iter().filter_map(|target| target.name).collect()
}

/// Runs a variant until every file that does not compile is told.
fn run_findings(project: &Project, engine: &Engine, variant: &Variant) -> Vec<Finding> {
    let mut run = Run::new(project, engine, variant);
    let mut findings = Vec::new();
    for _ in 0..MAX_REPEATS {
        let (is_failed, found) = run.findings(None);
        let is_replaced = is_failed && run.replace(&found);
        findings.extend(found.iter().filter(|finding| run.is_to_tell(finding)).cloned());
        if is_replaced {
            continue;
        }
        // Values that do not fit keep templates from being evaluated.
        if is_failed && !run.without_values && found.iter().any(|finding| is_about_values(&finding.code)) {
            run.without_values = true;
            continue;
        }
        break;
    }
    findings
}

/// The problems of one values file.
fn values_findings(project: &Project, engine: &Engine, variant: &Variant) -> Vec<Finding> {
    let own = variant.loose.map(|index| &project.files[index].file.path);
    let mut run = Run::new(project, engine, variant);
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

/// Whether a file with such a problem does not compile.
pub fn stops_compiling(code: &str) -> bool {
    matches!(code, "yaml/syntax" | "code/syntax" | "code/block" | "code/undefined" | "code/template")
}

fn is_about_values(code: &str) -> bool {
    ["schema/", "rule/", "values/"].iter().any(|prefix| code.starts_with(prefix))
}

/// The data values of a variant.
fn data_values(project: &Project, engine: &Engine, variant: &Variant) -> Option<Value> {
    let mut run = Run::new(project, engine, variant);
    for _ in 0..MAX_REPEATS {
        let (result, sources) = run.render(Some(Inspect::Values), None);
        match result {
            Ok(rendered) => return Value::parse(&rendered.documents),
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
    /// For lines of the output: the file and the line, both from 0, that they come from.
    pub map: Vec<(usize, String, usize)>,
    /// What is wrong, where the run failed.
    pub findings: Vec<Finding>,
    /// Whether the run failed.
    pub is_failed: bool,
}

/// Renders a target; nothing where there is no such target.
pub fn preview(project: &Project, engine: &Engine, target: Option<&str>, selected: Option<&str>) -> Option<Preview> {
    let targets = targets(project);
    let number = match target {
        Some(name) => selected_variant(&targets, Some(name))?,
        None => selected_variant(&targets, selected).unwrap_or_default(),
    };
    let variant = &targets[number];
    let run = Run::new(project, engine, variant);
    let seen = Arc::new(Seen::default());
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

/// An output check that only looks: it keeps the documents with their places.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<SeenNode>>);

/// A node of the output: where it comes from, and what is in it.
#[derive(Clone, Debug)]
pub(crate) struct SeenNode {
    pub(crate) pos: Pos,
    pub(crate) children: Vec<SeenNode>,
}

impl Seen {
    fn documents(&self) -> Vec<SeenNode> {
        self.0.lock().map(|seen| seen.clone()).unwrap_or_default()
    }
}

impl OutputCheck for Seen {
    fn title(&self) -> String {
        "Mapping output".to_owned()
    }

    fn check(&self, documents: Vec<OutputNode>) -> Vec<Diagnostic> {
        if let Ok(mut seen) = self.0.lock() {
            *seen = documents.into_iter().map(|node| seen_node(node, 0)).collect();
        }
        Vec::new()
    }
}

fn seen_node(node: OutputNode, depth: usize) -> SeenNode {
    let children = match node.value {
        _ if depth > 200 => Vec::new(),
        OutputValue::Scalar(_) => Vec::new(),
        OutputValue::Array(items) => items.into_iter().map(|item| seen_node(item, depth + 1)).collect(),
        OutputValue::Map(items) => items.into_iter().map(|(_, item)| seen_node(item, depth + 1)).collect(),
    };
    SeenNode { pos: node.pos, children }
}

/// A run of the engine with replacements for files that do not compile.
struct Run<'a> {
    project: &'a Project,
    engine: &'a Engine,
    variant: &'a Variant,
    /// Files with the text that is taken instead; nothing to leave one out.
    replaced: HashMap<String, Option<Arc<File>>>,
    without_values: bool,
}

impl<'a> Run<'a> {
    fn new(project: &'a Project, engine: &'a Engine, variant: &'a Variant) -> Run<'a> {
        Run { project, engine, variant, replaced: HashMap::new(), without_values: false }
    }

    /// Renders, and tells whether that failed and what was found.
    fn findings(&self, inspect: Option<Inspect>) -> (bool, Vec<Finding>) {
        let (result, sources) = self.render(inspect, None);
        let (diagnostics, is_failed) = match &result {
            Ok(rendered) => (rendered.warnings.clone(), false),
            Err(failure) => (entries(failure), true),
        };
        let found = diagnostics.iter().filter_map(|entry| finding(self.project, self.variant, entry, &sources));
        (is_failed, found.collect())
    }

    /// Takes older versions of files that do not compile, or none. Returns whether that changes anything.
    fn replace(&mut self, found: &[Finding]) -> bool {
        let broken = found.iter().filter(|finding| stops_compiling(&finding.code));
        let broken: HashSet<&str> = broken.map(|finding| finding.path.as_str()).collect();
        let mut is_changed = false;
        for path in broken {
            let next = match self.replaced.get(path) {
                None => self.project.good.get(path).cloned(),
                Some(Some(_)) => None,
                Some(None) => continue,
            };
            self.replaced.insert(path.to_owned(), next);
            is_changed = true;
        }
        is_changed
    }

    /// Whether a finding is about a file as it is, and not a consequence of what was replaced.
    fn is_to_tell(&self, finding: &Finding) -> bool {
        let is_replaced_now = self.replaced.get(&finding.path);
        let is_first_word = stops_compiling(&finding.code) && finding.severity == Severity::Error;
        let is_consequence = !self.replaced.is_empty() && matches!(finding.code.as_str(), "file/missing" | "code/load")
            || self.without_values && is_about_values(&finding.code);
        match is_replaced_now {
            Some(_) => is_first_word && self.is_current(finding),
            None => !is_consequence,
        }
    }

    /// Whether a finding about a file came from its current text: the first replacement is made right after it.
    fn is_current(&self, finding: &Finding) -> bool {
        let length = self.project.file(&finding.path).map_or(0, |file| file.text.len());
        finding.range.end <= length
            && !matches!(self.replaced.get(&finding.path), Some(None) if self.had_good(&finding.path))
    }

    fn had_good(&self, path: &str) -> bool {
        self.project.good.contains_key(path)
    }

    fn render(&self, inspect: Option<Inspect>, seen: Option<Arc<Seen>>) -> (Result<Rendered, Failure>, Arc<Sources>) {
        let check: Option<Arc<dyn OutputCheck>> = match (seen, &self.variant.kubernetes) {
            (Some(seen), _) => Some(seen),
            (None, Some(version)) if version != "off" && inspect.is_none() => self.kubernetes_check(version),
            _ => None,
        };
        let options = Options {
            values: self.values(),
            inspect,
            all_errors: true,
            limits: ytterby::Limits { steps: Some(self.engine.max_steps), ..ytterby::Limits::default() },
            output_check: check,
            ..settings()
        };
        let project = match self.compiled() {
            Ok(project) => project,
            Err(error) => return (Err(error.failure().clone()), error.sources().clone()),
        };
        match project.renderer().run(&options, Rc::new(Silent)) {
            Ok((rendered, sources)) => (Ok(rendered), sources),
            Err(error) => (Err(error.failure().clone()), error.sources().clone()),
        }
    }

    fn kubernetes_check(&self, version: &str) -> Option<Arc<dyn OutputCheck>> {
        let make = self.engine.kubernetes.as_ref()?;
        let schemas = self.project.config.as_ref().map(|config| &config.schemas[..]).unwrap_or_default();
        let schemas: Vec<String> = schemas.iter().map(|path| file::join(&self.project.root, path)).collect();
        let mut cache = self.engine.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (version.to_owned(), schemas);
        if let Some(check) = cache.checks.get(&key).filter(|_| key.1.is_empty()) {
            return check.clone();
        }
        let check = make(version, &key.1, &Arc::new(Sources::new()));
        cache.checks.insert(key, check.clone());
        check
    }

    /// The files of the variant.
    fn inputs(&self) -> impl Iterator<Item = &'a ProjectFile> + use<'a> {
        let number = self.variant.number;
        let belongs =
            move |file: &&ProjectFile| file.role == Role::Input && (file.target.is_none() || file.target == number);
        self.project.files.iter().filter(belongs)
    }

    /// The files of the variant, compiled. Only those that have changed since are compiled again.
    fn compiled(&self) -> Result<ytterby::Project, ytterby::ProjectError> {
        let inputs: Vec<(&ProjectFile, Arc<File>)> =
            self.inputs().filter_map(|file| Some((file, self.version(file)?.clone()))).collect();
        let others = self.other_inputs();
        let builder = ytterby::Project::builder().options(settings());
        if !others.is_empty() {
            // What is read from disk while code runs may have changed.
            let inputs = inputs.iter().filter_map(|(file, _)| self.input(file));
            return builder.inputs(inputs).inputs(others).build();
        }
        let mut cache = self.engine.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let is_like = |known: &Compiled| {
            known.files.len() == inputs.len()
                && known.files.iter().zip(&inputs).all(|((path, known), (file, new))| {
                    *path == file.logical && known.path == new.path && known.kind() == new.kind()
                })
        };
        let mut compiled = match cache.compiled.iter().position(is_like) {
            Some(at) => cache.compiled.remove(at),
            None => {
                let project = builder.inputs(inputs.iter().filter_map(|(file, _)| self.input(file))).build()?;
                let files = inputs.iter().map(|(file, version)| (file.logical.clone(), version.clone())).collect();
                Compiled { files, project }
            }
        };
        for ((_, known), (file, new)) in compiled.files.iter_mut().zip(&inputs) {
            if !Arc::ptr_eq(known, new)
                && let Some(input) = self.input(file)
            {
                compiled.project = compiled.project.with_file(input);
                *known = new.clone();
            }
        }
        let project = compiled.project.clone();
        cache.compiled.insert(0, compiled);
        cache.compiled.truncate(MAX_COMPILED);
        Ok(project)
    }

    /// The version of a file that counts in this run; nothing where it is left out.
    fn version<'f>(&'f self, file: &'f ProjectFile) -> Option<&'f Arc<File>> {
        match self.replaced.get(&file.file.path) {
            Some(replacement) => replacement.as_ref(),
            None => Some(&file.file),
        }
    }

    fn input(&self, file: &ProjectFile) -> Option<InputFile> {
        let current = self.version(file)?;
        let mut input = InputFile::new(file.logical.clone(), Content::new(current.text.as_bytes()));
        input.place = Some(file.file.path.clone());
        if file.file.kind() == FileKind::Text && FileKind::of(&file.file.path) != FileKind::Text {
            input.marked_kind = Some(ytterby::FileKind::Text);
            input.marked_template = Some(true);
        }
        Some(input)
    }

    /// Inputs that only `data.read` sees; they are read when code asks for them.
    fn other_inputs(&self) -> Vec<InputFile> {
        let asks = |file: &ProjectFile| file.file.text.contains("data.read") || file.file.text.contains("data.list");
        if !self.project.files.iter().any(asks) {
            return Vec::new();
        }
        let bases: Vec<String> = match &self.project.config {
            Some(config) => config.files.iter().map(|path| file::join(&self.project.root, path)).collect(),
            None => vec![self.project.root.clone()],
        };
        let mut found = Vec::new();
        for base in bases {
            self.other_below(&base, &base, 0, &mut found);
        }
        found
    }

    fn other_below(&self, base: &str, directory: &str, depth: usize, found: &mut Vec<InputFile>) {
        for entry in self.project.system.list(directory) {
            let path = file::join(directory, &entry.name);
            if entry.name.starts_with('.') || depth > 16 || found.len() > 10_000 {
                continue;
            }
            if entry.is_directory {
                self.other_below(base, &path, depth + 1, found);
            } else if FileKind::of(&path) == FileKind::Other && self.project.index(&path).is_none() {
                let (system, place) = (self.project.system.clone(), path.clone());
                let read = move || {
                    let bytes = system.read(&place).ok_or_else(|| Content::unreadable(format!("Reading {place}")))?;
                    Ok(bytes.into())
                };
                let logical = file::below(&path, base).unwrap_or(&path).to_owned();
                let mut input = InputFile::new(logical, Content::later(read));
                input.place = Some(path);
                found.push(input);
            }
        }
    }

    fn values(&self) -> ValueFlags {
        if self.without_values {
            return ValueFlags { yaml: self.variant.set.clone(), ..ValueFlags::default() };
        }
        let belongs = |file: &&ProjectFile| {
            file.role == Role::Values && (file.target.is_none() || file.target == self.variant.number)
        };
        let loose = self.variant.loose.map(|index| &self.project.files[index]);
        // A values file by itself counts without those of targets.
        let own: Vec<&ProjectFile> = match loose {
            Some(file) => vec![file],
            None => self.project.files.iter().filter(belongs).collect(),
        };
        let of = |file: &&ProjectFile| {
            let input = InputFile { path: file.file.path.clone(), ..self.input(file)? };
            Some(ValuesFile { library: String::new(), path: file.file.path.clone(), files: Ok(vec![input]) })
        };
        ValueFlags {
            files: own.iter().filter_map(of).collect(),
            yaml: self.variant.set.clone(),
            ..ValueFlags::default()
        }
    }
}

/// The settings of all runs.
fn settings() -> Options {
    Options { program: "ytterby".to_owned(), look_for_slips: true, ..Options::default() }
}

/// A diagnostic as a finding in a file.
fn finding(project: &Project, variant: &Variant, diagnostic: &Diagnostic, sources: &Sources) -> Option<Finding> {
    let placed = diagnostic.labels.iter().find_map(|label| Some((label, place(project, variant, label, sources)?)));
    let (primary, (path, range)) = match placed {
        Some((label, place)) => (Some(label), place),
        // Warnings about the run as a whole (nothing to write, outputs that are no YAML) are for the command line.
        None if diagnostic.severity == ytterby_diag::Severity::Warning => return None,
        None => (None, fallback(project, variant)?),
    };
    let shown = |text: &ytterby_diag::Text| text.shown(sources, PlaceNames::Full);
    let mut message = diagnostic.sentence(sources);
    if let Some(must_be) = diagnostic.must_be.as_ref().map(shown)
        && !message.contains(&must_be)
    {
        message = format!("{message} (must be: {must_be})");
    }
    for help in &diagnostic.helps {
        let text = shown(&help.text);
        if !text.contains('\n') && !message.contains(&text) {
            message = format!("{message}\nhelp: {text}");
        }
    }
    let id = diagnostic.id.name();
    let severity = match diagnostic.severity {
        ytterby_diag::Severity::Error => Severity::Error,
        ytterby_diag::Severity::Warning => Severity::Warning,
    };
    let mut finding = Finding { severity, ..Finding::error(&path, range, id, message) };
    finding.is_unnecessary = id.starts_with("lint/unused-");
    finding.is_deprecated = matches!(id, "values/deprecated" | "kubernetes/deprecated");
    for label in diagnostic.labels.iter().filter(|label| !primary.is_some_and(|primary| std::ptr::eq(primary, *label)))
    {
        if let Some((path, range)) = place(project, variant, label, sources) {
            let text = shown(&label.text);
            let text = if text.is_empty() { role_text(label).to_owned() } else { text };
            finding.related.push(RelatedPlace { path, range, text });
        }
    }
    for help in &diagnostic.helps {
        let Some(fix) = &help.fix else { continue };
        let edits: Option<Vec<TextEdit>> = fix
            .edits
            .iter()
            .map(|edit| {
                let span = edit.span(sources)?;
                let source = sources.get(span.file)?;
                (source.origin() == Origin::File).then(|| {
                    let range = TextRange::new(span.start as usize, span.end as usize);
                    TextEdit::new(source.place(), range, edit.replacement.clone())
                })
            })
            .collect();
        if let Some(edits) = edits {
            finding.fixes.push(Fix { title: fix.title.clone(), edits, is_preferred: fix.safety == Safety::Safe });
        }
    }
    if id == "values/required"
        && let Some(path) = &diagnostic.path
        && let Some((path, range)) = nearest_given(project, variant, path.steps())
    {
        let place = RelatedPlace { path: finding.path, range: finding.range, text: "declared here".to_owned() };
        finding.related.insert(0, place);
        (finding.path, finding.range) = (path, range);
    }
    Some(finding)
}

/// The nearest map around a value that a values file of the variant gives: the place where something is missing.
fn nearest_given(project: &Project, variant: &Variant, steps: &[Step]) -> Option<(String, TextRange)> {
    let is_own = |(index, file): &(usize, &ProjectFile)| match variant.loose {
        Some(loose) => *index == loose,
        None => file.role == Role::Values && (file.target.is_none() || file.target == variant.number),
    };
    let own: Vec<&ProjectFile> = project.files.iter().enumerate().filter(is_own).map(|(_, file)| file).collect();
    let (_, above) = steps.split_last()?;
    let mut best: Option<(usize, String, TextRange)> = None;
    for file in own.iter().rev() {
        let model = file.file.model();
        let mut at: Option<usize> = None;
        let mut depth = 0;
        for step in above {
            let mut children = model.children(0, at);
            let next = match step {
                Step::Key(key) => children.find(|item| model.items[*item].key.as_deref() == Some(key)),
                Step::Index(index) => children.filter(|item| model.items[*item].is_array_item).nth(*index),
            };
            let Some(next) = next else { break };
            at = Some(next);
            depth += 1;
        }
        let first = || model.items.first().map_or(TextRange::default(), |item| item.key_range);
        let range = at.map_or_else(first, |item| model.items[item].key_range);
        if best.as_ref().is_none_or(|(known, ..)| depth > *known) {
            best = Some((depth, file.file.path.clone(), range));
        }
    }
    best.map(|(_, path, range)| (path, range))
}

fn role_text(label: &Label) -> &'static str {
    match label.role {
        ytterby_diag::Role::Problem => "here",
        ytterby_diag::Role::Rule => "because of this",
        ytterby_diag::Role::Candidate => "this was considered",
        ytterby_diag::Role::Related => "see also",
    }
}

/// Where a label is.
fn place(project: &Project, variant: &Variant, label: &Label, sources: &Sources) -> Option<(String, TextRange)> {
    let span = label.span(sources)?;
    let source = sources.get(span.file)?;
    match source.origin() {
        Origin::File => Some((source.place().to_owned(), TextRange::new(span.start as usize, span.end as usize))),
        // Text in a string of a file: its line is known.
        Origin::Code => {
            let file = project.file(source.place())?;
            let line = source.line(span.start).saturating_sub(1) as usize;
            let range = Lines::new(&file.text).range(&file.text, line);
            let body = range.of(&file.text);
            let word = source.text().get(span.start as usize..span.end as usize).unwrap_or_default();
            let word = String::from_utf8_lossy(word);
            let range = match body.find(&*word).filter(|_| !word.trim().is_empty()) {
                Some(at) => TextRange::new(range.start + at, range.start + at + word.len()),
                None => TextRange::new(range.start + body.len() - body.trim_start().len(), range.end),
            };
            Some((file.path.clone(), range))
        }
        Origin::Flag(Form::Text | Form::Yaml | Form::Content) => fallback(project, variant),
        _ => None,
    }
}

/// The place for what has none: the target in the project file, or the first file.
fn fallback(project: &Project, variant: &Variant) -> Option<(String, TextRange)> {
    if let Some(file) = &project.project_file {
        let name = variant.name.as_deref().unwrap_or_default();
        let name = name.split('[').next().unwrap_or_default();
        let range = config::target_range(file, name).unwrap_or_default();
        return Some((file.path.clone(), range));
    }
    let open = project.files.iter().find(|file| file.file.is_open()).or(project.files.first())?;
    Some((open.file.path.clone(), TextRange::default()))
}
