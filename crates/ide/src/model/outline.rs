//! Reads the YAML of a file by its indentation, line by line.
//!
//! This is not a YAML parser: it finds keys, items, comments and code in incomplete texts. Whatever
//! a line contains, later lines are still understood. The engine has the real parser.

use super::{Annotation, CodeRegion, Model, RegionKind, YamlDocument, YamlItem};
use crate::TextRange;

/// Maximum nesting of flow collections.
const MAX_FLOW_DEPTH: usize = 64;

/// Reads documents, items, annotations and regions of code into the model.
pub(super) fn read(model: &mut Model, text: &str, is_template: bool) {
    let has_templated_strings = is_template && text.contains("yaml/text-templated-strings");
    let mut reader = OutlineReader {
        text,
        model,
        open: Vec::new(),
        pending: Vec::new(),
        is_template,
        has_templated_strings,
        block_scalar: None,
        last_content_line: 0,
        previous: 0,
        flow_steps: 64 + 4 * text.len(),
    };
    reader.model.documents.push(YamlDocument { line: 0, end_line: 0, annotations: Vec::new(), separator: None });
    let mut line = 0;
    while line < reader.model.lines.count() {
        line = reader.line(line).max(line + 1);
    }
    reader.previous = reader.last_content_line;
    reader.close(|_, _| true);
    let last = reader.last_content_line;
    if let Some(document) = reader.model.documents.last_mut() {
        document.end_line = last.max(document.line);
    }
}

struct OutlineReader<'a> {
    text: &'a str,
    model: &'a mut Model,
    /// Unfinished items with their columns, outermost first.
    open: Vec<(usize, usize)>,
    /// Annotations before their node.
    pending: Vec<usize>,
    is_template: bool,
    has_templated_strings: bool,
    /// The column of the item whose block scalar continues.
    block_scalar: Option<usize>,
    last_content_line: usize,
    /// The previous line with content.
    previous: usize,
    /// How many more entries of flow collections may be read. The lines of an unclosed collection
    /// are read again as blocks, so without a limit many of them would take quadratic time and
    /// memory.
    flow_steps: usize,
}

/// Where a flow collection ends.
struct FlowEnd {
    /// The end of its text; of its first line if it is not closed.
    end: usize,
    /// The next line to read.
    next_line: usize,
    /// Where the collection around it continues.
    resume: usize,
}

