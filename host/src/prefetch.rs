//! Asks the processor for memory that will be used soon.
//!
//! ```text
//!   entries of a queue:   │ taken now │ ... │ its connection: expect │ ...
//! ```
//! With thousands of connections in turn, each packet finds its connection in a far cache. The
//! entries behind it are known, so what they need is fetched while it is worked on.
#![allow(unsafe_code)]

use std::ops::Range;

/// Bytes that come from memory together.
pub const LINE_BYTES: usize = 64;

/// Asks for all of a value: [`expect`].
#[inline]
pub fn expect_all<T>(value: &T) {
    expect(value, 0..size_of::<T>());
}

/// Asks for some bytes of a value, as far as it has them: a hint, which changes nothing but time.
/// Without an effect on processors other than x86-64.
#[inline]
pub fn expect<T>(value: &T, bytes: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    for at in (bytes.start..bytes.end.min(size_of::<T>())).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let line = std::ptr::from_ref(value).cast::<i8>().wrapping_add(at);
        // SAFETY: a prefetch reads nothing and cannot fault; besides, the line is in `value`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, bytes);
}
