//! Tests of the card's emission. They are no unit tests: with those the library, and with it every
//! size of the card, would be compiled a second time.

mod emit;
mod lint;
mod ports;
