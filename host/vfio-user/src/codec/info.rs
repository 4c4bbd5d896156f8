//! What a device has: regions and interrupts.
//!
//! ```text
//!   device     0 argsz │ 4 flags │ 8 regions │ 12 interrupt types
//!   region     0 argsz │ 4 flags │ 8 index │ 12 capability │ 16 bytes │ 24 offset in the file
//!   interrupt  0 argsz │ 4 flags │ 8 index │ 12 count
//!   areas      0 id 1 │ 2 version 1 │ 4 next │ 8 count │ 12 0 │ 16 offset │ 24 bytes │ ...
//! ```
//! Commands and replies are laid out alike. `argsz` of a command is the room for the reply, that of
//! a reply what it takes: where the room is too small, the areas are left out, and the client asks
//! again.
//!
//! Invariants
//! 1. The descriptor of a region comes with the reply that has its areas, and with no other.
//! 2. Reading the capabilities of any reply ends.
//!
//! Source: vfio-user protocol specification, VFIO_USER_DEVICE_GET_INFO, GET_REGION_INFO and
//! GET_IRQ_INFO; `linux/vfio.h`.

use super::bytes::{Reader, Writer};
use super::error::CodecError;
use super::memory::check_argsz;

const DEVICE_BYTES: u32 = 16;
const REGION_BYTES: u32 = 32;
const INTERRUPT_BYTES: u32 = 16;

const DEVICE_RESET: u32 = 1 << 0;
const DEVICE_PCI: u32 = 1 << 1;

const REGION_READ: u32 = 1 << 0;
const REGION_WRITE: u32 = 1 << 1;
const REGION_MMAP: u32 = 1 << 2;
const REGION_CAPABILITIES: u32 = 1 << 3;

const CAPABILITY_SPARSE_MMAP: u16 = 1;

/// Interrupt flags: an event descriptor is signalled.
pub const INTERRUPT_EVENT: u32 = 1 << 0;
/// Interrupt flags: it can be masked.
pub const INTERRUPT_MASKABLE: u32 = 1 << 1;
/// Interrupt flags: the client sets all of them at once.
pub const INTERRUPT_NO_RESIZE: u32 = 1 << 3;

/// A question for one region or interrupt type: the room for the answer, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Bytes of a payload that the sender takes.
    pub argsz: u32,
    /// Which one.
    pub index: u32,
}

impl Question {
    pub(super) fn decode_region(payload: &[u8]) -> Result<Self, CodecError> {
        Self::decode(payload, REGION_BYTES)
    }

    pub(super) fn decode_interrupt(payload: &[u8]) -> Result<Self, CodecError> {
        Self::decode(payload, INTERRUPT_BYTES)
    }

    /// Clients may send as many bytes as they take.
    fn decode(payload: &[u8], fixed: u32) -> Result<Self, CodecError> {
        let mut all = Reader::new(payload);
        let mut fields = Reader::new(all.take(fixed as usize)?);
        let (argsz, _flags, index) = (fields.u32()?, fields.u32()?, fields.u32()?);
        check_argsz(argsz, fixed)?;
        Ok(Self { argsz, index })
    }

    /// The question for a region.
    pub fn encode_region(&self) -> Vec<u8> {
        let fields = Writer::default().u32(self.argsz.max(REGION_BYTES)).u32(0).u32(self.index);
        fields.u32(0).u64(0).u64(0).0
    }

    /// The question for an interrupt type.
    pub fn encode_interrupt(&self) -> Vec<u8> {
        let argsz = self.argsz.max(INTERRUPT_BYTES);
        Writer::default().u32(argsz).u32(0).u32(self.index).u32(0).0
    }
}

/// A device as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// It carries out a reset.
    pub resets: bool,
    /// It is a PCI device.
    pub is_pci: bool,
    /// Number of regions.
    pub regions: u32,
    /// Number of interrupt types.
    pub interrupts: u32,
}

impl DeviceInfo {
    /// The question for it.
    pub fn question() -> Vec<u8> {
        Writer::default().u32(DEVICE_BYTES).u32(0).u32(0).u32(0).0
    }

    pub(super) fn check_question(payload: &[u8]) -> Result<(), CodecError> {
        let mut all = Reader::new(payload);
        let argsz = Reader::new(all.take(DEVICE_BYTES as usize)?).u32()?;
        check_argsz(argsz, DEVICE_BYTES)
    }

    /// Takes a reply apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(payload);
        let (argsz, flags) = (fields.u32()?, fields.u32()?);
        let (regions, interrupts) = (fields.u32()?, fields.u32()?);
        check_argsz(argsz, DEVICE_BYTES)?;
        let (resets, is_pci) = (flags & DEVICE_RESET != 0, flags & DEVICE_PCI != 0);
        Ok(Self { resets, is_pci, regions, interrupts })
    }

    /// The reply.
    pub fn encode(&self) -> Vec<u8> {
        let reset = if self.resets { DEVICE_RESET } else { 0 };
        let pci = if self.is_pci { DEVICE_PCI } else { 0 };
        let fields = Writer::default().u32(DEVICE_BYTES).u32(reset | pci);
        fields.u32(self.regions).u32(self.interrupts).0
    }
}

