//! What goes wrong in the plugin, and as what NCCL is told of it.

use host::error::HostError;
use host::memory::MemoryError;
use thiserror::Error;

use crate::abi::{NcclResult, GROUP_MAX};

/// Result of a call of the plugin.
pub type Result<T, E = PluginError> = std::result::Result<T, E>;

/// Why a call of NCCL fails. `Display` is the line in NCCL's log.
#[derive(Debug, Error)]
pub enum PluginError {
    /// The cards that the environment names cannot be understood.
    #[error("ZERONIC_CARD={text}: {why}; it is golden:DIR or vfio:ADDRESS, several with commas")]
    BadCards {
        /// What was set.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// No card is named.
    #[error(
        "ZERONIC_CARD is not set: golden:DIR for a card in software, vfio:ADDRESS for a real one"
    )]
    NoCards,
    /// No card has this number.
    #[error("no device {device}; ZERONIC_CARD names {count}")]
    NoDevice {
        /// Number in the call.
        device: i32,
        /// Devices that there are.
        count: usize,
    },
    /// A card cannot be opened.
    #[error("card {name} cannot be opened: {why}")]
    NotOpened {
        /// As the environment names it.
        name: String,
        /// Why not.
        why: String,
    },
    /// The thread of a card has ended.
    #[error("card {0} has failed; see the line before")]
    CardFailed(String),
    /// A handle that is not one of this plugin, or of another version of it.
    #[error("the handle is not one of this plugin's version {0}: all ranks need the same library")]
    ForeignHandle(u16),
    /// Memory of a kind that no bus of today takes.
    #[error("memory kind {0} cannot be registered: the card reaches host memory (kind 1)")]
    MemoryKind(i32),
    /// Memory that cannot be registered.
    #[error("{bytes} bytes at {address:#x} cannot be registered: {why}")]
    NotRegistered {
        /// Address in the call.
        address: usize,
        /// Length in the call.
        bytes: usize,
        /// Why not.
        why: String,
    },
    /// A buffer outside its registration.
    #[error(
        "{bytes} bytes at {address:#x} are outside their registration of {held} at {start:#x}"
    )]
    OutsideRegistration {
        /// Address in the call.
        address: usize,
        /// Length in the call.
        bytes: usize,
        /// First byte that is registered.
        start: usize,
        /// Bytes that are registered.
        held: usize,
    },
    /// A message that is longer than what the other rank has posted.
    #[error("{bytes} bytes are sent where {posted} are posted, tag {tag}")]
    LongerThanPosted {
        /// Bytes of the send.
        bytes: usize,
        /// Bytes of the receive.
        posted: u32,
        /// Tag of both.
        tag: i32,
    },
    /// More receives in a group than there may be.
    #[error("{0} receives in a group; 1 to {GROUP_MAX} are possible")]
    GroupTooLarge(i32),
    /// A length that no message has.
    #[error("{0} bytes are no length of a message; up to 2^32 - 1 are possible")]
    BadLength(i64),
    /// The other rank is gone.
    #[error("the rank at {0} is gone")]
    PeerGone(String),
    /// A pointer that NCCL has to give is null.
    #[error("{0} is null")]
    NullPointer(&'static str),
    /// A call that the plugin does not have.
    #[error("{0} is not offered: no device code, no virtual devices")]
    NotOffered(&'static str),
    /// The host's library failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl PluginError {
    /// As what NCCL is told of it.
    pub fn result(&self) -> NcclResult {
        match self {
            Self::BadCards { .. } | Self::NoCards => NcclResult::INVALID_USAGE,
            Self::NoDevice { .. }
            | Self::MemoryKind(_)
            | Self::OutsideRegistration { .. }
            | Self::LongerThanPosted { .. }
            | Self::GroupTooLarge(_)
            | Self::BadLength(_)
            | Self::NullPointer(_) => NcclResult::INVALID_ARGUMENT,
            Self::NotOpened { .. }
            | Self::CardFailed(_)
            | Self::NotRegistered { .. }
            | Self::Host(_) => NcclResult::SYSTEM,
            Self::ForeignHandle(_) | Self::NotOffered(_) => NcclResult::INTERNAL,
            Self::PeerGone(_) => NcclResult::REMOTE,
        }
    }

    /// Memory that cannot be registered, and why not.
    pub fn not_registered(address: usize, bytes: usize) -> impl Fn(MemoryError) -> Self {
        move |error| Self::NotRegistered { address, bytes, why: error.to_string() }
    }
}
