//! The capability of PCI Express: sizes, reset of the function, link.

use super::fields::Fields;

/// Where the capability is.
pub(super) const EXPRESS: usize = 0x40;
const DEVICE_CONTROL: usize = EXPRESS + 0x08;
const DEVICE_CONTROL_RESET: u16 = 1 << 15;

/// The link as the function reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// 1 for 2.5 GT/s, 2 for 5, 3 for 8, 4 for 16.
    pub generation: u8,
    /// Lanes.
    pub lanes: u8,
    /// log2 of the largest payload over 128 bytes: 0 for 128, 1 for 256.
    pub payload: u8,
}

/// Whether the bit that resets the function is set.
pub(super) fn asks_for_reset(fields: &Fields) -> bool {
    fields.u16(DEVICE_CONTROL) & DEVICE_CONTROL_RESET != 0
}

pub(super) fn place_express(fields: &mut Fields, link: Link) {
    let (generation, lanes) = (u32::from(link.generation), u32::from(link.lanes));
    let speed_and_width = generation | lanes << 4;
    fields.set_u8(EXPRESS, 0x10);
    // Version 2, endpoint.
    fields.set_u16(EXPRESS + 0x02, 0x0002);
    // Largest payload, tags of 8 bits, errors by role, reset of the function.
    fields.set_u32(EXPRESS + 0x04, u32::from(link.payload) | 1 << 5 | 1 << 15 | 1 << 28);
    // Relaxed ordering and no snoop are allowed, reads are of 512 bytes: the values of power-up.
    fields.set_u16(DEVICE_CONTROL, 0x2810);
    fields.allow_u16(DEVICE_CONTROL, 0xffff);
    fields.set_u32(EXPRESS + 0x0c, speed_and_width);
    fields.allow_u16(EXPRESS + 0x10, 0x01cb);
    fields.set_u16(EXPRESS + 0x12, speed_and_width as u16);
    // All speeds up to the own one: Linux reads them here.
    fields.set_u32(EXPRESS + 0x2c, ((1 << generation) - 1) << 1);
    fields.set_u16(EXPRESS + 0x30, generation as u16);
    fields.allow_u16(EXPRESS + 0x30, 0x000f);
}
