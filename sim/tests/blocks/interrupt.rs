//! The block that makes interrupts.

mod masks;
mod moderated;
mod races;
mod rings;
mod support;
