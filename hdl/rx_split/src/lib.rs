//! Receive: parse, verify, classify, place, split.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod beat_sum;
pub mod delay;
pub mod fold;
pub mod ingress;
pub mod key;
pub mod layout;
pub mod messages;
pub mod parse;
pub mod profiles;
pub mod pseudo;
pub mod quarter_sum;
pub mod store;
pub mod transport;
pub mod verdict;
pub mod verify;
pub mod window;
