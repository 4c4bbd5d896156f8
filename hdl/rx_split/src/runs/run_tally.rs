//! Counts the packets of open runs, for those that an epoch forgets.
//!
//! Timing: a forgotten packet per cycle from the cycle after `reset` on.
//!
//! Invariants:
//! 1. Every packet that opened or joined a run is of one that ended, of an open one, or forgotten.

use stream::prelude::*;

/// The tally. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunTally {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets of open runs become forgotten ones.
    pub reset: Signal<In, Bit>,

    /// A packet opens a run.
    pub opens: Signal<In, Bit>,
    /// A packet joins a run.
    pub joins: Signal<In, Bit>,
    /// A run ends: one that was open before.
    pub ends: Signal<In, Bit>,
    /// Packets of that run before this cycle.
    pub packets: Signal<In, Bits<7>>,
    /// A packet is forgotten (one cycle each).
    pub forgotten: Signal<Out, Bit>,

    came: DFF<Bit>,
    ended: DFF<Bits<7>>,
    open: DFF<Bits<12>>,
    rest: DFF<Bits<12>>,

    left: Signal<Local, Bits<12>>,
    gone: Signal<Local, Bits<7>>,
    #[value(1)]
    one: Constant<Bits<12>>,
}

impl Logic for RunTally {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, came, ended, open, rest);
        self.came.d.next = self.opens.val() | self.joins.val();
        self.gone.next = 0.into();
        if self.ends.val() {
            self.gone.next = self.packets.val() + bit_cast::<7, 1>(self.joins.val().into());
        }
        self.ended.d.next = self.gone.val();
        self.left.next = (self.open.q.val() + bit_cast::<12, 1>(self.came.q.val().into()))
            - bit_cast::<12, 7>(self.ended.q.val());
        self.open.d.next = self.left.val();
        self.forgotten.next = self.rest.q.val().any() & !self.reset.val();
        if self.forgotten.val() {
            self.rest.d.next = self.rest.q.val() - self.one.val();
        }
        if self.reset.val() {
            self.open.d.next = 0.into();
            self.rest.d.next = self.rest.q.val() + self.left.val();
        }
    }
}
