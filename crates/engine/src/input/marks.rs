//! `--file-mark path:key=value`: changes the kind, the path or the role of input files.
//!
//! Marks apply in the order of the flags. A path can contain the wildcards `*` and `**/*`.

use ytterby_diag::{Failure, Id};

use super::{FileKind, InputFile};

/// Applies marks in order: they rename, exclude, change the kind, or set whether files are output.
pub(crate) fn apply_marks(files: Vec<InputFile>, marks: &[String]) -> Result<Vec<InputFile>, Failure> {
    if marks.is_empty() {
        return Ok(files);
    }
    let mut marked = Marked { files: files.into_iter().map(|file| (file, false)).collect(), any_exclusive: false };
    for mark in marks {
        marked.apply(mark).map_err(|why| Failure::new(Id::FILE_MARK, why))?;
    }
    Ok(marked.finish())
}

/// Applies marks to a file that was added to others: like [`apply_marks`] with only this file, but a mark need not match.
/// `None` if a mark excludes it. With marks that were applied before, this does not fail.
pub(crate) fn apply_marks_to_one(file: InputFile, marks: &[String]) -> Option<InputFile> {
    let mut marked = Marked { files: vec![(file, false)], any_exclusive: false };
    for mark in marks {
        let is_exclusive = |(_, rest): (&str, &str)| rest == "exclusive-for-output=true";
        marked.any_exclusive |= mark.split_once(':').is_some_and(is_exclusive);
        // The only failure is that it does not match.
        _ = marked.apply(mark);
    }
    marked.finish().pop()
}

struct Marked {
    /// Files, and whether each was marked `exclusive-for-output`.
    files: Vec<(InputFile, bool)>,
    /// Whether any file was, even if a later mark excluded it.
    any_exclusive: bool,
}

impl Marked {
    fn finish(self) -> Vec<InputFile> {
        let any_exclusive = self.any_exclusive;
        let finish = |(mut file, is_exclusive): (InputFile, bool)| {
            if any_exclusive {
                file.marked_output = Some(is_exclusive);
            }
            file
        };
        self.files.into_iter().map(finish).collect()
    }

