//! `lsp`: the language server on standard input and output.

use std::fs;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use ytterby_diag::{Failure, Sources};
use ytterby_ide::analysis::Engine;
use ytterby_ide::{DirectoryEntry, FileSystem};
use ytterby_lsp::{Server, serve};

use crate::{kubernetes, limits};

/// Larger files are ignored.
const MAX_FILE: u64 = 64 << 20;

/// Serves until the editor sends `exit`. Returns the exit code.
pub fn run() -> Result<i32, Failure> {
    let check = |version: &str, schemas: &[String], sources: &Arc<Sources>| {
        kubernetes::plain_check(version, schemas, sources).ok()
    };
    let mut engine = Engine::with_kubernetes(Arc::new(check));
    engine.meter = Some(Arc::new(limits::Process::default()));
    let server = Server::new(Arc::new(Disk), engine);
    Ok(serve(server, BufReader::new(io::stdin()), &mut io::stdout().lock()))
}

/// Access to the files on disk.
struct Disk;

impl FileSystem for Disk {
    fn list(&self, directory: &str) -> Vec<DirectoryEntry> {
        let Ok(entries) = fs::read_dir(native(directory)) else { return Vec::new() };
        let entry = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            // Links to files are followed; links to directories could form cycles.
            let is_directory = entry.file_type().ok()?.is_dir();
            let metadata = if is_directory { None } else { Some(fs::metadata(entry.path()).ok()?) };
            if metadata.as_ref().is_some_and(fs::Metadata::is_dir) {
                return None;
            }
            Some(DirectoryEntry { name, is_directory, stamp: metadata.as_ref().map_or(0, stamp) })
        };
        entries.filter_map(|found| entry(found.ok()?)).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = native(path);
        let metadata = fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_FILE {
            return None;
        }
        fs::read(path).ok()
    }

    fn stamp(&self, path: &str) -> Option<u64> {
        let metadata = fs::metadata(native(path)).ok()?;
        metadata.is_file().then(|| stamp(&metadata))
    }
}

fn native(path: &str) -> &Path {
    Path::new(path)
}

fn stamp(metadata: &fs::Metadata) -> u64 {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let nanos = modified.map_or(0, |time| time.as_nanos() as u64);
    nanos.rotate_left(17) ^ metadata.len()
}
