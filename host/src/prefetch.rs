//! Asks the processor for memory that will be used soon.
//!
//! ```text
//!   entries of a queue:   │ taken now │ ... │ connection: expect │ ... │ place: expect │
//! ```
//! With thousands of connections in turn, each packet finds its connection in a far cache. The
//! entries behind it are known, so what they need is fetched while it is worked on.
#![allow(unsafe_code)]

/// Bytes that come from memory together.
pub const LINE_BYTES: usize = 64;

/// What is passed in comes out `N` passes later: where the next thing to ask for is found in the
/// one asked for before.
#[derive(Clone, Copy, Debug)]
pub struct Later<const N: usize> {
    flows: [Option<u16>; N],
    at: usize,
}

impl<const N: usize> Default for Later<N> {
    fn default() -> Self {
        Self {
            flows: [None; N],
            at: 0,
        }
    }
}

impl<const N: usize> Later<N> {
    /// Takes a flow, if there is one, and returns what was passed in `N` passes ago.
    #[inline]
    pub fn pass(&mut self, flow: Option<u16>) -> Option<u16> {
        let before = std::mem::replace(&mut self.flows[self.at % N], flow);
        self.at += 1;
        before
    }
}

/// Asks for the first `bytes` bytes of a value, or all of it: a hint, which changes nothing but
/// time. Without an effect on processors other than x86-64.
#[inline]
pub fn expect<T>(value: &T, bytes: usize) {
    let bytes = bytes.min(size_of::<T>());
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let line = std::ptr::from_ref(value).cast::<i8>().wrapping_add(at);
        // SAFETY: a prefetch reads nothing and cannot fault; besides, the line is in `value`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, bytes);
}
