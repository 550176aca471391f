//! The result of a render.

use std::sync::Arc;

use ytterby_diag::{Diagnostic, Sources};

use super::ProjectError;
use crate::api::OutputFile;
use crate::library::Evaluated;
use crate::node::{MAX_NODES, Scalar};
use crate::output;
use crate::output_documents::{self, OutputNode, OutputValue};

/// The result of a render: documents, text files, warnings. It stays on its thread; the results of [`Output::yaml`] and
/// other methods can be sent anywhere.
pub struct Output {
    evaluated: Evaluated,
    warnings: Vec<Diagnostic>,
    sources: Arc<Sources>,
}

/// A document of the output.
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
}

impl Drop for OutputDocument {
    fn drop(&mut self) {
        let root = std::mem::replace(&mut self.root.value, OutputValue::Scalar(Scalar::Null));
        crate::on_large_stack(|| drop(root));
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
    pub(super) fn new(evaluated: Evaluated, warnings: Vec<Diagnostic>, sources: Arc<Sources>) -> Output {
        Output { evaluated, warnings, sources }
    }

    /// All documents as one YAML stream, identical to the output of the command.
    ///
    /// # Errors
    /// If the output is too large.
    pub fn yaml(&self) -> Result<String, ProjectError> {
        let docs = self.evaluated.documents.iter().map(|(_, docs)| docs.clone());
        self.text(crate::on_large_stack(|| output::yaml(docs)))
    }

    /// All documents as JSON, one after the other, as the command writes them.
    ///
    /// # Errors
    /// If JSON cannot represent something: keys that are not strings, infinite numbers.
    pub fn json(&self) -> Result<String, ProjectError> {
        let docs: Vec<_> = self.evaluated.documents.iter().map(|(_, docs)| docs.clone()).collect();
        self.text(crate::on_large_stack(|| output::json(&docs)))
    }

    /// Each output file with its content: documents by the file that they came from, and the results of text templates.
    ///
    /// # Errors
    /// If the output is too large.
    pub fn files(&self) -> Result<Vec<OutputFile>, ProjectError> {
        let files = crate::on_large_stack(|| output::files(self.evaluated.clone(), output::Written::Free, None));
        files.map_err(|failure| ProjectError::new(failure, self.sources.clone()))
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
    /// If a document has another type, or JSON cannot represent it.
    #[cfg(feature = "serde")]
    pub fn deserialize<T: serde::de::DeserializeOwned>(&self) -> Result<Vec<T>, ProjectError> {
        let json = self.json()?;
        let documents = serde_json::Deserializer::from_str(&json).into_iter::<T>();
        let document = |(at, document): (usize, Result<T, serde_json::Error>)| {
            document.map_err(|why| {
                let text = format!("Document {} is not of the type that is asked for: {why}", at + 1);
                ProjectError::of(ytterby_diag::Id::OUTPUT_ENCODE, text)
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

    fn text(&self, bytes: Result<Vec<u8>, ytterby_diag::Failure>) -> Result<String, ProjectError> {
        let bytes = bytes.map_err(|failure| ProjectError::new(failure, self.sources.clone()))?;
        // Invalid UTF-8 is written as `!!binary`.
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}
