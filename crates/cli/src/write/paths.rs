//! Checks where output files may be written, by the rules of Unix and Windows.
//!
//! Names can come from untrusted input. On Unix only `/` is special; Windows has two separators,
//! drives, streams and device names, and ignores trailing dots and spaces. These functions look at
//! text only, so that both are tested everywhere; links on disk are the business of
//! [`refuse_links`].

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::read::clean;

/// The system whose rules apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum System {
    Unix,
    Windows,
}

impl System {
    #[cfg(windows)]
    pub(super) const HERE: System = System::Windows;
    #[cfg(not(windows))]
    pub(super) const HERE: System = System::Unix;
}

/// Normalizes an output path to use `/`. Fails if it leads out of its directory.
pub(super) fn relative(path: &str, system: System) -> Result<String, String> {
    let unified = match system {
        System::Unix => path.to_owned(),
        System::Windows => path.replace('\\', "/"),
    };
    let below = clean(unified.trim_start_matches('/'));
    if below == "." {
        return Err(format!("Expected output path '{path}' to name a file"));
    }
    if below == ".." || below.starts_with("../") {
        return Err(format!("Expected output path '{path}' to stay inside of the output directory"));
    }
    if below.contains('\0') {
        return Err(format!("Expected output path '{}' to have no NUL in it", path.replace('\0', "\\0")));
    }
    if system == System::Windows
        && let Some(why) = below.split('/').find_map(windows_problem)
    {
        return Err(format!("Expected output path '{path}' to be a path on Windows, but {why}"));
    }
    Ok(below)
}

/// The reason that Windows does not allow a file name.
fn windows_problem(name: &str) -> Option<String> {
    // The part before the first dot decides: NUL.tar.gz is a device, too.
    let stem = name.split(['.', ':']).next().unwrap_or_default().trim_end().to_uppercase();
    let is_numbered = |device: &str| {
        let rest = stem.strip_prefix(device);
        rest.is_some_and(|rest| {
            matches!(rest, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
        })
    };
    let is_device = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&&*stem);
    if is_device || is_numbered("COM") || is_numbered("LPT") {
        return Some(format!("'{name}' is the name of a device"));
    }
    if name.contains(':') {
        return Some(format!("'{name}' names a drive or a stream"));
    }
    if let Some(c) = name.chars().find(|c| matches!(c, '<' | '>' | '"' | '|' | '?' | '*') || (*c as u32) < 32) {
        return Some(format!("'{}' has {c:?} in it", name.escape_debug()));
    }
    if name.ends_with(['.', ' ']) {
        return Some(format!("'{name}' ends with a dot or a space"));
    }
    None
}

/// The output directory with links resolved: the user may have named a link.
pub(super) fn real(target: &Path) -> PathBuf {
    fs::canonicalize(target).unwrap_or_else(|_| target.to_owned())
}

/// Refuses a path that leads out of the directory through a symbolic link. `root` is the directory
/// without links; `known` contains directories that were already checked.
pub(super) fn refuse_links(root: &Path, place: &Path, known: &mut HashSet<PathBuf>) -> Result<(), String> {
    let leads_out = |to: &Path| {
        format!(
            "Expected output file '{}' to stay inside of the output directory, but a symbolic link leads to '{}'",
            place.display(),
            to.display()
        )
    };
    let parent = place.parent().unwrap_or(place);
    if known.insert(parent.to_owned())
        && let Some(above) = parent.ancestors().find(|above| fs::symlink_metadata(above).is_ok())
    {
        match fs::canonicalize(above) {
            Ok(real) if !real.starts_with(root) && above.starts_with(root) => return Err(leads_out(&real)),
            Ok(_) => {}
            // A dangling link in the middle of the path.
            Err(_) => return Err(leads_out(&fs::read_link(above).unwrap_or_default())),
        }
    }
    let Ok(to) = fs::read_link(place) else { return Ok(()) };
    match fs::canonicalize(place) {
        Ok(real) if real.starts_with(root) => Ok(()),
        Ok(real) => Err(leads_out(&real)),
        Err(_) => Err(leads_out(&to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(system: System, path: &str, expected: Result<&str, &str>) {
        let found = relative(path, system);
        match expected {
            Ok(below) => assert_eq!(found.as_deref(), Ok(below), "{path}"),
            Err(part) => {
                let why = found.expect_err(path);
                assert!(why.contains(part), "{path}: {why}");
            }
        }
    }

    #[test]
    fn both_systems_stay_inside() {
        for system in [System::Unix, System::Windows] {
            check(system, "a/../b.yml", Ok("b.yml"));
            check(system, "/etc/b.yml", Ok("etc/b.yml"));
            check(system, "a/./b//c.yml", Ok("a/b/c.yml"));
            check(system, "../b.yml", Err("to stay inside"));
            check(system, "a/../../b.yml", Err("to stay inside"));
            check(system, "a/../..", Err("to stay inside"));
            check(system, "", Err("to name a file"));
            check(system, "/", Err("to name a file"));
            check(system, "a\0b", Err("NUL"));
        }
    }

    #[test]
    fn a_backslash_is_a_name_on_unix_only() {
        check(System::Unix, "..\\b.yml", Ok("..\\b.yml"));
        check(System::Unix, "C:\\b.yml", Ok("C:\\b.yml"));
        check(System::Unix, "nul", Ok("nul"));
        check(System::Windows, "a\\b.yml", Ok("a/b.yml"));
        check(System::Windows, "..\\b.yml", Err("to stay inside"));
        check(System::Windows, "a\\..\\..\\b.yml", Err("to stay inside"));
        check(System::Windows, "a/..\\../b.yml", Err("to stay inside"));
        check(System::Windows, "\\b.yml", Ok("b.yml"));
        check(System::Windows, "\\\\server\\share\\b.yml", Ok("server/share/b.yml"));
    }

    #[test]
    fn windows_drives_streams_and_devices_are_refused() {
        for path in ["C:\\x", "C:/x", "c:x", "\\\\?\\C:\\x", "a.yml:stream", "a/b:c"] {
            assert!(relative(path, System::Windows).is_err(), "{path}");
        }
        for path in ["NUL", "nul.yml", "a/CON", "com1", "Lpt9.txt", "aux.tar.gz", "COM¹.yml", "conin$", "prn ", "nul:x"]
        {
            check(System::Windows, path, Err("device"));
        }
        for path in ["a.", "a ", "... ", "d./x.yml", "x\ty", "a?b", "<x>", "a|b", "a\"b", "*.yml"] {
            assert!(relative(path, System::Windows).is_err(), "{path}");
        }
        for path in ["console.yml", "com10.yml", "nulls", "a.b.yml", ".hidden", "com.yml", "auxiliary/x.yml"] {
            check(System::Windows, path, Ok(path));
        }
    }
}
