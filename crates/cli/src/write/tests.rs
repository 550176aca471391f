//! Directories of our own, written and broken on purpose.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A new directory below the system's temporary one, deleted at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ytterby-write-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    fn with(files: &[(&str, &str)]) -> Scratch {
        let scratch = Scratch::new();
        for (path, content) in files {
            let path = scratch.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        scratch
    }

    fn path(&self, below: &str) -> String {
        self.0.join(below).to_str().unwrap().to_owned()
    }

    /// Everything in it: `a.yml=content`, directories as `d/`.
    fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut pending = vec![self.0.clone()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                let path = entry.path();
                let name = path.strip_prefix(&self.0).unwrap().display().to_string();
                if entry.file_type().unwrap().is_dir() {
                    found.push(format!("{name}/"));
                    pending.push(path);
                } else {
                    found.push(format!("{name}={}", fs::read_to_string(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn files(files: &[(&str, &str)]) -> Vec<OutputFile> {
    let file =
        |(path, content): &(&str, &str)| OutputFile { path: path.to_string(), bytes: content.as_bytes().to_vec() };
    files.iter().map(file).collect()
}

#[test]
fn output_paths_stay_inside() {
    assert_eq!(relative("a/../b.yml").unwrap(), "b.yml");
    assert_eq!(relative("/etc/b.yml").unwrap(), "etc/b.yml");
    assert!(relative("../b.yml").is_err());
    assert!(relative("a/../..").is_err());
    assert!(relative("").is_err());
}

#[test]
fn vital_directories_are_not_emptied() {
    // Only the check is called, so nothing can happen to them.
    for directory in ["..", "../", "../..", "./.", "/", ".", ""] {
        assert!(SUSPICIOUS.contains(&directory) || refuse_vital(directory).is_err(), "{directory}");
    }
    let here = std::env::current_dir().unwrap();
    assert!(refuse_vital(here.to_str().unwrap()).is_err());
    assert!(refuse_vital(here.parent().unwrap().to_str().unwrap()).is_err());
    assert!(refuse_vital("src").is_ok());
    assert!(refuse_vital("no-such-directory").is_ok());
}

#[test]
fn replaces_a_directory() {
    let scratch = Scratch::with(&[("out/old.yml", "old"), ("out/d/old.yml", "old")]);
    replace_directory(&scratch.path("out"), &files(&[("a.yml", "a"), ("e/b.yml", "b")])).unwrap();
    assert_eq!(scratch.list(), ["out/", "out/a.yml=a", "out/e/", "out/e/b.yml=b"]);
    replace_directory(&scratch.path("new/deep"), &files(&[("a.yml", "a")])).unwrap();
    assert!(scratch.list().contains(&"new/deep/a.yml=a".to_owned()));
    replace_directory(&scratch.path("out"), &[]).unwrap();
    assert!(scratch.list().contains(&"out/".to_owned()));
}

#[test]
fn a_directory_that_cannot_be_replaced_stays() {
    let scratch = Scratch::with(&[("out/old.yml", "old")]);
    let out = scratch.path("out");
    let check = |new: &[(&str, &str)], want: &str| {
        let error = replace_directory(&out, &files(new)).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
        assert_eq!(scratch.list(), ["out/", "out/old.yml=old"]);
    };
    check(&[("a.yml", "a"), ("a.yml", "b")], "Multiple files have same output destination paths: a.yml");
    check(&[("a.yml", "a"), ("a.yml/b.yml", "b")], "not a directory");
    check(&[("a.yml", "a"), ("../b.yml", "b")], "to stay inside");
}

#[test]
fn adds_files() {
    let scratch = Scratch::with(&[("out/a.yml", "old"), ("out/keep.yml", "keep")]);
    add_files(&scratch.path("out"), &files(&[("a.yml", "a"), ("d/b.yml", "b"), ("d/b.yml", "last")])).unwrap();
    assert_eq!(scratch.list(), ["out/", "out/a.yml=a", "out/d/", "out/d/b.yml=last", "out/keep.yml=keep"]);
}

#[test]
fn adding_half_of_the_files_adds_none() {
    let scratch = Scratch::with(&[("out/a.yml", "old"), ("out/d/x.yml", "x")]);
    let error = add_files(&scratch.path("out"), &files(&[("new/a.yml", "a"), ("a.yml", "a"), ("d", "d")]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("is a directory"), "{error}");
    assert_eq!(scratch.list(), ["out/", "out/a.yml=old", "out/d/", "out/d/x.yml=x"]);
    let error = add_files(&scratch.path("out/a.yml"), &files(&[("a.yml", "a")])).unwrap_err().to_string();
    assert!(error.ends_with("a.yml: not a directory"), "{error}");
    assert!(add_files(&scratch.path("none/deep"), &files(&[("a.yml", "a"), ("a.yml/b", "b")])).is_err());
    assert_eq!(scratch.list(), ["out/", "out/a.yml=old", "out/d/", "out/d/x.yml=x"]);
}

#[test]
#[cfg(unix)]
fn files_keep_their_mode_and_links_are_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::with(&[("out/a.yml", "old"), ("real.yml", "old")]);
    let mode = |path: &str| fs::metadata(scratch.path(path)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(scratch.path("out/a.yml"), fs::Permissions::from_mode(0o604)).unwrap();
    symlink("../real.yml", scratch.path("out/l.yml")).unwrap();
    add_files(&scratch.path("out"), &files(&[("a.yml", "a"), ("l.yml", "l"), ("n.yml", "n")])).unwrap();
    assert_eq!(scratch.list(), ["out/", "out/a.yml=a", "out/l.yml=l", "out/n.yml=n", "real.yml=l"]);
    assert_eq!((mode("out/a.yml"), mode("out/n.yml")), (0o604, 0o700));
}
