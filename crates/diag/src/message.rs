//! The text of a failure, with notes for those who want to see more than ytt shows.

use crate::{Pos, Sources};

/// ytt's text of a failure. Notes hang behind its lines; the plain rendering leaves them out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Message {
    text: String,
    /// Byte offsets into `text`, ascending: a note belongs behind the line that holds its offset.
    notes: Vec<(usize, Note)>,
    /// Places whose source lines are in `text` already, with secrets replaced.
    shown: Vec<Pos>,
    brackets: Brackets,
}

/// What the layout does with closing brackets that nothing opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Brackets {
    /// What the reference does: they end the line.
    #[default]
    Pair,
    /// They are text like any other.
    Keep,
}

/// What the rich rendering adds behind a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// The source line at a position, between two bars.
    Excerpt(Pos),
    /// The same with a text in place of the line's own, which must not be shown.
    Redacted(Pos, String),
    /// Lines of text as they are, indentation included: `    = hint: …`.
    Text(String),
    /// Lines of text in place of the line that it hangs behind; none where it is empty.
    Instead(String),
}

impl Message {
    /// A text without notes.
    pub fn new(text: impl Into<String>) -> Message {
        Message { text: text.into(), ..Message::default() }
    }

    /// The same message; a text that the reference does not have need not lose its end to a bracket.
    #[must_use]
    pub fn keeping_brackets(self) -> Message {
        Message { brackets: Brackets::Keep, ..self }
    }

    pub(crate) fn brackets(&self) -> Brackets {
        self.brackets
    }

    /// The text as ytt has it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as one line: its lines trimmed, with a space between them.
    pub fn one_line(&self) -> String {
        one_line(&self.text)
    }

    /// Appends text.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends another message with its notes.
    pub fn push(&mut self, other: &Message) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.notes.extend(other.notes.iter().map(|(at, note)| (start + at, note.clone())));
        self.shown.extend_from_slice(&other.shown);
    }

    /// Hangs a note behind the line written last.
    pub fn note(&mut self, note: Note) {
        // A message that ends in a line feed has just finished the line that is meant.
        let at = self.text.strip_suffix('\n').unwrap_or(&self.text).len();
        self.notes.push((at, note));
    }

    /// Hangs a note behind the line written last, in front of those that hang there.
    pub fn note_first(&mut self, note: Note) {
        let start = self.text.strip_suffix('\n').unwrap_or(&self.text).rfind('\n').map_or(0, |at| at + 1);
        let at = self.notes.partition_point(|(at, _)| *at < start);
        let end = self.text.strip_suffix('\n').unwrap_or(&self.text).len();
        let own = self.notes.get(at).map_or(end, |(own, _)| *own);
        self.notes.insert(at, (own, note));
    }

    /// Says that the text shows the source lines of these places as far as they may be shown; nobody shows them again.
    pub fn shows(&mut self, places: impl IntoIterator<Item = Pos>) {
        self.shown.extend(places);
    }

    /// Shows other text in place of the lines for which there is one.
    pub fn redact(&mut self, line: impl Fn(Pos) -> Option<String>) {
        for (_, note) in &mut self.notes {
            if let Note::Excerpt(pos) = *note
                && let Some(line) = line(pos)
            {
                *note = Note::Redacted(pos, line);
            }
        }
    }

    /// The places that [`Message::shows`] named.
    pub fn shown(&self) -> &[Pos] {
        &self.shown
    }

    /// The same behind a text that says what was being done: `Validating final data values:\n`.
    #[must_use]
    pub fn prefixed(mut self, prefix: &str) -> Message {
        self.text.insert_str(0, prefix);
        for (at, _) in &mut self.notes {
            *at += prefix.len();
        }
        self
    }

    /// The same with every line after the first indented.
    #[must_use]
    pub fn indented(self, indent: &str) -> Message {
        let mut result = Message { shown: self.shown, brackets: self.brackets, ..Message::default() };
        let mut notes = self.notes.into_iter().peekable();
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            if start > 0 && line != "\n" {
                result.text.push_str(indent);
            }
            result.text.push_str(line);
            let end = start + line.len();
            while let Some((_, note)) = notes.next_if(|(at, _)| *at < end || end == self.text.len()) {
                result.note(note.indented(indent));
            }
            start = end;
        }
        result
    }

    /// The notes of this message behind the lines of a longer text that ends with it, such as that of an error that a
    /// program handed on: `overlay.apply: …`. A text that ends in another way has none.
    #[must_use]
    pub fn within(&self, text: &str) -> Message {
        match text.strip_suffix(&*self.text) {
            Some(prefix) => Message { brackets: Brackets::default(), ..self.clone() }.prefixed(prefix),
            None => Message::new(text),
        }
    }

    /// The lines, without their line feeds, and the notes behind each.
    pub fn lines(&self) -> impl Iterator<Item = (&str, Vec<&Note>)> {
        let mut notes = self.notes_by_line().peekable();
        self.text.split('\n').enumerate().map(move |(number, line)| {
            let own = std::iter::from_fn(|| notes.next_if(|(at, _)| *at <= number)).map(|(_, note)| note);
            (line, own.collect())
        })
    }

    /// The notes by the number of the line (counted from 0) that they stand behind.
    pub(crate) fn notes_by_line(&self) -> impl Iterator<Item = (usize, &Note)> {
        let mut line = 0;
        let mut counted = 0;
        self.notes.iter().map(move |(at, note)| {
            line += self.text[counted..*at].matches('\n').count();
            counted = *at;
            (line, note)
        })
    }
}

