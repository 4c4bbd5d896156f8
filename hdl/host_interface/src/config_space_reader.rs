//! Reads from the function's configuration space whether the host allows 8-bit tags, which the hard
//! block brings out on no port.
//!
//! ```text
//!   every 1,024 cycles ──► cfg_mgmt read of Device Control ──► bit 8 ──► extended_tags
//! ```
//! Timing: a change by the host shows after at most 1,024 cycles and one access. Low after reset.
//!
//! Invariants:
//! 1. There is one access at a time. It is held until the hard block reports that it is done.
//! 2. Nothing is written to the configuration space.
//!
//! On error: an access that never ends leaves `extended_tags` unchanged. It is low at first, which
//! is always safe.
//!
//! Source: PG213, configuration management interface; PCI Express Base 3.0, 7.8.4 (device control,
//! extended tag field enable).

use ip::pcie::{ConfigurationSpace, PCIE_CAPABILITY_BYTES};
use stream::prelude::*;

/// Dword address of Device Control, a register at byte 8 of the PCI Express capability.
const DEVICE_CONTROL_DWORD: u64 = (PCIE_CAPABILITY_BYTES + 8) / 4;
/// Extended tag field enable.
const EXTENDED_TAG_BIT: u64 = 8;

/// The reader. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ConfigSpaceReader {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset: forgets the access and the bit.
    pub reset: Signal<In, Bit>,
    /// Access port of the hard block to its configuration space.
    pub cfg_mgmt: ConfigurationSpace,
    /// The host allows 8-bit tags.
    pub extended_tags: Signal<Out, Bit>,

    pause: DFF<Bits<10>>,
    reading: DFF<Bit>,
    extended: DFF<Bit>,

    #[value(DEVICE_CONTROL_DWORD)]
    address: Constant<Bits<10>>,
    #[value(EXTENDED_TAG_BIT)]
    tag_bit: Constant<Bits<5>>,
    #[value(1)]
    one: Constant<Bits<10>>,
}

impl Logic for ConfigSpaceReader {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pause, reading, extended);
        self.cfg_mgmt.addr.next = self.address.val();
        self.cfg_mgmt.function_number.next = bits::<8>(0);
        self.cfg_mgmt.read.next = self.reading.q.val();
        self.cfg_mgmt.write.next = false;
        self.cfg_mgmt.write_data.next = 0.into();
        self.cfg_mgmt.byte_enable.next = bits::<4>(0);
        self.cfg_mgmt.debug_access.next = false;
        self.extended_tags.next = self.extended.q.val();

        // The counter stands while an access runs.
        if self.reading.q.val() {
            if self.cfg_mgmt.read_write_done.val() {
                self.reading.d.next = false;
                self.extended.d.next =
                    self.cfg_mgmt.read_data.val().get_bit(self.tag_bit.val().index());
            }
        } else {
            self.pause.d.next = self.pause.q.val() + self.one.val();
            self.reading.d.next = self.pause.q.val() == bits::<10>(0);
        }
        if self.reset.val() {
            self.pause.d.next = 0.into();
            self.reading.d.next = false;
            self.extended.d.next = false;
        }
    }
}
