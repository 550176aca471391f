//! One file that a flag names: a source map, a profile.
//!
//! It is written beside its place first and renamed when everything else has succeeded, so that a
//! full disk, an interrupt or a failure elsewhere leaves the old one. What is not a regular file (a
//! pipe, `/dev/stderr`) is opened first and written last.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ytterby::Failure;
use ytterby_diag::Id;

use super::interrupt::Watch;
use super::stage::PREFIX;
use crate::read::io_text;

/// A file that is complete but not in its place yet. It is deleted unless [`Draft::finish`] is
/// reached.
pub struct Draft {
    name: String,
    state: State,
    watch: Rc<Watch>,
}

enum State {
    Beside { draft: PathBuf, place: PathBuf, bytes: Vec<u8> },
    Open { file: File, bytes: Vec<u8> },
    Done,
}

impl Draft {
    /// Writes the file beside its place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Draft, Failure> {
        let state = write_beside(name, bytes).map_err(|error| failure("open", name, &error))?;
        Ok(Draft { name: name.to_owned(), state, watch: Watch::start() })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// That fails, or the program was interrupted.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.watch.check().map_err(|why| Failure::new(Id::FILE_WRITE, why))?;
        let finished = match &mut self.state {
            State::Beside { draft, place, bytes } => match fs::rename(draft, &place) {
                // The directory was replaced by the output, the draft with it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => fs::write(place, bytes),
                renamed => renamed,
            },
            State::Open { file, bytes } => file.write_all(bytes),
            State::Done => Ok(()),
        };
        finished.map_err(|error| failure("write", &self.name, &error))?;
        self.state = State::Done;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let State::Beside { draft, .. } = &self.state {
            let _ = fs::remove_file(draft);
        }
    }
}

fn failure(verb: &str, name: &str, error: &io::Error) -> Failure {
    Failure::new(Id::FILE_WRITE, format!("{verb} {name}: {}", io_text(error)))
}

fn write_beside(name: &str, bytes: Vec<u8>) -> io::Result<State> {
    let existing = fs::metadata(name).ok();
    let open = |bytes| Ok(State::Open { file: OpenOptions::new().write(true).open(name)?, bytes });
    if existing.as_ref().is_some_and(|data| !data.is_file()) {
        return open(bytes);
    }
    // The file itself changes, not a link to it.
    let place = if existing.is_some() { fs::canonicalize(name)? } else { PathBuf::from(name) };
    let Some(file_name) = place.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
    let mut draft_name = std::ffi::OsString::from(format!("{PREFIX}{}-", std::process::id()));
    draft_name.push(file_name);
    let draft = place.with_file_name(draft_name);
    // A file that may not be written stays as it is, even if the directory would allow to replace
    // it.
    if existing.is_some() {
        drop(OpenOptions::new().write(true).open(&place)?);
    }
    let written = write_new(&draft, &bytes, existing.map(|data| data.permissions()));
    match written {
        Ok(()) => Ok(State::Beside { draft, place, bytes }),
        // A file that exists can be written where none can be added.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && place.is_file() => open(bytes),
        Err(error) => {
            let _ = fs::remove_file(&draft);
            Err(error)
        }
    }
}

fn write_new(draft: &Path, bytes: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let mut file = File::create(draft)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(bytes)
}
