//! The register manual, made from the contract: `docs/registers.md`.
//!
//! ```text
//!   abi (registers, commands, records, reasons) ──> manual() ──> Markdown
//! ```
//!
//! Invariants
//! 1. Every number, name and meaning of a register, command or field comes from `abi`.
//! 2. Every register, command and field of `abi` appears; a test reads its source to make sure.

use std::fmt::Write;

use abi::command as c;
use abi::config::{self, CardConfig};
use abi::counters as n;
use abi::field::Field;
use abi::reason::{CommandStatus, Disposition, DropReason, SendError};
use abi::registers::{self as r, Register};
use abi::{completion, flow_key, header_entry, profile, send_descriptor, ABI_VERSION};

/// The whole manual.
pub fn manual() -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_manual(&mut text);
    text
}

fn write_manual(out: &mut String) -> std::fmt::Result {
    let (major, minor) = (ABI_VERSION >> 16, ABI_VERSION & 0xffff);
    writeln!(out, "# Register manual\n")?;
    writeln!(out, "Contract version {major}.{minor}. Generated from `hdl/abi`; do not edit.")?;
    writeln!(out, "Regenerate: `cargo run --release -- verilog --manual docs/registers.md`.\n")?;
    writeln!(out, "All records are little-endian; packet headers inside them are as on the wire.")?;
    writeln!(out, "Bit 0 of a field's offset is bit 0 of the record's first byte.\n")?;
    write_sizes(out)?;
    write_registers(out)?;
    write_counters(out)?;
    write_profiles(out)?;
    write_flow_key(out)?;
    write_commands(out)?;
    write_records(out)?;
    write_codes(out)
}

/// Picks one log2 size of a configuration.
type Bits = fn(&CardConfig) -> usize;

fn write_sizes(out: &mut String) -> std::fmt::Result {
    writeln!(out, "## Sizes\n")?;
    writeln!(out, "| what | {} | {} |", config::DEFAULT.name, config::SMALL.name)?;
    writeln!(out, "|---|---|---|")?;
    let rows: [(&str, Bits); 6] = [
        ("zero-copy flows", |size| size.flow_bits),
        ("buckets of one flow-table bank", |size| size.bucket_bits),
        ("segment entries of one direction", |size| size.segment_bits),
        ("regions", |size| size.region_bits),
        ("page entries", |size| size.page_bits),
        ("owners", |size| size.owner_bits),
    ];
    for (name, bits) in rows {
        let count = |size: &CardConfig| 1usize << bits(size);
        writeln!(out, "| {name} | {} | {} |", count(&config::DEFAULT), count(&config::SMALL))?;
    }
    writeln!(out, "\n| limit | value |\n|---|---|")?;
    let borrowed = 1 << config::SEGMENTS_BORROWED_BITS_MAX;
    for (name, value) in [
        ("frame without FCS, bytes, least", config::FRAME_BYTES_MIN),
        ("frame without FCS, bytes, most", config::FRAME_BYTES_MAX),
        ("packet header, bytes, most", config::HEADER_BYTES_MAX),
        ("slot of header queue and send ring, bytes", config::SLOT_BYTES),
        ("metadata of an entry or descriptor, bytes", config::METADATA_BYTES),
        ("command, bytes", config::COMMAND_BYTES),
        ("completion, bytes", config::COMPLETION_BYTES),
        ("slow buffer, bytes", config::SLOW_BUFFER_BYTES),
        ("reach of a flow beyond its floor, bytes (exclusive)", config::FLOW_REACH_BYTES as usize),
        ("banks of the flow table", config::FLOW_BANKS),
        ("ways of a bucket", config::BUCKET_WAYS),
        ("segments committed to a flow and direction", 1 << config::SEGMENTS_COMMITTED_BITS),
        ("segments of a list, most", borrowed),
        ("pieces of one packet, most", config::PIECES_MAX),
        ("page, log2 bytes, least", config::PAGE_BITS_MIN),
        ("page, log2 bytes, most", config::PAGE_BITS_MAX),
        ("memories", config::MEMORIES),
        ("header profiles", config::PROFILES),
    ] {
        writeln!(out, "| {name} | {value} |")?;
    }
    writeln!(out)
}

