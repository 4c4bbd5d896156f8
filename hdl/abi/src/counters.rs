//! Counters of the card: where each lies and what it means.
//!
//! ```text
//! 0x8000 drops        0x8300 stage counters, groups of eight      0x8f00 COUNTERS_INFO
//! 0x8100 dispositions 0x8800 peaks
//! 0x8200 send errors
//! ```
//! All are 64-bit, low word first; reading a low word latches its high word. Counters start at 0 at
//! power-up and are never reset: readers take differences. A stage counter may be seen up to 16
//! cycles late. Peaks start again with each epoch. A card of another version may have more or fewer
//! groups and peaks than these tables: [`COUNTERS_INFO`] holds their numbers.

use crate::registers::{registers, Register};

registers! {
    /// Banks of counters, by offset.
    COUNTERS;

    /// 8 bytes for each [`crate::reason::DropReason`].
    COUNTERS_DROP = 0x8000, r, "", "frames by drop reason";
    /// 8 bytes for each [`crate::reason::Disposition`].
    COUNTERS_DISPOSITION = 0x8100, r, "", "packets by disposition";
    /// 8 bytes for each [`crate::reason::SendError`].
    COUNTERS_SEND_ERROR = 0x8200, r, "", "failed sends by reason";
    /// Counter n of group g of [`COUNTER_GROUPS`] at `COUNTERS_STAGE + 64 g + 8 n`.
    COUNTERS_STAGE = 0x8300, r, "", "stage counters in groups of eight, see below";
    /// 8 bytes for each of [`PEAKS`].
    COUNTERS_PEAK = 0x8800, r, "", "highest levels since the epoch began, see below";
    COUNTERS_INFO = 0x8f00, r, "", "groups of stage counters 7:0, peaks 15:8; 32 bits";
}

/// Bytes between groups of stage counters.
pub const COUNTER_GROUP_STRIDE: u32 = 64;
/// Most stage counters of a group.
pub const COUNTER_GROUP_SIZE: usize = 8;

/// A counter or a peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name; `_cycles` are cycles of 4 ns.
    pub name: &'static str,
    /// What moves the counter, or what the peak is of.
    pub meaning: &'static str,
}

/// Up to eight stage counters of one part of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterGroup {
    /// The part.
    pub name: &'static str,
    /// The counters of the part, in order.
    pub counters: &'static [Counter],
}

macro_rules! counters {
    ($($name:ident: $meaning:literal,)+) => {
        &[$(Counter { name: stringify!($name), meaning: $meaning },)+]
    };
}

