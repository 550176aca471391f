//! Paths as text. Nothing here accesses the disk.

/// The shortest path that means the same: no `.`, no doubled slash, `..` resolved where possible.
///
/// ```
/// use ytterby_text::path::clean;
///
/// assert_eq!(clean("./a//b/../c/"), "a/c");
/// assert_eq!(clean("a/../.."), "..");
/// assert_eq!((clean(""), clean("/..")), (".".to_owned(), "/".to_owned()));
/// ```
pub fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut pieces: Vec<&str> = Vec::new();
    for piece in path.split('/') {
        match piece {
            "" | "." => {}
            ".." if pieces.last().is_some_and(|last| *last != "..") => drop(pieces.pop()),
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
