//! The card's state: flow table, memory-segment lists, memory-region table.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
// Kernels have no match guards.
#![allow(clippy::collapsible_match)]
#![forbid(unsafe_code)]

pub mod command;
pub mod command_batch;
pub mod command_check;
pub mod command_decode;
pub mod command_judge;
pub mod command_kind;
pub mod command_sequence;
pub mod command_work;
pub mod epoch_ram;
pub mod flow_copies;
pub mod flow_lookup;
pub mod flow_query;
pub mod flow_table;
pub mod flow_writer;
pub mod key_table;
pub mod key_way;
pub mod list_control;
pub mod list_copy;
pub mod list_judge;
pub mod list_ports;
pub mod list_updater;
pub mod region_check;
pub mod region_pipe;
pub mod region_table;
pub mod scrubber;
pub mod search_compare;
pub mod search_front;
pub mod search_halves;
pub mod search_loop;
pub mod search_place;
pub mod search_replies;
pub mod segment_list;
pub mod tables;
pub mod toeplitz;
pub mod toeplitz_fill;
pub mod unanswered;
pub mod updates;

pub use tables::Tables;

/// [`Tables`] in the sizes of `abi::config::SMALL`.
pub type SmallTables = Tables<
    { abi::config::SMALL.flow_bits },
    { abi::config::SMALL.bucket_bits },
    { abi::config::SMALL.segment_bits },
    { abi::config::SMALL.region_bits },
    { abi::config::SMALL.page_bits },
    { abi::config::SMALL.owner_bits },
>;

/// [`Tables`] in the sizes of `abi::config::DEFAULT`.
pub type DefaultTables = Tables<
    { abi::config::DEFAULT.flow_bits },
    { abi::config::DEFAULT.bucket_bits },
    { abi::config::DEFAULT.segment_bits },
    { abi::config::DEFAULT.region_bits },
    { abi::config::DEFAULT.page_bits },
    { abi::config::DEFAULT.owner_bits },
>;

/// The bits of a 16-bit index that are beyond a table of 2^`bits` entries.
const fn beyond_mask(bits: usize) -> u64 {
    0xffff & !((1 << bits) - 1)
}
