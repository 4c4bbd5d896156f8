//! Pages of a file.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Pages of a [`MemoryFile`](super::MemoryFile), not mapped yet.
#[derive(Clone, Debug)]
pub struct FileRange {
    descriptor: Arc<OwnedFd>,
    offset: usize,
    bytes: usize,
}

impl FileRange {
    /// Pages that lie inside their file.
    pub(super) fn new(descriptor: Arc<OwnedFd>, offset: usize, bytes: usize) -> Self {
        Self { descriptor, offset, bytes }
    }

    /// The file, which is sealed.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Offset of the first byte in the file, at a page.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
