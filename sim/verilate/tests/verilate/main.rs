//! Designs that Verilator builds, and the waves that they record.

mod build;
mod wave;
