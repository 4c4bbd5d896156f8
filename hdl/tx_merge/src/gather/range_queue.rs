//! The ranges whose list entries are looked up: asked for ahead, judged in order.
//!
//! ```text
//!  sink ──►│ not asked │ asked, not judged │
//!                      ▲ ask               ▲ judge
//!                      └─── rewind ────────┘ (asks again behind the one being judged)
//! ```
//! Timing: latency one cycle; each side moves on by one range a cycle.
//!
//! Invariants:
//! 1. Ranges are judged in the order they came, each once, and after it was asked for.

use crate::messages::{SendFields, SendRange, SendVerdict};
use stream::prelude::*;

/// What to ask for.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RangeAsk {
    /// There is payload to find.
    pub wanted: Bit,
    /// Flow id.
    pub flow: Bits<16>,
    /// List index to start at.
    pub index: Bits<16>,
}

/// The queue. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RangeQueue {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties the queue.
    pub reset: Signal<In, Bit>,

    /// Ranges in.
    pub sink: MessageSink<SendRange>,
    /// There is a range not asked for.
    pub ask_valid: Signal<Out, Bit>,
    /// It.
    pub ask: Signal<Out, RangeAsk>,
    /// It is asked for.
    pub ask_next: Signal<In, Bit>,
    /// There is a range asked for and not judged.
    pub judge_valid: Signal<Out, Bit>,
    /// It.
    pub judge: Signal<Out, SendRange>,
    /// It is judged.
    pub judge_next: Signal<In, Bit>,
    /// Ask again for all behind it.
    pub rewind: Signal<In, Bit>,

    asks: LutRam<RangeAsk, 3>,
    ranges: LutRam<SendRange, 3>,
    write_pointer: DFF<Bits<4>>,
    ask_pointer: DFF<Bits<4>>,
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
        dff_setup!(self, clock, write_pointer, ask_pointer, judge_pointer);
        clock!(self, clock, asks, ranges);

        // Pointers that are 8 apart differ in their highest bit alone.
        self.held.next = self.write_pointer.q.val() ^ self.judge_pointer.q.val();
        self.sink.ready.next = self.held.val() != 8;
        self.write.next = self.sink.valid.val() & (self.held.val() != 8);
        self.verdict.next = self.sink.payload.val().verdict;
        self.fields.next = self.verdict.val().fields;
        self.asks.write_address.next = bit_cast::<3, 4>(self.write_pointer.q.val());
        self.asks.write_data.next.wanted = self.sink.payload.val().wanted;
        self.asks.write_data.next.flow = self.fields.val().flow;
        self.asks.write_data.next.index = self.fields.val().segment_index;
        self.asks.write_enable.next = self.write.val();
        self.ranges.write_address.next = bit_cast::<3, 4>(self.write_pointer.q.val());
        self.ranges.write_data.next = self.sink.payload.val();
        self.ranges.write_enable.next = self.write.val();
        if self.write.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }

        self.asks.read_address.next = bit_cast::<3, 4>(self.ask_pointer.q.val());
        self.ask.next = self.asks.read_data.val();
        self.ask_valid.next = self.ask_pointer.q.val() != self.write_pointer.q.val();
        if self.ask_next.val() {
            self.ask_pointer.d.next = self.ask_pointer.q.val() + 1;
        }

        self.ranges.read_address.next = bit_cast::<3, 4>(self.judge_pointer.q.val());
        self.judge.next = self.ranges.read_data.val();
        self.judge_valid.next = self.judge_pointer.q.val() != self.ask_pointer.q.val();
        self.judge_after.next = self.judge_pointer.q.val() + 1;
        if self.judge_next.val() {
            self.judge_pointer.d.next = self.judge_after.val();
        }
        if self.rewind.val() {
            self.ask_pointer.d.next = self.judge_after.val();
        }
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.ask_pointer.d.next = 0.into();
            self.judge_pointer.d.next = 0.into();
        }
    }
}
