//! How the card is found on the bus: its ids in the configuration space.
//!
//! The cores of a board are made with these (`bitstream/build.tcl`). The vendor is that of the
//! device: the project has no number of its own, so a driver looks at the device id and then at the
//! identity words of BAR 0.

/// Vendor: AMD, formerly Xilinx, as for any design that has no vendor id of its own.
pub const VENDOR_ID: u16 = 0x10ee;
/// Device: `ZN`.
pub const DEVICE_ID: u16 = 0x5a4e;
/// Vendor of the board's design.
pub const SUBSYSTEM_VENDOR_ID: u16 = 0x10ee;
/// Design. Which board it is, and which configuration, the identity words tell.
pub const SUBSYSTEM_ID: u16 = 0x0001;
/// Revision of the contract that changes what a driver may rely on before it has read BAR 0.
pub const REVISION_ID: u8 = 0x01;
/// Class: network controller, Ethernet.
pub const CLASS_CODE: u32 = 0x02_0000;
