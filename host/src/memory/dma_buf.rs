//! A dma-buf: memory of another device, handed over as a descriptor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::error::{whole_pages, Result};

/// Memory of another device (a GPU's, behind its BAR), as the kernel hands it over. It is named
/// here so that a bus that can import one takes it as any other memory; so far each refuses it
/// ([`MemoryError::NotMappable`](super::MemoryError::NotMappable)).
#[derive(Clone, Debug)]
pub struct DmaBuf {
    descriptor: Arc<OwnedFd>,
    bytes: usize,
}

impl DmaBuf {
    /// The first `bytes` bytes of a dma-buf, whole pages.
    pub fn new(descriptor: OwnedFd, bytes: usize) -> Result<Self> {
        Ok(Self { bytes: whole_pages(bytes as u64)?, descriptor: Arc::new(descriptor) })
    }

    /// The descriptor.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
