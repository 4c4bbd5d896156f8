//! The DMA engines against simulated completers and memory.

mod activity;
mod beat_plan;
mod ends;
mod epoch;
mod leaves;
mod planted;
mod read;
mod read_errors;
mod support;
mod window;
mod write;
mod write_order;
