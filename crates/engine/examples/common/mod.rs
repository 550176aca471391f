//! Lists the files of a directory like `-f`: by name, files of a directory before those below it.

use std::path::Path;
use std::{fs, io};

use ytterby::{Content, InputFile};

/// The files at a path, read lazily. Symbolic links are left out.
pub fn files(path: &Path) -> io::Result<Vec<InputFile>> {
    let mut files = Vec::new();
    if path.is_dir() {
        list(path, "", &mut files)?;
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.push(InputFile::new(name, Content::new(fs::read(path)?)));
    }
    Ok(files)
}

fn list(root: &Path, prefix: &str, files: &mut Vec<InputFile>) -> io::Result<()> {
    let mut entries = fs::read_dir(root.join(prefix))?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list(root, &format!("{path}/"), files)?;
        } else if kind.is_file() {
            let place = entry.path();
            let read = move || fs::read(&place).map(Into::into).map_err(|error| Content::unreadable(error.to_string()));
            files.push(InputFile::new(path, Content::later(read)));
        }
    }
    Ok(())
}
