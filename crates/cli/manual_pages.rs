// The pages of the manual in the source tree, for the build script and for development builds.

use std::fs;
use std::path::Path;

/// Folders with pages, in the order in which help lists them.
const FOLDERS: [&str; 3] = ["", "guides", "cookbook"];

/// Pages that are no topics: the book's table of contents, and errors, which help finds by their
/// ids.
const LEFT_OUT: [&str; 2] = ["SUMMARY.md", "errors.md"];

/// The name of the overview, `docs/README.md`. Overviews of other folders have the name of their
/// folder.
const OVERVIEW: &str = "manual";

/// The names and texts of all pages below a folder.
pub fn pages(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        let mut names: Vec<String> =
            entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
        names.sort();
        for name in names.iter().filter(|name| !LEFT_OUT.contains(&name.as_str())) {
            let Some(stem) = name.strip_suffix(".md") else { continue };
            if let Ok(text) = fs::read_to_string(root.join(folder).join(name)) {
                let page = match (folder, stem) {
                    ("", "README") => OVERVIEW.to_owned(),
                    (folder, "README") => folder.to_owned(),
                    (folder, stem) => Path::new(folder).join(stem).to_string_lossy().into_owned(),
                };
                found.push((page, text));
            }
        }
    }
    found
}
