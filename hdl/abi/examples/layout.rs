//! The register map, and a header entry taken apart by the same tables that hardware, driver and
//! golden model are built from.
//!
//! ```text
//!   32 bytes of metadata ──► header_entry::FIELDS ──► name, bits, value, meaning
//! ```

use abi::config::METADATA_BYTES;
use abi::field::Field;
use abi::reason::Disposition;
use abi::window::BLOCKS;
use abi::{header_entry, registers, ABI_VERSION};

/// The first register of each part of BAR 0, in the order of its address.
const PARTS: [(u32, &str); 9] = [
    (registers::ID, "identification and control"),
    (registers::HASH_SECRET, "hash secrets of the flow table"),
    (registers::PROFILES, "header profiles"),
    (registers::CONTEXTS, "rings of the owners"),
    (abi::counters::COUNTERS_DROP, "counters"),
    (registers::MSIX_TABLE, "MSI-X table"),
    (registers::MSIX_PENDING, "MSI-X pending bits"),
    (registers::BOARD_WINDOW, "board window"),
    (registers::DOORBELLS, "doorbells, a page for each owner"),
];

fn main() -> Result<(), String> {
    println!("contract {}.{}", ABI_VERSION >> 16, ABI_VERSION & 0xffff);
    print_map()?;
    let entry = entry_of_a_packet();
    println!("\nheader entry {entry:02x?}");
    print_fields(&entry, header_entry::FIELDS)?;
    let code = header_entry::DISPOSITION.get(&entry) as u8;
    let disposition = Disposition::from_code(code).ok_or(format!("no disposition {code}"))?;
    println!("\nthe payload was {}", disposition.name());
    match disposition {
        Disposition::PlacedInOrder => Ok(()),
        other => Err(format!("{}: written was placed_in_order", other.name())),
    }
}

/// Prints the map, and checks that it ascends and lies within BAR 0.
fn print_map() -> Result<(), String> {
    for (index, (offset, what)) in PARTS.iter().enumerate() {
        println!("  {offset:#010x}  {what}");
        let next = PARTS.get(index + 1).map_or(registers::BAR_BYTES as u32, |part| part.0);
        if *offset >= next {
            return Err(format!("{what}: {offset:#x} is not below {next:#x}"));
        }
    }
    println!("blocks of the board window");
    for block in BLOCKS {
        println!("  {:#010x}  {:?}, {} bytes", block.offset, block.kind, block.bytes);
        if !(registers::BOARD_WINDOW..registers::BOARD_WINDOW_END).contains(&block.offset) {
            return Err(format!("{:?} is outside the window: {:#x}", block.kind, block.offset));
        }
    }
    Ok(())
}

/// The metadata that a card writes for a packet of flow 5 with 1,448 bytes at position 1,000.
fn entry_of_a_packet() -> [u8; METADATA_BYTES] {
    let mut entry = [0; METADATA_BYTES];
    for (field, value) in [
        (header_entry::KIND, header_entry::KIND_PACKET.into()),
        (header_entry::DISPOSITION, Disposition::PlacedInOrder as u64),
        (header_entry::PHASE, 1),
        (header_entry::VERIFIED, 1),
        (header_entry::FLOW, 5),
        (header_entry::HEADER_BYTES, 66),
        (header_entry::FRAME_BYTES, 66 + 1_448),
        (header_entry::PAYLOAD_BYTES, 1_448),
        (header_entry::POSITION, 1_000),
        (header_entry::SLOW_BUFFER, header_entry::SLOW_BUFFER_NONE.into()),
        (header_entry::CURSOR, 1_000 + 1_448),
        (header_entry::PIECES, 1),
        (header_entry::L4_OFFSET, 34),
    ] {
        field.set(&mut entry, value);
    }
    entry
}

/// Prints every field of a record. The fields alone must give the record again.
fn print_fields(record: &[u8], fields: &[Field]) -> Result<(), String> {
    let mut again = vec![0; record.len()];
    for field in fields {
        let (first, last) = (field.offset, field.offset + field.bits - 1);
        let value = field.get(record);
        println!("  bits {first:>3}..={last:<3} {:<14} {value:>6}  {}", field.name, field.meaning);
        field.set(&mut again, value);
    }
    if again != record {
        return Err(format!("the fields give {again:02x?}: a bit belongs to none, or to two"));
    }
    Ok(())
}
