//! Letters and case mappings as in Go: one code point at a time, with U+FFFD for invalid UTF-8.

use ytterby_text::budget;

/// Code points between two charges of [`chars`].
const CHARS_PER_CHARGE: usize = 8192;

/// The code points of some bytes; each byte that is not UTF-8 counts as U+FFFD. They end early if a
/// limit of the run is reached.
pub(super) fn chars(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    let all = bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = std::iter::repeat_n(char::REPLACEMENT_CHARACTER, chunk.invalid().len());
        chunk.valid().chars().chain(invalid)
    });
    let mut rest = CHARS_PER_CHARGE;
    all.take_while(move |_| {
        rest -= 1;
        if rest > 0 {
            return true;
        }
        rest = CHARS_PER_CHARGE;
        budget::work(CHARS_PER_CHARGE / 8).is_ok()
    })
}

pub(super) fn to_lower(c: char) -> char {
    // The only letter with both a simple mapping and a longer one.
    if c == 'İ' { 'i' } else { single(c, c.to_lowercase()) }
}

pub(super) fn to_upper(c: char) -> char {
    single(c, c.to_uppercase())
}

/// Title case, which differs from upper case for some letters.
pub(super) fn to_title(c: char) -> char {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        _ => to_upper(c),
    }
}

pub(super) fn is_title(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1f88}'..='\u{1f8f}' | '\u{1f98}'..='\u{1f9f}' | '\u{1fa8}'..='\u{1faf}'
        | '\u{1fbc}' | '\u{1fcc}' | '\u{1ffc}')
}

/// Whether the letter has upper and lower case.
pub(super) fn is_cased(c: char) -> bool {
    c.is_ascii_alphabetic() || to_lower(c) != c || to_upper(c) != c
}

/// Whether this is a decimal digit of any script: they come in blocks of ten.
pub(super) fn is_digit(c: char) -> bool {
    let code = c as u32;
    let at = DIGIT_ZEROS.partition_point(|&zero| zero <= code);
    at > 0 && code - DIGIT_ZEROS[at - 1] < 10
}

/// Mappings to several code points are not applied.
fn single(c: char, mut mapped: impl ExactSizeIterator<Item = char>) -> char {
    if mapped.len() == 1 { mapped.next().unwrap_or(c) } else { c }
}

/// The zeros of all scripts.
const DIGIT_ZEROS: &[u32] = &[
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
    0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60,
    0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];
