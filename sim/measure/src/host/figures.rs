//! What is measured of a piece of work.

use serde::Serialize;

/// Time of a packet with many flows over that of one flow with as many ACKs, to reach.
pub const FLOWS_GOAL: f64 = 1.3;

/// A time and how much its runs differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timed {
    /// Time: in times of the reference loop while it is measured, then in ns.
    pub ns: f64,
    /// The middle half of the runs over their median.
    pub spread: f64,
    /// Where rows are measured in turn: ratio to the first row; `spread` is then that of the ratio.
    pub ratio: f64,
    /// Time of a poll that found nothing, ns, as it was; of all of them, until it is finished.
    pub empty_ns: f64,
    /// How many of these there were.
    pub empty_polls: u64,
    /// Batches that the machine has interrupted.
    pub interrupted: usize,
    /// How often it was measured.
    pub attempts: u32,
}

impl Timed {
    /// All is measured.
    pub fn finish(mut self) -> Self {
        self.empty_ns /= self.empty_polls.max(1) as f64;
        self
    }
}

/// What one packet or descriptor costs.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// Time, ns.
    pub ns: f64,
    /// Instructions; `None` without Valgrind.
    pub instructions: Option<f64>,
    /// Allocations, reallocations among them.
    pub allocations: f64,
    /// Commands to the card, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<f64>,
    /// The time and what is known of it.
    #[serde(skip)]
    pub timed: Timed,
}

/// What messages of 64 bytes cost, each a request of its own.
#[derive(Clone, Debug, Serialize)]
pub struct MessageCost {
    /// Connections that take turns.
    pub connections: usize,
    /// Received, and its buffer posted again.
    pub receive: Cost,
    /// Sent, and its buffer posted again.
    pub send: Cost,
}

/// What an ACK without payload costs.
#[derive(Clone, Debug, Serialize)]
pub struct AckCost {
    /// Taken from the card, ns.
    pub ns: f64,
    /// Written to the card, ns.
    pub written_ns: f64,
    /// Instructions of a taken one; `None` without Valgrind.
    pub instructions: Option<f64>,
    /// Instructions of a written one.
    pub written_instructions: Option<f64>,
    /// Allocations of a taken one.
    pub allocations: f64,
    /// Allocations of a written one.
    pub written_allocations: f64,
}

/// What a received packet and a descriptor cost with many flows.
#[derive(Clone, Debug, Serialize)]
pub struct FlowsCost {
    /// Flows that packets come for, or that send, in turn.
    pub flows: usize,
    /// Time of a packet, ns, with the ACKs that it has.
    pub receive_ns: f64,
    /// The same over that of one flow with as many ACKs.
    pub receive_ratio: f64,
    /// Time of a descriptor, ns, with the ACKs that it has.
    pub send_ns: f64,
    /// The same over that of one flow with as many ACKs.
    pub send_ratio: f64,
    /// The times and what is known of them: received, sent.
    #[serde(skip)]
    pub timed: [Timed; 2],
}

/// How fast the core was: times of the reference loop, ns.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Speed {
    /// The median: figures are in the time of a core that takes so long.
    pub median_ns: f64,
    /// A twentieth was faster.
    pub fast_ns: f64,
    /// A twentieth was slower.
    pub slow_ns: f64,
}
