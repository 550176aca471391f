//! Output to places that cannot be written to, or only in special ways.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

use super::{BIN, Scratch, finish};

#[track_caller]
fn check_error(scratch: &Scratch, args: &[&str], want: &str) {
    let (exit, stdout, stderr) = scratch.run(args);
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (1, "", format!("ytterby: Error: {want}\n").as_str()));
}

/// Two input files, `a.yml` and `b/c.yml`, and additional ones.
fn scratch(files: &[(&str, &str)]) -> Scratch {
    filled(Scratch::new(), files)
}

fn filled(scratch: Scratch, files: &[(&str, &str)]) -> Scratch {
    for (path, content) in [("in/a.yml", "a: 1\n"), ("in/b/c.yml", "c: 1\n")].iter().chain(files) {
        scratch.write(path, content);
    }
    scratch
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let scratch = scratch(&[("out/a.yml", "old")]);
    for args in [
        &["-f", "in"][..],
        &["fmt", "-f", "in"],
        &["version"],
        &["--help"],
        &["completion", "bash"],
        &["--bulk-out", "-f", "in"],
        &["--files-inspect", "-f", "in"],
        &["kubevirt", "--help"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (exit, _, stderr) = finish(scratch.command(args).stdout(full));
        assert!(
            exit != 0 && stderr.ends_with(": no space left on device\n") && stderr.lines().count() == 1,
            "{args:?} {exit} {stderr}"
        );
    }
}

#[test]
fn links_do_not_lead_out_of_the_directory() {
    let scratch = scratch(&[("out/a.yml", "old"), ("elsewhere/c.yml", "secret")]);
    let why = |to: &str| {
        let to = scratch.0.canonicalize().unwrap().join(to);
        format!(
            "Expected output file '{}' to stay inside of the output directory, but a symbolic link leads to '{}'",
            scratch.0.canonicalize().unwrap().join("out/b/c.yml").display(),
            to.display()
        )
    };
    symlink("../elsewhere", scratch.0.join("out/b")).unwrap();
    check_error(&scratch, &["-f", "in", "--output-files", "out"], &why("elsewhere"));
    fs::remove_file(scratch.0.join("out/b")).unwrap();
    fs::create_dir(scratch.0.join("out/b")).unwrap();
    symlink("../../elsewhere/c.yml", scratch.0.join("out/b/c.yml")).unwrap();
    check_error(&scratch, &["-f", "in", "--output-files", "out"], &why("elsewhere/c.yml"));
    fs::remove_file(scratch.0.join("out/b/c.yml")).unwrap();
    assert_eq!(scratch.list("out"), ["a.yml=old", "b/"]);
    assert_eq!(scratch.list("elsewhere"), ["c.yml=secret"]);
}

#[test]
fn a_file_in_place_of_a_directory_is_an_error() {
    let scratch = scratch(&[("file", "f"), ("out/b", "b"), ("dirs/a.yml/x", "x")]);
    for flag in ["--output-files", "--dangerous-emptied-output-directory"] {
        check_error(&scratch, &["-f", "in", flag, "file/below/it"], "mkdir file: not a directory");
    }
    check_error(&scratch, &["-f", "in", "--output-files", "file"], "mkdir file: not a directory");
    check_error(&scratch, &["-f", "in", "--output-files", "out"], "mkdir out/b: not a directory");
    check_error(&scratch, &["-f", "in", "--output-files", "dirs"], "open dirs/a.yml: is a directory");
    let same = ["dirs/", "dirs/a.yml/", "dirs/a.yml/x=x", "file=f", "in/", "in/a.yml=a: 1", "in/b/", "in/b/c.yml=c: 1"];
    assert_eq!(scratch.list(""), [&same[..], &["out/", "out/b=b"]].concat());
    // Like in ytt, the path to be emptied can be a file.
    assert_eq!(scratch.run(&["-f", "in", "--dangerous-emptied-output-directory", "file"]).0, 0);
    assert_eq!(scratch.list("file"), ["a.yml=a: 1", "b/", "b/c.yml=c: 1"]);
}

#[test]
fn writing_does_not_wait_for_a_pipe() {
    let scratch = scratch(&[("out/b/c.yml", "old")]);
    let made = Command::new("mkfifo").arg(scratch.0.join("out/a.yml")).status().unwrap();
    assert!(made.success());
    let want = "Expected output file 'out/a.yml' to be a file, but is a pipe";
    check_error(&scratch, &["-f", "in", "--output-files", "out"], want);
    fs::remove_file(scratch.0.join("out/a.yml")).unwrap();
    assert_eq!(scratch.list("out"), ["b/", "b/c.yml=old"]);
}

#[test]
fn hard_links_are_kept() {
    let scratch = scratch(&[("out/a.yml", "old")]);
    fs::hard_link(scratch.0.join("out/a.yml"), scratch.0.join("same.yml")).unwrap();
    assert_eq!(scratch.run(&["-f", "in", "--output-files", "out"]).0, 0);
    assert_eq!(fs::read_to_string(scratch.0.join("same.yml")).unwrap(), "a: 1\n");
    // They are restored if something fails.
    fs::remove_dir_all(scratch.0.join("out/b")).unwrap();
    scratch.write("out/b", "in the way");
    fs::write(scratch.0.join("same.yml"), "old").unwrap();
    check_error(&scratch, &["-f", "in", "--output-files", "out"], "mkdir out/b: not a directory");
    assert_eq!(scratch.list("out"), ["a.yml=old", "b=in the way"]);
    assert_eq!(fs::read_to_string(scratch.0.join("same.yml")).unwrap(), "old");
}

/// The program as an unprivileged user: permissions do not restrict `root`.
fn unprivileged(scratch: &Scratch, args: &[&str]) -> Command {
    let is_root = fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0);
    let mut command = scratch.command(args);
    if is_root {
        let program = scratch.0.join("ytterby");
        if !program.exists() {
            // Not by ourselves: a program cannot be executed while a file is open for writing, and
            // other tests start processes meanwhile, which inherit our open files.
            assert!(Command::new("cp").arg(BIN).arg(&program).status().unwrap().success());
        }
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(args);
        command.current_dir(&scratch.0).stdin(Stdio::null());
    }
    command
}

