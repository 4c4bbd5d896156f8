//! The emitted Verilog by itself: what it means, what it costs, and what other tools say of it.

mod area;
mod blocks;
mod crossings;
mod lint;
mod meaning;
mod properties;
mod support;
mod texts;
