//! Scalars of every style: finds their end and their text.
//!
//! The text is a slice of the input if possible; it is built in a buffer if lines are joined or
//! characters are escaped.

use super::BoxedReadError;
use super::advice::Mistake;
use super::cursor::fold;
use super::parser::Parser;
use crate::scan;

/// A scalar's text: a slice of the input, or [`Parser::buffer`].
#[derive(Clone, Copy)]
pub(super) enum ScalarText {
    Input(usize, usize),
    Buffer,
}

/// Characters that can end a run of plain text.
const PLAIN_STOP: u8 = 1;
const FLOW_STOP: u8 = 2;
const QUOTED_STOP: u8 = 4;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b':' | 0xC2 | 0xE2) {
            classes[at] |= PLAIN_STOP;
        }
        if matches!(byte, b',' | b'?' | b'[' | b']' | b'{' | b'}') {
            classes[at] |= FLOW_STOP;
        }
        if matches!(byte, b'"' | b'\'' | b'\\' | b'\n' | b'\r' | 0xC2 | 0xE2) {
            classes[at] |= QUOTED_STOP;
        }
        at += 1;
    }
    classes
};

impl Parser<'_> {
    /// Reads a plain scalar, and the white space after it if more lines could belong to it.
    pub(super) fn plain(&mut self) -> Result<(ScalarText, usize), BoxedReadError> {
        let stop = if self.flow_level > 0 { PLAIN_STOP | FLOW_STOP } else { PLAIN_STOP };
        let start = self.at.pos;
        let first_end = self.plain_line(stop);
        self.key_allowed = false;
        if !self.continues()? {
            return Ok((ScalarText::Input(start, first_end), first_end));
        }
        // More lines follow; from here on the text is built in the buffer.
        self.buffer.clear();
        self.buffer.extend_from_slice(&self.at.text[start..first_end]);
        loop {
            let breaks = std::mem::take(&mut self.breaks);
            fold(&breaks, &mut self.buffer);
            self.breaks = breaks;
            let from = self.at.pos;
            let end = self.plain_line(stop);
            self.buffer.extend_from_slice(&self.at.text[from..end]);
            self.key_allowed = false;
            if !self.continues()? {
                return Ok((ScalarText::Buffer, end));
            }
        }
    }

    /// Goes to the end of the part of a plain scalar on this line, without trailing blanks.
    #[inline]
    fn plain_line(&mut self, stop: u8) -> usize {
        let text = self.at.text;
        let mut pos = self.at.pos;
        if self.quick && stop == PLAIN_STOP {
            pos = plain_run(text, pos);
        }
        loop {
            while pos < text.len() && CLASSES[text[pos] as usize] & stop == 0 {
                pos += 1;
            }
            let Some(&byte) = text.get(pos) else { break };
            match byte {
                b' ' | b'\t' => {
                    let mut next = pos + 1;
                    while self.at.is_blank(next) {
                        next += 1;
                    }
                    let byte = self.at.at(next);
                    let ends = byte == b'#'
                        || byte == b':' && self.at.is_blank_or_end(next + 1)
                        || self.at.is_blank_or_end(next)
                        || stop & CLASSES[byte as usize] & FLOW_STOP != 0;
                    if ends {
                        break;
                    }
                    pos = next;
                }
                b':' if self.at.is_blank_or_end(pos + 1) => break,
                0xC2 | 0xE2 if self.at.break_len(pos) == 0 => pos += 1,
                b':' => pos += 1,
                _ => break,
            }
        }
        self.at.pos = pos;
        pos
    }

    /// Whether a plain scalar continues after the part before the cursor. If so, the cursor is at
    /// the next part and `breaks` contains the line breaks between. If not, and a line break was
    /// skipped, a key may follow.
    #[inline]
    fn continues(&mut self) -> Result<bool, BoxedReadError> {
        while self.at.is_blank(self.at.pos) {
            self.at.pos += 1;
        }
        if self.at.break_len(self.at.pos) == 0 {
            return Ok(false);
        }
        self.breaks.clear();
        let indent = if self.flow_level > 0 { 0 } else { (self.indent + 1) as usize };
        while self.at.break_len(self.at.pos) > 0 {
            let mut breaks = std::mem::take(&mut self.breaks);
            self.at.read_break(&mut breaks);
            self.breaks = breaks;
            while self.at.is_blank(self.at.pos) {
                if self.at.byte() == b'\t' && self.at.column() < (self.indent + 1) as usize {
                    return Err(self.scan_error("found a tab character that violates indentation").about(Mistake::Tab));
                }
                self.at.pos += 1;
            }
        }
        let byte = self.at.byte();
        let ends = self.at.column() < indent
            || self.at.at_end()
            || byte == b'#'
            || self.at.at_document_marker()
            || byte == b':' && self.at.is_blank_or_end(self.at.pos + 1)
            || self.flow_level > 0 && CLASSES[byte as usize] & FLOW_STOP != 0;
        if ends {
            self.key_allowed = true;
        }
        Ok(!ends)
    }

    /// Reads a quoted scalar; the cursor is at the first quote.
    pub(super) fn quoted(&mut self) -> Result<ScalarText, BoxedReadError> {
        let quote = self.at.byte();
        let start = self.at.pos + 1;
        let text = self.at.text;
        let mut pos = start;
        loop {
            while pos < text.len() && CLASSES[text[pos] as usize] & QUOTED_STOP == 0 {
                pos += 1;
            }
            match text.get(pos) {
                Some(&byte) if byte == quote && !(quote == b'\'' && self.at.at(pos + 1) == b'\'') => {
                    self.at.pos = pos + 1;
                    return Ok(ScalarText::Input(start, pos));
                }
                Some(b'\'' | b'"') if text[pos] != quote => pos += 1,
                Some(b'\\') if quote == b'\'' => pos += 1,
                Some(0xC2 | 0xE2) if self.at.break_len(pos) == 0 => pos += 1,
                _ => break,
            }
        }
        self.buffer.clear();
        self.at.pos = start;
        let line = self.at.line;
        self.quoted_parts(quote).map_err(|error| match error.mistake {
            Mistake::Quote => error.at(start - 1),
            _ => error,
        })?;
        if self.at.line > line {
            self.long_string = Some((start - 1, self.at.pos));
        }
        Ok(ScalarText::Buffer)
    }

    /// Builds the text of a quoted scalar that has escapes or several lines.
    fn quoted_parts(&mut self, quote: u8) -> Result<(), BoxedReadError> {
        loop {
            if self.at.at_document_marker() {
                return Err(self.scan_error("found unexpected document indicator").about(Mistake::Quote));
            }
            if self.at.at_end() {
                return Err(self.scan_error("found unexpected end of stream").about(Mistake::Quote));
            }
            // An escaped line break joins two lines without a space.
            let mut joined = false;
            while !self.at.is_blank_or_end(self.at.pos) {
                let byte = self.at.byte();
                if byte == quote {
                    if quote == b'\'' && self.at.at(self.at.pos + 1) == b'\'' {
                        self.buffer.push(b'\'');
                        self.at.pos += 2;
                        continue;
                    }
                    self.at.pos += 1;
                    return Ok(());
                }
                if byte == b'\\' && quote == b'"' {
                    if self.at.break_len(self.at.pos + 1) > 0 {
                        self.at.pos += 1;
                        self.at.skip_break();
                        joined = true;
                        break;
                    }
                    self.escape()?;
                    continue;
                }
                let end = if self.quick { quoted_run(self.at.text, self.at.pos, quote) } else { self.at.pos + 1 };
                self.buffer.extend_from_slice(&self.at.text[self.at.pos..end]);
                self.at.pos = end;
            }
            let blanks = self.at.pos;
            let mut breaks = std::mem::take(&mut self.breaks);
            breaks.clear();
            let mut blanks_end = blanks;
            while self.at.is_blank(self.at.pos) || self.at.break_len(self.at.pos) > 0 {
                if self.at.break_len(self.at.pos) > 0 {
                    self.at.read_break(&mut breaks);
                } else {
                    self.at.pos += 1;
                    if breaks.is_empty() {
                        blanks_end = self.at.pos;
                    }
                }
            }
            if joined {
                self.buffer.extend_from_slice(&breaks);
            } else if breaks.is_empty() {
                self.buffer.extend_from_slice(&self.at.text[blanks..blanks_end]);
            } else {
                fold(&breaks, &mut self.buffer);
            }
            self.breaks = breaks;
        }
    }

    /// Reads an escape sequence of a double-quoted scalar.
    fn escape(&mut self) -> Result<(), BoxedReadError> {
        let digits = match self.at.at(self.at.pos + 1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            other => {
                let meant: &[u8] = match other {
                    b'0' => b"\0",
                    b'a' => b"\x07",
                    b'b' => b"\x08",
                    b't' | b'\t' => b"\t",
                    b'n' => b"\n",
                    b'v' => b"\x0B",
                    b'f' => b"\x0C",
                    b'r' => b"\r",
                    b'e' => b"\x1B",
                    b' ' => b" ",
                    b'"' => b"\"",
                    b'\'' => b"'",
                    b'\\' => b"\\",
                    b'N' => "\u{85}".as_bytes(),
                    b'_' => "\u{A0}".as_bytes(),
                    b'L' => "\u{2028}".as_bytes(),
                    b'P' => "\u{2029}".as_bytes(),
                    _ => return Err(self.scan_error("found unknown escape character").about(Mistake::Escape)),
                };
                self.buffer.extend_from_slice(meant);
                self.at.pos += 2;
                return Ok(());
            }
        };
        self.at.pos += 2;
        let mut value = 0u32;
        for at in 0..digits {
            match char::from(self.at.at(self.at.pos + at)).to_digit(16) {
                Some(digit) => value = value.wrapping_shl(4) | digit,
                None => return Err(self.scan_error("did not find expected hexdecimal number")),
            }
        }
        let Some(meant) = char::from_u32(value) else {
            return Err(self.scan_error("found invalid Unicode character escape code"));
        };
        self.buffer.extend_from_slice(meant.encode_utf8(&mut [0; 4]).as_bytes());
        self.at.pos += digits;
        Ok(())
    }

    /// Reads a block scalar into the buffer; the cursor is at its `|` or `>`. Returns where its
    /// text ends.
    pub(super) fn block_scalar(&mut self) -> Result<usize, BoxedReadError> {
        let literal = self.at.byte() == b'|';
        self.at.pos += 1;
        let (chomp, given) = self.block_header()?;
        let mut indent = given.map_or(0, |digit| self.indent.max(0) as usize + digit);
        self.buffer.clear();
        let mut breaks = std::mem::take(&mut self.breaks);
        breaks.clear();
        let mut end = self.at.pos;
        self.block_breaks(&mut indent, &mut breaks)?;
        // Folding joins lines only where neither begins with a blank.
        let mut after_blank = true;
        let mut last_break = Vec::new();
        while self.at.column() == indent && !self.at.at_end() {
            let blank = self.at.is_blank(self.at.pos);
            if !literal && !after_blank && !blank && last_break == b"\n" {
                if breaks.is_empty() {
                    self.buffer.push(b' ');
                }
            } else {
                self.buffer.extend_from_slice(&last_break);
            }
            self.buffer.extend_from_slice(&breaks);
            breaks.clear();
            last_break.clear();
            after_blank = blank;
            end = self.at.line_end(self.at.pos);
            self.buffer.extend_from_slice(&self.at.text[self.at.pos..end]);
            self.at.pos = end;
            while literal && let Some(start) = self.next_full_line(indent) {
                self.buffer.push(b'\n');
                self.at.line += 1;
                self.at.line_start = end + 1;
                end = self.at.line_end(start);
                self.buffer.extend_from_slice(&self.at.text[start..end]);
                self.at.pos = end;
            }
            self.at.read_break(&mut last_break);
            self.block_breaks(&mut indent, &mut breaks)?;
        }
        if chomp != Chomp::Strip {
            self.buffer.extend_from_slice(&last_break);
        }
        if chomp == Chomp::Keep {
            self.buffer.extend_from_slice(&breaks);
        }
        self.breaks = breaks;
        Ok(end)
    }

    /// Where the text of the next line begins, if a line feed ends this one here and the next is
    /// indented and not empty.
    #[inline]
    fn next_full_line(&self, indent: usize) -> Option<usize> {
        const SPACES: [u8; 32] = [b' '; 32];
        if !self.quick || !self.at.line_feeds_only || indent > SPACES.len() {
            return None;
        }
        let start = self.at.pos + 1 + indent;
        let spaces = self.at.text.get(self.at.pos + 1..start)?;
        let full = self.at.text.get(start).is_some_and(|&byte| byte != b'\n');
        (self.at.byte() == b'\n' && full && spaces == &SPACES[..indent]).then_some(start)
    }

    /// Reads the text after `|` or `>` on its line: chomping, indentation, and a comment, which is
    /// lost.
    fn block_header(&mut self) -> Result<(Chomp, Option<usize>), BoxedReadError> {
        let (mut chomp, mut indent) = (None, None);
        loop {
            match self.at.byte() {
                b'+' if chomp.is_none() => chomp = Some(Chomp::Keep),
                b'-' if chomp.is_none() => chomp = Some(Chomp::Strip),
                b'0' if indent.is_none() => return Err(self.scan_error("found an indentation indicator equal to 0")),
                digit @ b'1'..=b'9' if indent.is_none() => indent = Some(usize::from(digit - b'0')),
                _ => break,
            }
            self.at.pos += 1;
        }
        while self.at.is_blank(self.at.pos) {
            self.at.pos += 1;
        }
        if self.at.byte() == b'#' {
            self.at.pos = self.at.line_end(self.at.pos);
        }
        if !self.at.skip_break() && !self.at.at_end() {
            return Err(self.scan_error("did not find expected comment or line break"));
        }
        Ok((chomp.unwrap_or(Chomp::Clip), indent))
    }

    /// Skips empty lines and the indentation of the next line; detects the indentation if it is 0.
    fn block_breaks(&mut self, indent: &mut usize, breaks: &mut Vec<u8>) -> Result<(), BoxedReadError> {
        let mut widest = 0;
        loop {
            while (*indent == 0 || self.at.column() < *indent) && self.at.byte() == b' ' {
                self.at.pos += 1;
            }
            widest = widest.max(self.at.column());
            if (*indent == 0 || self.at.column() < *indent) && self.at.byte() == b'\t' {
                let error = self.scan_error("found a tab character where an indentation space is expected");
                return Err(error.about(Mistake::Tab));
            }
            if self.at.break_len(self.at.pos) == 0 {
                break;
            }
            self.at.read_break(breaks);
        }
        if *indent == 0 {
            *indent = widest.max((self.indent + 1) as usize).max(1);
        }
        Ok(())
    }
}

