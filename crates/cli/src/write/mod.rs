//! Output files.
//!
//! Everything is written aside first and moved into place when it is complete, so that a full disk, a bad path or an
//! interrupt leaves what was there before.

mod interrupt;
mod stage;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::interrupt::Watch;
pub use self::interrupt::end_if_interrupted;
use self::stage::{Moves, Stage, UndoList};
use crate::read::{clean, io_text};
use ytterby::{Failure, OutputFile};
use ytterby_diag::Id;

/// Directories that nobody wants emptied, as the reference lists them.
const SUSPICIOUS: [&str; 4] = ["/", ".", "./", ""];

/// Makes `directory` hold these files and nothing else.
pub fn replace_directory(directory: &str, files: &[OutputFile]) -> Result<(), Failure> {
    replace(directory, files).map_err(|why| Failure::new(Id::FILE_WRITE, why))
}

fn replace(directory: &str, files: &[OutputFile]) -> Result<(), String> {
    let mut seen = HashSet::new();
    if let Some(file) = files.iter().find(|file| !seen.insert(&file.path)) {
        return Err(format!("Multiple files have same output destination paths: {}", file.path));
    }
    if SUSPICIOUS.contains(&directory) {
        return Err(format!("Expected output directory path to not be one of '{}'", SUSPICIOUS.join("', '")));
    }
    refuse_vital(directory)?;

    let target = PathBuf::from(clean(directory));
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let watch = Watch::start();
    // Declared before what is inside of them, so that they go after it.
    let mut made = UndoList::new_directories(&parent)?;
    let stage = Stage::new(&parent, &watch).map_err(|error| {
        format!("Creating a temporary directory beside '{directory}', in '{}': {}", parent.display(), io_text(&error))
    })?;
    let content = stage.path().join("new");
    stage::make_directories(&content)?;
    for file in files {
        let place = content.join(relative(&file.path)?);
        if let Some(parent) = place.parent() {
            stage::make_directories(parent)?;
        }
        stage.write(&place, &file.bytes)?;
    }
    stage.swap(&content, &target)?;
    made.keep();
    Ok(())
}

/// Adds these files to `directory`, over those of the same name.
pub fn add_files(directory: &str, files: &[OutputFile]) -> Result<(), Failure> {
    add(directory, files).map_err(|why| Failure::new(Id::FILE_WRITE, why))
}

fn add(directory: &str, files: &[OutputFile]) -> Result<(), String> {
    let target = PathBuf::from(clean(directory));
    let places = files.iter().map(|file| Ok(target.join(relative(&file.path)?))).collect::<Result<Vec<_>, String>>()?;
    let mut moves = Moves::new(&target, &Watch::start())?;
    for (file, place) in files.iter().zip(&places) {
        moves.add(place, &file.bytes)?;
    }
    moves.finish()
}

/// The lines that say which files were written.
pub fn announcement(directory: &str, files: &[OutputFile]) -> String {
    files.iter().map(|file| format!("creating: {}\n", clean(&format!("{directory}/{}", file.path)))).collect()
}

/// An output path below its directory. One that leads out of it is refused: names can come from whoever wrote the input.
fn relative(path: &str) -> Result<String, String> {
    let below = clean(path.trim_start_matches('/'));
    match below.as_str() {
        "." => Err(format!("Expected output path '{path}' to name a file")),
        ".." => Err(outside(path)),
        _ if below.starts_with("../") => Err(outside(path)),
        _ => Ok(below),
    }
}

fn outside(path: &str) -> String {
    format!("Expected output path '{path}' to stay inside of the output directory")
}

/// Refuses to empty the current directory, the home directory and everything above them (`..`), which the reference
/// would delete without a question.
fn refuse_vital(directory: &str) -> Result<(), String> {
    let Ok(resolved) = fs::canonicalize(directory) else { return Ok(()) };
    let here = std::env::current_dir().ok();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    for (vital, name) in [(here, "current"), (home, "home")] {
        let holds =
            vital.and_then(|vital| fs::canonicalize(vital).ok()).is_some_and(|vital| vital.starts_with(&resolved));
        if holds {
            return Err(format!("Expected output directory '{directory}' to not hold the {name} directory"));
        }
    }
    Ok(())
}

/// `open out/a.yml: is a directory`.
fn failed(verb: &str, path: &Path, error: &io::Error) -> String {
    format!("{verb} {}: {}", path.display(), io_text(error))
}

#[cfg(test)]
mod tests;
