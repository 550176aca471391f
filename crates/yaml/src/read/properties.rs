//! Anchors, tags and directives.
//!
//! Only tags of scalars have a meaning (`!!str`, `!!int`, `!!binary` and so on); `%TAG` directives
//! define handles for one document.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ytterby_text::{Str, budget};

use super::BoxedReadError;
use super::advice::Mistake;
use super::parser::{Parser, STOPPED};
use crate::Scalar;
use crate::resolve::{ImplicitType, resolve_tagged};

/// The anchor and tag in front of a node.
#[derive(Clone, Copy, Default)]
pub(super) struct Properties<'a> {
    pub(super) anchor: Option<&'a [u8]>,
    pub(super) tag: Option<Tag>,
}

impl Properties<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.anchor.is_none() && self.tag.is_none()
    }
}

/// The tags that have a meaning for scalars; all are ignored on collections.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Str,
    Typed(ImplicitType),
    Binary,
    Merge,
    /// A lone `!`.
    Bang,
    Other,
}

/// Go's standard encoding, which ignores trailing bits.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

impl Tag {
    fn new(name: &[u8]) -> Tag {
        match name.strip_prefix(b"tag:yaml.org,2002:") {
            Some(b"str") => Tag::Str,
            Some(b"null") => Tag::Typed(ImplicitType::Null),
            Some(b"bool") => Tag::Typed(ImplicitType::Bool),
            Some(b"int") => Tag::Typed(ImplicitType::Int),
            Some(b"float") => Tag::Typed(ImplicitType::Float),
            Some(b"timestamp") => Tag::Typed(ImplicitType::Timestamp),
            Some(b"binary") => Tag::Binary,
            Some(b"merge") => Tag::Merge,
            _ if name == b"!" => Tag::Bang,
            _ => Tag::Other,
        }
    }

    /// The value of a scalar with this tag, or why it cannot have the tag.
    pub(super) fn meaning(self, text: &[u8]) -> Result<Scalar, String> {
        match self {
            Tag::Str | Tag::Merge | Tag::Bang | Tag::Other => Ok(Scalar::Str(Str::new(text))),
            Tag::Typed(wanted) => resolve_tagged(text, wanted),
            Tag::Binary => {
                let packed: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
                match BASE64.decode(packed) {
                    Ok(bytes) => Ok(Scalar::Str(Str::from(bytes))),
                    Err(_) => Err("!!binary value contains invalid base64 data".to_owned()),
                }
            }
        }
    }
}

/// Bytes that a `%TAG` directive takes in addition to its prefix, charged before it is kept.
const DIRECTIVE: usize = 128;

/// The use of a prefix longer than this is charged.
const LONG_PREFIX: usize = 256;

/// The handles that `%TAG` directives define for one document; `!` and `!!` are predefined.
#[derive(Default)]
pub(super) struct TagHandles<'a>(HashMap<&'a [u8], Vec<u8>>);