/// The groups in order.
pub const COUNTER_GROUPS: &[CounterGroup] = &[
    CounterGroup {
        name: "work",
        counters: counters! {
            rx_frames: "frames that the receive path took from the MAC side",
            tx_frames: "frames handed to the MAC side",
            tx_descriptors: "send descriptors that ended, failed ones included",
            commands: "commands carried out, refused ones included",
            write_tlps: "memory write requests sent",
            read_tlps: "memory read requests sent",
            read_timeouts: "reads given up; the tag of each is quarantined until the next epoch",
            read_errors: "completions that were wrong or unexpected",
        },
    },
    CounterGroup {
        name: "faults",
        counters: counters! {
            registers_malformed: "register writes of part of a dword, too long, or incomplete",
            registers_unsupported: "requests of the host that were refused",
            registers_unmapped: "writes to offsets without a register that can be written",
            command_rings_stopped: "command rings stopped by a failed read or a wrong index",
            send_rings_stopped: "send rings stopped by a failed read or a wrong index",
            payload_reads_failed: "reads of payload to send that ended with an error",
            flushes_failed: "flush reads that ended with an error",
            completions_unexpected: "completions whose tag or attributes no read in flight has",
        },
    },
    CounterGroup {
        name: "requests",
        counters: counters! {
            rq_beats: "beats that the hard block took from the card",
            rq_stall_cycles: "a beat waited for the hard block",
            posted_credit_stall_cycles: "of these, with less posted credit than 256 bytes need",
            nonposted_credit_stall_cycles: "no credit for a read was left",
            write_window_stall_cycles: "a write waited: 32 writes were inside the hard block",
            write_data_stall_cycles: "a write waited for its bytes",
            write_jobs: "writes that the card's stages requested",
            write_job_stall_cycles: "the receive path waited to hand over a write",
        },
    },
    CounterGroup {
        name: "reads",
        counters: counters! {
            rc_beats: "beats that the card took from the hard block",
            rc_stall_cycles: "a beat waited for the card",
            tag_stall_cycles: "a read waited for a free tag",
            completion_room_stall_cycles: "a read waited for credit for its completions",
            read_jobs: "reads that the card's stages requested",
            read_job_stall_cycles: "the send path waited to hand over a read",
            flush_wait_cycles: "a flush waited for the writes before it",
            answer_stall_cycles: "read data waited for the stage that had requested them",
        },
    },
    CounterGroup {
        name: "read latency, one read at a time sampled, request to last byte",
        counters: counters! {
            read_latency_below_256_ns: "samples below 256 ns",
            read_latency_below_512_ns: "samples of 256 to 511 ns",
            read_latency_below_1024_ns: "samples of 512 to 1,023 ns",
            read_latency_below_2048_ns: "samples of 1,024 to 2,047 ns",
            read_latency_below_4096_ns: "samples of 2,048 to 4,095 ns",
            read_latency_below_8192_ns: "samples of 4,096 to 8,191 ns",
            read_latency_below_16384_ns: "samples of 8,192 to 16,383 ns",
            read_latency_from_16384_ns: "samples of 16,384 ns and more",
        },
    },
    CounterGroup {
        name: "ends of the data path, in the card's clock",
        counters: counters! {
            rx_packets: "verified packets taken for classification",
            rx_packet_stall_cycles: "a verified packet waited for classification",
            tx_beats: "beats that the send path handed over",
            tx_stall_cycles: "a beat of the send path waited for the MAC side",
            send_slots_pushed: "send slots taken from a push window instead of their ring",
            send_events_lost: "failed sends whose event found no free space in the header queue",
        },
    },
    CounterGroup {
        name: "wire",
        counters: counters! {
            tx_frames_unsent: "frames that were not sent, since the wire was down",
            tx_frames_cut: "frames that an epoch or a reset of the MAC ended at its send port",
            link_losses: "the wire went down",
            pauses_asked: "pauses that the other end was asked for",
            pauses_obeyed: "pauses that the other end asked for",
            pauses_ignored: "of these, pauses that lasted longer than PAUSE_LIMIT",
            mac_overflows: "the MAC reported lost bytes of a frame to send",
            mac_underflows: "the MAC reported a gap inside a frame to send",
        },
    },
    CounterGroup {
        name: "board",
        counters: counters! {
            window_errors: "accesses to the board window that were answered with an error",
            window_timeouts: "accesses to the board window without an answer within 10 us",
            window_refused: "accesses to the board window while 16 were waiting",
            pcie_local_errors: "errors that the PCIe hard block reported",
        },
    },
    CounterGroup {
        name: "runs of received packets",
        counters: counters! {
            runs_opened: "packets that opened a run; one that ends with it alone is no run",
            run_packets_joined: "packets that joined an open run",
            runs_ended_by_last: "runs that ended with PSH, a smaller packet or the most packets",
            runs_ended_by_packet: "runs ended by a packet of their flow that could not join",
            runs_ended_by_command: "runs ended before a confirmation",
            runs_ended_by_place: "runs whose place another flow needed",
            runs_ended_by_timer: "runs ended COALESCE_CYCLES after their first packet",
            run_packets_forgotten: "packets of runs that were open as an epoch began: no entry",
        },
    },
];

/// The peaks in order.
pub const PEAKS: &[Counter] = counters! {
    reads_in_flight_peak: "read requests whose data are not yet handed on",
    completion_headers_peak: "completion headers that reads in flight may need, of 256",
    completion_data_peak: "completion data that they may need, of 1,792 units of 16 bytes",
    writes_in_flight_peak: "writes inside the hard block, of 32",
    write_beats_peak: "beats waiting to be written, of 64",
    tags_quarantined_peak: "tags quarantined after timeouts",
    rx_buffer_beats_peak: "beats of received frames in the packet buffer, of 2,048",
    tx_fifo_beats_peak: "beats of frames waiting for the MAC, of 512",
};

/// Stage counters and peaks with their offsets, of a card with so many groups and peaks.
pub fn stage_counters(groups: u32, peaks: u32) -> impl Iterator<Item = (u32, &'static Counter)> {
    let group = |(at, group): (usize, &'static CounterGroup)| {
        let base = COUNTERS_STAGE + COUNTER_GROUP_STRIDE * at as u32;
        at_offsets(base, group.counters)
    };
    let stages = COUNTER_GROUPS.iter().enumerate().take(groups as usize);
    let peaks = at_offsets(COUNTERS_PEAK, PEAKS).take(peaks as usize);
    stages.flat_map(group).chain(peaks)
}

fn at_offsets(
    base: u32,
    counters: &'static [Counter],
) -> impl Iterator<Item = (u32, &'static Counter)> {
    (0u32..).map(move |at| base + 8 * at).zip(counters)
}

const fn check_counters() {
    let mut at = 0;
    while at < COUNTER_GROUPS.len() {
        assert!(COUNTER_GROUPS[at].counters.len() <= COUNTER_GROUP_SIZE);
        at += 1;
    }
    assert!(COUNTERS_STAGE + COUNTER_GROUP_STRIDE * COUNTER_GROUPS.len() as u32 <= COUNTERS_PEAK);
}
const _: () = check_counters();
