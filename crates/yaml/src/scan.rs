//! Finds bytes in a text, eight at a time.
//!
//! A word of eight bytes is compared with arithmetic: the result has the highest bit of each byte
//! set that matches. A borrow can set bits above the first match too, so only the first one counts.
//! This takes about two instructions per byte, where a table of classes takes five, on every
//! processor.

/// Each byte of a word is 1.
const ONES: u64 = u64::from_le_bytes([1; 8]);
/// The highest bit of each byte of a word.
pub(crate) const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// Eight bytes of a text.
#[derive(Clone, Copy)]
pub(crate) struct Word(u64);

/// The bytes of a [`Word`] that match, by their [`HIGH`] bits; the others have no meaning. The
/// first is exact, those after it may be wrong.
#[derive(Clone, Copy)]
pub(crate) struct Marks(pub(crate) u64);

impl Word {
    #[inline(always)]
    pub(crate) fn new(bytes: &[u8; 8]) -> Word {
        Word(u64::from_le_bytes(*bytes))
    }

    /// The word at an offset.
    #[inline(always)]
    pub(crate) fn at(text: &[u8], at: usize) -> Option<Word> {
        text.get(at..)?.first_chunk().map(Word::new)
    }

    /// Bytes equal to one.
    #[inline(always)]
    pub(crate) fn is(self, byte: u8) -> Marks {
        let difference = self.0 ^ (ONES * u64::from(byte));
        Marks(difference.wrapping_sub(ONES) & !difference)
    }

    /// Bytes below an ASCII character, and bytes beyond ASCII.
    #[inline(always)]
    pub(crate) fn is_below_or_beyond_ascii(self, limit: u8) -> Marks {
        Marks(self.0.wrapping_sub(ONES * u64::from(limit)) | self.0)
    }

    /// Bytes that are not printable ASCII.
    #[inline(always)]
    pub(crate) fn is_not_printable(self) -> Marks {
        // Adding 1 to DEL sets its highest bit.
        self.is_below_or_beyond_ascii(b' ') | Marks(self.0.wrapping_add(ONES))
    }
}

impl std::ops::BitOr for Marks {
    type Output = Marks;
    #[inline(always)]
    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

/// Where the first byte from `at` on is that `marks` marks; the length of the text if there is
/// none.
#[inline(always)]
pub(crate) fn find(text: &[u8], mut at: usize, marks: impl Fn(Word) -> Marks) -> usize {
    while let Some(word) = Word::at(text, at) {
        let found = marks(word).0 & HIGH;
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    // The last bytes one by one, each as the first of a word.
    while at < text.len() && marks(Word(u64::from(text[at]))).0 & 0x80 == 0 {
        at += 1;
    }
    at
}

/// Where the first byte from `at` on is that is not a space.
#[inline(always)]
pub(crate) fn skip_spaces(text: &[u8], mut at: usize) -> usize {
    while let Some(Word(word)) = Word::at(text, at) {
        let others = word ^ (ONES * u64::from(b' '));
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while text.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_agree_with_bytes(
            text in prop::collection::vec(prop::sample::select(b"\x00\x1F !\"#:;aa~\x7F\x80\xA0\xFF\x01\x39".to_vec()), 0..40),
            from in 0..20usize,
        ) {
            let from = from.min(text.len());
            let expect = |stops: &dyn Fn(u8) -> bool| {
                text[from..].iter().position(|&byte| stops(byte)).map_or(text.len(), |len| from + len)
            };
            prop_assert_eq!(find(&text, from, |word| word.is(b':')), expect(&|byte| byte == b':'));
            prop_assert_eq!(
                find(&text, from, |word| word.is_below_or_beyond_ascii(b' ') | word.is(b'#') | word.is(b':')),
                expect(&|byte| !(b' '..0x80).contains(&byte) || matches!(byte, b'#' | b':'))
            );
            prop_assert_eq!(
                find(&text, from, Word::is_not_printable),
                expect(&|byte| !(b' '..0x7F).contains(&byte))
            );
            prop_assert_eq!(skip_spaces(&text, from), expect(&|byte| byte != b' '));
        }
    }
}
