//! `zeronic flash` as a user sees it: real tools, a model of cable, device and flash.

mod documents;
mod hardware_server;
mod interrupted;
mod jtag;
mod pcie;
mod refused;
mod rig;