impl From<String> for Message {
    fn from(text: String) -> Message {
        Message::new(text)
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        Message::new(text)
    }
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Note {
    /// The same further right. Excerpts stay where all of them are.
    #[must_use]
    pub fn indented(&self, indent: &str) -> Note {
        match self {
            Note::Text(text) => Note::Text(indent_lines(text, indent)),
            Note::Instead(text) => Note::Instead(indent_lines(text, indent)),
            excerpt @ (Note::Excerpt(_) | Note::Redacted(..)) => excerpt.clone(),
        }
    }

    /// The note's lines, each with its line feed; none where a position is in no source.
    pub(crate) fn lines(&self, sources: &Sources) -> String {
        match self {
            Note::Instead(text) if text.is_empty() => String::new(),
            Note::Text(text) | Note::Instead(text) => format!("{text}\n"),
            Note::Excerpt(pos) => {
                let line = sources.get(pos.file).and_then(|source| source.excerpt(pos.offset));
                line.map_or_else(String::new, |line| excerpt(*pos, &line, sources))
            }
            Note::Redacted(pos, text) => excerpt(*pos, text, sources),
        }
    }
}

/// A text as one line: its lines trimmed, with a space between them.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// A source line between two bars, as ytt's schema errors show it.
fn excerpt(pos: Pos, line: &str, sources: &Sources) -> String {
    let number = sources.line(pos);
    let width = number.to_string().len().max(3);
    format!("{:width$} |\n{number:width$} | {}\n{:width$} |\n", "", line.trim_end(), "")
}

fn indent_lines(text: &str, indent: &str) -> String {
    text.split_inclusive('\n').map(|line| format!("{indent}{line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(message: &Message) -> Vec<(usize, Note)> {
        message.notes_by_line().map(|(line, note)| (line, note.clone())).collect()
    }

    #[test]
    fn notes_stay_behind_their_lines() {
        let hint = Note::Text("    = hint: h".into());
        let mut message = Message::new("found\nexpected\n");
        message.note(hint.clone());
        message.push_str("more\n");
        assert_eq!(numbered(&message), [(1, hint.clone())]);
        let message = message.prefixed("Checking:\n");
        assert_eq!(message.text(), "Checking:\nfound\nexpected\nmore\n");
        assert_eq!(numbered(&message), [(2, hint.clone())]);
        let mut outer = Message::new("Outer: ");
        outer.push(&message);
        assert_eq!(numbered(&outer), [(2, hint)]);
    }

    #[test]
    fn a_note_can_come_first() {
        let [a, b, c] = ["a", "b", "c"].map(|text| Note::Text(text.into()));
        let mut message = Message::new("one\n");
        message.note(a.clone());
        message.push_str("two");
        message.note(b.clone());
        message.push_str(" and more\n");
        message.note_first(c.clone());
        assert_eq!(numbered(&message), [(0, a), (1, c), (1, b)]);
    }

    #[test]
    fn notes_stay_within_a_longer_text() {
        let hint = Note::Text("    = hint: h".into());
        let mut message = Message::new("a\nb");
        message.note(hint.clone());
        let lines = |message: &Message| -> Vec<(String, usize)> {
            message.lines().map(|(line, notes)| (line.to_owned(), notes.len())).collect()
        };
        let outer = message.within("doing: a\nb");
        assert_eq!(lines(&outer), [("doing: a".to_owned(), 0), ("b".to_owned(), 1)]);
        assert_eq!(lines(&message.within("other")), [("other".to_owned(), 0)]);
    }

    #[test]
    fn indents_all_but_the_first_line() {
        let mut message = Message::new("a\nb\n");
        message.note(Note::Text("hint".into()));
        message.push_str("\nc");
        let message = message.indented("  ");
        assert_eq!(message.text(), "a\n  b\n\n  c");
        assert_eq!(numbered(&message), [(1, Note::Text("  hint".into()))]);
    }
}
