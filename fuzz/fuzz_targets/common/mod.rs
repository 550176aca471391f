//! Runs of the engine on inputs that a fuzzer made, within small limits and twice.

mod parts;

use std::rc::Rc;
use std::sync::Arc;

use ytterby::diag::Sources;
use ytterby::diag::render::{Rendering, Report, RichOptions, render as shown};
use ytterby::{Content, InputFile, Limits, Options, Silent};

#[allow(unused_imports, reason = "some targets have one file")]
pub use parts::parts;

/// Limits that end a run in a few milliseconds: without a meter, all allocations count.
pub const LIMITS: Limits =
    Limits { time: None, memory: Some(16 << 20), steps: Some(20_000), output: Some(1 << 20), depth: Some(500) };

/// Renders files and shows every problem in every form; two runs say the same.
pub fn render(files: &[(&str, &[u8])], options: &Options) {
    let once = || {
        let inputs = files.iter().map(|(path, text)| InputFile::new(*path, Content::new(*text))).collect();
        let sources = Arc::new(Sources::new());
        let options = Options { limits: LIMITS, ..options.clone() };
        match ytterby::render(inputs, &options, &sources, Rc::new(Silent)) {
            Ok(rendered) => rendered.documents,
            Err(failure) => {
                let report = Report::new("fuzz", Some(&failure), failure.warnings(), &sources);
                let forms =
                    [Rendering::Text, Rendering::Rich(RichOptions::default()), Rendering::Json, Rendering::Sarif];
                forms.into_iter().map(|form| shown(&report, form)).collect::<String>().into_bytes()
            }
        }
    };
    assert_eq!(once(), once(), "two runs differ");
}
