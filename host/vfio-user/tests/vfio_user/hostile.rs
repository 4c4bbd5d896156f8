//! Random and mutated messages: for the codec, for a server, and for a client.
//!
//! ```text
//!   random request ──► bytes ──► a field changed, cut, longer ──► codec, server, client
//! ```
//! Nothing panics or hangs, a server serves the next client as if nothing had been, and what still
//! decodes is what it says.

mod codec;
mod ends;
mod greetings;
mod requests;
