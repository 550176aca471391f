//! Closed or unusual standard streams, and the program's own name.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use super::{BIN, Scratch, finish, run};

#[test]
fn a_closed_reader_ends_the_program_quietly() {
    // More than the capacity of any pipe.
    let big: String = (0..200_000).map(|number| format!("- item {number}\n")).collect();
    let scratch = Scratch::with(&[("a.yml", &big)]);
    for args in [&["fmt", "-f", "a.yml"][..], &["-f", "a.yml"]] {
        let mut child = scratch.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((line.as_str(), stderr.as_str(), child.wait().unwrap().code()), ("- item 0\n", "", Some(141)));
    }
}

#[test]
#[cfg(unix)]
fn a_link_named_ytt_has_the_messages_of_ytt() {
    let scratch = Scratch::new();
    let link = scratch.0.join("ytt");
    std::os::unix::fs::symlink(BIN, &link).unwrap();
    let text = |args: &[&str]| {
        let output = Command::new(&link).args(args).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert_eq!(text(&["version"]), "ytt version 0.55.0\n");
    assert_eq!(text(&["--version"]), "ytt version 0.55.0\n");
    assert_eq!(text(&["--version", "fmt", "-f", "nope"]), "ytt version 0.55.0\n");
    assert_eq!(text(&["--nope"]), "ytt: Error: unknown flag: --nope\n");
    let version = run(&["version"]).1;
    assert!(version.starts_with("ytterby version ") && version.ends_with(" (ytt 0.55.0)\n"), "{version}");
}

#[test]
#[cfg(unix)]
fn a_closed_error_stream_changes_nothing_else() {
    let scratch = Scratch::with(&[("a.yml", "a: 1\n")]);
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &line.replace("ytterby", &format!("'{BIN}'"))]).current_dir(&scratch.0);
        finish(&mut command)
    };
    assert_eq!(shell("ytterby -f a.yml 2>&-"), (0, "a: 1\n".into(), String::new()));
    assert_eq!(shell("ytterby -f nope 2>&-"), (1, String::new(), String::new()));
    assert_eq!(shell("ytterby -f nope >&- 2>&-"), (1, String::new(), String::new()));
    assert_eq!(shell("ytterby -f - <&-"), (0, String::new(), String::new()));
    let error = "ytterby: Error: read /dev/stdin: bad file descriptor\n";
    assert_eq!(shell("ytterby -f - 0>written"), (1, String::new(), error.into()));
    let error = "ytterby: Error: read /dev/stdin: is a directory\n";
    assert_eq!(shell("ytterby -f - <."), (1, String::new(), error.into()));
}
