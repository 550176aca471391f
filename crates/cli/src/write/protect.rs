//! Directories that `--dangerous-emptied-output-directory` refuses to empty.
//!
//! Besides the current and the home directory: directories directly below the root, mount points,
//! and those that contain a repository or are part of its metadata. The first two are common in
//! containers (`/out`), so they are allowed if they contain only files of an earlier run; to know
//! this, a list of the files ([`MANIFEST`]) is written with them.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ytterby::OutputFile;

/// The list of files, written into directories that are not emptied without it.
pub(super) const MANIFEST: &str = ".ytterby-manifest";

/// The first line of the list.
const HEADER: &str = "ytterby-manifest 1";

/// Where version control keeps its data.
const REPOSITORIES: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Maximum number of foreign files named in a message.
const NAMED: usize = 3;

/// How a directory may be emptied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DirectoryKind {
    /// Without restrictions.
    Usual,
    /// Only files on the list may exist.
    Listed,
    /// Only files on the list may exist, and the directory itself cannot be renamed.
    Mounted,
}

/// Whether a directory may be emptied, and how.
pub(super) fn check(directory: &str) -> Result<DirectoryKind, String> {
    let Ok(real) = fs::canonicalize(directory) else {
        // It is about to be created: not below the data of a repository.
        let above = Path::new(directory).ancestors().find_map(|above| fs::canonicalize(above).ok());
        above.map_or(Ok(()), |above| refuse_repository_data(directory, &above))?;
        return Ok(DirectoryKind::Usual);
    };
    refuse_vital(directory, &real)?;
    if !real.is_dir() {
        return Ok(DirectoryKind::Usual);
    }
    refuse_repository_data(directory, &real)?;
    let is_mount = is_mount_point(&real);
    let is_top = real.parent().is_some_and(|parent| parent.parent().is_none());
    let (place, what) = match (is_mount, is_top) {
        (true, _) => (DirectoryKind::Mounted, "a mount point"),
        (false, true) => (DirectoryKind::Listed, "directly below the root directory"),
        (false, false) => (DirectoryKind::Usual, ""),
    };
    if place != DirectoryKind::Usual {
        refuse_others(directory, &real, what)?;
    }
    match find_repository(&real) {
        None => Ok(place),
        Some(found) => Err(format!(
            "Expected output directory '{directory}' to not contain a repository ('{}' would be deleted)",
            found.display()
        )),
    }
}

fn refuse_repository_data(directory: &str, real: &Path) -> Result<(), String> {
    match real.iter().find_map(repository_name) {
        None => Ok(()),
        Some(name) => {
            Err(format!("Expected output directory '{directory}' to not be part of the data of a repository ({name})"))
        }
    }
}

/// Fails if the directory contains files that no earlier run wrote.
fn refuse_others(directory: &str, real: &Path, what: &str) -> Result<(), String> {
    let others = not_listed(real);
    if others.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = others.iter().take(NAMED).map(|path| format!("'{}'", path.display())).collect();
    let more = if others.len() > NAMED { " and more" } else { "" };
    Err(format!(
        "Expected output directory '{directory}' to contain only files of an earlier run, because it is {what}; \
         no earlier run wrote {}{more}",
        named.join(", ")
    ))
}

/// Refuses to empty the current directory, the home directory and their parents (`..`), which the
/// reference would delete without asking.
fn refuse_vital(directory: &str, real: &Path) -> Result<(), String> {
    let here = std::env::current_dir().ok();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    for (vital, name) in [(here, "current"), (home, "home")] {
        let holds = vital.and_then(|vital| fs::canonicalize(vital).ok()).is_some_and(|vital| vital.starts_with(real));
        if holds {
            return Err(format!("Expected output directory '{directory}' to not contain the {name} directory"));
        }
    }
    Ok(())
}

fn repository_name(name: &std::ffi::OsStr) -> Option<&'static str> {
    REPOSITORIES.into_iter().find(|repository| name == *repository)
}

/// The metadata of a repository somewhere below a directory.
fn find_repository(directory: &Path) -> Option<PathBuf> {
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        for entry in entries.flatten() {
            if repository_name(&entry.file_name()).is_some() {
                return Some(entry.path());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(entry.path());
            }
        }
    }
    None
}

#[cfg(unix)]
fn is_mount_point(real: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| fs::symlink_metadata(path).ok().map(|data| data.dev());
    let differs = real.parent().is_some_and(|parent| device(parent) != device(real));
    differs || is_in_mount_table(real)
}

/// A bind mount is on the same file system as its parent, so look into the table of mounts.
#[cfg(unix)]
fn is_in_mount_table(real: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let Some(path) = real.to_str() else { return false };
    let escaped = path.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011").replace('\n', "\\012");
    table.lines().any(|line| line.split(' ').nth(4) == Some(&*escaped))
}

#[cfg(not(unix))]
fn is_mount_point(_: &Path) -> bool {
    false
}

