//! Moves many files into place as one step that survives a crash of the program.
//!
//! All new files are complete in the working directory before the first one is moved. Then a list
//! of the moves is written ([`Journal::commit`]): from then on, any later run that finds it can
//! finish the moves, because a file that was moved is no longer in the working directory. If a move
//! fails, the list is renamed, and from then on it lists what to undo. Both directions can be
//! restarted from the beginning any number of times.
//!
//! Old files are hard-linked to a backup before new ones take their names, so that no name is ever
//! missing.

use std::collections::HashSet;
use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::failed;
use super::paths::{self, System};
use super::stage::{copy, make_directories, write_file};

/// The list's name while the moves are to be finished.
const FORWARD: &str = "journal";
/// The list's name while the moves are to be undone.
const BACKWARD: &str = "rollback";
/// The list's name before it takes effect.
const DRAFT: &str = "draft";

/// The first entry of the list.
const HEADER: &str = "ytterby-journal 1";

/// Moves out of a working directory.
pub(super) struct Journal {
    stage: PathBuf,
    target: PathBuf,
    /// Directories to create, outermost first, relative to the target.
    directories: Vec<String>,
    /// The destinations of the files 0, 1, 2 … in the working directory, relative to the target.
    places: Vec<String>,
}

impl Journal {
    pub(super) fn new(stage: &Path, target: &Path) -> Journal {
        Journal { stage: stage.to_owned(), target: target.to_owned(), directories: Vec::new(), places: Vec::new() }
    }

    /// The name of the next file in the working directory.
    pub(super) fn next(&self) -> PathBuf {
        self.aside(self.places.len())
    }

    /// Adds a file, which is written to [`Journal::next`].
    pub(super) fn add(&mut self, place: &str) {
        self.places.push(place.to_owned());
    }

    fn aside(&self, number: usize) -> PathBuf {
        self.stage.join(number.to_string())
    }

    /// The path of the backup of a replaced file.
    fn backup(&self, number: usize) -> PathBuf {
        self.stage.join(format!("{number}.old"))
    }

    /// The path of the old content of a file that is overwritten.
    fn content(&self, number: usize) -> PathBuf {
        self.stage.join(format!("{number}.content"))
    }

    /// Writes the list: from now on the moves will happen, even if the program crashes.
    pub(super) fn commit(&mut self) -> Result<(), String> {
        let root = paths::real(&self.target);
        let mut missing = Vec::new();
        let (mut seen, mut known) = (HashSet::new(), HashSet::new());
        for place in &self.places {
            let path = self.target.join(place);
            paths::refuse_links(&root, &root.join(place), &mut known)?;
            check_place(&path)?;
            let names: Vec<&str> = place.split('/').collect();
            for count in 1..names.len() {
                let above = names[..count].join("/");
                if seen.insert(above.clone()) && !self.target.join(&above).exists() {
                    missing.push(above);
                }
            }
        }
        self.directories = missing;
        let mut text = format!("{HEADER}\0");
        for directory in &self.directories {
            text += &format!("d\0{directory}\0");
        }
        for place in &self.places {
            text += &format!("f\0{place}\0");
        }
        let draft = self.stage.join(DRAFT);
        write_file(&draft, text.as_bytes())?;
        let list = self.stage.join(FORWARD);
        fs::rename(&draft, &list).map_err(|error| failed("rename", &list, &error))
    }

    /// Moves the files that were not moved yet. Calls `go_on` before each.
    pub(super) fn finish(&self, go_on: &dyn Fn() -> Result<(), String>) -> Result<(), String> {
        for (number, place) in self.places.iter().enumerate() {
            go_on()?;
            let (aside, place) = (self.aside(number), self.target.join(place));
            if fs::symlink_metadata(&aside).is_err() {
                continue;
            }
            if let Some(parent) = place.parent() {
                make_directories(parent)?;
            }
            self.move_one(&aside, &place, number)?;
        }
        Ok(())
    }

    /// The reference overwrites an existing file. We replace it by a new file if nobody can tell
    /// the difference, so that readers see either the old or the new content.
    fn move_one(&self, aside: &Path, place: &Path, number: usize) -> Result<(), String> {
        let open = |error: io::Error| failed("open", place, &error);
        let Ok(old) = fs::symlink_metadata(place) else {
            return match fs::rename(aside, place) {
                Ok(()) => Ok(()),
                Err(_) => self.copy_one(aside, place),
            };
        };
        // A writable link, file or device.
        drop(OpenOptions::new().write(true).open(place).map_err(open)?);
        let is_replaced = old.is_file()
            && is_like(&old, aside, &self.backup(number))
            && fs::set_permissions(aside, old.permissions()).is_ok();
        let backup = self.backup(number);
        if is_replaced && keep_aside(place, &backup) {
            match fs::rename(aside, place) {
                Ok(()) => return Ok(()),
                // In a read-only directory, existing files can be written although none can be
                // renamed.
                Err(_) if fs::symlink_metadata(place).is_ok() => _ = fs::remove_file(&backup),
                Err(error) => return Err(open(error)),
            }
        }
        if fs::metadata(place).is_ok_and(|target| target.is_file()) {
            let bytes = fs::read(place).map_err(open)?;
            let draft = self.stage.join(DRAFT);
            write_file(&draft, &bytes)?;
            fs::rename(&draft, self.content(number)).map_err(open)?;
        }
        self.copy_one(aside, place)
    }

