//! Driver and control path of the card.
//!
//! ```text
//!   provider   connections of applications ─────┐
//!   message    messages over UDP ──► provider   │
//!                                               ├─► driver ──► bus ──► card
//!   control    state of flows, no I/O ◄─────────┤
//!   protocol   what is sent and accepted ◄──────┘
//!      └─ observed ──► transport  TCPs that are black boxes
//! ```
//! | folder | what |
//! |---|---|
//! | `headers/` | headers from Ethernet to TCP or UDP: read, adjusted, built |
//! | `records/` | commands, descriptors, profiles; names of commands |
//! | `driver/` | one open card: bus, rings, header entries |
//! | `control/` | flows, buffers, windows and tables |
//! | `protocol.rs` | the trait of what decides which bytes are sent, accepted and acknowledged |
//! | `observed/` | a protocol around a TCP that does not say what it accepts |
//! | `ahead.rs` | what a protocol with thousands of flows may say of the next ones |
//! | `clock.rs` | the wall clock, or one that its user advances |
//! | `error/` | errors of protocols, control stack and provider, by room |
//! | `failure.rs` | why a connection failed, with an error number |
//! | `tcp/` | our own TCP as a protocol: addresses and flows around crate `tcp` |
//! | `limits.rs` | most connections that nobody has accepted |
//! | `transport/` | TCP stacks that see headers and lengths, and test peers |
//! | `provider/` | the applications' calls on connections |
//! | `message/` | a protocol over UDP that uses a header profile |
//! | `memory/` | application memory: files, addresses; closed to the control path but for copies |
//! | `prefetch.rs` | asks for memory that the next packets need |
//! | `large_pages.rs` | tables as long as the card has flows, in large pages |

pub mod ahead;
pub mod clock;
pub mod control;
pub mod driver;
pub mod error;
pub mod failure;
pub mod headers;
// What measures the host keeps its own tables as the host does; no part of the interface.
#[doc(hidden)]
pub mod large_pages;
mod limits;
pub mod memory;
pub mod message;
pub mod observed;
#[doc(hidden)]
pub mod prefetch;
pub mod protocol;
pub mod provider;
pub mod records;
pub mod tcp;
pub mod transport;
