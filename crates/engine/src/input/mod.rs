//! Input files: their kinds, and the effect of `--file-mark`.
//!
//! The host reads the bytes; this module handles only paths and marks. The order of files is the
//! order of the slice.

mod content;
mod file;
mod marks;

pub use content::Content;
pub use file::{FileKind, InputFile};
pub(crate) use marks::{apply_marks, apply_marks_to_one};

/// Splits `@lib:rest` in the flags for data values into library (with its `@`, empty for the root)
/// and rest.
///
/// # Errors
/// If the name of the library is empty.
pub fn library_and_rest(arg: &str) -> Result<(&str, &str), String> {
    match arg.split_once(':') {
        Some(("@", _)) => Err("Expected library ref to not be empty".into()),
        Some((library, rest)) if library.starts_with('@') => Ok((library, rest)),
        _ => Ok(("", arg)),
    }
}

/// The same if the rest is a key, which cannot contain a colon.
///
/// # Errors
/// If the name of the library is empty, or the key contains a colon.
pub fn library_and_key(arg: &str) -> Result<(&str, &str), String> {
    let (library, key) = library_and_rest(arg)?;
    if key.contains(':') {
        return Err(format!("Expected at most one library-key separator ':' in '{key}'"));
    }
    Ok((library, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_off_the_library() {
        assert_eq!(library_and_rest("@lib:a:b"), Ok(("@lib", "a:b")));
        assert_eq!(library_and_rest("@lib"), Ok(("", "@lib")));
        assert_eq!(library_and_rest("c:\\a"), Ok(("", "c:\\a")));
        assert!(library_and_rest("@:a").is_err());
        assert_eq!(library_and_key("@lib:a.b"), Ok(("@lib", "a.b")));
        assert!(library_and_key("lib:a").is_err());
    }
}
