//! The events that move the stage counters: a struct for each group of
//! `abi::counters::COUNTER_GROUPS`.
//!
//! A field has the name of its counter, so that no event can move another counter by mistake. It is
//! high in each cycle that adds one.
//!
//! Invariants:
//! 1. The fields of a struct are the counters of its group, in their order.

use rust_hdl_core::prelude::*;
use rust_hdl_macros::LogicStruct;

/// Work done, and reads that ended badly. Group "work".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WorkEvents {
    /// Frames that the receive path took from the MAC side.
    pub rx_frames: Bit,
    /// Frames handed to the MAC side.
    pub tx_frames: Bit,
    /// Send descriptors that ended, failed ones included.
    pub tx_descriptors: Bit,
    /// Commands carried out, refused ones included.
    pub commands: Bit,
    /// Memory write requests sent.
    pub write_tlps: Bit,
    /// Memory read requests sent.
    pub read_tlps: Bit,
    /// Reads given up; the tag of each is quarantined until the next epoch.
    pub read_timeouts: Bit,
    /// Completions that were wrong or unexpected.
    pub read_errors: Bit,
}

/// What went wrong, or came to an address where nothing takes it. Group "faults".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FaultEvents {
    /// Register writes of part of a dword, too long, or incomplete.
    pub registers_malformed: Bit,
    /// Requests of the host that were refused.
    pub registers_unsupported: Bit,
    /// Writes to offsets without a register that can be written.
    pub registers_unmapped: Bit,
    /// Command rings stopped by a failed read or a wrong index.
    pub command_rings_stopped: Bit,
    /// Send rings stopped by a failed read or a wrong index.
    pub send_rings_stopped: Bit,
    /// Reads of payload to send that ended with an error.
    pub payload_reads_failed: Bit,
    /// Flush reads that ended with an error.
    pub flushes_failed: Bit,
    /// Completions whose tag no read in flight has.
    pub completions_unexpected: Bit,
}

/// The requester port and the writes before it. Group "requests".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RequestEvents {
    /// Beats that the hard block took from the card.
    pub rq_beats: Bit,
    /// A beat waited for the hard block.
    pub rq_stall_cycles: Bit,
    /// A beat waited for the hard block, with less posted credit than 256 bytes need.
    pub posted_credit_stall_cycles: Bit,
    /// No credit for a read was left.
    pub nonposted_credit_stall_cycles: Bit,
    /// A write waited: 32 writes were inside the hard block.
    pub write_window_stall_cycles: Bit,
    /// A write waited for its bytes.
    pub write_data_stall_cycles: Bit,
    /// Writes that the card's stages requested.
    pub write_jobs: Bit,
    /// The receive path waited to hand over a write.
    pub write_job_stall_cycles: Bit,
}

/// Reads and their completions. Group "reads".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadEvents {
    /// Beats that the card took from the hard block.
    pub rc_beats: Bit,
    /// A beat waited for the card.
    pub rc_stall_cycles: Bit,
    /// A read waited for a free tag.
    pub tag_stall_cycles: Bit,
    /// A read waited for credit for its completions.
    pub completion_room_stall_cycles: Bit,
    /// Reads that the card's stages requested.
    pub read_jobs: Bit,
    /// The send path waited to hand over a read.
    pub read_job_stall_cycles: Bit,
    /// A flush waited for the writes before it.
    pub flush_wait_cycles: Bit,
    /// Read data waited for the stage that had requested them.
    pub answer_stall_cycles: Bit,
}

/// Read latency: the bucket of a sample. Group "read latency, one read at a time sampled, request
/// to last byte".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LatencyEvents {
    /// Samples below 256 ns.
    pub read_latency_below_256_ns: Bit,
    /// Samples of 256 to 511 ns.
    pub read_latency_below_512_ns: Bit,
    /// Samples of 512 to 1,023 ns.
    pub read_latency_below_1024_ns: Bit,
    /// Samples of 1,024 to 2,047 ns.
    pub read_latency_below_2048_ns: Bit,
    /// Samples of 2,048 to 4,095 ns.
    pub read_latency_below_4096_ns: Bit,
    /// Samples of 4,096 to 8,191 ns.
    pub read_latency_below_8192_ns: Bit,
    /// Samples of 8,192 to 16,383 ns.
    pub read_latency_below_16384_ns: Bit,
    /// Samples of 16,384 ns and more.
    pub read_latency_from_16384_ns: Bit,
}

/// Group "ends of the data path, in the card's clock".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PathEndEvents {
    /// Verified packets taken for classification.
    pub rx_packets: Bit,
    /// A verified packet waited for classification.
    pub rx_packet_stall_cycles: Bit,
    /// Beats that the send path handed over.
    pub tx_beats: Bit,
    /// A beat of the send path waited for the MAC side.
    pub tx_stall_cycles: Bit,
    /// Send slots taken from a push window instead of their ring.
    pub send_slots_pushed: Bit,
    /// Failed sends whose event found no free space in the header queue.
    pub send_events_lost: Bit,
}

/// The wire and the MAC. Group "wire".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WireEvents {
    /// Frames that were not sent, since the wire was down.
    pub tx_frames_unsent: Bit,
    /// Frames that an epoch or a reset of the MAC ended at its send port.
    pub tx_frames_cut: Bit,
    /// The wire went down.
    pub link_losses: Bit,
    /// Pauses that the other end was asked for.
    pub pauses_asked: Bit,
    /// Pauses that the other end asked for.
    pub pauses_obeyed: Bit,
    /// Pauses that lasted longer than the limit.
    pub pauses_ignored: Bit,
    /// The MAC reported lost bytes of a frame to send.
    pub mac_overflows: Bit,
    /// The MAC reported a gap inside a frame to send.
    pub mac_underflows: Bit,
}

/// Runs of received packets. Group "runs of received packets".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RunEvents {
    /// A packet opened a run.
    pub runs_opened: Bit,
    /// A packet joined an open run.
    pub run_packets_joined: Bit,
    /// A run ended with PSH, a smaller packet or the most packets.
    pub runs_ended_by_last: Bit,
    /// A run was ended by a packet of its flow that could not join.
    pub runs_ended_by_packet: Bit,
    /// A run was ended before a confirmation.
    pub runs_ended_by_command: Bit,
    /// A run was ended, since another flow needed its place.
    pub runs_ended_by_place: Bit,
    /// A run was ended by the timer.
    pub runs_ended_by_timer: Bit,
    /// A packet of a run that was open as an epoch began.
    pub run_packets_forgotten: Bit,
}

/// The board window and the PCIe hard block. Group "board".
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BoardEvents {
    /// Accesses to the board window that were answered with an error.
    pub window_errors: Bit,
    /// Accesses to the board window without an answer in time.
    pub window_timeouts: Bit,
    /// Accesses to the board window that found too many waiting.
    pub window_refused: Bit,
    /// Errors that the PCIe hard block reported.
    pub pcie_local_errors: Bit,
}
