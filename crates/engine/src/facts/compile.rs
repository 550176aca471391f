//! Compiles every file separately.

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Diagnostic, Failure, Source, Sources};

use crate::api::{Options, Silent};
use crate::input::{self, FileKind, InputFile};
use crate::library::{File, SharedFile};
use crate::limits;
use crate::run::{READERS, Run};
use crate::template::UnknownComments;

/// The results of compiling files.
#[derive(Debug, Default)]
pub struct CompileResults {
    /// The files that cannot be compiled: path and reason.
    pub failures: Vec<(String, Failure)>,
    /// Warnings about annotations and common mistakes.
    pub warnings: Vec<Diagnostic>,
}

/// Applies the file marks of a run.
///
/// # Errors
/// If a mark is wrong.
pub fn marked_files(files: Vec<InputFile>, options: &Options) -> Result<Vec<InputFile>, Failure> {
    input::apply_marks(files, &options.file_marks)
}

/// The source of a file, for tools that create diagnostics about it.
///
/// # Errors
/// If the file cannot be read.
pub fn source_of(file: &InputFile) -> Result<Source, Failure> {
    Ok(file.source(file.content.read()?).with_readers(READERS))
}

/// Compiles files, to which marks were applied, without running them. Files of private libraries
/// may contain any comments, because the code that evaluates a library can allow them.
pub fn compile_files(files: &[InputFile], options: &Options, sources: &Arc<Sources>) -> CompileResults {
    crate::on_large_stack(|| {
        let _budget = limits::begin(options);
        let result = limits::caught(|| Ok(compiled(files, options, sources)));
        // A limit is reported by whatever runs next.
        result.unwrap_or_default()
    })
}

fn compiled(files: &[InputFile], options: &Options, sources: &Arc<Sources>) -> CompileResults {
    let run = Rc::new(Run::new(options, sources, Rc::new(Silent)));
    let mut compiled = CompileResults::default();
    for (order, input) in files.iter().enumerate() {
        let file = File::new(Arc::new(SharedFile::new(input.clone())), order);
        let is_foreign = input.path.split('/').any(|piece| piece == "_ytt_lib");
        let unknown = match options.ignore_unknown_comments || is_foreign {
            true => UnknownComments::Ignore,
            false => UnknownComments::Refuse,
        };
        let result = match input.kind() {
            FileKind::Yaml => file.yaml_template(&run, options.strict, unknown).map(drop),
            FileKind::Text => file.text_template(&run).map(drop),
            FileKind::Starlark => file.starlark(&run).map(drop),
            FileKind::Data => Ok(()),
        };
        if let Err(failure) = result {
            compiled.failures.push((input.path.clone(), failure));
        }
    }
    if let Ok(((), warnings)) = run.concluded(Ok(())) {
        compiled.warnings = warnings;
    }
    compiled
}
