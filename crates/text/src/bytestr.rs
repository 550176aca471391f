//! The string type of YAML and Starlark: bytes, cheap to clone, short ones without allocation.
//!
//! Starlark strings are byte strings (`len("héllo")` is 6) and a slice of one need not be UTF-8, so
//! `Str` contains bytes. Almost always they are UTF-8; [`Str::to_str`] returns them as text and
//! replaces invalid bytes.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::Tiny;

/// Longest string that is stored in place.
const INLINE: usize = 22;

/// Shorter parts are copied. All parts of a string share one reference count, for which threads
/// that clone short strings would compete.
const SHORTEST_PART: usize = 256;

/// A byte string, 24 bytes in size: up to 22 bytes are stored in place, longer ones are shared.
///
/// Shared bytes never change. [`Str::push`] appends in place only if no other `Str` shares the
/// bytes, so that building a string piece by piece takes linear time. [`Str::part`] shares the
/// bytes of a longer string, which lives as long as its parts.
#[derive(Clone)]
pub struct Str(Repr);

/// Short strings are always stored in place and long ones never, so a short string never equals a
/// long one.
#[derive(Clone)]
enum Repr {
    /// More than [`INLINE`] bytes.
    Shared(Arc<Vec<u8>>),
    /// More than [`INLINE`] and up to [`SHORTEST_PART`] bytes in one allocation. All its parts are
    /// copied and nothing is appended in place, so it needs no vector.
    Fixed(Arc<[u8]>),
    /// At least [`SHORTEST_PART`] bytes: a part of the bytes of a longer string.
    Part { start: u32, len: u32, of: Arc<Vec<u8>> },
    /// The length, the bytes, and zeros as padding: equal strings agree in all 23.
    Inline([u8; 1 + INLINE]),
}

impl Str {
    /// The empty string.
    pub const EMPTY: Str = Str(Repr::Inline([0; 1 + INLINE]));

    /// A string with these bytes.
    #[inline]
    pub fn new(bytes: impl AsRef<[u8]>) -> Str {
        // Outlined, so that the many callers stay small.
        fn of(bytes: &[u8]) -> Str {
            if bytes.len() <= INLINE {
                short(bytes)
            } else if bytes.len() <= SHORTEST_PART {
                Str(Repr::Fixed(bytes.into()))
            } else {
                Str(Repr::Shared(Arc::new(bytes.to_vec())))
            }
        }
        of(bytes.as_ref())
    }

    /// The string of the first `len` bytes of a window, if it is short; `None` for strings of more
    /// than 22 bytes. The copy has no branches that depend on the length.
    ///
    /// ```
    /// use ytterby_text::Str;
    /// let window = b"name: a window of a text";
    /// assert_eq!(Str::from_window(window, 4), Some(Str::from("name")));
    /// assert_eq!(Str::from_window(window, 23), None);
    /// ```
    #[inline(always)]
    pub fn from_window(window: &[u8; 24], len: usize) -> Option<Str> {
        let [first, second, third] = MASKS.get(len)?;
        let word = |at: usize| {
            let bytes: [u8; 8] = window[at..at + 8].try_into().expect("eight bytes are eight bytes");
            u64::from_le_bytes(bytes)
        };
        let third = (word(16) & third).to_le_bytes();
        // The pieces do not overlap. So the compiler keeps them in registers until they are where
        // they belong; to copy a string that was just written in other pieces stalls the processor.
        let mut buf = [0; 1 + INLINE];
        buf[0] = len as u8;
        buf[1..9].copy_from_slice(&(word(0) & first).to_le_bytes());
        buf[9..17].copy_from_slice(&(word(8) & second).to_le_bytes());
        buf[17..21].copy_from_slice(&third[..4]);
        buf[21..23].copy_from_slice(&third[4..6]);
        Some(Str(Repr::Inline(buf)))
    }

