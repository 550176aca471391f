//! Renders a project on one thread.

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::Sources;

use super::{Output, Project, ProjectError, SchemaInfo, Values};
use crate::api::{Host, Options, Rendered, Silent};
use crate::library::{File, Library};
use crate::render::{self, Evaluation};
use crate::run::Run;
use crate::schema::Schema;
use crate::template::OpenContexts;

/// Renders a [`Project`] on one thread, as often as needed. It keeps what belongs to the thread: programs that are ready to run,
/// and what was made of files that do not depend on data values.
pub struct Renderer {
    project: Project,
    library: Rc<Library>,
    contexts: Rc<OpenContexts>,
}

impl Renderer {
    pub(super) fn new(project: &Project) -> Renderer {
        let files = project.files().iter().enumerate();
        let files: Vec<Rc<File>> = files.map(|(order, file)| Rc::new(File::new(file.clone(), order))).collect();
        Renderer { library: Library::root(&files), project: project.clone(), contexts: Rc::default() }
    }

    /// Renders the project with these data values.
    ///
    /// # Errors
    /// What is wrong with files or values.
    pub fn render(&mut self, values: &Values) -> Result<Output, ProjectError> {
        let mut options = Options::clone(self.project.options());
        values.add_to(&mut options.values)?;
        let run = self.start(options, Rc::new(Silent));
        let result = run.conclude_with(render::evaluate(&run, self.library.clone()));
        match result {
            Ok((Evaluation { evaluated, .. }, warnings)) => Ok(Output::new(evaluated, warnings, run.sources.clone())),
            Err(failure) => Err(ProjectError::new(failure, run.sources.clone())),
        }
    }

    /// Renders as the command does: values, outputs and inspections are those of `options`; what concerns reading and
    /// compiling files ([`Options::compat`], file marks, warnings about slips) is the project's.
    ///
    /// # Errors
    /// What is wrong with files or values.
    pub fn run(&mut self, options: &Options, host: Rc<dyn Host>) -> Result<(Rendered, Arc<Sources>), ProjectError> {
        let own = self.project.options();
        let options = Options {
            compat: own.compat,
            file_marks: own.file_marks.clone(),
            look_for_slips: own.look_for_slips,
            strict_annotations: own.strict_annotations,
            ..options.clone()
        };
        let run = self.start(options, host);
        let result = run.conclude(render::stages(&run, self.library.clone()));
        match result {
            Ok(rendered) => Ok((rendered, run.sources.clone())),
            Err(failure) => Err(ProjectError::new(failure, run.sources.clone())),
        }
    }

    pub(super) fn schema(&mut self) -> Result<SchemaInfo, ProjectError> {
        let run = self.start(Options::clone(self.project.options()), Rc::new(Silent));
        let declared = render::library_run(&run, self.library.clone()).schema(&mut run.new_eval(), Vec::new());
        match run.conclude_with(declared) {
            Ok((declared, _)) => {
                let absent = Schema::absent();
                Ok(SchemaInfo::new(declared.schema.as_deref().unwrap_or(&absent), &run.sources))
            }
            Err(failure) => Err(ProjectError::new(failure, run.sources.clone())),
        }
    }

    fn start(&self, options: Options, host: Rc<dyn Host>) -> Rc<Run> {
        let sources = Arc::new(Sources::over(self.project.sources()));
        let mut run = Run::new(&options, &sources, host);
        run.is_one_of_many = true;
        run.contexts = self.contexts.clone();
        run.contexts.begin_run();
        Rc::new(run)
    }
}
