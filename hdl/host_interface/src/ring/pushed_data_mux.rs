//! Passes the read data of a ring on, and sends a pushed slot in their place on request.
//!
//! ```text
//!  read_data ──► Pass ──► ring_data ◄── First ─ Second ◄── first, second
//! ```
//! Timing: `read_data` passes combinationally. A slot leaves in the two cycles after `serve`, if
//! `ring_data` is ready.
//!
//! Invariants:
//! 1. `serve` comes only while `passes` is high and no read is in flight.
//! 2. `read_ends` is high in the cycle in which the last beat of a read is taken.

use abi::config;
use stream::prelude::*;

/// The beat of the pushed slot that leaves.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PushedPhase {
    /// No beat of the slot: read data pass.
    Pass,
    /// The first beat of the slot leaves.
    First,
    /// The second beat of the slot leaves.
    Second,
}

/// The multiplexer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PushedDataMux {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the slot that is leaving.
    pub reset: Signal<In, Bit>,

    /// Send the pushed slot.
    pub serve: Signal<In, Bit>,
    /// First half of the pushed slot; steady until the slot has left.
    pub first: Signal<In, Bits<512>>,
    /// Second half of the pushed slot; steady until the slot has left.
    pub second: Signal<In, Bits<512>>,
    /// No slot is leaving: read data pass.
    pub passes: Signal<Out, Bit>,

    /// Read data of the ring.
    pub read_data: PacketSink,
    /// The last beat of a read is taken in this cycle.
    pub read_ends: Signal<Out, Bit>,
    /// Read data and pushed slots, in the order of the ring's jobs.
    pub ring_data: PacketSource,

    phase: DFF<PushedPhase>,
    #[value(config::BEAT_BYTES as u64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for PushedDataMux {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase);
        self.passes.next = self.phase.q.val() == PushedPhase::Pass;
        self.ring_data.valid.next = self.read_data.valid.val();
        self.ring_data.data.next = self.read_data.data.val();
        self.ring_data.byte_count.next = self.read_data.byte_count.val();
        self.ring_data.last.next = self.read_data.last.val();
        self.ring_data.abort.next = self.read_data.abort.val();
        self.read_data.ready.next =
            (self.phase.q.val() == PushedPhase::Pass) & self.ring_data.ready.val();
        self.read_ends.next = (self.phase.q.val() == PushedPhase::Pass)
            & self.ring_data.ready.val()
            & self.read_data.valid.val()
            & self.read_data.last.val();
        if self.phase.q.val() != PushedPhase::Pass {
            self.ring_data.valid.next = true;
            self.ring_data.data.next = self.first.val();
            self.ring_data.byte_count.next = self.beat_bytes.val();
            self.ring_data.last.next = false;
            self.ring_data.abort.next = false;
        }
        match self.phase.q.val() {
            PushedPhase::Pass => {
                if self.serve.val() {
                    self.phase.d.next = PushedPhase::First;
                }
            }
            PushedPhase::First => {
                if self.ring_data.ready.val() {
                    self.phase.d.next = PushedPhase::Second;
                }
            }
            PushedPhase::Second => {
                self.ring_data.data.next = self.second.val();
                self.ring_data.last.next = true;
                if self.ring_data.ready.val() {
                    self.phase.d.next = PushedPhase::Pass;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = PushedPhase::Pass;
        }
    }
}