fn write_registers(out: &mut String) -> std::fmt::Result {
    writeln!(out, "## BAR 0\n")?;
    let size = r::BAR_BYTES >> 20;
    writeln!(out, "{size} MiB of 32-bit registers. Everything below the doorbells is privileged.")?;
    writeln!(
        out,
        "64-bit values are two words, low word first. The BAR is read by 1 to 64 bytes,"
    )?;
    writeln!(
        out,
        "below the board window and behind it; the window by one dword. \"bits\": what is"
    )?;
    writeln!(out, "kept of a written value; the rest is ignored.\n")?;
    writeln!(out, "| offset | name | access | bits | meaning |\n|---|---|---|---|---|")?;
    for register in r::REGISTERS {
        let Register { offset, access, kept_bits: bits, meaning, .. } = register;
        let name = register.name.to_lowercase();
        writeln!(out, "| {offset:#010x} | `{name}` | {access} | {bits} | {meaning} |")?;
    }
    writeln!(out, "\n### Doorbells, one page an owner\n")?;
    writeln!(out, "Indices run freely, 32 bits.\n")?;
    write_words(out, r::DOORBELL_PAGE)?;
    writeln!(out, "## Owner context\n")?;
    writeln!(out, "Addresses are 64-bit bus addresses. The context takes effect when its enable")?;
    writeln!(out, "word is written; that sets all indices of the owner to 0 and all phases to 1.")?;
    let (min, max) = (r::RING_BITS_MIN, r::RING_BITS_MAX);
    writeln!(out, "Log2 ring sizes lie between {min} and {max}.\n")?;
    write_words(out, r::CONTEXT)
}

fn write_counters(out: &mut String) -> std::fmt::Result {
    writeln!(out, "## Counters\n")?;
    writeln!(
        out,
        "64 bits each, 8 bytes apart; reading the low word latches the high one. They start"
    )?;
    writeln!(
        out,
        "at 0 with power and are never reset; peaks start again with each epoch. A stage"
    )?;
    writeln!(out, "counter may be seen up to 16 cycles late.\n")?;
    writeln!(out, "| offset | name | access | meaning |\n|---|---|---|---|")?;
    for bank in n::COUNTERS {
        let (offset, name) = (bank.offset, bank.name.to_lowercase());
        let (access, meaning) = (bank.access, bank.meaning);
        writeln!(out, "| {offset:#010x} | `{name}` | {access} | {meaning} |")?;
    }
    let mut base = n::COUNTERS_STAGE;
    for group in n::COUNTER_GROUPS {
        write_bank(out, group.name, base, group.counters)?;
        base += n::COUNTER_GROUP_STRIDE;
    }
    write_bank(out, "peaks", n::COUNTERS_PEAK, n::PEAKS)?;
    writeln!(out)
}

fn write_bank(
    out: &mut String,
    title: &str,
    base: u32,
    counters: &[n::Counter],
) -> std::fmt::Result {
    writeln!(out, "\n### Counters: {title}\n")?;
    writeln!(out, "| offset | name | moved by |\n|---|---|---|")?;
    for (at, counter) in (0u32..).zip(counters) {
        let (offset, name) = (base + 8 * at, counter.name);
        writeln!(out, "| {offset:#010x} | `{name}` | {} |", counter.meaning)?;
    }
    Ok(())
}

fn write_words(out: &mut String, words: &[Register]) -> std::fmt::Result {
    writeln!(out, "| offset | name | bits | meaning |\n|---|---|---|---|")?;
    for word in words {
        let (name, bits) = (word.name.to_lowercase(), word.kept_bits);
        writeln!(out, "| {:#04x} | `{name}` | {bits} | {} |", word.offset, word.meaning)?;
    }
    writeln!(out)
}

fn write_fields(out: &mut String, fields: &[Field]) -> std::fmt::Result {
    writeln!(out, "| bits | byte | field | meaning |\n|---|---|---|---|")?;
    for field in fields {
        let last = field.offset + field.bits - 1;
        let range =
            if field.bits == 1 { format!("{last}") } else { format!("{last}:{}", field.offset) };
        let byte = field.offset / 8;
        writeln!(out, "| {range} | {byte} | `{}` | {} |", field.name, field.meaning)?;
    }
    writeln!(out)
}

fn write_profiles(out: &mut String) -> std::fmt::Result {
    writeln!(out, "## Header profiles\n")?;
    writeln!(out, "Profile 0 is TCP and fixed; 1 to {} lie over UDP.", config::PROFILES - 1)?;
    writeln!(out, "A profile register has two words.\n\nWord 0:\n")?;
    write_fields(out, &[profile::PORT, profile::ENABLE])?;
    writeln!(out, "Word 1:\n")?;
    write_fields(
        out,
        &[
            profile::HEADER_BYTES,
            profile::POSITION_OFFSET,
            profile::POSITION_BYTES,
            profile::MESSAGE_KEY_OFFSET,
            profile::MESSAGE_KEY_BYTES,
        ],
    )
}

