//! Runs the program, in a copy of the directory if it writes files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any case may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The command to run.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Another name for the program, as through a link.
    pub name: Option<String>,
    /// Arguments after the program's name.
    pub args: Vec<String>,
    /// The environment, besides a path and a locale.
    pub env: Vec<(String, String)>,
    /// Standard input.
    pub stdin: String,
    /// The input files; a missing directory is an empty one.
    pub files: PathBuf,
    /// Whether the run writes files, so that it gets a copy of `files`.
    pub writes: bool,
}

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// `None` if it was ended by a signal, for example by us after [`TIMEOUT`].
    pub exit: Option<i32>,
    /// Standard output, with `<CWD>` for the working directory.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Files that were created or changed.
    pub files: BTreeMap<String, String>,
}

impl Call {
    /// Runs it.
    pub fn run(&self) -> Run {
        let scratch = (self.writes || !self.files.is_dir()).then(Scratch::new);
        let directory = scratch.as_ref().map_or(self.files.clone(), |scratch| scratch.0.clone());
        if scratch.is_some() && self.files.is_dir() {
            copy(&self.files, &directory);
        }
        let before = if self.writes { contents(&directory) } else { BTreeMap::new() };
        let (exit, stdout, stderr) = self.execute(&directory);
        let mut files = if self.writes { contents(&directory) } else { BTreeMap::new() };
        files.retain(|path, content| before.get(path) != Some(content));

        let here = fs::canonicalize(&directory).expect("the working directory is there").display().to_string();
        let text = |bytes: Vec<u8>| readable(&bytes).replace(&here, "<CWD>");
        Run {
            exit,
            stdout: text(stdout),
            stderr: text(stderr),
            files: files
                .into_iter()
                .map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned()))
                .collect(),
        }
    }

    fn execute(&self, directory: &Path) -> (Option<i32>, Vec<u8>, Vec<u8>) {
        let program = std::env::var_os("YTTERBY_BIN").unwrap_or(env!("CARGO_BIN_EXE_ytterby").into());
        let mut command = Command::new(program);
        #[cfg(unix)]
        if let Some(name) = &self.name {
            std::os::unix::process::CommandExt::arg0(&mut command, name);
        }
        let mut child = command
            .args(&self.args)
            .current_dir(directory)
            .env_clear()
            .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8")])
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut stdin = child.stdin.take().expect("it is piped");
        let input = self.stdin.clone();
        // A program that does not read its input may close the pipe.
        let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let stdout = drain(child.stdout.take().expect("it is piped"));
        let stderr = drain(child.stderr.take().expect("it is piped"));
        let exit = wait(&mut child);
        writer.join().expect("writing does not panic");
        let joined = |thread: thread::JoinHandle<Vec<u8>>| thread.join().expect("reading does not panic");
        (exit, joined(stdout), joined(stderr))
    }
}

fn drain(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Compare what was read before a failure.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn wait(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        match child.try_wait().expect("the program is ours") {
            Some(status) => return status.code(),
            None if start.elapsed() > TIMEOUT => {
                child.kill().expect("the program is ours");
                child.wait().expect("the program is ours");
                return None;
            }
            None => thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// A directory that is deleted with everything in it when this is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("case-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("the target directory is ours");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Contents only, not modes: the source may be read-only.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the case can be read").filter_map(Result::ok) {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("the case can be read");
        if kind.is_dir() {
            fs::create_dir_all(&target).expect("the scratch directory is ours");
            copy(&source, &target);
        } else if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(fs::read_link(&source).expect("it is a link"), &target)
                .expect("the scratch directory is ours");
        } else {
            fs::write(&target, fs::read(&source).expect("the case can be read"))
                .expect("the scratch directory is ours");
        }
    }
}

/// All regular files below a directory.
pub fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut pending = vec![(root.to_owned(), String::new())];
    while let Some((directory, prefix)) = pending.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push((entry.path(), format!("{name}/"))),
                Ok(kind) if kind.is_file() => {
                    files.insert(name, fs::read(entry.path()).unwrap_or_default());
                }
                _ => {}
            }
        }
    }
    files
}

/// Whether these arguments make the program write files.
pub fn writes_files(args: &[String]) -> bool {
    let flags = ["--output-files", "--dangerous-emptied-output-directory"];
    let commands = ["build", "fmt", "init", "test"];
    args.first().is_some_and(|command| commands.contains(&command.as_str()))
        || args.iter().any(|arg| flags.contains(&arg.split('=').next().unwrap_or_default()))
}

/// A line diff of two texts; empty if they are equal.
pub fn diff(what: &str, want: &str, got: &str) -> String {
    if want == got {
        return String::new();
    }
    let lines = similar::TextDiff::from_lines(want, got);
    format!("{}", lines.unified_diff().header(&format!("expected {what}"), &format!("actual {what}")))
}

/// Text with `\xc3` for every invalid byte, as in the recorded outputs.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}
