//! Where a packet's payload stands to its flow's cursor.
//!
//! ```text
//!  flow ─► [tables: two cycles] ─► stored cursor ─┐
//!  cursors written meanwhile ─────────────────────┴─► differences ─► [register] ─► standing
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | offered_flow | in | flow of the packet offered; the tables are shown the same |
//! | packet | in | the same packet, two cycles later |
//! | stored | in | the cursor that the tables keep for it, two cycles later |
//! | written | in | cursors written: three cycles after their packet was taken |
//! | standing | out | three cycles after the packet was taken |
//!
//! Timing: one packet every other cycle.
//!
//! Invariants:
//! 1. A packet sees the cursor of every packet of its flow before it: the one that is written in
//!    the cycle of its read or in the next is forwarded, and there is only one.

use crate::messages::Placement;
use stream::prelude::*;

/// A packet's standing.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Standing {
    /// The cursor as it was written.
    pub cursor: Bits<32>,
    /// It lies below the floor: the floor counts.
    pub below_floor: Bit,
    /// The payload to place begins before the cursor.
    pub before: Bit,
    /// It begins at the cursor.
    pub at: Bit,
    /// It begins at the floor.
    pub at_floor: Bit,
}

/// The comparison. See the module's head.
#[derive(LogicBlock, Default)]
pub struct StandingStep {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Flow of the packet offered.
    pub offered_flow: Signal<In, Bits<16>>,
    /// The packet, two cycles later.
    pub packet: Signal<In, Placement>,
    /// Its cursor as the tables keep it.
    pub stored: Signal<In, Bits<32>>,
    /// Cursors written.
    pub written: PulseSink<CursorWrite>,
    /// The standing, one cycle later.
    pub standing: Signal<Out, Standing>,

    asked: DFF<Bits<16>>,
    forward_asked: DFF<Bit>,
    forward: DFF<Bit>,
    last: DFF<Bits<32>>,
    result: DFF<Standing>,

    write_flow: Signal<Local, Bits<16>>,
    cursor: Signal<Local, Bits<32>>,
    start: Signal<Local, Bits<32>>,
    floor: Signal<Local, Bits<32>>,
    above_floor: Signal<Local, Bits<32>>,
    distance: Signal<Local, Bits<32>>,
}

impl Logic for StandingStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, asked, forward_asked, forward, last, result);
        self.write_flow.next = self.written.payload.val().flow;
        if self.written.valid.val() {
            self.last.d.next = self.written.payload.val().cursor;
        }
        // The read, the cycle behind it, the packet.
        self.asked.d.next = self.offered_flow.val();
        self.forward_asked.d.next =
            self.written.valid.val() & (self.write_flow.val() == self.offered_flow.val());
        self.forward.d.next = self.forward_asked.q.val()
            | (self.written.valid.val() & (self.write_flow.val() == self.asked.q.val()));

        self.cursor.next = self.stored.val();
        if self.forward.q.val() {
            self.cursor.next = self.last.q.val();
        }
        self.start.next = self.packet.val().place_position;
        self.floor.next = self.packet.val().cursor;
        self.above_floor.next = self.cursor.val() - self.floor.val();
        self.distance.next = self.start.val() - self.cursor.val();
        self.result.d.next.cursor = self.cursor.val();
        self.result.d.next.below_floor = self.above_floor.val().get_bit(31);
        self.result.d.next.before = self.distance.val().get_bit(31);
        self.result.d.next.at = self.start.val() == self.cursor.val();
        self.result.d.next.at_floor = self.start.val() == self.floor.val();
        self.standing.next = self.result.q.val();
    }
}
