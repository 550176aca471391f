//! Renders targets; no other module of the project commands calls the engine.
//!
//! Files are compiled once ([`CompiledFiles`]) and rendered with many values. Each thread keeps its
//! own renderers, because linked programs belong to one thread.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ytterby::facts::OverlayRecord;
use ytterby::{
    Content, Coverage, Failure, GenerateOptions, Host, InputFile, Options, OutputCheck, OutputContent, OutputDocuments,
    OutputNode, OutputRef, OutputValue, PlacedValue, Rendered, Renderer, ValueFlags, ValuesDocument, ValuesFile,
};
use ytterby_diag::render::Rendering;
use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_project::{Data, DataScalar, Limits, Placed, PlacedData, SetValue};
use ytterby_yaml::Scalar as YamlScalar;

use crate::limits;

/// Input files that are parsed and compiled once.
#[derive(Debug)]
pub struct CompiledFiles {
    /// The files, for callers that need them again.
    pub files: Vec<InputFile>,
    project: ytterby::Project,
    /// Identifies it in the cache of each thread.
    number: u64,
}

impl CompiledFiles {
    /// Makes a project of the files. Their sources are added to `sources`.
    ///
    /// # Errors
    /// None today: files are compiled on demand.
    pub fn new(
        files: Vec<InputFile>,
        strict_annotations: bool,
        rendering: Rendering,
        sources: &Arc<Sources>,
    ) -> Result<CompiledFiles, Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let options =
            Options { strict_annotations, look_for_slips: rendering != Rendering::Text, ..Options::default() };
        let project =
            ytterby::Project::builder().inputs(files.iter().cloned()).options(options).sources(sources).build();
        let project = project.map_err(|error| error.failure().clone())?;
        Ok(CompiledFiles { files, project, number: NEXT.fetch_add(1, Ordering::Relaxed) })
    }
}

impl CompiledFiles {
    /// The rules of its schema: the path of a field (`hosts[].port`), and the rule's requirement.
    pub fn rules(&self) -> Vec<(String, String)> {
        let fields = self.project.schema().map(|schema| schema.fields).unwrap_or_default();
        let rules = |field: &ytterby::Field| -> Vec<(String, String)> {
            field.rules.iter().map(|rule| (field.path.clone(), rule.text.clone())).collect()
        };
        fields.iter().flat_map(rules).collect()
    }
}

/// The renderers that a thread keeps between renders.
#[derive(Default)]
pub struct Renderers(HashMap<u64, Renderer>);

/// The input of one render.
#[derive(Clone, Debug)]
pub struct RenderJob {
    /// Input files.
    pub compiled: Arc<CompiledFiles>,
    /// Values files.
    pub values: Vec<ValuesFile>,
    /// Data values.
    pub set: Vec<SetValue>,
    /// Resource limits.
    pub limits: Limits,
    /// The check of the output.
    pub check: Option<Arc<dyn OutputCheck>>,
    /// The output format.
    pub form: ytterby::OutputForm,
}

/// The result of a [`RenderJob`].
#[derive(Debug)]
pub struct RenderOutcome {
    /// The output, or the reason for there being none.
    pub result: Result<Rendered, Failure>,
    /// Resolves the positions of warnings and problems.
    pub sources: Arc<Sources>,
    /// The output of `print()` in its code.
    pub printed: Vec<u8>,
}

/// State that all renders of a command share.
#[derive(Clone, Debug)]
pub struct RenderSettings {
    /// The program's name, for messages.
    pub program: String,
    /// How problems are reported, which decides whether to stop at the first one.
    pub rendering: Rendering,
    /// The base layer of the sources of all renders.
    pub sources: Arc<Sources>,
    /// Collects coverage, if requested.
    pub reached: Option<Reached>,
    /// Whether to find the data values that cause problems of the output.
    pub find_causes: bool,
}

/// The code of a project that renders reach, for `test --coverage`.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// Lines and data values.
    pub coverage: Arc<Coverage>,
    /// Overlays.
    pub overlays: Arc<OverlayRecord>,
}

/// Values that the schema allows, but that fail to render.
#[derive(Debug)]
pub struct Failing {
    /// The smallest values found that fail in the same way, as a values file.
    pub values: String,
    /// Why they fail.
    pub failure: Failure,
    /// Resolves its positions.
    pub sources: Arc<Sources>,
}

