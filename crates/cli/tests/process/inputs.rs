//! Inputs other than plain files with plain names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use super::{BIN, Scratch, finish};

/// The result of a shell command in this directory.
fn shell(scratch: &Scratch, shell: &str, line: &str) -> (i32, String, String) {
    let mut command = Command::new(shell);
    command.args(["-c", &line.replace("ytterby", &format!("'{BIN}'"))]).current_dir(&scratch.0).stdin(Stdio::null());
    finish(&mut command)
}

fn done(text: &str) -> (i32, String, String) {
    (0, text.to_owned(), String::new())
}

#[test]
fn standard_input_is_read_in_every_form() {
    let scratch = Scratch::with(&[("a.yml", "a: 1\n")]);
    let check = |line: &str, want: &str| assert_eq!(shell(&scratch, "sh", line), done(want), "{line}");
    check("ytterby -f - <a.yml", "a: 1\n");
    check("ytterby -f- <a.yml", "a: 1\n");
    check("echo 'b: 2' | ytterby -f a.yml -f -", "a: 1\n---\nb: 2\n");
    check("ytterby --files-inspect -f - -f x/y.txt=- <a.yml", "- stdin.yml\n- x/y.txt\n");
    check("echo 'b: 2' | ytterby -f x.yml=/dev/stdin", "b: 2\n");
    let twice =
        "ytterby: Error: Standard input has already been read, has the '-' argument been used in more than one flag?\n";
    assert_eq!(shell(&scratch, "sh", "ytterby -f - -f b.yml=- <a.yml"), (1, String::new(), twice.into()));
}

#[test]
fn pipes_of_the_shell_are_read() {
    let scratch = Scratch::with(&[("v.yml", "#@data/values\n---\na: 1\n")]);
    if Command::new("bash").args(["-c", "exit"]).output().is_err() {
        // The same with a named pipe.
        let line = "mkfifo p.yml; echo 'a: 1' >p.yml & ytterby -f p.yml";
        return assert_eq!(shell(&scratch, "sh", line), done("a: 1\n"));
    }
    let check = |line: &str, want: &str| assert_eq!(shell(&scratch, "bash", line), done(want), "{line}");
    check("ytterby -f x.yml=<(echo 'a: 1') -f y.yml=<(echo 'b: 1')", "a: 1\n---\nb: 1\n");
    check("ytterby -f v.yml --data-values-file <(echo 'a: 2') --data-values-inspect", "a: 2\n");
    check("ytterby -f v.yml --data-value-file a=<(printf 3) --data-values-inspect", "a: \"3\"\n");
    check("mkfifo p.yml; echo 'a: 1' >p.yml & ytterby -f p.yml", "a: 1\n");
}

#[test]
fn sockets_and_devices_are_no_files() {
    let scratch = Scratch::with(&[("d/a.yml", "a: 1\n")]);
    let _listener = UnixListener::bind(scratch.0.join("d/s.yml")).unwrap();
    let error = |path: &str| format!("Expected file '{path}' to be a regular file, but was not\n");
    let check = |path: &str, want: String| {
        assert_eq!(scratch.run(&["-f", path]), (1, String::new(), format!("ytterby: Error: {want}")), "{path}");
    };
    check("d/s.yml", error("d/s.yml"));
    check("d", format!("Listing files 'd':\n  {}", error("d/s.yml")));
    check("/dev/zero", error("/dev/zero"));
}

/// Whether the file system supports such names.
fn not_utf8(scratch: &Scratch) -> bool {
    fs::create_dir(scratch.0.join(OsStr::from_bytes(b"d/s\xfcb"))).is_ok()
}

