//! Projects: files that are parsed and compiled once, and rendered any number of times on any
//! number of threads.
//!
//! `Project` is what threads share, `Renderer` what one thread keeps, `Values` and `Output` are
//! typed inputs and results. A changed file makes a new project, which shares everything else with
//! the old one.

mod error;
mod output;
mod renderer;
mod schema;
mod values;

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::Sources;

use crate::api::{Compat, Inspect, Options, Silent};
use crate::export::Changes;
use crate::generate::{GenerateOptions, Generated};
use crate::input::{self, Content, InputFile};
use crate::library::SharedFile;
use crate::output_documents::OutputCheck;
use crate::output_types::SchemaFormat;
use crate::render;
use crate::{Cancellation, Limits, Meter};

pub use error::ProjectError;
pub use output::{Output, OutputDocument};
pub use renderer::Renderer;
pub use schema::{Field, FieldRule, FieldType, Presence, SchemaInfo};
pub use values::Values;

/// Files that belong together: templates, schemas, overlays, data values.
///
/// Each file is parsed and compiled once, when a render first needs it; [`Project::with_file`]
/// changes one file and reuses the others. A project can be shared between threads, and cloning it
/// is cheap.
///
/// ```
/// use ytterby::{Project, Values};
///
/// let project = Project::new([("config.yml", "#@ load('@ytt:data', 'data')\n---\nname: #@ data.values.name\n"),
///     ("schema.yml", "#@data/values-schema\n---\nname: shop\n")])?;
/// let output = project.render(&Values::new().set("name", "kiosk"))?;
/// assert_eq!(output.yaml()?, "name: kiosk\n");
/// # Ok::<(), ytterby::ProjectError>(())
/// ```
#[derive(Clone)]
pub struct Project {
    inner: Arc<ProjectData>,
}

struct ProjectData {
    /// In the order given, with marks applied.
    files: Vec<Arc<SharedFile>>,
    sources: Arc<Sources>,
    options: Arc<Options>,
}

impl std::fmt::Debug for Project {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Project").field("files", &self.paths().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

impl Project {
    /// A project of these files, each a path and its text, with default settings.
    ///
    /// # Errors
    /// None today: files are read and compiled on demand.
    pub fn new<P, C>(files: impl IntoIterator<Item = (P, C)>) -> Result<Project, ProjectError>
    where
        P: Into<String>,
        C: AsRef<[u8]>,
    {
        let files = files.into_iter();
        files.fold(Project::builder(), |builder, (path, text)| builder.file(path, text)).build()
    }

    /// A builder, for other settings.
    pub fn builder() -> ProjectBuilder {
        ProjectBuilder::default()
    }

    /// The paths of its files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.inner.files.iter().map(|file| &*file.input().path)
    }

    /// Adds a file, or replaces the one with this path. The other files are not compiled again. The
    /// file marks of the project apply to the new file, too, and a file that a mark renamed is
    /// known by both of its paths.
    #[must_use]
    pub fn with_file(&self, mut file: InputFile) -> Project {
        let mut files = self.inner.files.clone();
        let inputs = || files.iter().map(|file| file.input());
        let known = inputs().position(|known| known.path == file.path);
        let known = known.or_else(|| inputs().position(|known| known.found_path == file.found_path));
        if let Some(known) = known.filter(|_| file.found_path == file.path) {
            file.found_path.clone_from(&files[known].input().found_path);
        }
        let marked = input::apply_marks_to_one(file, &self.inner.options.file_marks);
        let Some(file) = marked else { return self.clone() };
        let shared = Arc::new(SharedFile::new(file));
        match known {
            Some(known) => files[known] = shared,
            None => files.push(shared),
        }
        self.with_files_and_options(files, self.inner.options.clone())
    }

    /// Removes the file with this path.
    #[must_use]
    pub fn without_file(&self, path: &str) -> Project {
        let files = self.inner.files.iter().filter(|file| file.input().path != path).cloned().collect();
        self.with_files_and_options(files, self.inner.options.clone())
    }

    /// Replaces the additional check of output documents.
    #[must_use]
    pub fn with_output_check(&self, check: Option<Arc<dyn OutputCheck>>) -> Project {
        let options = Options { output_check: check, ..Options::clone(&self.inner.options) };
        self.with_files_and_options(self.inner.files.clone(), Arc::new(options))
    }