    /// A part of a string. A long one shares the bytes, so it is not copied.
    ///
    /// # Panics
    /// If the range is not within the string.
    pub fn part(&self, range: Range<usize>) -> Str {
        let bytes = &self.as_bytes()[range.clone()];
        let (of, base) = match &self.0 {
            _ if bytes.len() == self.len() => return self.clone(),
            _ if bytes.len() < SHORTEST_PART => return Str::new(bytes),
            Repr::Inline(_) | Repr::Fixed(_) => return Str::new(bytes),
            Repr::Shared(of) => (of, 0),
            Repr::Part { start, of, .. } => (of, *start as usize),
        };
        match (u32::try_from(base + range.start), u32::try_from(bytes.len())) {
            (Ok(start), Ok(len)) => Str(Repr::Part { start, len, of: of.clone() }),
            _ => Str::new(bytes),
        }
    }

    /// Concatenates two strings.
    pub fn concat(left: &[u8], right: &[u8]) -> Str {
        let len = left.len() + right.len();
        if len <= INLINE {
            let mut buf = [0; 1 + INLINE];
            buf[0] = len as u8;
            copy_few(&mut buf[1..=left.len()], left);
            copy_few(&mut buf[1 + left.len()..=len], right);
            Str(Repr::Inline(buf))
        } else {
            let mut bytes = Vec::with_capacity(len);
            bytes.extend_from_slice(left);
            bytes.extend_from_slice(right);
            Str(Repr::Shared(Arc::new(bytes)))
        }
    }

    /// Concatenates two short strings if the result is short too; otherwise returns `None`.
    #[inline]
    pub fn concat_short(left: &Str, right: &Str) -> Option<Str> {
        let (Repr::Inline(left), Repr::Inline(right)) = (&left.0, &right.0) else { return None };
        let (start, len) = (usize::from(left[0]), usize::from(right[0]));
        if start + len > INLINE {
            return None;
        }
        let mut buf = *left;
        buf[0] = (start + len) as u8;
        copy_few(&mut buf[1 + start..1 + start + len], &right[1..=len]);
        Some(Str(Repr::Inline(buf)))
    }