/// The first files in a directory that its list does not contain, or whose content has changed.
fn not_listed(directory: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(directory.join(MANIFEST)).unwrap_or_default();
    let mut lines = text.lines();
    let has_list = lines.next() == Some(HEADER);
    let listed: HashMap<&str, &str> = match has_list {
        true => lines.filter_map(|line| line.split_once(' ')).map(|(hash, path)| (path, hash)).collect(),
        false => HashMap::new(),
    };
    let is_own = |name: &str, path: &Path| {
        let hash = listed.get(&*name.escape_debug().to_string());
        hash.is_some_and(|hash| fs::read(path).is_ok_and(|bytes| checksum(&bytes) == *hash))
    };
    let mut others = Vec::new();
    let mut pending = vec![(directory.to_owned(), String::new())];
    while let Some((at, name)) = pending.pop() {
        let Ok(entries) = fs::read_dir(&at) else {
            others.push(at);
            continue;
        };
        for entry in entries.flatten() {
            if others.len() > NAMED {
                break;
            }
            let below = format!("{name}{}", entry.file_name().to_string_lossy());
            // New file systems contain `lost+found`.
            let is_ours = below == MANIFEST && has_list || below == "lost+found";
            if is_ours || name.is_empty() && below.starts_with(super::stage::PREFIX) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push((entry.path(), format!("{below}/"))),
                Ok(kind) if kind.is_file() && is_own(&below, &entry.path()) => {}
                _ => others.push(entry.path()),
            }
        }
    }
    others.sort();
    others
}

/// The list of files of a run.
pub(super) fn manifest(files: &[(String, &OutputFile)]) -> String {
    let line = |(path, file): &(String, &OutputFile)| format!("{} {}\n", checksum(&file.bytes), path.escape_debug());
    format!("{HEADER}\n") + &files.iter().map(line).collect::<String>()
}

/// FNV-1a: detects changes, not attacks.
fn checksum(bytes: &[u8]) -> String {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, add))
}

/// Deletes the content of a directory, except our own working directories, until `go_on` fails.
pub(super) fn empty(directory: &Path, go_on: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let is_stage = entry.file_name().to_string_lossy().starts_with(super::stage::PREFIX);
        if !is_stage && entry.file_name() != "lost+found" {
            remove(&entry.path(), go_on)?;
        }
    }
    Ok(())
}

/// Deletes a file or a directory recursively, until `go_on` fails. Links are deleted, not followed.
pub(super) fn remove(path: &Path, go_on: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    go_on()?;
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    for entry in fs::read_dir(path)? {
        remove(&entry?.path(), go_on)?;
    }
    fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Scratch;
    use super::*;

    #[test]
    fn vital_directories_are_not_emptied() {
        // Only the check is called, so nothing is deleted.
        for directory in ["..", "../", "../..", "./.", "/", "."] {
            assert!(check(directory).is_err(), "{directory}");
        }
        let here = std::env::current_dir().expect("there is one");
        assert!(check(here.to_str().expect("it is UTF-8")).is_err());
        assert!(check(here.parent().and_then(Path::to_str).expect("it is UTF-8")).is_err());
        assert_eq!(check("src"), Ok(DirectoryKind::Usual));
        assert_eq!(check("no-such-directory"), Ok(DirectoryKind::Usual));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn directories_of_the_system_are_not_emptied() {
        for (directory, what) in
            [("/etc", "directly below the root"), ("/usr", "to contain only"), ("/proc", "a mount point")]
        {
            let why = check(directory).expect_err(directory);
            assert!(why.contains(what) || why.contains("to not hold"), "{why}");
        }
    }

    #[test]
    fn repositories_are_not_emptied() {
        let scratch = Scratch::with(&[("a/.git/HEAD", ""), ("b/c/d/.hg/x", ""), ("e/.jj/x", ""), ("f/x.yml", "")]);
        for (directory, name) in [
            ("a", ".git"),
            ("b", ".hg"),
            ("e", ".jj"),
            ("a/.git", "data of a repository"),
            ("a/.git/new/x", "data of a repository"),
        ] {
            let why = check(&scratch.path(directory)).expect_err(directory);
            assert!(why.contains(name), "{why}");
        }
        assert!(check(&scratch.path("b/c/d/.hg")).is_err());
        assert_eq!(check(&scratch.path("f")), Ok(DirectoryKind::Usual));
    }

    #[test]
    fn the_manifest_distinguishes_own_files() {
        let scratch = Scratch::with(&[("a.yml", "a"), ("d/b.yml", "b")]);
        let own = |path: &str, text: &str| (path.to_owned(), OutputFile::new(path, text));
        let files = [own("a.yml", "a"), own("d/b.yml", "b")];
        let listed: Vec<(String, &OutputFile)> = files.iter().map(|(path, file)| (path.clone(), file)).collect();
        assert_eq!(not_listed(&scratch.0).len(), 2);
        fs::write(scratch.0.join(MANIFEST), manifest(&listed)).expect("it can be written");
        assert!(not_listed(&scratch.0).is_empty());
        fs::write(scratch.0.join("d/b.yml"), "changed").expect("it can be written");
        fs::write(scratch.0.join("c.yml"), "c").expect("it can be written");
        assert_eq!(not_listed(&scratch.0), [scratch.0.join("c.yml"), scratch.0.join("d/b.yml")]);
    }

    #[test]
    fn deleting_can_be_interrupted() {
        let scratch = Scratch::with(&[("d/a", ""), ("d/b", ""), ("d/c", "")]);
        let left = std::cell::Cell::new(3);
        let go_on = || {
            left.set(left.get() - 1);
            if left.get() == 0 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
        };
        assert!(remove(&scratch.0.join("d"), &go_on).is_err());
        assert_eq!(fs::read_dir(scratch.0.join("d")).expect("it is there").count(), 2);
        assert!(remove(&scratch.0.join("d"), &|| Ok(())).is_ok());
    }
}
