//! Header entries that wait for flush reads, while everything else goes on.
//!
//! ```text
//!  jobs ─► route ─┬─► routed ─► (copy engine) ─► hold, hold_beat ─► hold memory ─┐
//!                 └─► queues 1 to 3, fences ─► release ◄─────────────────────────┘
//!                        ▲ tickets                └─► write_job, write_data, confirmation
//!                     flusher ─► flush_job
//! ```
//! Payload in a memory other than 0 is visible when a flush read that followed it has returned.
//! Until then its header entry is held here, in one queue for each memory, and one flush read
//! releases everything that came before it. Entries that need no flush read pass, except those of
//! an owner of whom something is held: its entries stay in order.
//!
//! Timing: a job passes in the same cycle. A slot leaves eight cycles after its flush read has
//! returned, if it is alone; further ones every five cycles.
//!
//! Invariants:
//! 1. A slot leaves when a flush read of every memory that its payload lies in, started after that
//!    payload, has ended: the slot takes its tickets when it lands in the hold memory, where it
//!    follows the payload.
//! 2. An owner's slots and confirmations leave in order; owner 0's confirmations after everything
//!    that was held before them.
//! 3. There are 63 items per queue and 16 fences. A job that finds its queue full waits, and with
//!    it all later jobs: for one flush read at most.
//! 4. `reset` forgets what is held.
//!
//! On error: a slot whose flush read failed twice leaves with `unflushed` in its metadata.
//!
//! Source: docs/specification.md, Hold; decision 6.

pub mod flush_ticket;
pub mod flusher;
pub mod held_fences;
pub mod held_owners;
pub mod held_queue;
pub mod hold_arbiter;
pub mod hold_release;
pub mod hold_route;
pub mod messages;

use crate::hold::flusher::Flusher;
use crate::hold::held_fences::HeldFences;
use crate::hold::held_owners::HeldOwners;
use crate::hold::held_queue::HeldQueue;
use crate::hold::hold_release::HoldRelease;
use crate::hold::hold_route::HoldRoute;
use crate::messages::CopyJob;
use stream::prelude::*;

