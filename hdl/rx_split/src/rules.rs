//! The rules that decide where a payload may go, from the flow's state alone.
//!
//! ```text
//!  packet, flow ──► differences ──► trim ──► reach ──► first rule that holds ──► verdict
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | packet, flow | in | held by the caller |
//! | timestamp_found, timestamp | in | timestamp option, three cycles before the result |
//! | result | out | walk or disposition, and the range to place; three cycles behind `flow` |
//!
//! Timing: three register steps, then combinational from them.
//!
//! Source: rules 1 to 10 of the receive specification; positions are compared modulo 2^32, read as
//! signed.

use crate::differences::{Differences, Distances};
use crate::messages::PacketInfo;
use abi::config::FLOW_REACH_BYTES;
use abi::reason::Disposition;
use stream::prelude::*;

/// What the rules decide.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RulesResult {
    /// Place the range, if the list allows.
    pub walk: Bit,
    /// Disposition; with `walk` the one that a complete placement earns.
    pub disposition: Bits<4>,
    /// First position to place.
    pub position: Bits<32>,
    /// Bytes to place.
    pub bytes: Bits<14>,
    /// Bytes below the floor.
    pub trimmed: Bits<14>,
}

/// The rules. See the module's head.
#[derive(LogicBlock)]
pub struct Rules {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// The packet.
    pub packet: Signal<In, PacketInfo>,
    /// Its flow, or no hit.
    pub flow: Signal<In, FlowReply>,
    /// The packet has a timestamp.
    pub timestamp_found: Signal<In, Bit>,
    /// The timestamp.
    pub timestamp: Signal<In, Bits<32>>,
    /// What the rules decide.
    pub result: Signal<Out, RulesResult>,

    differences: Differences,
    distances: Signal<Local, Distances>,
    age: Signal<Local, Bits<32>>,
    stop_minus_floor: Signal<Local, Bits<32>>,
    start_minus_cursor: Signal<Local, Bits<32>>,
    flags: Signal<Local, Bits<8>>,
    flags_bad: Signal<Local, Bit>,
    timestamp_bad: Signal<Local, Bit>,
    old: Signal<Local, Bit>,
    beyond: Signal<Local, Bit>,
    reach_max: Constant<Bits<33>>,
    flags_forbidden: Constant<Bits<8>>,
    placed_in_order: Constant<Bits<4>>,
    placed_ahead: Constant<Bits<4>>,
    no_payload: Constant<Bits<4>>,
    is_old: Constant<Bits<4>>,
    duplicate: Constant<Bits<4>>,
    no_flow: Constant<Bits<4>>,
    ahead_of_window: Constant<Bits<4>>,
    is_flags: Constant<Bits<4>>,
    ack_out_of_range: Constant<Bits<4>>,
    timestamp_old: Constant<Bits<4>>,
    is_profile: Constant<Bits<4>>,
}

/// The number of a disposition as a constant of the block.
pub fn disposition(value: Disposition) -> Constant<Bits<4>> {
    Constant::new((value as u64).to_bits())
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            packet: Default::default(),
            flow: Default::default(),
            timestamp_found: Default::default(),
            timestamp: Default::default(),
            result: Default::default(),
            differences: Default::default(),
            distances: Default::default(),
            age: Default::default(),
            stop_minus_floor: Default::default(),
            start_minus_cursor: Default::default(),
            flags: Default::default(),
            flags_bad: Default::default(),
            timestamp_bad: Default::default(),
            old: Default::default(),
            beyond: Default::default(),
            reach_max: Constant::new(u64::from(FLOW_REACH_BYTES).to_bits()),
            // All but ACK (4), PSH (3), FIN (0), ECE (6), CWR (7).
            flags_forbidden: Constant::new(0x26u64.to_bits()),
            placed_in_order: disposition(Disposition::PlacedInOrder),
            placed_ahead: disposition(Disposition::PlacedAhead),
            no_payload: disposition(Disposition::NoPayload),
            is_old: disposition(Disposition::Old),
            duplicate: disposition(Disposition::Duplicate),
            no_flow: disposition(Disposition::NoFlow),
            ahead_of_window: disposition(Disposition::AheadOfWindow),
            is_flags: disposition(Disposition::Flags),
            ack_out_of_range: disposition(Disposition::AckOutOfRange),
            timestamp_old: disposition(Disposition::TimestampOld),
            is_profile: disposition(Disposition::Profile),
        }
    }
}

impl Logic for Rules {
    #[hdl_gen]
    fn update(&mut self) {
        self.differences.clock.next = self.clock.val();
        self.differences.packet.next = self.packet.val();
        self.differences.flow.next = self.flow.val();
        self.differences.timestamp.next = self.timestamp.val();
        self.distances.next = self.differences.distances.val();
        self.age.next = self.distances.val().timestamp_age;
        self.stop_minus_floor.next = self.distances.val().stop_minus_floor;
        self.start_minus_cursor.next = self.distances.val().start_minus_cursor;

        // The first rule that holds, written last to first.
        self.flags.next = self.packet.val().flags;
        self.flags_bad.next = self.packet.val().tcp
            & ((self.flags.val() & self.flags_forbidden.val()).any()
                | !self.flags.val().get_bit(4));
        self.timestamp_bad.next = self.packet.val().tcp
            & self.flow.val().timestamp_check
            & (!self.timestamp_found.val() | self.age.val().get_bit(31));
        self.old.next =
            self.stop_minus_floor.val().get_bit(31) | !self.stop_minus_floor.val().any();
        self.beyond.next = self.distances.val().reach >= self.reach_max.val();
        self.result.next.walk = false;
        self.result.next.position = self.distances.val().start;
        self.result.next.bytes = self.distances.val().bytes;
        self.result.next.trimmed = bits::<14>(0);
        self.result.next.disposition = self.no_flow.val();
        if !self.flow.val().hit {
            self.result.next.disposition = self.no_flow.val();
        } else if self.flow.val().profile != self.packet.val().profile {
            self.result.next.disposition = self.is_profile.val();
        } else if !self.packet.val().payload_bytes.any() {
            self.result.next.disposition = self.no_payload.val();
        } else if self.flags_bad.val() {
            self.result.next.disposition = self.is_flags.val();
        } else if self.packet.val().tcp
            & (self.distances.val().ack_offset > self.distances.val().ack_span)
        {
            self.result.next.disposition = self.ack_out_of_range.val();
        } else if self.timestamp_bad.val() {
            self.result.next.disposition = self.timestamp_old.val();
        } else if self.old.val() {
            self.result.next.disposition = self.is_old.val();
        } else if self.beyond.val() {
            self.result.next.disposition = self.ahead_of_window.val();
        } else if self.start_minus_cursor.val().get_bit(31) {
            self.result.next.disposition = self.duplicate.val();
        } else {
            self.result.next.walk = true;
            self.result.next.trimmed = self.distances.val().trimmed;
            self.result.next.disposition = self.placed_ahead.val();
            if !self.start_minus_cursor.val().any() {
                self.result.next.disposition = self.placed_in_order.val();
            }
        }
    }
}
