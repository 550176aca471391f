//! Renders a project on one thread.
//!
//! A renderer keeps what cannot be shared between threads: linked programs, and results of files
//! that do not depend on data values. Each method starts a run of its own, with its own sources,
//! warnings and limits.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Cause, Diagnostic, Failure, Sources};

use super::{Output, OutputDocument, Project, ProjectError, SchemaInfo, Values};
use crate::api::{Host, Options, Rendered, Silent};
use crate::contexts::OpenContexts;
use crate::generate::{self, GenerateOptions, Generated};
use crate::library::{File, Library, library_run};
use crate::limits;
use crate::provenance::{self, Explanation, Question};
use crate::render;
use crate::reuse::Reuse;
use crate::run::Run;
use crate::schema::Schema;

/// Renders a [`Project`] on one thread, any number of times. It keeps thread-local data: linked
/// programs, and the results of files that do not depend on data values.
pub struct Renderer {
    project: Project,
    /// All files, also those of private libraries.
    files: Vec<Rc<File>>,
    library: Rc<Library>,
    contexts: Rc<OpenContexts>,
    reuse: Rc<Reuse>,
}

impl Renderer {
    pub(super) fn new(project: &Project) -> Renderer {
        let files = project.files().iter().enumerate();
        let files: Vec<Rc<File>> = files.map(|(order, file)| Rc::new(File::new(file.clone(), order))).collect();
        Renderer {
            library: Library::root(&files),
            files,
            project: project.clone(),
            contexts: Rc::default(),
            reuse: Rc::default(),
        }
    }

    /// Renders the project with these data values.
    ///
    /// # Errors
    /// If files or values are wrong.
    pub fn render(&mut self, values: &Values) -> Result<Output, ProjectError> {
        let project_options = self.project.shared_options().clone();
        let options = self.options_with(values)?;
        let outcome = self.with_run(options, Rc::new(Silent), render::evaluate)?;
        Ok(Output::new(outcome.value, outcome.warnings, outcome.sources, project_options))
    }

    /// Renders like the command: `options` contains values, outputs and inspections. `print()` of
    /// code goes to the host.
    ///
    /// Some settings come from the project instead: the level of compatibility, file marks,
    /// warnings about mistakes, and strict annotations. Limits, meter, cancellation and output
    /// check are those of the project unless `options` has others; strict YAML and unknown comments
    /// are as either of the two says.
    ///
    /// # Errors
    /// If files or values are wrong.
    pub fn run(&mut self, options: &Options, host: Rc<dyn Host>) -> Result<(Rendered, Arc<Sources>), ProjectError> {
        let own = self.project.options();
        let options = Options {
            compat: own.compat,
            file_marks: own.file_marks.clone(),
            look_for_slips: own.look_for_slips,
            strict_annotations: own.strict_annotations,
            strict: options.strict || own.strict,
            ignore_unknown_comments: options.ignore_unknown_comments || own.ignore_unknown_comments,
            limits: options.limits.or(own.limits),
            meter: options.meter.clone().or_else(|| own.meter.clone()),
            cancellation: options.cancellation.clone().or_else(|| own.cancellation.clone()),
            output_check: options.output_check.clone().or_else(|| own.output_check.clone()),
            ..options.clone()
        };
        let RunOutcome { value: rendered, warnings, sources } =
            self.with_run(options, host, |run, library| render::stages(run, library).and_then(limits::charge_output))?;
        Ok((Rendered { warnings, ..rendered }, sources))
    }

    /// Checks data values without rendering templates, and returns them completed with defaults.
    /// Secrets are not masked.
    ///
    /// # Errors
    /// If the schema or a file with data values is wrong, or values do not match the schema or
    /// violate a rule.
    ///
    /// ```
    /// use ytterby::{Project, Values};
    ///
    /// let schema = "#@data/values-schema\n---\n#@schema/validation min=1\nreplicas: 1\nname: shop\n";
    /// let mut renderer = Project::new([("schema.yml", schema)])?.renderer();
    /// let values = renderer.values(&Values::new().set("replicas", 3))?;
    /// assert_eq!(values.root().get("name").and_then(|name| name.as_str()), Some("shop"));
    /// assert!(renderer.values(&Values::new().set("replicas", 0)).is_err());
    /// # Ok::<(), ytterby::ProjectError>(())
    /// ```
    pub fn values(&mut self, values: &Values) -> Result<OutputDocument, ProjectError> {
        let options = self.options_with(values)?;
        let final_values = |run: &Rc<Run>, library| OutputDocument::of_values(&render::final_values(run, library)?);
        Ok(self.with_run(options, Rc::new(Silent), final_values)?.value)
    }

