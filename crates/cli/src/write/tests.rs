//! Tests that write to temporary directories and break them on purpose.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A new directory below the system's temporary one, deleted at the end.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ytterby-write-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    pub(super) fn with(files: &[(&str, &str)]) -> Scratch {
        let scratch = Scratch::new();
        for (path, content) in files {
            let path = scratch.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        scratch
    }

    pub(super) fn path(&self, below: &str) -> String {
        self.0.join(below).to_str().unwrap().to_owned()
    }

    /// All entries: `a.yml=content`, directories as `d/`.
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
    let file = |(path, content): &(&str, &str)| OutputFile::new(*path, *content);
    files.iter().map(file).collect()
}

#[test]
fn replaces_a_directory() {
    let scratch = Scratch::with(&[("out/old.yml", "old"), ("out/d/old.yml", "old")]);
    replace_directory(&scratch.path("out"), &files(&[("a.yml", "a"), ("e/b.yml", "b")]), &mut Recovered::default())
        .unwrap();
    assert_eq!(scratch.list(), ["out/", "out/a.yml=a", "out/e/", "out/e/b.yml=b"]);
    replace_directory(&scratch.path("new/deep"), &files(&[("a.yml", "a")]), &mut Recovered::default()).unwrap();
    assert!(scratch.list().contains(&"new/deep/a.yml=a".to_owned()));
    replace_directory(&scratch.path("out"), &[], &mut Recovered::default()).unwrap();
    assert!(scratch.list().contains(&"out/".to_owned()));
}

