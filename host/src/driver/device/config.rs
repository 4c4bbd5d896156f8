//! How a card is opened.

use std::time::Duration;

use abi::registers;

use crate::driver::rings::RingSizes;
use crate::driver::start::{COALESCE_CYCLES_MAX, CYCLE};

/// How a card is opened.
#[derive(Clone, Copy, Debug)]
pub struct DeviceConfig {
    /// Rings of owner 0, and of the first shard of a provider.
    pub rings: RingSizes,
    /// Seed of the flow table's hash secrets, for runs that must repeat. Without one they are
    /// random: whoever knows them can find addresses that share all slots of a bucket.
    pub hash_seed: Option<u64>,
    /// Push a descriptor with its doorbell when the send ring is empty, and card and bus can.
    pub push_slots: bool,
    /// One header entry may stand for a run of packets, and is written so long after the first of
    /// them at the latest ([`COALESCE_TIME`]); `None`: each packet has an entry of its own. For all
    /// owners. A card that cannot is not opened.
    pub coalesce: Option<Duration>,
}

impl Default for DeviceConfig {
    fn default() -> Self {
        Self { rings: RingSizes::default(), hash_seed: None, push_slots: true, coalesce: None }
    }
}

/// How long a card waits for more packets of a run unless it is told otherwise.
pub const COALESCE_TIME: Duration =
    Duration::from_nanos(registers::COALESCE_CYCLES_START as u64 * CYCLE.as_nanos() as u64);

impl DeviceConfig {
    /// The default with hash secrets that follow from a seed: for simulations and tests.
    pub fn with_seed(hash_seed: u64) -> Self {
        Self { hash_seed: Some(hash_seed), ..Self::default() }
    }
}

/// Longest time that a run may wait for more packets.
pub const COALESCE_TIME_MAX: Duration =
    Duration::from_nanos(COALESCE_CYCLES_MAX * CYCLE.as_nanos() as u64);
