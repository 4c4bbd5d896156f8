//! Tests of single blocks of the crate `host_interface`.

mod axi_port;
mod epochs;
mod event_counters;
mod ring_return;
