//! Paths as text, without access to the disk.

pub use ytterby_text::path::clean;

/// Joins a path to a base directory.
pub fn join(base: &str, path: &str) -> String {
    if path.starts_with('/') || base.is_empty() { clean(path) } else { clean(&format!("{base}/{path}")) }
}

/// Whether `path` is `directory` or below it. Both must be [`clean`].
pub fn is_below(path: &str, directory: &str) -> bool {
    if directory == "." {
        return !path.starts_with('/') && path != ".." && !path.starts_with("../");
    }
    if is_parent_chain(directory) {
        return !path.starts_with('/') && levels_up(path) <= levels_up(directory);
    }
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || directory == "/")
}

/// Whether a path consists of `..` only.
fn is_parent_chain(path: &str) -> bool {
    path.split('/').all(|piece| piece == "..")
}

fn levels_up(path: &str) -> usize {
    path.split('/').take_while(|piece| *piece == "..").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_and_joined() {
        let check = |path, want| assert_eq!(clean(path), want, "{path}");
        check("./out//x/", "out/x");
        check("a/../..", "..");
        check("", ".");
        check("/..", "/");
        assert_eq!(join("../p", "./a"), "../p/a");
        assert_eq!(join("p", "/a"), "/a");
        assert_eq!(join("", "a/"), "a");
        assert_eq!(join("a/b", "../c"), "a/c");
    }

    #[test]
    fn contained_paths_are_recognised() {
        let check = |path, directory, want| assert_eq!(is_below(path, directory), want, "{path} in {directory}");
        check("out/a", "out", true);
        check("out", "out", true);
        check("output", "out", false);
        check("a", ".", true);
        check("../a", ".", false);
        check("../a", "..", true);
        check("a", "..", true);
        check("../../a", "..", false);
        check("/a", "/", true);
        check("/a", ".", false);
    }
}
