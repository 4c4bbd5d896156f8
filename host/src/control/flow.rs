//! Buffers of one flow, and the payload that arrived for them.
//!
//! ```text
//!   requests ─► posted ─► receive ◄─ valid copies ◄─ placed and deferred payload
//!                    └──► send ───► acknowledged bytes
//! ```
//! | file | what |
//! |---|---|
//! | `buffer.rs` | pieces of application memory that requests name |
//! | `posted.rs` | buffers of one direction, waiting or posted in the list |
//! | `place.rs` | where a posted buffer lies in stream and list, and whether it was truncated |
//! | `receive.rs` | receive side: placed, deferred, accepted and announced bytes |
//! | `send.rs` | send side: posted, fed and acknowledged bytes |
//! | `deferred.rs` | deferred payload, each byte once |
//! | `valid_copies.rs` | which copy of each byte is valid |
//! | `state.rs` | how far a posted request has come |
//! | `ranges.rs` | sets of stream ranges |

pub mod buffer;
pub mod deferred;
mod place;
pub(crate) mod posted;
pub mod ranges;
pub mod receive;
pub mod send;
pub mod valid_copies;
