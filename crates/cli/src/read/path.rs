//! Paths as text, treated as the reference treats them.

/// The shortest path that means the same without looking at the disk: no `.`, no doubled slash, `..` taken in.
pub fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut pieces: Vec<&str> = Vec::new();
    for piece in path.split('/') {
        match piece {
            "" | "." => {}
            ".." if pieces.last().is_some_and(|last| *last != "..") => {
                pieces.pop();
            }
            ".." if is_rooted => {}
            _ => pieces.push(piece),
        }
    }
    match (is_rooted, pieces.is_empty()) {
        (true, _) => format!("/{}", pieces.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => pieces.join("/"),
    }
}

/// The last piece of a path or URL, slashes at its end left out.
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
    fn cleans() {
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
    fn takes_the_last_piece() {
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
