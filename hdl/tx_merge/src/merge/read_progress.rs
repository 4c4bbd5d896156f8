//! Keeps the read whose data merge appends, and how much of them is appended already.
//!
//! ```text
//!  facts ──► read ──► place in its beat, bytes left of the beat
//! ```
//! Timing: `facts.ready` follows `step` and `uses_up` in the same cycle: the next read comes
//! without a pause. All other outputs are functions of registers.

use crate::messages::ReadFacts;
use stream::prelude::*;

/// The read. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadProgress {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the read.
    pub reset: Signal<In, Bit>,

    /// Length and verdict of each read, in order.
    pub facts: MessageSink<ReadFacts>,
    /// An item takes bytes of the read's beat.
    pub step: Signal<In, Bit>,
    /// With `step`: bytes that the item takes, if the beat has more.
    pub payload_rest: Signal<In, Bits<14>>,
    /// With `step`: the item takes all that the beat has left.
    pub uses_up: Signal<In, Bit>,

    /// There is a read.
    pub valid: Signal<Out, Bit>,
    /// The read failed.
    pub failed: Signal<Out, Bit>,
    /// First byte of the beat that is not taken.
    pub start: Signal<Out, Bits<6>>,
    /// Bytes of the beat from `start` on, 1 to 64.
    pub beat_rest: Signal<Out, Bits<7>>,

    held_valid: DFF<Bit>,
    held: DFF<ReadFacts>,
    taken: DFF<Bits<6>>,
    rest: DFF<Bits<7>>,

    next_beat: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
}

impl Logic for ReadProgress {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held_valid, held, taken, rest);
        self.valid.next = self.held_valid.q.val();
        self.failed.next = self.held.q.val().failed;
        self.start.next = self.taken.q.val();
        self.beat_rest.next = self.rest.q.val();

        self.next_beat.next = self.step.val() & self.uses_up.val();
        if self.step.val() {
            self.taken.d.next = self.taken.q.val() + bit_cast::<6, 14>(self.payload_rest.val());
            self.rest.d.next = self.rest.q.val() - bit_cast::<7, 14>(self.payload_rest.val());
        }
        if self.next_beat.val() {
            self.held.d.next.beats = self.held.q.val().beats - 1;
            self.taken.d.next = 0.into();
            self.rest.d.next = 64.into();
            if self.held.q.val().beats == 1 {
                self.rest.d.next = self.held.q.val().last_bytes;
            }
        }
        self.free.next =
            !self.held_valid.q.val() | (self.next_beat.val() & !self.held.q.val().beats.any());
        self.facts.ready.next = self.free.val();
        if self.free.val() {
            self.held_valid.d.next = self.facts.valid.val();
            self.held.d.next = self.facts.payload.val();
            self.taken.d.next = 0.into();
            self.rest.d.next = 64.into();
            if !self.facts.payload.val().beats.any() {
                self.rest.d.next = self.facts.payload.val().last_bytes;
            }
        }
        if self.reset.val() {
            self.held_valid.d.next = false;
        }
    }
}
