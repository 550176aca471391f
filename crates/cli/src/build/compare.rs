//! Compares a directory with the files that it should contain.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ytterby::OutputFile;
use ytterby_diag::unified_hunks;
use ytterby_project::{clean, join};

/// Larger files are not compared line by line.
const MAX_DIFF: usize = 4 << 20;

/// The difference between a directory and the files that it should contain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// Whether there is such a directory.
    pub exists: bool,
    /// Files that differ, by path relative to the directory.
    pub changes: BTreeMap<String, FileChange>,
    /// A unified diff; empty unless requested.
    pub diff: String,
}

/// How a file differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileChange {
    /// It would be new.
    Missing,
    /// It has another content.
    Differs,
    /// It would be deleted.
    Extra,
}

impl Comparison {
    /// Whether the directory is up to date.
    pub fn is_equal(&self) -> bool {
        self.exists && self.changes.is_empty()
    }

    /// Example: `app.yml differs, old.yml is not part of the output`.
    pub fn summary(&self) -> String {
        const MAX: usize = 5;
        let words = |(path, change): (&String, &FileChange)| match change {
            FileChange::Missing => format!("{path} is missing"),
            FileChange::Differs => format!("{path} differs"),
            FileChange::Extra => format!("{path} is not part of the output"),
        };
        let mut list: Vec<String> = self.changes.iter().take(MAX).map(words).collect();
        if self.changes.len() > MAX {
            list.push(format!("and {} more", self.changes.len() - MAX));
        }
        list.join(", ")
    }
}

/// Compares a directory with the files that it should contain.
pub fn compare(directory: &str, files: &[OutputFile], with_diff: bool) -> Comparison {
    let mut found = Comparison { exists: Path::new(directory).is_dir(), ..Comparison::default() };
    let mut wanted: BTreeMap<String, &[u8]> = BTreeMap::new();
    for file in files {
        wanted.insert(clean(file.path.trim_start_matches('/')), &file.bytes);
    }
    let mut present = BTreeMap::new();
    list(Path::new(directory), "", &mut present);
    for (path, bytes) in &wanted {
        let old = match present.get(path) {
            Some(DiskEntry::File(place)) => fs::read(place).ok(),
            Some(DiskEntry::Other) | None => None,
        };
        let change = match &old {
            Some(old) if old == bytes => continue,
            Some(_) => FileChange::Differs,
            None => FileChange::Missing,
        };
        found.changes.insert(path.clone(), change);
        if with_diff {
            found.diff.push_str(&unified(&join(directory, path), old.as_deref(), Some(bytes)));
        }
    }
    for (path, entry) in &present {
        if !wanted.contains_key(path) {
            found.changes.insert(path.clone(), FileChange::Extra);
            if let (true, DiskEntry::File(place)) = (with_diff, entry) {
                let old = fs::read(place).unwrap_or_default();
                found.diff.push_str(&unified(&join(directory, path), Some(&old), None));
            }
        }
    }
    found
}

enum DiskEntry {
    File(PathBuf),
    /// A link, a device or an empty directory: things that we never write.
    Other,
}

fn list(directory: &Path, prefix: &str, found: &mut BTreeMap<String, DiskEntry>) {
    // Each directory with the prefix of its entries' relative paths.
    let mut pending = vec![(directory.to_owned(), prefix.to_owned())];
    while let Some((directory, prefix)) = pending.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        let mut is_empty = true;
        for entry in entries.flatten() {
            is_empty = false;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push((entry.path(), format!("{path}/"))),
                Ok(kind) if kind.is_file() => drop(found.insert(path, DiskEntry::File(entry.path()))),
                _ => drop(found.insert(path, DiskEntry::Other)),
            }
        }
        if is_empty && !prefix.is_empty() {
            found.insert(prefix.trim_end_matches('/').to_owned(), DiskEntry::Other);
        }
    }
}

/// A unified diff of one file; a missing side is `/dev/null`.
pub fn unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let name = |side: Option<&[u8]>| if side.is_some() { path } else { "/dev/null" };
    let header = format!("--- {}\n+++ {}\n", name(old), name(new));
    let (before, after) = (old.unwrap_or_default(), new.unwrap_or_default());
    let texts = (std::str::from_utf8(before), std::str::from_utf8(after));
    let (Ok(before), Ok(after)) = texts else { return format!("{header}Binary files differ\n") };
    if before.len().max(after.len()) > MAX_DIFF {
        return format!("{header}Large files differ\n");
    }
    format!("{header}{}", unified_hunks(before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_headers_for_both_sides() {
        assert_eq!(
            unified("a.yml", Some(b"a: 1\n"), Some(b"a: 2\n")),
            "--- a.yml\n+++ a.yml\n@@ -1 +1 @@\n-a: 1\n+a: 2\n"
        );
        assert_eq!(unified("a.yml", None, Some(b"a: 2\n")), "--- /dev/null\n+++ a.yml\n@@ -0,0 +1 @@\n+a: 2\n");
        assert_eq!(unified("a", Some(b"\xff"), Some(b"")), "--- a\n+++ a\nBinary files differ\n");
    }
}
