//! `kubevirt`: gives the commands of `ytterby-kubevirt` the files that they ask for.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use ytterby_kubevirt::cmd::{self, Host};

/// The exit code where input cannot be read or output cannot be written.
const UNREADABLE: i32 = 2;

/// Runs `kubevirt` with the arguments behind it.
pub(crate) fn run(program: &str, operands: &[String]) -> i32 {
    let args: Vec<OsString> = operands.iter().map(OsString::from).collect();
    let mut stdout = BufWriter::new(io::stdout().lock());
    // Not locked: the threads of `serve` write there, too.
    let code = cmd::main(program, &args, &Disk, &mut stdout, &mut io::stderr());
    match stdout.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            // Otherwise the command has met the same problem and told it.
            if code != UNREADABLE {
                let why = crate::read::io_text(&error);
                crate::host::write_error(&format!("{program}: Error: Writing output: {why}\n"));
            }
            UNREADABLE
        }
        _ => code,
    }
}

struct Disk;

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
        std::fs::write(path, content)
    }

    #[cfg(feature = "server")]
    fn resolver(&self) -> fn(&str, u16) -> io::Result<Vec<std::net::SocketAddr>> {
        crate::read::addresses
    }
}
