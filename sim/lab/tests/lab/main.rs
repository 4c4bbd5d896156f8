//! Hosts on golden cards: messages between two of them, and runs of headers.

mod messages;
mod runs;