/// Maximum number of reported failures of generated values.
const MAX_FAILING: usize = 3;

impl RenderSettings {
    /// Renders with generated values that the schema allows, and returns those that fail, each
    /// shrunk to the smallest that fails at the same position.
    ///
    /// # Errors
    /// If no values could be generated: the files do not compile, or the target's own values are
    /// wrong.
    pub fn generate(
        &self,
        renderers: &mut Renderers,
        job: &RenderJob,
        count: usize,
    ) -> Result<Vec<Failing>, (Failure, Arc<Sources>)> {
        let layer = Arc::new(Sources::over(&self.sources));
        let options = Options { output_check: None, coverage: None, overlay_record: None, ..self.options(job) };
        let how = GenerateOptions::new(count, 0);
        let made = ytterby::generate(job.compiled.files.clone(), &options, &layer, &how);
        let documents = made.map_err(|failure| (failure, layer))?.documents;
        // Shrinking already shows which values matter.
        let engine = RenderSettings { find_causes: false, ..self.clone() };
        let mut attempt = |values: &ValuesDocument| -> Option<(Failure, Arc<Sources>)> {
            let text = values.yaml().ok()?;
            let mut job = job.clone();
            let path = "generated.yml".to_owned();
            let file = InputFile::new(path.clone(), Content::new(text));
            job.values.push(ValuesFile { library: String::new(), path, files: Ok(vec![file]) });
            let outcome = engine.render(renderers, &job);
            outcome.result.err().map(|failure| (failure, outcome.sources))
        };
        let mut found: Vec<Failing> = Vec::new();
        let mut known = HashSet::new();
        let mut seen = HashSet::new();
        for document in &documents {
            if found.len() >= MAX_FAILING || !seen.insert(document.json()) {
                continue;
            }
            let Some((failure, sources)) = attempt(document) else { continue };
            let way = way(&failure, &sources);
            if !known.insert(way.clone()) {
                continue;
            }
            let values = document.shrunk(&mut |values| {
                attempt(values).is_some_and(|(failure, sources)| self::way(&failure, &sources) == way)
            });
            let (failure, sources) = attempt(&values).unwrap_or((failure, sources));
            let values = values.yaml().map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
            found.push(Failing { values, failure, sources });
        }
        Ok(found)
    }

    /// The engine's options for a job.
    pub fn options(&self, job: &RenderJob) -> Options {
        Options {
            program: self.program.clone(),
            values: ValueFlags {
                files: job.values.clone(),
                placed: job.set.iter().map(placed).collect(),
                ..ValueFlags::default()
            },
            target: job.form,
            all_errors: self.rendering.is_for_machines(),
            limits: job.limits,
            meter: Some(Arc::new(limits::Process::default())),
            output_check: job.check.clone(),
            find_causes: self.find_causes && self.rendering != Rendering::Text,
            coverage: self.reached.as_ref().map(|reached| Arc::clone(&reached.coverage)),
            overlay_record: self.reached.as_ref().map(|reached| Arc::clone(&reached.overlays)),
            ..Options::default()
        }
    }

    /// Renders a job.
    pub fn render(&self, renderers: &mut Renderers, job: &RenderJob) -> RenderOutcome {
        let options = self.options(job);
        let host = Rc::new(PrintBuffer::default());
        let CompiledFiles { project, number, .. } = &*job.compiled;
        let renderer = renderers.0.entry(*number).or_insert_with(|| project.renderer());
        let rendered = panic::catch_unwind(AssertUnwindSafe(|| renderer.run(&options, host.clone())));
        let (result, sources) = match rendered {
            Ok(Ok((rendered, sources))) => (Ok(rendered), sources),
            Ok(Err(error)) => (Err(error.failure().clone()), error.sources().clone()),
            Err(_) => {
                // After a panic its state may be inconsistent.
                renderers.0.remove(number);
                let text = "Internal error; please report it with the input";
                (Err(Failure::new(Id::INTERNAL_BUG, text)), Arc::clone(&self.sources))
            }
        };
        RenderOutcome { result, sources, printed: host.0.take() }
    }
}

