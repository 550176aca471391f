//! Bytes of an input, read lazily.

use std::fmt;
use std::sync::{Arc, LazyLock};

use ytterby_diag::{Failure, Id};
use ytterby_text::Str;

type Bytes = Result<Str, Failure>;

/// Bytes of an input. The host defines how to read them; they are read once, when they are first
/// needed, if ever. A directory can contain gigabytes that no template uses, and pipes without a
/// writer.
#[derive(Clone)]
pub struct Content(Arc<LazyLock<Bytes, Box<dyn FnOnce() -> Bytes + Send>>>);

impl Content {
    /// Bytes in memory.
    pub fn new(bytes: impl Into<Str>) -> Content {
        let bytes = bytes.into();
        Content::later(move || Ok(bytes))
    }

    /// Bytes that cannot be read, and why.
    pub fn failed(why: Failure) -> Content {
        Content::later(move || Err(why))
    }

    /// Bytes, read lazily.
    pub fn later(read: impl FnOnce() -> Bytes + Send + 'static) -> Content {
        Content(Arc::new(LazyLock::new(Box::new(read))))
    }

    /// The bytes, or why they cannot be read.
    ///
    /// # Errors
    /// The failure of the host.
    pub fn read(&self) -> Bytes {
        (**self.0).clone()
    }

    /// A failure to read an input.
    pub fn unreadable(why: impl Into<String>) -> Failure {
        Failure::new(Id::FILE_MISSING, why.into())
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Content")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn is_read_once_and_only_on_demand() {
        let reads = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&reads);
        let content = Content::later(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(b"a".as_slice().into())
        });
        assert_eq!(reads.load(Ordering::Relaxed), 0);
        assert_eq!(&*content.read().unwrap(), b"a");
        assert_eq!(&*content.clone().read().unwrap(), b"a");
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        assert_eq!(Content::failed(Content::unreadable("no")).read().unwrap_err().to_string(), "no");
    }
}
