//! TCP on headers only: no payload, no clock, no I/O.
//!
//! ```text
//!   segment, time ──► Endpoint ──► Connection ─┬─ Receiver     what is accepted, what is said
//!   offered, granted ─►   │                    ├─ Scoreboard   what is in flight, held or lost
//!   header ◄── transmit ──┤                    ├─ Rack, RateReduction, Rtt, Pace
//!   event ◄───────────────┘                    └─ Controller   cubic, dctcp, model
//! ```
//! A segment is known by its header and the length of its payload. So the engine can neither read
//! nor copy what it carries: a card places the payload, and the engine says which of it stands.
//!
//! Invariants
//! 1. The same calls with the same times give the same headers and events: nothing reads a clock or
//!    draws a random number.
//! 2. All memory is bounded, by constants or by [`endpoint::Limits`]; each bound stands at its
//!    type.
//! 3. No segment that a peer sends makes it panic.
//!
//! Not here yet
//!
//! - keep-alives (RFC 9293, 3.8.4) and Nagle's rule (3.7.4): what is offered is sent;
//! - TCP Fast Open (RFC 7413), the user timeout option (RFC 5482);
//! - undo of a fast recovery that D-SACKs show to be for nothing (RFC 3708);
//! - data in a SYN: it is not accepted, and comes again;
//! - an initial window of one segment after a lost SYN (RFC 5681, 3.1);
//! - telling by the echoed timestamp which of two transmissions came (RFC 8985, 6.2 step 2): only
//!   the shortest round trip tells;
//! - a window before `accept`: a listener announces 0, so nothing comes before memory is granted;
//! - a whole cycle of ProbeRtt in 200 ms and the extra-ACK filter of the draft (5.5.9).
//!
//! Source: RFC 9293; the clause of everything else stands where it is met.

#![forbid(unsafe_code)]

pub mod clock;
pub mod config;
pub mod connection;
pub mod control;
pub mod cookie;
pub mod endpoint;
mod law;
pub mod listener;
pub mod marks;
pub mod pace;
pub mod path_mtu;
pub mod rack;
pub mod ranges;
pub mod rate_reduction;
pub mod receive;
pub mod rtt;
pub mod scoreboard;
pub mod secret;
pub mod segment;
pub mod sequence;
pub mod time_wait;
pub mod wire;

pub use config::Config;
pub use connection::{Connection, Event, Outgoing, State};
pub use endpoint::{ConnectionId, Endpoint, Limits};
pub use listener::ListenerId;
pub use secret::{Secret, Tuple};
pub use segment::Segment;
