//! What the control stack costs: all figures, and the rows that show them.

use serde::Serialize;

use super::figures::{AckCost, Cost, FlowsCost, MessageCost, Speed, Timed};

/// All costs and the verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Everything that the card took was right, and the spread is below 5 %.
    pub ok: bool,
    /// A packet of 1448 bytes, one flow, batches of 64, one ACK for each 64 KiB.
    pub receive: Cost,
    /// The same with an ACK for every second packet.
    pub receive_one_ack_for_two: Cost,
    /// A descriptor of 1448 bytes.
    pub send: Cost,
    /// A descriptor of 64 KiB (45 frames).
    pub send_64k: Cost,
    /// An ACK without payload.
    pub ack: AckCost,
    /// Messages of 64 bytes on one connection, and on many in turn.
    pub messages: Vec<MessageCost>,
    /// Bursts of 64 packets and descriptors of so many flows in turn, with the ACKs of one flow.
    pub flows: Vec<FlowsCost>,
    /// Packets and descriptors of so many flows in turn, each with an ACK of its own.
    pub flows_packet_by_packet: Vec<FlowsCost>,
    /// A packet of 1448 bytes on one flow from a card in a thread of its own, ns; `None` without
    /// `--thread`.
    pub receive_beside_thread_ns: Option<f64>,
    /// A poll that finds nothing, with as many connections open, ns.
    pub idle_poll_ns: f64,
    /// Polls that found nothing, left out of the times.
    pub empty_polls: u64,
    /// Batches that the machine has interrupted, left out of the times.
    pub interrupted_batches: usize,
    /// The greatest spread of all times.
    pub spread: f64,
    /// How fast the core was.
    pub reference: Speed,
    /// The thread stayed on one core.
    pub one_core: bool,
    /// Rows of the table.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// The time.
    pub timed: Timed,
    /// All costs, where more than the time is measured.
    pub cost: Option<Cost>,
    /// What is to be reached.
    pub goal: Option<Goal>,
}

/// What a row is to reach.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// So many ns.
    Ns(f64),
    /// So many times the first of the rows that were measured in turn.
    Times(f64),
}
