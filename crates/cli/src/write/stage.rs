//! Files that are not yet where they belong.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use super::interrupt::Watch;
use super::journal::Journal;
use super::{failed, protect};

/// How the names of working directories begin.
pub(super) const PREFIX: &str = ".ytterby-";

/// Whoever works in a working directory keeps this file locked; the lock ends with the program.
const LOCK: &str = "lock";

/// What the directory is called that the content of a working directory is to replace.
const TARGET: &str = "target";

/// A working directory without a lock may be so young that its owner has not got to locking it.
const YOUNG: Duration = Duration::from_secs(60);

/// A directory of our own. It is gone when this is dropped.
pub(super) struct Stage {
    path: PathBuf,
    watch: Rc<Watch>,
    lock: Option<File>,
    /// Whether it stays although we end.
    is_left: Cell<bool>,
}

impl Stage {
    /// A new one in `parent`, so that moving is renaming.
    pub(super) fn new(parent: &Path, watch: &Rc<Watch>) -> io::Result<Stage> {
        for attempt in 0..100 {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match make_directory(&path) {
                Ok(()) => {
                    let lock = File::create(path.join(LOCK)).ok().filter(is_locked);
                    return Ok(Stage { path, watch: Rc::clone(watch), lock, is_left: Cell::new(false) });
                }
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
            // Where the program dies between the two renames, the next run finds the old one by this.
            let name = target.file_name().unwrap_or_default();
            write_file(&self.path.join(TARGET), name.as_encoded_bytes())?;
            fs::rename(target, &old).map_err(|error| failed("rename", target, &error))?;
            fs::rename(new, target).map_err(|error| {
                let _ = fs::rename(&old, target);
                failed("rename", target, &error)
            })?;
        }
        let removed = protect::remove(&old, &|| self.watch.go_on());
        removed.map_err(|error| {
            // What is left is not needed any more; the next run deletes it.
            self.is_left.set(error.kind() == io::ErrorKind::Interrupted);
            let why = super::io_text(&error);
            format!("Deleting the old content of '{}', which is now in '{}': {why}", target.display(), old.display())
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.is_left.get() {
            let _ = fs::remove_dir_all(&self.path);
        }
        drop(self.lock.take());
    }
}

/// Files on their way into an existing directory. What was replaced comes back unless [`Moves::finish`] is reached.
pub(super) struct Moves {
    journal: Journal,
    is_committed: bool,
    // On drop, fields go in this order: the stage goes, and then the directories that it was in can.
    stage: Stage,
    made: NewDirectories,
    // Until the last of them.
    _watch: Rc<Watch>,
}

impl Moves {
    pub(super) fn new(target: &Path, watch: &Rc<Watch>) -> Result<Moves, String> {
        let made = NewDirectories::make(target)?;
        recover(target, target)?;
        // Files that are there can be written where none can be added.
        let stage = Stage::new(target, watch).or_else(|_| Stage::new(&std::env::temp_dir(), watch));
        let stage = stage.map_err(|error| failed("mkdir", target, &error))?;
        let journal = Journal::new(&stage.path, target);
        Ok(Moves { journal, is_committed: false, stage, made, _watch: Rc::clone(watch) })
    }

    /// Writes a file aside, which belongs to `place` below the target.
    pub(super) fn add(&mut self, place: &str, bytes: &[u8]) -> Result<(), String> {
        self.stage.write(&self.journal.next(), bytes)?;
        self.journal.add(place);
        Ok(())
    }

    /// As [`Moves::add`], and waits until the disk has the file.
    pub(super) fn add_synced(&mut self, place: &str, bytes: &[u8]) -> Result<(), String> {
        let aside = self.journal.next();
        self.add(place, bytes)?;
        let synced = File::open(&aside).and_then(|file| file.sync_all());
        synced.map_err(|error| failed("sync", &aside, &error))
    }

    /// Moves all files into place. `prepare` is called when that is certain to happen.
    pub(super) fn finish(mut self, prepare: impl FnOnce(&Watch) -> Result<(), String>) -> Result<(), String> {
        let watch = Rc::clone(&self.stage.watch);
        watch.check()?;
        self.journal.commit()?;
        self.is_committed = true;
        prepare(&watch)?;
        self.journal.finish(&|| watch.check())?;
        self.is_committed = false;
        self.made.keep();
        Ok(())
    }
}

#[cfg(test)]
impl Moves {
    /// Does so many steps and then nothing more, not even at the end: as if the program were killed. The first step is
    /// the list, each other one moves a file.
    pub(super) fn die_after(mut self, steps: usize) {
        let left = Cell::new(steps);
        let go_on = || match left.get() {
            0 => Err("dead".to_owned()),
            more => {
                left.set(more - 1);
                Ok(())
            }
        };
        if go_on().is_ok() {
            self.journal.commit().unwrap();
            let _ = self.journal.finish(&go_on);
        }
        // The lock ends with the program.
        drop(self.stage.lock.take());
        std::mem::forget(self);
    }
}

impl Drop for Moves {
    fn drop(&mut self) {
        if self.is_committed {
            self.journal.take_back();
        }
    }
}

/// Finishes or takes back what runs began that died: their working directories are in `place`. Those of runs that are
/// still at it are left alone.
pub(super) fn recover(place: &Path, target: &Path) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(place) else { return Ok(()) };
    for entry in entries.flatten() {
        let path = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) || !is_own_directory(&path) {
            continue;
        }
        let _lock = match File::open(path.join(LOCK)) {
            Ok(lock) if is_locked(&lock) => Some(lock),
            Ok(_) => continue,
            Err(_) if is_young(&path) => continue,
            Err(_) => None,
        };
        if place == target {
            Journal::recover(&path, target)
                .map_err(|why| format!("Finishing what an interrupted run began in '{}': {why}", path.display()))?;
        } else {
            restore_old(&path, place);
        }
        let _ = fs::remove_dir_all(&path);
    }
    Ok(())
}

/// Puts a directory back whose new content never came.
fn restore_old(stage: &Path, parent: &Path) {
    let Ok(name) = fs::read_to_string(stage.join(TARGET)) else { return };
    let target = parent.join(name);
    if fs::symlink_metadata(&target).is_err() {
        let _ = fs::rename(stage.join("old"), target);
    }
}

/// Whether a directory is one that we could have made: nobody else may have written its list.
#[cfg(unix)]
fn is_own_directory(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(data) = fs::symlink_metadata(path) else { return false };
    data.is_dir() && data.mode() & 0o077 == 0 && data.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.is_dir())
}