    /// Allows another thread to stop renders.
    ///
    /// ```
    /// use ytterby::{Cancellation, Project, Values};
    ///
    /// let project = Project::new([("a.yml", "#@ n = 0\n#@ while True:\n#@   n += 1\n#@ end\n---\na: 1\n")])?;
    /// let token = Cancellation::new();
    /// let render = {
    ///     let project = project.with_cancellation(token.clone());
    ///     std::thread::spawn(move || project.render(&Values::new()).map(|output| output.yaml()))
    /// };
    /// token.cancel();
    /// let stopped = render.join().expect("no panic").expect_err("it was stopped");
    /// assert_eq!(stopped.diagnostics()[0].id, ytterby::diag::Id::LIMIT_CANCELLED);
    /// # Ok::<(), ytterby::ProjectError>(())
    /// ```
    #[must_use]
    pub fn with_cancellation(&self, token: Cancellation) -> Project {
        let options = Options { cancellation: Some(token), ..Options::clone(&self.inner.options) };
        self.with_files_and_options(self.inner.files.clone(), Arc::new(options))
    }

    /// Replaces the limits of renders.
    #[must_use]
    pub fn with_limits(&self, limits: Limits) -> Project {
        let options = Options { limits, ..Options::clone(&self.inner.options) };
        self.with_files_and_options(self.inner.files.clone(), Arc::new(options))
    }

    fn with_files_and_options(&self, files: Vec<Arc<SharedFile>>, options: Arc<Options>) -> Project {
        // Sources of removed files stay in memory while in use, so now and then it is better to
        // start again.
        if self.inner.sources.len() > 1000 + 8 * files.len() {
            let files = files.iter().map(|file| Arc::new(SharedFile::new(file.input().clone()))).collect();
            return Project { inner: Arc::new(ProjectData { files, sources: Arc::new(Sources::new()), options }) };
        }
        Project { inner: Arc::new(ProjectData { files, sources: self.inner.sources.clone(), options }) }
    }

    /// Renders the project with these data values.
    ///
    /// To render many times on one thread, keep a [`Renderer`], which saves a little more.
    ///
    /// # Errors
    /// If files or values are wrong.
    pub fn render(&self, values: &Values) -> Result<Output, ProjectError> {
        self.renderer().render(values)
    }

    /// A renderer for the current thread.
    pub fn renderer(&self) -> Renderer {
        Renderer::new(self)
    }

    /// The schema of the project.
    ///
    /// # Errors
    /// If the files are wrong.
    pub fn schema(&self) -> Result<SchemaInfo, ProjectError> {
        self.renderer().schema()
    }

    /// Compiles all files, even those that no render needs. Renders compile on demand; this reports
    /// the problems of all files at once, and makes the first render faster.
    ///
    /// # Errors
    /// If files cannot be parsed or compiled.
    ///
    /// ```
    /// use ytterby::Project;
    ///
    /// let project = Project::new([("a.yml", "a: #@ 1 +\n"), ("b.yml", "b: [\n"), ("c.yml", "c: 1\n")])?;
    /// assert_eq!(project.compile().expect_err("two files are wrong").diagnostics().len(), 2);
    /// # Ok::<(), ytterby::ProjectError>(())
    /// ```
    pub fn compile(&self) -> Result<(), ProjectError> {
        self.renderer().compile()
    }

    /// The schema in a format for other tools, like `--data-values-schema-inspect --output`.
    ///
    /// # Errors
    /// If the files are wrong, or the format cannot represent the schema.
    ///
    /// ```
    /// use ytterby::{Project, SchemaFormat};
    ///
    /// let project = Project::new([("schema.yml", "#@data/values-schema\n---\nport: 80\n")])?;
    /// assert!(project.export_schema(SchemaFormat::JsonSchema)?.contains("type: integer"));
    /// # Ok::<(), ytterby::ProjectError>(())
    /// ```
    pub fn export_schema(&self, format: SchemaFormat) -> Result<String, ProjectError> {
        let options = Options { inspect: Some(Inspect::Schema), output_types: format.into(), ..Options::default() };
        let (exported, _) = self.renderer().run(&options, Rc::new(Silent))?;
        Ok(output::text_of(exported.documents))
    }

    /// The changes of the schema since another version of the project, and what kind of release
    /// they require. The settings are those of this project.
    ///
    /// # Errors
    /// If the files of one version are wrong or declare no schema.
    ///
    /// ```
    /// use ytterby::{Impact, Project};
    ///
    /// let old = Project::new([("schema.yml", "#@data/values-schema\n---\nport: 80\n")])?;
    /// let new = Project::new([("schema.yml", "#@data/values-schema\n---\nport: 80\nhost: \"\"\n")])?;
    /// assert_eq!(new.diff_schema(&old)?.verdict(), Some(Impact::Minor));
    /// # Ok::<(), ytterby::ProjectError>(())
    /// ```
    pub fn diff_schema(&self, old: &Project) -> Result<Changes, ProjectError> {
        let inputs = |project: &Project| project.files().iter().map(|file| file.input().clone()).collect();
        // Marks were applied before.
        let options = Options { file_marks: Vec::new(), ..Options::clone(self.options()) };
        let sources = Arc::new(Sources::new());
        render::diff_schemas(inputs(old), inputs(self), &options, &sources, Rc::new(Silent))
            .map_err(|failure| ProjectError::new(failure, sources))
    }

