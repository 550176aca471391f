//! Only `diag::render` lays out messages: no other crate contains parts of a layout, and none
//! parses a message.

use std::fs;
use std::path::Path;

/// Parts of layouts: fields of blocks, rulers, underlines, arrows, positions before messages.
const LAYOUT: [&str; 12] = [
    "\"    = ",
    "= found:",
    "= expected:",
    "= hint: ",
    "= help: ",
    "= note: ",
    "    from: ",
    "- must be: ",
    "    |\\n",
    "====",
    " --> ",
    "(by: ",
];

/// Ways to parse a message.
const READING_BACK: [&str; 7] = [
    "split_once(\" (by",
    "split_once(\" (from",
    "starts_with(\"did you",
    "strip_prefix(\"merged",
    "message.contains(",
    "message().contains(",
    ".to_string().contains(\"did you mean",
];

/// Finds such parts in the sources of all crates except `diag`. Tests, comments and generated pages
/// may contain them.
pub fn check(root: &Path) -> Result<(), String> {
    let mut problems = String::new();
    for entry in fs::read_dir(root.join("crates")).expect("the repository can be read").filter_map(Result::ok) {
        if entry.file_name() != "diag" {
            look(root, &entry.path().join("src"), &mut problems);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn look(root: &Path, folder: &Path, problems: &mut String) {
    for entry in fs::read_dir(folder).expect("the repository can be read").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            look(root, &path, problems);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for (number, line) in code.lines().enumerate() {
                let line = line.trim_start();
                let found = LAYOUT.iter().chain(&READING_BACK).find(|piece| line.contains(**piece));
                if let Some(piece) = found.filter(|_| !line.starts_with("//")) {
                    let place = path.strip_prefix(root).unwrap_or(&path).display();
                    problems.push_str(&format!("{place}:{}: `{piece}` belongs in diag::render\n", number + 1));
                }
            }
        }
    }
}
