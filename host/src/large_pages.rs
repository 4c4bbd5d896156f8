//! Memory of tables that are as long as the card has flows, in large pages.
//!
//! ```text
//!   vector │  2 MiB  │  2 MiB  │  2 MiB  │     one that is shorter: as all memory
//! ```
//! With thousands of flows in turn, each packet is in another page of such a table, and to find
//! where it lies takes as long as to fetch it. A large page is found once for thousands of flows.
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Global};
use allocator_api2::vec::Vec;

/// Bytes of a large page.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// A vector in large pages.
pub type LargePageVec<T> = Vec<T, LargePages>;

/// An empty vector with room for `capacity` elements.
pub fn vector<T>(capacity: usize) -> LargePageVec<T> {
    Vec::with_capacity_in(capacity, LargePages)
}

/// Where such vectors lie: what is at least a large page long is whole ones, and they are asked to
/// be large. That is a hint, which the kernel follows as its setting `transparent_hugepage`
/// says.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

impl LargePages {
    /// The layout that is asked of the global allocator. It follows from `layout` alone.
    fn layout(layout: Layout) -> Result<Layout, AllocError> {
        match layout.size() < LARGE_PAGE_BYTES {
            true => Ok(layout),
            false => {
                let layout = layout.align_to(LARGE_PAGE_BYTES);
                Ok(layout.map_err(|_| AllocError)?.pad_to_align())
            }
        }
    }
}

// SAFETY: all memory is that of `Global`, which is asked with the same layout when it is given and
// when it is taken back; it is at least as long and as aligned as was asked for. Copies are equal.
unsafe impl Allocator for LargePages {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let layout = Self::layout(layout)?;
        let memory = Global.allocate(layout)?;
        if layout.align() == LARGE_PAGE_BYTES {
            let start = memory.cast().as_ptr();
            // SAFETY: the memory is whole pages and has so many bytes; the call changes nothing in
            // it. An error means that the kernel has no large pages.
            unsafe { libc::madvise(start, layout.size(), libc::MADV_HUGEPAGE) };
        }
        Ok(memory)
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        if let Ok(layout) = Self::layout(layout) {
            // SAFETY: the caller has it from `allocate`, with this layout.
            unsafe { Global.deallocate(memory, layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths around those that get large pages.
    #[test]
    fn vector_has_requested_room_and_grows() {
        const WORDS: usize = LARGE_PAGE_BYTES / size_of::<u64>();
        for capacity in [0, 1, WORDS - 1, WORDS, WORDS + 1, 3 * WORDS] {
            let mut numbers = vector::<u64>(capacity);
            assert!(numbers.is_empty() && numbers.capacity() >= capacity);
            let start = numbers.as_ptr();
            let is_large = capacity >= WORDS;
            let begins = start.addr().is_multiple_of(LARGE_PAGE_BYTES);
            assert!(begins || !is_large, "{capacity} at {start:?}");
            numbers.extend(0..capacity as u64);
            assert_eq!(numbers.as_ptr(), start, "{capacity}");
            numbers.push(capacity as u64);
            assert!(numbers.iter().copied().eq(0..=capacity as u64));
        }
        assert!(vector::<()>(7).is_empty());
    }
}
