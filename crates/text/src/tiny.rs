//! Strings of up to 15 bytes as numbers.
//!
//! Most strings that programs put together are short. Written to memory byte by byte and then read
//! as words, they cost more than their instructions: a processor delays a load that is wider than
//! the stores before it by a dozen cycles. As two machine words they are joined, searched and
//! changed by shifts and masks, without memory in between.

use crate::Str;

/// A string of up to 15 bytes: the length in the lowest byte, then the bytes, then zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tiny(u128);

/// The longest one.
const MOST: usize = 15;

/// A byte in all places.
const fn all(byte: u8) -> u128 {
    u128::from_le_bytes([byte; 16])
}

/// The lowest bytes.
#[inline(always)]
fn lowest(value: u128, count: usize) -> u128 {
    value & !(u128::MAX << (8 * count))
}

impl Tiny {
    /// The empty string.
    pub const EMPTY: Tiny = Tiny(0);

    /// The string with these bytes; `None` if they are more than 15.
    #[inline(always)]
    pub fn new(bytes: &[u8]) -> Option<Tiny> {
        // The first and the last bytes may overlap: where they do, they agree.
        let len = bytes.len();
        let data = if len > MOST {
            return None;
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            u128::from(u64::from_le_bytes(*first)) | u128::from(u64::from_le_bytes(*last)) << (8 * (len - 8))
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            u128::from(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4)))
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            u128::from(u32::from(u16::from_le_bytes(*first)) | u32::from(u16::from_le_bytes(*last)) << (8 * (len - 2)))
        } else {
            bytes.first().map_or(0, |byte| u128::from(*byte))
        };
        Some(Tiny(data << 8 | len as u128))
    }

    /// From the first 16 bytes of a string that is stored in place.
    #[inline(always)]
    pub(crate) fn from_words(first: u64, second: u64) -> Tiny {
        Tiny(u128::from(first) | u128::from(second) << 64)
    }

    #[inline(always)]
    pub(crate) fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// The number of bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        usize::from(self.0 as u8)
    }

    /// Whether it has no bytes.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    fn data(self) -> u128 {
        self.0 >> 8
    }

    /// Both strings one after the other, if the result is tiny.
    #[inline(always)]
    pub fn concat(self, tail: Tiny) -> Option<Tiny> {
        let len = self.len();
        if len + tail.len() > MOST {
            return None;
        }
        // The sum of the lengths stays in its byte.
        Some(Tiny((self.0 + tail.len() as u128) | (tail.0 & !0xff) << (8 * len)))
    }

    /// The decimal digits of an integer that is not negative and has up to eight.
    #[inline(always)]
    pub fn of_int(value: i64) -> Option<Tiny> {
        /// Two decimal digits, the first in the lower byte.
        #[inline(always)]
        fn pair(value: u32) -> u64 {
            u64::from((value / 10) | (value % 10) << 8 | 0x3030)
        }
        let Ok(value @ 0..100_000_000) = u32::try_from(value) else { return None };
        let (mut rest, mut digits, mut len) = (value, 0, 0);
        while rest >= 100 {
            digits = digits << 16 | pair(rest % 100);
            rest /= 100;
            len += 2;
        }
        if rest >= 10 {
            digits = digits << 16 | pair(rest);
            len += 2;
        } else {
            digits = digits << 8 | u64::from(rest + 0x30);
            len += 1;
        }
        Some(Tiny(u128::from(digits) << 8 | len))
    }

    /// In upper case; `None` if it is not ASCII.
    #[inline(always)]
    pub fn upper(self) -> Option<Tiny> {
        self.other_case(all(0x80 - b'a'), all(0x7f - b'z'))
    }

    /// In lower case; `None` if it is not ASCII.
    #[inline(always)]
    pub fn lower(self) -> Option<Tiny> {
        self.other_case(all(0x80 - b'A'), all(0x7f - b'Z'))
    }

    /// Changes the case of letters. The sums reach the high bit of a byte from the first letter on,
    /// and beyond the last one; the length and the padding are no letters.
    #[inline(always)]
    fn other_case(self, from: u128, beyond: u128) -> Option<Tiny> {
        if self.0 & all(0x80) != 0 {
            return None;
        }
        Some(Tiny(self.0 ^ ((self.0 + from) ^ (self.0 + beyond)) >> 2 & all(0x20)))
    }

    /// Whether it begins with another string.
    #[inline(always)]
    pub fn starts_with(self, head: Tiny) -> bool {
        head.len() <= self.len() && lowest(self.data() ^ head.data(), head.len()) == 0
    }

    /// Whether it ends with another string.
    #[inline(always)]
    pub fn ends_with(self, tail: Tiny) -> bool {
        tail.len() <= self.len() && self.data() >> (8 * (self.len() - tail.len())) == tail.data()
    }

    /// Replaces all occurrences of `old`, which is not empty, and counts them; `None` if the result
    /// is not tiny.
    #[inline(always)]
    pub fn replace(self, old: Tiny, new: Tiny) -> Option<(Tiny, usize)> {
        let first = all(old.data() as u8);
        let (mut rest, mut out, mut count) = (self, Tiny::EMPTY, 0);
        // The offset at which to continue in `rest`.
        let mut from = 0;
        loop {
            // The lowest marked byte is the first that equals the first byte of `old`; others may
            // be marked wrongly.
            let different = (rest.data() ^ first) >> (8 * from);
            let marked = different.wrapping_sub(all(1)) & !different & all(0x80);
            let at = from + marked.trailing_zeros() as usize / 8;
            if at + old.len() > rest.len() {
                return Some((out.concat(rest)?, count));
            }
            if lowest(rest.data() >> (8 * at) ^ old.data(), old.len()) != 0 {
                from = at + 1;
                continue;
            }
            out = out.concat(rest.part(0, at))?.concat(new)?;
            rest = rest.part(at + old.len(), rest.len());
            count += 1;
            from = 0;
        }
    }

    /// The bytes from `start` to `end`.
    #[inline(always)]
    fn part(self, start: usize, end: usize) -> Tiny {
        Tiny(lowest(self.data() >> (8 * start), end - start) << 8 | (end - start) as u128)
    }
}

