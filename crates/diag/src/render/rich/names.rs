//! Names of sources, as the user knows them.
//!
//! A file is a path that can be opened, with line and column. A value from the command line or the
//! environment is named by its flag or variable, because a line number means nothing there.

use crate::render::resolved::SourceRange;
use crate::{Origin, Source, Sources, ValueForm};

/// The position as `file:line:column`, or the flag or variable.
pub(super) fn place(range: &SourceRange, sources: &Sources) -> String {
    let name = match sources.get(range.span.file) {
        Some(source) => match source.origin() {
            Origin::Stdin => "standard input".to_owned(),
            Origin::Flag(ValueForm::Text) => return "--data-value".to_owned(),
            Origin::Flag(ValueForm::Yaml) => return "--data-value-yaml".to_owned(),
            Origin::Variable(ValueForm::Text | ValueForm::Yaml) => return variable(&source),
            Origin::Argument => return "command line".to_owned(),
            _ => range.file.clone(),
        },
        None => range.file.clone(),
    };
    let (line, column) = (range.start.line, range.start.column);
    if name.is_empty() { format!("line {line}, column {column}") } else { format!("{name}:{line}:{column}") }
}

/// The name of an environment variable, whose source is `NAME=value`.
fn variable(source: &Source) -> String {
    match source.outline().items().first() {
        Some(item) if !item.key.is_empty() => {
            let name = source.shown(item.key.start as usize..item.key.end as usize);
            format!("environment variable {name}")
        }
        _ => source.full_name().to_owned(),
    }
}
