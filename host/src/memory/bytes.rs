//! Bytes that others read and write at any time: copied in and out, never borrowed.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// What is copied at once where both ends allow it.
const BLOCK_BYTES: usize = 64;
/// What is copied at once besides.
const WORD_BYTES: usize = 8;
/// What goes through the cache at once between two shared memories.
const COPY_BYTES: usize = 1024;
type Block = [u64; BLOCK_BYTES / WORD_BYTES];

/// Bytes of a mapping that a client, another mapping or a card may change while they are copied.
/// Each byte is loaded or stored once, by volatile accesses, words where the address allows it;
/// their order is open, and a copy of bytes that change meanwhile holds some of the old ones and
/// some of the new ones. An access beyond the end panics.
#[derive(Clone, Copy, Debug)]
pub struct SharedBytes<'a> {
    start: NonNull<u8>,
    bytes: usize,
    mapping: PhantomData<&'a ()>,
}

impl<'a> SharedBytes<'a> {
    /// The `bytes` bytes at `start`.
    ///
    /// # Safety
    /// They are mapped, readable and writable for as long as `'a`, and nothing refers to them.
    pub unsafe fn new(start: NonNull<u8>, bytes: usize) -> Self {
        Self { start, bytes, mapping: PhantomData }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// A part of them.
    pub fn part(&self, offset: usize, bytes: usize) -> SharedBytes<'a> {
        let start = self.at(offset, bytes);
        Self { start, bytes, mapping: PhantomData }
    }

    /// The address of `bytes` bytes at `offset`. Panics when they are outside.
    fn at(&self, offset: usize, bytes: usize) -> NonNull<u8> {
        let end = offset.checked_add(bytes);
        let all = self.bytes;
        assert!(
            end.is_some_and(|end| end <= all),
            "{bytes} bytes at {offset} exceed the memory of {all} bytes"
        );
        // SAFETY: `offset` is at most the length of what `start` points to.
        unsafe { self.start.add(offset) }
    }

    /// Copies out.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        let source = self.at(offset, into.len()).as_ptr();
        let [head, blocks] = plan(source, into.len());
        let (first, rest) = into.split_at_mut(head);
        let (middle, rest) = rest.split_at_mut(blocks * BLOCK_BYTES);
        let words = rest.len() / WORD_BYTES;
        let (tail, last) = rest.split_at_mut(words * WORD_BYTES);
        // SAFETY: `at` has checked the range, which is mapped and readable; behind `head` bytes the
        // address is a multiple of a word, and each part ends where the next one begins.
        unsafe {
            let at = load::<u8, 1>(source, first);
            let at = load::<Block, BLOCK_BYTES>(at, middle);
            let at = load::<u64, WORD_BYTES>(at, tail);
            load::<u8, 1>(at, last);
        }
    }

    /// Copies in.
    pub fn write(&self, offset: usize, from: &[u8]) {
        let target = self.at(offset, from.len()).as_ptr();
        let [head, blocks] = plan(target, from.len());
        let (first, rest) = from.split_at(head);
        let (middle, rest) = rest.split_at(blocks * BLOCK_BYTES);
        let words = rest.len() / WORD_BYTES;
        let (tail, last) = rest.split_at(words * WORD_BYTES);
        // SAFETY: as in `read`; the range is writable.
        unsafe {
            let at = store::<u8, 1>(target, first);
            let at = store::<Block, BLOCK_BYTES>(at, middle);
            let at = store::<u64, WORD_BYTES>(at, tail);
            store::<u8, 1>(at, last);
        }
    }

    /// Copies other shared bytes in, which may be the same: each part is out before it goes in.
    pub fn copy(&self, offset: usize, from: SharedBytes<'_>) {
        let target = self.part(offset, from.len());
        let mut block = [0; COPY_BYTES];
        for at in (0..from.len()).step_by(COPY_BYTES) {
            let part = &mut block[..COPY_BYTES.min(from.len() - at)];
            from.read(at, part);
            target.write(at, part);
        }
    }

    /// Copies out into a new vector.
    pub fn to_vec(&self, offset: usize, bytes: usize) -> Vec<u8> {
        let mut copied = vec![0; bytes];
        self.read(offset, &mut copied);
        copied
    }
}