impl From<Tiny> for Str {
    #[inline(always)]
    fn from(tiny: Tiny) -> Str {
        let mut text = Str::EMPTY;
        text.set_tiny(tiny);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny(bytes: &[u8]) -> Tiny {
        Tiny::new(bytes).expect("it is tiny")
    }

    #[track_caller]
    fn check(tiny: Tiny, bytes: &[u8]) {
        assert_eq!(Str::from(tiny).as_bytes(), bytes);
        assert_eq!(Str::from(tiny), Str::new(bytes), "the padding too");
        assert_eq!((tiny.len(), tiny.is_empty()), (bytes.len(), bytes.is_empty()));
    }

    /// Texts of all lengths with repetitions, zeros, and bytes that are neighbours.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        let alphabets: [&[u8]; 4] = [b"ab", b"Aaz{@Z[`", &[0, 1, b'a'], &[0x7f, 0x80, 0xff]];
        (0..=15usize).flat_map(move |len| {
            alphabets.into_iter().flat_map(move |alphabet| {
                (0..7usize).map(move |seed| {
                    (0..len).map(|at| alphabet[(seed * 31 + at * (seed + 1) + at / 3) % alphabet.len()]).collect()
                })
            })
        })
    }

    #[test]
    fn bytes_become_a_string() {
        for text in texts() {
            check(tiny(&text), &text);
            assert_eq!(Str::new(&text).tiny(), Some(tiny(&text)));
        }
        assert_eq!(Tiny::new(&[b'a'; 16]), None);
        assert_eq!(Str::new([b'a'; 16]).tiny(), None);
        assert_eq!(Str::new([b'a'; 23]).tiny(), None);
    }

    #[test]
    fn a_string_changes_in_place() {
        for old in 0..40 {
            let mut text = Str::new(vec![b'x'; old]);
            let is_short = text.is_short();
            assert_eq!(text.set_tiny(tiny(b"abc")), is_short);
            assert_eq!(text, if is_short { Str::new("abc") } else { Str::new(vec![b'x'; old]) });
        }
    }

    #[test]
    fn numbers_become_digits() {
        let numbers =
            (0..=8).flat_map(|power| [-1, 0, 1].map(|by| 10i64.pow(power) + by)).chain([12, 345, 6789, 54321]);
        for number in numbers {
            match Tiny::of_int(number) {
                Some(text) => check(text, number.to_string().as_bytes()),
                None => assert!(number >= 100_000_000, "{number}"),
            }
        }
        assert_eq!((Tiny::of_int(-1), Tiny::of_int(i64::MAX)), (None, None));
    }

    #[test]
    fn operations_agree_with_those_of_slices() {
        for text in texts() {
            let upper = tiny(&text).upper();
            assert_eq!(upper.is_some(), text.is_ascii());
            if let (Some(upper), Some(lower)) = (upper, tiny(&text).lower()) {
                check(upper, &text.to_ascii_uppercase());
                check(lower, &text.to_ascii_lowercase());
            }
            for other in texts().chain((0..=text.len()).flat_map(|at| [text[at..].to_vec(), text[..at].to_vec()])) {
                assert_eq!(tiny(&text).starts_with(tiny(&other)), text.starts_with(&other), "{text:?} {other:?}");
                assert_eq!(tiny(&text).ends_with(tiny(&other)), text.ends_with(&other), "{text:?} {other:?}");
                match tiny(&text).concat(tiny(&other)) {
                    Some(both) => check(both, &[text.clone(), other].concat()),
                    None => assert!(text.len() + other.len() > 15),
                }
            }
        }
    }

    #[test]
    fn replacing_agrees_with_that_of_slices() {
        let slowly = |text: &[u8], old: &[u8], new: &[u8]| {
            let (mut out, mut at, mut count) = (Vec::new(), 0, 0);
            while at < text.len() {
                if text[at..].starts_with(old) {
                    out.extend_from_slice(new);
                    at += old.len();
                    count += 1;
                } else {
                    out.push(text[at]);
                    at += 1;
                }
            }
            (out, count)
        };
        for text in texts() {
            for old in texts().filter(|old| (1..=4).contains(&old.len())) {
                for new in [&b""[..], b"x", b"ab", &[0], b"long text"] {
                    let (expected, count) = slowly(&text, &old, new);
                    match tiny(&text).replace(tiny(&old), tiny(new)) {
                        Some((out, counted)) => {
                            check(out, &expected);
                            assert_eq!(counted, count);
                        }
                        None => assert!(count > 0 && text.len() + count * new.len() > 15, "{text:?} {old:?} {new:?}"),
                    }
                }
            }
        }
    }
}
