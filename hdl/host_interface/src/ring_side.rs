//! Everything that moves along a ring in host memory: commands in, descriptors in, completions out.
//!
//! ```text
//!  command_job, command_data ◄─► command_ring ──► command_fetch, commands
//!  send_ring_job, send_ring_data ◄─► pushed_slot ◄─► send_ring ─► splitter, failures
//!                         pushed ──────┘      descriptor_fetch, descriptors ◄┘
//!  confirmation ─► completion ─┐
//!  taken ─► send_status ───────┴─► write_mux ──► completion_job, completion_data
//! ```
//! Only instances and joins; one owner's bit is picked from the sets of stopped rings.
//!
//! Timing: that of the blocks; `status` is combinational from `status_owner`.
//!
//! Invariants: those of the blocks. They rely on read data that come for jobs in flight alone.
//!
//! On error: a ring whose fetch failed stops; see [`crate::ring`].
//!
//! Source: `docs/specification.md`, Rings.

use crate::completion::CompletionWriter;
use crate::ring::pushed_slot::PushedSlot;
use crate::ring::ring_state::{COMMAND_RING, SEND_RING};
use crate::ring::send_status::SendStatus;
use crate::ring::slot_failure::SlotFailure;
use crate::ring::slot_splitter::SlotSplitter;
use crate::ring::Ring;
use crate::small_write::SmallWrite;
use crate::write_mux::WriteMux;
use stream::prelude::*;

/// The rings of `OWNERS` = 2^`OWNER_BITS` owners. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RingSide<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An epoch begins: every ring is disabled, and all fetches, confirmations and pushed slots are
    /// forgotten.
    pub reset: Signal<In, Bit>,
    /// Current epoch, written into completion entries.
    pub epoch: Signal<In, Bits<16>>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Halves of send slots that software pushes with its doorbell.
    pub pushed: PulseSink<PushedLine>,

    /// Reads of command rings.
    pub command_job: MessageSource<ReadJob>,
    /// Read data of command rings.
    pub command_data: PacketSink,
    /// Reads of send rings.
    pub send_ring_job: MessageSource<ReadJob>,
    /// Read data of send rings.
    pub send_ring_data: PacketSink,
    /// Writes of completion entries and send status.
    pub completion_job: MessageSource<WriteJob>,
    /// Data of `completion_job`, one beat each.
    pub completion_data: PacketSource,
    /// Owner, and commands of it that are confirmed, after the entry's write job was accepted.
    pub confirmed: PulseSource<RingFetch>,
    /// Owner, and consumer index of its send ring, after the index's write job was accepted.
    pub reported: PulseSource<RingFetch>,

    /// Owner and first index of the commands that follow on `commands`.
    pub command_fetch: MessageSource<RingFetch>,
    /// Entries of command rings, one beat each.
    pub commands: PacketSource,
    /// Owner and first slot index of the descriptor that follows on `descriptors`.
    pub descriptor_fetch: MessageSource<RingFetch>,
    /// Send descriptors: 2 beats, or 4 for two slots; aborted when its ring stopped.
    pub descriptors: PacketSource,
    /// Confirmations whose fence has passed.
    pub confirmation: MessageSink<Confirmation>,
    /// Owner, and the slot index after a send descriptor that was taken over.
    pub taken: PulseSink<RingFetch>,
    /// A command ring stopped (one cycle).
    pub command_failed: Signal<Out, Bit>,
    /// A send ring stopped (one cycle).
    pub send_failed: Signal<Out, Bit>,
    /// A fetch was served from a pushed slot, without a read (one cycle).
    pub slot_served: Signal<Out, Bit>,
    /// Owner whose `status` is requested.
    pub status_owner: Signal<In, Bits<8>>,
    /// Rings of `status_owner` that have stopped: bit 0 commands, bit 1 sends.
    pub status: Signal<Out, Bits<2>>,

    #[value(Ring::new(COMMAND_RING))]
    command_ring: Ring<OWNER_BITS, OWNERS>,
    #[value(Ring::new(SEND_RING))]
    send_ring: Ring<OWNER_BITS, OWNERS>,
    pushed_slot: PushedSlot<OWNER_BITS>,
    splitter: SlotSplitter<OWNER_BITS, OWNERS>,
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
        clock!(self, clock, command_ring, send_ring, pushed_slot, splitter);
        clock!(self, clock, failures, completion, send_status, write_mux);
        self.command_ring.reset.next = self.reset.val();
        self.send_ring.reset.next = self.reset.val();
        self.pushed_slot.reset.next = self.reset.val();
        self.splitter.reset.next = self.reset.val();
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
        PacketSource::join(&mut self.pushed_slot.ring_data, &mut self.send_ring.read_data);
        MessageSource::<ReadJob>::link(&mut self.send_ring_job, &mut self.pushed_slot.read_job);
        PacketSink::link(&mut self.send_ring_data, &mut self.pushed_slot.read_data);
        self.slot_served.next = self.pushed_slot.served.val();
        MessageSource::<RingFetch>::join(&mut self.send_ring.fetched, &mut self.splitter.fetched);
        PacketSource::join(&mut self.send_ring.entries, &mut self.splitter.entries);
        PulseSource::<Bits<8>>::join(
            &mut self.send_ring.ring_failed,
            &mut self.failures.ring_failed,
        );
        MessageSource::<RingFetch>::join(
            &mut self.splitter.descriptor_fetch,
            &mut self.failures.slots_fetch,
        );
        PacketSource::join(&mut self.splitter.descriptor, &mut self.failures.slots);
        MessageSource::<RingFetch>::link(
            &mut self.descriptor_fetch,
            &mut self.failures.descriptor_fetch,
        );
        PacketSource::link(&mut self.descriptors, &mut self.failures.descriptor);

        self.owner.next = bit_cast::<OWNER_BITS, 8>(self.status_owner.val());
        self.command_stopped.next =
            self.command_ring.stopped.val().get_bit(self.owner.val().index());
        self.send_stopped.next = self.send_ring.stopped.val().get_bit(self.owner.val().index());
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
        PulseSource::<RingFetch>::link(&mut self.confirmed, &mut self.write_mux.confirmed);
        PulseSource::<RingFetch>::link(&mut self.reported, &mut self.write_mux.reported);
        MessageSource::<WriteJob>::link(&mut self.completion_job, &mut self.write_mux.write_job);
        PacketSource::link(&mut self.completion_data, &mut self.write_mux.write_data);
    }
}