    /// Appends `tail`; in place where the bytes are not shared with another string.
    pub fn push(&mut self, tail: &[u8]) {
        match &mut self.0 {
            Repr::Inline(buf) => {
                let (start, end) = (usize::from(buf[0]), usize::from(buf[0]) + tail.len());
                if end <= INLINE {
                    copy_few(&mut buf[1 + start..=end], tail);
                    buf[0] = end as u8;
                } else {
                    *self = with_room(&buf[1..=start], tail);
                }
            }
            Repr::Shared(bytes) => match Arc::get_mut(bytes) {
                Some(bytes) => bytes.extend_from_slice(tail),
                None => *self = with_room(bytes, tail),
            },
            Repr::Fixed(_) | Repr::Part { .. } => *self = with_room(self.as_bytes(), tail),
        }
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline(buf) => &buf[1..=usize::from(buf[0])],
            Repr::Shared(bytes) => bytes,
            Repr::Fixed(bytes) => bytes,
            Repr::Part { start, len, of } => part(of, *start, *len),
        }
    }

    /// Length and bytes of a short string as numbers, which are equal exactly for equal strings.
    /// `None` for strings of more than 22 bytes.
    #[inline]
    pub fn short(&self) -> Option<[u64; 3]> {
        match &self.0 {
            Repr::Inline(buf) => Some(words(buf)),
            _ => None,
        }
    }

    /// A bitwise copy of a short string; `None` for strings of more than 22 bytes.
    #[inline(always)]
    pub fn copy_short(&self) -> Option<Str> {
        match &self.0 {
            Repr::Inline(buf) => Some(Str(Repr::Inline(*buf))),
            _ => None,
        }
    }

    /// The bytes of a short string followed by zeros, and its length; `None` for strings of more
    /// than 22 bytes. An array of fixed length is copied and compared without a loop.
    #[inline(always)]
    pub fn as_window(&self) -> Option<(&[u8; INLINE], usize)> {
        match &self.0 {
            Repr::Inline(buf) => buf.last_chunk().map(|window| (window, usize::from(buf[0]))),
            _ => None,
        }
    }

    /// A string of up to 15 bytes as a number; `None` for longer ones.
    #[inline(always)]
    pub fn tiny(&self) -> Option<Tiny> {
        match &self.0 {
            Repr::Inline(buf) if buf[0] < 16 => {
                // The condition keeps the compiler from reading both words at once, which
                // `set_tiny` writes one by one.
                let second = if buf[0] > 7 { bytes_at(buf, 8) } else { 0 };
                Some(Tiny::from_words(bytes_at(buf, 0), second))
            }
            _ => None,
        }
    }

    /// Replaces a string that is stored in place; returns whether it is.
    #[inline(always)]
    pub fn set_tiny(&mut self, tiny: Tiny) -> bool {
        let Repr::Inline(buf) = &mut self.0 else { return false };
        if buf[0] > 15 {
            buf[16..].fill(0);
        }
        for (word, at) in tiny.words().into_iter().zip([0, 8]) {
            buf[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        true
    }

    /// Whether the bytes are stored in place, so that dropping the string does nothing.
    #[inline(always)]
    pub fn is_short(&self) -> bool {
        matches!(self.0, Repr::Inline(_))
    }

    /// A short ASCII string in upper case; `None` for other strings.
    #[inline]
    pub fn upper_short(&self) -> Option<Str> {
        self.other_case(b'a', b'z')
    }

    /// A short ASCII string in lower case; `None` for other strings.
    #[inline]
    pub fn lower_short(&self) -> Option<Str> {
        self.other_case(b'A', b'Z')
    }

    /// A short ASCII string with the letters in a range changed to the other case. Eight bytes are
    /// changed at a time; the length and the padding are no letters.
    #[inline(always)]
    fn other_case(&self, first: u8, last: u8) -> Option<Str> {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        let Repr::Inline(buf) = &self.0 else { return None };
        let all = words(buf);
        if (all[0] | all[1] | all[2]) & HIGH != 0 {
            return None;
        }
        // Sums that reach the high bit: from `first` on, and beyond `last`.
        let repeated = |byte: u8| u64::from_le_bytes([byte; 8]);
        let (from, beyond) = (repeated(0x80 - first), repeated(0x7f - last));
        let changed = all.map(|word| word ^ ((word + from) ^ (word + beyond)) >> 2 & repeated(0x20));
        let mut buf = [0; 1 + INLINE];
        for (word, at) in changed.into_iter().zip([0, 8, 15]) {
            buf[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        Some(Str(Repr::Inline(buf)))
    }

    /// The decimal digits of an integer, without an allocation: an integer has at most 20
    /// characters.
    #[inline]
    pub fn of_int(value: i64) -> Str {
        let mut text = ShortText::default();
        text.push_int(value);
        text.into_str()
    }

    /// The bytes; long ones that are not shared are not copied.
    pub fn into_vec(self) -> Vec<u8> {
        match self.0 {
            Repr::Shared(bytes) => Arc::unwrap_or_clone(bytes),
            Repr::Fixed(bytes) => bytes.to_vec(),
            Repr::Part { start, len, of } => part(&of, start, len).to_vec(),
            Repr::Inline(buf) => buf[1..=usize::from(buf[0])].to_vec(),
        }
    }

    /// The bytes as text, if they are UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()).ok()
    }

    /// The bytes as text, with `U+FFFD` for invalid UTF-8.
    pub fn to_str(&self) -> Cow<'_, str> {
        // The check looks at many bytes at a time, `from_utf8_lossy` at one: for a text of 2 MB, 15
        // million instructions less.
        match self.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(self.as_bytes()),
        }
    }
}

