//! The `zeronic` program as a user sees it: exit status, what it prints, what it writes.

mod arguments;
mod bench;
mod board;
mod cases;
mod counts;
mod crash;
mod demo;
mod device;
mod documents;
mod fakes;
mod far;
mod guest;
mod model;
mod networks;
mod output;
mod regions;
mod replay;
mod run;
mod sim_card;
mod soak;
mod verilog;
