//! Decides how a string must be quoted so that it reads back as the same string.
//!
//! The decision matches the reference: plain if possible, otherwise in quotes or as a block,
//! depending on the characters and on what a plain text would be resolved to. Most strings are
//! plain ASCII, for which there are fast paths.

use ytterby_text::Str;

use crate::resolve::{is_base60, is_plain_string, is_surely_string};
use crate::scan::{HIGH, Word};

/// The ways to write a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quoting {
    Plain,
    Single,
    Double,
    Literal,
}

/// Can be part of a plain scalar; a space only inside, `:` and `#` depending on their neighbours.
const SAFE: u8 = 1;
/// Cannot be the first byte of a plain scalar, or only sometimes.
const INDICATOR: u8 = 2;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let indicators = b"#,[]{}&*!|>'\"%@`?:-. ";
    let mut at = 0;
    while at < indicators.len() {
        classes[indicators[at] as usize] |= INDICATOR;
        at += 1;
    }
    at = 0x20;
    while at < 0x7F {
        if at as u8 != b':' && at as u8 != b'#' {
            classes[at] |= SAFE;
        }
        at += 1;
    }
    classes
};

/// Writes a string if it needs no quotes: a name, a path, a sentence. Most strings do not.
#[inline(always)]
pub(super) fn write_plain(text: &Str, out: &mut Vec<u8>) -> bool {
    match text.as_window() {
        // All bytes of a short string are looked at and copied at once, whatever its length is.
        Some((window, len)) => {
            let is_plain = is_plain(&window[..len], short_content(window, len));
            if is_plain {
                push_window(out, window, len);
            }
            is_plain
        }
        None => {
            let is_plain = is_plain(text, content(text));
            if is_plain {
                out.extend_from_slice(text);
            }
            is_plain
        }
    }
}

/// Whether a string is written without quotes, on one line; `false` if in doubt.
pub(super) fn is_surely_plain(text: &Str) -> bool {
    match text.as_window() {
        Some((window, len)) => is_plain(&window[..len], short_content(window, len)),
        None => is_plain(text, content(text)),
    }
}

/// Appends a string.
#[inline(always)]
pub(super) fn push(out: &mut Vec<u8>, text: &Str) {
    match text.as_window() {
        Some((window, len)) => push_window(out, window, len),
        None => out.extend_from_slice(text),
    }
}

/// Appends the first `len` bytes of a window. It copies all and drops the rest: a copy of a length
/// that the compiler knows takes a few instructions, a call to copy a few bytes about thirty.
#[inline(always)]
pub(super) fn push_window<const N: usize>(out: &mut Vec<u8>, window: &[u8; N], len: usize) {
    let end = out.len() + len;
    out.extend_from_slice(window);
    out.truncate(end);
}

/// Properties of the bytes of a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct StringTraits {
    /// There are bytes that are not printable ASCII.
    other: bool,
    /// There are `:` or `#`.
    marks: bool,
}

/// The content of a short string in a window.
#[inline(always)]
fn short_content(window: &[u8; 22], len: usize) -> StringTraits {
    let Some(masks) = MASKS.get(len) else { return StringTraits { other: true, marks: true } };
    let (mut other, mut marks) = (0, 0);
    for (at, mask) in [0, 8, 14].into_iter().zip(masks) {
        if at > 0 && at >= len {
            break;
        }
        let (more_other, more_marks) = Word::at(window, at).map_or((HIGH, HIGH), marked);
        other |= more_other & mask;
        marks |= more_marks & mask;
    }
    StringTraits { other: other != 0, marks: marks != 0 }
}

/// For each length of a short string, the highest bit of its bytes in the words at 0, 8 and 14.
const MASKS: [[u64; 3]; 23] = {
    const fn mask(len: usize, at: usize) -> u64 {
        match len.saturating_sub(at) {
            0 => 0,
            kept @ 1..8 => HIGH & ((1 << (8 * kept)) - 1),
            _ => HIGH,
        }
    }
    let mut masks = [[0; 3]; 23];
    let mut len = 0;
    while len < 23 {
        masks[len] = [mask(len, 0), mask(len, 8), mask(len, 14)];
        len += 1;
    }
    masks
};

/// The bytes of a word that are not printable ASCII, and those that are `:` or `#`.
#[inline(always)]
fn marked(word: Word) -> (u64, u64) {
    (word.is_not_printable().0, (word.is(b':') | word.is(b'#')).0)
}

