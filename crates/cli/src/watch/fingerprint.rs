//! Fingerprints of inputs: which files exist, their sizes and modification times.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The fingerprint of all files below some paths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fingerprint {
    files: BTreeMap<PathBuf, Stamp>,
}

/// Metadata of a file. Editors that write a new file and rename it change the inode number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Fingerprint {
    /// Reads the metadata of paths and everything below them, except hidden directories (absolute
    /// paths). Also returns the directories to watch for changes.
    pub fn take(paths: &BTreeSet<String>, hidden: &BTreeSet<PathBuf>) -> (Fingerprint, BTreeSet<PathBuf>) {
        let mut found = Fingerprint::default();
        let mut directories = BTreeSet::new();
        for path in paths {
            let path = Path::new(path);
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            // For a path that does not exist, watch the nearest existing parent.
            let there = parent.ancestors().find(|directory| directory.is_dir() || directory.as_os_str().is_empty());
            let there = there.filter(|there| !there.as_os_str().is_empty()).unwrap_or(Path::new("."));
            directories.insert(there.to_owned());
            let mut pending = vec![path.to_owned()];
            while let Some(path) = pending.pop() {
                let Ok(metadata) = fs::metadata(&path) else { continue };
                if !metadata.is_dir() {
                    found.files.insert(path, Stamp::of(&metadata));
                    continue;
                }
                if std::path::absolute(&path).is_ok_and(|path| hidden.contains(&path)) || is_link(&path) {
                    continue;
                }
                pending.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
                directories.insert(path);
            }
        }
        (found, directories)
    }

    /// The names of files that differ.
    pub fn changes(&self, other: &Fingerprint) -> Vec<String> {
        let differs = |path: &&PathBuf| self.files.get(*path) != other.files.get(*path);
        let all: BTreeSet<&PathBuf> = self.files.keys().chain(other.files.keys()).collect();
        all.iter().copied().filter(|path| differs(path)).map(|path| path.display().to_string()).collect()
    }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp { length: metadata.len(), modified: metadata.modified().ok(), number: number(metadata) }
    }
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u64 {
    0
}
