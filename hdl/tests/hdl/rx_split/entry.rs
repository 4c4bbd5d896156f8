//! Tests of `rx_split::split::entry`.

use rx_split::split::entry::*;
use stream::prelude::*;

/// The offsets of the struct are those of the contract.
#[test]
fn layout_is_that_of_the_contract() {
    use abi::header_entry as contract;
    let entry = EntryMetadata::default();
    let pairs = [
        (entry.get_my_offset_kind(), contract::KIND),
        (entry.get_my_offset_disposition(), contract::DISPOSITION),
        (entry.get_my_offset_phase(), contract::PHASE),
        (entry.get_my_offset_two_slots(), contract::TWO_SLOTS),
        (entry.get_my_offset_profile(), contract::PROFILE),
        (entry.get_my_offset_verified(), contract::VERIFIED),
        (entry.get_my_offset_unflushed(), contract::UNFLUSHED),
        (entry.get_my_offset_generation(), contract::GENERATION),
        (entry.get_my_offset_flow(), contract::FLOW),
        (entry.get_my_offset_header_bytes(), contract::HEADER_BYTES),
        (entry.get_my_offset_frame_bytes(), contract::FRAME_BYTES),
        (entry.get_my_offset_payload_bytes(), contract::PAYLOAD_BYTES),
        (entry.get_my_offset_position(), contract::POSITION),
        (entry.get_my_offset_trimmed_bytes(), contract::TRIMMED_BYTES),
        (entry.get_my_offset_slow_buffer(), contract::SLOW_BUFFER),
        (entry.get_my_offset_cursor(), contract::CURSOR),
        (entry.get_my_offset_segment_index(), contract::SEGMENT_INDEX),
        (entry.get_my_offset_pieces(), contract::PIECES),
        (entry.get_my_offset_l4_offset(), contract::L4_OFFSET),
        (entry.get_my_offset_event_value(), contract::EVENT_VALUE),
    ];
    // The fields of a run lie over those of a packet.
    let of_packet = contract::FIELDS.iter().filter(|field| !field.name.starts_with("run_"));
    assert_eq!(pairs.len(), of_packet.count());
    for (offset, field) in pairs {
        assert_eq!(offset, field.offset, "{}", field.name);
    }
    assert_eq!(EntryMetadata::BITS, 8 * abi::config::METADATA_BYTES);
}