/// The content of a string of at least eight bytes.
#[inline]
fn content(text: &[u8]) -> StringTraits {
    // The last word overlaps the one before it.
    let (mut other, mut marks) = text.last_chunk().map_or((HIGH, HIGH), |last| marked(Word::new(last)));
    for word in text.as_chunks().0 {
        let (more_other, more_marks) = marked(Word::new(word));
        other |= more_other;
        marks |= more_marks;
    }
    StringTraits { other: other & HIGH != 0, marks: marks & HIGH != 0 }
}

/// A fast check whether a string needs no quotes.
#[inline(always)]
fn is_plain(text: &[u8], content: StringTraits) -> bool {
    let (Some(&first), Some(&last)) = (text.first(), text.last()) else { return false };
    if CLASSES[first as usize] & INDICATOR != 0 || last == b' ' || content.other {
        return false;
    }
    // Without a colon it cannot be a base-60 number.
    (is_surely_string(text) || is_plain_string(text)) && (!content.marks || marks_are_inside(text) && !is_base60(text))
}

/// Whether no `:` ends a key and no `#` begins a comment.
fn marks_are_inside(text: &[u8]) -> bool {
    memchr::memchr2_iter(b':', b'#', text).all(|at| match text[at] {
        b':' => text.get(at + 1).is_some_and(|&byte| byte != b' '),
        _ => at > 0 && text[at - 1] != b' ',
    })
}

/// The quoting for a string that is UTF-8.
pub(super) fn quoting(text: &[u8]) -> Quoting {
    if text.is_empty() {
        return Quoting::Double;
    }
    let found = analyze_ascii(text).unwrap_or_else(|| analyze(text));
    if text.contains(&b'\n') {
        return if found.block { Quoting::Literal } else { Quoting::Double };
    }
    if !is_plain_string(text) || is_base60(text) {
        return Quoting::Double;
    }
    if found.plain {
        Quoting::Plain
    } else if found.single {
        Quoting::Single
    } else {
        Quoting::Double
    }
}

/// The quoting styles that the characters of a string allow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AllowedStyles {
    plain: bool,
    single: bool,
    block: bool,
}

/// Like [`analyze`] for texts of printable ASCII and line feeds, which most are; `None` for others.
/// The passes over all bytes have no branches, so that they are vectorised: 1 instruction per byte
/// instead of 65.
fn analyze_ascii(text: &[u8]) -> Option<AllowedStyles> {
    let &last = text.last()?;
    let (mut breaks, mut other) = (false, false);
    for &byte in text {
        breaks |= byte == b'\n';
        other |= byte.wrapping_sub(b' ') > b'~' - b' ' && byte != b'\n';
    }
    if other {
        return None;
    }
    if !breaks {
        return Some(AllowedStyles { plain: is_plain_line(text), single: true, block: last != b' ' });
    }
    let (mut space_before_break, mut break_before_space) = (false, false);
    for (&byte, &next) in text.iter().zip(&text[1..]) {
        space_before_break |= byte == b' ' && next == b'\n';
        break_before_space |= byte == b'\n' && next == b' ';
    }
    let quoted = !space_before_break;
    Some(AllowedStyles { plain: false, single: quoted && !break_before_space, block: quoted && last != b' ' })
}

/// Whether a line of printable ASCII can be a plain scalar.
fn is_plain_line(text: &[u8]) -> bool {
    let begins_well = match text[0] {
        b'?' | b'-' => text.get(1).is_some_and(|&byte| byte != b' ') && !text.starts_with(b"---"),
        b'.' => !text.starts_with(b"..."),
        b':' => true,
        first => CLASSES[first as usize] & INDICATOR == 0,
    };
    begins_well && text[text.len() - 1] != b' ' && marks_are_inside(text)
}

