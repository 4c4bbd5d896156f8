//! What the commands have in common.
//!
//! ```text
//!   config    configurations of the card by name     options   sizes, probabilities, names
//!   output    results, whole or not at all           progress  how far a run is
//!   table     tables of figures and their verdict    failure   which exit status an error has
//!   bus       buses to cards, opened                 stack     which TCP an end has
//!   faults    of a wire
//!   awaited   peers that must answer soon            secret    of a TCP on a wire that is not ours
//! ```

pub mod awaited;
pub mod bus;
pub mod config;
pub mod failure;
pub mod faults;
pub mod options;
pub mod output;
pub mod progress;
pub mod secret;
pub mod stack;
pub mod table;
