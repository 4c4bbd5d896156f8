//! Header entries that stand for a run of packets: every field is checked before it is used.
//!
//! ```text
//!   metadata ─┬─ packets, sizes, cursor ──► how the payload is divided
//!             └─ ACK, window, timestamps ─► what the last packet says
//!   header ───── the first packet: TCP with an ACK alone, no options or timestamps
//! ```
//! Invariants
//! 1. A run that is returned has two packets at least, none without payload, and ends at the flow's
//!    cursor: whoever divides it computes with no number that the card could have made up.
//!
//! Source: docs/specification.md, Runs.

use abi::config::RUN_PACKETS_MAX;
use abi::header_entry as field;
use abi::reason::Disposition;

use crate::headers::layout::ACK;
use crate::headers::packet::{parse_tcp, TcpHeader};
use crate::headers::run::Run;

/// Bytes of a TCP header without options, and with timestamps as senders lay them out.
const TCP_BYTES: [usize; 2] = [20, 32];

/// A field that the contract does not allow, and the range of what it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub what: &'static str,
    pub value: u64,
    pub least: u64,
    pub most: u64,
}

/// Reads the run of an entry whose header bytes are `header`.
pub(super) fn read_run(metadata: &[u8], header: &[u8]) -> Result<Run, Wrong> {
    let get = |field: abi::field::Field| field.get(metadata);
    let is = |what: &'static str, field, wanted| within(what, get(field), wanted, wanted);
    is("two_slots", field::TWO_SLOTS, 0)?;
    is("disposition", field::DISPOSITION, Disposition::PlacedInOrder as u64)?;
    is("profile", field::PROFILE, 0)?;
    is("verified", field::VERIFIED, 1)?;
    within("flow", get(field::FLOW), 0, u64::from(field::FLOW_NONE) - 1)?;
    let first = read_first(header, get(field::L4_OFFSET) as usize)?;
    let packets = get(field::RUN_PACKETS);
    within("run_packets", packets, 2, RUN_PACKETS_MAX as u64)?;
    let segment_bytes = get(field::PAYLOAD_BYTES);
    within("payload_bytes", segment_bytes, 1, u16::MAX.into())?;
    let bytes = u64::from((get(field::CURSOR) as u32).wrapping_sub(first.sequence));
    let lead_bytes = (packets - 1) * segment_bytes;
    let name = "cursor, less the first position,";
    within(name, bytes, lead_bytes + 1, lead_bytes + segment_bytes)?;
    let stamps = (get(field::RUN_TIMESTAMP) as u32, get(field::RUN_TIMESTAMP_ECHO) as u32);
    let run = Run {
        packets: packets as u32,
        segment_bytes: segment_bytes as u32,
        last_bytes: (bytes - lead_bytes) as u32,
        acknowledgement: get(field::RUN_ACK) as u32,
        window: get(field::RUN_WINDOW) as u16,
        timestamps: first.timestamp.map(|_| stamps),
        is_pushed: get(field::RUN_PUSH) == 1,
    };
    not_before("run_ack", run.acknowledgement, first.acknowledgement)?;
    match first.timestamp {
        Some((value, _)) => not_before("run_timestamp", stamps.0, value)?,
        None => {
            within("run_timestamp", stamps.0.into(), 0, 0)?;
            within("run_timestamp_echo", stamps.1.into(), 0, 0)?;
        }
    }
    Ok(run)
}

/// Reads the header of the first packet: TCP with an ACK alone, its options none or timestamps.
fn read_first(header: &[u8], l4_offset: usize) -> Result<TcpHeader, Wrong> {
    let Some(parsed) = parse_tcp(header) else {
        return Err(Wrong { what: "headers that are TCP", value: 0, least: 1, most: 1 });
    };
    let offset = parsed.l4_offset as u64;
    within("l4_offset", l4_offset as u64, offset, offset)?;
    within("flags of the header", parsed.flags.into(), ACK.into(), ACK.into())?;
    let tcp_bytes = TCP_BYTES[usize::from(parsed.timestamp.is_some())] as u64;
    within(
        "header_bytes, less l4_offset,",
        (header.len() - l4_offset) as u64,
        tcp_bytes,
        tcp_bytes,
    )?;
    Ok(parsed)
}

/// Numbers of the last packet may be up to 2^31 - 1 beyond those of the first.
fn not_before(what: &'static str, last: u32, first: u32) -> Result<(), Wrong> {
    let least = u64::from(first);
    let value = least + u64::from(last.wrapping_sub(first));
    within(what, value, least, least + i32::MAX as u64)
}