/// A short string under construction, without an allocation. Whatever does not fit is refused.
#[derive(Clone, Copy)]
pub struct ShortText {
    /// As in [`Repr::Inline`], but the length is set at the end.
    buf: [u8; 1 + INLINE],
    len: usize,
}

impl Default for ShortText {
    fn default() -> ShortText {
        ShortText { buf: [0; 1 + INLINE], len: 0 }
    }
}

impl ShortText {
    /// Appends a byte; returns whether it fits.
    #[inline(always)]
    pub fn push(&mut self, byte: u8) -> bool {
        let Some(slot) = self.buf.get_mut(1 + self.len) else { return false };
        *slot = byte;
        self.len += 1;
        true
    }

    /// Appends bytes; returns whether they fit.
    #[inline(always)]
    pub fn push_bytes(&mut self, bytes: &[u8]) -> bool {
        let start = 1 + self.len;
        let Some(slots) = self.buf.get_mut(start..start + bytes.len()) else { return false };
        copy_few(slots, bytes);
        self.len += bytes.len();
        true
    }

    /// Appends the decimal digits of an integer; returns whether they fit.
    #[inline(always)]
    pub fn push_int(&mut self, value: i64) -> bool {
        // Small numbers are by far the most frequent.
        if let 0..10 = value {
            return self.push(b'0' + value as u8);
        }
        if let 10..100 = value {
            return self.push_bytes(&PAIRS[value as usize]);
        }
        let mut digits = [0; 20];
        let start = write_digits(value, &mut digits);
        self.push_bytes(&digits[start..])
    }

    /// The string.
    #[inline(always)]
    pub fn into_str(mut self) -> Str {
        self.buf[0] = self.len as u8;
        Str(Repr::Inline(self.buf))
    }
}

/// A string of up to 22 bytes.
#[inline(always)]
fn short(bytes: &[u8]) -> Str {
    let mut buf = [0; 1 + INLINE];
    buf[0] = bytes.len() as u8;
    copy_few(&mut buf[1..=bytes.len()], bytes);
    Str(Repr::Inline(buf))
}

/// For each length of a short string, the masks that keep its bytes in the words at 0, 8 and 16.
const MASKS: [[u64; 3]; 1 + INLINE] = {
    const fn mask(len: usize, at: usize) -> u64 {
        match len.saturating_sub(at) {
            0 => 0,
            kept @ 1..8 => (1 << (8 * kept)) - 1,
            _ => u64::MAX,
        }
    }
    let mut masks = [[0; 3]; 1 + INLINE];
    let mut len = 0;
    while len <= INLINE {
        masks[len] = [mask(len, 0), mask(len, 8), mask(len, 16)];
        len += 1;
    }
    masks
};

/// Copies a few bytes; both slices have the same length. The first and the last bytes are copied as
/// words, which may overlap: a call for a length that is unknown to the compiler takes longer.
#[inline(always)]
fn copy_few(to: &mut [u8], from: &[u8]) {
    #[inline(always)]
    fn ends<const N: usize>(to: &mut [u8], from: &[u8]) -> bool {
        let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else { return false };
        if let Some(to) = to.first_chunk_mut::<N>() {
            *to = *first;
        }
        if let Some(to) = to.last_chunk_mut::<N>() {
            *to = *last;
        }
        true
    }
    if from.len() > 16 {
        if from.len() > 32 {
            to.copy_from_slice(from);
        } else {
            ends::<16>(to, from);
        }
    } else if !ends::<8>(to, from)
        && !ends::<4>(to, from)
        && !ends::<2>(to, from)
        && let ([slot], [byte]) = (to, from)
    {
        *slot = *byte;
    }
}

/// The two decimal digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut at = 0;
    while at < 100 {
        pairs[at] = [b'0' + at as u8 / 10, b'0' + at as u8 % 10];
        at += 1;
    }
    pairs
};

