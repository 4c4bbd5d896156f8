//! Everything that moves along a ring in host memory: commands in, descriptors in, completions out.
//!
//! ```text
//!  command_job, command_data ◄─► command_ring ──► command_fetch, commands
//!  send_ring_job, send_ring_data ◄─► pushed_slot ◄─► send_ring ─► slots, failures
//!                         pushed ──────┘      descriptor_fetch, descriptors ◄┘
//!  confirmation ─► completion ─┐
//!  taken ─► send_status ───────┴─► write_mux ──► completion_job, completion_data
//! ```
//! Invariants: those of the blocks. There is no logic here but wires.

use crate::completion::CompletionWriter;
use crate::ring::pushed_slot::PushedSlot;
use crate::ring::ring_state::{COMMAND_RING, SEND_RING};
use crate::ring::send_status::SendStatus;
use crate::ring::slot_failure::SlotFailure;
use crate::ring::slots::SlotSplitter;
use crate::ring::Ring;
use crate::small_write::SmallWrite;
use crate::write_mux::WriteMux;
use stream::prelude::*;

/// The rings of 2^OWNER_BITS owners; OWNERS is that number. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RingSide<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// An epoch begins.
    pub reset: Signal<In, Bit>,
    /// Epoch.
    pub epoch: Signal<In, Bits<16>>,
    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Send slots pushed with their doorbell.
    pub pushed: PulseSink<PushedLine>,

    /// Reads of command rings.
    pub command_job: MessageSource<ReadJob>,
    /// Their answers.
    pub command_data: PacketSink,
    /// Reads of send rings.
    pub send_ring_job: MessageSource<ReadJob>,
    /// Their answers.
    pub send_ring_data: PacketSink,
    /// Writes of completions and send status.
    pub completion_job: MessageSource<WriteJob>,
    /// Their bytes.
    pub completion_data: PacketSource,

    /// Whose commands follow.
    pub command_fetch: MessageSource<RingFetch>,
    /// Commands.
    pub commands: PacketSource,
    /// Whose descriptor follows.
    pub descriptor_fetch: MessageSource<RingFetch>,
    /// Send descriptors.
    pub descriptors: PacketSource,
    /// Commands whose fence has passed.
    pub confirmation: MessageSink<Confirmation>,
    /// Descriptors taken over.
    pub taken: PulseSink<RingFetch>,
    /// A command ring stopped.
    pub command_failed: Signal<Out, Bit>,
    /// A send ring stopped.
    pub send_failed: Signal<Out, Bit>,
    /// A pushed slot spared a read.
    pub slot_served: Signal<Out, Bit>,
    /// Owner to tell of.
    pub status_owner: Signal<In, Bits<8>>,
    /// Its rings that have stopped: commands, sends.
    pub status: Signal<Out, Bits<2>>,

    #[value(Ring::new(COMMAND_RING))]
    command_ring: Ring<OWNER_BITS, OWNERS>,
    #[value(Ring::new(SEND_RING))]
    send_ring: Ring<OWNER_BITS, OWNERS>,
    pushed_slot: PushedSlot<OWNER_BITS>,
    slots: SlotSplitter<OWNER_BITS, OWNERS>,
    failures: SlotFailure,
    completion: CompletionWriter<OWNER_BITS, OWNERS>,
    send_status: SendStatus<OWNER_BITS, OWNERS>,
    write_mux: WriteMux,

    owner: Signal<Local, Bits<OWNER_BITS>>,
    command_stopped: Signal<Local, Bit>,
    send_stopped: Signal<Local, Bit>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for RingSide<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, command_ring, send_ring, pushed_slot, slots);
        clock!(self, clock, failures, completion, send_status, write_mux);
        self.command_ring.reset.next = self.reset.val();
        self.send_ring.reset.next = self.reset.val();
        self.pushed_slot.reset.next = self.reset.val();
        self.slots.reset.next = self.reset.val();
        self.failures.reset.next = self.reset.val();
        self.completion.reset.next = self.reset.val();
        self.send_status.reset.next = self.reset.val();
        self.write_mux.reset.next = self.reset.val();
        self.completion.epoch.next = self.epoch.val();
        self.command_ring.settings.valid.next = self.settings.valid.val();
        self.command_ring.settings.payload.next = self.settings.payload.val();
        self.send_ring.settings.valid.next = self.settings.valid.val();
        self.send_ring.settings.payload.next = self.settings.payload.val();
        self.pushed_slot.settings.valid.next = self.settings.valid.val();
        self.pushed_slot.settings.payload.next = self.settings.payload.val();
        self.completion.settings.valid.next = self.settings.valid.val();
        self.completion.settings.payload.next = self.settings.payload.val();
        self.send_status.settings.valid.next = self.settings.valid.val();
        self.send_status.settings.payload.next = self.settings.payload.val();

        MessageSource::<ReadJob>::link(&mut self.command_job, &mut self.command_ring.read_job);
        PacketSink::link(&mut self.command_data, &mut self.command_ring.read_data);
        MessageSource::<RingFetch>::link(&mut self.command_fetch, &mut self.command_ring.fetched);
        PacketSource::link(&mut self.commands, &mut self.command_ring.entries);

        PulseSink::<PushedLine>::link(&mut self.pushed, &mut self.pushed_slot.pushed);
        MessageSource::<ReadJob>::join(
            &mut self.send_ring.read_job,
            &mut self.pushed_slot.ring_job,
        );
        self.pushed_slot.ring_of.next = self.send_ring.read_of.val();
        PacketSource::join(
            &mut self.pushed_slot.ring_data,
            &mut self.send_ring.read_data,
        );
        MessageSource::<ReadJob>::link(&mut self.send_ring_job, &mut self.pushed_slot.read_job);
        PacketSink::link(&mut self.send_ring_data, &mut self.pushed_slot.read_data);
        self.slot_served.next = self.pushed_slot.served.val();
        MessageSource::<RingFetch>::join(&mut self.send_ring.fetched, &mut self.slots.fetched);
        PacketSource::join(&mut self.send_ring.entries, &mut self.slots.entries);
        PulseSource::<Bits<8>>::join(
            &mut self.send_ring.ring_failed,
            &mut self.failures.ring_failed,
        );
        MessageSource::<RingFetch>::join(
            &mut self.slots.descriptor_fetch,
            &mut self.failures.slots_fetch,
        );
        PacketSource::join(&mut self.slots.descriptor, &mut self.failures.slots);
        MessageSource::<RingFetch>::link(
            &mut self.descriptor_fetch,
            &mut self.failures.descriptor_fetch,
        );
        PacketSource::link(&mut self.descriptors, &mut self.failures.descriptor);

        self.owner.next = bit_cast::<OWNER_BITS, 8>(self.status_owner.val());
        self.command_stopped.next = self
            .command_ring
            .stopped
            .val()
            .get_bit(self.owner.val().index());
        self.send_stopped.next = self
            .send_ring
            .stopped
            .val()
            .get_bit(self.owner.val().index());
        self.status.next = bit_cast::<2, 1>(self.command_stopped.val().into())
            | (bit_cast::<2, 1>(self.send_stopped.val().into()) << 1);
        self.command_failed.next = self.command_ring.ring_failed.valid.val();
        self.send_failed.next = self.send_ring.ring_failed.valid.val();

        MessageSink::<Confirmation>::link(
            &mut self.confirmation,
            &mut self.completion.confirmation,
        );
        PulseSink::<RingFetch>::link(&mut self.taken, &mut self.send_status.taken);
        MessageSource::<SmallWrite>::join(
            &mut self.completion.write,
            &mut self.write_mux.completion,
        );
        MessageSource::<SmallWrite>::join(
            &mut self.send_status.write,
            &mut self.write_mux.send_status,
        );
        MessageSource::<WriteJob>::link(&mut self.completion_job, &mut self.write_mux.write_job);
        PacketSource::link(&mut self.completion_data, &mut self.write_mux.write_data);
    }
}
