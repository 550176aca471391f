//! Writes output files.
//!
//! Everything is written to a working directory first and moved into place when complete, so that a
//! full disk, a bad path or an interrupt leaves the old files. If the program is killed in the
//! middle, the next run that writes to the directory finishes or undoes the moves ([`journal`]).

mod draft;
mod interrupt;
mod journal;
mod paths;
mod protect;
mod stage;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

pub use self::draft::Draft;
use self::interrupt::Watch;
pub use self::interrupt::end_if_interrupted;
use self::paths::{System, relative};
use self::protect::{DirectoryKind, MANIFEST};
pub use self::stage::Recovered;
use self::stage::{Moves, NewDirectories, Stage};
use crate::read::{clean, io_text};
use ytterby::{Failure, OutputFile};
use ytterby_diag::Id;

/// Directories that are never emptied, as the reference lists them.
const SUSPICIOUS: [&str; 4] = ["/", ".", "./", ""];

/// Replaces the content of `directory` with these files.
pub fn replace_directory(directory: &str, files: &[OutputFile], recovered: &mut Recovered) -> Result<(), Failure> {
    replace(directory, files, recovered).map_err(|why| Failure::new(Id::FILE_WRITE, why))
}

fn replace(directory: &str, files: &[OutputFile], recovered: &mut Recovered) -> Result<(), String> {
    let mut seen = HashSet::new();
    if let Some(file) = files.iter().find(|file| !seen.insert(&file.path)) {
        return Err(format!("Multiple files have same output destination paths: {}", file.path));
    }
    if SUSPICIOUS.contains(&directory) {
        return Err(format!("Expected output directory path to not be one of '{}'", SUSPICIOUS.join("', '")));
    }
    let place = protect::check(directory)?;
    let files = placed(files)?;
    // The list contains a checksum of every file, which takes a fifth of the time of a target, so
    // only write it if needed.
    let list = (place != DirectoryKind::Usual).then(|| OutputFile::new(MANIFEST, protect::manifest(&files)));
    let list = list.as_ref().map(|list| (list.path.clone(), list));

    let target = PathBuf::from(clean(directory));
    if place == DirectoryKind::Mounted {
        // A mount point cannot be renamed, so its content is replaced instead.
        let mut moves = Moves::new(&target, &Watch::start(), recovered)?;
        for (path, file) in files.iter().chain(&list) {
            moves.add(path, &file.bytes)?;
        }
        let emptied = |watch: &Watch| protect::empty(&target, &|| watch.go_on());
        return moves.finish(|watch| emptied(watch).map_err(|error| failed("remove", &target, &error)));
    }
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let watch = Watch::start();
    // Declared before their contents, so that they are dropped after those.
    let mut made = NewDirectories::make(&parent)?;
    recovered.directories_in(&parent, &target)?;
    let stage = Stage::new(&parent, &watch).map_err(|error| {
        format!("Creating a temporary directory beside '{directory}', in '{}': {}", parent.display(), io_text(&error))
    })?;
    let content = stage.path().join("new");
    stage::make_directories(&content)?;
    for (path, file) in files.iter().chain(&list) {
        let place = content.join(path);
        if let Some(parent) = place.parent() {
            stage::make_directories(parent)?;
        }
        stage.write(&place, &file.bytes)?;
    }
    stage.swap(&content, &target)?;
    made.keep();
    Ok(())
}

/// Adds these files to `directory`, replacing those of the same name.
pub fn add_files(directory: &str, files: &[OutputFile]) -> Result<(), Failure> {
    add(directory, files).map_err(|why| Failure::new(Id::FILE_WRITE, why))
}

fn add(directory: &str, files: &[OutputFile]) -> Result<(), String> {
    let target = PathBuf::from(clean(directory));
    let files = placed(files)?;
    let mut moves = Moves::new(&target, &Watch::start(), &mut Recovered::default())?;
    for (place, file) in &files {
        moves.add(place, &file.bytes)?;
    }
    moves.finish(|_| Ok(()))
}

/// Replaces the content of a source file. Unlike output, it cannot be recreated, so the new content
/// is synced to disk before the old one is removed.
pub fn change_source(path: &str, bytes: &[u8], recovered: &mut Recovered) -> Result<(), Failure> {
    change(path, bytes, recovered).map_err(|why| Failure::new(Id::FILE_WRITE, format!("Writing file '{path}': {why}")))
}

fn change(path: &str, bytes: &[u8], recovered: &mut Recovered) -> Result<(), String> {
    // Replaces the file itself, not a link to it.
    let real = std::fs::canonicalize(path).map_err(|error| io_text(&error))?;
    let (Some(directory), Some(name)) = (real.parent(), real.file_name().and_then(|name| name.to_str())) else {
        return Err("it is not a file with a name in UTF-8".to_owned());
    };
    let mut moves = Moves::new(directory, &Watch::start(), recovered)?;
    moves.add_synced(name, bytes)?;
    moves.finish(|_| Ok(()))?;
    // Best effort: the content is safe; at worst the name still refers to the old file.
    let _ = std::fs::File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

/// Files with their paths relative to the output directory.
fn placed(files: &[OutputFile]) -> Result<Vec<(String, &OutputFile)>, String> {
    files.iter().map(|file| Ok((relative(&file.path, System::HERE)?, file))).collect()
}

/// The lines that report which files were written.
pub fn announcement(directory: &str, files: &[OutputFile]) -> String {
    files.iter().map(|file| format!("creating: {}\n", clean(&format!("{directory}/{}", file.path)))).collect()
}

/// Example: `open out/a.yml: is a directory`.
fn failed(verb: &str, path: &Path, error: &io::Error) -> String {
    format!("{verb} {}: {}", path.display(), io_text(error))
}

#[cfg(test)]
mod tests;
