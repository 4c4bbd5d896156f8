//! Eight 64-bit counters, each with a pulse of its own.
//!
//! ```text
//!  events ──► (register) ──► 8 tallies of 4 bits ──► one per cycle ──► + ──► totals ──► value
//!                                                     8 x 64 bits in LUT RAM
//! ```
//! The register ends the timing paths of the stages that count.
//!
//! Timing: a pulse is in `value` after at most 11 cycles; `value` is combinational from `index`.
//!
//! Invariants:
//! 1. Each cycle with bit i of `events` high adds one to counter i. All eight may count at once. A
//!    tally is emptied every 8 cycles, so it never exceeds 8.
//! 2. Counters start at zero and are never reset.

use stream::prelude::*;

/// The counters. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct EventCounters {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Bit i is high in each cycle that counter i counts.
    pub events: Signal<In, Bits<8>>,
    /// Number of the counter to read.
    pub index: Signal<In, Bits<3>>,
    /// Value of counter `index`.
    pub value: Signal<Out, Bits<64>>,

    seen: DFF<Bits<8>>,
    tally: [DFF<Bits<4>>; 8],
    scan: DFF<Bits<3>>,
    taken: DFF<Bits<4>>,
    taken_index: DFF<Bits<3>>,
    totals: LutRam<Bits<64>, 3>,
    read_copy: LutRam<Bits<64>, 3>,

    sum: Signal<Local, Bits<64>>,
    #[value(|at| at as u64)]
    number: [Constant<Bits<3>>; 8],
    #[value(1)]
    one: Constant<Bits<4>>,
    #[value(1)]
    next: Constant<Bits<3>>,
}

impl Logic for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, seen, scan, taken, taken_index);
        clock!(self, clock, totals, read_copy);

        self.seen.d.next = self.events.val();
        self.scan.d.next = self.scan.q.val() + self.next.val();
        self.taken_index.d.next = self.scan.q.val();
        for i in 0..8 {
            self.tally[i].clock.next = self.clock.val();
            self.tally[i].d.next = self.tally[i].q.val();
            if self.seen.q.val().get_bit(i) {
                self.tally[i].d.next = self.tally[i].q.val() + self.one.val();
            }
            if self.scan.q.val() == self.number[i].val() {
                self.taken.d.next = self.tally[i].q.val();
                self.tally[i].d.next = 0.into();
                if self.seen.q.val().get_bit(i) {
                    self.tally[i].d.next = self.one.val();
                }
            }
        }

        self.totals.read_address.next = self.taken_index.q.val();
        self.sum.next = self.totals.read_data.val() + bit_cast::<64, 4>(self.taken.q.val());
        self.totals.write_address.next = self.taken_index.q.val();
        self.totals.write_data.next = self.sum.val();
        self.totals.write_enable.next = self.taken.q.val().any();
        self.read_copy.write_address.next = self.taken_index.q.val();
        self.read_copy.write_data.next = self.sum.val();
        self.read_copy.write_enable.next = self.taken.q.val().any();
        self.read_copy.read_address.next = self.index.val();
        self.value.next = self.read_copy.read_data.val();
    }
}
