//! Driver and control path of the card.
//!
//! ```text
//!   provider   TCP connections of applications ─┐
//!   message    messages over UDP ───────────────┤
//!                                               ├─► driver ──► bus ──► card
//!   control    state of flows, no I/O ◄─────────┤
//!   transport  protocol stacks ◄────────────────┘
//! ```
//! | folder | what |
//! |---|---|
//! | `driver/` | one open card: bus, rings, commands, descriptors, header entries |
//! | `control/` | flows, buffers, windows and tables; packs commands and descriptors |
//! | `transport/` | TCP stacks that see headers and lengths, and test peers |
//! | `provider/` | the applications' calls on TCP connections |
//! | `message/` | a transport over UDP that uses a header profile |
//! | `memory.rs` | application memory, mapped without access for the control path |

pub mod control;
pub mod driver;
pub mod memory;
pub mod message;
pub mod observed;
pub mod protocol;
pub mod provider;
pub mod transport;
