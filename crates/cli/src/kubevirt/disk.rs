//! The [`Host`](super::Host) of the real program.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::Host;

/// The file system and standard input.
pub(super) struct Disk;

impl Host for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn stdin(&self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        io::stdin().lock().read_to_end(&mut content)?;
        Ok(content)
    }

    fn entries(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
        if !path.is_dir() {
            return Ok(None);
        }
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let is_link_to_directory = entry.file_type()?.is_symlink() && entry.path().is_dir();
            if !is_link_to_directory {
                entries.push(entry.path());
            }
        }
        Ok(Some(entries))
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        use crate::write::{Recovered, change_source};
        change_source(&path.to_string_lossy(), content, &mut Recovered::default()).map_err(io::Error::other)
    }
}