/// The identity of a failure: the id and position of its first problem.
fn way(failure: &Failure, sources: &Sources) -> Option<(&'static str, String)> {
    let first = failure.diagnostics().into_iter().next()?;
    let place = first.primary().map(|label| sources.locate(label.pos)).unwrap_or_default();
    Some((first.id.name(), place))
}

/// Collects what code prints, because several runs happen at a time.
#[derive(Default)]
struct PrintBuffer(RefCell<Vec<u8>>);

impl Host for PrintBuffer {
    fn print(&self, text: &[u8]) {
        self.0.borrow_mut().extend_from_slice(text);
    }

    fn debug(&self, text: &str) {
        self.0.borrow_mut().extend_from_slice(text.as_bytes());
    }
}

fn placed(set: &SetValue) -> PlacedValue {
    PlacedValue { key: set.key.clone(), value: output_node(&set.value) }
}

fn output_node(value: &PlacedData) -> OutputNode {
    let node = match &value.value {
        Data::Scalar(scalar) => OutputValue::Scalar(yaml_scalar(scalar)),
        Data::List(items) => OutputValue::Array(items.iter().map(output_node).collect()),
        Data::Map(items) => {
            OutputValue::Map(items.iter().map(|(key, item)| (yaml_scalar(key), output_node(item))).collect())
        }
    };
    OutputNode { value: node, pos: value.pos }
}

fn yaml_scalar(scalar: &DataScalar) -> YamlScalar {
    match scalar {
        DataScalar::Null => YamlScalar::Null,
        DataScalar::Bool(value) => YamlScalar::Bool(*value),
        DataScalar::Int(value) => YamlScalar::Int(*value),
        DataScalar::UInt(value) => YamlScalar::UInt(*value),
        DataScalar::Float(value) => YamlScalar::Float(*value),
        DataScalar::Text(text) => YamlScalar::from(text.as_str()),
    }
}

/// An output check that collects the documents of a render as data, with their positions.
#[derive(Debug, Default)]
pub struct DocumentCollector {
    inner: Option<Arc<dyn OutputCheck>>,
    found: Mutex<Vec<PlacedData>>,
}

impl DocumentCollector {
    /// Collects documents and passes them on to another check.
    pub fn and_then(inner: Option<Arc<dyn OutputCheck>>) -> DocumentCollector {
        DocumentCollector { inner, found: Mutex::default() }
    }

    /// Removes and returns the documents.
    pub fn take(&self) -> Vec<PlacedData> {
        std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OutputCheck for DocumentCollector {
    fn title(&self) -> String {
        self.inner.as_ref().map_or_else(|| "Checking output".to_owned(), |inner| inner.title())
    }

    fn check(&self, documents: &OutputDocuments<'_>) -> Vec<Diagnostic> {
        let found: Vec<PlacedData> = documents.iter().map(value).collect();
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
        self.inner.as_ref().map(|inner| inner.check(documents)).unwrap_or_default()
    }
}

fn value(node: OutputRef<'_>) -> PlacedData {
    let data = match node.content() {
        OutputContent::Scalar(scalar) => Data::Scalar(plain_scalar(scalar)),
        OutputContent::Array(items) => {
            stacker::maybe_grow(64 << 10, 1 << 20, || Data::List(items.map(value).collect()))
        }
        OutputContent::Map(items) => stacker::maybe_grow(64 << 10, 1 << 20, || {
            Data::Map(items.map(|(key, item)| (plain_scalar(key), value(item))).collect())
        }),
    };
    Placed::new(data, node.pos)
}

fn plain_scalar(scalar: &YamlScalar) -> DataScalar {
    match scalar {
        YamlScalar::Null => DataScalar::Null,
        YamlScalar::Bool(value) => DataScalar::Bool(*value),
        YamlScalar::Int(value) => DataScalar::Int(*value),
        YamlScalar::UInt(value) => DataScalar::UInt(*value),
        YamlScalar::Float(value) => DataScalar::Float(*value),
        YamlScalar::Str(text) => DataScalar::Text(text.to_str().into_owned()),
        YamlScalar::Complex(key) => DataScalar::Text(format!("({})", key.kind())),
    }
}
