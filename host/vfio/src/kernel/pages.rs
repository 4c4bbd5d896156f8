//! Memory for a card: in large pages where there are some, near the card where there are nodes.
//!
//! ```text
//!   whole 2 MiB, and large pages are free ─► a sealed file of them ─┐
//!   else ────────────────────────────────► a file of small ones ────┴─► near(node) ─► mapped
//! ```
//! The IOMMU then needs one entry for 2 MiB, and the kernel pins them at once.
#![allow(unsafe_code)]

use std::io;

use host::driver::bus::Result;
use host::driver::bus_memory::new_pages;
use host::memory::{DeviceMapping, MemoryFile, MemoryRange};
use rustix::fs::{
    fallocate, fcntl_add_seals, ftruncate, memfd_create, FallocateFlags, MemfdFlags, SealFlags,
};

/// Bytes of a large page.
pub const LARGE_PAGE_BYTES: usize = 2 << 20;
/// `MPOL_PREFERRED`: of that node, of another where it has none left.
const PREFERRED: libc::c_int = 1;

/// New memory for a card; whether in large pages.
pub fn card_pages(bytes: usize) -> Result<(MemoryRange, bool)> {
    match large_pages(bytes) {
        Some(range) => Ok((range, true)),
        None => Ok((new_pages(bytes)?, false)),
    }
}

/// New memory in large pages; `None`: it is not whole ones, or too few are free.
fn large_pages(bytes: usize) -> Option<MemoryRange> {
    if bytes == 0 || !bytes.is_multiple_of(LARGE_PAGE_BYTES) {
        return None;
    }
    let flags = MemfdFlags::CLOEXEC
        | MemfdFlags::ALLOW_SEALING
        | MemfdFlags::HUGETLB
        | MemfdFlags::HUGE_2MB;
    let file = memfd_create("zeronic-large", flags).ok()?;
    ftruncate(&file, bytes as u64).ok()?;
    // Without pages that are free this fails here, and no access kills the process later.
    fallocate(&file, FallocateFlags::empty(), 0, bytes as u64).ok()?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).ok()?;
    MemoryFile::adopt(file).ok()?.all().ok()
}

/// Asks for pages of a node for a mapping whose pages have not been touched. A kernel without nodes
/// refuses; then there is nothing to choose.
pub fn prefer_node(mapping: &DeviceMapping, bytes: usize, node: u32) -> io::Result<()> {
    let Some(bit) = 1_u64.checked_shl(node) else { return Err(io::ErrorKind::InvalidInput.into()) };
    let nodes = [bit];
    // SAFETY: the range is a mapping of this process, of so many bytes; the call sets a policy and
    // moves no page. The set of nodes is 64 bits long, as the call is told, and read in it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            mapping.address().as_ptr(),
            bytes,
            PREFERRED,
            nodes.as_ptr(),
            // The kernel takes one less than it is told.
            u64::from(u64::BITS) + 1,
            0,
        )
    };
    if result == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_sizes_get_small_pages() {
        assert!(large_pages(0).is_none() && large_pages(LARGE_PAGE_BYTES + 4096).is_none());
        let (range, is_large) = card_pages(3 * 4096).expect("memory");
        assert_eq!((range.bytes(), is_large), (3 * 4096, false));
    }

    /// Where the machine has none set aside, it is small pages.
    #[test]
    fn large_size_gets_memory_either_way() {
        let (range, _) = card_pages(LARGE_PAGE_BYTES).expect("memory");
        assert_eq!(range.bytes(), LARGE_PAGE_BYTES);
        let mapping = range.map_device().expect("a mapping");
        // Every machine has node 0, or a kernel without nodes.
        let asked = prefer_node(&mapping, LARGE_PAGE_BYTES, 0);
        assert!(asked.is_ok() || asked.is_err_and(|it| it.raw_os_error() == Some(libc::ENOSYS)));
        assert!(prefer_node(&mapping, LARGE_PAGE_BYTES, 64).is_err());
        let mut bytes = [1; 8];
        mapping.bytes().read(LARGE_PAGE_BYTES - 8, &mut bytes);
        assert_eq!(bytes, [0; 8]);
    }
}
