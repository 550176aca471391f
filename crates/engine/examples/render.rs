//! Renders directories and files with data values and prints the documents.
//!
//!     cargo run --example render -- examples/hello name=kiosk

use std::path::Path;
use std::process::ExitCode;

use ytterby::diag::render::Rendering;
use ytterby::{Project, Values};

mod common;

fn main() -> ExitCode {
    let mut project = Project::builder();
    let mut values = Values::new();
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some((path, yaml)) => values = values.set_yaml(path, yaml),
            None => match common::files(Path::new(&argument)) {
                Ok(files) => project = project.inputs(files),
                Err(error) => {
                    eprintln!("{argument}: {error}");
                    return ExitCode::FAILURE;
                }
            },
        }
    }
    let rendered = project.build().and_then(|project| project.render(&values)?.yaml());
    match rendered {
        Ok(documents) => {
            print!("{documents}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprint!("{}", error.report("render", Rendering::Text));
            ExitCode::FAILURE
        }
    }
}
