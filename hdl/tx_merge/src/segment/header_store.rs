//! Holds the header templates of the descriptors under way: 256 beats.
//!
//! ```text
//!  sink ──►│ later descriptors │ beats of the oldest: 0, 1, ... │ frees
//!                              read_beat ──► memory ──► data
//! ```
//! Timing: one beat a cycle in and out; `data` comes two cycles after `read_beat`. `sink.ready` is
//! a register: it falls while one beat, which may come meanwhile, still fits.
//!
//! Invariants:
//! 1. A beat stays until it is released, however often it was read.

use stream::prelude::*;

/// The store. See the module's head.
#[derive(LogicBlock, Default)]
pub struct HeaderStore {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Beats of templates.
    pub sink: MessageSink<Bits<512>>,
    /// Beat of the oldest template to read.
    pub read_beat: Signal<In, Bits<2>>,
    /// That beat, two cycles later.
    pub data: Signal<Out, Bits<512>>,
    /// The oldest template is not needed any more, after this cycle's read.
    pub frees: Signal<In, Bit>,
    /// Its beats.
    pub freed_beats: Signal<In, Bits<3>>,

    memory: BlockRam<Bits<512>, 8>,
    write_pointer: DFF<Bits<9>>,
    read_pointer: DFF<Bits<9>>,

    has_room: DFF<Bit>,

    held: Signal<Local, Bits<9>>,
    behind: Signal<Local, Bits<9>>,
}

impl Logic for HeaderStore {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, read_pointer, has_room);
        clock!(self, clock, memory);
        self.held.next = self.write_pointer.q.val() - self.read_pointer.q.val();
        // One more may come before it shows here.
        self.has_room.d.next = self.held.val() < 255;
        self.sink.ready.next = self.has_room.q.val();
        self.memory.write_address.next = bit_cast::<8, 9>(self.write_pointer.q.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.sink.valid.val() & self.has_room.q.val();
        if self.sink.valid.val() & self.has_room.q.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }

        self.memory.read_enable.next = true;
        self.memory.register_enable.next = true;
        self.memory.read_address.next =
            bit_cast::<8, 9>(self.read_pointer.q.val()) + bit_cast::<8, 2>(self.read_beat.val());
        self.data.next = self.memory.read_data.val();
        // The sum is there before it is known whether it is wanted.
        self.behind.next = self.read_pointer.q.val() + bit_cast::<9, 3>(self.freed_beats.val());
        if self.frees.val() {
            self.read_pointer.d.next = self.behind.val();
        }
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.has_room.d.next = false;
        }
    }
}