impl OutlineReader<'_> {
    /// Reads a line and returns the next line to read.
    fn line(&mut self, line: usize) -> usize {
        let range = self.model.lines.range(self.text, line);
        let body = range.of(self.text);
        let content = body.trim_start_matches([' ', '\t']);
        let column = body.len() - content.len();
        let start = range.start + column;
        if content.trim_end().is_empty() {
            return line + 1;
        }
        if let Some(indent) = self.block_scalar {
            if column > indent {
                self.last_content_line = line;
                if self.has_templated_strings {
                    self.templated(range);
                }
                return line + 1;
            }
            self.block_scalar = None;
        }
        if content.starts_with('#') {
            self.comment(TextRange::new(start, range.end), line, column, None);
            return line + 1;
        }
        if body.starts_with("---") && matches!(body.as_bytes().get(3), None | Some(b' ' | b'\t' | b'\r')) {
            self.document(line, range);
            return line + 1;
        }
        if body.starts_with("...") && body.trim_end() == "..." {
            return line + 1;
        }
        self.previous = self.last_content_line;
        self.last_content_line = line;
        self.content(TextRange::new(start, range.end), line, column, None)
    }

    /// Begins a document.
    fn document(&mut self, line: usize, range: TextRange) {
        self.previous = self.last_content_line;
        self.close(|_, _| true);
        let last_content_line = self.last_content_line;
        let is_first_and_empty = self.model.documents.len() == 1
            && self.model.items.is_empty()
            && self.model.documents[0].separator.is_none();
        if is_first_and_empty {
            self.model.documents.clear();
        } else if let Some(document) = self.model.documents.last_mut() {
            document.end_line = last_content_line.max(document.line);
        }
        let annotations = std::mem::take(&mut self.pending);
        self.model.documents.push(YamlDocument { line, end_line: line, annotations, separator: Some(range) });
        self.last_content_line = line;
        let rest = TextRange::new(range.start + 3, range.end);
        if let Some(at) = comment_start(rest.of(self.text)) {
            self.comment(TextRange::new(rest.start + at, rest.end), line, 0, None);
            let late = std::mem::take(&mut self.pending);
            if let Some(document) = self.model.documents.last_mut() {
                document.annotations.extend(late);
            }
        }
    }

    /// Reads the content of a line from a column on: an item of an array, a key with its value, or
    /// a value.
    fn content(&mut self, range: TextRange, line: usize, column: usize, array: Option<usize>) -> usize {
        let content = range.of(self.text);
        if content == "-" || content.starts_with("- ") || content.starts_with("-\t") {
            if array.is_none() {
                // Items of an array may have the same column as the array's key.
                self.close(|item, at| at > column || at == column && item.is_array_item);
            }
            let item = self.item(None, TextRange::new(range.start, range.start + 1), line, column);
            self.model.items[item].is_array_item = true;
            self.open.push((item, column));
            let rest = &content[1..];
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let inner = TextRange::new(range.start + 1 + blanks, range.end);
            if inner.of(self.text).trim_end().is_empty() {
                return line + 1;
            }
            if inner.of(self.text).starts_with('#') {
                self.comment(inner, line, column, Some(item));
                return line + 1;
            }
            return self.content(inner, line, column + 1 + blanks, Some(item));
        }
        if array.is_none() {
            self.close(|_, at| at >= column);
        }
        match key_len(content) {
            Some((key_len, after)) => {
                let key = TextRange::new(range.start, range.start + key_len);
                let item = self.item(Some(unquoted(key.of(self.text))), key, line, column);
                self.open.push((item, column));
                self.value(item, TextRange::new(range.start + after, range.end), line, column)
            }
            None => {
                // A value without a key: an item of an array, a document that is a scalar, or an
                // incomplete key.
                let owner = array.or_else(|| self.open.last().map(|open| open.0));
                match owner {
                    Some(owner) if array.is_some() => self.value(owner, range, line, column),
                    owner => self.loose(owner, range, line, column),
                }
            }
        }
    }

    /// A line with only a word: a key without its colon.
    fn loose(&mut self, _owner: Option<usize>, range: TextRange, line: usize, column: usize) -> usize {
        let content = range.of(self.text);
        let end = comment_start(content).unwrap_or(content.len());
        let word = content[..end].trim_end();
        if content.starts_with(['{', '[']) && self.open.is_empty() {
            return self.flow(None, range.start, line, 0, None).next_line.max(line + 1);
        }
        let item = self.item(Some(unquoted(word)), TextRange::new(range.start, range.start + word.len()), line, column);
        self.model.items[item].has_colon = false;
        self.open.push((item, column));
        if let Some(at) = comment_start(content) {
            self.comment(TextRange::new(range.start + at, range.end), line, column, Some(item));
        }
        if self.has_templated_strings {
            self.templated(range);
        }
        line + 1
    }

    /// Reads the value after a colon or a dash.
    fn value(&mut self, item: usize, range: TextRange, line: usize, column: usize) -> usize {
        let raw = range.of(self.text);
        let blanks = raw.len() - raw.trim_start_matches([' ', '\t']).len();
        let mut start = range.start + blanks;
        let mut content = &raw[blanks..];
        // Anchors and tags precede a value.
        while let Some(len) = property_len(content) {
            let word = TextRange::new(start, start + len);
            if content.starts_with('&') {
                self.model.anchors.push((word, true));
            }
            let rest = &content[len..];
            let skip = len + rest.len() - rest.trim_start_matches([' ', '\t']).len();
            start += skip;
            content = &content[skip..];
        }
        let rest = TextRange::new(start, range.end);
        match content.as_bytes().first() {
            None => {
                self.model.items[item].value = TextRange::new(start, start);
                line + 1
            }
            Some(b'#') => {
                self.model.items[item].value = TextRange::new(start, start);
                self.comment(rest, line, column, Some(item));
                line + 1
            }
            Some(b'{' | b'[') => {
                let FlowEnd { end, next_line: next, .. } = self.flow(Some(item), start, line, 0, Some(column));
                self.model.items[item].value = TextRange::new(start, end);
                self.model.items[item].end_line = next.saturating_sub(1).max(line);
                self.last_content_line = next.saturating_sub(1).max(line);
                self.after_value(item, end, column);
                next
            }
            Some(b'|' | b'>') => {
                let end = comment_start(content).unwrap_or(content.len());
                self.model.items[item].value = TextRange::new(start, start + content[..end].trim_end().len());
                self.block_scalar = Some(self.block_scalar_column(column));
                self.after_value(item, start + content[..end].len(), column);
                line + 1
            }
            Some(quote @ (b'"' | b'\'')) => {
                let end = self.quoted_end(start, *quote, line, column);
                self.model.items[item].value = TextRange::new(start, end);
                let last = self.model.lines.line_of(end);
                self.last_content_line = last;
                if self.has_templated_strings {
                    self.templated(TextRange::new(start, end));
                }
                self.after_value(item, end, column);
                last + 1
            }
            Some(b'*') => {
                let len = content.find([' ', '\t', ',']).unwrap_or(content.len());
                let word = TextRange::new(start, start + len);
                self.model.anchors.push((word, false));
                self.model.items[item].value = word;
                self.after_value(item, start + len, column);
                line + 1
            }
            _ => {
                let end = comment_start(content).unwrap_or(content.len());
                let value = TextRange::new(start, start + content[..end].trim_end().len());
                self.model.items[item].value = value;
                if self.has_templated_strings {
                    self.templated(value);
                }
                self.after_value(item, start + end, column);
                line + 1
            }
        }
    }

    /// The lines of a block scalar are indented more than this column: that of its item.
    fn block_scalar_column(&self, column: usize) -> usize {
        let is_inline = |(item, _): &&(usize, usize)| self.model.items[*item].is_array_item;
        self.open.last().filter(is_inline).map_or(column, |open| open.1)
    }

    /// Reads a comment after a value.
    fn after_value(&mut self, item: usize, end: usize, column: usize) {
        let line = self.model.lines.line_of(end);
        let line_range = self.model.lines.range(self.text, line);
        let rest = TextRange::new(end, line_range.end);
        let content = rest.of(self.text);
        let trimmed = content.trim_start_matches([' ', '\t']);
        if trimmed.starts_with('#') {
            let start = rest.start + content.len() - trimmed.len();
            self.comment(TextRange::new(start, rest.end), line, column, Some(item));
        }
    }

    /// The end of a quoted scalar. It may span several lines; an unclosed one ends with its line.
    fn quoted_end(&self, start: usize, quote: u8, line: usize, column: usize) -> usize {
        let bytes = self.text.as_bytes();
        let line_end = self.model.lines.range(self.text, line).end;
        let mut at = start + 1;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if quote == b'"' => at += 2,
                b'\'' if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 2,
                byte if byte == quote => return at + 1,
                b'\n' => {
                    let next = self.model.lines.range(self.text, self.model.lines.line_of(at + 1));
                    let body = next.of(self.text);
                    let indent = body.len() - body.trim_start().len();
                    if !body.trim().is_empty() && indent <= column && column > 0 || body.starts_with("---") {
                        return line_end;
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
        line_end
    }

    /// Reads a flow collection in an item at a column.
    fn flow(
        &mut self,
        owner: Option<usize>,
        start: usize,
        line: usize,
        depth: usize,
        column: Option<usize>,
    ) -> FlowEnd {
        let bytes = self.text.as_bytes();
        let is_map = bytes[start] == b'{';
        let line_end = self.model.lines.range(self.text, line).end;
        let mut at = start + 1;
        loop {
            at = self.skip_flow_blanks(at);
            // A key that is not indented more than the item ends an unclosed collection.
            let here = self.model.lines.line_of(at.min(bytes.len()));
            if at >= bytes.len() || self.flow_steps == 0 || here > line && self.is_new_entry(here, column) {
                return FlowEnd { end: line_end.max(start + 1), next_line: line + 1, resume: at };
            }
            self.flow_steps -= 1;
            match bytes[at] {
                b'}' | b']' => {
                    let next_line = self.model.lines.line_of(at) + 1;
                    return FlowEnd { end: at + 1, next_line, resume: at + 1 };
                }
                b',' => at += 1,
                b'#' => {
                    let here = self.model.lines.line_of(at);
                    at = self.model.lines.range(self.text, here).end;
                }
                _ => {
                    let before = at;
                    at = self.flow_entry(owner, at, is_map, depth, column);
                    if at <= before {
                        at = before + self.text[before..].chars().next().map_or(1, char::len_utf8);
                    }
                }
            }
        }
    }

    /// Whether a line begins a new entry although a flow collection is open.
    fn is_new_entry(&self, line: usize, column: Option<usize>) -> bool {
        let body = self.model.lines.range(self.text, line).of(self.text);
        let content = body.trim_start_matches([' ', '\t']);
        if column.is_none_or(|column| body.len() - content.len() > column) {
            return content.starts_with("---");
        }
        if content.starts_with(['}', ']', ',', '"', '\'', '{', '[']) {
            return false;
        }
        content.starts_with("- ")
            || content.starts_with("---")
            || content.starts_with("#@")
            || key_len(content).is_some()
    }

    fn flow_entry(
        &mut self,
        owner: Option<usize>,
        start: usize,
        is_map: bool,
        depth: usize,
        column_of_item: Option<usize>,
    ) -> usize {
        let line = self.model.lines.line_of(start);
        let column = start - self.model.lines.start(line);
        let bytes = self.text.as_bytes();
        let mut value_at = start;
        let item = if is_map {
            let end = self.flow_scalar_end(start, true);
            let key = TextRange::new(start, start + self.text[start..end].trim_end().len());
            let item = self.item_below(owner, Some(unquoted(key.of(self.text))), key, line, column);
            value_at = self.skip_flow_blanks(end);
            if bytes.get(value_at) == Some(&b':') {
                value_at = self.skip_flow_blanks(value_at + 1);
            } else {
                self.model.items[item].has_colon = false;
            }
            item
        } else {
            let item = self.item_below(owner, None, TextRange::new(start, start), line, column);
            self.model.items[item].is_array_item = true;
            item
        };
        self.model.items[item].is_flow = true;
        value_at = self.flow_anchor(value_at);
        let (end, resume) = match bytes.get(value_at) {
            Some(b'{' | b'[') if depth < MAX_FLOW_DEPTH => {
                let line = self.model.lines.line_of(value_at);
                let inner = self.flow(Some(item), value_at, line, depth + 1, column_of_item);
                (inner.end, inner.resume)
            }
            Some(b',' | b'}' | b']') | None => (value_at, value_at),
            _ => {
                let end = self.flow_scalar_end(value_at, false);
                (end, end)
            }
        };
        let trimmed = self.text.get(value_at..end).unwrap_or_default().trim_end().len();
        if bytes.get(value_at) == Some(&b'*') && trimmed > 1 {
            self.model.anchors.push((TextRange::new(value_at, value_at + trimmed), false));
        }
        self.model.items[item].value = TextRange::new(value_at, value_at + trimmed);
        self.model.items[item].end_line = self.model.lines.line_of(end);
        resume
    }

    /// Reads the anchor before a value in a flow collection. Returns where the value begins.
    fn flow_anchor(&mut self, start: usize) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']' | '{' | '[');
        let len = rest.find(is_end).unwrap_or(rest.len());
        if !rest.starts_with('&') || len < 2 {
            return start;
        }
        self.model.anchors.push((TextRange::new(start, start + len), true));
        self.skip_flow_blanks(start + len)
    }

    fn flow_scalar_end(&self, start: usize, is_key: bool) -> usize {
        let bytes = self.text.as_bytes();
        if let Some(quote @ (b'"' | b'\'')) = bytes.get(start) {
            let line = self.model.lines.line_of(start);
            return self.quoted_end(start, *quote, line, 0).max(start + 1);
        }
        let mut at = start;
        while at < bytes.len() {
            match bytes[at] {
                b',' | b'}' | b']' | b'\n' | b'\r' => break,
                b'{' | b'[' if at > start => break,
                b':' if is_key
                    && matches!(bytes.get(at + 1), None | Some(b' ' | b',' | b'}' | b']' | b'\n' | b'"')) =>
                {
                    break;
                }
                b'#' if at > start && bytes[at - 1] == b' ' => break,
                _ => at += 1,
            }
        }
        at
    }

    fn skip_flow_blanks(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        while at < bytes.len() && matches!(bytes[at], b' ' | b'\t' | b'\n' | b'\r') {
            at += 1;
        }
        at
    }

    /// Reads a comment: code, an annotation, or text.
    fn comment(&mut self, range: TextRange, line: usize, column: usize, item: Option<usize>) {
        let content = range.of(self.text);
        self.model.comments.push(range);
        if !self.is_template {
            return;
        }
        let Some(rest) = content.strip_prefix("#@") else { return };
        let at = range.start + 2;
        let whole = TextRange::new(at, range.start + content.trim_end().len().max(2));
        let is_code = rest.starts_with([' ', '\t']);
        if is_code {
            let kind = match item {
                Some(item) => RegionKind::Value { item: Some(item) },
                None if self.is_separator(line) => RegionKind::Value { item: None },
                None => RegionKind::Statement,
            };
            self.model.regions.push(CodeRegion { kind, range: whole, line, column, tokens: 0..0 });
            return;
        }
        let name_len = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len());
        let name = TextRange::new(at, at + name_len);
        let arguments = TextRange::new(name.end, whole.end.max(name.end));
        let number = self.model.annotations.len();
        self.model.annotations.push(Annotation {
            name: name.of(self.text).to_owned(),
            name_range: name,
            arguments,
            line,
            column,
            line_end: range.end,
        });
        let kind = RegionKind::Arguments { annotation: number };
        self.model.regions.push(CodeRegion { kind, range: arguments, line, column, tokens: 0..0 });
        match item {
            Some(item) => self.model.items[item].annotations.push(number),
            None => self.pending.push(number),
        }
    }

    fn is_separator(&self, line: usize) -> bool {
        self.model.documents.last().is_some_and(|document| document.separator.is_some() && document.line == line)
    }

    /// Reads code in a string: `(@= … @)`.
    fn templated(&mut self, range: TextRange) {
        let regions = super::text_template::regions(self.text, range, &self.model.lines);
        self.model.regions.extend(regions);
    }

    fn item(&mut self, key: Option<String>, key_range: TextRange, line: usize, column: usize) -> usize {
        let parent = self.open.last().map(|open| open.0);
        self.item_below(parent, key, key_range, line, column)
    }

    fn item_below(
        &mut self,
        parent: Option<usize>,
        key: Option<String>,
        key_range: TextRange,
        line: usize,
        column: usize,
    ) -> usize {
        let document = self.model.documents.len().saturating_sub(1);
        self.model.items.push(YamlItem {
            key,
            key_range,
            value: TextRange::new(key_range.end, key_range.end),
            line,
            end_line: line,
            column,
            parent,
            document,
            annotations: std::mem::take(&mut self.pending),
            is_array_item: false,
            is_flow: false,
            has_colon: true,
        });
        self.model.items.len() - 1
    }

    /// Ends the items for which `ends` returns true.
    fn close(&mut self, ends: impl Fn(&YamlItem, usize) -> bool) {
        while let Some(&(item, column)) = self.open.last() {
            if !ends(&self.model.items[item], column) {
                break;
            }
            let end = &mut self.model.items[item].end_line;
            *end = (*end).max(self.previous);
            self.open.pop();
        }
    }
}

