//! What the commands have in common.
//!
//! ```text
//!   config    configurations of the card by name     options   sizes, probabilities, names
//!   output    results, whole or not at all           progress  how far a run is
//!   table     tables of figures and their verdict    failure   which exit status an error has
//! ```

pub mod config;
pub mod failure;
pub mod options;
pub mod output;
pub mod progress;
pub mod table;