fn write_flow_key(out: &mut String) -> std::fmt::Result {
    writeln!(out, "## Flow key\n")?;
    writeln!(out, "{} bytes, in wire order, matched exactly.\n", flow_key::KEY_BYTES)?;
    writeln!(out, "| bytes | part |\n|---|---|")?;
    let range = |range: std::ops::Range<usize>| format!("{}..{}", range.start, range.end);
    let one = |at: usize| format!("{}..{}", at, at + 1);
    for (bytes, part) in [
        (range(flow_key::REMOTE_ADDRESS), "remote (source) address; IPv4 in the first 4 bytes"),
        (range(flow_key::LOCAL_ADDRESS), "local (destination) address; IPv4 in the first 4 bytes"),
        (range(flow_key::REMOTE_PORT), "remote port"),
        (range(flow_key::LOCAL_PORT), "local port"),
        (one(flow_key::PROTOCOL), "IP protocol number"),
        (one(flow_key::FAMILY_PROFILE), "IP version in bits 3:0, header profile in bits 7:4"),
        (range(flow_key::MESSAGE_KEY), "message key of the profile, else zero"),
    ] {
        writeln!(out, "| {bytes} | {part} |")?;
    }
    writeln!(
        out,
        "\nThe bucket of a bank is the low bits of a Toeplitz hash: bit i is the parity"
    )?;
    writeln!(out, "of the key under the bank's secret shifted right by i.\n")
}

fn write_commands(out: &mut String) -> std::fmt::Result {
    writeln!(out, "## Commands\n")?;
    writeln!(
        out,
        "{} bytes each. A command takes effect in ring order and is",
        config::COMMAND_BYTES
    )?;
    writeln!(
        out,
        "confirmed when its fence has passed. Opcodes from {} on are",
        c::PRIVILEGED_FIRST
    )?;
    writeln!(out, "accepted from owner 0 alone. All commands have:\n")?;
    write_fields(out, &[c::OPCODE, c::GENERATION, c::FLOW])?;
    for command in c::COMMANDS {
        let name = command.name.to_lowercase();
        writeln!(out, "### {} `{name}`\n\n{}.\n", command.opcode, command.meaning)?;
        if !command.fields.is_empty() {
            write_fields(out, command.fields)?;
        }
    }
    Ok(())
}

fn write_records(out: &mut String) -> std::fmt::Result {
    writeln!(out, "## Completion\n\n{} bytes.\n", config::COMPLETION_BYTES)?;
    write_fields(out, completion::FIELDS)?;
    writeln!(out, "## Header entry\n")?;
    let slot = config::SLOT_BYTES;
    writeln!(out, "One slot of {slot} bytes or two; header bytes follow the metadata.")?;
    let header = config::SLOT_HEADER_BYTES;
    writeln!(out, "The first slot has room for {header} of them. The phase publishes the entry.")?;
    let at = header_entry::SECOND_SLOT_HEADER_AT;
    writeln!(
        out,
        "A second slot repeats the metadata; header bytes from {at} on follow there.\n\
         What lies behind the header in a slot keeps what it held.\n"
    )?;
    write_fields(out, header_entry::FIELDS)?;
    writeln!(out, "## Send descriptor\n")?;
    writeln!(out, "One slot of {slot} bytes or two; the header follows the metadata.\n")?;
    write_fields(out, send_descriptor::FIELDS)
}