impl TagHandles<'_> {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn prefix(&self, handle: &[u8]) -> Option<&[u8]> {
        match (self.0.get(handle), handle) {
            (Some(prefix), _) => Some(prefix),
            (None, b"!") => Some(b"!"),
            (None, b"!!") => Some(b"tag:yaml.org,2002:"),
            _ => None,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

impl<'a> Parser<'a> {
    /// Reads an anchor or tag, if there is one here that the node does not have yet.
    #[inline]
    pub(super) fn property(&mut self, properties: &mut Properties<'a>) -> Result<bool, BoxedReadError> {
        match self.at.byte() {
            b'&' if properties.anchor.is_none() => properties.anchor = Some(self.anchor_name()?),
            b'!' if properties.tag.is_none() => properties.tag = Some(self.tag()?),
            _ => return Ok(false),
        }
        self.value_at = self.at.pos;
        self.key_allowed = false;
        Ok(true)
    }

    /// Combines the properties of a node from several lines.
    #[inline]
    pub(super) fn merge_properties(
        &self,
        outer: Properties<'a>,
        inner: Properties<'a>,
    ) -> Result<Properties<'a>, BoxedReadError> {
        if outer.anchor.is_some() && inner.anchor.is_some() || outer.tag.is_some() && inner.tag.is_some() {
            return Err(self.parse_error("did not find expected node content"));
        }
        Ok(Properties { anchor: outer.anchor.or(inner.anchor), tag: outer.tag.or(inner.tag) })
    }

    /// Reads the name after `&` or `*`.
    pub(super) fn anchor_name(&mut self) -> Result<&'a [u8], BoxedReadError> {
        let start = self.at.pos;
        self.at.pos += 1;
        let name = self.words();
        let ended = self.at.is_blank_or_end(self.at.pos)
            || matches!(self.at.byte(), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ended {
            let error = self.scan_error("did not find expected alphabetic or numeric character");
            return Err(error.at(start).about(Mistake::Indicator));
        }
        Ok(name)
    }

    fn words(&mut self) -> &'a [u8] {
        let start = self.at.pos;
        while is_word(self.at.byte()) {
            self.at.pos += 1;
        }
        &self.at.text[start..self.at.pos]
    }

    /// Reads the tag here: `!<uri>`, `!handle!suffix` or `!suffix`.
    pub(super) fn tag(&mut self) -> Result<Tag, BoxedReadError> {
        let start = self.at.pos;
        let tag = if self.at.at(start + 1) == b'<' {
            self.at.pos += 2;
            let name = self.tag_uri(&[])?;
            if self.at.byte() != b'>' {
                return Err(self.scan_error("did not find the expected '>'"));
            }
            self.at.pos += 1;
            Tag::new(&name)
        } else {
            let handle = self.tag_handle();
            let (handle, suffix) = if handle.len() > 1 && handle.ends_with(b"!") {
                (handle, self.tag_uri(&[])?)
            } else {
                // It was not a handle, but the beginning of the suffix of `!`.
                (&handle[..1], self.tag_uri_after(&handle[1..])?)
            };
            self.end_of_tag()?;
            if handle == b"!" && suffix.is_empty() {
                return Ok(Tag::Bang);
            }
            let Some(prefix) = self.tag_handles.prefix(handle) else {
                self.at.pos = start;
                return Err(self.parse_error("found undefined tag handle"));
            };
            // Prefixes can be long, and each use of a handle copies its prefix.
            if prefix.len() > LONG_PREFIX {
                self.is_stopped |= budget::scan(prefix.len()).is_err();
            }
            return Ok(Tag::new(&[prefix, &suffix].concat()));
        };
        self.end_of_tag()?;
        Ok(tag)
    }

    fn end_of_tag(&self) -> Result<(), BoxedReadError> {
        if self.at.is_blank_or_end(self.at.pos) {
            return Ok(());
        }
        Err(self.scan_error("did not find expected whitespace or line break"))
    }

    /// Reads `!`, words, and perhaps another `!`.
    fn tag_handle(&mut self) -> &'a [u8] {
        let start = self.at.pos;
        self.at.pos += 1;
        self.words();
        if self.at.byte() == b'!' {
            self.at.pos += 1;
        }
        &self.at.text[start..self.at.pos]
    }

    fn tag_uri(&mut self, head: &[u8]) -> Result<Vec<u8>, BoxedReadError> {
        let start = self.at.pos;
        let uri = self.tag_uri_after(head)?;
        if self.at.pos == start {
            return Err(self.scan_error("did not find expected tag URI"));
        }
        Ok(uri)
    }

    fn tag_uri_after(&mut self, head: &[u8]) -> Result<Vec<u8>, BoxedReadError> {
        let mut uri = head.to_vec();
        loop {
            match self.at.byte() {
                b'%' => self.uri_escape(&mut uri)?,
                byte if is_word(byte) || b";/?:@&=+$,.!~*'()[]".contains(&byte) => {
                    uri.push(byte);
                    self.at.pos += 1;
                }
                _ => return Ok(uri),
            }
        }
    }

    /// Reads one character in the form `%41`, or `%c3%a9` if it takes several bytes.
    fn uri_escape(&mut self, uri: &mut Vec<u8>) -> Result<(), BoxedReadError> {
        let mut left = 1;
        let mut first = true;
        while left > 0 {
            let digit = |at: usize| char::from(self.at.at(at)).to_digit(16);
            let octet = match (self.at.byte(), digit(self.at.pos + 1), digit(self.at.pos + 2)) {
                (b'%', Some(high), Some(low)) => (high * 16 + low) as u8,
                _ => return Err(self.scan_error("did not find URI escaped octet")),
            };
            if first {
                left = match octet {
                    0x00..=0x7F => 1,
                    0xC0..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF7 => 4,
                    _ => return Err(self.scan_error("found an incorrect leading UTF-8 octet")),
                };
            } else if octet & 0xC0 != 0x80 {
                return Err(self.scan_error("found an incorrect trailing UTF-8 octet"));
            }
            first = false;
            uri.push(octet);
            self.at.pos += 3;
            left -= 1;
        }
        Ok(())
    }

    /// Reads the directives above a `---`.
    pub(super) fn directives(&mut self) -> Result<(), BoxedReadError> {
        let mut version = false;
        while self.at.column() == 0 && self.at.byte() == b'%' {
            let start = (self.at.pos, self.at.line, self.at.line_start);
            self.at.pos += 1;
            self.key_allowed = false;
            let name = self.words();
            if name.is_empty() {
                return Err(self.scan_error("could not find expected directive name"));
            }
            if !self.at.is_blank_or_end(self.at.pos) {
                return Err(self.scan_error("found unexpected non-alphabetical character"));
            }
            let problem = match name {
                b"YAML" => {
                    let supported = self.version()? == (1, 1);
                    let again = std::mem::replace(&mut version, true);
                    match (again, supported) {
                        (true, _) => Some("found duplicate %YAML directive"),
                        (_, false) => Some("found incompatible YAML document"),
                        _ => None,
                    }
                }
                b"TAG" => {
                    let (handle, prefix) = self.tag_directive()?;
                    if budget::text(DIRECTIVE + prefix.len()).is_err() {
                        return Err(self.scan_error(STOPPED));
                    }
                    match self.tag_handles.0.entry(handle) {
                        Entry::Occupied(_) => Some("found duplicate %TAG directive"),
                        Entry::Vacant(handle) => {
                            handle.insert(prefix);
                            None
                        }
                    }
                }
                _ => return Err(self.scan_error("found unknown directive name")),
            };
            self.blanks();
            if self.at.byte() == b'#' {
                self.at.pos = self.at.line_end(self.at.pos);
            }
            if !self.at.skip_break() && !self.at.at_end() {
                return Err(self.scan_error("did not find expected comment or line break"));
            }
            if let Some(problem) = problem {
                (self.at.pos, self.at.line, self.at.line_start) = start;
                return Err(self.parse_error(problem));
            }
            self.skip_to_token();
        }
        Ok(())
    }

    fn blanks(&mut self) {
        while self.at.is_blank(self.at.pos) {
            self.at.pos += 1;
        }
    }

    fn version(&mut self) -> Result<(u8, u8), BoxedReadError> {
        self.blanks();
        let major = self.version_number()?;
        if self.at.byte() != b'.' {
            return Err(self.scan_error("did not find expected digit or '.' character"));
        }
        self.at.pos += 1;
        Ok((major, self.version_number()?))
    }

    fn version_number(&mut self) -> Result<u8, BoxedReadError> {
        let start = self.at.pos;
        let mut number = 0;
        while self.at.byte().is_ascii_digit() {
            if self.at.pos - start == 2 {
                return Err(self.scan_error("found extremely long version number"));
            }
            number = number * 10 + (self.at.byte() - b'0');
            self.at.pos += 1;
        }
        if self.at.pos == start {
            return Err(self.scan_error("did not find expected version number"));
        }
        Ok(number)
    }

    fn tag_directive(&mut self) -> Result<(&'a [u8], Vec<u8>), BoxedReadError> {
        self.blanks();
        if self.at.byte() != b'!' {
            return Err(self.scan_error("did not find expected '!'"));
        }
        let handle = self.tag_handle();
        if handle.len() > 1 && !handle.ends_with(b"!") {
            return Err(self.scan_error("did not find expected '!'"));
        }
        if !self.at.is_blank(self.at.pos) {
            return Err(self.scan_error("did not find expected whitespace"));
        }
        self.blanks();
        let prefix = self.tag_uri(&[])?;
        if !self.at.is_blank_or_end(self.at.pos) {
            return Err(self.scan_error("did not find expected whitespace or line break"));
        }
        Ok((handle, prefix))
    }
}
