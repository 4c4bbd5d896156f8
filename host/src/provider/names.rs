//! Names of shards, applications, connections, regions, and of bytes in a region.

/// Names a shard of a provider, by its owner number on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShardId(pub u8);

impl ShardId {
    /// The shard that every provider starts with. Owner 0 is the driver's alone.
    pub const FIRST: Self = Self(1);
}

/// Names an application of a provider, by its protection domain on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApplicationId(pub u16);

impl ApplicationId {
    /// The application that every provider starts with, in [`ShardId::FIRST`].
    pub const FIRST: Self = Self(0);
}

/// Names a connection of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u32);

/// Registered memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(pub u16);

impl RegionId {
    /// The `bytes` bytes from `offset` on.
    pub fn span(self, offset: u64, bytes: u32) -> Span {
        Span { region: self, offset, bytes }
    }
}

/// Bytes of a region: the buffer of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The region.
    pub region: RegionId,
    /// Offset of the first byte in the region.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u32,
}
