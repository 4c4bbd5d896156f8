//! Tests of single blocks of the crate `tables`.

mod die_hop;
mod flow_state_writer;
mod list_judge;
mod search_loop;