/// The hold, for 2^OWNER_BITS owners; OWNERS must be 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Hold<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all that is held is forgotten.
    pub reset: Signal<In, Bit>,

    /// Copy jobs in order.
    pub jobs: MessageSink<CopyJob>,
    /// Jobs for the copy engine: held slots are marked, held confirmations are left out.
    pub routed: MessageSource<CopyJob>,
    /// Owner of the job that is offered in the next cycle, if one is.
    pub next_owner: Signal<In, Bits<8>>,
    /// Something of the owner of the job at hand is held.
    pub owner_holds: Signal<Out, Bit>,
    /// Every routed job was announced.
    pub drained: Signal<In, Bit>,
    /// A beat of a held slot is written to the hold memory.
    pub hold: Signal<In, Bit>,
    /// Place of that beat in the hold memory; bit 0 is set for the last one of its slot.
    pub hold_beat: Signal<In, Bits<9>>,
    /// Beat of a held slot, with `hold`.
    pub hold_data: Signal<In, Bits<512>>,
    /// Memories that its slot waits for, one bit each.
    pub hold_memories: Signal<In, Bits<4>>,
    /// Memory to flush.
    pub memory: Signal<Out, Bits<2>>,
    /// Address of the flush read of `memory`, in the same cycle.
    pub flush_address: Signal<In, Bits<64>>,

    /// Flush reads to `dma.read`.
    pub flush_job: MessageSource<ReadJob>,
    /// Read data of the flush reads, in order.
    pub flush_data: PacketSink,
    /// Write jobs of released slots.
    pub write_job: MessageSource<WriteJob>,
    /// Bytes of released slots.
    pub write_data: PacketSource,
    /// Released confirmations.
    pub confirmation: MessageSource<Confirmation>,
    /// One pulse for each header entry of a released slot that was handed over.
    pub published: PulseSource<RingFetch>,

    route: HoldRoute,
    owners: HeldOwners<OWNER_BITS, OWNERS>,
    queue_1: HeldQueue<1>,
    queue_2: HeldQueue<2>,
    queue_3: HeldQueue<3>,
    fences: HeldFences,
    flusher: Flusher,
    slots: BlockRam<Bits<512>, 9>,
    handout: HoldRelease,

    landed: Signal<Local, Bits<2>>,
    landed_at: Signal<Local, Bits<6>>,
    lands: Signal<Local, Bit>,
    all_if_lands: Signal<Local, Bits<4>>,
    some_held: Signal<Local, Bit>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for Hold<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, owners, queue_1, queue_2, queue_3, fences);
        clock!(self, clock, flusher, slots, handout);
        self.owners.reset.next = self.reset.val();
        self.queue_1.reset.next = self.reset.val();
        self.queue_2.reset.next = self.reset.val();
        self.queue_3.reset.next = self.reset.val();
        self.fences.reset.next = self.reset.val();
        self.flusher.reset.next = self.reset.val();
        self.handout.reset.next = self.reset.val();

        MessageSink::<CopyJob>::link(&mut self.jobs, &mut self.route.jobs);
        MessageSource::<CopyJob>::link(&mut self.routed, &mut self.route.routed);
        self.owners.next_owner.next = self.next_owner.val();
        self.owners.owner.next = self.route.owner.val();
        self.owners.wants.next = self.route.wants.val();
        self.route.owner_holds.next = self.owners.holds.val();
        self.owner_holds.next = self.owners.holds.val();
        self.route.owner_queue.next = self.owners.queue.val();
        self.route.of_owner_0.next = self.owners.is_0.val();
        self.route.drained.next = self.drained.val();
        self.owners.push.next = self.route.push.val().any();
        self.owners.push_queue.next = self.route.push_queue.val();
        self.owners.pop.next = self.handout.pop.val().any();
        self.owners.pop_owner.next = self.handout.popped_owner.val();
        self.route.queue_space.next = (bit_cast::<4, 1>(self.queue_1.has_space.val().into()) << 1)
            | (bit_cast::<4, 1>(self.queue_2.has_space.val().into()) << 2)
            | (bit_cast::<4, 1>(self.queue_3.has_space.val().into()) << 3);
        self.route.places.next = bit_cast::<24, 8>(self.queue_1.at.val())
            | (bit_cast::<24, 8>(self.queue_2.at.val()) << 8)
            | (bit_cast::<24, 8>(self.queue_3.at.val()) << 16);
        self.some_held.next =
            self.queue_1.holds.val() | self.queue_2.holds.val() | self.queue_3.holds.val();
        self.route.any_held.next = self.some_held.val() | !self.fences.empty.val();
        self.route.fence_has_space.next = self.fences.has_space.val();

        // Beats of held slots land in the order of their items; the last one takes the tickets.
        self.slots.write_enable.next = self.hold.val();
        self.slots.write_address.next = self.hold_beat.val();
        self.slots.write_data.next = self.hold_data.val();
        self.slots.read_enable.next = true;
        self.slots.register_enable.next = self.handout.register_enable.val();
        self.slots.read_address.next = self.handout.read_address.val();
        self.handout.read_data.next = self.slots.read_data.val();
        self.lands.next = self.hold.val() & self.hold_beat.val().get_bit(0);
        self.landed.next = self.hold_beat.val().get_bits::<2>(7);
        self.landed_at.next = self.hold_beat.val().get_bits::<6>(1);
        self.all_if_lands.next = bits::<4>(0) - bit_cast::<4, 1>(self.lands.val().into());
        self.flusher.wanted.next = self.hold_memories.val() & self.all_if_lands.val();

        self.queue_1.push.next = self.route.push.val().get_bit(1);
        self.queue_1.item.next = self.route.item.val();
        self.queue_1.landed.next = self.lands.val() & (self.landed.val() == 1);
        self.queue_1.landed_at.next = self.landed_at.val();
        self.queue_1.tickets.next = self.flusher.tickets.val();
        self.queue_1.done.next = self.flusher.done.val();
        self.queue_1.broken.next = self.flusher.broken.val();
        self.queue_1.pop.next = self.handout.pop.val().get_bit(1);
        self.queue_2.push.next = self.route.push.val().get_bit(2);
        self.queue_2.item.next = self.route.item.val();
        self.queue_2.landed.next = self.lands.val() & (self.landed.val() == 2);
        self.queue_2.landed_at.next = self.landed_at.val();
        self.queue_2.tickets.next = self.flusher.tickets.val();
        self.queue_2.done.next = self.flusher.done.val();
        self.queue_2.broken.next = self.flusher.broken.val();
        self.queue_2.pop.next = self.handout.pop.val().get_bit(2);
        self.queue_3.push.next = self.route.push.val().get_bit(3);
        self.queue_3.item.next = self.route.item.val();
        self.queue_3.landed.next = self.lands.val() & (self.landed.val() == 3);
        self.queue_3.landed_at.next = self.landed_at.val();
        self.queue_3.tickets.next = self.flusher.tickets.val();
        self.queue_3.done.next = self.flusher.done.val();
        self.queue_3.broken.next = self.flusher.broken.val();
        self.queue_3.pop.next = self.handout.pop.val().get_bit(3);

        self.fences.push.next = self.route.push_fence.val();
        self.fences.item.next = self.route.item.val();
        self.fences.pushed_1.next = self.queue_1.pushed.val();
        self.fences.pushed_2.next = self.queue_2.pushed.val();
        self.fences.pushed_3.next = self.queue_3.pushed.val();
        self.fences.popped_1.next = self.queue_1.popped.val();
        self.fences.popped_2.next = self.queue_2.popped.val();
        self.fences.popped_3.next = self.queue_3.popped.val();
        self.fences.pop.next = self.handout.pop_fence.val();

        self.memory.next = self.flusher.memory.val();
        self.flusher.flush_address.next = self.flush_address.val();
        MessageSource::<ReadJob>::link(&mut self.flush_job, &mut self.flusher.flush_job);
        PacketSink::link(&mut self.flush_data, &mut self.flusher.flush_data);
        self.handout.fence.next = self.fences.head.val();
        self.handout.queue_1.next = self.queue_1.head.val();
        self.handout.queue_2.next = self.queue_2.head.val();
        self.handout.queue_3.next = self.queue_3.head.val();
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.handout.write_job);
        PacketSource::link(&mut self.write_data, &mut self.handout.write_data);
        MessageSource::<Confirmation>::link(&mut self.confirmation, &mut self.handout.confirmation);
        PulseSource::<RingFetch>::link(&mut self.published, &mut self.handout.published);
    }
}