/// Bytes up to the first word, and whole blocks behind them.
fn plan(address: *mut u8, bytes: usize) -> [usize; 2] {
    let head = address.addr().wrapping_neg() % WORD_BYTES;
    let head = head.min(bytes);
    [head, (bytes - head) / BLOCK_BYTES]
}

/// Loads units of `BYTES` bytes until `into` is full. Returns the address behind the last one.
///
/// # Safety
/// `T` is an integer or an array of such of `BYTES` bytes; as many as `into` has room for lie at
/// `from`, at a multiple of the alignment of `T`.
unsafe fn load<T: Copy, const BYTES: usize>(from: *mut u8, into: &mut [u8]) -> *mut u8 {
    const { assert!(size_of::<T>() == BYTES) };
    let mut at = from;
    for unit in into.as_chunks_mut::<BYTES>().0 {
        // SAFETY: the caller's promise; an integer may have any bytes, and `unit` has as many.
        unsafe {
            let loaded = at.cast::<T>().read_volatile();
            unit.as_mut_ptr().cast::<T>().write_unaligned(loaded);
            at = at.add(BYTES);
        }
    }
    at
}

/// Stores units of `BYTES` bytes until `from` is done. Returns the address behind the last one.
///
/// # Safety
/// As for [`load`], with room at `into`.
unsafe fn store<T: Copy, const BYTES: usize>(into: *mut u8, from: &[u8]) -> *mut u8 {
    const { assert!(size_of::<T>() == BYTES) };
    let mut at = into;
    for unit in from.as_chunks::<BYTES>().0 {
        // SAFETY: the caller's promise; an integer may have any bytes, and `unit` has as many.
        unsafe {
            at.cast::<T>().write_volatile(unit.as_ptr().cast::<T>().read_unaligned());
            at = at.add(BYTES);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every start within two words, and every length up to three blocks: exactly these bytes.
    #[test]
    fn exactly_the_given_bytes_are_copied() {
        const ROOM: usize = 4 * BLOCK_BYTES;
        let mut memory = [0u64; ROOM / WORD_BYTES];
        let start = NonNull::from(&mut memory).cast::<u8>();
        // SAFETY: the array outlives the view, and is reached through it alone meanwhile.
        let shared = unsafe { SharedBytes::new(start, ROOM) };
        let numbered: Vec<u8> = (0..ROOM).map(|at| at as u8).collect();
        for offset in 0..2 * WORD_BYTES {
            for bytes in 0..=3 * BLOCK_BYTES {
                shared.write(0, &[0xee; ROOM]);
                shared.write(offset, &numbered[1..1 + bytes]);
                let mut seen = vec![0xee; ROOM];
                seen[offset..offset + bytes].copy_from_slice(&numbered[1..1 + bytes]);
                assert!(shared.to_vec(0, ROOM) == seen, "{bytes} bytes to {offset}");
                shared.write(0, &numbered);
                let read = shared.to_vec(offset, bytes);
                assert!(read == numbered[offset..offset + bytes], "{bytes} bytes at {offset}");
            }
        }
        shared.write(0, &numbered);
        shared.copy(3, shared.part(100, 50));
        assert_eq!(shared.to_vec(2, 52), [&[2], &numbered[100..150], &[53]].concat());
        let part = shared.part(100, 50);
        assert_eq!((part.len(), part.to_vec(0, 2)), (50, vec![100, 101]));
    }

    #[test]
    fn nothing_is_reached_beyond_the_end() {
        let mut memory = [0u64; 2];
        let start = NonNull::from(&mut memory).cast::<u8>();
        // SAFETY: the array outlives the view, and is reached through it alone meanwhile.
        let shared = unsafe { SharedBytes::new(start, 16) };
        let panics = |access: &dyn Fn(SharedBytes<'_>)| {
            let access = std::panic::AssertUnwindSafe(|| access(shared));
            std::panic::catch_unwind(access).is_err()
        };
        assert!(!panics(&|shared| shared.read(16, &mut [])));
        assert!(panics(&|shared| shared.read(9, &mut [0; 8])));
        assert!(panics(&|shared| shared.write(usize::MAX, &[0; 8])));
        assert!(panics(&|shared| _ = shared.part(1, 16)));
        assert!(panics(&|shared| shared.part(8, 4).write(1, &[0; 4])), "beyond a part");
    }
}
