//! The keys of data values, from the schema that the files on the line declare.
//!
//! Whoever presses a key wants an answer at once, or none: what takes too long, cannot be read or is wrong is left out
//! without a word. Values are never part of the answer.

use std::sync::mpsc;
use std::time::Duration;

use ytterby::{Limits, Options, Project};

use crate::read::{self, Stdin, Symlinks};

/// How long a user waits.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How much code of a schema is run.
const STEPS: u64 = 1_000_000;

/// More keys than these help nobody.
const OFFERED: usize = 500;

/// Room for the engine's recursion, as in a run.
const STACK: usize = 64 << 20;

/// A key, with dots, and what it is for.
pub struct Key {
    pub path: String,
    pub description: String,
}

/// The keys that the schema in these files (arguments of `--file`) has, in its order.
pub fn of_schema(files: Vec<String>, marks: Vec<String>) -> Vec<Key> {
    let files: Vec<String> = files.into_iter().filter_map(|file| readable(&file)).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let (answer, answered) = mpsc::channel();
    let work = move || {
        // Nobody waits for the answer if it comes too late.
        let _ = answer.send(find(&files, marks).unwrap_or_default());
    };
    // A thread of its own: it can be left behind, and what goes wrong in it goes wrong there.
    match std::thread::Builder::new().stack_size(STACK).spawn(work) {
        Ok(_) => answered.recv_timeout(PATIENCE).unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

/// The argument as the shell would give it, if it names something that can be read without waiting.
fn readable(argument: &str) -> Option<String> {
    let home = |rest: &str| Some(format!("{}/{rest}", std::env::var("HOME").ok()?));
    let argument = argument.strip_prefix("~/").map_or_else(|| Some(argument.to_owned()), home)?;
    let path = argument.split_once('=').map_or(&*argument, |(_, path)| path);
    let kind = std::fs::metadata(path).or_else(|_| std::fs::metadata(&argument)).ok()?;
    (kind.is_file() || kind.is_dir()).then_some(argument)
}

fn find(files: &[String], file_marks: Vec<String>) -> Option<Vec<Key>> {
    let symlinks = Symlinks { allow_all: false, allowed: Vec::new() };
    let files = read::list(files, &symlinks, &Stdin::default()).ok()?;
    let limits = Limits { steps: Some(STEPS), ..Limits::default() };
    let options = Options { file_marks, ignore_unknown_comments: true, limits, ..Options::default() };
    let schema = Project::builder().inputs(files).options(options).build().ok()?.schema().ok()?;
    let mut keys = Vec::new();
    // What lies below a key that flags cannot name.
    let mut unreachable: Option<String> = None;
    for field in schema.fields {
        if unreachable.as_ref().is_some_and(|above| field.path.starts_with(above.as_str())) {
            continue;
        }
        // Flags take dots for steps, and items of arrays and free keys have no names here. Shells take what is offered as it is.
        let is_plain = field.name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !is_plain || field.name.is_empty() || field.path.contains(['*', '[']) {
            unreachable = Some(format!("{}.", field.path));
        } else if field.type_name != "map" {
            let description = field.description.unwrap_or_default();
            let first_line = description.lines().next().unwrap_or_default().replace('\t', " ");
            let description = if first_line.is_empty() { field.type_name } else { first_line };
            keys.push(Key { path: field.path, description });
        }
        if keys.len() >= OFFERED {
            break;
        }
    }
    Some(keys)
}