    /// Generates data values that the schema and its rules accept, for tests.
    ///
    /// # Errors
    /// If there is no schema, if it is wrong, or if no valid values were found.
    ///
    /// ```
    /// use ytterby::{GenerateOptions, Project, Values};
    ///
    /// let schema = "#@data/values-schema\n---\n#@schema/validation min=1, max=9\nreplicas: 1\n";
    /// let project = Project::new([("schema.yml", schema)])?;
    /// for values in project.generate(&GenerateOptions::new(5, 0))?.documents {
    ///     project.render(&Values::new().yaml("generated.yml", values.json()))?;
    /// }
    /// # Ok::<(), ytterby::ProjectError>(())
    /// ```
    pub fn generate(&self, how: &GenerateOptions) -> Result<Generated, ProjectError> {
        self.renderer().generate(how)
    }

    /// Resolves positions in the files of the project, such as those of [`Generated::warnings`].
    pub fn sources(&self) -> &Arc<Sources> {
        &self.inner.sources
    }

    /// The settings of the project.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    fn files(&self) -> &[Arc<SharedFile>] {
        &self.inner.files
    }

    fn shared_options(&self) -> &Arc<Options> {
        &self.inner.options
    }
}

/// Settings of a [`Project`].
#[derive(Clone, Debug, Default)]
pub struct ProjectBuilder {
    files: Vec<InputFile>,
    options: Options,
    sources: Option<Arc<Sources>>,
}

impl ProjectBuilder {
    /// Adds a file: its path determines its type, and the order of files is that of overlays and
    /// output.
    #[must_use]
    pub fn file(self, path: impl Into<String>, text: impl AsRef<[u8]>) -> ProjectBuilder {
        let content = Content::new(text.as_ref());
        self.input(InputFile::new(path, content))
    }

    /// Adds a file that is read lazily, or that has other properties.
    #[must_use]
    pub fn input(mut self, file: InputFile) -> ProjectBuilder {
        self.files.push(file);
        self
    }

    /// Adds files.
    #[must_use]
    pub fn inputs(mut self, files: impl IntoIterator<Item = InputFile>) -> ProjectBuilder {
        self.files.extend(files);
        self
    }

    /// Adds a file mark: `config/**/*.txt:type=text-plain`.
    #[must_use]
    pub fn file_mark(mut self, mark: impl Into<String>) -> ProjectBuilder {
        self.options.file_marks.push(mark.into());
        self
    }

    /// Sets the level of compatibility with ytt; by default all extensions are enabled.
    #[must_use]
    pub fn compat(mut self, compat: Compat) -> ProjectBuilder {
        self.options.compat = compat;
        self
    }

    /// Whether to allow comments in templates that begin with `#` and are not annotations.
    #[must_use]
    pub fn ignore_unknown_comments(mut self, ignore: bool) -> ProjectBuilder {
        self.options.ignore_unknown_comments = ignore;
        self
    }

    /// Whether suspicious annotations are errors.
    #[must_use]
    pub fn strict_annotations(mut self, strict: bool) -> ProjectBuilder {
        self.options.strict_annotations = strict;
        self
    }

    /// Sets the limits of each render. A time limit requires a [`Meter`]; without one, only steps
    /// limit the time.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> ProjectBuilder {
        self.options.limits = limits;
        self
    }

    /// Sets the meter that measures time and memory.
    #[must_use]
    pub fn meter(mut self, meter: Arc<dyn Meter>) -> ProjectBuilder {
        self.options.meter = Some(meter);
        self
    }

    /// Adds a check of output documents.
    #[must_use]
    pub fn output_check(mut self, check: Arc<dyn OutputCheck>) -> ProjectBuilder {
        self.options.output_check = Some(check);
        self
    }

    /// Replaces all settings by the options of the command line.
    #[must_use]
    pub fn options(mut self, options: Options) -> ProjectBuilder {
        self.options = options;
        self
    }

    /// Adds the project's sources to existing ones, for hosts whose data values have positions
    /// ([`PlacedValue`](crate::PlacedValue)), and for reporting problems of several projects
    /// together.
    #[must_use]
    pub fn sources(mut self, sources: &Arc<Sources>) -> ProjectBuilder {
        self.sources = Some(sources.clone());
        self
    }

    /// Builds the project.
    ///
    /// # Errors
    /// If a file mark is wrong.
    pub fn build(self) -> Result<Project, ProjectError> {
        let sources = self.sources.unwrap_or_default();
        let files = input::apply_marks(self.files, &self.options.file_marks)
            .map_err(|failure| ProjectError::new(failure, sources.clone()))?;
        let files = files.into_iter().map(|file| Arc::new(SharedFile::new(file))).collect();
        Ok(Project { inner: Arc::new(ProjectData { files, sources, options: Arc::new(self.options) }) })
    }
}
