//! What is measured of CPU time, and how much of it.

use std::time::Duration;

/// Sizes of IP packets that are measured, bytes.
pub const MTUS: [u16; 2] = [1500, 9000];

/// The protocol that runs on our stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The least protocol there is: what is left is the control stack.
    Null,
    /// Our own TCP at each end of two joined cards, with the model-based controller.
    Tcp,
    /// Linux TCP on headers alone, behind a TAP device at each end of two joined cards.
    Linux,
}

impl Transport {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coalesce {
    /// An entry for each packet.
    Off,
    /// Entries for runs of packets.
    On,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Repetitions of everything.
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
    /// A report whose repetitions spread is not right.
    pub is_judged: bool,
}

impl Plan {
    /// One short repetition, not judged.
    pub fn quick() -> Self {
        Self {
            repetitions: 1,
            parts: 1,
            repeated_max: 0,
            window: Duration::from_millis(200),
            batches: 200,
            bytes: 4 << 20,
            is_judged: false,
        }
    }

    /// So many repetitions.
    pub fn full(repetitions: u32) -> Self {
        Self {
            repetitions,
            parts: 5,
            repeated_max: 20,
            window: Duration::from_millis(300),
            batches: 1000,
            bytes: 16 << 20,
            is_judged: true,
        }
    }
}
