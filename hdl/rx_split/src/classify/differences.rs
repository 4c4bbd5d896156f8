//! What the rules look at: the distances between a packet and its flow's state, and what follows
//! from them.
//!
//! ```text
//!  subject ──► [differences] ──► [comparisons, trim below the floor] ──► facts
//! ```
//! Timing: latency two cycles, one packet per cycle, no back-pressure. Sums are modulo 2^32, read
//! as signed.
//!
//! Source: docs/specification.md, Placement (rules 4 to 9).

use crate::classify::messages::RuleCase;
use crate::messages::RxItem;
use stream::prelude::*;

/// Differences between a packet and its flow's state.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Distances {
    /// Acknowledgement number minus the lowest that is accepted.
    pub ack_offset: Bits<32>,
    /// Size of the accepted range of acknowledgement numbers.
    pub ack_span: Bits<32>,
    /// Start of the payload minus the floor.
    pub start_minus_floor: Bits<32>,
    /// End of the payload minus the floor.
    pub stop_minus_floor: Bits<32>,
    /// Timestamp minus its floor.
    pub timestamp_age: Bits<32>,
}

/// A packet and what is known about it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RuleFacts {
    /// The packet with the state of its flow.
    pub subject: RuleCase,
    /// The packet has a flag that placement does not allow, or no ACK.
    pub flags_bad: Bit,
    /// The acknowledgement number is outside its range.
    pub ack_bad: Bit,
    /// The timestamp is demanded, and missing or too old.
    pub timestamp_bad: Bit,
    /// All payload lies below the floor.
    pub old: Bit,
    /// First position to place.
    pub start: Bits<32>,
    /// First position to place, minus the floor.
    pub start_minus_floor: Bits<32>,
    /// Bytes to place.
    pub bytes: Bits<14>,
    /// Bytes of the payload below the floor.
    pub trimmed: Bits<14>,
}

/// The arithmetic. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Differences {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets inside are forgotten.
    pub reset: Signal<In, Bit>,
    /// Packets with their flows; confirmations pass.
    pub sink: PulseSink<RuleCase>,
    /// Packets with the facts about them, two cycles later.
    pub source: PulseSource<RuleFacts>,

    valid: DFF<Bits<2>>,
    held: DFF<RuleCase>,
    distances: DFF<Distances>,
    facts: DFF<RuleFacts>,

    subject: Signal<Local, RuleCase>,
    packet: Signal<Local, RxItem>,
    flow: Signal<Local, FlowReply>,
    payload: Signal<Local, Bits<32>>,
    later: Signal<Local, RuleCase>,
    later_packet: Signal<Local, RxItem>,
    later_flow: Signal<Local, FlowReply>,
    known: Signal<Local, Distances>,
    start_distance: Signal<Local, Bits<32>>,
    stop_distance: Signal<Local, Bits<32>>,
    below: Signal<Local, Bits<14>>,
    flags: Signal<Local, Bits<8>>,
    /// All but ACK (4), PSH (3), FIN (0), ECE (6), CWR (7).
    #[value(0x26)]
    flags_forbidden: Constant<Bits<8>>,
}

impl Logic for Differences {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, held, distances, facts);
        self.valid.d.next =
            (self.valid.q.val() << 1) | bit_cast::<2, 1>(self.sink.valid.val().into());
        if self.reset.val() {
            self.valid.d.next = 0.into();
        }
        self.source.valid.next = self.valid.q.val().get_bit(1);
        self.source.payload.next = self.facts.q.val();

        // Step 1: differences.
        self.subject.next = self.sink.payload.val();
        self.packet.next = self.subject.val().packet;
        self.flow.next = self.subject.val().flow;
        self.payload.next = bit_cast::<32, 14>(self.packet.val().payload_bytes);
        if self.sink.valid.val() {
            self.held.d.next = self.subject.val();
            self.distances.d.next.ack_offset = self.subject.val().ack - self.flow.val().ack_low;
            self.distances.d.next.ack_span = self.flow.val().ack_high - self.flow.val().ack_low;
            self.distances.d.next.start_minus_floor =
                self.packet.val().position - self.flow.val().floor;
            self.distances.d.next.stop_minus_floor =
                (self.packet.val().position - self.flow.val().floor) + self.payload.val();
            self.distances.d.next.timestamp_age =
                self.subject.val().timestamp - self.flow.val().timestamp_floor;
        }

        // Step 2: comparisons, and the cut at the floor.
        self.later.next = self.held.q.val();
        self.later_packet.next = self.later.val().packet;
        self.later_flow.next = self.later.val().flow;
        self.known.next = self.distances.q.val();
        self.start_distance.next = self.known.val().start_minus_floor;
        self.stop_distance.next = self.known.val().stop_minus_floor;
        self.flags.next = self.later.val().flags;
        self.below.next = bits::<14>(0) - bit_cast::<14, 32>(self.start_distance.val());
        if self.valid.q.val().get_bit(0) {
            self.facts.d.next.subject = self.later.val();
            self.facts.d.next.flags_bad = self.later.val().tcp
                & ((self.flags.val() & self.flags_forbidden.val()).any()
                    | !self.flags.val().get_bit(4));
            self.facts.d.next.ack_bad =
                self.later.val().tcp & (self.known.val().ack_offset > self.known.val().ack_span);
            self.facts.d.next.timestamp_bad = self.later.val().tcp
                & self.later_flow.val().timestamp_check
                & (!self.later.val().timestamp_found | self.known.val().timestamp_age.get_bit(31));
            self.facts.d.next.old =
                self.stop_distance.val().get_bit(31) | !self.stop_distance.val().any();
            self.facts.d.next.start = self.later_packet.val().position;
            self.facts.d.next.start_minus_floor = self.start_distance.val();
            self.facts.d.next.bytes = self.later_packet.val().payload_bytes;
            self.facts.d.next.trimmed = 0.into();
            if self.start_distance.val().get_bit(31) {
                self.facts.d.next.start = self.later_flow.val().floor;
                self.facts.d.next.start_minus_floor = 0.into();
                self.facts.d.next.bytes = bit_cast::<14, 32>(self.stop_distance.val());
                self.facts.d.next.trimmed = self.below.val();
            }
        }
    }
}
