//! Headers of packets, from Ethernet to the end of TCP or UDP: read, adjusted, built.
//!
//! ```text
//!   bytes ─► layout: offsets, checksums ─► packet: fields ─► layers ─► descriptor
//!   addresses, fields ─► builder ─► bytes, layers
//! ```
//! | file | what |
//! |---|---|
//! | `builder.rs` | builds the headers of packets that a protocol sends |
//! | `layers.rs` | where layers begin, as the card is told |
//! | `layout.rs` | finds the layers of a frame, sums checksums |
//! | `packet.rs` | reads and adjusts the fields of TCP |
//! | `run.rs` | headers of packets that the card has summed up |
//! | `error.rs` | why bytes are no header |

pub mod builder;
pub mod error;
pub mod layers;
pub mod layout;
pub mod packet;
pub mod run;
