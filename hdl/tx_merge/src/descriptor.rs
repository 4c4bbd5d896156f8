//! Takes send descriptors over from the ring: checked fields and the header, both queued.
//!
//! ```text
//!  descriptor_fetch ─┐   ┌────────────┐──► fields   (queue of 8)
//!  descriptors ──────┴──►│ shift by   │──► header   (queue of 32 beats)
//!  settings ────────────►│ 32 bytes   │──► taken
//!                        └────────────┘
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `settings` | in | pulse | register writes; `CONTROL` bit 1 starts and stops |
//! | `descriptor_fetch` | in | message | owner and index, one before each packet |
//! | `descriptors` | in | packet | 2 or 4 beats |
//! | `taken` | out | pulse | owner and the index behind the descriptor: its slots are free |
//! | `fields`, `header` | out | message | one of the former, 2 or 4 of the latter, for each descriptor |
//!
//! Timing: a descriptor of n beats takes n + 1 cycles.
//!
//! Invariants:
//! 1. Nothing is taken while the send direction is stopped; a descriptor begun is taken to its end.
//! 2. Header beats of a descriptor are complete in the queue when its fields appear.
//! 3. A packet with `abort` is passed on as `unread`.

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

    fields_queue: Fifo<SendFields, 3, 4>,
    header_queue: Fifo<HeaderBeat, 5, 6>,
    check: DescriptorCheck,
    switch: SendSwitch,
    state: DFF<State>,
    unread: DFF<Bit>,
    metadata: DFF<Bits<256>>,
    upper: DFF<Bits<256>>,

    beat: Signal<Local, HeaderBeat>,
    push: Signal<Local, Bit>,
    finish: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
}

impl Logic for Descriptor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, unread, metadata, upper);
        self.switch.clock.next = self.clock.val();
        self.switch.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.switch.settings);
        self.fields_queue.clock.next = self.clock.val();
        self.fields_queue.reset.next = self.reset.val();
        self.header_queue.clock.next = self.clock.val();
        self.header_queue.reset.next = self.reset.val();
        MessageSource::<SendFields>::link(&mut self.fields, &mut self.fields_queue.source);
        MessageSource::<HeaderBeat>::link(&mut self.header, &mut self.header_queue.source);

        // Fields come from the registered metadata; the header lies 32 bytes into the packet.
        self.check.metadata.next = self.metadata.q.val();
        self.check.owner.next = self.descriptor_fetch.payload.val().owner;
        self.check.unread.next = self.unread.q.val();
        self.beat.next.data =
            bit_cast::<512, 256>(self.upper.q.val()) | (self.descriptors.data.val() << 256);
        self.beat.next.last = false;
        self.push.next = false;
        self.finish.next = false;
        self.take.next = false;

        match self.state.q.val() {
            // Waits for the first beat, which holds the metadata.
            State::First => {
                self.take.next = self.switch.running.val() & self.descriptor_fetch.valid.val();
                if self.take.val() & self.descriptors.valid.val() {
                    self.metadata.d.next = self.descriptors.data.val().get_bits::<256>(0);
                    self.unread.d.next = self.descriptors.last.val();
                    self.state.d.next = State::Body;
                    if self.descriptors.last.val() {
                        self.state.d.next = State::Tail;
                    }
                }
            }
            // Passes a header beat for each further beat.
            State::Body => {
                self.take.next = self.header_queue.sink.ready.val();
                self.push.next = self.descriptors.valid.val();
                if self.take.val() & self.descriptors.valid.val() & self.descriptors.last.val() {
                    self.unread.d.next = self.descriptors.abort.val();
                    self.state.d.next = State::Tail;
                }
            }
            // Passes the last half beat of the header, then the fields.
            State::Tail => {
                self.beat.next.data = bit_cast::<512, 256>(self.upper.q.val());
                self.beat.next.last = true;
                self.finish.next =
                    self.header_queue.sink.ready.val() & self.fields_queue.sink.ready.val();
                self.push.next = self.finish.val();
                if self.finish.val() {
                    self.state.d.next = State::First;
                }
            }
        }
        if self.take.val() & self.descriptors.valid.val() {
            self.upper.d.next = self.descriptors.data.val().get_bits::<256>(256);
        }
        self.descriptors.ready.next = self.take.val();
        self.descriptor_fetch.ready.next = self.finish.val();
        self.header_queue.sink.valid.next = self.push.val();
        self.header_queue.sink.payload.next = self.beat.val();
        self.fields_queue.sink.valid.next = self.finish.val();
        self.fields_queue.sink.payload.next = self.check.fields.val();

        self.taken.valid.next = self.finish.val();
        self.taken.payload.next.owner = self.descriptor_fetch.payload.val().owner;
        self.taken.payload.next.index = self.descriptor_fetch.payload.val().index + 1;
        if self.check.two_slots.val() {
            self.taken.payload.next.index = self.descriptor_fetch.payload.val().index + 2;
        }

        if self.reset.val() {
            self.state.d.next = State::First;
        }
    }
}
