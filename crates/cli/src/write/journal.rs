//! Moving many files into place as one step that survives the death of the program.
//!
//! All new files are complete in the working directory before the first one moves. Then a list of the moves is written
//! ([`Journal::commit`]): from there on, whoever finds it can finish them, since a file that was moved is no longer in
//! the working directory. Where a move fails, the list changes its name, and from there on the same list says what to
//! take back. Both ways can be walked again from the beginning, as often as it takes.
//!
//! Old files are linked aside before new ones take their names, so that no name is ever missing.

use std::collections::HashSet;
use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::failed;
use super::paths::{self, System};
use super::stage::{copy, make_directories, write_file};

/// The moves are to be finished.
const FORWARD: &str = "journal";
/// The moves are to be taken back.
const BACKWARD: &str = "rollback";
/// The list before it counts.
const DRAFT: &str = "draft";

/// The first entry of the list.
const HEADER: &str = "ytterby-journal 1";

/// Moves out of a working directory.
pub(super) struct Journal {
    stage: PathBuf,
    target: PathBuf,
    /// Directories that have to be made, outermost first, relative to the target.
    directories: Vec<String>,
    /// Where the files go that are called 0, 1, 2 … in the working directory, relative to the target.
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

    /// The old file that a new one takes the name of.
    fn backup(&self, number: usize) -> PathBuf {
        self.stage.join(format!("{number}.old"))
    }

    /// The old content of a file that is overwritten.
    fn content(&self, number: usize) -> PathBuf {
        self.stage.join(format!("{number}.content"))
    }

    /// Writes the list: from now on the moves happen, whatever becomes of the program.
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

    /// Moves the files, those that were not moved yet. `go_on` is asked before each.
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

    /// The reference writes into the file that is there. We put another one in its place where nobody can tell the
    /// difference, so that readers see the old or the new content and nothing between.
    fn move_one(&self, aside: &Path, place: &Path, number: usize) -> Result<(), String> {
        let open = |error: io::Error| failed("open", place, &error);
        let Ok(old) = fs::symlink_metadata(place) else {
            return match fs::rename(aside, place) {
                Ok(()) => Ok(()),
                Err(_) => self.copy_one(aside, place),
            };
        };
        // A link, a file or a device that we may write to.
        drop(OpenOptions::new().write(true).open(place).map_err(open)?);
        let is_replaced = old.is_file()
            && is_like(&old, aside, &self.backup(number))
            && fs::set_permissions(aside, old.permissions()).is_ok();
        let backup = self.backup(number);
        if is_replaced && keep_aside(place, &backup) {
            match fs::rename(aside, place) {
                Ok(()) => return Ok(()),
                // Files that are there can be written where none can be renamed.
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

    /// Takes back the moves that happened, last first, as well as it goes: there is an error on its way already.
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

    /// Reads the list of a working directory that somebody left behind, and does what it says. Gives whether everything
    /// in it is done, so that the working directory can go.
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

/// Refuses a place that a file cannot be put to, before anything is moved.
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

/// Gives a file a second name, or where links do not exist, another one.
fn keep_aside(place: &Path, backup: &Path) -> bool {
    fs::symlink_metadata(backup).is_ok() || fs::hard_link(place, backup).is_ok() || fs::rename(place, backup).is_ok()
}

/// Whether our new file can stand in for the old one: it has the same owner, and the old one has no other name but the
/// one that we gave it.
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