/// The end of the part of a plain scalar from `start` on that is surely part of it: words of ASCII
/// with spaces between. What follows is left to the code that knows all rules.
#[inline]
fn plain_run(text: &[u8], start: usize) -> usize {
    let mut end = start;
    loop {
        end = scan::find(text, end, |word| word.is_below_or_beyond_ascii(b' ') | word.is(b':') | word.is(b'#'));
        let is_inside = match text.get(end) {
            Some(b':') => text.get(end + 1).is_some_and(u8::is_ascii_graphic),
            Some(b'#') => end > start && text[end - 1].is_ascii_graphic(),
            _ => false,
        };
        if !is_inside {
            return without_spaces(text, start, end);
        }
        end += 1;
    }
}

/// The same for a quoted scalar whose next byte at `start` is neither special nor blank.
#[inline]
fn quoted_run(text: &[u8], start: usize, quote: u8) -> usize {
    let stops = |word: scan::Word| word.is_below_or_beyond_ascii(b' ') | word.is(quote) | word.is(b'\\');
    let end = scan::find(text, start + 1, stops);
    match text.get(end) {
        Some(&byte) if byte == quote || byte == b'\\' => end,
        // Spaces before a line break are dropped.
        _ => without_spaces(text, start + 1, end),
    }
}

/// The end of a text without the spaces at its end.
#[inline]
fn without_spaces(text: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && text[end - 1] == b' ' {
        end -= 1;
    }
    end
}

/// How to treat line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}