#[test]
fn a_directory_that_cannot_be_replaced_stays() {
    let scratch = Scratch::with(&[("out/old.yml", "old")]);
    let out = scratch.path("out");
    let check = |new: &[(&str, &str)], want: &str| {
        let error = replace_directory(&out, &files(new), &mut Recovered::default()).unwrap_err().to_string();
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
fn a_failed_addition_leaves_no_files() {
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
fn files_keep_their_mode() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::with(&[("out/a.yml", "old")]);
    let mode = |path: &str| fs::metadata(scratch.path(path)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(scratch.path("out/a.yml"), fs::Permissions::from_mode(0o604)).unwrap();
    add_files(&scratch.path("out"), &files(&[("a.yml", "a"), ("n.yml", "n")])).unwrap();
    assert_eq!(scratch.list(), ["out/", "out/a.yml=a", "out/n.yml=n"]);
    assert_eq!((mode("out/a.yml"), mode("out/n.yml")), (0o604, 0o700));
}

#[test]
#[cfg(unix)]
fn only_links_inside_the_directory_are_followed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::with(&[("out/a.yml", "old"), ("real.yml", "old"), ("elsewhere/x", "")]);
    let check_refused = |path: &str| {
        let error = add_files(&scratch.path("out"), &files(&[("n.yml", "n"), (path, "new")])).unwrap_err().to_string();
        assert!(error.contains("a symbolic link leads to"), "{error}");
        assert!(!scratch.0.join("out/n.yml").exists() && !scratch.0.join("elsewhere/b.yml").exists());
        assert_eq!(fs::read_to_string(scratch.0.join("real.yml")).unwrap(), "old");
    };
    symlink("../real.yml", scratch.path("out/l.yml")).unwrap();
    check_refused("l.yml");
    symlink("../elsewhere", scratch.path("out/d")).unwrap();
    check_refused("d/b.yml");
    check_refused("d/e/b.yml");
    symlink("../nowhere.yml", scratch.path("out/n")).unwrap();
    check_refused("n");
    symlink("a.yml", scratch.path("out/inner.yml")).unwrap();
    add_files(&scratch.path("out"), &files(&[("inner.yml", "new")])).unwrap();
    assert_eq!(fs::read_to_string(scratch.0.join("out/a.yml")).unwrap(), "new");
    // The directory itself may be a link.
    symlink("out", scratch.path("link")).unwrap();
    add_files(&scratch.path("link"), &files(&[("b.yml", "b")])).unwrap();
    assert_eq!(fs::read_to_string(scratch.0.join("out/b.yml")).unwrap(), "b");
}

/// Leaves the files of a run that was killed at a given step, without destructors.
fn dies(scratch: &Scratch, steps: usize) {
    let watch = Watch::alone();
    let mut moves = Moves::new(&scratch.0.join("out"), &watch, &mut Recovered::default()).unwrap();
    for (path, text) in [("a.yml", "a"), ("d/b.yml", "b"), ("c.yml", "c")] {
        moves.add(path, text.as_bytes()).unwrap();
    }
    moves.die_after(steps);
}

#[test]
fn the_next_run_finishes_or_undoes_a_crashed_one() {
    for steps in 0..=4 {
        let scratch = Scratch::with(&[("out/a.yml", "old"), ("out/keep.yml", "keep")]);
        dies(&scratch, steps);
        assert!(scratch.list().iter().any(|path| path.starts_with("out/.ytterby-")));
        add_files(&scratch.path("out"), &files(&[("z.yml", "z")])).unwrap();
        let done =
            ["out/", "out/a.yml=a", "out/c.yml=c", "out/d/", "out/d/b.yml=b", "out/keep.yml=keep", "out/z.yml=z"];
        let undone = ["out/", "out/a.yml=old", "out/keep.yml=keep", "out/z.yml=z"];
        // Before the list of moves exists, nothing has happened.
        assert_eq!(scratch.list(), if steps == 0 { &undone[..] } else { &done[..] }, "{steps}");
    }
}

#[test]
fn a_foreign_working_directory_is_left_alone() {
    let scratch = Scratch::with(&[("out/a.yml", "old"), ("out/.ytterby-1-0/journal", "ytterby-journal 1\0f\0a.yml\0")]);
    fs::write(scratch.path("out/.ytterby-1-0/0"), "evil").unwrap();
    add_files(&scratch.path("out"), &files(&[("b.yml", "b")])).unwrap();
    assert_eq!(fs::read_to_string(scratch.path("out/a.yml")).unwrap(), "old");
}

#[test]
fn a_directory_whose_list_leads_out_is_not_followed() {
    let scratch = Scratch::with(&[("out/a.yml", "old")]);
    dies(&scratch, 1);
    let stage =
        fs::read_dir(scratch.path("out")).unwrap().flatten().find(|entry| entry.path().is_dir()).unwrap().path();
    fs::write(stage.join("journal"), "ytterby-journal 1\0f\0../evil.yml\0").unwrap();
    let error = add_files(&scratch.path("out"), &files(&[("b.yml", "b")])).unwrap_err().to_string();
    assert!(error.contains("delete its directory"), "{error}");
    assert!(!scratch.0.join("evil.yml").exists());
}

#[test]
fn a_draft_is_in_its_place_only_when_finished() {
    let scratch = Scratch::with(&[("map.json", "old")]);
    let path = scratch.path("map.json");
    drop(Draft::new(&path, b"new".to_vec()).unwrap());
    assert_eq!(scratch.list(), ["map.json=old"]);
    let draft = Draft::new(&path, b"new".to_vec()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    draft.finish().unwrap();
    assert_eq!(scratch.list(), ["map.json=new"]);
    Draft::new(&scratch.path("first.json"), b"1".to_vec()).unwrap().finish().unwrap();
    assert_eq!(fs::read_to_string(scratch.path("first.json")).unwrap(), "1");
    assert!(Draft::new(&scratch.path("none/map.json"), Vec::new()).is_err());
    assert!(Draft::new(&scratch.path(""), Vec::new()).is_err());
}

#[cfg(unix)]
#[test]
fn a_draft_follows_links_and_keeps_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::with(&[("d/map.json", "old")]);
    let path = scratch.path("d/map.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    symlink("d/map.json", scratch.path("link")).unwrap();
    Draft::new(&scratch.path("link"), b"new".to_vec()).unwrap().finish().unwrap();
    assert!(fs::symlink_metadata(scratch.path("link")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o604);
}

#[test]
fn a_draft_in_a_directory_that_is_replaced_meanwhile_is_written_all_the_same() {
    let scratch = Scratch::with(&[("out/a.yml", "a")]);
    let draft = Draft::new(&scratch.path("out/map.json"), b"map".to_vec()).unwrap();
    fs::rename(scratch.path("out"), scratch.path("old")).unwrap();
    fs::create_dir(scratch.path("out")).unwrap();
    draft.finish().unwrap();
    assert_eq!(fs::read_to_string(scratch.path("out/map.json")).unwrap(), "map");
}