    /// Answers questions about where values come from and what they affect, in order; one question
    /// may have several answers.
    ///
    /// # Errors
    /// If the project cannot be rendered, or a path or document does not exist. Values that violate
    /// rules are explained.
    ///
    /// ```
    /// use ytterby::{Project, Question, Values};
    ///
    /// let project = Project::new([("schema.yml", "#@data/values-schema\n---\nname: shop\n"),
    ///     ("config.yml", "#@ load('@ytt:data', 'data')\n---\ntitle: #@ data.values.name\n")])?;
    /// let values = Values::new().set("name", "kiosk");
    /// let answers = project.renderer().explain(&values, &[Question::About(":title".to_owned())])?;
    /// assert_eq!(answers[0].value.as_deref(), Some("\"kiosk\""));
    /// assert_eq!(answers[0].chain[0].place.as_ref().map(|place| (&*place.file, place.line)), Some(("config.yml", 3)));
    /// # Ok::<(), ytterby::ProjectError>(())
    /// ```
    pub fn explain(&mut self, values: &Values, questions: &[Question]) -> Result<Vec<Explanation>, ProjectError> {
        let options = self.options_with(values)?;
        let answers = |run: &Rc<Run>, library| provenance::answers(run, library, questions);
        Ok(self.with_run(options, Rc::new(Silent), answers)?.value)
    }

    pub(super) fn generate(&mut self, how: &GenerateOptions) -> Result<Generated, ProjectError> {
        let options = Options::clone(self.project.options());
        let documents = |run: &Rc<Run>, library| generate::documents(run, library, how);
        Ok(self.with_run(options, Rc::new(Silent), documents)?.value)
    }

    /// Compiles all files, also those that no render needs, and reports the problems of all of
    /// them.
    pub(super) fn compile(&mut self) -> Result<(), ProjectError> {
        let options = Options::clone(self.project.options());
        let files = self.files.clone();
        let compiled = self.with_run(options, Rc::new(Silent), |run, library| {
            let settings = library_run(run, library).options;
            let compile = |file: &Rc<File>| file.compile(run, settings.strict, settings.unknown_comments).err();
            let mut failures: Vec<Failure> = files.iter().filter_map(compile).collect();
            match failures.len() {
                0 => Ok(()),
                1 => Err(failures.remove(0)),
                _ => Err(Failure::of(Cause::Series(failures))),
            }
        });
        compiled.map(drop)
    }

    /// The options of the project with more data values.
    fn options_with(&self, values: &Values) -> Result<Options, ProjectError> {
        let mut options = Options::clone(self.project.options());
        values.add_to(&mut options.values)?;
        Ok(options)
    }

    pub(super) fn schema(&mut self) -> Result<SchemaInfo, ProjectError> {
        let options = Options::clone(self.project.options());
        let outcome = self.with_run(options, Rc::new(Silent), |run, library| {
            let declared = library_run(run, library).schema(&mut run.new_eval(), Vec::new())?;
            let absent = Schema::absent();
            Ok(SchemaInfo::new(declared.schema.as_deref().unwrap_or(&absent), &run.sources))
        });
        Ok(outcome?.value)
    }

    /// Does work in a new run.
    fn with_run<T>(
        &mut self,
        options: Options,
        host: Rc<dyn Host>,
        work: impl FnOnce(&Rc<Run>, Rc<Library>) -> Result<T, Failure>,
    ) -> Result<RunOutcome<T>, ProjectError> {
        crate::on_large_stack(|| {
            let _budget = limits::begin(&options);
            let run = self.start(options, host);
            let sources = run.sources.clone();
            match run.conclude(|| work(&run, self.library.clone())) {
                Ok((value, warnings)) => Ok(RunOutcome { value, warnings, sources }),
                Err(failure) => Err(ProjectError::new(failure, sources)),
            }
        })
    }

    fn start(&self, options: Options, host: Rc<dyn Host>) -> Rc<Run> {
        let sources = Arc::new(Sources::over(self.project.sources()));
        let mut run = Run::new(&options, &sources, host);
        run.is_one_of_many = true;
        run.contexts = self.contexts.clone();
        run.contexts.begin_run();
        run.reuse = Some(self.reuse.clone());
        self.reuse.begin_render();
        Rc::new(run)
    }
}

/// The result of a run.
struct RunOutcome<T> {
    value: T,
    warnings: Vec<Diagnostic>,
    /// Resolves the positions of the warnings.
    sources: Arc<Sources>,
}

impl fmt::Debug for Renderer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renderer").field("project", &self.project).finish_non_exhaustive()
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        // The caches of files contain nodes.
        let kept =
            (std::mem::take(&mut self.files), std::mem::take(&mut self.library), std::mem::take(&mut self.reuse));
        crate::on_large_stack(|| drop(kept));
    }
}
