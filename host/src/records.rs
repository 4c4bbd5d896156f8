//! What driver and control stack hand to each other: records of the contract, and their names.
//!
//! ```text
//!   control ── commands, descriptors, profiles ──► driver ──► rings
//!           ◄─ tickets, confirmations ─────────────┘
//! ```
//! | file | what |
//! |---|---|
//! | `commands.rs` | packs commands |
//! | `descriptor.rs` | packs send descriptors |
//! | `profile.rs` | header profiles beside TCP |
//! | `queue.rs` | the trait that takes commands and reports confirmations |
//! | `size.rs` | a size that is out of its range |
//! | `state.rs` | how far a posted request has come |
//! | `ticket.rs` | names of commands until they are confirmed |
//! | `words.rs` | the unit in which rings are written and read |

pub mod commands;
pub mod descriptor;
pub mod profile;
pub mod queue;
pub mod size;
pub mod state;
pub mod ticket;
pub mod words;
