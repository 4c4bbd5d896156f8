//! What is wrong with a region of application memory, or with a buffer in one.

use thiserror::Error;

use crate::memory::MemoryError;

/// A region or a buffer cannot be used.
#[derive(Debug, Error)]
pub enum RegionError {
    /// No such region.
    #[error("no region {0}")]
    UnknownRegion(u16),
    /// A buffer outside its region.
    #[error("{bytes} bytes at offset {offset} exceed the region of {region_bytes} bytes")]
    BadBuffer {
        /// Offset in the region.
        offset: u64,
        /// Length.
        bytes: u64,
        /// Length of the region.
        region_bytes: u64,
    },
    /// The memory of a region cannot be mapped.
    #[error("region {region} cannot be mapped: {source}")]
    Mapping {
        /// Region index.
        region: u16,
        /// Why not.
        source: MemoryError,
    },
    /// A connection was given a buffer in a region of another application.
    #[error(
        "region {region} belongs to application {application}, connection {connection} to {user}"
    )]
    ForeignRegion {
        /// Region index.
        region: u16,
        /// The application that registered it.
        application: u16,
        /// Connection of the request.
        connection: u32,
        /// The application of that connection.
        user: u16,
    },
    /// No memory for what connections beyond the flow table send.
    #[error("no bounce region of {bytes} bytes for owner {owner}: {why}")]
    NoBounce {
        /// The owner.
        owner: u8,
        /// Length of the region.
        bytes: usize,
        /// Why there is none.
        why: String,
    },
}
