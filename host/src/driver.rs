//! The driver: one card behind a bus, its rings and its owners.
//!
//! ```text
//!   commands, descriptors ─► Device ─► owners' rings, doorbells ─► Bus ─► card
//!   confirmations, header entries ◄── Device ◄── rings in control memory ◄─┘
//! ```
//! | file | what |
//! |---|---|
//! | `bus.rs` | registers, DMA memory and faults of a card, real or simulated |
//! | `bus_memory.rs` | addresses and new memory, for buses to simulated cards |
//! | `context.rs` | tells the card where the rings of an owner are |
//! | `control_memory.rs` | memory that host and card share: words, loaded and stored in place |
//! | `counters.rs` | reads the counters of a card |
//! | `device.rs` | opens a card, moves its rings |
//! | `device/config.rs` | how a card is opened |
//! | `device/counters.rs` | the counters of an open card |
//! | `device/marks.rs` | marks behind commands, and whether the card has passed them |
//! | `device/restart.rs` | restarts and closes the rings of an owner |
//! | `look.rs` | what a card says of itself before it is opened |
//! | `owner.rs` | one owner: its rings and its commands in flight |
//! | `read.rs` | reads registers, notices a card that is gone |
//! | `rings.rs` | producer and consumer sides of the rings |
//! | `run_entry.rs` | reads header entries that stand for a run of packets |
//! | `sleep.rs` | sleeps on interrupts and the transport's descriptor |
//! | `start.rs` | sizes, reset and hash secrets of a card |
//! | `watch.rs` | detects lost epochs and stopped rings |
//! | `error.rs` | errors of the driver |

pub mod bus;
pub mod bus_memory;
mod context;
pub mod control_memory;
pub mod counters;
pub mod device;
pub mod error;
pub mod look;
mod owner;
mod read;
pub mod rings;
mod run_entry;
mod sleep;
pub(crate) mod start;
mod watch;
pub mod wire;
