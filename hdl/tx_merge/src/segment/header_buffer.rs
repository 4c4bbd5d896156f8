//! Holds the header templates of the descriptors under way: 256 beats.
//!
//! ```text
//!  sink ──►│ later descriptors │ beats of the oldest: 0, 1, ... │ frees
//!                              read_beat ──► memory ──► data
//! ```
//! Timing: one beat per cycle in and out; `data` comes two cycles after `read_beat`. `sink.ready`
//! is a register: it falls while one beat, which may come meanwhile, still fits.
//!
//! Invariants:
//! 1. A beat stays until its template is freed, however often it was read.

use stream::prelude::*;

/// The buffer. See the module's head.
#[derive(LogicBlock, Default)]
pub struct HeaderBuffer {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Beats of templates, in ring order.
    pub sink: MessageSink<Bits<512>>,
    /// Number of the beat to read, of the oldest template.
    pub read_beat: Signal<In, Bits<2>>,
    /// The beat read, two cycles later.
    pub data: Signal<Out, Bits<512>>,
    /// The oldest template is not needed any more, after this cycle's read.
    pub frees: Signal<In, Bit>,
    /// Beats of the template that `frees` removes.
    pub freed_beats: Signal<In, Bits<3>>,

    memory: BlockRam<Bits<512>, 8>,
    write_pointer: DFF<Bits<9>>,
    read_pointer: DFF<Bits<9>>,

    has_space: DFF<Bit>,

    read_after: Signal<Local, Bits<9>>,
}

impl Logic for HeaderBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, read_pointer, has_space);
        clock!(self, clock, memory);
        // One more may come before it shows here.
        self.has_space.d.next = (self.write_pointer.q.val() - self.read_pointer.q.val()) < 255;
        self.sink.ready.next = self.has_space.q.val();
        self.memory.write_address.next = bit_cast::<8, 9>(self.write_pointer.q.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.sink.valid.val() & self.has_space.q.val();
        if self.sink.valid.val() & self.has_space.q.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }

        self.memory.read_enable.next = true;
        self.memory.register_enable.next = true;
        self.memory.read_address.next =
            bit_cast::<8, 9>(self.read_pointer.q.val()) + bit_cast::<8, 2>(self.read_beat.val());
        self.data.next = self.memory.read_data.val();
        // The sum is there before it is known whether it is wanted.
        self.read_after.next = self.read_pointer.q.val() + bit_cast::<9, 3>(self.freed_beats.val());
        if self.frees.val() {
            self.read_pointer.d.next = self.read_after.val();
        }
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.has_space.d.next = false;
        }
    }
}