fn set_mode(scratch: &Scratch, path: &str, mode: u32) {
    let path = scratch.0.join(path);
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn permissions_are_respected() {
    // The build directory may be inaccessible to others.
    let scratch = filled(
        Scratch::below(&std::env::temp_dir()),
        &[("ro/a.yml", "old"), ("ro/keep.yml", "keep"), ("up/out/a.yml", "old"), ("own/a.yml", "old")],
    );
    let check = |args: &[&str], want: &str| {
        let (exit, stdout, stderr) = finish(&mut unprivileged(&scratch, args));
        assert_eq!((exit, stdout.as_str(), stderr.as_str()), (1, "", format!("ytterby: Error: {want}\n").as_str()));
    };
    for (path, mode) in
        [("ro", 0o555), ("ro/a.yml", 0o666), ("up", 0o555), ("up/out", 0o777), ("own", 0o777), ("own/a.yml", 0o444)]
    {
        set_mode(&scratch, path, mode);
    }
    let before = (scratch.list("ro"), scratch.list("up"), scratch.list("own"));
    check(&["-f", "in", "--output-files", "ro/new"], "mkdir ro/new: permission denied");
    check(&["-f", "in", "--output-files", "ro"], "mkdir ro/b: permission denied");
    check(&["-f", "in", "--output-files", "own"], "open own/a.yml: permission denied");
    check(
        &["-f", "in", "--dangerous-emptied-output-directory", "up/out"],
        "Creating a temporary directory beside 'up/out', in 'up': permission denied",
    );
    assert_eq!((scratch.list("ro"), scratch.list("up"), scratch.list("own")), before);
    // A writable file is written, even if its directory is read-only.
    let (exit, _, stderr) = finish(&mut unprivileged(&scratch, &["-f", "in/a.yml", "--output-files", "ro"]));
    assert_eq!((exit, stderr.as_str()), (0, ""));
    assert_eq!(scratch.list("ro"), ["a.yml=a: 1", "keep.yml=keep"]);

    // Old content that cannot be deleted is reported.
    scratch.write("swap/out/sub/old.yml", "old");
    for (path, mode) in [("swap", 0o777), ("swap/out", 0o777), ("swap/out/sub", 0o555)] {
        set_mode(&scratch, path, mode);
    }
    let args = ["-f", "in", "--dangerous-emptied-output-directory", "swap/out"];
    let (exit, stdout, stderr) = finish(&mut unprivileged(&scratch, &args));
    assert_eq!((exit, stdout.as_str()), (1, ""));
    let place = stderr.split('\'').nth(3).unwrap_or_default();
    let why = format!("Deleting the old content of 'swap/out', which is now in '{place}': permission denied");
    assert_eq!(stderr, format!("ytterby: Error: {why}\n"));
    assert_eq!(scratch.list(place), ["sub/", "sub/old.yml=old"]);
    set_mode(&scratch, &format!("{place}/sub"), 0o755);

    set_mode(&scratch, "in/a.yml", 0o000);
    check(&["-f", "in"], "open in/a.yml: permission denied");
    set_mode(&scratch, "in/b", 0o000);
    check(&["-f", "in"], "Listing files 'in': open in/b: permission denied");
    check(&["-f", "in/b/c.yml"], "Checking file 'in/b/c.yml': lstat in/b/c.yml: permission denied");
    for path in ["ro", "up", "in/b"] {
        set_mode(&scratch, path, 0o755);
    }
}
