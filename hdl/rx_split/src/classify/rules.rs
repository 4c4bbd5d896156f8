//! The rules that decide from the flow's state where a payload may go.
//!
//! ```text
//!  sink ──► differences (2 steps) ──► [first rule that holds] ──► packet
//! ```
//! Timing: latency three cycles, one packet per cycle, no back-pressure.
//!
//! Invariants:
//! 1. The first rule that holds gives the disposition; where none does, `walk` is set with the
//!    range to place. What was not looked up, confirmations too, passes as it is.
//!
//! Source: docs/specification.md, Placement, rules 1 to 9; positions are compared modulo 2^32, read
//! as signed. Rules 10 and 12 need the cursor, which only `admit` knows.

use crate::classify::differences::{Differences, RuleFacts};
use crate::classify::messages::RuleCase;
use crate::messages::RxItem;
use abi::config::FLOW_REACH_BYTES;
use abi::reason::Disposition;
use stream::prelude::*;

/// The rules. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Rules {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets inside are forgotten.
    pub reset: Signal<In, Bit>,
    /// Packets with their flows; confirmations pass.
    pub sink: PulseSink<RuleCase>,
    /// Packets with their disposition, or with `walk` and the range to place; confirmations as they
    /// came.
    pub source: PulseSource<RxItem>,

    differences: Differences,
    valid: DFF<Bit>,
    judged: DFF<RxItem>,

    facts: Signal<Local, RuleFacts>,
    subject: Signal<Local, RuleCase>,
    flow: Signal<Local, FlowReply>,
    packet: Signal<Local, RxItem>,
    reach: Signal<Local, Bits<33>>,
    beyond: Signal<Local, Bit>,
    walk: Signal<Local, Bit>,
    reason: Signal<Local, DispositionCode>,
    #[value(u64::from(FLOW_REACH_BYTES))]
    reach_max: Constant<Bits<33>>,
    #[value(Disposition::NoPayload as u64)]
    no_payload: Constant<DispositionCode>,
    #[value(Disposition::Old as u64)]
    is_old: Constant<DispositionCode>,
    #[value(Disposition::NoFlow as u64)]
    no_flow: Constant<DispositionCode>,
    #[value(Disposition::AheadOfWindow as u64)]
    ahead_of_window: Constant<DispositionCode>,
    #[value(Disposition::Flags as u64)]
    is_flags: Constant<DispositionCode>,
    #[value(Disposition::AckOutOfRange as u64)]
    ack_out_of_range: Constant<DispositionCode>,
    #[value(Disposition::TimestampOld as u64)]
    timestamp_old: Constant<DispositionCode>,
    #[value(Disposition::Profile as u64)]
    is_profile: Constant<DispositionCode>,
}

impl Logic for Rules {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, judged);
        clock!(self, clock, differences);
        self.differences.reset.next = self.reset.val();
        PulseSink::<RuleCase>::link(&mut self.sink, &mut self.differences.sink);
        self.valid.d.next = self.differences.source.valid.val() & !self.reset.val();
        self.source.valid.next = self.valid.q.val();
        self.source.payload.next = self.judged.q.val();
        self.facts.next = self.differences.source.payload.val();
        self.subject.next = self.facts.val().subject;
        self.flow.next = self.subject.val().flow;
        self.packet.next = self.subject.val().packet;

        self.reach.next = bit_cast::<33, 32>(self.facts.val().start_minus_floor)
            + bit_cast::<33, 14>(self.facts.val().bytes);
        self.beyond.next = self.reach.val() >= self.reach_max.val();
        self.walk.next = false;
        self.reason.next = self.no_flow.val();
        if !self.flow.val().hit {
            self.reason.next = self.no_flow.val();
        } else if self.flow.val().profile != self.packet.val().profile {
            self.reason.next = self.is_profile.val();
        } else if !self.packet.val().payload_bytes.any() {
            self.reason.next = self.no_payload.val();
        } else if self.facts.val().flags_bad {
            self.reason.next = self.is_flags.val();
        } else if self.facts.val().ack_bad {
            self.reason.next = self.ack_out_of_range.val();
        } else if self.facts.val().timestamp_bad {
            self.reason.next = self.timestamp_old.val();
        } else if self.facts.val().old {
            self.reason.next = self.is_old.val();
        } else if self.beyond.val() {
            self.reason.next = self.ahead_of_window.val();
        } else {
            self.walk.next = true;
        }

        if self.differences.source.valid.val() {
            self.judged.d.next = self.packet.val();
            if self.subject.val().requested {
                self.judged.d.next.verified = true;
                self.judged.d.next.disposition = self.reason.val();
                self.judged.d.next.walk = self.walk.val();
                self.judged.d.next.place_position = self.facts.val().start;
                self.judged.d.next.place_bytes = self.facts.val().bytes;
                if self.walk.val() {
                    self.judged.d.next.trimmed_bytes = self.facts.val().trimmed;
                }
                if self.flow.val().hit {
                    self.judged.d.next.hit = true;
                    self.judged.d.next.flow = self.flow.val().flow;
                    self.judged.d.next.generation = self.flow.val().generation;
                    self.judged.d.next.owner = self.flow.val().owner;
                    self.judged.d.next.domain = self.flow.val().domain;
                    self.judged.d.next.floor = self.flow.val().floor;
                }
            }
        }
    }
}
