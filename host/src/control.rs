//! The core of the control stack, without I/O and without a clock. Headers, requests and
//! confirmations come in; commands, descriptors, headers and completions go out. Commands go to a
//! [`crate::records::queue::CommandQueue`] and byte counts to a [`crate::protocol::Protocol`], both
//! of them traits: no call here accesses a bus, a socket or a clock.
//!
//! ```text
//!   protocol          ─► stack ─► send descriptors        requests      ─► stack ─► commands
//!   header entries    ─► stack ─► packets to protocol     confirmations ─► stack ─► completions
//! ```
//! | file or folder | what |
//! |---|---|
//! | `budget.rs` | memory for what peers have sent, shared by all connections |
//! | `position.rs` | positions modulo 2^32, and the offsets that they mean |
//! | `placement.rs` | places keys in the flow table |
//! | `lists.rs` | allocates segment lists, committed and borrowed |
//! | `regions.rs` | allocates regions and page entries |
//! | `rest.rs` | what a connection waits for after a step |
//! | `flow/` | buffers of one flow, and the payload that arrived for them |
//! | `connection/` | one connection: its flow, its two sides, its close |

pub mod budget;
pub mod connection;
pub mod flow;
pub mod lists;
pub mod placement;
pub mod position;
pub mod regions;
pub mod rest;
