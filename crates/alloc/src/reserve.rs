//! The range of addresses that chunks come from.
//!
//! It is reserved once; the system provides the memory of a page when the page is first used. All
//! small blocks have addresses in this range, so a comparison distinguishes them from blocks of the
//! C library.

use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The size of a chunk.
pub(crate) const CHUNK: usize = 64 << 10;

/// The size of the range. When it is used up, small blocks come from the C library.
#[cfg(all(target_pointer_width = "64", not(miri)))]
const RANGE: usize = 8 << 30;
#[cfg(any(not(target_pointer_width = "64"), miri))]
const RANGE: usize = 1 << 20;

/// The start of the range. Until it is reserved, it is an address that no block can be after.
static START: AtomicPtr<u8> = AtomicPtr::new(ptr::without_provenance_mut(usize::MAX - RANGE));
/// The number of bytes that threads have got.
static USED: AtomicUsize = AtomicUsize::new(RANGE);

/// Reserves the range, unless that was done or tried before.
pub(crate) fn open() {
    static OPEN: Once = Once::new();
    OPEN.call_once(|| {
        if let Some(start) = reserve() {
            START.store(start, Ordering::Relaxed);
            // From here on, threads get chunks.
            USED.store(0, Ordering::Release);
        }
    });
}

/// A new chunk, aligned to its size; `None` if there is none left.
pub(crate) fn chunk() -> Option<*mut u8> {
    if USED.load(Ordering::Relaxed) > RANGE - CHUNK {
        return None;
    }
    let at = USED.fetch_add(CHUNK, Ordering::Acquire);
    if at > RANGE - CHUNK {
        return None;
    }
    // SAFETY: the chunk is inside of the range, which is one mapping.
    Some(unsafe { START.load(Ordering::Relaxed).add(at) })
}

/// Whether a block comes from a chunk.
#[inline(always)]
pub(crate) fn contains(block: *mut u8) -> bool {
    // A thread that has a block from a chunk sees the start, which was stored before the block was
    // cut off.
    block.addr().wrapping_sub(START.load(Ordering::Relaxed).addr()) < RANGE
}

#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
fn reserve() -> Option<*mut u8> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    // On Linux, without a reservation of swap space for pages that nobody uses.
    #[cfg(target_os = "linux")]
    let flags = MapFlags::PRIVATE.union(MapFlags::NORESERVE);
    #[cfg(not(target_os = "linux"))]
    let flags = MapFlags::PRIVATE;
    // SAFETY: a new mapping at an address that the system chooses changes no memory that is in use.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), RANGE, ProtFlags::READ.union(ProtFlags::WRITE), flags) };
    start.ok().map(|start| start.cast())
}

#[cfg(miri)]
fn reserve() -> Option<*mut u8> {
    use std::alloc::{GlobalAlloc, Layout, System};
    let layout = Layout::from_size_align(RANGE, CHUNK).ok()?;
    // SAFETY: the layout is not empty.
    let start = unsafe { System.alloc(layout) };
    (!start.is_null()).then_some(start)
}

/// On other systems, everything comes from the C library.
#[cfg(not(any(all(unix, target_pointer_width = "64"), miri)))]
fn reserve() -> Option<*mut u8> {
    None
}