    fn copy_one(&self, aside: &Path, place: &Path) -> Result<(), String> {
        copy(aside, place)?;
        fs::remove_file(aside).map_err(|error| failed("remove", aside, &error))
    }

    /// Undoes the moves, last first, ignoring errors: the original error is more important.
    pub(super) fn take_back(&self) {
        let _ = fs::rename(self.stage.join(FORWARD), self.stage.join(BACKWARD));
        for (number, place) in self.places.iter().enumerate().rev() {
            let place = self.target.join(place);
            let (backup, content) = (self.backup(number), self.content(number));
            if fs::symlink_metadata(&content).is_ok() {
                let _ = copy(&content, &place);
            } else if fs::symlink_metadata(&backup).is_ok() {
                let _ = fs::rename(&backup, &place);
            } else if fs::symlink_metadata(self.aside(number)).is_err() {
                let _ = fs::remove_file(&place);
            }
        }
        for directory in self.directories.iter().rev() {
            let _ = fs::remove_dir(self.target.join(directory));
        }
    }

    /// Reads the list in the working directory of a crashed run, and follows it. On success the
    /// working directory can be deleted.
    pub(super) fn recover(stage: &Path, target: &Path) -> Result<(), String> {
        if let Some(journal) = Journal::read(stage, target, BACKWARD)? {
            journal.take_back();
            return Ok(());
        }
        match Journal::read(stage, target, FORWARD)? {
            Some(journal) => {
                let root = paths::real(target);
                let mut known = HashSet::new();
                for place in &journal.places {
                    paths::refuse_links(&root, &root.join(place), &mut known)?;
                }
                journal.finish(&|| Ok(()))
            }
            None => Ok(()),
        }
    }

    fn read(stage: &Path, target: &Path, name: &str) -> Result<Option<Journal>, String> {
        let path = stage.join(name);
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        let mut journal = Journal::new(stage, target);
        let mut parts = text.split('\0');
        let wrong = || format!("Expected '{}' to be a list of files; delete its directory", path.display());
        if parts.next() != Some(HEADER) {
            return Err(wrong());
        }
        while let (Some(kind), Some(place)) = (parts.next(), parts.next()) {
            let below = paths::relative(place, System::HERE).map_err(|_| wrong())?;
            match kind {
                "d" => journal.directories.push(below),
                "f" => journal.places.push(below),
                _ => return Err(wrong()),
            }
        }
        Ok(Some(journal))
    }
}

/// Fails if a file cannot be moved to this path, before anything is moved.
fn check_place(place: &Path) -> Result<(), String> {
    let Ok(old) = fs::symlink_metadata(place) else { return Ok(()) };
    if is_pipe(&old) {
        return Err(format!("Expected output file '{}' to be a file, but is a pipe", place.display()));
    }
    if !old.is_symlink() {
        drop(OpenOptions::new().write(true).open(place).map_err(|error| failed("open", place, &error))?);
    }
    Ok(())
}

/// Links a file to its backup, or renames it on file systems without hard links.
fn keep_aside(place: &Path, backup: &Path) -> bool {
    fs::symlink_metadata(backup).is_ok() || fs::hard_link(place, backup).is_ok() || fs::rename(place, backup).is_ok()
}

/// Whether our new file can replace the old one: it has the same owner, and the old one has no hard
/// links except our backup.
#[cfg(unix)]
fn is_like(old: &Metadata, aside: &Path, backup: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same_owner = |new: Metadata| (new.uid(), new.gid()) == (old.uid(), old.gid());
    let same_file = |backup: Metadata| (backup.dev(), backup.ino()) == (old.dev(), old.ino());
    let own_names = if fs::symlink_metadata(backup).is_ok_and(same_file) { 2 } else { 1 };
    old.nlink() == own_names && fs::symlink_metadata(aside).is_ok_and(same_owner)
}

#[cfg(not(unix))]
fn is_like(_: &Metadata, _: &Path, _: &Path) -> bool {
    true
}

#[cfg(unix)]
fn is_pipe(old: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&old.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}