    fn apply(&mut self, mark: &str) -> Result<(), String> {
        let (pattern, rest) = mark
            .split_once(':')
            .ok_or_else(|| format!("Expected file mark '{mark}' to be in format path:key=value"))?;
        let (key, value) = rest
            .split_once('=')
            .ok_or_else(|| format!("Expected file mark '{mark}' key-value portion to be in format key=value"))?;

        let pattern = MarkPattern::new(pattern);
        let is_match = |file: &InputFile| pattern.matches(&file.found_path);
        if !self.files.iter().any(|(file, _)| is_match(file)) {
            return Err(format!("Expected file mark '{mark}' to match at least one file by path, but did not"));
        }

        let effect = Effect::parse(mark, key, value)?;
        if let Effect::Exclude = effect {
            self.files.retain(|(file, _)| !is_match(file));
        }
        for (file, exclusive) in self.files.iter_mut().filter(|(file, _)| is_match(file)) {
            match effect {
                Effect::Exclude => {}
                Effect::Rename(path) => path.clone_into(&mut file.path),
                Effect::Kind(kind, template) => {
                    file.marked_kind = Some(kind);
                    file.marked_template = Some(template);
                }
                Effect::ForOutput => file.marked_output = Some(true),
                Effect::ExclusiveForOutput => {
                    *exclusive = true;
                    self.any_exclusive = true;
                }
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Effect<'a> {
    Rename(&'a str),
    Exclude,
    Kind(FileKind, bool),
    ForOutput,
    ExclusiveForOutput,
}

impl<'a> Effect<'a> {
    fn parse(mark: &str, key: &str, value: &'a str) -> Result<Effect<'a>, String> {
        Ok(match (key, value) {
            ("path", path) => Effect::Rename(path),
            ("exclude", "true") => Effect::Exclude,
            ("type", "yaml-template") => Effect::Kind(FileKind::Yaml, true),
            ("type", "yaml-plain") => Effect::Kind(FileKind::Yaml, false),
            ("type", "text-template") => Effect::Kind(FileKind::Text, true),
            ("type", "text-plain") => Effect::Kind(FileKind::Text, false),
            ("type", "starlark") => Effect::Kind(FileKind::Starlark, false),
            ("type", "data") => Effect::Kind(FileKind::Data, false),
            ("for-output", "true") => Effect::ForOutput,
            ("exclusive-for-output", "true") => Effect::ExclusiveForOutput,
            ("exclude" | "type" | "for-output" | "exclusive-for-output", _) => {
                return Err(format!("Unknown value in file mark '{mark}'"));
            }
            _ => return Err(format!("Unknown key in file mark '{mark}'")),
        })
    }
}

/// A path with wildcards. Only the first `**/*` and then the first `*` count; further stars are
/// literal, as in the reference.
struct MarkPattern<'a>(Vec<MarkPiece<'a>>);

enum MarkPiece<'a> {
    Literal(&'a str),
    /// `**/*`: one character or more.
    AnyDepth,
    /// `*`: one character or more, none of them a slash.
    OneLevel,
}

impl<'a> MarkPattern<'a> {
    fn new(text: &'a str) -> MarkPattern<'a> {
        let mut pieces = Vec::new();
        let mut star_left = true;
        let mut literal = |pieces: &mut Vec<MarkPiece<'a>>, text: &'a str| match text.split_once('*') {
            Some((before, after)) if star_left => {
                star_left = false;
                pieces.extend([MarkPiece::Literal(before), MarkPiece::OneLevel, MarkPiece::Literal(after)]);
            }
            _ => pieces.push(MarkPiece::Literal(text)),
        };
        match text.split_once("**/*") {
            Some((before, after)) => {
                literal(&mut pieces, before);
                pieces.push(MarkPiece::AnyDepth);
                literal(&mut pieces, after);
            }
            None => literal(&mut pieces, text),
        }
        MarkPattern(pieces)
    }

    fn matches(&self, path: &str) -> bool {
        match_pieces(&self.0, path)
    }
}

/// At most two of the pieces are wildcards, so this is at worst quadratic in the length of a path.
fn match_pieces(pieces: &[MarkPiece<'_>], path: &str) -> bool {
    let Some((first, rest)) = pieces.split_first() else { return path.is_empty() };
    let allowed = match first {
        MarkPiece::Literal(text) => return path.strip_prefix(text).is_some_and(|path| match_pieces(rest, path)),
        MarkPiece::AnyDepth => path.find('\n').unwrap_or(path.len()),
        MarkPiece::OneLevel => path.find('/').unwrap_or(path.len()),
    };
    let mut ends = path.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= allowed);
    ends.any(|end| match_pieces(rest, &path[end..]))
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use super::*;

    fn files(paths: &[&str]) -> Vec<InputFile> {
        paths.iter().map(|path| InputFile::new(*path, Content::new(*b""))).collect()
    }

    fn marked(paths: &[&str], marks: &[&str]) -> Result<Vec<InputFile>, Failure> {
        apply_marks(files(paths), &marks.iter().map(|mark| mark.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn wildcards() {
        let check = |pattern, path, want| assert_eq!(MarkPattern::new(pattern).matches(path), want, "{pattern} {path}");
        check("a.yml", "a.yml", true);
        check("a.yml", "aXyml", false);
        check("*.yml", "a.yml", true);
        check("*.yml", ".yml", false);
        check("*.yml", "d/a.yml", false);
        check("**/*", "d/e/a.yml", true);
        check("**/*", "a", true);
        check("d/**/*", "d/e/a.yml", true);
        check("d/**/*.txt", "d/e/a.yml", false);
        check("*/**/*.yml", "d/e/a.yml", true);
        check("*/*.yml", "d/a.yml", false);
        check("*/*.yml", "d/*.yml", true);
        check("**/*é*", "ab é cd", true);
    }

    #[test]
    fn marks_change_files() {
        let files =
            marked(&["a.txt", "b.yml", "c.yml"], &["a.txt:path=x.yml", "a.txt:type=data", "c.yml:exclude=true"]);
        let files = files.unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!((files[0].path.as_str(), files[0].kind()), ("x.yml", FileKind::Data));
        let files = marked(&["a.yml", "b.yml"], &["b.yml:exclusive-for-output=true"]).unwrap();
        assert_eq!(files.iter().map(InputFile::is_for_output).collect::<Vec<_>>(), [false, true]);
        let files = marked(&["a.yml", "b.yml"], &["b.yml:exclusive-for-output=true", "b.yml:exclude=true"]).unwrap();
        assert_eq!(files.iter().map(InputFile::is_for_output).collect::<Vec<_>>(), [false]);
    }

    #[test]
    fn bad_marks_are_errors() {
        let check = |mark, want| assert_eq!(marked(&["a.yml"], &[mark]).unwrap_err().to_string(), want);
        check("a", "Expected file mark 'a' to be in format path:key=value");
        check("a.yml:b", "Expected file mark 'a.yml:b' key-value portion to be in format key=value");
        check("a.yml:b=c", "Unknown key in file mark 'a.yml:b=c'");
        check("a.yml:type=c", "Unknown value in file mark 'a.yml:type=c'");
        check("b:type=c", "Expected file mark 'b:type=c' to match at least one file by path, but did not");
    }
}
