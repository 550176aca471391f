//! Runs one library: evaluates its templates to documents and applies its overlays.
//!
//! The root library consists of the files of the command line. `@ytt:library` runs others, as often
//! as templates request it.

mod file;
mod loader;
mod module;
mod stages;
mod start;
mod tree;

use std::rc::Rc;

use ytterby_diag::{Failure, Id};
use ytterby_starlark::{Eval, Exports};
use ytterby_text::Str;

pub(crate) use file::{File, SharedFile};
pub(crate) use loader::{BaseDirectories, BasedFile, Loader, LoaderOptions};
pub(crate) use module::{RanLibrary, prepare_private};
pub(crate) use stages::{PreparedLibrary, Waiting};
pub(crate) use start::{library_of, library_run};
pub(crate) use tree::{FileInLibrary, Library};

use crate::annotation::Ann;
use crate::early::WrittenDocuments;
use crate::input::FileKind;
use crate::node::{self, DocumentSet, FileDocuments};
use crate::overlay;
use crate::run::Run;
use crate::template;

/// A library to run, with its options.
#[derive(Clone)]
pub(crate) struct LibraryRun {
    pub run: Rc<Run>,
    pub library: Rc<Library>,
    pub options: LoaderOptions,
    /// Whether validations of data values are skipped.
    pub skip_value_validation: bool,
    /// Whether validations of output documents are skipped.
    pub skip_output_validation: bool,
}

/// The result of a library before its overlays are applied.
#[derive(Clone, Default)]
pub(crate) struct Evaluated {
    /// Documents by file, in the order in which the files were given.
    pub documents: Vec<(FileInLibrary, FileDocuments)>,
    /// The same as text, if this run writes documents early ([`crate::early`]): there are no
    /// `documents` then.
    pub written: Vec<(FileInLibrary, WrittenDocuments)>,
    /// Texts by path.
    pub texts: Vec<(String, Str)>,
    /// Exports of library files, by path.
    pub exports: Vec<(String, Rc<Exports>)>,
}

impl LibraryRun {
    fn based(&self, file: &FileInLibrary) -> BasedFile {
        let base = BaseDirectories { current: file.library.clone(), root: self.library.clone() };
        BasedFile { file: file.file.clone(), base }
    }

    /// The files with documents that have one of these annotations, in overlay order.
    pub fn files_annotated(&self, names: &[&str]) -> Result<Vec<FileInLibrary>, Failure> {
        let mut found = Vec::new();
        for file in self.library.accessible_files() {
            if self.has_annotated_documents(&file.file, names)? {
                found.push(file);
            }
        }
        found.sort_by_key(|file| file.file.order);
        Ok(found)
    }

    /// Whether some document of the file has one of these annotations; on other nodes they are
    /// errors.
    fn has_annotated_documents(&self, file: &Rc<File>, names: &[&str]) -> Result<bool, Failure> {
        if file.input().kind() != FileKind::Yaml || !file.input().is_template() {
            return Ok(false);
        }
        if self.writes_early() && file.is_surely_plain(&self.run)? {
            // Problems in its YAML come before those in the code of any file.
            if file.input().is_for_output() {
                file.write(&self.run, self.options.strict)?;
            } else {
                file.tree(&self.run, self.options.strict)?;
            }
            return Ok(false);
        }
        let tree = file.tree(&self.run, self.options.strict)?;
        file.annotated(&self.run, &tree, names, || template::documents_annotated(&tree, names))
    }

    /// Whether a file has non-empty documents without an annotation.
    pub fn has_other_documents(&self, file: &FileInLibrary, ann: Ann) -> bool {
        let Ok(tree) = file.file.tree(&self.run, self.options.strict) else { return false };
        let is_other = |doc: &ytterby_yaml::Document| {
            !node::is_empty(&tree, doc.value) && !template::annotates(&tree, doc, ann.name())
        };
        tree.documents().iter().any(is_other)
    }

    /// The documents of one of the library's files.
    pub fn documents(
        &self,
        eval: &mut Eval,
        loader: &Rc<Loader>,
        file: &FileInLibrary,
    ) -> Result<DocumentSet, Failure> {
        Ok(loader.yaml(eval, &self.based(file))?.into_nodes())
    }

    /// Whether its documents are written as soon as they are complete.
    fn writes_early(&self) -> bool {
        self.library.is_root() && self.run.writes_early.get()
    }

    /// Applies the overlays of the library to its documents.
    pub fn apply_overlays(&self, eval: &mut Eval, mut evaluated: Evaluated) -> Result<Evaluated, Failure> {
        let files = std::mem::take(&mut evaluated.documents);
        if !files.iter().any(|(_, docs)| docs.has_overlays()) {
            let files = files.into_iter().filter_map(|(file, docs)| Some((file, docs.without_empty()?)));
            evaluated.documents = files.collect();
            return Ok(evaluated);
        }
        let nodes = |(file, docs): (FileInLibrary, FileDocuments)| {
            let docs = file.file.nodes(&self.run, docs);
            (file, docs)
        };
        let files = files.into_iter().map(nodes).collect();
        let files = overlay::post_process(eval, &self.run, files, |file: &FileInLibrary| file.file.path().to_owned())?;
        evaluated.documents = files.into_iter().map(|(file, docs)| (file, FileDocuments::Nodes(docs))).collect();
        Ok(evaluated)
    }

    /// Evaluates every file that is for output, except those in `used_up`, and every library file.
    pub fn evaluate(
        &self,
        eval: &mut Eval,
        loader: &Rc<Loader>,
        used_up: &[FileInLibrary],
    ) -> Result<Evaluated, Failure> {
        let mut evaluated = Evaluated::default();
        let used_up: std::collections::HashSet<_> = used_up.iter().map(|file| Rc::as_ptr(&file.file)).collect();
        for file in self.library.accessible_files() {
            let based = self.based(&file);
            let input = based.file.input();
            if input.is_for_output() && !used_up.contains(&Rc::as_ptr(&based.file)) {
                match input.kind() {
                    FileKind::Yaml if self.writes_early() => {
                        let docs = loader.written_yaml(eval, &based)?;
                        evaluated.written.push((file, docs));
                    }
                    FileKind::Yaml => {
                        let docs = loader.yaml(eval, &based)?;
                        evaluated.documents.push((file, docs));
                    }
                    FileKind::Text => {
                        let text = loader.text(eval, &based)?;
                        evaluated.texts.push((file.path, text));
                    }
                    FileKind::Starlark | FileKind::Data => {
                        return Err(Failure::new(Id::FILE_MARK, "Unknown file type"));
                    }
                }
                if self.library.is_root() {
                    // Only the root library is evaluated just once.
                    based.file.forget(&self.run);
                }
            } else if input.is_library()
                && let Some(exports) = loader.exports(eval, &based)?
            {
                evaluated.exports.push((file.path, exports));
            }
        }
        evaluated.documents.sort_by_key(|(file, _)| file.file.order);
        evaluated.written.sort_by_key(|(file, _)| file.file.order);
        Ok(evaluated)
    }
}