fn analyze(text: &[u8]) -> AllowedStyles {
    let mut plain = !(text.starts_with(b"---") || text.starts_with(b"..."));
    let (mut special, mut breaks) = (false, false);
    let (mut space_before_break, mut break_before_space) = (false, false);
    let (mut after_space, mut after_break, mut after_blank) = (false, false, true);
    let mut at = 0;
    while at < text.len() {
        // Most characters of such a text are ASCII that decides nothing: 5 instructions each
        // instead of 65.
        let start = at;
        while at > 0 && text.get(at).is_some_and(|byte| CLASSES[*byte as usize] & SAFE != 0 && *byte != b' ') {
            at += 1;
        }
        if at > start {
            (after_space, after_break, after_blank) = (false, false, false);
            continue;
        }
        let byte = text[at];
        let width = char_width(byte);
        let before_blank = text.get(at + width).is_none_or(|&next| matches!(next, b' ' | b'\t'));
        match byte {
            b'?' | b'-' if at == 0 => plain &= !before_blank,
            b':' => plain &= !before_blank,
            b'#' => plain &= !after_blank,
            _ if at == 0 => plain &= CLASSES[byte as usize] & INDICATOR == 0 || matches!(byte, b'.' | b' '),
            _ => {}
        }
        special |= !is_printable(&text[at..]);
        let is_break = is_break(&text[at..]);
        if byte == b' ' {
            break_before_space |= after_break;
        } else if is_break {
            breaks = true;
            space_before_break |= after_space;
        }
        after_space = byte == b' ';
        after_break = is_break;
        after_blank = is_break || matches!(byte, b' ' | b'\t' | 0);
        at += width;
    }
    let leading = text[0] == b' ';
    let trailing = text[text.len() - 1] == b' ';
    let quoted = !space_before_break && !special;
    AllowedStyles {
        plain: plain && quoted && !breaks && !leading && !trailing,
        single: quoted && !break_before_space,
        block: quoted && !trailing,
    }
}

pub(super) fn char_width(byte: u8) -> usize {
    match byte {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

/// Whether a text begins with a line break of YAML 1.1.
pub(super) fn is_break(text: &[u8]) -> bool {
    matches!(text, [b'\n' | b'\r', ..] | [0xC2, 0x85, ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..])
}

/// Whether a text begins with a character that needs no escape. The reference escapes all beyond
/// U+FFFF.
pub(super) fn is_printable(text: &[u8]) -> bool {
    match text {
        [b'\n' | 0x20..=0x7E, ..] => true,
        [0xC2, next, ..] => *next >= 0xA0,
        [0xEF, 0xBB, 0xBF, ..] | [0xEF, 0xBF, 0xBE | 0xBF, ..] => false,
        [0xC3..=0xEF, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text of up to six characters of the alphabet.
    fn texts(alphabet: &[&str]) -> impl Iterator<Item = String> {
        let count = alphabet.len();
        let alphabet: Vec<String> = alphabet.iter().map(|part| (*part).to_owned()).collect();
        (1..=6u32).flat_map(move |len| {
            let alphabet = alphabet.clone();
            (0..count.pow(len))
                .map(move |n| (0..len).map(|at| alphabet[n / count.pow(at) % count].as_str()).collect::<String>())
        })
    }

    #[test]
    fn the_content_of_any_length_is_found() {
        for len in 1..50 {
            for at in 0..len {
                for byte in [b'a', b':', b'#', b'\n', 0, 0x1F, b' ', b'~', 0x7F, 0x80, 0xFF] {
                    let mut text = vec![b'x'; len];
                    text[at] = byte;
                    let expected =
                        StringTraits { other: !(b' '..=b'~').contains(&byte), marks: matches!(byte, b':' | b'#') };
                    if len >= 8 {
                        assert_eq!(content(&text), expected, "{byte:#x} at {at} of {len}");
                    }
                    if let Some((window, len)) = Str::new(&text).as_window() {
                        assert_eq!(short_content(window, len), expected, "{byte:#x} at {at} of {len}, short");
                    }
                }
            }
        }
    }

    #[test]
    fn the_fast_path_agrees_with_the_general_code() {
        let (mut short, mut plain) = (0, 0);
        for alphabet in
            [&[" ", "a", ":", "#", "-", "\n"][..], &["'", "?", ".", "\n", " ", "\t"], &["-", ".", "[", "~", "é", "\r"]]
        {
            for text in texts(alphabet) {
                // A text that is short, and one that is not.
                for long in ["", "words before it, 1 2 3 "] {
                    let text = [long, &text].concat();
                    let mut out = b"x".to_vec();
                    let is_plain = write_plain(&Str::from(&*text), &mut out);
                    assert_eq!(out[1..], text.as_bytes()[..if is_plain { text.len() } else { 0 }]);
                    assert!(!is_plain || quoting(text.as_bytes()) == Quoting::Plain, "{text:?}");
                    plain += usize::from(is_plain);
                }
                if let Some(found) = analyze_ascii(text.as_bytes()) {
                    assert_eq!(found, analyze(text.as_bytes()), "{text:?}");
                    short += 1;
                }
            }
        }
        assert!(short > 50_000 && plain > 10_000, "the short way is taken: {short} {plain}");
    }
}
