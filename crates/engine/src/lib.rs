//! Templates, patches and validates YAML.
//!
//! The engine is a function from files and options to documents: [`render`]. It reads and writes nothing itself.

// Modules are landing one by one; what they offer each other is used when all are there.
#![allow(dead_code, unused_imports)]

mod annotation;
mod api;
pub mod input;
mod library;
mod node;
mod output;
mod regexp;
mod run;
mod stdlib;
mod template;

pub use api::{
    Compat, Failure, Format, Host, Inspect, KnownSchemaFormats, Options, OutputFile, OutputTypes, Rendered,
    SchemaFormat, Target, ValueFlags, ValueFromFile, ValuesFile, YTT_VERSION,
};
pub use input::{Content, FileKind, InputFile};
use ytterby_diag::Sources;

use std::rc::Rc;

/// Renders `files`. Sources for positions of diagnostics are added to `sources`.
pub fn render(
    files: Vec<InputFile>,
    options: &Options,
    sources: &Rc<Sources>,
    host: Rc<dyn Host>,
) -> Result<Rendered, Failure> {
    let _ = (sources, host);
    let files = input::apply_marks(files, &options.file_marks)?;
    let mut rendered = Rendered::default();
    if options.inspect == Some(Inspect::Files) {
        for file in input::accessible(&files) {
            rendered.documents.extend_from_slice(format!("- {}\n", file.path).as_bytes());
        }
        return Ok(rendered);
    }
    Err(Failure::from("Rendering is not there yet".to_owned()))
}
