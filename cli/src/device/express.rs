//! A card's configuration space: its ids, and how PCI Express has set it up.
//!
//! Source: PCI Express 3.0, chapter 7.

use anyhow::Result;
use host_board::pci::{Function, Register};
use serde::Serialize;
use vfio::CardBus;

/// Ids of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ids {
    vendor: u16,
    device: u16,
    subsystem_vendor: u16,
    subsystem: u16,
    revision: u8,
}

impl Ids {
    /// Reads them.
    pub fn read(card: &mut CardBus) -> Result<Self> {
        Ok(Self {
            vendor: word(card, 0x00)?,
            device: word(card, 0x02)?,
            subsystem_vendor: word(card, 0x2c)?,
            subsystem: word(card, 0x2e)?,
            revision: word(card, 0x08)? as u8,
        })
    }

    /// In words.
    pub fn text(&self) -> String {
        let Self { vendor, device, subsystem_vendor, subsystem, revision } = self;
        let subsystem = format!("subsystem {subsystem_vendor:04x}:{subsystem:04x}");
        format!("{vendor:04x}:{device:04x}, {subsystem}, revision {revision}")
    }
}

/// Link and settings of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Express {
    /// Generation and lanes of the link.
    pub link: (u8, u8),
    /// The best that the function can.
    pub link_max: (u8, u8),
    /// Largest payload of a write, bytes, as set.
    pub payload_bytes: u32,
    /// The largest that the function can.
    pub payload_bytes_max: u32,
    /// Largest read request, bytes, as set.
    pub read_bytes: u32,
    /// Tags of 8 bits are allowed.
    pub extended_tags: bool,
    /// Relaxed ordering is allowed.
    pub relaxed_ordering: bool,
}

impl Express {
    /// Reads the capability; `None` if the function has none.
    pub fn read(card: &mut CardBus) -> Result<Option<Self>> {
        let function = Function::find(|offset, into| card.read_config(offset.into(), into))?;
        let registers = (
            function.device_capabilities(),
            function.device_control(),
            function.link_capabilities(),
            function.link_status(),
        );
        let (Some(able), Some(control), Some(link_able), Some(link)) = registers else {
            return Ok(None);
        };
        let [able, control, link_able, link] = [able, control, link_able, link]
            .map(|register: Register| word(card, register.offset.into()));
        Ok(Some(Self::of(able?, control?, link_able?, link?)))
    }

    /// From device capabilities, device control, link capabilities and link status.
    fn of(able: u16, control: u16, link_able: u16, link: u16) -> Self {
        let of_link = |word: u16| ((word & 0xf) as u8, (word >> 4 & 0x3f) as u8);
        Self {
            link: of_link(link),
            link_max: of_link(link_able),
            payload_bytes: 128 << (control >> 5 & 7),
            payload_bytes_max: 128 << (able & 7),
            read_bytes: 128 << (control >> 12 & 7),
            extended_tags: control & 1 << 8 != 0,
            relaxed_ordering: control & 1 << 4 != 0,
        }
    }

    /// In words.
    pub fn text(&self) -> String {
        let ((generation, lanes), (generation_max, lanes_max)) = (self.link, self.link_max);
        format!(
            "generation {generation} x{lanes} of generation {generation_max} x{lanes_max}; writes \
             of {} bytes, reads of {}",
            self.payload_bytes, self.read_bytes
        )
    }
}

fn word(card: &mut CardBus, offset: u64) -> Result<u16> {
    let mut bytes = [0; 2];
    card.read_config(offset, &mut bytes)?;
    Ok(u16::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as the specification lays them out.
    #[test]
    fn settings_are_taken_from_their_bits() {
        let found = Express::of(0x8021, 0x2930, 0x0103, 0x0082);
        let expected = Express {
            link: (2, 8),
            link_max: (3, 16),
            payload_bytes: 256,
            payload_bytes_max: 256,
            read_bytes: 512,
            extended_tags: true,
            relaxed_ordering: true,
        };
        assert_eq!(found, expected);
        let narrow = Express::of(0x8021, 0x2000, 0x0103, 0x0103);
        assert!(!narrow.extended_tags && !narrow.relaxed_ordering);
        assert_eq!(narrow.payload_bytes, 128);
    }
}
