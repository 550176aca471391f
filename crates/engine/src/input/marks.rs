//! `--file-mark path:key=value`: changes the kind, the path or the role of input files.
//!
//! Marks apply in the order of the flags. A path can contain the wildcards `*` and `**/*`: such a
//! mark looks at all files. Other marks find theirs in an index, since there can be as many of them
//! as files.

use std::collections::HashMap;

use ytterby_diag::{Failure, Id};

use super::{FileKind, InputFile};

/// Applies marks in order: they rename, exclude, change the kind, or set whether files are output.
pub(crate) fn apply_marks(files: Vec<InputFile>, marks: &[String]) -> Result<Vec<InputFile>, Failure> {
    if marks.is_empty() {
        return Ok(files);
    }
    let mut marked = Marked::new(files);
    for mark in marks {
        marked.apply(mark).map_err(|why| Failure::new(Id::FILE_MARK, why))?;
    }
    Ok(marked.finish())
}

/// Applies marks to a file that was added to others: like [`apply_marks`] with only this file, but
/// a mark need not match. `None` if a mark excludes it. With marks that were applied before, this
/// does not fail.
pub(crate) fn apply_marks_to_one(file: InputFile, marks: &[String]) -> Option<InputFile> {
    let mut marked = Marked::new(vec![file]);
    for mark in marks {
        let is_exclusive = |(_, rest): (&str, &str)| rest == "exclusive-for-output=true";
        marked.any_exclusive |= mark.split_once(':').is_some_and(is_exclusive);
        // The only failure is that it does not match.
        _ = marked.apply(mark);
    }
    marked.finish().pop()
}

struct Marked {
    /// Files, and whether each was marked `exclusive-for-output`. `None` if a mark excluded it.
    files: Vec<Option<(InputFile, bool)>>,
    /// The numbers of the files by path, made for the first mark without wildcards.
    by_path: Option<HashMap<String, Vec<usize>>>,
    /// Whether any file was marked `exclusive-for-output`, even if a later mark excluded it.
    any_exclusive: bool,
}

impl Marked {
    fn new(files: Vec<InputFile>) -> Marked {
        let files = files.into_iter().map(|file| Some((file, false))).collect();
        Marked { files, by_path: None, any_exclusive: false }
    }

    /// The numbers of the files that a pattern matches.
    fn matches(&mut self, pattern: &str) -> Vec<usize> {
        let files = self.files.iter().enumerate();
        let mut left = files.filter_map(|(number, file)| file.as_ref().map(|(file, _)| (number, file)));
        if pattern.contains('*') {
            let pattern = MarkPattern::new(pattern);
            return left.filter(|(_, file)| pattern.matches(&file.found_path)).map(|(number, _)| number).collect();
        }
        let by_path = self.by_path.get_or_insert_with(|| {
            let mut by_path: HashMap<String, Vec<usize>> = HashMap::new();
            left.by_ref().for_each(|(number, file)| by_path.entry(file.found_path.clone()).or_default().push(number));
            by_path
        });
        let mut numbers = by_path.get(pattern).cloned().unwrap_or_default();
        numbers.retain(|number| self.files[*number].is_some());
        numbers
    }

    fn finish(self) -> Vec<InputFile> {
        let any_exclusive = self.any_exclusive;
        let finish = |(mut file, is_exclusive): (InputFile, bool)| {
            if any_exclusive {
                file.marked_output = Some(is_exclusive);
            }
            file
        };
        self.files.into_iter().flatten().map(finish).collect()
    }

    fn apply(&mut self, mark: &str) -> Result<(), String> {
        let (pattern, rest) = mark
            .split_once(':')
            .ok_or_else(|| format!("Expected file mark '{mark}' to be in format path:key=value"))?;
        let (key, value) = rest
            .split_once('=')
            .ok_or_else(|| format!("Expected file mark '{mark}' key-value portion to be in format key=value"))?;

        let matches = self.matches(pattern);
        if matches.is_empty() {
            return Err(format!("Expected file mark '{mark}' to match at least one file by path, but did not"));
        }

        let effect = Effect::parse(mark, key, value)?;
        for number in matches {
            let Some((file, exclusive)) = &mut self.files[number] else { continue };
            match effect {
                Effect::Exclude => self.files[number] = None,
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

    /// Marks without wildcards find their files in an index, which later marks do not change.
    #[test]
    fn marks_find_files_by_their_first_path() {
        let shown = |marks: &[&str]| {
            let files = marked(&["a.yml", "b.yml", "a.yml", "*.yml"], marks).map_err(|failure| failure.to_string())?;
            Ok::<_, String>(files.into_iter().map(|file| file.path).collect::<Vec<_>>().join(" "))
        };
        let check = |marks: &[&str], want: &str| assert_eq!(shown(marks).as_deref(), Ok(want), "{marks:?}");
        check(&["a.yml:path=c.yml", "a.yml:path=d.yml"], "d.yml b.yml d.yml *.yml");
        check(&["*.yml:path=x.yml", "b.yml:path=y.yml"], "x.yml y.yml x.yml x.yml");
        check(&["a.yml:exclude=true", "*.yml:path=x.yml"], "x.yml x.yml");
        let gone = shown(&["a.yml:exclude=true", "b.yml:path=c.yml", "a.yml:path=d.yml"]);
        let want = "Expected file mark 'a.yml:path=d.yml' to match at least one file by path, but did not";
        assert_eq!(gone, Err(want.to_owned()));
        assert!(shown(&["a.yml:path=c.yml", "c.yml:path=d.yml"]).is_err());
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
