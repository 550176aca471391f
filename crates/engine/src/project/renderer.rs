//! Renders a project on one thread.

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Failure, Sources};

use super::{Output, Project, ProjectError, SchemaInfo, Values};
use crate::api::{Host, Options, Rendered, Silent};
use crate::contexts::OpenContexts;
use crate::library::{File, Library, library_run};
use crate::limits;
use crate::render;
use crate::reuse::Reuse;
use crate::run::Run;
use crate::schema::Schema;

/// Renders a [`Project`] on one thread, any number of times. It keeps thread-local data: linked programs, and the results of
/// files that do not depend on data values.
pub struct Renderer {
    project: Project,
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
        let mut options = Options::clone(self.project.options());
        values.add_to(&mut options.values)?;
        self.with_run(options, Rc::new(Silent), |run, library| {
            let result = limits::conclude(limits::caught(|| render::evaluate(run, library)), &run.sources);
            let (evaluated, warnings) = run.conclude_with(result)?;
            Ok(Output::new(evaluated, warnings, run.sources.clone()))
        })
    }

    /// Renders like the command: `options` contains values, outputs and inspections; settings for reading and compiling
    /// files ([`Options::compat`], file marks, warnings about mistakes) come from the project.
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
            ..options.clone()
        };
        self.with_run(options, host, |run, library| {
            let result = limits::caught(|| render::stages(run, library).and_then(limits::charge_output));
            Ok((run.conclude(limits::conclude(result, &run.sources))?, run.sources.clone()))
        })
    }

    pub(super) fn schema(&mut self) -> Result<SchemaInfo, ProjectError> {
        let options = Options::clone(self.project.options());
        self.with_run(options, Rc::new(Silent), |run, library| {
            let library = library_run(run, library);
            let declared = limits::caught(|| library.schema(&mut run.new_eval(), Vec::new()));
            let (declared, _) = run.conclude_with(limits::conclude(declared, &run.sources))?;
            let absent = Schema::absent();
            Ok(SchemaInfo::new(declared.schema.as_deref().unwrap_or(&absent), &run.sources))
        })
    }

    /// Calls a function in a new run.
    fn with_run<T>(
        &mut self,
        options: Options,
        host: Rc<dyn Host>,
        work: impl FnOnce(&Rc<Run>, Rc<Library>) -> Result<T, Failure>,
    ) -> Result<T, ProjectError> {
        crate::on_large_stack(|| {
            let _budget = limits::begin(&options);
            let run = self.start(options, host);
            let result = work(&run, self.library.clone());
            result.map_err(|failure| ProjectError::new(failure, run.sources.clone()))
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

impl Drop for Renderer {
    fn drop(&mut self) {
        // The caches of files contain nodes.
        let kept = (std::mem::take(&mut self.library), std::mem::take(&mut self.reuse));
        crate::on_large_stack(|| drop(kept));
    }
}
