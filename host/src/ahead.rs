//! What a protocol with thousands of flows may say of those that come next.
//!
//! ```text
//!   entries of a queue  │ now │ ..... │ arriving │      headers  │ now │ ..... │ sending │
//! ```
//! With so many flows in turn, the state of each lies in a far cache when its packet is taken or
//! its header is made. Here a protocol has it fetched meanwhile. Nothing else depends on it: a
//! protocol without it does the same, and most need none.
//! [`Provider::look_ahead`](crate::provider::Provider::look_ahead) turns it on.

use crate::protocol::{FlowIndex, Protocol};

/// Headers with payload that are looked ahead at once.
pub const SENDERS_AHEAD: usize = 12;

/// A protocol that knows what comes next, and asks for its own state of it.
pub trait LookAhead: Protocol {
    /// A packet of this flow is among the next to arrive.
    fn arriving(&self, flow: FlowIndex);

    /// The flow of the header with payload that is sent after `place` others; `None` behind the
    /// last one.
    fn sending(&self, place: usize) -> Option<FlowIndex>;
}

/// The two calls of a protocol, for a provider that does not ask for them of every protocol.
pub(crate) struct Ahead<P> {
    pub(crate) arriving: fn(&P, FlowIndex),
    pub(crate) sending: fn(&P, usize) -> Option<FlowIndex>,
}

impl<P: LookAhead> Ahead<P> {
    pub(crate) fn new() -> Self {
        Self { arriving: P::arriving, sending: P::sending }
    }
}
