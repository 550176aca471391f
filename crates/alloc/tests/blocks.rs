//! Blocks do not overlap and keep their contents, whichever thread allocates and frees them.

use std::alloc::{GlobalAlloc, Layout};
use std::collections::BTreeMap;

use ytterby_alloc::RunAllocator;

const ALLOCATOR: RunAllocator = RunAllocator;

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

/// A block that is filled with one byte.
struct Block {
    start: *mut u8,
    layout: Layout,
    fill: u8,
}

// SAFETY: blocks belong to no thread.
unsafe impl Send for Block {}

impl Block {
    fn new(size: usize, align: usize, fill: u8) -> Block {
        let layout = Layout::from_size_align(size, align).unwrap();
        // SAFETY: the size is not zero.
        let start = unsafe { ALLOCATOR.alloc(layout) };
        assert!(!start.is_null() && start.addr().is_multiple_of(align), "{layout:?}");
        // SAFETY: the block has this size.
        unsafe { start.write_bytes(fill, size) };
        Block { start, layout, fill }
    }

    fn check(&self) {
        // SAFETY: `new` or `resize` has filled the block.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.layout.size()) };
        assert!(bytes.iter().all(|byte| *byte == self.fill), "{:?}", self.layout);
    }

    fn resize(&mut self, size: usize) {
        let kept = size.min(self.layout.size());
        // SAFETY: the block has this layout, and the size is not zero.
        self.start = unsafe { ALLOCATOR.realloc(self.start, self.layout, size) };
        assert!(!self.start.is_null());
        self.layout = Layout::from_size_align(kept, self.layout.align()).unwrap();
        self.check();
        self.layout = Layout::from_size_align(size, self.layout.align()).unwrap();
        // SAFETY: the block has this size.
        unsafe { self.start.write_bytes(self.fill, size) };
    }

    fn free(self) {
        self.check();
        // SAFETY: the block has this layout and is not used again.
        unsafe { ALLOCATOR.dealloc(self.start, self.layout) };
    }
}

/// Allocates, resizes and frees blocks in a random order; returns those that are left.
fn churn(seed: u64, turns: usize) -> Vec<Block> {
    let mut numbers = Numbers(seed);
    let mut blocks: Vec<Block> = Vec::new();
    for turn in 0..turns {
        let size = match numbers.next(10) {
            0 => 1 + numbers.next(5000),
            1..4 => 1 + numbers.next(1100),
            _ => 1 + numbers.next(100),
        };
        match numbers.next(5) {
            0 | 1 => blocks.push(Block::new(size, 1 << numbers.next(6), turn as u8)),
            2 if !blocks.is_empty() => {
                let at = numbers.next(blocks.len());
                blocks[at].resize(size);
            }
            3 if !blocks.is_empty() => {
                let at = numbers.next(blocks.len());
                blocks.swap_remove(at).free();
            }
            _ => blocks.push(Block::new(size, 8, turn as u8)),
        }
    }
    blocks
}

fn assert_disjoint(blocks: &[Block]) {
    let mut ends = BTreeMap::new();
    for block in blocks {
        ends.insert(block.start.addr(), block.start.addr() + block.layout.size());
    }
    assert_eq!(ends.len(), blocks.len());
    let starts = ends.keys().skip(1);
    assert!(ends.values().zip(starts).all(|(end, next)| end <= next));
}

const TURNS: usize = if cfg!(miri) { 500 } else { 100_000 };

#[test]
fn blocks_are_disjoint_and_keep_their_contents() {
    // Blocks from before are from the C library.
    let mut blocks = churn(7, TURNS / 10);
    ytterby_alloc::use_on_this_thread();
    blocks.extend(churn(11, TURNS));
    assert_disjoint(&blocks);
    blocks.into_iter().for_each(Block::free);
}

#[test]
fn blocks_can_be_freed_by_other_threads() {
    let threads = (1..=4).map(|seed| {
        std::thread::spawn(move || {
            // One of them does not use it.
            if seed > 1 {
                ytterby_alloc::use_on_this_thread();
            }
            churn(seed, TURNS / 4)
        })
    });
    let blocks: Vec<Block> =
        threads.collect::<Vec<_>>().into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert_disjoint(&blocks);
    std::thread::spawn(move || blocks.into_iter().for_each(Block::free)).join().unwrap();
}
