//! Names of applications, connections and regions.

/// Names an application of a provider, by its owner number on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApplicationId(pub u8);

impl ApplicationId {
    /// The application that every provider starts with.
    pub const FIRST: Self = Self(0);
}

/// Names a connection of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u32);

/// Registered memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(pub u16);