/// Locks a file, unless another program has it.
#[cfg(unix)]
fn is_locked(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Without locks, only time tells whether somebody is still at work.
#[cfg(not(unix))]
fn is_locked(file: &File) -> bool {
    let modified = file.metadata().and_then(|data| data.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > YOUNG))
}

fn is_young(path: &Path) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|data| data.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age < YOUNG))
}

/// New directories, which are removed when this is dropped.
#[derive(Default)]
pub(super) struct NewDirectories(Vec<PathBuf>);

impl NewDirectories {
    /// Makes a directory and those above it, and knows which ones are new.
    pub(super) fn make(path: &Path) -> Result<NewDirectories, String> {
        Ok(NewDirectories(make_directories(path)?))
    }

    /// They are there to stay.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for NewDirectories {
    fn drop(&mut self) {
        for path in self.0.drain(..).rev() {
            let _ = fs::remove_dir(path);
        }
    }
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
                drop(NewDirectories(made));
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
pub(super) fn copy(aside: &Path, place: &Path) -> Result<(), String> {
    let bytes = fs::read(aside).map_err(|error| failed("open", aside, &error))?;
    write_file(place, &bytes)
}

pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_takes_everything_back() {
        let target = std::env::temp_dir().join(format!("ytterby-interrupt-{}", std::process::id()));
        let mut moves = Moves::new(&target, &Watch::alone()).unwrap();
        moves.add("d/a.yml", b"a").unwrap();
        moves.stage.watch.interrupt();
        assert_eq!(moves.add("b.yml", b"b").unwrap_err(), "Interrupted; nothing was changed");
        assert!(target.exists());
        assert!(moves.finish(|_| Ok(())).is_err());
        assert!(!target.exists());
    }
}