fn write_codes(out: &mut String) -> std::fmt::Result {
    let mut table = |title: &str, codes: Vec<(u8, &str)>| -> std::fmt::Result {
        writeln!(out, "## {title}\n\n| code | name |\n|---|---|")?;
        for (code, name) in codes {
            writeln!(out, "| {code} | `{name}` |")?;
        }
        writeln!(out)
    };
    let dispositions = Disposition::ALL.iter().map(|code| (*code as u8, code.name()));
    table("Dispositions", dispositions.collect())?;
    let drops = DropReason::ALL.iter().map(|code| (*code as u8, code.name()));
    table("Drop reasons", drops.collect())?;
    let errors = SendError::ALL.iter().map(|code| (*code as u8, code.name()));
    table("Send errors", errors.collect())?;
    let statuses = CommandStatus::ALL.iter().map(|code| (*code as u8, code.name()));
    table("Command statuses", statuses.collect())?;
    out.truncate(out.trim_end().len());
    out.push('\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

    #[test]
    fn docs_registers_is_up_to_date() {
        let path = format!("{ROOT}/docs/registers.md");
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == manual(),
            "docs/registers.md differs from hdl/abi; regenerate it: \
             cargo run --release -- verilog --manual docs/registers.md"
        );
    }

    /// Names of the constants of one type in a source file of `abi`.
    fn constants(file: &str, kind: &str) -> Vec<String> {
        let path = format!("{ROOT}/hdl/abi/src/{file}.rs");
        let source = std::fs::read_to_string(path).expect("a source file");
        let constant = |line: &str| {
            let (name, rest) = line.strip_prefix("pub const ")?.split_once(':')?;
            rest.trim_start().starts_with(kind).then(|| name.to_owned())
        };
        source.lines().filter_map(constant).collect()
    }

    /// A register is in the manual because its table defines its constant. One that is defined
    /// beside the tables would not be.
    #[test]
    fn every_register_is_in_the_manual() {
        let text = manual();
        for register in r::REGISTERS.iter().chain(r::DOORBELL_PAGE).chain(r::CONTEXT) {
            let row = format!("| `{}` |", register.name.to_lowercase());
            assert!(text.contains(&row), "{row} is not in the manual");
        }
        for name in constants("registers", "u32") {
            let aside = [
                "ID_VALUE",
                "GOLDEN_ID_VALUE",
                "RING_BITS_MIN",
                "RING_BITS_MAX",
                "PAUSE_LIMIT_CYCLES",
                "PAUSE_BEATS_START",
                "COALESCE_CYCLES_START",
                "CONTEXT_ENABLE_COALESCE",
                "BOARD_WINDOW_END",
            ];
            let prefixes = ["MAC_CONTROL_", "FEATURE_", "CONTROL_", "STATUS_"];
            let is_aside = aside.contains(&&name[..])
                || name.ends_with("_STRIDE")
                || prefixes.iter().any(|prefix| name.starts_with(prefix));
            assert!(is_aside, "{name} is defined beside the tables of registers");
        }
    }

    /// What is written beyond a register's bits is lost: the manual says which there are.
    #[test]
    fn every_written_register_has_its_meaning() {
        let mut written = 0;
        for register in r::REGISTERS.iter().chain(r::DOORBELL_PAGE).chain(r::CONTEXT) {
            let (name, bits) = (register.name, register.kept_bits);
            assert_eq!(bits.is_empty(), register.access == "r", "{name}: {bits}");
            written += usize::from(!bits.is_empty());
        }
        assert!(written > 20, "{written}");
        assert!(manual().contains("| `pause_beats` | w | 15:0; more is kept as 0xffff |"));
    }

    #[test]
    fn every_counter_is_in_the_manual() {
        let text = manual();
        let groups = n::COUNTER_GROUPS.len() as u32;
        let offsets: Vec<u32> = n::stage_counters(groups, n::PEAKS.len() as u32)
            .map(|(offset, counter)| {
                let row = format!("| {offset:#010x} | `{}` |", counter.name);
                assert!(text.contains(&row), "{row} is not in the manual");
                offset
            })
            .collect();
        assert!(offsets.len() > 40 && offsets.is_sorted(), "{offsets:x?}");
        for name in constants("counters", "u32") {
            let listed = text.contains(&format!("| `{}` |", name.to_lowercase()));
            assert!(name.ends_with("_STRIDE") || listed, "{name}");
        }
    }

    #[test]
    fn manual_has_every_field_and_opcode() {
        let text = manual();
        for file in ["command", "completion", "header_entry", "send_descriptor", "profile"] {
            let fields = constants(file, "Field");
            assert!(fields.len() >= 4, "{file}: {fields:?}");
            for name in fields {
                let listed = text.contains(&format!("| `{}` |", name.to_lowercase()));
                assert!(listed, "{file}::{name} is not in the manual");
            }
        }
        for command in c::COMMANDS {
            let title = format!("### {} `{}`", command.opcode, command.name.to_lowercase());
            assert!(text.contains(&title), "{title} is not in the manual");
        }
        assert_eq!(constants("command", "u8"), ["PRIVILEGED_FIRST"], "opcodes are in the table");
    }
}
