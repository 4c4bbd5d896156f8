//! What a broken card, a hostile peer or a careless client may send, from the bytes of a fuzzer.
//!
//! ```text
//!   bytes ─┬─► entries   header entries of a card that lies ──► provider
//!          ├─► headers   headers and calls ──► our own TCP
//!          ├─► packets   a frame ──► parser of the card (golden) and of the host: they agree
//!          └─► requests  calls of an application, in any order ──► provider
//! ```
//! A target panics when something ends that should not: the provider because of one entry, the
//! host because of a packet that the card lets through, a connection because of another's requests.
//! `cargo test` runs the corpus in `sim/fuzz/corpus`; `cargo fuzz` (see `sim/fuzz/README.md`)
//! extends it.

pub mod entries;
pub mod headers;
pub mod input;
pub mod lying_bus;
pub mod packets;
pub mod requests;
pub mod rig;
