//! Times and what is made of them.
//!
//! | file | what |
//! |---|---|
//! | `cores.rs` | keeps a thread on a core; the time that it had one |
//! | `reference.rs` | a loop of known work, by whose time others are divided |
//! | `statistics.rs` | median and spread of repetitions |
//! | `latencies.rs` | quantiles of many times of one kind |

pub mod cores;
pub mod latencies;
pub(crate) mod reference;
pub mod statistics;
