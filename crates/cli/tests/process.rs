//! What only shows from outside of the process: pipes, names, interrupts, HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const BIN: &str = env!("CARGO_BIN_EXE_ytterby");

/// A new directory below the target directory, deleted at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("process-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(BIN).args(args).stdin(Stdio::null()).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_program_quietly() {
    let scratch = Scratch::new();
    // More than any pipe holds.
    let big: String = (0..200_000).map(|number| format!("- item {number}\n")).collect();
    fs::write(scratch.0.join("a.yml"), big).unwrap();
    let mut child = Command::new(BIN)
        .args(["fmt", "-f", "a.yml"])
        .current_dir(&scratch.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((line.as_str(), stderr.as_str(), child.wait().unwrap().code()), ("- item 0\n", "", Some(141)));
}

#[test]
#[cfg(unix)]
fn a_link_named_ytt_speaks_as_ytt() {
    let scratch = Scratch::new();
    let link = scratch.0.join("ytt");
    std::os::unix::fs::symlink(BIN, &link).unwrap();
    let text = |args: &[&str]| {
        let output = Command::new(&link).args(args).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert_eq!(text(&["version"]), "ytt version 0.49.0\n");
    assert_eq!(text(&["--version"]), "ytt version 0.49.0\n");
    assert_eq!(text(&["--nope"]), "ytt: Error: unknown flag: --nope\n");
    let version = run(&["version"]).1;
    assert!(version.starts_with("ytterby version ") && version.ends_with(" (ytt 0.49.0)\n"), "{version}");
}

#[test]
fn completions_are_written() {
    for shell in ["bash", "fish", "powershell", "zsh"] {
        let (exit, stdout, stderr) = run(&["completion", shell]);
        assert_eq!((exit, stderr.as_str()), (0, ""), "{shell}");
        assert!(stdout.contains("data-values-inspect") && stdout.contains("Load them with"), "{shell}");
    }
}

/// Answers one request with these bytes; gives the address.
fn serve(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
    });
    format!("http://{address}/config/a.yml")
}

#[test]
fn reads_urls() {
    let url = serve("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\na:   [1,2]");
    assert_eq!(run(&["fmt", "-f", &url]), (0, "a:\n  - 1\n  - 2\n".into(), String::new()));
}

#[test]
fn says_why_a_url_cannot_be_read() {
    let url = serve("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let error = format!("ytterby: Error: Requesting URL '{url}': 404 Not Found\n");
    assert_eq!(run(&["fmt", "-f", &url]), (1, String::new(), error));

    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{address}/a.yml");
    let (exit, _, stderr) = run(&["fmt", "-f", &url]);
    assert_eq!(exit, 1);
    let start = format!("ytterby: Error: Requesting URL '{url}':\n  Get \"{url}\": ");
    assert!(stderr.starts_with(&start) && stderr.contains("connection refused"), "{stderr}");
}