/// A part of a region that clients may map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// First byte, from the start of the region.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
}

/// A region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionInfo {
    /// Which one.
    pub index: u32,
    /// Length; 0: the device has no such region.
    pub bytes: u64,
    /// It can be read by messages.
    pub read: bool,
    /// It can be written by messages.
    pub write: bool,
    /// Where it begins in the descriptor that comes with the reply; `None`: nothing can be mapped.
    pub file_offset: Option<u64>,
    /// The parts that can be mapped; none: all of it.
    pub areas: Vec<Area>,
}

impl RegionInfo {
    /// Bytes of the whole reply.
    pub fn reply_bytes(&self) -> u32 {
        REGION_BYTES + self.areas_bytes()
    }

    fn areas_bytes(&self) -> u32 {
        match self.areas.len() as u32 {
            0 => 0,
            count => 16 + 16 * count,
        }
    }

    /// The reply for a client that takes so many bytes, and whether the descriptor goes with it.
    pub fn encode(&self, argsz: u32) -> (Vec<u8>, bool) {
        let fits = argsz >= self.reply_bytes();
        let maps = fits && self.file_offset.is_some();
        let lists = fits && !self.areas.is_empty();
        let mut flags = 0;
        for (is_set, flag) in [
            (self.read, REGION_READ),
            (self.write, REGION_WRITE),
            (maps, REGION_MMAP),
            (lists, REGION_CAPABILITIES),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        let capability = if lists { REGION_BYTES } else { 0 };
        let mut fields = Writer::default().u32(self.reply_bytes()).u32(flags).u32(self.index);
        fields = fields.u32(capability).u64(self.bytes).u64(self.file_offset.unwrap_or(0));
        if lists {
            fields = fields.u16(CAPABILITY_SPARSE_MMAP).u16(1).u32(0);
            fields = fields.u32(self.areas.len() as u32).u32(0);
            for area in &self.areas {
                fields = fields.u64(area.offset).u64(area.bytes);
            }
        }
        (fields.0, maps)
    }

    /// Takes a reply apart; with it the bytes that it needs, more than there are where the room was
    /// too small.
    pub fn decode(payload: &[u8]) -> Result<(Self, u32), CodecError> {
        let mut fields = Reader::new(payload);
        let (argsz, flags) = (fields.u32()?, fields.u32()?);
        let (index, capability) = (fields.u32()?, fields.u32()?);
        let (bytes, offset) = (fields.u64()?, fields.u64()?);
        check_argsz(argsz, REGION_BYTES)?;
        let is_listed = flags & REGION_CAPABILITIES != 0 && argsz as usize <= payload.len();
        let areas = if is_listed { find_areas(payload, capability)? } else { Vec::new() };
        let file_offset = (flags & REGION_MMAP != 0).then_some(offset);
        let (read, write) = (flags & REGION_READ != 0, flags & REGION_WRITE != 0);
        Ok((Self { index, bytes, read, write, file_offset, areas }, argsz))
    }
}

/// Walks the list of capabilities, each of which must lie behind the one before.
fn find_areas(payload: &[u8], first: u32) -> Result<Vec<Area>, CodecError> {
    let (mut offset, mut least) = (first, REGION_BYTES);
    while offset != 0 {
        let wrong = || CodecError::CapabilityOffset(offset);
        let bytes = payload.get(offset as usize..).filter(|_| offset >= least).ok_or_else(wrong)?;
        let mut fields = Reader::new(bytes);
        let (id, _version, next) = (fields.u16()?, fields.u16()?, fields.u32()?);
        if id == CAPABILITY_SPARSE_MMAP {
            return read_areas(fields);
        }
        (least, offset) = (offset.saturating_add(8), next);
    }
    Ok(Vec::new())
}

fn read_areas(mut fields: Reader<'_>) -> Result<Vec<Area>, CodecError> {
    let (count, _reserved) = (fields.u32()?, fields.u32()?);
    let mut list = Reader::new(fields.take((count as usize).saturating_mul(16))?);
    (0..count).map(|_| Ok(Area { offset: list.u64()?, bytes: list.u64()? })).collect()
}

/// Interrupts of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptInfo {
    /// Which type.
    pub index: u32,
    /// What can be done with them.
    pub flags: u32,
    /// How many there are.
    pub count: u32,
}

