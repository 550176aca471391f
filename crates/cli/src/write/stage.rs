//! Working directories: files are complete here before they are moved into place.
//!
//! `Stage` replaces a whole directory. `Moves` replaces some files of one, and puts the old ones
//! back unless all steps succeed. A locked file tells other runs that the owner is alive. `recover`
//! finishes or undoes what a killed run left.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use super::interrupt::Watch;
use super::journal::Journal;
use super::{failed, protect};

/// The prefix of working directories.
pub(super) const PREFIX: &str = ".ytterby-";

/// A lock file. The lock is released when the program ends, in whatever way.
const LOCK: &str = "lock";

/// Contains the name of the directory that the new content replaces.
const TARGET: &str = "target";

/// The owner of a younger working directory may not have locked it yet.
const YOUNG: Duration = Duration::from_secs(60);

/// A working directory, deleted on drop.
pub(super) struct Stage {
    path: PathBuf,
    watch: Rc<Watch>,
    lock: Option<File>,
    /// Whether to keep it on drop.
    is_left: Cell<bool>,
}

impl Stage {
    /// Creates one in `parent`, on the same file system, so that files can be renamed.
    pub(super) fn new(parent: &Path, watch: &Rc<Watch>) -> io::Result<Stage> {
        for attempt in 0..100 {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match make_directory(&path) {
                Ok(()) => {
                    let lock = File::create(path.join(LOCK)).ok().filter(try_lock);
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

    /// Replaces `target`, whatever that is or was, with `new`.
    pub(super) fn swap(&self, new: &Path, target: &Path) -> Result<(), String> {
        self.watch.check()?;
        if fs::symlink_metadata(target).is_err() {
            return fs::rename(new, target).map_err(|error| failed("rename", target, &error));
        }
        let mut old = new.to_owned();
        if exchange(new, target).is_err() {
            old = self.path.join("old");
            // If the program dies between the two renames, the next run finds the old directory by
            // this.
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
            // The remaining old files are not needed; the next run deletes them.
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

/// Files to be moved into an existing directory. Replaced files are restored unless
/// [`Moves::finish`] succeeds.
pub(super) struct Moves {
    journal: Journal,
    is_committed: bool,
    // Fields are dropped in this order: the stage before the directories that contain it.
    stage: Stage,
    made: NewDirectories,
    // Dropped last.
    _watch: Rc<Watch>,
}

impl Moves {
    pub(super) fn new(target: &Path, watch: &Rc<Watch>, recovered: &mut Recovered) -> Result<Moves, String> {
        let made = NewDirectories::make(target)?;
        recovered.files_of(target)?;
        // In a read-only directory, existing files can be written although none can be added.
        let stage = Stage::new(target, watch).or_else(|_| Stage::new(&std::env::temp_dir(), watch));
        let stage = stage.map_err(|error| failed("mkdir", target, &error))?;
        let journal = Journal::new(&stage.path, target);
        Ok(Moves { journal, is_committed: false, stage, made, _watch: Rc::clone(watch) })
    }

    /// Writes a file to the working directory, to be moved to `place` below the target.
    pub(super) fn add(&mut self, place: &str, bytes: &[u8]) -> Result<(), String> {
        self.stage.write(&self.journal.next(), bytes)?;
        self.journal.add(place);
        Ok(())
    }

    /// Like [`Moves::add`], but waits until the file is on disk.
    pub(super) fn add_synced(&mut self, place: &str, bytes: &[u8]) -> Result<(), String> {
        let aside = self.journal.next();
        self.add(place, bytes)?;
        let synced = File::open(&aside).and_then(|file| file.sync_all());
        synced.map_err(|error| failed("sync", &aside, &error))
    }

    /// Moves all files into place. `prepare` is called once nothing can prevent that.
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
    /// Performs this many steps and leaves everything as if the program were killed. The first step
    /// writes the list, each other one moves a file.
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
        // The lock is released when the program ends.
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

/// The directories that were searched for the work of crashed runs. A command searches each once:
/// with thousands of outputs in one directory, listing it for each would take quadratic time.
#[derive(Default)]
pub struct Recovered {
    parents: HashSet<PathBuf>,
    targets: HashSet<PathBuf>,
}

impl Recovered {
    /// Undoes replacements of directories in `parent`.
    pub(super) fn directories_in(&mut self, parent: &Path, target: &Path) -> Result<(), String> {
        if self.parents.contains(parent) {
            return Ok(());
        }
        recover(parent, target)?;
        self.parents.insert(parent.to_owned());
        Ok(())
    }

    /// Finishes or undoes replacements of files of `target`.
    pub(super) fn files_of(&mut self, target: &Path) -> Result<(), String> {
        if self.targets.contains(target) {
            return Ok(());
        }
        recover(target, target)?;
        self.targets.insert(target.to_owned());
        Ok(())
    }
}

/// Finishes or undoes the work of crashed runs, whose working directories are in `place`. Those of
/// running programs are left alone.
fn recover(place: &Path, target: &Path) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(place) else { return Ok(()) };
    for entry in entries.flatten() {
        let path = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) || !is_own_directory(&path) {
            continue;
        }
        let _lock = match File::open(path.join(LOCK)) {
            Ok(lock) if try_lock(&lock) => Some(lock),
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

/// Restores a directory whose new content never arrived.
fn restore_old(stage: &Path, parent: &Path) {
    let Ok(name) = fs::read_to_string(stage.join(TARGET)) else { return };
    let target = parent.join(name);
    if fs::symlink_metadata(&target).is_err() {
        let _ = fs::rename(stage.join("old"), target);
    }
}

/// Whether we own a directory, so that nobody else can have written its list.
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

/// Locks a file; returns false if another program has locked it.
#[cfg(unix)]
fn try_lock(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Without locks, only the age shows whether another program still uses it.
#[cfg(not(unix))]
fn try_lock(file: &File) -> bool {
    let modified = file.metadata().and_then(|data| data.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > YOUNG))
}

fn is_young(path: &Path) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|data| data.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age < YOUNG))
}

/// New directories, removed on drop.
#[derive(Default)]
pub(super) struct NewDirectories(Vec<PathBuf>);

impl NewDirectories {
    /// Creates a directory and its parents, and remembers which ones are new.
    pub(super) fn make(path: &Path) -> Result<NewDirectories, String> {
        Ok(NewDirectories(make_directories(path)?))
    }

    /// Keeps the directories on drop.
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

/// Creates a directory and its parents; returns the new ones, outermost first.
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

/// Copies a file from the working directory over one that may exist.
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

/// Swaps two directory entries atomically, if the system supports it.
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
    fn an_interrupt_undoes_everything() {
        let target = std::env::temp_dir().join(format!("ytterby-interrupt-{}", std::process::id()));
        let mut moves = Moves::new(&target, &Watch::alone(), &mut Recovered::default()).unwrap();
        moves.add("d/a.yml", b"a").unwrap();
        moves.stage.watch.interrupt();
        assert_eq!(moves.add("b.yml", b"b").unwrap_err(), "Interrupted; nothing was changed");
        assert!(target.exists());
        assert!(moves.finish(|_| Ok(())).is_err());
        assert!(!target.exists());
    }
}
