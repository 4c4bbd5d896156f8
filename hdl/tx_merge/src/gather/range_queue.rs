//! The ranges whose list entries are looked up: requested ahead, judged in order.
//!
//! ```text
//!  sink ──►│ not requested │ requested, not judged │
//!                          ▲ lookup                ▲ judge
//!                          └─────── rewind ────────┘ (requests those after the judged one again)
//! ```
//! Timing: latency one cycle; each side moves on by one range per cycle. All outputs are functions
//! of registers.
//!
//! Invariants:
//! 1. Ranges are judged in the order they came, each once, and after they were requested.

use crate::messages::{SendFields, SendRange, SendVerdict};
use stream::prelude::*;

/// The list entry to request first for a range.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RangeLookup {
    /// The range has payload to find.
    pub wanted: Bit,
    /// Flow id.
    pub flow: Bits<16>,
    /// List index to start at.
    pub index: Bits<16>,
}

/// The queue. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RangeQueue {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Empties the queue.
    pub reset: Signal<In, Bit>,

    /// Ranges in.
    pub sink: MessageSink<SendRange>,
    /// There is a range whose entry is not requested.
    pub lookup_valid: Signal<Out, Bit>,
    /// The entry to request.
    pub lookup: Signal<Out, RangeLookup>,
    /// The entry is requested or not needed: go to the next range.
    pub lookup_next: Signal<In, Bit>,
    /// There is a range that is requested and not judged.
    pub judge_valid: Signal<Out, Bit>,
    /// The oldest range that is requested and not judged.
    pub judge: Signal<Out, SendRange>,
    /// The range is judged: go to the next.
    pub judge_next: Signal<In, Bit>,
    /// Request the entries of all ranges after the one being judged again.
    pub rewind: Signal<In, Bit>,

    lookups: LutRam<RangeLookup, 3>,
    ranges: LutRam<SendRange, 3>,
    write_pointer: DFF<Bits<4>>,
    lookup_pointer: DFF<Bits<4>>,
    judge_pointer: DFF<Bits<4>>,

    verdict: Signal<Local, SendVerdict>,
    fields: Signal<Local, SendFields>,
    held: Signal<Local, Bits<4>>,
    write: Signal<Local, Bit>,
    judge_after: Signal<Local, Bits<4>>,
}

impl Logic for RangeQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, lookup_pointer, judge_pointer);
        clock!(self, clock, lookups, ranges);

        // Pointers that are 8 apart differ in their highest bit alone.
        self.held.next = self.write_pointer.q.val() ^ self.judge_pointer.q.val();
        self.sink.ready.next = self.held.val() != 8;
        self.write.next = self.sink.valid.val() & (self.held.val() != 8);
        self.verdict.next = self.sink.payload.val().verdict;
        self.fields.next = self.verdict.val().fields;
        self.lookups.write_address.next = bit_cast::<3, 4>(self.write_pointer.q.val());
        self.lookups.write_data.next.wanted = self.sink.payload.val().wanted;
        self.lookups.write_data.next.flow = self.fields.val().flow;
        self.lookups.write_data.next.index = self.fields.val().segment_index;
        self.lookups.write_enable.next = self.write.val();
        self.ranges.write_address.next = bit_cast::<3, 4>(self.write_pointer.q.val());
        self.ranges.write_data.next = self.sink.payload.val();
        self.ranges.write_enable.next = self.write.val();
        if self.write.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }

        self.lookups.read_address.next = bit_cast::<3, 4>(self.lookup_pointer.q.val());
        self.lookup.next = self.lookups.read_data.val();
        self.lookup_valid.next = self.lookup_pointer.q.val() != self.write_pointer.q.val();
        if self.lookup_next.val() {
            self.lookup_pointer.d.next = self.lookup_pointer.q.val() + 1;
        }

        self.ranges.read_address.next = bit_cast::<3, 4>(self.judge_pointer.q.val());
        self.judge.next = self.ranges.read_data.val();
        self.judge_valid.next = self.judge_pointer.q.val() != self.lookup_pointer.q.val();
        self.judge_after.next = self.judge_pointer.q.val() + 1;
        if self.judge_next.val() {
            self.judge_pointer.d.next = self.judge_after.val();
        }
        if self.rewind.val() {
            self.lookup_pointer.d.next = self.judge_after.val();
        }
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.lookup_pointer.d.next = 0.into();
            self.judge_pointer.d.next = 0.into();
        }
    }
}
