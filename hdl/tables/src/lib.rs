//! The card's state: flow table, memory-segment lists, memory-region table.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
// Kernels have no match guards.
#![allow(clippy::collapsible_match)]
#![forbid(unsafe_code)]

pub mod command;
pub mod epoch_ram;
pub mod flow_table;
pub mod messages;
pub mod pending_replies;
pub mod region_table;
pub mod scrubber;
pub mod segment_list;
pub mod tables;

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
