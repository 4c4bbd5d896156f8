//! Takes send descriptors over from the ring: checked fields, the header, and the numbers in it.
//!
//! ```text
//!  descriptor_fetch ─┐   ┌────────────┐──► fields
//!  descriptors ──────┴──►│ shift by   │──► header
//!  settings ────────────►│ 32 bytes   │──► numbers
//!                        └────────────┘──► taken
//! ```
//! Timing: one beat per cycle, so a descriptor of n beats takes n cycles. Its fields leave the
//! cycle after its last beat, its numbers two cycles later. `header` follows `descriptors`, and
//! `descriptors.ready` follows `header.ready`, in the same cycle.
//!
//! Invariants:
//! 1. Nothing is taken while the send direction is stopped; a descriptor begun is taken to its end.
//! 2. The fields of a descriptor come no earlier than the last of its header beats.
//! 3. `fields` and `header` go to memories: an offer that is not taken is withdrawn when the space
//!    for numbers ends.
//!
//! On error: a packet with `abort` is passed on as `unread`, and none of its slots becomes free. A
//! descriptor that fails its checks is passed on as `malformed`.
//!
//! Source: docs/specification.md, Descriptors; Descriptor checks.

pub mod descriptor_check;
pub mod descriptor_control;
pub mod descriptor_numbers;
pub mod fetch_holder;
pub mod layers_check;
pub mod send_switch;
pub mod window_take;

use crate::descriptor::descriptor_check::DescriptorCheck;
use crate::descriptor::descriptor_control::DescriptorControl;
use crate::descriptor::descriptor_numbers::DescriptorNumbers;
use crate::descriptor::fetch_holder::FetchHolder;
use crate::descriptor::send_switch::SendSwitch;
use crate::messages::{HeaderLayout, HeaderNumbers, SendFields};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Descriptor {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the descriptor under way and all numbers, and stops the send direction.
    pub reset: Signal<In, Bit>,

    /// Register writes; bit 1 of `CONTROL` starts and stops the send direction.
    pub settings: PulseSink<RegisterWrite>,
    /// The wire is down, and software asked for sends to fail then.
    pub sends_fail: Signal<In, Bit>,
    /// Owner and index of the next descriptor, no later than its packet's first beat.
    pub descriptor_fetch: MessageSink<RingFetch>,
    /// Descriptors as packets of 2 or 4 beats.
    pub descriptors: PacketSink,
    /// Owner, and the index after the descriptor: its slots are free.
    pub taken: PulseSource<RingFetch>,

    /// Checked fields, one message for each descriptor.
    pub fields: MessageSource<SendFields>,
    /// Header beats of each descriptor: as many as `header_bytes` needs, 1 to 4.
    pub header: MessageSource<Bits<512>>,
    /// Numbers in the header, one message for each descriptor.
    pub numbers: MessageSource<HeaderNumbers>,

    check: DescriptorCheck,
    control: DescriptorControl,
    capture: DescriptorNumbers,
    fetch: FetchHolder,
    switch: SendSwitch,
    unread: DFF<Bit>,
    has_places: DFF<Bit>,
    metadata: DFF<Bits<256>>,
    upper: DFF<Bits<256>>,

    layout: Signal<Local, HeaderLayout>,
    header_beat: Signal<Local, Bits<512>>,
}

impl Logic for Descriptor {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, unread, has_places, metadata, upper);
        clock!(self, clock, fetch, switch, control, capture, check);
        self.fetch.reset.next = self.reset.val();
        self.switch.reset.next = self.reset.val();
        self.control.reset.next = self.reset.val();
        self.capture.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.switch.settings);
        MessageSource::<HeaderNumbers>::link(&mut self.numbers, &mut self.capture.numbers);

        // Beats in.
        MessageSink::<RingFetch>::link(
            &mut self.descriptor_fetch,
            &mut self.fetch.descriptor_fetch,
        );
        self.fetch.running.next = self.switch.running.val();
        self.fetch.take.next = self.control.first.val();
        self.control.may_begin.next = self.switch.running.val();
        self.control.beat_valid.next = self.descriptors.valid.val();
        self.control.beat_last.next = self.descriptors.last.val();
        self.descriptors.ready.next = self.control.beat_ready.val();
        if self.control.first.val() {
            self.metadata.d.next = self.descriptors.data.val().get_bits::<256>(0);
        }
        if self.control.first.val() | self.control.body.val() {
            self.upper.d.next = self.descriptors.data.val().get_bits::<256>(256);
        }
        if self.control.body.val() {
            self.unread.d.next = self.descriptors.abort.val();
        }

        // The header lies 32 bytes into the packet.
        self.layout.next = self.check.header.val();
        self.control.header_bytes.next = self.layout.val().header_bytes;
        self.control.header_ready.next = self.header.ready.val();
        self.header_beat.next =
            bit_cast::<512, 256>(self.upper.q.val()) | (self.descriptors.data.val() << 256);
        self.header.valid.next = self.control.header_valid.val();
        self.header.payload.next = self.header_beat.val();
        self.capture.valid.next = self.control.header_valid.val() & self.header.ready.val();
        self.capture.beat.next = self.control.header_beat.val();
        self.capture.data.next = self.header_beat.val();
        self.capture.layout.next = self.layout.val();
        self.capture.close.next = self.control.close.val();

        // The end: fields, numbers, and the slots are free.
        self.check.metadata.next = self.metadata.q.val();
        self.check.owner.next = self.fetch.fetch.val().owner;
        self.check.unread.next = self.unread.q.val();
        self.check.sends_fail.next = self.sends_fail.val();
        self.check.template_beats.next = self.control.template_beats.val();
        // A descriptor takes two beats at least: what the one before it took shows by then.
        self.has_places.d.next = self.fields.ready.val() & self.capture.has_space.val();
        self.control.fields_ready.next = self.has_places.q.val();
        self.fields.valid.next = self.control.close.val();
        self.fields.payload.next = self.check.fields.val();
        self.taken.valid.next = self.control.close.val() & !self.unread.q.val();
        self.taken.payload.next.owner = self.fetch.fetch.val().owner;
        self.taken.payload.next.index = self.fetch.fetch.val().index + 1;
        if self.check.two_slots.val() {
            self.taken.payload.next.index = self.fetch.fetch.val().index + 2;
        }
    }
}
