//! A flow: one connection from a client to a server, and what its applications do.

use tcp::connection::{Counters, End};
use tcp::endpoint::ConnectionId;

use crate::memory::Memory;
use crate::topology::HostId;

/// The parameters of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowParameters {
    /// Who connects.
    pub client: HostId,
    /// Who listens.
    pub server: HostId,
    /// When the client connects.
    pub open_ps: u64,
    /// When the client has something to send; before that it only connects.
    pub send_ps: u64,
    /// What the client and what the server sends before its FIN; `None` for a stream without end.
    pub bytes: [Option<u64>; 2],
    /// Memory that a receiver grants beyond what it has accepted.
    pub window_bytes: u64,
    /// Closed loop: when the client knows that all has come, it opens the next flow of the same
    /// parameters.
    pub is_repeated: bool,
}

/// One end of a flow.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The connection, while it has a name.
    pub id: Option<ConnectionId>,
    /// What it has received.
    pub memory: Memory,
    /// The peer has everything before this offset.
    pub acknowledged: u64,
    /// The peer's stream has ended, and all of it was accepted.
    pub has_end_of_stream: bool,
    /// How the connection has ended.
    pub end: Option<End>,
    /// What the connection had counted when its name was given back.
    pub counters: Counters,
}

/// A flow. Side 0 is the client.
#[derive(Clone, Debug)]
pub struct Flow {
    /// What it is.
    pub parameters: FlowParameters,
    /// Port of the client.
    pub port: u16,
    /// Client and server.
    pub sides: [Side; 2],
    /// When the server had accepted all that the client sends, if it sends an end.
    pub complete_ps: Option<u64>,
}

impl Flow {
    /// A flow that is not open yet.
    pub fn new(parameters: FlowParameters, port: u16) -> Self {
        Self { parameters, port, sides: Default::default(), complete_ps: None }
    }

    /// Behind the last byte that a side sends.
    pub fn total_bytes(&self, side: usize) -> u64 {
        // Half of the range of offsets, so that no sum with a window wraps.
        self.parameters.bytes[side].unwrap_or(u64::MAX / 2)
    }
}
