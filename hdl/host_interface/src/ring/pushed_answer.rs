//! Hands on the answers of a ring's reads, and a pushed slot in their place when told to.
//!
//! ```text
//!  read_data ──► Pass ──► ring_data ◄── First ─ Second ◄── first, second
//! ```
//! Timing: `read_data` passes in no time; a slot goes out in the two cycles after `serve`.
//!
//! Invariants:
//! 1. `serve` comes only while `passes` is high and no read is in flight.
//! 2. `answered` is high in the cycle in which the last beat of a read's answer is taken.

use abi::config;
use stream::prelude::*;

/// Which beat of the pushed slot goes out.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PushedPhase {
    /// None: answers pass.
    Pass,
    /// The first.
    First,
    /// The second.
    Second,
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PushedAnswer {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the slot that goes out.
    pub reset: Signal<In, Bit>,

    /// Send the pushed slot.
    pub serve: Signal<In, Bit>,
    /// Its first half.
    pub first: Signal<In, Bits<512>>,
    /// Its second half.
    pub second: Signal<In, Bits<512>>,
    /// No slot goes out.
    pub passes: Signal<Out, Bit>,

    /// Answers of reads.
    pub read_data: PacketSink,
    /// The last beat of one is taken.
    pub answered: Signal<Out, Bit>,
    /// All answers.
    pub ring_data: PacketSource,

    phase: DFF<PushedPhase>,
    #[value(config::BEAT_BYTES as u64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for PushedAnswer {
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
        self.answered.next = (self.phase.q.val() == PushedPhase::Pass)
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
