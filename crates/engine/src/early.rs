//! Documents that are written as soon as they are complete, instead of being kept for later stages.
//!
//! Getting memory from the system takes a third of the time of a run with much output. If no
//! overlay, rule or report will look at the documents again, plain YAML is written document by
//! document, and a template writes each item when it begins. A template that replaces or overrides
//! items ([`changes_items`]) writes each document when it is complete.

use memchr::memmem;
use ytterby_text::Str;
use ytterby_yaml::Sink;
use ytterby_yaml::write::YamlWriter;

use crate::api::Options;
use crate::input::{FileKind, InputFile};
use crate::node::{self, Document};
use crate::output_types::{Format, Offer};

/// Whether documents of this run can be written early. If in doubt, they are not.
pub(crate) fn is_possible(options: &Options, offer: Offer, files: &[InputFile]) -> bool {
    let is_plain_run = options.is_last_run
        && options.inspect.is_none()
        && options.output_check.is_none()
        && options.overlay_record.is_none()
        && options.coverage.is_none()
        && !options.source_map
        && !options.look_for_slips;
    is_plain_run
        && options.output_types.format(offer).is_ok_and(|format| format == Format::Yaml)
        && files.iter().filter(|file| file.kind() == FileKind::Yaml).all(|file| {
            // A file that cannot be read is reported when it is used.
            file.content.read().is_ok_and(|text| is_surely_plain(&text) || !mentions_later_stages(&text))
        })
}

/// Whether a file cannot be a template, whatever its comments say.
pub(crate) fn is_surely_plain(text: &Str) -> bool {
    memmem::find(text, b"#@").is_none()
}

/// Whether annotations of the file can have an effect on complete documents.
fn mentions_later_stages(text: &Str) -> bool {
    mentions(text, &[b"overlay/match", b"assert/validate"])
}

/// Whether the file can replace or override items that it has begun.
pub(crate) fn changes_items(text: &Str) -> bool {
    mentions(text, &[b"@ytt:template", b"yaml/map-key-override"])
}

fn mentions(text: &Str, names: &[&[u8]]) -> bool {
    names.iter().any(|name| memmem::find(text, name).is_some())
}

/// The text of the documents of one file, without empty ones, or why one of them cannot be written.
pub(crate) type WrittenDocuments = Result<Vec<u8>, String>;

/// A writer for the output of a run, or of a file of it, which is usually shorter than this: text
/// that grows from a few bytes would be copied to new memory again and again.
pub(crate) fn writer() -> YamlWriter {
    YamlWriter::with_room(16 << 20)
}

/// The text of a writer without the room that is left.
pub(crate) fn text_of(yaml: YamlWriter) -> Vec<u8> {
    let mut text = yaml.finish();
    text.shrink_to_fit();
    text
}

/// Writes the documents of one file.
pub(crate) struct DocumentWriter {
    yaml: YamlWriter,
    problem: Option<String>,
}

impl Default for DocumentWriter {
    fn default() -> DocumentWriter {
        DocumentWriter { yaml: writer(), problem: None }
    }
}

impl DocumentWriter {
    /// Writes a document. A problem is kept for the end: problems in the code after it come first.
    pub fn add(&mut self, doc: &Document) {
        if doc.is_empty() || self.problem.is_some() {
            return;
        }
        self.yaml.document();
        self.problem = node::write_node(&mut self.yaml, &doc.value).err();
    }

    /// What was written.
    pub fn finish(self) -> WrittenDocuments {
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok(text_of(self.yaml)),
        }
    }
}
