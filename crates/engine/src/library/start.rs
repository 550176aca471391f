//! Creates the library of a run from its files.

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::Failure;

use super::{File, Library, LibraryRun, LoaderOptions, SharedFile};
use crate::input::{self, InputFile};
use crate::run::Run;
use crate::template::{KeyOverrides, UnknownComments};

/// The library of files that no other run uses.
pub(crate) fn library_of(run: &Run, files: Vec<InputFile>) -> Result<Rc<Library>, Failure> {
    let files = input::apply_marks(files, &run.options.file_marks)?;
    let file = |(order, file)| Rc::new(File::new(Arc::new(SharedFile::new(file)), order));
    let files: Vec<Rc<File>> = files.into_iter().enumerate().map(file).collect();
    Ok(Library::root(&files))
}

/// A library to run with the options of the run.
pub(crate) fn library_run(run: &Rc<Run>, library: Rc<Library>) -> LibraryRun {
    let options = &run.options;
    LibraryRun {
        run: run.clone(),
        library,
        options: LoaderOptions {
            unknown_comments: match options.ignore_unknown_comments {
                true => UnknownComments::Ignore,
                false => UnknownComments::Refuse,
            },
            key_overrides: match options.implicit_map_key_overrides {
                true => KeyOverrides::Implicit,
                false => KeyOverrides::Annotated,
            },
            strict: options.strict,
        },
        skip_value_validation: options.skip_value_validation,
        skip_output_validation: options.skip_output_validation,
    }
}
