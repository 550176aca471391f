//! A memory allocator for programs that run once and end.
//!
//! A render allocates millions of small blocks, frees some and ends. For this pattern the allocator
//! of the C library does too much: it stores a header before each block, merges neighbours, and
//! searches lists. Here, a small block comes from the list of free blocks of its size, or is cut
//! off a chunk of new memory: about ten instructions. Freeing puts it into the list of its size.
//! Memory is never returned to the system and blocks are never merged, so servers must not use it:
//! it is off until a thread calls [`use_on_this_thread`]. Large blocks always come from the C
//! library.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: ytterby_alloc::RunAllocator = ytterby_alloc::RunAllocator;
//!
//! ytterby_alloc::use_on_this_thread();
//! assert_eq!(vec![1, 2].len(), 2);
//! ```

mod reserve;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

/// Sizes of small blocks are multiples of this, and it is their alignment.
const STEP: usize = 8;
/// The size of the largest small block.
const LARGEST: usize = 1024;
/// The number of different sizes of small blocks.
const CLASSES: usize = LARGEST / STEP;

/// The allocator, for `#[global_allocator]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunAllocator;

/// Lets this thread take small blocks from memory that is never returned to the system.
pub fn use_on_this_thread() {
    reserve::open();
    keep_large_blocks();
    LOCAL.with(|local| local.on.set(true));
}

/// Lets the C library keep freed memory for the next block. Otherwise it returns large blocks at
/// once, and the next one needs new pages, which takes longer than filling them.
fn keep_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    for (parameter, bytes) in [(libc::M_MMAP_THRESHOLD, 32 << 20), (libc::M_TRIM_THRESHOLD, 64 << 20)] {
        // SAFETY: the C library synchronises changes of its parameters.
        unsafe { libc::mallopt(parameter, bytes) };
    }
}

/// A free block. The rest of it is unused.
struct Free {
    next: *mut Free,
}

/// The memory of one thread. Blocks belong to no thread: freeing puts them into a list of the
/// thread that frees them.
struct Local {
    /// The free blocks of each size.
    free: [Cell<*mut Free>; CLASSES],
    /// The unused part of the current chunk. Both are multiples of [`STEP`].
    chunk: Cell<*mut u8>,
    left: Cell<usize>,
    on: Cell<bool>,
}

thread_local! {
    // Not lazy and never dropped: a thread can use it from its first to its last instruction,
    // without an allocation.
    static LOCAL: Local = const {
        Local {
            free: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            chunk: Cell::new(ptr::null_mut()),
            left: Cell::new(0),
            on: Cell::new(false),
        }
    };
}

/// The class of a layout, or `None` if it is not small.
#[inline(always)]
fn class_of(layout: Layout) -> Option<usize> {
    // The caller of an allocator never asks for no bytes, but zero would only wrap to a large
    // number here.
    let class = layout.size().wrapping_sub(1) / STEP;
    (class < CLASSES && layout.align() <= STEP).then_some(class)
}

#[inline(always)]
fn size_of_class(class: usize) -> usize {
    (class + 1) * STEP
}

impl Local {
    /// A block of a class, or null if there is none: then [`Local::refill`].
    #[inline(always)]
    fn take(&self, class: usize) -> *mut u8 {
        let head = self.free[class].get();
        if !head.is_null() {
            // SAFETY: blocks in the list are free and have room for a `Free`, which `put` has
            // written. The list is this thread's, so nobody else takes the block.
            self.free[class].set(unsafe { (*head).next });
            return head.cast();
        }
        let size = size_of_class(class);
        let Some(left) = self.left.get().checked_sub(size) else { return ptr::null_mut() };
        let block = self.chunk.get();
        self.left.set(left);
        // SAFETY: the chunk has `left + size` unused bytes from `block` on.
        self.chunk.set(unsafe { block.add(size) });
        block
    }

    /// Adds a free block of a class.
    ///
    /// # Safety
    /// The block has the size and alignment of the class, and nobody uses it.
    #[inline(always)]
    unsafe fn put(&self, block: *mut u8, class: usize) {
        let block = block.cast::<Free>();
        // SAFETY: the block is unused, and the smallest class has the size and alignment of a
        // pointer.
        unsafe { block.write(Free { next: self.free[class].get() }) };
        self.free[class].set(block);
    }

    /// A block from a new chunk, or from the C library if this thread gets none.
    #[cold]
    #[inline(never)]
    fn refill(&self, class: usize) -> *mut u8 {
        if self.on.get()
            && let Some(chunk) = reserve::chunk()
        {
            if let Some(rest) = (self.left.get() / STEP).checked_sub(1) {
                // SAFETY: it is unused, and it is smaller than the block that did not fit, so there
                // is a class for it.
                unsafe { self.put(self.chunk.get(), rest) };
            }
            self.chunk.set(chunk);
            self.left.set(reserve::CHUNK);
            return self.take(class);
        }
        match Layout::from_size_align(size_of_class(class), STEP) {
            // SAFETY: the layout is not empty.
            Ok(layout) => unsafe { System.alloc(layout) },
            Err(_) => ptr::null_mut(),
        }
    }
}

// SAFETY: a block is either from a chunk (small; its address is in the reserved range) or from
// `System`. `dealloc` and `realloc` tell them apart by the address, whichever thread and mode
// allocated it. A chunk is given to one thread, blocks cut from it do not overlap, and a block is
// in at most one list, because it gets there only when it is freed. A small layout from `System`
// has the size of its class, so it is freed and changed with that layout.
unsafe impl GlobalAlloc for RunAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class_of(layout) else {
            // SAFETY: as the caller promises.
            return unsafe { System.alloc(layout) };
        };
        LOCAL.with(|local| {
            let block = local.take(class);
            if block.is_null() { local.refill(class) } else { block }
        })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(class) = class_of(layout) {
            if reserve::contains(block) {
                // SAFETY: the caller gives the block up, and it was allocated with this class.
                LOCAL.with(|local| unsafe { local.put(block, class) });
                return;
            }
            // SAFETY: `refill` has allocated it with this layout.
            return unsafe { System.dealloc(block, rounded(class)) };
        }
        // SAFETY: as the caller promises; `alloc` has used the same layout.
        unsafe { System.dealloc(block, layout) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up to the alignment, is a valid one.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let (from, to) = (class_of(layout), class_of(wanted));
        if from.is_none() && to.is_none() {
            // SAFETY: both are from `System`, as the caller promises.
            return unsafe { System.realloc(block, layout, size) };
        }
        if from == to {
            return block;
        }
        // SAFETY: the new block has room for the part that both have, they do not overlap, and the
        // old one is freed once.
        unsafe {
            let new = self.alloc(wanted);
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, size.min(layout.size()));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

/// The layout of a small block from the C library.
#[inline(always)]
fn rounded(class: usize) -> Layout {
    // SAFETY: the alignment is a power of two, and the size is small.
    unsafe { Layout::from_size_align_unchecked(size_of_class(class), STEP) }
}
