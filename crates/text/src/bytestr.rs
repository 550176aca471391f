//! The string type of both languages: bytes, cheap to clone, short ones without allocation.
//!
//! Starlark strings are byte strings (`len("héllo")` is 6) and a slice of one need not be UTF-8, so `Str` holds bytes.
//! Almost always they are UTF-8; [`Str::to_str`] gives them as text and replaces what is not.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// Longest string that is stored in place.
const INLINE: usize = 22;

/// An immutable byte string, 24 bytes in size: up to 22 bytes are stored in place, longer ones are shared.
#[derive(Clone)]
pub struct Str(Repr);

#[derive(Clone)]
enum Repr {
    Inline(u8, [u8; INLINE]),
    Shared(Rc<[u8]>),
}

impl Str {
    /// The empty string.
    pub const EMPTY: Str = Str(Repr::Inline(0, [0; INLINE]));

    /// A string with these bytes.
    pub fn new(bytes: impl AsRef<[u8]>) -> Str {
        let bytes = bytes.as_ref();
        if bytes.len() <= INLINE {
            let mut buf = [0; INLINE];
            buf[..bytes.len()].copy_from_slice(bytes);
            Str(Repr::Inline(bytes.len() as u8, buf))
        } else {
            Str(Repr::Shared(Rc::from(bytes)))
        }
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline(len, buf) => &buf[..*len as usize],
            Repr::Shared(bytes) => bytes,
        }
    }

    /// The bytes as text, if they are UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()).ok()
    }

    /// The bytes as text, with `U+FFFD` in place of what is not UTF-8.
    pub fn to_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.as_bytes())
    }
}

impl Deref for Str {
    type Target = [u8];
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
    fn eq(&self, other: &Str) -> bool {
        self.as_bytes() == other.as_bytes()
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
        self.as_bytes().cmp(other.as_bytes())
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

impl From<&[u8]> for Str {
    fn from(bytes: &[u8]) -> Str {
        Str::new(bytes)
    }
}

impl From<Vec<u8>> for Str {
    fn from(bytes: Vec<u8>) -> Str {
        if bytes.len() <= INLINE { Str::new(bytes) } else { Str(Repr::Shared(Rc::from(bytes))) }
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
        enum Value {
            _Int(i64),
            _Str(Str),
        }
        assert_eq!(size_of::<Str>(), 24);
        assert_eq!(size_of::<Value>(), 24);
        assert_eq!(size_of::<Option<Str>>(), 24);
    }

    #[test]
    fn equality_ignores_how_it_is_stored() {
        for len in [0, 1, 21, 22, 23, 100] {
            let text = "x".repeat(len);
            assert_eq!(Str::new(&text), Str::from(text.clone()));
            assert_eq!(Str::new(&text).as_str(), Some(text.as_str()));
        }
    }
}
