//! `init`: creates a new, working project.
//!
//! Its files are in `template/`; tests build and test them. Existing files are never overwritten.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ytterby::{Failure, OutputFile};
use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_project::join;

use crate::flags::Invocation;
use crate::{build, host, report, write};

/// The files of a new project.
const FILES: [(&str, &str); 6] = [
    ("ytterby.yml", include_str!("template/ytterby.yml")),
    ("config/schema.yml", include_str!("template/config/schema.yml")),
    ("config/app.yml", include_str!("template/config/app.yml")),
    ("values/dev.yml", include_str!("template/values/dev.yml")),
    ("values/prod.yml", include_str!("template/values/prod.yml")),
    ("tests/app_test.yml", include_str!("template/tests/app_test.yml")),
];

/// Creates a project in the operand's directory, or in the current one.
pub fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let directory = match &flags.operands[..] {
        [] => ".",
        [directory] => directory,
        more => {
            let text = format!("Expected one directory for the new project, found {}", more.len());
            return Err(Failure::new(Id::FLAG_OPERAND, text));
        }
    };
    let path = |name: &str| join(directory, name);
    let there: Vec<String> =
        FILES.iter().map(|(name, _)| path(name)).filter(|path| fs::symlink_metadata(path).is_ok()).collect();
    let blocked = Path::new(directory).exists() && !Path::new(directory).is_dir();
    if !there.is_empty() || blocked {
        let message = match blocked {
            true => format!("{directory} is not a directory; nothing was written"),
            false => format!("{} would be overwritten; nothing was written", there.join(", ")),
        };
        let hint = "choose another directory: ytterby init DIRECTORY";
        let problem = Diagnostic::error(Id::PROJECT_EXISTS, message.clone());
        let problem = problem.reference(format!("{message}\n    hint: {hint}")).help(hint);
        return Ok(build::refused(program, problem.into(), sources, report::rendering(program, flags)?));
    }
    let files: Vec<OutputFile> = FILES.iter().map(|(path, text)| OutputFile::new(*path, *text)).collect();
    write::add_files(directory, &files)?;
    write::end_if_interrupted();
    let mut text: String = FILES.iter().map(|(name, _)| format!("created {}\n", path(name))).collect();
    let there = if directory == "." { String::new() } else { format!("cd {directory} && ") };
    text.push_str(&format!("try: {there}{program} build && {program} test\n"));
    host::write_output(text.as_bytes()).map(|()| 0)
}
