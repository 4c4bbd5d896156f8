//! A packet's standing: where its payload is relative to its flow's cursor, before it, at it or
//! past it.
//!
//! ```text
//!  flow ─► [tables: two cycles] ─► stored cursor ─┐
//!  cursors written meanwhile ─────────────────────┴─► differences ─► [register] ─► standing
//! ```
//! Timing: one packet every other cycle. `standing` is valid three cycles after the packet was
//! taken; a cursor must be written in that same cycle.
//!
//! Invariants:
//! 1. A packet sees the cursor of every packet of its flow before it: a cursor that moves in the
//!    cycle before its read, in that cycle or in the next is forwarded, the latest of them.
//!
//! Source: docs/specification.md, Placement (rules 10 and 12) and Order.

use crate::messages::RxItem;
use stream::prelude::*;

/// Standing of a packet: where its payload is relative to the cursor.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Standing {
    /// The flow's cursor as it was written last.
    pub cursor: Bits<32>,
    /// The cursor lies below the floor: the floor counts instead.
    pub below_floor: Bit,
    /// The payload to place begins before the cursor.
    pub before: Bit,
    /// The payload to place begins at the cursor.
    pub at: Bit,
    /// The payload to place begins at the floor.
    pub at_floor: Bit,
}

/// The comparison. See the module's head.
#[derive(LogicBlock, Default)]
pub struct StandingStep {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Flow of the packet offered; the tables are given the same flow in this cycle.
    pub offered_flow: Signal<In, Bits<16>>,
    /// The packet that was offered two cycles ago, if it was taken.
    pub packet: Signal<In, RxItem>,
    /// Cursor that the tables keep for the flow of `packet`: read two cycles ago.
    pub stored: Signal<In, Bits<32>>,
    /// Cursors that move: three cycles after their packet was taken.
    pub written: PulseSink<CursorWrite>,
    /// Cursors of `written` one cycle later, to the tables, which write them in the next cycle.
    pub to_write: PulseSource<CursorWrite>,
    /// Standing of the packet, one cycle after `packet`.
    pub standing: Signal<Out, Standing>,

    requested: DFF<Bits<16>>,
    moved: DFF<Bit>,
    last: DFF<CursorWrite>,
    cursor_before: DFF<Bits<32>>,
    hits_offered: DFF<Bit>,
    hit_before: DFF<Bit>,
    hits_requested: DFF<Bit>,
    hit: DFF<Bit>,
    newest: DFF<Bits<32>>,
    result: DFF<Standing>,

    write_flow: Signal<Local, Bits<16>>,
    moved_offered: Signal<Local, Bit>,
    cursor: Signal<Local, Bits<32>>,
    start: Signal<Local, Bits<32>>,
    floor: Signal<Local, Bits<32>>,
}

impl Logic for StandingStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, requested, moved, last, cursor_before, result);
        dff_setup!(self, clock, hits_offered, hit_before, hits_requested, hit, newest);
        self.write_flow.next = self.written.payload.val().flow;
        self.moved.d.next = self.written.valid.val();
        self.last.d.next = self.written.payload.val();
        self.cursor_before.d.next = self.last.q.val().cursor;
        self.to_write.valid.next = self.moved.q.val();
        self.to_write.payload.next = self.last.q.val();

        // The read: what moves now, and what moved a cycle before. That it moves at all is known a
        // cycle later.
        self.requested.d.next = self.offered_flow.val();
        self.hits_offered.d.next = self.write_flow.val() == self.offered_flow.val();
        self.hit_before.d.next =
            self.moved.q.val() & (self.last.q.val().flow == self.offered_flow.val());
        // The cycle after it.
        self.hits_requested.d.next = self.write_flow.val() == self.requested.q.val();
        self.moved_offered.next = self.hits_offered.q.val() & self.moved.q.val();
        self.hit.d.next = self.moved_offered.val() | self.hit_before.q.val();
        self.newest.d.next = self.cursor_before.q.val();
        if self.moved_offered.val() {
            self.newest.d.next = self.last.q.val().cursor;
        }

        // The packet.
        self.cursor.next = self.stored.val();
        if self.hits_requested.q.val() & self.moved.q.val() {
            self.cursor.next = self.last.q.val().cursor;
        } else if self.hit.q.val() {
            self.cursor.next = self.newest.q.val();
        }
        self.start.next = self.packet.val().place_position;
        self.floor.next = self.packet.val().floor;
        self.result.d.next.cursor = self.cursor.val();
        self.result.d.next.below_floor = (self.cursor.val() - self.floor.val()).get_bit(31);
        self.result.d.next.before = (self.start.val() - self.cursor.val()).get_bit(31);
        self.result.d.next.at = self.start.val() == self.cursor.val();
        self.result.d.next.at_floor = self.start.val() == self.floor.val();
        self.standing.next = self.result.q.val();
    }
}
