//! Tests of the whole process: pipes, names, signals, HTTP.

#[cfg(unix)]
mod completions;
#[cfg(unix)]
mod determinism;
#[cfg(target_os = "linux")]
mod faults;
mod http;
#[cfg(unix)]
mod inputs;
#[cfg(unix)]
mod killed;
mod limits;
#[cfg(unix)]
mod output;
mod pipes;
mod profile;
#[cfg(unix)]
mod projects;
#[cfg(all(unix, feature = "server"))]
mod serve;
mod server;
#[cfg(target_os = "linux")]
mod shim;
#[cfg(unix)]
mod signals;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const BIN: &str = env!("CARGO_BIN_EXE_ytterby");

/// A new directory below the target directory, deleted at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        Scratch::below(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    fn below(parent: &Path) -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ytterby-process-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = parent.join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    /// A directory with these files.
    fn with(files: &[(&str, &str)]) -> Scratch {
        let scratch = Scratch::new();
        for (path, content) in files {
            scratch.write(path, content);
        }
        scratch
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Everything below `directory`, sorted: `a.yml=content`, directories as `d/`.
    #[cfg(unix)]
    fn list(&self, directory: &str) -> Vec<String> {
        let root = self.0.join(directory);
        let mut found = Vec::new();
        let mut pending = vec![root.clone()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                let path = entry.path();
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                if entry.file_type().unwrap().is_dir() {
                    found.push(format!("{name}/"));
                    pending.push(path);
                } else {
                    found.push(format!("{name}={}", fs::read_to_string(path).unwrap().trim_end()));
                }
            }
        }
        found.sort();
        found
    }

    /// The program, in this directory, without input and with a clean environment.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BIN);
        command.args(args).current_dir(&self.0).stdin(Stdio::null());
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "REQUEST_METHOD", "NO_COLOR", "YTTERBY_COMPAT"] {
            command.env_remove(name).env_remove(name.to_ascii_lowercase());
        }
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        finish(&mut self.command(args))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Exit code, standard output, standard error.
fn finish(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn run(args: &[&str]) -> (i32, String, String) {
    Scratch::new().run(args)
}
