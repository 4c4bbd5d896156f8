//! One flow's payload: the buffers that requests name, and what arrived for them.
//!
//! ```text
//!   requests ─► posted ─► receive ◄─ standing ◄─ what landed, deferred
//!                    └──► send ───► what is acknowledged
//! ```
//! | file | what |
//! |---|---|
//! | `buffer.rs` | pieces of application memory that requests name |
//! | `posted.rs` | buffers of one direction: waiting, and posted in the list |
//! | `receive.rs` | receive side: what landed, what was deferred, what is announced |
//! | `send.rs` | send side: what is posted, fed to the transport, acknowledged |
//! | `deferred.rs` | payload that the card deferred, each byte once |
//! | `standing.rs` | which copy of each byte stands |
//! | `ranges.rs` | sets of stream ranges |

pub mod buffer;
pub mod deferred;
pub mod posted;
pub mod ranges;
pub mod receive;
pub mod send;
pub mod standing;
