//! Writes the dwords of a memory write to the registers.
//!
//! Timing: the first dword leaves one cycle after `start`, then one per cycle; `done` is high with
//! the last one. `request`, `address` and `dwords` must stay until then.
//!
//! Invariants:
//! 1. A dword with all byte enables is written, one with none is not, one with some raises
//!    `malformed` for a cycle.

use crate::completer::completer_request::HostRequest;
use stream::prelude::*;

/// The writer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompleterWrite {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Stops and forgets the write.
    pub reset: Signal<In, Bit>,

    /// Begin a write.
    pub start: Signal<In, Bit>,
    /// The request that writes.
    pub request: Signal<In, HostRequest>,
    /// Byte offset in BAR 0 of the first dword.
    pub address: Signal<In, Bits<24>>,
    /// Number of dwords, 1 to 16.
    pub dwords: Signal<In, Bits<5>>,

    /// Full dwords that the host wrote, in order.
    pub register_write: PulseSource<RegisterWrite>,
    /// A dword was ignored (one cycle).
    pub malformed: Signal<Out, Bit>,
    /// The last dword is handled in this cycle.
    pub done: Signal<Out, Bit>,

    runs: DFF<Bit>,
    index: DFF<Bits<5>>,
    is_last: DFF<Bit>,
    place_address: DFF<Bits<24>>,

    index_now: Signal<Local, Bits<5>>,
    enables: Signal<Local, Bits<4>>,
    place: Signal<Local, Bits<9>>,

    #[value(1)]
    one: Constant<Bits<5>>,
    #[value(4)]
    dword_bytes: Constant<Bits<24>>,
    #[value(0xf)]
    all_enabled: Constant<Bits<4>>,
}

impl Logic for CompleterWrite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, runs, index, is_last, place_address);
        self.place.next = bit_cast::<9, 5>(self.index.q.val()) << 5;
        self.enables.next = self.all_enabled.val();
        if self.index.q.val() == bits::<5>(0) {
            self.enables.next = self.request.val().first_be;
        } else if self.is_last.q.val() {
            self.enables.next = self.request.val().last_be;
        }

        self.register_write.valid.next =
            self.runs.q.val() & (self.enables.val() == self.all_enabled.val());
        self.register_write.payload.next.address = self.place_address.q.val();
        self.register_write.payload.next.data = 0.into();
        if self.runs.q.val() {
            self.register_write.payload.next.data =
                self.request.val().data.get_bits::<32>(self.place.val().index());
        }
        self.malformed.next = self.runs.q.val()
            & (self.enables.val() != self.all_enabled.val())
            & (self.enables.val() != bits::<4>(0));
        self.done.next = self.runs.q.val() & self.is_last.q.val();

        self.index_now.next = 0.into();
        if self.runs.q.val() {
            self.index_now.next = self.index.q.val() + self.one.val();
            self.place_address.d.next = self.place_address.q.val() + self.dword_bytes.val();
            self.runs.d.next = !self.is_last.q.val();
        } else {
            self.place_address.d.next = self.address.val();
            self.runs.d.next = self.start.val();
        }
        self.index.d.next = self.index_now.val();
        self.is_last.d.next = (self.index_now.val() + self.one.val()) == self.dwords.val();
        if self.reset.val() {
            self.runs.d.next = false;
        }
    }
}
