//! Searches a text for another.
//!
//! The search of `memchr` first analyses its needle, which takes about 200 instructions. That pays
//! off in texts of more than a few words; in shorter ones comparing at each offset is faster.

use memchr::memmem;

/// Texts up to this length are searched naively.
const SHORT: usize = 64;

/// The first offset of `part` in `text`.
#[inline]
pub(crate) fn first(text: &[u8], part: &[u8]) -> Option<usize> {
    if text.len() > SHORT { memmem::find(text, part) } else { first_of_few(text, part) }
}

/// The offsets of `part`, which is not empty, in `text`, without overlaps.
#[inline]
pub(crate) fn all<'a>(text: &'a [u8], part: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
    let mut prepared = (text.len() > SHORT).then(|| memmem::find_iter(text, part));
    let mut from = 0;
    std::iter::from_fn(move || match &mut prepared {
        Some(places) => places.next(),
        None => {
            let at = from + first_of_few(&text[from..], part)?;
            from = at + part.len();
            Some(at)
        }
    })
}

fn first_of_few(text: &[u8], part: &[u8]) -> Option<usize> {
    let Some((&first, rest)) = part.split_first() else { return Some(0) };
    let mut from = 0;
    loop {
        let at = from + text[from..].iter().position(|&byte| byte == first)?;
        if text[at + 1..].starts_with(rest) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_searches_agree() {
        // All texts of two letters up to length ten, with all needles up to length four.
        let words = |longest: u32| {
            (0..=longest).flat_map(|len| {
                (0..1u32 << len).map(move |bits| (0..len).map(|at| b'a' + (bits >> at & 1) as u8).collect::<Vec<_>>())
            })
        };
        for text in words(10) {
            for part in words(4) {
                assert_eq!(first_of_few(&text, &part), memmem::find(&text, &part), "{text:?} {part:?}");
                if !part.is_empty() {
                    let expected: Vec<_> = memmem::find_iter(&text, &part).collect();
                    assert_eq!(all(&text, &part).collect::<Vec<_>>(), expected, "{text:?} {part:?}");
                }
            }
        }
    }

    #[test]
    fn long_texts_are_searched() {
        let text = "ab-".repeat(100).into_bytes();
        assert_eq!(first(&text, b"b-ab"), Some(1));
        assert_eq!(all(&text, b"b-").count(), 100);
    }
}
