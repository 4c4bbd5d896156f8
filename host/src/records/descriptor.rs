//! Send descriptors in the layout of [`abi::send_descriptor`]: metadata, then a header or a frame.
//!
//! ```text
//!   raw, header, send ─► Descriptor (metadata, borrowed header) ─► send ring
//!                                         └─ record ─► all bytes of its slots
//! ```

use abi::config::{METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES};
use abi::send_descriptor as field;

use arrayvec::ArrayVec;

use super::commands::FlowName;
use super::words::{METADATA_WORDS, WORD_BYTES};
use crate::headers::layers::Layers;

/// Bytes of two slots.
const RECORD_BYTES_MAX: usize = 2 * SLOT_BYTES;
/// Longest header or raw frame that a descriptor carries, bytes.
pub const INLINE_BYTES_MAX: usize = RECORD_BYTES_MAX - METADATA_BYTES;

/// All bytes of the slots of a descriptor.
pub type Record = ArrayVec<u8, RECORD_BYTES_MAX>;

/// Metadata of a descriptor, the least significant word first. Words of the ring are written from
/// them: whole words that were just written in parts would wait for all that was written before.
type Metadata = [u64; METADATA_WORDS];

/// A send descriptor of one or two slots. What it carries is copied once, into the ring.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor<'a> {
    metadata: Metadata,
    inline: &'a [u8],
}

impl<'a> Descriptor<'a> {
    /// The descriptor in a record. Panics when it is not as long as one slot or two.
    pub fn of(record: &'a [u8]) -> Self {
        let bytes = record.len();
        assert!(matches!(bytes, SLOT_BYTES | RECORD_BYTES_MAX), "{bytes} bytes");
        let (head, inline) = record.split_at(METADATA_BYTES);
        let mut bytes = [[0; WORD_BYTES]; METADATA_WORDS];
        bytes.as_flattened_mut().copy_from_slice(head);
        let metadata = bytes.map(u64::from_le_bytes);
        Self { metadata, inline }
    }

    /// All bytes of its slots; those after the inline bytes are 0.
    pub fn record(&self) -> Record {
        let mut record = Record::from([0; RECORD_BYTES_MAX]);
        record.truncate(self.slots() * SLOT_BYTES);
        record[..METADATA_BYTES].copy_from_slice(self.metadata().as_flattened());
        record[METADATA_BYTES..METADATA_BYTES + self.inline.len()].copy_from_slice(self.inline);
        record
    }

    /// Slots of the ring that it takes.
    #[inline]
    pub fn slots(&self) -> usize {
        1 + usize::from(self.inline.len() > SLOT_HEADER_BYTES)
    }

    /// The words of its metadata.
    #[inline]
    pub fn metadata(&self) -> [[u8; WORD_BYTES]; METADATA_WORDS] {
        self.metadata.map(u64::to_le_bytes)
    }

    /// Its header or frame.
    pub fn inline(&self) -> &'a [u8] {
        self.inline
    }
}

/// Payload of a zero-copy send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The flow whose list holds it.
    pub name: FlowName,
    /// Sequence number of its first byte.
    pub position: u32,
    /// Length.
    pub bytes: u32,
    /// Largest payload of a frame.
    pub mss_bytes: u16,
    /// List index of the segment that holds the first byte.
    pub segment_index: u16,
}

/// A descriptor of a kind with its inline bytes. Each field is set by name, so that the compiler
/// knows its place.
#[inline]
fn pack(inline: &[u8], kind: u8) -> Descriptor<'_> {
    assert!(inline.len() <= INLINE_BYTES_MAX, "{} inline bytes", inline.len());
    let two_slots = inline.len() > SLOT_HEADER_BYTES;
    let mut metadata = Metadata::default();
    field::KIND.place(&mut metadata, kind.into());
    field::TWO_SLOTS.place(&mut metadata, two_slots.into());
    field::HEADER_BYTES.place(&mut metadata, inline.len() as u64);
    Descriptor { metadata, inline }
}

#[inline]
fn set_layers(metadata: &mut Metadata, layers: Layers) {
    field::IP_CHECKSUM.place(metadata, u64::from(!layers.ipv6));
    field::L4_CHECKSUM.place(metadata, 1);
    field::IPV6.place(metadata, layers.ipv6.into());
    field::UDP.place(metadata, layers.udp.into());
    field::L3_OFFSET.place(metadata, layers.l3_offset as u64);
    field::L4_OFFSET.place(metadata, layers.l4_offset as u64);
}

/// A frame that is sent unchanged.
pub fn raw(frame: &[u8]) -> Descriptor<'_> {
    pack(frame, field::KIND_RAW)
}

/// A packet without payload; the card inserts its checksums.
#[inline]
pub fn header(packet: &[u8], layers: Layers) -> Descriptor<'_> {
    let mut descriptor = pack(packet, field::KIND_RAW);
    set_layers(&mut descriptor.metadata, layers);
    descriptor
}

/// A packet whose payload the card fetches.
#[inline]
pub fn send<'a>(packet: &'a [u8], layers: Layers, payload: &Payload) -> Descriptor<'a> {
    let mut descriptor = pack(packet, field::KIND_SEND);
    let metadata = &mut descriptor.metadata;
    set_layers(metadata, layers);
    field::FLOW.place(metadata, payload.name.flow.into());
    field::GENERATION.place(metadata, payload.name.generation.into());
    field::PAYLOAD_BYTES.place(metadata, payload.bytes.into());
    field::MSS_BYTES.place(metadata, payload.mss_bytes.into());
    field::POSITION.place(metadata, payload.position.into());
    field::SEGMENT_INDEX.place(metadata, payload.segment_index.into());
    descriptor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_its_descriptors_slots() {
        let bytes: Vec<u8> = (1..=INLINE_BYTES_MAX as u8).collect();
        for (length, slots) in [(60, 1), (96, 1), (97, 2), (INLINE_BYTES_MAX, 2)] {
            let descriptor = raw(&bytes[..length]);
            let record = descriptor.record();
            assert_eq!((descriptor.slots(), record.len()), (slots, slots * 128));
            assert_eq!(field::TWO_SLOTS.get(&record), slots as u64 - 1);
            assert_eq!(field::HEADER_BYTES.get(&record), length as u64);
            let (inline, rest) = record[METADATA_BYTES..].split_at(length);
            assert!(inline == &bytes[..length] && rest.iter().all(|byte| *byte == 0));
            let again = Descriptor::of(&record);
            assert_eq!((again.slots(), again.record()), (slots, record.clone()));
        }
    }
}
