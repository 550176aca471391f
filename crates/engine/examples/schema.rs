//! Lists the fields of a project's schema.
//!
//!     cargo run --example schema -- examples/hello

use std::error::Error;
use std::path::Path;

use ytterby::Project;

mod common;

fn main() -> Result<(), Box<dyn Error>> {
    let mut project = Project::builder();
    for path in std::env::args().skip(1) {
        project = project.inputs(common::files(Path::new(&path))?);
    }
    let schema = project.build()?.schema()?;
    for field in &schema.fields {
        let indent = "  ".repeat(field.depth);
        println!("{indent}{}: {} ({})", field.name, field.type_name, schema.sources.locate(field.pos));
        for rule in &field.rules {
            println!("{indent}  must be {}", rule.text);
        }
        if let Some(text) = &field.description {
            println!("{indent}  {text}");
        }
    }
    Ok(())
}
