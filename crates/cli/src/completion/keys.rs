//! The keys of data values, from the schema that the files on the command line declare.
//!
//! Completion must answer at once or not at all: anything slow, unreadable or wrong is silently
//! left out. Answers never contain values.

use std::sync::mpsc;
use std::time::Duration;

use ytterby::{Limits, Options, Project};

use crate::read::{self, Stdin, Symlinks};

/// Completion gives up after this time.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Maximum Starlark steps of a schema.
const STEPS: u64 = 1_000_000;

/// Maximum number of offered keys.
const OFFERED: usize = 500;

/// Stack for the engine's recursion, as in a render.
const STACK: usize = 64 << 20;

/// A dotted key and its description.
pub struct ValueKey {
    pub path: String,
    pub description: String,
}

/// The keys that the schema in these files (arguments of `--file`) declares, in its order.
pub fn of_schema(files: Vec<String>, marks: Vec<String>) -> Vec<ValueKey> {
    let files: Vec<String> = files.into_iter().filter_map(|file| readable(&file)).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let (answer, answered) = mpsc::channel();
    let work = move || {
        // The receiver is gone after the timeout.
        let _ = answer.send(find(&files, marks).unwrap_or_default());
    };
    // A separate thread: it can be abandoned, and a panic stays inside it.
    match std::thread::Builder::new().stack_size(STACK).spawn(work) {
        Ok(_) => answered.recv_timeout(PATIENCE).unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

/// The argument with `~/` expanded, if it names something that can be read without blocking.
fn readable(argument: &str) -> Option<String> {
    let home = |rest: &str| Some(format!("{}/{rest}", std::env::var("HOME").ok()?));
    let argument = argument.strip_prefix("~/").map_or_else(|| Some(argument.to_owned()), home)?;
    let path = argument.split_once('=').map_or(&*argument, |(_, path)| path);
    let kind = std::fs::metadata(path).or_else(|_| std::fs::metadata(&argument)).ok()?;
    (kind.is_file() || kind.is_dir()).then_some(argument)
}

fn find(files: &[String], file_marks: Vec<String>) -> Option<Vec<ValueKey>> {
    let symlinks = Symlinks { allow_all: false, allowed: Vec::new() };
    let files = read::list(files, &symlinks, &Stdin::default()).ok()?;
    let limits = Limits { steps: Some(STEPS), ..Limits::default() };
    let options = Options { file_marks, ignore_unknown_comments: true, limits, ..Options::default() };
    let schema = Project::builder().inputs(files).options(options).build().ok()?.schema().ok()?;
    let mut keys = Vec::new();
    // Prefix of the fields below a key that flags cannot name.
    let mut unreachable: Option<String> = None;
    for field in schema.fields {
        if unreachable.as_ref().is_some_and(|above| field.path.starts_with(above.as_str())) {
            continue;
        }
        // Flags treat dots as separators; array items and free keys have no names; shells insert
        // candidates unescaped.
        let is_plain = field.name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !is_plain || field.name.is_empty() || field.path.contains(['*', '[']) {
            unreachable = Some(format!("{}.", field.path));
        } else if field.type_name != "map" {
            let description = field.description.unwrap_or_default();
            let first_line = description.lines().next().unwrap_or_default().replace('\t', " ");
            let description = if first_line.is_empty() { field.type_name } else { first_line };
            keys.push(ValueKey { path: field.path, description });
        }
        if keys.len() >= OFFERED {
            break;
        }
    }
    Some(keys)
}
