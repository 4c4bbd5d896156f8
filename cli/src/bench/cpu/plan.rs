//! What `bench cpu` measures, and how much of it.

use std::time::Duration;

use clap::ValueEnum;

/// Sizes of IP packets that are measured, bytes.
pub const MTUS: [u16; 2] = [1500, 9000];

/// The protocol that runs on our stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransportName {
    /// The least protocol there is: what is left is the control stack
    Null,
    /// Our own TCP at each end of two joined cards, with the model-based controller
    Tcp,
    /// Linux TCP on headers alone, behind a TAP device at each end of two joined cards
    Linux,
}

impl TransportName {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Tcp => "tcp",
            Self::Linux => "linux",
        }
    }
}

/// Whether received packets are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Coalesce {
    /// An entry for each packet.
    Off,
    /// Entries for runs of packets.
    On,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub repetitions: u32,
    /// Parts of each repetition.
    pub parts: u32,
    /// Runs of the kernel that are repeated, in all, as others were busy beside them.
    pub repeated_max: u32,
    /// Time of each run of the kernel, and of the idle machine before it.
    pub window: Duration,
    /// Batches of each run of ours with the null protocol.
    pub batches: u32,
    /// Bytes of each run of ours with a real TCP.
    pub bytes: u64,
}
