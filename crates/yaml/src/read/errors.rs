//! Syntax errors, with the reference's messages and lines.
//!
//! The reference reads in two stages. Its scanner splits the text into tokens and reports its
//! current line; its parser combines them and reports the line before. We have one stage, so each
//! error says which stage would report it. If both would complain about one position, the scanner
//! goes first ([`Parser::unexpected`]).

use ytterby_diag::Span;

use super::advice::Mistake;
use super::parser::{CollectionKind, KeyCandidate, Parser};
use super::{BoxedReadError, ReadError};

/// Whether to check the token after the next one, too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ahead {
    Yes,
    No,
}

impl Parser<'_> {
    /// An error that the reference's scanner would report here.
    #[cold]
    pub(super) fn scan_error(&self, problem: &str) -> BoxedReadError {
        self.error(problem, self.at.line, self.at.line)
    }

    /// An error that the reference's parser would report about the token here.
    #[cold]
    pub(super) fn parse_error(&self, problem: &str) -> BoxedReadError {
        // At the end of the text the reference counts a line break, even if the last line has none.
        let line = self.at.line + u32::from(self.at.at_end() && self.at.column() > 0);
        // One line too low. The reference crashes on line 0; we report 1.
        self.error(problem, line, if self.shifted { (line - 1).max(1) } else { line - 1 })
    }

    fn error(&self, problem: &str, line: u32, shown: u32) -> BoxedReadError {
        // At the end of the text there is nothing to show, so the reference reports the line
        // before.
        let is_behind_last_line = shown < line && self.at.at_end() && self.at.column() == 0;
        let at = self.at.pos.saturating_sub(usize::from(is_behind_last_line)) as u32;
        // The reference treats the first line of its input as "no line".
        let reference_line = (line > 1 || self.shifted).then_some(shown);
        let span = Span::new(self.file, at, at);
        Box::new(ReadError { reference_line, ..ReadError::new(problem.to_owned(), span) })
    }

    /// The error for the token here. `problem` is the parser's message; the scanner is checked
    /// first and may have its own.
    #[cold]
    pub(super) fn unexpected(&mut self, problem: &str) -> BoxedReadError {
        self.scan_problem(Ahead::Yes).unwrap_or_else(|| self.parse_error(problem))
    }

    /// The error of the reference's scanner about the token here. If the token could be a key, the
    /// scanner reads on, because only the text after it decides; so it may complain about that
    /// text.
    #[cold]
    pub(super) fn scan_problem(&mut self, ahead: Ahead) -> Option<BoxedReadError> {
        if self.at.at_end() || self.at.at_document_marker() {
            return None;
        }
        let alone = self.at.is_blank_or_end(self.at.pos + 1);
        let block = self.flow_level == 0;
        match self.at.byte() {
            b'-' if alone && block && !self.key_allowed => {
                Some(self.scan_error("block sequence entries are not allowed in this context").about(Mistake::Dash))
            }
            b'?' if alone && block && !self.key_allowed => {
                Some(self.scan_error("mapping keys are not allowed in this context"))
            }
            b':' if alone && block && !self.key_allowed => {
                Some(self.scan_error("mapping values are not allowed in this context").about(Mistake::Colon))
            }
            b'|' | b'>' if !block => Some(self.cannot_start()),
            b'%' if self.at.column() == 0 => None,
            b'%' | b'@' | b'`' | b'\t' => Some(self.cannot_start()),
            b'-' | b'?' | b':' if alone => None,
            b'[' | b']' | b'{' | b'}' | b',' => None,
            byte => {
                let place = (self.at.pos, self.at.line, self.at.line_start);
                let could_be_key = std::mem::replace(&mut self.key_allowed, false);
                let scanned = match byte {
                    b'!' => self.tag().map(|_| ()),
                    b'&' | b'*' => self.anchor_name().map(|_| ()),
                    b'"' | b'\'' => self.quoted().map(|_| ()),
                    b'|' | b'>' => self.block_scalar().map(|_| ()),
                    _ => self.plain().map(|_| ()),
                };
                let problem = match scanned {
                    Err(error) => Some(error),
                    Ok(()) if could_be_key && ahead == Ahead::Yes && self.at.line == place.1 => {
                        self.skip_to_token();
                        let colon = self.at.byte() == b':' && self.at.is_blank_or_end(self.at.pos + 1);
                        let is_key = colon && self.at.line == place.1;
                        if is_key { None } else { self.scan_problem(Ahead::No) }
                    }
                    Ok(()) => None,
                };
                self.key_allowed = could_be_key;
                (self.at.pos, self.at.line, self.at.line_start) = place;
                problem
            }
        }
    }

    /// The parser's message if another node begins directly after one.
    pub(super) fn instead_of_end(&self) -> &'static str {
        match self.frames.last().map(|frame| frame.kind) {
            None => "did not find expected <document start>",
            Some(CollectionKind::BlockMap | CollectionKind::IndentlessArray) => "did not find expected key",
            Some(CollectionKind::BlockArray) => "did not find expected '-' indicator",
            Some(CollectionKind::FlowMap) => "did not find expected ',' or '}'",
            Some(CollectionKind::FlowArray | CollectionKind::FlowPair) => "did not find expected ',' or ']'",
        }
    }

    #[cold]
    pub(super) fn cannot_start(&self) -> BoxedReadError {
        let mistake = if self.at.byte() == b'\t' { Mistake::Tab } else { Mistake::Indicator };
        self.scan_error("found character that cannot start any token").about(mistake)
    }

    /// The error for a token where another item must begin, in the column of the enclosing
    /// collection. As a key it would need a `:`, and the reference's scanner notices first that it
    /// is missing.
    #[cold]
    pub(super) fn unexpected_item(&mut self, problem: &str) -> BoxedReadError {
        let candidate = self.candidate().filter(|candidate| candidate.column as i32 == self.indent);
        let alone = matches!(self.at.byte(), b'-' | b'?' | b':') && self.at.is_blank_or_end(self.at.pos + 1);
        if candidate.is_some() && !alone && !self.at.at_end() {
            let place = (self.at.pos, self.at.line, self.at.line_start);
            let scanned = match self.at.byte() {
                b'"' | b'\'' => self.quoted().map(|_| true),
                b'|' | b'>' => self.block_scalar().map(|_| false),
                b']' | b'}' | b',' | b'%' | b'@' | b'`' | b'\t' => Ok(false),
                b'[' | b'{' => Ok(true),
                b'*' => self.anchor_name().map(|_| true),
                b'&' | b'!' => self.properties_and_text(),
                _ => self.plain().map(|_| true),
            };
            self.key_allowed = false;
            match scanned {
                Err(error) => return error,
                Ok(true) if !self.take_colon(candidate) => return self.missing_colon(candidate, problem),
                Ok(_) => (self.at.pos, self.at.line, self.at.line_start) = place,
            }
            self.key_allowed = true;
        }
        self.unexpected(problem)
    }

    /// Skips anchor, tag and the plain text on their line. Returns whether they could be a key.
    fn properties_and_text(&mut self) -> Result<bool, BoxedReadError> {
        let line = self.at.line;
        while let b'&' | b'!' = self.at.byte() {
            if self.at.byte() == b'!' {
                self.tag().map(|_| ())?
            } else {
                self.anchor_name().map(|_| ())?
            }
            let key_allowed = std::mem::replace(&mut self.key_allowed, false);
            self.skip_to_token();
            self.key_allowed = key_allowed;
            if self.at.line != line {
                return Ok(true);
            }
        }
        let alone = matches!(self.at.byte(), b'-' | b'?' | b':') && self.at.is_blank_or_end(self.at.pos + 1);
        if !alone
            && !matches!(
                self.at.byte(),
                b'"' | b'\'' | b'[' | b']' | b'{' | b'}' | b',' | b'|' | b'>' | b'*' | b'%' | b'@' | b'`'
            )
        {
            self.plain()?;
        }
        Ok(true)
    }

    /// The error for something that must be a key, because of its column, but has no `:`. `problem`
    /// is the parser's message.
    #[cold]
    pub(super) fn missing_colon(&mut self, candidate: Option<KeyCandidate>, problem: &str) -> BoxedReadError {
        let start = candidate.map_or(self.at.pos, |candidate| candidate.pos);
        self.colon_problem(candidate).unwrap_or_else(|| {
            self.at.pos = start;
            self.parse_error(problem)
        })
    }

    /// The error of the reference's scanner about something that must be a key, because of its
    /// column: most likely that there is no `:`. If there is one somewhere on the line, the scanner
    /// continues after it and leaves the rest to the parser.
    #[cold]
    pub(super) fn colon_problem(&mut self, candidate: Option<KeyCandidate>) -> Option<BoxedReadError> {
        let start = candidate.map_or(self.at.pos, |candidate| candidate.pos);
        let line = candidate.map_or(self.at.line, |candidate| candidate.line);
        // A plain scalar includes the line ends after it; then the scanner notices at once.
        if self.at.line == line {
            self.skip_to_token();
        }
        match self.finds_colon(start, line) {
            Ok(true) => return None,
            Ok(false) => {}
            Err(error) => return Some(error),
        }
        let line = self.at.line + u32::from(self.at.at_end() && self.at.column() > 0 && self.at.line == line);
        Some(self.error("could not find expected ':'", line, line).at(start).about(Mistake::NoColon))
    }

    /// Reads on like the reference's scanner, which still expects the `:` of the key that began at
    /// `start`, to the end of its line. Without a `:`, the cursor ends up where the scanner reports
    /// the error.
    fn finds_colon(&mut self, start: usize, line: u32) -> Result<bool, BoxedReadError> {
        let mut brackets = 0_usize;
        while self.at.line == line && !self.at.at_end() && !self.is_too_far(start, self.at.pos) {
            let inside = brackets > 0;
            let alone = self.at.is_blank_or_end(self.at.pos + 1);
            match self.at.byte() {
                _ if inside => {}
                b':' if alone => return Ok(true),
                // After these no `:` can follow.
                b']' | b'}' | b',' | b'|' | b'>' => return Ok(false),
                _ => {}
            }
            if let Some(error) = self.scan_problem(Ahead::No) {
                return Err(error);
            }
            match self.at.byte() {
                b'[' | b'{' => {
                    brackets += 1;
                    self.flow_level += 1;
                    self.at.pos += 1;
                }
                b']' | b'}' => {
                    brackets -= 1;
                    self.flow_level -= 1;
                    self.at.pos += 1;
                }
                b',' | b':' | b'?' if inside => self.at.pos += 1,
                b'-' if inside && alone => self.at.pos += 1,
                b'!' => self.tag().map(|_| ())?,
                b'&' | b'*' => self.anchor_name().map(|_| ())?,
                b'"' | b'\'' => self.quoted().map(|_| ())?,
                _ => self.plain().map(|_| ())?,
            }
            if self.at.line == line {
                self.key_allowed = false;
                self.skip_to_token();
            }
        }
        Ok(false)
    }
}