#[test]
fn names_that_are_not_utf8_are_supported() {
    let scratch = Scratch::with(&[("d/a.yml", "a: 1\n")]);
    if not_utf8(&scratch) {
        fs::write(scratch.0.join(OsStr::from_bytes(b"d/s\xfcb/\xe9.yml")), "e: 1\n").unwrap();
        fs::write(scratch.0.join(OsStr::from_bytes(b"d/s\xfcb/x.yml")), "x: 1\n").unwrap();
        assert_eq!(scratch.run(&["-f", "d"]), done("a: 1\n---\nx: 1\n---\ne: 1\n"));
        let listed = "- a.yml\n- s\u{fffd}b/x.yml\n- s\u{fffd}b/\u{fffd}.yml\n";
        assert_eq!(scratch.run(&["-f", "d", "--files-inspect"]), done(listed));
    }
    let mut command = scratch.command(&["--diagnostics=json"]);
    let (exit, stdout, stderr) = finish(command.arg(OsStr::from_bytes(b"-f=d/s\xfcb")));
    assert_eq!((exit, stdout.as_str()), (1, ""));
    let start = r#"{"severity":"error","kind":"other","id":"flag/value","message":"Expected argument \"-f=d/s\\xfcb\" to be UTF-8 (hint: "#;
    assert!(stderr.starts_with(start), "{stderr}");
}

#[test]
fn variables_that_are_not_utf8_are_errors() {
    let scratch = Scratch::with(&[("v.yml", "#@data/values\n---\na: x\n")]);
    let run = |prefix: &str| {
        let mut command = scratch.command(&["-f", "v.yml", "--data-values-inspect", "--data-values-env", prefix]);
        finish(command.env("P_a", OsStr::from_bytes(b"\xfc")).env("Q_a", "z"))
    };
    assert_eq!(run("Q"), done("a: z\n"));
    let error = "ytterby: Error: Expected environment variable 'P_a' to be UTF-8\n";
    assert_eq!(run("P"), (1, String::new(), error.into()));
}

#[test]
fn files_with_unusual_names_are_read() {
    let names = [
        "#h",
        "%41",
        "*",
        "-dash",
        "A\u{30a}",
        "a b",
        "a,b",
        "a:b",
        "back\\slash",
        "new\nline",
        "q'\"",
        "tab\t",
        "\u{fc}",
    ];
    let scratch = Scratch::new();
    names.iter().for_each(|name| scratch.write(&format!("d/{name}.yml"), "a: 1\n"));
    let (exit, listed, stderr) = scratch.run(&["-f", "d", "--output-files", "out"]);
    assert_eq!((exit, stderr.as_str()), (0, ""));
    assert_eq!(listed, names.map(|name| format!("creating: out/{name}.yml\n")).concat());
    for name in names {
        assert!(scratch.0.join(format!("out/{name}.yml")).is_file(), "{name:?}");
    }
}

#[test]
fn large_and_deep_directories_are_read() {
    let scratch = Scratch::new();
    for number in 0..2000 {
        scratch.write(&format!("many/{:02}/f{number}.yml", number % 50), "");
    }
    let (exit, listed, _) = scratch.run(&["-f", "many", "--files-inspect"]);
    assert_eq!((exit, listed.lines().count()), (0, 2000));
    assert!(listed.starts_with("- 00/f0.yml\n- 00/f100.yml\n- 00/f1000.yml\n"), "{listed}");

    let mut deep = scratch.0.join("deep");
    for _ in 0..400 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("a.yml"), "a: 1\n").unwrap();
    assert_eq!(scratch.run(&["-f", "deep"]), done("a: 1\n"));
}

#[test]
fn kubevirt_does_not_walk_in_circles() {
    let scratch = Scratch::with(&[("d/vm.yaml", "kind: VirtualMachine\nmetadata: {name: own}\n")]);
    std::os::unix::fs::symlink("vm.yaml", scratch.0.join("d/link.yaml")).unwrap();
    for link in ["d/a", "d/b"] {
        std::os::unix::fs::symlink(".", scratch.0.join(link)).unwrap();
    }
    let (exit, stdout, stderr) = scratch.run(&["kubevirt", "validate", "-o", "json", "d"]);
    assert_eq!((exit, stdout.matches("\"name\": \"own\"").count(), &*stderr), (0, 2, ""), "{stdout}");
}
