//! Holds the payload of writes until it is sent: 64 beats, read 16 dwords at a time from any dword.
//!
//! ```text
//!   beat ──► even beats ──┐
//!        └─► odd beats ───┴─► window (dword position) ──► dwords     16 of them
//!        └─► first dwords ──► fresh_beat ───────────────► fresh_head  dwords 0 to 3 of a beat
//! ```
//! Timing: a beat can be read in the cycle after it came. Reads are combinational from `window` and
//! `fresh_beat`.
//!
//! Invariants:
//! 1. Beats before the one of the last `window` with `advance` are given up; a beat is never overwritten
//!    before. `window` does not go back.
//! 2. `flush` gives up everything; `hold` refuses beats.

use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct PayloadMemory {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Gives up everything.
    pub flush: Signal<In, Bit>,
    /// Refuses beats.
    pub hold: Signal<In, Bit>,

    /// Beats in.
    pub beat: MessageSink<Bits<512>>,
    /// Beats stored so far, modulo 2^12.
    pub written: Signal<Out, Bits<12>>,

    /// Position of the first dword to read.
    pub window: Signal<In, Bits<16>>,
    /// The dwords from there on.
    pub dwords: Signal<Out, Bits<512>>,
    /// The window's beats before its first dword are no longer needed.
    pub advance: Signal<In, Bit>,
    /// Beat whose first dwords are wanted.
    pub fresh_beat: Signal<In, Bits<6>>,
    /// Dwords 0 to 3 of that beat.
    pub fresh_head: Signal<Out, Bits<128>>,

    even: LutRam<Bits<512>, 5>,
    odd: LutRam<Bits<512>, 5>,
    heads: LutRam<Bits<128>, 6>,
    stored: DFF<Bits<12>>,
    released: DFF<Bits<12>>,

    held: Signal<Local, Bits<12>>,
    has_room: Signal<Local, Bit>,
    store: Signal<Local, Bit>,
    window_beat: Signal<Local, Bits<6>>,
    following: Signal<Local, Bits<6>>,
    shift: Signal<Local, Bits<10>>,
    pair: Signal<Local, Bits<1024>>,
}

impl Logic for PayloadMemory {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stored, released);
        self.even.clock.next = self.clock.val();
        self.odd.clock.next = self.clock.val();
        self.heads.clock.next = self.clock.val();

        self.held.next = self.stored.q.val() - self.released.q.val();
        self.has_room.next = (self.held.val() < 64) & !self.hold.val();
        self.store.next = self.has_room.val() & self.beat.valid.val();
        self.beat.ready.next = self.has_room.val();
        self.written.next = self.stored.q.val();
        self.even.write_address.next = self.stored.q.val().get_bits::<5>(1);
        self.odd.write_address.next = self.stored.q.val().get_bits::<5>(1);
        self.heads.write_address.next = bit_cast::<6, 12>(self.stored.q.val());
        self.even.write_data.next = self.beat.payload.val();
        self.odd.write_data.next = self.beat.payload.val();
        self.heads.write_data.next = bit_cast::<128, 512>(self.beat.payload.val());
        self.even.write_enable.next = self.store.val() & !self.stored.q.val().get_bit(0);
        self.odd.write_enable.next = self.store.val() & self.stored.q.val().get_bit(0);
        self.heads.write_enable.next = self.store.val();
        if self.store.val() {
            self.stored.d.next = self.stored.q.val() + 1;
        }

        // Two neighbouring beats, one of each memory, then the dword where the window begins.
        self.window_beat.next = self.window.val().get_bits::<6>(4);
        self.following.next = self.window_beat.val() + 1;
        self.odd.read_address.next = self.window_beat.val().get_bits::<5>(1);
        self.even.read_address.next = self.following.val().get_bits::<5>(1);
        self.pair.next = bit_cast::<1024, 512>(self.even.read_data.val())
            | (bit_cast::<1024, 512>(self.odd.read_data.val()) << 512);
        if self.window_beat.val().get_bit(0) {
            self.pair.next = bit_cast::<1024, 512>(self.odd.read_data.val())
                | (bit_cast::<1024, 512>(self.even.read_data.val()) << 512);
        }
        self.shift.next = bit_cast::<10, 4>(self.window.val().get_bits::<4>(0)) << 5;
        self.dwords.next = self.pair.val().get_bits::<512>(self.shift.val().index());
        self.heads.read_address.next = self.fresh_beat.val();
        self.fresh_head.next = self.heads.read_data.val();

        if self.advance.val() {
            self.released.d.next = self.window.val().get_bits::<12>(4);
        }
        if self.flush.val() {
            self.released.d.next = self.stored.q.val();
        }
    }
}
