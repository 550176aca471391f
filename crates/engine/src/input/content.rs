//! Bytes of an input, read when somebody asks.

use std::cell::LazyCell;
use std::fmt;
use std::rc::Rc;

type Bytes = Result<Rc<[u8]>, String>;

/// Bytes of an input. The host says how to get them; they are read once, when they are first needed, if ever. A directory
/// can hold gigabytes that no template asks for, and pipes that nobody writes to.
#[derive(Clone)]
pub struct Content(Rc<LazyCell<Bytes, Box<dyn FnOnce() -> Bytes>>>);

impl Content {
    /// Bytes that are at hand.
    pub fn new(bytes: impl Into<Rc<[u8]>>) -> Content {
        let bytes = bytes.into();
        Content::later(move || Ok(bytes))
    }

    /// Bytes that cannot be had, and why.
    pub fn failed(why: impl Into<String>) -> Content {
        let why = why.into();
        Content::later(move || Err(why))
    }

    /// Bytes that are read when they are first needed.
    pub fn later(read: impl FnOnce() -> Bytes + 'static) -> Content {
        Content(Rc::new(LazyCell::new(Box::new(read))))
    }

    /// The bytes, or the reference's text of why they cannot be read.
    pub fn read(&self) -> Bytes {
        (**self.0).clone()
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Content")
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn is_read_once_and_only_on_demand() {
        let reads = Rc::new(Cell::new(0));
        let count = Rc::clone(&reads);
        let content = Content::later(move || {
            count.set(count.get() + 1);
            Ok(b"a".as_slice().into())
        });
        assert_eq!(reads.get(), 0);
        assert_eq!(content.read().as_deref(), Ok(b"a".as_slice()));
        assert_eq!(content.clone().read().as_deref(), Ok(b"a".as_slice()));
        assert_eq!(reads.get(), 1);
        assert_eq!(Content::failed("no").read(), Err("no".into()));
    }
}
