//! Why memory cannot be used.

use std::io;

use thiserror::Error;

/// Bytes of a page, the unit of access rights.
pub const PAGE_BYTES: usize = 4096;

/// Result of a call on memory.
pub type Result<T> = std::result::Result<T, MemoryError>;

/// Why memory cannot be used by card and control stack.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// Somebody may shrink the file under a mapping.
    #[error("the memory may shrink: its file has seals {seals:#x}, F_SEAL_SHRINK is 0x2")]
    NotSealed {
        /// Seals of the file.
        seals: i32,
    },
    /// A length that is no number of pages.
    #[error("{bytes} bytes are not whole pages of {PAGE_BYTES} bytes")]
    NotPages {
        /// Length.
        bytes: u64,
    },
    /// An address that does not begin a page.
    #[error("address {address:#x} is not at a page of {PAGE_BYTES} bytes")]
    NotAtPage {
        /// The address.
        address: usize,
    },
    /// A range of addresses that is not mapped everywhere.
    #[error("nothing is mapped at {address:#x}, in a range of {bytes} bytes")]
    NotMapped {
        /// The first address without memory.
        address: usize,
        /// Length of the range.
        bytes: usize,
    },
    /// A range of addresses that cannot be read and written everywhere.
    #[error(
        "the memory at {address:#x} has the rights {rights}: it must be readable and writable"
    )]
    NotWritable {
        /// The first address without the rights.
        address: usize,
        /// Its rights, as the kernel writes them.
        rights: String,
    },
    /// A dma-buf: nothing here can reach its bytes.
    #[error(
        "a dma-buf of {bytes} bytes cannot be registered: no bus imports one yet, and what the \
         card defers could not be copied into it, because its bytes are another device's; register \
         memory of the host"
    )]
    NotMappable {
        /// Length of the buffer.
        bytes: usize,
    },
    /// A system call failed.
    #[error("{call}: {source}")]
    System {
        /// The name of the call.
        call: &'static str,
        /// The error number of the call.
        source: io::Error,
    },
}

impl MemoryError {
    /// The error number of Linux that tells most of it.
    pub fn errno(&self) -> i32 {
        match self {
            Self::System { source, .. } => source.raw_os_error().unwrap_or(libc::EIO),
            Self::NotMapped { .. } | Self::NotWritable { .. } => libc::EFAULT,
            Self::NotMappable { .. } => libc::EOPNOTSUPP,
            Self::NotSealed { .. } | Self::NotPages { .. } | Self::NotAtPage { .. } => libc::EINVAL,
        }
    }

    /// What makes the error of a call that has failed.
    pub(super) fn of<E: Into<io::Error>>(call: &'static str) -> impl Fn(E) -> Self {
        move |error| Self::System { call, source: error.into() }
    }
}

/// So many bytes, if they are whole pages.
pub(super) fn whole_pages(bytes: u64) -> Result<usize> {
    let pages = usize::try_from(bytes).ok();
    pages
        .filter(|pages| *pages > 0 && pages.is_multiple_of(PAGE_BYTES))
        .ok_or(MemoryError::NotPages { bytes })
}
