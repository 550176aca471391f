//! The result of a render: text, JSON, files, or trees, made when they are asked for.
//!
//! Output can be much larger than what it is made of, because nodes are shared. So each method that
//! writes has a budget of its own, with the limits of the project, and refuses at the start what is
//! surely too large.

use std::sync::Arc;

use ytterby_diag::{Diagnostic, Failure, Id, Sources};
use ytterby_text::budget;

use super::ProjectError;
use crate::Limits;
use crate::api::{Options, OutputFile};
use crate::library::Evaluated;
use crate::limits;
#[cfg(feature = "serde")]
use crate::node::DocumentSet;
use crate::node::{Document, FileDocuments, MAX_NODES, Node, Scalar};
use crate::output;
use crate::output_documents::{self, OutputNode};
#[cfg(feature = "serde")]
use crate::values::node_of;

/// The result of a render: documents, text files, warnings. It stays on its thread; the results of
/// [`Output::yaml`] and other methods can be sent anywhere.
pub struct Output {
    evaluated: Evaluated,
    warnings: Vec<Diagnostic>,
    sources: Arc<Sources>,
    /// The options of the project: their limits also apply to writing.
    options: Arc<Options>,
}

/// A document of the output, or data values.
#[derive(Clone, Debug)]
pub struct OutputDocument {
    file: String,
    root: OutputNode,
}

impl OutputDocument {
    /// The file that it came from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Its content.
    pub fn root(&self) -> &OutputNode {
        &self.root
    }

    /// Data values as a document.
    pub(super) fn of_values(doc: &Document) -> Result<OutputDocument, Failure> {
        let root = output_documents::node(&doc.value, doc.pos, &mut { MAX_NODES });
        let too_large = || Failure::new(Id::LIMIT_OUTPUT, "the data values have too many nodes");
        Ok(OutputDocument { file: "(values)".to_owned(), root: root.ok_or_else(too_large)? })
    }

    /// Deserializes it.
    ///
    /// # Errors
    /// If it is of another type, or JSON cannot represent it.
    #[cfg(feature = "serde")]
    pub fn deserialize<T: serde::de::DeserializeOwned>(&self) -> Result<T, ProjectError> {
        let json = crate::on_large_stack(|| {
            let set = DocumentSet { items: vec![Document::new(node_of(&self.root), self.root.pos)] };
            output::json(&[FileDocuments::Nodes(set)])
        });
        let json = json.map_err(|failure| ProjectError::new(failure, Arc::default()))?;
        serde_json::from_slice(&json).map_err(|why| {
            let text = format!("The document is not of the type that is asked for: {why}");
            ProjectError::of(Id::OUTPUT_ENCODE, text)
        })
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let evaluated = std::mem::take(&mut self.evaluated);
        crate::on_large_stack(|| drop(evaluated));
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("warnings", &self.warnings.len()).finish_non_exhaustive()
    }
}

impl Output {
    pub(super) fn new(
        evaluated: Evaluated,
        warnings: Vec<Diagnostic>,
        sources: Arc<Sources>,
        options: Arc<Options>,
    ) -> Output {
        Output { evaluated, warnings, sources, options }
    }

    /// All documents as one YAML stream, identical to the output of the command.
    ///
    /// # Errors
    /// If the output exceeds the limits of the project.
    pub fn yaml(&self) -> Result<String, ProjectError> {
        let docs = self.evaluated.documents.iter().map(|(_, docs)| docs.clone());
        self.text(|| output::yaml(docs))
    }

    /// All documents as JSON, one after the other, as the command writes them.
    ///
    /// # Errors
    /// If JSON cannot represent something (keys that are not strings, infinite numbers), or the
    /// output exceeds the limits of the project.
    pub fn json(&self) -> Result<String, ProjectError> {
        let docs: Vec<_> = self.evaluated.documents.iter().map(|(_, docs)| docs.clone()).collect();
        self.text(|| output::json(&docs))
    }

