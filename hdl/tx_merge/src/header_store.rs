//! Holds the header templates of the descriptors under way: 256 beats.
//!
//! ```text
//!  sink ──►│ later descriptors │ beats of the oldest: 0, 1, ... │ freed_beats
//!                              read_beat ──► memory ──► register ──► data
//! ```
//! Timing: one beat a cycle in and out; `data` comes two cycles after `read_beat`. `sink.ready` is
//! a register: it falls while one beat, which may come meanwhile, still fits.
//!
//! Invariants:
//! 1. A beat stays until it is released, however often it was read.

use stream::prelude::*;

/// Most beats held when another one is let in: it shows a cycle later, when one more may be here.
const BEATS_MAX: u64 = 255;

/// The store. See the module's head.
#[derive(LogicBlock)]
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
    /// Beats of the oldest template that are not needed any more, after this cycle's read.
    pub freed_beats: Signal<In, Bits<3>>,

    memory: BlockRam<Bits<512>, 8>,
    read: DFF<Bits<512>>,
    write_pointer: DFF<Bits<9>>,
    read_pointer: DFF<Bits<9>>,

    has_room: DFF<Bit>,

    held: Signal<Local, Bits<9>>,
    beats_max: Constant<Bits<9>>,
}

impl Default for HeaderStore {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sink: Default::default(),
            read_beat: Default::default(),
            data: Default::default(),
            freed_beats: Default::default(),
            memory: Default::default(),
            read: Default::default(),
            write_pointer: Default::default(),
            read_pointer: Default::default(),
            has_room: Default::default(),
            held: Default::default(),
            beats_max: Constant::new(BEATS_MAX.to_bits()),
        }
    }
}

impl Logic for HeaderStore {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, read, write_pointer, read_pointer, has_room);
        self.memory.clock.next = self.clock.val();
        self.held.next = self.write_pointer.q.val() - self.read_pointer.q.val();
        self.has_room.d.next = self.held.val() < self.beats_max.val();
        self.sink.ready.next = self.has_room.q.val();
        self.memory.write_address.next = bit_cast::<8, 9>(self.write_pointer.q.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.sink.valid.val() & self.has_room.q.val();
        if self.sink.valid.val() & self.has_room.q.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }

        self.memory.read_address.next =
            bit_cast::<8, 9>(self.read_pointer.q.val()) + bit_cast::<8, 2>(self.read_beat.val());
        self.read.d.next = self.memory.read_data.val();
        self.data.next = self.read.q.val();
        self.read_pointer.d.next =
            self.read_pointer.q.val() + bit_cast::<9, 3>(self.freed_beats.val());
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.has_room.d.next = false;
        }
    }
}
