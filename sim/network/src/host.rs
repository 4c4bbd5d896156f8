//! A host: the engine, the time that its CPU takes, and the queue of its card.
//!
//! ```text
//!   link ─► header queue ─ poll: cost of each header ─► engine ─ cost of each descriptor ─► card
//!                                                                      queue of the card ─► link
//! ```
//! One CPU does everything, in polls of at most [`HostCosts::batch_headers`] headers in and as many
//! out. A card whose queue is full is not given more: the engine is asked again when there is room.
//!
//! Source: `docs/bench.md`, tables of `bench host` and `bench latency`: the defaults are medians.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tcp::config::Config;
use tcp::endpoint::{Endpoint, Limits};
use tcp::listener::ListenerId;
use tcp::secret::Secret;

use crate::units::NS_PS;

/// What a header costs a host, and how long the way through its card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCosts {
    /// CPU time to take a packet with payload.
    pub packet_ps: u64,
    /// CPU time to take an ACK.
    pub acknowledgement_ps: u64,
    /// CPU time to write a descriptor with payload.
    pub descriptor_ps: u64,
    /// CPU time to write an ACK.
    pub reply_ps: u64,
    /// Last byte in to the header in host memory.
    pub receive_latency_ps: u64,
    /// Doorbell to the first byte out.
    pub send_latency_ps: u64,
    /// Most headers taken, and most written, in a poll.
    pub batch_headers: usize,
}

impl Default for HostCosts {
    fn default() -> Self {
        Self {
            packet_ps: 63 * NS_PS,
            acknowledgement_ps: 52 * NS_PS,
            descriptor_ps: 64 * NS_PS,
            reply_ps: 30 * NS_PS,
            receive_latency_ps: 269 * NS_PS,
            send_latency_ps: 1_511 * NS_PS,
            batch_headers: 64,
        }
    }
}

impl HostCosts {
    /// A host that takes no time, and whose card takes none.
    pub fn none() -> Self {
        Self {
            packet_ps: 0,
            acknowledgement_ps: 0,
            descriptor_ps: 0,
            reply_ps: 0,
            receive_latency_ps: 0,
            send_latency_ps: 0,
            batch_headers: usize::MAX,
        }
    }
}

/// The parameters of a host.
#[derive(Clone, Debug)]
pub struct HostParameters {
    /// Settings of the engine.
    pub config: Config,
    /// Bounds of the engine.
    pub limits: Limits,
    /// What headers cost.
    pub costs: HostCosts,
    /// It is polled at most this often.
    pub poll_interval_ps: u64,
    /// What may wait in the card to be sent, in bytes on the wire.
    pub card_queue_bytes: u64,
    /// Headers that may wait for the host; what comes beyond is dropped and counted.
    pub header_queue_entries: usize,
}

impl HostParameters {
    /// A host with the costs that were measured. The card holds a quarter of what a path of
    /// 100 Gb/s and 50 us holds, and 4,096 headers.
    pub fn measured(config: Config) -> Self {
        Self {
            config,
            limits: Limits::default(),
            costs: HostCosts::default(),
            poll_interval_ps: 0,
            card_queue_bytes: 156_250,
            header_queue_entries: 4_096,
        }
    }
}

/// A host.
#[derive(Debug)]
pub struct Host {
    pub(crate) parameters: HostParameters,
    pub(crate) endpoint: Endpoint,
    pub(crate) listener: ListenerId,
    /// Packets that have come, by index.
    pub(crate) inbox: VecDeque<u32>,
    /// The flows that it has opened: their ports count from the first.
    pub(crate) opened: Vec<u32>,
    /// The CPU is busy until then.
    pub(crate) busy_ps: u64,
    /// When it wants to be polled, and the earliest event that is planned for it.
    pub(crate) wanted_ps: Option<u64>,
    pub(crate) planned_ps: Option<u64>,
}

impl Host {
    /// A host whose engine listens at an address.
    ///
    /// # Panics
    /// Never: nothing else listens on a new engine.
    pub(crate) fn new(
        parameters: HostParameters,
        secret: Secret,
        local: std::net::SocketAddr,
    ) -> Self {
        let config = parameters.config.clone();
        let mut endpoint = Endpoint::new(config, secret, parameters.limits);
        let listener = endpoint.listen(local).expect("a new engine listens nowhere");
        Self {
            parameters,
            endpoint,
            listener,
            inbox: VecDeque::new(),
            opened: Vec::new(),
            busy_ps: 0,
            wanted_ps: None,
            planned_ps: None,
        }
    }

    /// The engine, to look at.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}
