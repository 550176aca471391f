//! Paths as text, treated as the reference treats them.

pub use ytterby_text::path::clean;

/// The last segment of a path or URL, without trailing slashes.
pub fn base(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit('/').next() {
        Some("") | None if path.is_empty() => ".",
        Some("") | None => "/",
        Some(piece) => piece,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        let check = |path, want| assert_eq!(clean(path), want, "{path}");
        check("", ".");
        check("./a//b/", "a/b");
        check("a/../b", "b");
        check("a/..", ".");
        check("../../a", "../../a");
        check("/../a/./b/..", "/a");
        check("/", "/");
    }

    #[test]
    fn base_is_the_last_segment() {
        let check = |path, want| assert_eq!(base(path), want, "{path}");
        check("a/b.yml", "b.yml");
        check("b.yml", "b.yml");
        check("a/b/", "b");
        check("https://example.com/x/a.yml?b=1", "a.yml?b=1");
        check("http://", "http:");
        check("/", "/");
        check("", ".");
    }
}
