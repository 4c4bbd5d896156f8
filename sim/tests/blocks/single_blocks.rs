//! Tests of single blocks in many cycles, or with many bits in each: their Verilog in Verilator.
//! Those of few cycles are `hdl/tests`, in rust-hdl's own simulation.

mod last_job;
mod owner_flags;
mod region_bounds;
mod tags;
mod toeplitz_hash;