    /// Each output file with its content: documents by the file that they came from, and the
    /// results of text templates.
    ///
    /// # Errors
    /// If the output exceeds the limits of the project.
    pub fn files(&self) -> Result<Vec<OutputFile>, ProjectError> {
        self.write(|| {
            let files = output::files(self.evaluated.clone(), output::Written::Free, None)?;
            files.iter().try_for_each(|file| budget::output(file.bytes.len()))?;
            Ok(files)
        })
    }

    /// The documents as trees, with the positions of their nodes.
    pub fn documents(&self) -> Vec<OutputDocument> {
        let mut budget = MAX_NODES;
        let mut documents = Vec::new();
        for (file, docs) in &self.evaluated.documents {
            for root in output_documents::nodes_of(docs, &mut budget) {
                documents.push(OutputDocument { file: file.path.clone(), root });
            }
        }
        documents
    }

    /// Deserializes the documents.
    ///
    /// # Errors
    /// If a document has another type, JSON cannot represent it, or the output exceeds the limits
    /// of the project.
    #[cfg(feature = "serde")]
    pub fn deserialize<T: serde::de::DeserializeOwned>(&self) -> Result<Vec<T>, ProjectError> {
        let json = self.json()?;
        let documents = serde_json::Deserializer::from_str(&json).into_iter::<T>();
        let document = |(at, document): (usize, Result<T, serde_json::Error>)| {
            document.map_err(|why| {
                let text = format!("Document {} is not of the type that is asked for: {why}", at + 1);
                ProjectError::of(Id::OUTPUT_ENCODE, text)
            })
        };
        documents.enumerate().map(document).collect()
    }

    /// The warnings, in the order of the sources.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Resolves the positions of warnings and nodes.
    pub fn sources(&self) -> &Arc<Sources> {
        &self.sources
    }

    fn text(&self, write: impl FnOnce() -> Result<Vec<u8>, Failure>) -> Result<String, ProjectError> {
        let bytes = self.write(|| {
            let bytes = write()?;
            budget::output(bytes.len())?;
            Ok(bytes)
        })?;
        Ok(text_of(bytes))
    }

    /// Writes within the limits of the project, as a render of its own.
    fn write<T>(&self, write: impl FnOnce() -> Result<T, Failure>) -> Result<T, ProjectError> {
        crate::on_large_stack(|| {
            let _budget = limits::begin(&self.options);
            let written = limits::within(&self.sources, || {
                self.check_size()?;
                write()
            });
            written.map_err(|failure| ProjectError::new(failure, self.sources.clone()))
        })
    }

    /// Refuses to begin output that surely exceeds the limit: a few values that contain each other
    /// many times take no memory until they are written, and memory is only limited where the host
    /// measures it.
    fn check_size(&self) -> Result<(), Failure> {
        let limit = self.options.limits.output.unwrap_or(Limits::OUTPUT);
        let mut left = limit.saturating_add(1);
        let mut nodes = MAX_NODES;
        for (_, docs) in &self.evaluated.documents {
            // Plain YAML takes as much memory as its source.
            let FileDocuments::Nodes(docs) = docs else { continue };
            docs.items.iter().for_each(|doc| subtract_size(&doc.value, &mut left, &mut nodes));
        }
        if left == 0 { Ok(budget::output(usize::MAX)?) } else { Ok(()) }
    }
}

/// Written output as text. It is UTF-8: other bytes are written as `!!binary`.
pub(super) fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Subtracts the bytes of the strings below a node; any format writes at least as many.
fn subtract_size(node: &Node, left: &mut u64, nodes: &mut u32) {
    if *left == 0 || *nodes == 0 {
        return;
    }
    *nodes -= 1;
    match node {
        Node::Scalar(Scalar::Str(text)) => *left = left.saturating_sub(text.len() as u64),
        Node::Scalar(_) => {}
        Node::Map(map) => crate::deep(|| map.iter().for_each(|item| subtract_size(&item.value, left, nodes))),
        Node::Array(array) => {
            crate::deep(|| array.items.iter().for_each(|item| subtract_size(&item.value, left, nodes)));
        }
    }
}