/// The length of the key at the start of a line, and the offset after its colon.
fn key_len(content: &str) -> Option<(usize, usize)> {
    let bytes = content.as_bytes();
    let after_colon = |at: usize| {
        (bytes.get(at) == Some(&b':') && matches!(bytes.get(at + 1), None | Some(b' ' | b'\t' | b'\r')))
            .then_some(at + 1)
    };
    match bytes.first()? {
        quote @ (b'"' | b'\'') => {
            let mut at = 1;
            while at < bytes.len() {
                match bytes[at] {
                    b'\\' if *quote == b'"' => at += 2,
                    b'\'' if *quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 2,
                    byte if byte == *quote => {
                        let rest = &content[at + 1..];
                        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
                        return Some((at + 1, after_colon(at + 1 + blanks)?));
                    }
                    _ => at += 1,
                }
            }
            None
        }
        b'{' | b'[' | b'|' | b'>' | b'#' | b'%' | b'@' | b'`' => None,
        _ => {
            let end = comment_start(content).unwrap_or(content.len());
            let at = (0..end).find(|at| after_colon(*at).is_some())?;
            Some((content[..at].trim_end().len(), at + 1))
        }
    }
}

/// The length of an anchor or a tag before a value.
fn property_len(content: &str) -> Option<usize> {
    let is_property = content.starts_with('&') || content.starts_with('!');
    is_property.then(|| content.find([' ', '\t']).unwrap_or(content.len()))
}

/// The offset of the comment in a plain text: at a `#` after a blank, or at the start.
pub(super) fn comment_start(content: &str) -> Option<usize> {
    let bytes = content.as_bytes();
    let is_start = |at: &usize| bytes[*at] == b'#' && (*at == 0 || matches!(bytes[at - 1], b' ' | b'\t'));
    let quote = bytes.first().copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let from = match quote {
        Some(quote) => bytes.iter().skip(1).position(|byte| *byte == quote).map_or(bytes.len(), |at| at + 2),
        None => 0,
    };
    (from..bytes.len()).find(is_start)
}

/// The content of a scalar without quotes.
pub(crate) fn unquoted(scalar: &str) -> String {
    let inner = |quote: char| scalar.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    match (inner('"'), inner('\'')) {
        (Some(text), _) => text.replace("\\\"", "\"").replace("\\\\", "\\"),
        (_, Some(text)) => text.replace("''", "'"),
        _ => scalar.to_owned(),
    }
}