impl InterruptInfo {
    /// Takes a reply apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(payload);
        let (argsz, flags) = (fields.u32()?, fields.u32()?);
        let (index, count) = (fields.u32()?, fields.u32()?);
        check_argsz(argsz, INTERRUPT_BYTES)?;
        Ok(Self { index, flags, count })
    }

    /// The reply.
    pub fn encode(&self) -> Vec<u8> {
        let fields = Writer::default().u32(INTERRUPT_BYTES).u32(self.flags);
        fields.u32(self.index).u32(self.count).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse() -> RegionInfo {
        let areas =
            vec![Area { offset: 0x1000, bytes: 0x1000 }, Area { offset: 0x4000, bytes: 0x2000 }];
        let file_offset = Some(0x8000);
        RegionInfo { index: 2, bytes: 0x1_0000, read: true, write: true, file_offset, areas }
    }

    #[test]
    fn region_areas_follow_specification_layout() {
        let (bytes, has_file) = sparse().encode(80);
        assert!(has_file);
        assert_eq!(bytes.len(), 80);
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        let words: Vec<u32> = (0..20).map(|index| word(4 * index)).collect();
        let expected = [
            80, 15, 2, 32, 0x1_0000, 0, 0x8000, 0, // the region
            0x1_0001, 0, 2, 0, // the capability
            0x1000, 0, 0x1000, 0, 0x4000, 0, 0x2000, 0,
        ];
        assert_eq!(words, expected);
        assert_eq!(RegionInfo::decode(&bytes), Ok((sparse(), 80)));
    }

    #[test]
    fn areas_and_descriptor_wait_for_room() {
        for argsz in [32, 79] {
            let (bytes, has_file) = sparse().encode(argsz);
            assert!(!has_file);
            let (info, needed) = RegionInfo::decode(&bytes).unwrap();
            assert_eq!((bytes.len(), needed), (32, 80));
            assert_eq!(info, RegionInfo { file_offset: None, areas: Vec::new(), ..sparse() });
        }
    }

    #[test]
    fn region_without_areas_needs_no_room() {
        let whole = RegionInfo { areas: Vec::new(), ..sparse() };
        let (bytes, has_file) = whole.encode(32);
        assert!(has_file);
        assert_eq!(RegionInfo::decode(&bytes), Ok((whole, 32)));
    }

    #[test]
    fn circular_or_dangling_capabilities_are_refused() {
        let (good, _) = sparse().encode(80);
        for offset in [1_u32, 31, 80, 81, u32::MAX] {
            let mut bytes = good.clone();
            bytes[12..16].copy_from_slice(&offset.to_ne_bytes());
            assert!(RegionInfo::decode(&bytes).is_err(), "{offset}");
        }
        let mut circle = good.clone();
        circle[32] = 9;
        circle[36] = 32;
        assert_eq!(RegionInfo::decode(&circle), Err(CodecError::CapabilityOffset(32)));
        let mut many = good;
        many[40..44].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert!(matches!(RegionInfo::decode(&many), Err(CodecError::TooShort { .. })));
    }

    #[test]
    fn another_capability_is_passed_over() {
        let (bytes, _) = sparse().encode(80);
        let mut longer = bytes[..32].to_vec();
        longer.extend([7, 0, 1, 0, 40, 0, 0, 0]);
        longer.extend(&bytes[32..]);
        longer[0] = 88;
        assert_eq!(RegionInfo::decode(&longer), Ok((sparse(), 88)));
    }

    #[test]
    fn questions_may_match_answer_length() {
        let question = Question { argsz: 80, index: 2 };
        let mut payload = question.encode_region();
        assert_eq!(payload.len(), 32);
        payload.resize(80, 0);
        assert_eq!(Question::decode_region(&payload), Ok(question));
        payload[0] = 31;
        let short = CodecError::Argsz { argsz: 31, needed: 32 };
        assert_eq!(Question::decode_region(&payload), Err(short));
        assert!(Question::decode_region(&payload[..31]).is_err());
    }

    #[test]
    fn device_and_interrupts_read_back() {
        let device = DeviceInfo { resets: true, is_pci: true, regions: 9, interrupts: 5 };
        assert_eq!(DeviceInfo::decode(&device.encode()), Ok(device));
        assert_eq!(device.encode()[..8], [16, 0, 0, 0, 3, 0, 0, 0]);
        for (resets, is_pci) in [(false, false), (true, false), (false, true)] {
            let device = DeviceInfo { resets, is_pci, ..device };
            assert_eq!(DeviceInfo::decode(&device.encode()), Ok(device));
        }
        let interrupt = InterruptInfo { index: 2, flags: INTERRUPT_EVENT, count: 16 };
        assert_eq!(InterruptInfo::decode(&interrupt.encode()), Ok(interrupt));
        assert_eq!((INTERRUPT_EVENT, INTERRUPT_MASKABLE, INTERRUPT_NO_RESIZE), (1, 2, 8));
        assert_eq!(DeviceInfo::question(), [[16, 0, 0, 0], [0; 4], [0; 4], [0; 4]].concat());
        assert_eq!(DeviceInfo::check_question(&DeviceInfo::question()), Ok(()));
        assert!(DeviceInfo::decode(&device.encode()[..15]).is_err());
    }
}
