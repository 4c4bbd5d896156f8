//! The boards: their descriptions against an independent source, their constraints against their
//! tops, their tops against two front ends and the card, the board window against a model.

mod boards;
mod checks;
mod clocks;
mod core_settings;
mod device_pins;
mod dies;
mod documents;
mod driver;
mod events;
mod flash;
mod flash_update;
mod guides;
mod i2c_bus;
mod rig;
mod tops;
mod update;
mod whole;
mod window;
#[path = "../../../tests/system/wire_support.rs"]
mod wire_support;
