//! Files that are not yet where they belong.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::failed;
use super::interrupt::Watch;

/// A directory of our own. It is gone when this is dropped.
pub(super) struct Stage {
    path: PathBuf,
    watch: Rc<Watch>,
}

impl Stage {
    /// A new one in `parent`, so that moving is renaming.
    pub(super) fn new(parent: &Path, watch: &Rc<Watch>) -> io::Result<Stage> {
        for attempt in 0..100 {
            let path = parent.join(format!(".ytterby-{}-{attempt}", std::process::id()));
            match make_directory(&path) {
                Ok(()) => return Ok(Stage { path, watch: Rc::clone(watch) }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a new file.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        self.watch.check()?;
        write_file(path, bytes)
    }

    /// Puts `new` in the place of `target`, whatever that is or was, and deletes that.
    pub(super) fn swap(&self, new: &Path, target: &Path) -> Result<(), String> {
        self.watch.check()?;
        if fs::symlink_metadata(target).is_err() {
            return fs::rename(new, target).map_err(|error| failed("rename", target, &error));
        }
        let mut old = new.to_owned();
        if exchange(new, target).is_err() {
            old = self.path.join("old");
            fs::rename(target, &old).map_err(|error| failed("rename", target, &error))?;
            fs::rename(new, target).map_err(|error| {
                let _ = fs::rename(&old, target);
                failed("rename", target, &error)
            })?;
        }
        let is_directory = fs::symlink_metadata(&old).is_ok_and(|old| old.is_dir());
        let removed = if is_directory { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
        removed.map_err(|error| {
            let why = super::io_text(&error);
            format!("Deleting the old content of '{}', which is now in '{}': {why}", target.display(), old.display())
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Files on their way into an existing directory. What was replaced comes back unless [`Moves::finish`] is reached.
pub(super) struct Moves {
    planned: Vec<(PathBuf, PathBuf)>,
    // On drop, fields go in this order: the old files come back out of the stage, the stage goes, and then the
    // directories that it was in can.
    undo: UndoList,
    stage: Stage,
    made: UndoList,
    // Until the last of them.
    _watch: Rc<Watch>,
}

/// Steps to take back, last first, when this is dropped.
#[derive(Default)]
pub(super) struct UndoList(Vec<Undo>);

enum Undo {
    Remove(PathBuf),
    RemoveDirectory(PathBuf),
    Restore { from: PathBuf, to: PathBuf },
    Rewrite { path: PathBuf, bytes: Vec<u8> },
}

impl Moves {
    pub(super) fn new(target: &Path, watch: &Rc<Watch>) -> Result<Moves, String> {
        let made = UndoList::new_directories(target)?;
        // Files that are there can be written where none can be added.
        let stage = Stage::new(target, watch).or_else(|_| Stage::new(&std::env::temp_dir(), watch));
        let stage = stage.map_err(|error| failed("mkdir", target, &error))?;
        Ok(Moves { planned: Vec::new(), undo: UndoList::default(), stage, made, _watch: Rc::clone(watch) })
    }

    /// Writes a file aside.
    pub(super) fn add(&mut self, place: &Path, bytes: &[u8]) -> Result<(), String> {
        let aside = self.stage.path.join(self.planned.len().to_string());
        self.stage.write(&aside, bytes)?;
        self.planned.push((aside, place.to_owned()));
        Ok(())
    }

    /// Moves all files into place.
    pub(super) fn finish(mut self) -> Result<(), String> {
        for (number, (aside, place)) in std::mem::take(&mut self.planned).into_iter().enumerate() {
            self.stage.watch.check()?;
            if let Some(parent) = place.parent() {
                self.undo.0.extend(make_directories(parent)?.into_iter().map(Undo::RemoveDirectory));
            }
            self.move_into_place(&aside, &place, number)?;
        }
        self.undo.keep();
        self.made.keep();
        Ok(())
    }

    /// The reference writes into the file that is there. We put another one in its place where nobody can tell the
    /// difference, so that readers see the old or the new content and nothing between.
    fn move_into_place(&mut self, aside: &Path, place: &Path, number: usize) -> Result<(), String> {
        let open = |error: io::Error| failed("open", place, &error);
        let Ok(old) = fs::symlink_metadata(place) else {
            if fs::rename(aside, place).is_err() {
                copy(aside, place)?;
            }
            self.undo.0.push(Undo::Remove(place.to_owned()));
            return Ok(());
        };
        if is_pipe(&old) {
            return Err(format!("Expected output file '{}' to be a file, but is a pipe", place.display()));
        }
        // A link, a file or a device that we may write to.
        drop(OpenOptions::new().write(true).open(place).map_err(open)?);
        if old.is_file() && is_like(&old, aside) && fs::set_permissions(aside, old.permissions()).is_ok() {
            let backup = self.stage.path.join(format!("{number}.old"));
            if fs::rename(place, &backup).is_ok() {
                self.undo.0.push(Undo::Restore { from: backup, to: place.to_owned() });
                return fs::rename(aside, place).map_err(open);
            }
        }
        if fs::metadata(place).is_ok_and(|target| target.is_file()) {
            let bytes = fs::read(place).map_err(open)?;
            self.undo.0.push(Undo::Rewrite { path: place.to_owned(), bytes });
        }
        copy(aside, place)
    }
}

impl UndoList {
    /// Makes a directory and those above it, and knows which ones are new.
    pub(super) fn new_directories(path: &Path) -> Result<UndoList, String> {
        Ok(UndoList(make_directories(path)?.into_iter().map(Undo::RemoveDirectory).collect()))
    }

    /// There is nothing to take back any more.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for UndoList {
    fn drop(&mut self) {
        std::mem::take(&mut self.0).into_iter().rev().for_each(run);
    }
}

/// As well as it goes: there is an error on its way already.
fn run(step: Undo) {
    let _ = match step {
        Undo::Remove(path) => fs::remove_file(path),
        Undo::RemoveDirectory(path) => fs::remove_dir(path),
        Undo::Restore { from, to } => fs::rename(from, to),
        Undo::Rewrite { path, bytes } => fs::write(path, bytes),
    };
}

/// Makes a directory and those above it; gives those that are new, outermost first.
pub(super) fn make_directories(path: &Path) -> Result<Vec<PathBuf>, String> {
    let mut made = Vec::new();
    let mut missing: Vec<&Path> =
        path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.is_dir()).collect();
    while let Some(path) = missing.pop() {
        match make_directory(path) {
            Ok(()) => made.push(path.to_owned()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(error) => {
                made.into_iter().rev().map(Undo::RemoveDirectory).for_each(run);
                let is_file = error.kind() == io::ErrorKind::AlreadyExists;
                return Err(if is_file {
                    format!("mkdir {}: not a directory", path.display())
                } else {
                    failed("mkdir", path, &error)
                });
            }
        }
    }
    Ok(made)
}

fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes what stands aside into a file that may be there.
fn copy(aside: &Path, place: &Path) -> Result<(), String> {
    let bytes = fs::read(aside).map_err(|error| failed("open", aside, &error))?;
    write_file(place, &bytes)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o700);
    let mut file = options.open(path).map_err(|error| failed("open", path, &error))?;
    file.write_all(bytes).map_err(|error| failed("write", path, &error))
}

/// Whether our new file can stand in for the old one: it has the same owner, and the old one has no other name.
#[cfg(unix)]
fn is_like(old: &Metadata, aside: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same_owner = |new: Metadata| (new.uid(), new.gid()) == (old.uid(), old.gid());
    old.nlink() == 1 && fs::symlink_metadata(aside).is_ok_and(same_owner)
}

#[cfg(not(unix))]
fn is_like(_: &Metadata, _: &Path) -> bool {
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

/// Swaps two directory entries in one step, where the system can.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_takes_everything_back() {
        let target = std::env::temp_dir().join(format!("ytterby-interrupt-{}", std::process::id()));
        let mut moves = Moves::new(&target, &Watch::alone()).unwrap();
        moves.add(&target.join("d/a.yml"), b"a").unwrap();
        moves.stage.watch.interrupt();
        assert_eq!(moves.add(&target.join("b.yml"), b"b").unwrap_err(), "Interrupted; nothing was changed");
        assert!(target.exists());
        assert!(moves.finish().is_err());
        assert!(!target.exists());
    }
}
