//! Writes the dwords of a memory write to the registers.
//!
//! Timing: the first dword goes out one cycle after `start`, then one a cycle; `done` is high with
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
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Stops.
    pub reset: Signal<In, Bit>,

    /// Begin.
    pub start: Signal<In, Bit>,
    /// The write.
    pub request: Signal<In, HostRequest>,
    /// Byte offset of the first dword.
    pub address: Signal<In, Bits<24>>,
    /// Dwords, 1 to 16.
    pub dwords: Signal<In, Bits<5>>,

    /// Registers written.
    pub register_write: PulseSource<RegisterWrite>,
    /// A dword was ignored.
    pub malformed: Signal<Out, Bit>,
    /// The last dword.
    pub done: Signal<Out, Bit>,

    runs: DFF<Bit>,
    index: DFF<Bits<5>>,
    is_last: DFF<Bit>,
    place_address: DFF<Bits<24>>,

    data: Signal<Local, Bits<512>>,
    index_now: Signal<Local, Bits<5>>,
    index_after: Signal<Local, Bits<5>>,
    enables: Signal<Local, Bits<4>>,
    place: Signal<Local, Bits<9>>,

    #[value(1)]
    one: Constant<Bits<5>>,
    #[value(0)]
    zero: Constant<Bits<5>>,
    #[value(4)]
    dword_bytes: Constant<Bits<24>>,
    #[value(0)]
    none: Constant<Bits<32>>,
    #[value(0)]
    none_enabled: Constant<Bits<4>>,
    #[value(0xf)]
    all_enabled: Constant<Bits<4>>,
}

impl Logic for CompleterWrite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, runs, index, is_last, place_address);
        self.data.next = self.request.val().data;
        self.place.next = bit_cast::<9, 5>(self.index.q.val()) << 5;
        self.enables.next = self.all_enabled.val();
        if self.index.q.val() == self.zero.val() {
            self.enables.next = self.request.val().first_be;
        } else if self.is_last.q.val() {
            self.enables.next = self.request.val().last_be;
        }

        self.register_write.valid.next =
            self.runs.q.val() & (self.enables.val() == self.all_enabled.val());
        self.register_write.payload.next.address = self.place_address.q.val();
        self.register_write.payload.next.data = self.none.val();
        if self.runs.q.val() {
            self.register_write.payload.next.data =
                self.data.val().get_bits::<32>(self.place.val().index());
        }
        self.malformed.next = self.runs.q.val()
            & (self.enables.val() != self.all_enabled.val())
            & (self.enables.val() != self.none_enabled.val());
        self.done.next = self.runs.q.val() & self.is_last.q.val();

        self.index_now.next = self.zero.val();
        if self.runs.q.val() {
            self.index_now.next = self.index.q.val() + self.one.val();
            self.place_address.d.next = self.place_address.q.val() + self.dword_bytes.val();
            self.runs.d.next = !self.is_last.q.val();
        } else {
            self.place_address.d.next = self.address.val();
            self.runs.d.next = self.start.val();
        }
        self.index.d.next = self.index_now.val();
        self.index_after.next = self.index_now.val() + self.one.val();
        self.is_last.d.next = self.index_after.val() == self.dwords.val();
        if self.reset.val() {
            self.runs.d.next = false;
        }
    }
}
