//! Decides when an owner may be interrupted: moderation by time and by count.
//!
//! ```text
//!  INTERRUPT_INTERVAL, INTERRUPT_ENTRIES ──► compare with the time since `fired` and with `unseen`
//! ```
//! Timing: each `due` is combinational from its `unseen`, and holds one cycle after `scan` came,
//! while it stays.
//!
//! Invariants:
//! 1. Two interrupts of an owner are at least the interval apart, unless the entries unseen reach
//!    the count (0: never). The first one does not wait.
//! 2. An owner without an interrupt for 2^32 cycles or more may wait one interval too long.
//!
//! Source: `abi::registers::INTERRUPT_INTERVAL`, `INTERRUPT_ENTRIES`.

use crate::owner::owner_set::OwnerSet;
use abi::registers;
use stream::prelude::*;

/// The moderation. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct InterruptPace<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// No owner has been interrupted yet. Interval and count are kept.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,

    /// Owner whose state is requested.
    pub scan: Signal<In, Bits<OWNER_BITS>>,
    /// Entries of a ring that the owner of `scan` has not seen; not 0. Header queue, confirmations,
    /// send status.
    pub unseen: [Signal<In, Bits<32>>; 3],
    /// The owner of `scan` may be interrupted because of that ring.
    pub due: [Signal<Out, Bit>; 3],
    /// The owner of `scan` is interrupted in this cycle.
    pub fired: Signal<In, Bit>,

    now: DFF<Bits<32>>,
    interval: DFF<Bits<32>>,
    entries: DFF<Bits<32>>,
    last: LutRam<Bits<32>, OWNER_BITS>,
    has_fired: OwnerSet<OWNER_BITS, OWNERS>,
    passed: DFF<Bits<32>>,
    first: DFF<Bit>,

    address: Signal<Local, Bits<24>>,
    counts: Signal<Local, Bit>,
    rests: Signal<Local, Bit>,
    #[value(u64::from(registers::INTERRUPT_INTERVAL))]
    interval_address: Constant<Bits<24>>,
    #[value(u64::from(registers::INTERRUPT_ENTRIES))]
    entries_address: Constant<Bits<24>>,
    #[value(1)]
    one: Constant<Bits<32>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for InterruptPace<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, now, interval, entries, passed, first);
        clock!(self, clock, last, has_fired);
        self.has_fired.reset.next = self.reset.val();

        self.now.d.next = self.now.q.val() + self.one.val();
        self.address.next = self.settings.payload.val().address;
        if self.settings.valid.val() & (self.address.val() == self.interval_address.val()) {
            self.interval.d.next = self.settings.payload.val().data;
        }
        if self.settings.valid.val() & (self.address.val() == self.entries_address.val()) {
            self.entries.d.next = self.settings.payload.val().data;
        }

        self.last.write_address.next = self.scan.val();
        self.last.write_data.next = self.now.q.val();
        self.last.write_enable.next = self.fired.val();
        self.has_fired.add.next = self.fired.val();
        self.has_fired.add_owner.next = self.scan.val();
        self.has_fired.remove.next = false;
        self.has_fired.remove_owner.next = self.scan.val();

        self.last.read_address.next = self.scan.val();
        self.passed.d.next = self.now.q.val() - self.last.read_data.val();
        self.first.d.next = !self.has_fired.members.val().get_bit(self.scan.val().index());
        self.counts.next = self.entries.q.val() != bits::<32>(0);
        self.rests.next = (self.passed.q.val() >= self.interval.q.val()) | self.first.q.val();
        for ring in 0..3 {
            self.due[ring].next = self.rests.val()
                | (self.counts.val() & (self.unseen[ring].val() >= self.entries.q.val()));
        }
    }
}