fn within(what: &'static str, value: u64, least: u64, most: u64) -> Result<(), Wrong> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(Wrong { what, value, least, most }),
    }
}

#[cfg(test)]
mod tests {
    use abi::config::METADATA_BYTES;

    use super::*;
    use crate::headers::builder::{Route, Tcp};

    const FIRST: u32 = u32::MAX - 999;

    /// The metadata of a run of three packets, 1000, 1000 and 10 bytes, and its header.
    fn entry(options: &[u8]) -> ([u8; METADATA_BYTES], Vec<u8>) {
        let (from, to) = (([10, 0, 0, 1], 80).into(), ([10, 0, 0, 2], 81).into());
        let tcp = Tcp { sequence: FIRST, acknowledgement: 70, flags: ACK, window: 9, options };
        let (header, _) = Route { macs: [[2; 6]; 2], from, to }.tcp(&tcp, 1000);
        let mut metadata = [0; METADATA_BYTES];
        for (field, value) in [
            (field::KIND, field::KIND_RUN.into()),
            (field::VERIFIED, 1),
            (field::RUN_PUSH, 1),
            (field::FLOW, 5),
            (field::HEADER_BYTES, header.len() as u64),
            (field::L4_OFFSET, 34),
            (field::PAYLOAD_BYTES, 1000),
            (field::RUN_PACKETS, 3),
            (field::CURSOR, 1010),
            (field::RUN_ACK, 77),
            (field::RUN_WINDOW, 5),
        ] {
            field.set(&mut metadata, value);
        }
        if !options.is_empty() {
            field::RUN_TIMESTAMP.set(&mut metadata, 12);
            field::RUN_TIMESTAMP_ECHO.set(&mut metadata, 34);
        }
        (metadata, header.to_vec())
    }

    const STAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8];

    #[test]
    fn fields_of_a_run_are_read() {
        for (options, timestamps) in [(&[][..], None), (&STAMPS, Some((12, 34)))] {
            let (metadata, header) = entry(options);
            let run = Run {
                packets: 3,
                segment_bytes: 1000,
                last_bytes: 10,
                acknowledgement: 77,
                window: 5,
                timestamps,
                is_pushed: true,
            };
            assert_eq!(read_run(&metadata, &header), Ok(run));
        }
    }

    /// Each field is named that has a value which the contract does not allow.
    #[test]
    fn wrong_fields_of_runs_are_named() {
        let stamped = [
            (field::TWO_SLOTS, 1, "two_slots"),
            (field::DISPOSITION, 1, "disposition"),
            (field::PROFILE, 1, "profile"),
            (field::VERIFIED, 0, "verified"),
            (field::FLOW, 0xffff, "flow"),
            (field::L4_OFFSET, 38, "l4_offset"),
            (field::RUN_PACKETS, 1, "run_packets"),
            (field::RUN_PACKETS, 65, "run_packets"),
            (field::PAYLOAD_BYTES, 0, "payload_bytes"),
            (field::PAYLOAD_BYTES, 1006, "cursor, less the first position,"),
            (field::CURSOR, 1000, "cursor, less the first position,"),
            (field::CURSOR, 2001, "cursor, less the first position,"),
            (field::RUN_ACK, 69, "run_ack"),
            (field::RUN_TIMESTAMP, 8, "run_timestamp"),
        ];
        let bare = [
            (field::RUN_TIMESTAMP, 1, "run_timestamp"),
            (field::RUN_TIMESTAMP_ECHO, 1, "run_timestamp_echo"),
        ];
        let cases = stamped.map(|it| (&STAMPS[..], it)).into_iter();
        for (options, (field, value, what)) in cases.chain(bare.map(|it| (&[][..], it))) {
            let (mut metadata, header) = entry(options);
            field.set(&mut metadata, value);
            let wrong = read_run(&metadata, &header).expect_err(what);
            assert_eq!(wrong.what, what);
            assert!(!(wrong.least..=wrong.most).contains(&wrong.value), "{wrong:?}");
        }
    }

    /// Headers that no packet of a run has.
    #[test]
    fn wrong_headers_of_runs_are_named() {
        for (at, value, what) in [
            (23, 17, "headers that are TCP"),
            (47, ACK | 8, "flags of the header"),
            (56, 9, "header_bytes, less l4_offset,"),
        ] {
            let (metadata, mut header) = entry(&STAMPS);
            header[at] = value;
            assert_eq!(read_run(&metadata, &header).map_err(|it| it.what), Err(what));
        }
    }
}
