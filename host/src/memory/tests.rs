//! Mappings of each kind, and what they keep out.

use std::io;
use std::sync::Arc;

use rustix::fs::ftruncate;
use rustix::io::Errno;
use rustix::mm::{mmap_anonymous, mprotect, munmap, MapFlags, MprotectFlags, ProtFlags};

use super::*;

/// What ends a child that reads (or writes) one byte: its signal, 0 for none.
fn signal_of_access(address: *const u8, write: bool) -> i32 {
    // SAFETY: the child calls nothing but the access and `_exit`, which are safe after a fork
    // of a process with threads.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "fork: {}", io::Error::last_os_error());
        if child == 0 {
            match write {
                true => address.cast_mut().write_volatile(1),
                false => drop(std::hint::black_box(address.read_volatile())),
            }
            libc::_exit(0);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        match libc::WIFSIGNALED(status) {
            true => libc::WTERMSIG(status),
            false => 0,
        }
    }
}

/// An address of the range that is open.
fn application_address(range: &MemoryRange) -> *const u8 {
    // The mapping stays: the address is used in a child.
    let mapping = Box::leak(Box::new(range.map_device().unwrap()));
    mapping.address().as_ptr()
}

fn range() -> MemoryRange {
    let file = MemoryFile::new(4 * PAGE_BYTES).unwrap();
    file.range(PAGE_BYTES, 2 * PAGE_BYTES).unwrap()
}

#[test]
fn control_stack_cannot_touch_application_buffer() {
    let range = range();
    let mut guarded = range.guard().unwrap();
    let mut application = range.map().unwrap();
    let address = guarded.address(0);
    for write in [false, true] {
        assert_eq!(signal_of_access(address, write), libc::SIGSEGV);
    }
    // The same pages are open to the application, and to the one who asks, for a moment.
    application.write(10, b"payload");
    assert_eq!(signal_of_access(application_address(&range), true), 0);
    let mut seen = Vec::new();
    let mut open_signal = None;
    let mut copy = |bytes: SharedBytes<'_>| {
        seen = bytes.to_vec(0, 7);
        open_signal = Some(signal_of_access(address, true));
        bytes.write(0, &[b'x'; 7]);
    };
    guarded.open(10, 7, &mut copy).unwrap();
    assert_eq!((seen.as_slice(), open_signal), (&b"payload"[..], Some(0)));
    for write in [false, true] {
        assert_eq!(signal_of_access(address, write), libc::SIGSEGV);
    }
    let mut bytes = [0; 9];
    application.read(9, &mut bytes);
    assert_eq!(&bytes, b"\0xxxxxxx\0");
}

#[test]
fn only_range_pages_are_opened() {
    let range = range();
    let mut guarded = range.guard().unwrap();
    let second = guarded.address(PAGE_BYTES);
    let mut signal = None;
    let mut check = |_: SharedBytes<'_>| signal = Some(signal_of_access(second, false));
    guarded.open(PAGE_BYTES - 8, 8, &mut check).unwrap();
    assert_eq!(signal, Some(libc::SIGSEGV));
}

#[test]
fn panicking_visitor_leaves_buffer_closed() {
    let mut guarded = range().guard().unwrap();
    let address = guarded.address(0);
    let visit = std::panic::AssertUnwindSafe(|| {
        guarded.open(0, 1, &mut |_| panic!("a visitor")).unwrap();
    });
    assert!(std::panic::catch_unwind(visit).is_err());
    assert_eq!(signal_of_access(address, false), libc::SIGSEGV);
}

#[test]
fn file_length_cannot_be_changed() {
    let file = MemoryFile::new(2 * PAGE_BYTES).unwrap();
    let MemoryRange::File(pages) = file.all().unwrap() else { panic!("pages of a file") };
    for length in [0, PAGE_BYTES, 4 * PAGE_BYTES] {
        assert_eq!(ftruncate(pages.descriptor(), length as u64), Err(Errno::PERM));
    }
}

#[test]
fn ranges_are_pages_of_the_file() {
    let file = MemoryFile::new(2 * PAGE_BYTES).unwrap();
    assert!(file.range(0, 2 * PAGE_BYTES).is_ok());
    assert!(file.range(PAGE_BYTES, 1).is_ok());
    for (offset, bytes) in [(1, 1), (0, 0), (PAGE_BYTES, PAGE_BYTES + 1), (4096, !0)] {
        let refused = file.range(offset, bytes).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{refused}");
    }
}

/// Memory that is mapped for itself, with the rights of each page, and unmapped by whoever keeps
/// it.
struct Arena {
    start: *mut u8,
    pages: usize,
}

// SAFETY: the test that makes an arena is the only one with its address.
unsafe impl Send for Arena {}
// SAFETY: as for `Send`.
unsafe impl Sync for Arena {}

impl Arena {
    fn new(rights: &[MprotectFlags]) -> Self {
        let (null, none) = (std::ptr::null_mut(), ProtFlags::empty());
        let bytes = rights.len() * PAGE_BYTES;
        // SAFETY: a new mapping at an address that the kernel chooses touches no other object.
        let start = unsafe { mmap_anonymous(null, bytes, none, MapFlags::PRIVATE) }.unwrap();
        for (page, rights) in rights.iter().enumerate() {
            // SAFETY: the page was mapped just now, and nothing refers to it.
            let set = unsafe { mprotect(start.byte_add(page * PAGE_BYTES), PAGE_BYTES, *rights) };
            set.unwrap();
        }
        Self { start: start.cast(), pages: rights.len() }
    }

