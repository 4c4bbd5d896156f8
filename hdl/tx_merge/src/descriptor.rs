//! Takes send descriptors over from the ring: checked fields and the header, both queued.
//!
//! ```text
//!  descriptor_fetch ─┐   ┌────────────┐──► fields
//!  descriptors ──────┴──►│ shift by   │──► header
//!  settings ────────────►│ 32 bytes   │──► taken
//!                        └────────────┘
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `settings` | in | pulse | register writes; `CONTROL` bit 1 starts and stops |
//! | `descriptor_fetch` | in | message | owner and index, one before each packet |
//! | `descriptors` | in | packet | 2 or 4 beats |
//! | `taken` | out | pulse | owner and the index behind the descriptor: its slots are free |
//! | `fields`, `header` | out | message | one, and 2 or 4, for each descriptor |
//!
//! Timing: a descriptor of n beats takes n + 2 cycles.
//!
//! Invariants:
//! 1. Nothing is taken while the send direction is stopped; a descriptor begun is taken to its end.
//! 2. The fields of a descriptor go with the last of its header beats.
//! 3. A packet with `abort`, or of one beat, is passed on as `unread`.

use crate::descriptor_check::DescriptorCheck;
use crate::plan::{HeaderBeat, SendFields};
use crate::send_switch::SendSwitch;
use stream::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    First,
    Body,
    Tail,
}

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Descriptor {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything and stops.
    pub reset: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Whose descriptor follows.
    pub descriptor_fetch: MessageSink<RingFetch>,
    /// The descriptors.
    pub descriptors: PacketSink,
    /// Slots that are free.
    pub taken: PulseSource<RingFetch>,

    /// Fields of each descriptor.
    pub fields: MessageSource<SendFields>,
    /// Header beats of each descriptor.
    pub header: MessageSource<HeaderBeat>,

    check: DescriptorCheck,
    switch: SendSwitch,
    state: DFF<State>,
    unread: DFF<Bit>,
    metadata: DFF<Bits<256>>,
    upper: DFF<Bits<256>>,

    fetch: DFF<RingFetch>,
    fetch_held: DFF<Bit>,

    took: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    finish: Signal<Local, Bit>,
}

impl Logic for Descriptor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, unread, metadata, upper, fetch, fetch_held);
        self.switch.clock.next = self.clock.val();
        self.switch.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.switch.settings);
        self.check.metadata.next = self.metadata.q.val();
        self.check.owner.next = self.fetch.q.val().owner;
        self.check.unread.next = self.unread.q.val();

        // The owner comes first.
        self.descriptor_fetch.ready.next = self.switch.running.val() & !self.fetch_held.q.val();
        if self.descriptor_fetch.valid.val() & self.switch.running.val() & !self.fetch_held.q.val()
        {
            self.fetch.d.next = self.descriptor_fetch.payload.val();
            self.fetch_held.d.next = true;
        }

        // The header lies 32 bytes into the packet.
        self.header.valid.next = false;
        self.header.payload.next.data =
            bit_cast::<512, 256>(self.upper.q.val()) | (self.descriptors.data.val() << 256);
        self.header.payload.next.last = false;
        self.finish.next = false;
        self.take.next = false;
        match self.state.q.val() {
            // Waits for the first beat, which holds the metadata.
            State::First => {
                self.take.next = self.fetch_held.q.val();
            }
            // Passes a header beat for each further beat.
            State::Body => {
                self.take.next = self.header.ready.val();
                self.header.valid.next = self.descriptors.valid.val();
            }
            // Passes the last half beat of the header, then the fields.
            State::Tail => {
                self.header.payload.next.data = bit_cast::<512, 256>(self.upper.q.val());
                self.header.payload.next.last = true;
                self.header.valid.next = self.fields.ready.val();
                self.finish.next = self.fields.ready.val() & self.header.ready.val();
            }
        }
        self.descriptors.ready.next = self.take.val();
        self.took.next = self.take.val() & self.descriptors.valid.val();
        if self.took.val() {
            self.upper.d.next = self.descriptors.data.val().get_bits::<256>(256);
            self.state.d.next = State::Body;
            if self.state.q.val() == State::First {
                self.metadata.d.next = self.descriptors.data.val().get_bits::<256>(0);
            }
            if self.descriptors.last.val() {
                self.unread.d.next =
                    self.descriptors.abort.val() | (self.state.q.val() == State::First);
                self.state.d.next = State::Tail;
            }
        }
        self.fields.valid.next = self.finish.val();
        self.fields.payload.next = self.check.fields.val();
        self.taken.valid.next = self.finish.val();
        self.taken.payload.next.owner = self.fetch.q.val().owner;
        self.taken.payload.next.index = self.fetch.q.val().index + 1;
        if self.check.two_slots.val() {
            self.taken.payload.next.index = self.fetch.q.val().index + 2;
        }
        if self.reset.val() | self.finish.val() {
            self.state.d.next = State::First;
            self.fetch_held.d.next = false;
        }
    }
}
