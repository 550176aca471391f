//! Decides which symbolic links are followed.
//!
//! By default none: a link in an untrusted directory could lead to any file of the user.

use std::collections::VecDeque;
use std::fs;

use super::{clean, io_text};

/// The links that the user allows.
#[derive(Clone, Debug, Default)]
pub struct Symlinks {
    /// All are followed.
    pub allow_all: bool,
    /// Links to one of these paths, or below it, are followed.
    pub allowed: Vec<String>,
}

/// The reference follows as many links.
const MAX_LINKS: usize = 255;

impl Symlinks {
    /// Fails with the reference's text if the link at `path` must not be followed.
    pub(super) fn check(&self, path: &str) -> Result<(), String> {
        if self.allow_all {
            return Ok(());
        }
        let target = match resolve(path) {
            Ok(target) => target,
            // The shell's `<(command)` is a link to an anonymous pipe, which no untrusted input can
            // create.
            Err(Unresolved::Missing(place)) if is_pipe_name(&place) => return Ok(()),
            Err(Unresolved::Missing(place)) => {
                return Err(format!("Eval symlink: lstat {place}: no such file or directory"));
            }
            Err(Unresolved::Other(text)) => return Err(format!("Eval symlink: {text}")),
        };
        let absolute_target = absolute(&target)?;
        for place in &self.allowed {
            if is_below(&absolute_target, &absolute(place)?) {
                return Ok(());
            }
        }
        Err(format!(
            "Expected symlink file '{path}' -> '{target}' to be allowed, but was not (hint: symlinks are disallowed as \
             a security feature, use '--allow-symlink-destination' flags to override)"
        ))
    }
}

enum Unresolved {
    Missing(String),
    Other(String),
}

/// The target of a path after following all links; relative if the path and the links are.
fn resolve(path: &str) -> Result<String, Unresolved> {
    let mut rest: VecDeque<String> = pieces(path);
    let mut reached = if path.starts_with('/') { "/".to_owned() } else { String::new() };
    let mut links = 0;
    while let Some(piece) = rest.pop_front() {
        let next = join(&reached, &piece);
        if piece == ".." {
            reached = parent(&reached).map_or(next, str::to_owned);
            continue;
        }
        let metadata = fs::symlink_metadata(&next).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Unresolved::Missing(next.clone()),
            _ => Unresolved::Other(format!("lstat {next}: {}", io_text(&error))),
        })?;
        if !metadata.is_symlink() {
            reached = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Unresolved::Other("EvalSymlinks: too many links".into()));
        }
        let target =
            fs::read_link(&next).map_err(|error| Unresolved::Other(format!("readlink {next}: {}", io_text(&error))))?;
        let target = target.to_string_lossy();
        if target.starts_with('/') {
            reached = "/".to_owned();
        }
        for piece in pieces(&target).into_iter().rev() {
            rest.push_front(piece);
        }
    }
    Ok(clean(&reached))
}

/// The parent directory of a path, if the path names it. Like the reference, whose messages show
/// it, this keeps a leading name: `a/..`.
fn parent(path: &str) -> Option<&str> {
    let (directory, name) = path.rsplit_once('/')?;
    (!directory.is_empty() && name != "..").then_some(directory)
}

fn pieces(path: &str) -> VecDeque<String> {
    path.split('/').filter(|piece| !matches!(*piece, "" | ".")).map(str::to_owned).collect()
}

fn join(directory: &str, name: &str) -> String {
    match directory {
        "" | "." => name.to_owned(),
        _ if directory.ends_with('/') => format!("{directory}{name}"),
        _ => format!("{directory}/{name}"),
    }
}

fn absolute(path: &str) -> Result<String, String> {
    if path.starts_with('/') {
        return Ok(clean(path));
    }
    let here = std::env::current_dir().map_err(|error| format!("Abs path '{path}': getwd: {}", io_text(&error)))?;
    Ok(clean(&format!("{}/{path}", here.to_string_lossy())))
}

/// Whether a clean absolute path equals another one or is below it.
fn is_below(path: &str, place: &str) -> bool {
    place == "/" || path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path looks like `/proc/<number>/fd/pipe:[<number>]`.
fn is_pipe_name(path: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    path.strip_prefix("/proc/")
        .and_then(|rest| rest.split_once("/fd/pipe:["))
        .and_then(|(process, rest)| Some((process, rest.strip_suffix(']')?)))
        .is_some_and(|(process, pipe)| is_number(process) && is_number(pipe))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_directory_are_recognised() {
        assert!(is_below("/a/b", "/a"));
        assert!(is_below("/a", "/a"));
        assert!(is_below("/a", "/"));
        assert!(!is_below("/ab", "/a"));
        assert!(!is_below("/a", "/a/b"));
    }

    #[test]
    fn pipes_of_the_shell_are_recognised() {
        assert!(is_pipe_name("/proc/12/fd/pipe:[34]"));
        assert!(!is_pipe_name("/proc/12/fd/pipe:[]"));
        assert!(!is_pipe_name("/proc/self/fd/pipe:[34]"));
        assert!(!is_pipe_name("/tmp/pipe:[34]"));
    }
}