    /// The address of a page.
    fn page(&self, number: usize) -> *mut u8 {
        self.start.wrapping_add(number * PAGE_BYTES)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length.
        unsafe { munmap(self.start.cast(), self.pages * PAGE_BYTES).unwrap() };
    }
}

const OPEN: MprotectFlags = MprotectFlags::READ.union(MprotectFlags::WRITE);

#[test]
fn program_memory_is_shared_by_all_sides() {
    let arena = Arc::new(Arena::new(&[OPEN; 3]));
    let start = arena.page(0);
    // SAFETY: the arena keeps the pages; nothing refers to their bytes.
    let owned = unsafe { AddressRange::new(start, 3 * PAGE_BYTES, arena.clone()) };
    let range = MemoryRange::from(owned.unwrap());
    let (mut application, device) = (range.map().unwrap(), range.map_device().unwrap());
    // What VFIO needs: where the memory is, and how long, as the program has it.
    assert_eq!((device.address().as_ptr(), device.bytes().len()), (start, 3 * PAGE_BYTES));
    application.write(4090, b"twelve bytes");
    let twice = range.map_device().unwrap();
    for seen in [&device, &twice] {
        assert_eq!(seen.bytes().to_vec(4090, 12), b"twelve bytes");
    }
    let mut seen = Vec::new();
    let mut guarded = range.guard().unwrap();
    let mut visit = |bytes: SharedBytes<'_>| {
        seen = bytes.to_vec(0, bytes.len());
        bytes.write(0, b"other");
    };
    guarded.open(4090, 6, &mut visit).unwrap();
    assert_eq!(seen, b"twelve");
    let mut read = [0; 12];
    application.read(4090, &mut read);
    assert_eq!(&read, b"othere bytes");
}

/// The pages stay as long as a mapping, and go with the last one.
#[test]
fn memory_keeper_lives_until_last_mapping() {
    let arena = Arc::new(Arena::new(&[OPEN]));
    let start = arena.page(0);
    let known = Arc::downgrade(&arena);
    // SAFETY: the arena keeps the page; nothing refers to its bytes.
    let owned = unsafe { AddressRange::new(start, PAGE_BYTES, arena) }.unwrap();
    let range = MemoryRange::from(owned);
    let mapping = range.map_device().unwrap();
    drop(range);
    mapping.bytes().write(0, b"still there");
    assert!(known.upgrade().is_some());
    drop(mapping);
    assert!(known.upgrade().is_none());
}

#[test]
fn unusable_memory_is_refused_with_address() {
    let closed = MprotectFlags::empty();
    let arena = Arc::new(Arena::new(&[OPEN, MprotectFlags::READ, OPEN, closed, OPEN]));
    let new = |start: *mut u8, bytes| {
        // SAFETY: what is not as promised is refused, and nothing here is accessed.
        unsafe { AddressRange::new(start, bytes, arena.clone()) }.unwrap_err()
    };
    let at = |page| arena.page(page).addr();
    match new(arena.page(0), 2 * PAGE_BYTES) {
        MemoryError::NotWritable { address, rights } => {
            assert_eq!((address, &rights[..2]), (at(1), "r-"));
        }
        other => panic!("{other}"),
    }
    match new(arena.page(2), 3 * PAGE_BYTES) {
        MemoryError::NotWritable { address, rights } => {
            assert_eq!((address, &rights[..2]), (at(3), "--"));
        }
        other => panic!("{other}"),
    }
    // SAFETY: nothing refers to the page, and the arena unmaps what is left of it.
    let gone = unsafe { libc::munmap(arena.page(4).cast(), PAGE_BYTES) };
    assert_eq!(gone, 0);
    match new(arena.page(4), PAGE_BYTES) {
        MemoryError::NotMapped { address, bytes } => {
            assert_eq!((address, bytes), (at(4), PAGE_BYTES));
        }
        other => panic!("{other}"),
    }
    match new(arena.page(0).wrapping_add(8), PAGE_BYTES) {
        MemoryError::NotAtPage { address } => assert_eq!(address, at(0) + 8),
        other => panic!("{other}"),
    }
    for bytes in [0, 100, PAGE_BYTES + 1] {
        match new(arena.page(0), bytes) {
            MemoryError::NotPages { bytes: found } => assert_eq!(found, bytes as u64),
            other => panic!("{other}"),
        }
    }
    let top = std::ptr::without_provenance_mut(usize::MAX & !(PAGE_BYTES - 1));
    assert!(matches!(new(top, 2 * PAGE_BYTES), MemoryError::NotMapped { .. }));
}

/// Nothing of a dma-buf is mapped, by anybody, and the reason is said.
#[test]
fn dma_buf_is_refused_with_reason() {
    let null = || std::fs::File::open("/dev/null").unwrap().into();
    let odd = DmaBuf::new(null(), PAGE_BYTES + 1).unwrap_err();
    assert!(matches!(odd, MemoryError::NotPages { bytes: 4097 }));
    let range = MemoryRange::from(DmaBuf::new(null(), 2 * PAGE_BYTES).unwrap());
    assert_eq!(range.bytes(), 2 * PAGE_BYTES);
    range.check_pages().unwrap();
    let refused = [
        range.map_device().map(drop),
        range.map().map(drop),
        range.map_shared().map(drop),
        range.guard().map(drop),
    ];
    for refused in refused {
        let refused = refused.unwrap_err();
        assert_eq!(refused.errno(), libc::EOPNOTSUPP);
        let text = refused.to_string();
        assert!(text.starts_with("a dma-buf of 8192 bytes cannot be registered: no bus"), "{text}");
    }
}
