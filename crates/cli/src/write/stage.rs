//! Files that are not yet where they belong.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::failed;

/// A directory of our own, beside or inside of the target so that moving is renaming. It is gone when this is dropped.
pub(super) struct Stage {
    path: PathBuf,
    interrupted: Arc<AtomicBool>,
}

impl Stage {
    pub(super) fn new(parent: &Path) -> Result<Stage, String> {
        let interrupted = watch_interrupts();
        for attempt in 0..100 {
            let path = parent.join(format!(".ytterby-{}-{attempt}", std::process::id()));
            match make_directory(&path) {
                Ok(()) => return Ok(Stage { path, interrupted }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("mkdir", &path, &error)),
            }
        }
        Err(format!("mkdir {}: no free name for a temporary directory", parent.display()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a new file.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        self.check()?;
        write_file(path, bytes)
    }

    fn check(&self) -> Result<(), String> {
        match self.interrupted.load(Ordering::Relaxed) {
            true => Err("Interrupted; nothing was changed".into()),
            false => Ok(()),
        }
    }

    /// Puts `new` in the place of `target`, whatever that is or was.
    pub(super) fn swap(&self, new: &Path, target: &Path) -> Result<(), String> {
        self.check()?;
        if fs::symlink_metadata(target).is_err() {
            return fs::rename(new, target).map_err(|error| failed("rename", target, &error));
        }
        // What was there ends up in our directory and goes with it.
        if exchange(new, target).is_ok() {
            return Ok(());
        }
        let old = self.path.join("old");
        fs::rename(target, &old).map_err(|error| failed("rename", target, &error))?;
        fs::rename(new, target).map_err(|error| {
            let _ = fs::rename(&old, target);
            failed("rename", target, &error)
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
}

/// Steps to take back, last first, when this is dropped.
#[derive(Default)]
struct UndoList(Vec<Undo>);

enum Undo {
    Remove(PathBuf),
    RemoveDirectory(PathBuf),
    Restore { from: PathBuf, to: PathBuf },
    Rewrite { path: PathBuf, bytes: Vec<u8> },
}

impl Moves {
    pub(super) fn new(target: &Path) -> Result<Moves, String> {
        let made = UndoList(make_directories(target)?.into_iter().map(Undo::RemoveDirectory).collect());
        Ok(Moves { planned: Vec::new(), undo: UndoList::default(), stage: Stage::new(target)?, made })
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
            self.stage.check()?;
            if let Some(parent) = place.parent() {
                self.undo.0.extend(make_directories(parent)?.into_iter().map(Undo::RemoveDirectory));
            }
            self.move_into_place(&aside, &place, number)?;
        }
        self.undo.0.clear();
        self.made.0.clear();
        Ok(())
    }

    fn move_into_place(&mut self, aside: &Path, place: &Path, number: usize) -> Result<(), String> {
        let open = |error: io::Error| failed("open", place, &error);
        match fs::symlink_metadata(place) {
            Err(_) => {
                fs::rename(aside, place).map_err(open)?;
                self.undo.0.push(Undo::Remove(place.to_owned()));
            }
            Ok(old) if old.is_file() => {
                // The reference writes into the file that is there, which keeps its mode.
                fs::set_permissions(aside, old.permissions()).map_err(open)?;
                let backup = self.stage.path.join(format!("{number}.old"));
                fs::rename(place, &backup).map_err(open)?;
                self.undo.0.push(Undo::Restore { from: backup, to: place.to_owned() });
                fs::rename(aside, place).map_err(open)?;
            }
            // A link or a device: like the reference, write to what it leads to.
            Ok(old) => {
                let is_readable = old.is_symlink() && fs::metadata(place).is_ok_and(|target| target.is_file());
                if is_readable {
                    let bytes = fs::read(place).map_err(open)?;
                    self.undo.0.push(Undo::Rewrite { path: place.to_owned(), bytes });
                }
                let bytes = fs::read(aside).map_err(open)?;
                write_file(place, &bytes)?;
            }
        }
        Ok(())
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

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o700);
    let mut file = options.open(path).map_err(|error| failed("open", path, &error))?;
    file.write_all(bytes).map_err(|error| failed("write", path, &error))
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

/// Turns interrupts into a flag, from now on: whoever writes files asks it and puts things back.
fn watch_interrupts() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // Without the flag an interrupt ends the program at once, which is what it did before.
        let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
    }
    interrupted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_takes_everything_back() {
        let target = std::env::temp_dir().join(format!("ytterby-interrupt-{}", std::process::id()));
        let mut moves = Moves::new(&target).unwrap();
        moves.add(&target.join("d/a.yml"), b"a").unwrap();
        moves.stage.interrupted.store(true, Ordering::Relaxed);
        assert_eq!(moves.add(&target.join("b.yml"), b"b").unwrap_err(), "Interrupted; nothing was changed");
        assert!(target.exists());
        assert!(moves.finish().is_err());
        assert!(!target.exists());
    }
}
