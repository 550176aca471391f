//! Every folder of `examples/` renders manifests that Kubernetes accepts, has a page, and is on the
//! list.

use std::fs;
use std::path::Path;

use crate::example::Directory;

/// Examples without a project file, and how they are rendered.
const WITHOUT_PROJECT: [(&str, &[&str]); 3] = [
    ("hello", &["-f", "."]),
    // The tests of `kubevirt` check virtual machines and the webhook.
    ("kubevirt", &[]),
    // It writes documentation.
    ("schema-docs", &[]),
];

/// Flags for all renders: unknown kinds are errors.
const STRICT: [&str; 2] = ["--kubernetes=1.36", "--kubernetes-unknown=error"];

/// The folders of `examples/`.
pub fn examples(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("examples")).expect("the repository can be read").filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Renders an example, runs its tests and its checks.
pub fn check(root: &Path, example: &str) -> Result<(), String> {
    let list = fs::read_to_string(root.join("examples/README.md")).expect("the list can be read");
    if !list.contains(&format!("| [{example}](")) {
        return Err(format!("examples/README.md does not list {example}"));
    }
    let directory = Directory::new(root, &format!("examples/{example}/manifests"), true);
    let render = WITHOUT_PROJECT.iter().find(|(name, _)| *name == example);
    if let Some((_, args)) = render {
        return if args.is_empty() { Ok(()) } else { directory.succeed(&[*args, &STRICT].concat()) };
    }
    directory.succeed(&[["build"].as_slice(), &STRICT].concat())?;
    directory.succeed(&[["test"].as_slice(), &STRICT].concat())?;
    // The currencies of the shop are required; its schema declares this by a default that violates
    // a rule.
    let denied: &[&str] = if example == "shop" { &[] } else { &["--deny", "warnings"] };
    directory.succeed(&[["check"].as_slice(), denied].concat())
}
