//! The control stack's core: no I/O, no clock; headers and completions in, commands, descriptors
//! and headers out.
//!
//! ```text
//!   transport headers ─► stack ─► send descriptors        requests      ─► stack ─► commands
//!   header entries    ─► stack ─► headers to transport    confirmations ─► stack ─► completions
//! ```
//! | file or folder | what |
//! |---|---|
//! | `commands.rs` | packs commands |
//! | `descriptor.rs` | packs send descriptors |
//! | `profile.rs` | header profiles beside TCP |
//! | `packet.rs` | reads and adjusts packet headers |
//! | `queue.rs` | where commands go: the only way to the card |
//! | `placement.rs` | which key slot holds which flow |
//! | `lists.rs` | where segment lists lie, committed and borrowed |
//! | `regions.rs` | registered regions and page entries |
//! | `flow/` | one flow's buffers, and the payload that arrived for them |
//! | `connection/` | one TCP connection: handshake, window, acceptance, end |

pub mod commands;
pub mod connection;
pub mod descriptor;
pub mod flow;
pub mod lists;
pub mod packet;
pub mod placement;
pub mod profile;
pub mod queue;
pub mod regions;