/// Writes an integer to the end of `digits` and returns where it begins.
#[inline]
fn write_digits(value: i64, digits: &mut [u8; 20]) -> usize {
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    while rest >= 10 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    if rest > 0 || value == 0 {
        at -= 1;
        digits[at] = b'0' + rest as u8;
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    at
}

/// Appends the decimal digits of an integer.
#[inline]
pub fn push_int(out: &mut Vec<u8>, value: i64) {
    // A copy of 20 bytes, of which those after the digits are dropped, takes less than one of a
    // length that the compiler does not know.
    let mut digits = [0; 40];
    let Some(written) = digits.first_chunk_mut() else { unreachable!("40 bytes are more than 20") };
    let start = write_digits(value, written);
    let end = out.len() + 20 - start;
    out.extend_from_slice(&digits[start..start + 20]);
    out.truncate(end);
}

/// All bytes of a short string; the last two words overlap.
#[inline]
fn words(buf: &[u8; 1 + INLINE]) -> [u64; 3] {
    let second = bytes_at(buf, 8);
    // Of a tiny string, the last word would be read from parts of two stores if it was just made;
    // see [`Tiny`].
    let third = if buf[0] < 16 { second >> 56 } else { bytes_at(buf, 15) };
    [bytes_at(buf, 0), second, third]
}

/// Eight bytes as a little-endian number. This compiles to one load at every optimisation level.
#[inline(always)]
fn bytes_at(buf: &[u8; 1 + INLINE], at: usize) -> u64 {
    let bytes: [u8; 8] = buf[at..at + 8].try_into().expect("eight bytes are eight bytes");
    u64::from_le_bytes(bytes)
}

/// The bytes of a part.
#[inline]
fn part(of: &[u8], start: u32, len: u32) -> &[u8] {
    &of[start as usize..][..len as usize]
}

/// Concatenates two strings and reserves room for more, since a caller that appends once usually
/// appends again.
fn with_room(left: &[u8], right: &[u8]) -> Str {
    let mut bytes = Vec::with_capacity((left.len() + right.len()) * 2);
    bytes.extend_from_slice(left);
    bytes.extend_from_slice(right);
    Str(Repr::Shared(Arc::new(bytes)))
}

impl Deref for Str {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Borrow<[u8]> for Str {
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl AsRef<[u8]> for Str {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Default for Str {
    fn default() -> Str {
        Str::EMPTY
    }
}

impl PartialEq for Str {
    #[inline]
    fn eq(&self, other: &Str) -> bool {
        match (&self.0, &other.0) {
            // The first word contains the length: most strings that differ, differ there.
            (Repr::Inline(a), Repr::Inline(b)) => {
                bytes_at(a, 0) == bytes_at(b, 0)
                    && bytes_at(a, 8) == bytes_at(b, 8)
                    && (a[0] < 16 || bytes_at(a, 15) == bytes_at(b, 15))
            }
            (Repr::Inline(_), _) | (_, Repr::Inline(_)) => false,
            _ => self.as_bytes() == other.as_bytes(),
        }
    }
}

impl Eq for Str {}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Str) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    fn cmp(&self, other: &Str) -> Ordering {
        match (&self.0, &other.0) {
            // Compares including the padding, so that both have the same length. Strings that are
            // equal then can differ only in zero bytes at their ends, so the length decides.
            (Repr::Inline(a), Repr::Inline(b)) => {
                let order = |at| bytes_at(a, at).swap_bytes().cmp(&bytes_at(b, at).swap_bytes());
                order(1).then_with(|| order(9)).then_with(|| order(15)).then_with(|| a[0].cmp(&b[0]))
            }
            _ => self.as_bytes().cmp(other.as_bytes()),
        }
    }
}

// As a slice of bytes, so that maps keyed by `Str` can be searched by `&[u8]`.
impl Hash for Str {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Str {
        Str::new(text)
    }
}

impl From<String> for Str {
    fn from(text: String) -> Str {
        Str::from(text.into_bytes())
    }
}

impl From<Cow<'_, str>> for Str {
    fn from(text: Cow<'_, str>) -> Str {
        match text {
            Cow::Borrowed(text) => Str::from(text),
            Cow::Owned(text) => Str::from(text),
        }
    }
}

impl From<&[u8]> for Str {
    fn from(bytes: &[u8]) -> Str {
        Str::new(bytes)
    }
}

impl<const N: usize> From<[u8; N]> for Str {
    fn from(bytes: [u8; N]) -> Str {
        Str::new(bytes)
    }
}

impl From<Vec<u8>> for Str {
    fn from(bytes: Vec<u8>) -> Str {
        if bytes.len() <= INLINE { Str::new(bytes) } else { Str(Repr::Shared(Arc::new(bytes))) }
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_str())
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_in_24_bytes_and_leaves_room_for_other_variants() {
        enum IntOrStr {
            _Int(i64),
            _Str(Str),
        }
        assert_eq!(size_of::<Str>(), 24);
        assert_eq!(size_of::<IntOrStr>(), 24);
        assert_eq!(size_of::<Option<Str>>(), 24);
    }

    #[test]
    fn bytes_can_be_taken_out() {
        for len in [0, 1, 22, 23, 1000] {
            let bytes = vec![b'x'; len];
            let text = Str::new(&bytes);
            assert_eq!(text.clone().into_vec(), bytes);
            assert_eq!(text.into_vec(), bytes);
        }
    }

    #[test]
    fn parts_are_as_good_as_copies() {
        let bytes: Vec<u8> = (0..2000).map(|at| (at % 251) as u8).collect();
        let whole = Str::new(&bytes);
        for start in (0..2000).step_by(71) {
            for end in (start..=2000).step_by(13) {
                let (part, copy) = (whole.part(start..end), Str::new(&bytes[start..end]));
                assert_eq!((&part, &*part), (&copy, &*copy));
                assert_eq!((part.cmp(&copy), part.short()), (Ordering::Equal, copy.short()));
                assert_eq!(part.clone().into_vec(), &bytes[start..end]);
                let middle = part.len() / 3..part.len() - part.len() / 3;
                assert_eq!(part.part(middle.clone()), copy.part(middle));
                let mut longer = part.clone();
                longer.push(b"end");
                assert_eq!((longer, part), (Str::concat(&copy, b"end"), copy));
            }
        }
        assert_eq!(*whole, bytes[..]);
        assert_ne!(whole.part(0..1000), whole.part(1..1001));
        let is_shared = |part: &Str, start: usize| part.as_ptr() == whole[start..].as_ptr();
        assert!(is_shared(&whole.part(0..2000), 0) && is_shared(&whole.part(20..900).part(3..600), 23));
        assert!(!is_shared(&whole.part(0..255), 0) && is_shared(&whole.part(0..256), 0));
    }

    #[test]
    fn integers_are_written_as_the_standard_library_does() {
        let mut values = vec![0, 9, 10, 99, 100, 101, 109, 110, 999, 1000, 65_535, 1_000_003, i64::MAX, i64::MIN];
        values.extend((0..63).flat_map(|bits| [1 << bits, (1 << bits) - 1, -(1 << bits)]));
        values.extend((0..19).flat_map(|zeros| [10i64.pow(zeros), 10i64.pow(zeros) - 1, -(10i64.pow(zeros))]));
        for value in values {
            let mut out = b"x".to_vec();
            push_int(&mut out, value);
            assert_eq!(out, format!("x{value}").into_bytes());
            assert_eq!(Str::of_int(value), Str::from(value.to_string()));
        }
    }

    #[test]
    fn short_texts_are_built_in_place() {
        for len in 0..40usize {
            let bytes: Vec<u8> = (0..len as u8).map(|n| n + b'0').collect();
            let mut copy = vec![0; len];
            copy_few(&mut copy, &bytes);
            assert_eq!(copy, bytes);
            let expected = (len <= INLINE).then(|| Str::new(&*b"ABCDEFGHIJKLMNOPQRSTUVWX".repeat(2)[..len].to_vec()));
            assert_eq!(Str::from_window(b"ABCDEFGHIJKLMNOPQRSTUVWX", len), expected);
            let text = Str::new(&bytes);
            let window =
                text.as_window().map(|(window, len)| (&window[..len], window[len..].iter().all(|&byte| byte == 0)));
            assert_eq!(window, (len <= INLINE).then_some((&bytes[..], true)));
            for cut in 0..=len {
                let mut text = ShortText::default();
                let fits = text.push_bytes(&bytes[..cut]) && bytes[cut..].iter().all(|byte| text.push(*byte));
                assert_eq!(fits, len <= INLINE);
                if fits {
                    assert_eq!(text.into_str(), Str::new(&bytes));
                }
                let mut text = ShortText::default();
                if text.push_bytes(&bytes[..cut]) {
                    let expected = [&bytes[..cut], b"-1234567"].concat();
                    assert_eq!(text.push_int(-1_234_567), expected.len() <= INLINE);
                    if expected.len() <= INLINE {
                        assert_eq!(text.into_str(), Str::from(expected));
                    }
                }
            }
        }
    }

    #[test]
    fn short_texts_change_their_case() {
        for text in ["", "aZ09-_", "abcdefghijklmnopqrstuv", "é", "longer than twenty-two bytes"] {
            let is_changed = text.is_ascii() && text.len() <= INLINE;
            let (upper, lower) = (text.to_ascii_uppercase(), text.to_ascii_lowercase());
            assert_eq!(Str::new(text).upper_short(), is_changed.then(|| Str::from(upper)));
            assert_eq!(Str::new(text).lower_short(), is_changed.then(|| Str::from(lower)));
        }
        for byte in 0..0x80u8 {
            let text = Str::new([byte, b'x', byte]);
            let expected = Str::new([byte, b'x', byte].to_ascii_uppercase());
            assert_eq!(text.upper_short(), Some(expected));
            let expected = Str::new([byte, b'x', byte].to_ascii_lowercase());
            assert_eq!(text.lower_short(), Some(expected));
        }
    }

    #[test]
    fn pushing_never_changes_a_clone() {
        let mut text = Str::EMPTY;
        let mut expected = Vec::new();
        for round in 0..40u8 {
            let before = text.clone();
            text.push(&[b'a' + round % 26; 3]);
            assert_eq!(before, Str::new(&expected));
            expected.extend([b'a' + round % 26; 3]);
            assert_eq!(text, Str::new(&expected));
            assert_eq!(text, Str::concat(&expected[..round as usize], &expected[round as usize..]));
            let (left, right) = (Str::new(&expected[..round as usize]), Str::new(&expected[round as usize..]));
            let short = expected.len() <= INLINE;
            assert_eq!(Str::concat_short(&left, &right), short.then(|| text.clone()));
        }
    }

    #[test]
    fn equality_ignores_how_it_is_stored() {
        for len in [0, 1, 21, 22, 23, 100] {
            let text = "x".repeat(len);
            assert_eq!(Str::new(&text), Str::from(text.clone()));
            assert_eq!(Str::new(&text).as_str(), Some(text.as_str()));
            assert_eq!(Str::new(&text).short().is_some(), len <= 22);
            for other in [text.clone() + "y", text.clone() + "\0", text.replacen('x', "\u{ff}", 1), "w".into()] {
                let (a, b) = (Str::new(&text), Str::new(&other));
                assert_eq!((a == b, a.cmp(&b)), (text == other, text.cmp(&other)));
            }
        }
    }
}
