//! The `zeronic` program as a user sees it: exit status, what it prints, what it writes.

mod arguments;
mod bench;
mod board;
mod capture_files;
mod captures;
mod cases;
mod counts;
mod crash;
mod demo;
mod device;
mod disturbed;
mod documents;
mod fakes;
mod far;
mod flow_files;
mod learned;
mod networks;
mod output;
mod regions;
mod replay;
mod run;
mod sending;
mod sim_card;
mod soak;
mod verilog;
