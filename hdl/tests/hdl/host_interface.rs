//! Tests of single blocks of the crate `host_interface`.

mod epochs;
mod event_counters;
mod ring_return;
