//! Which jobs go on, and which slots and confirmations are held.
//!
//! ```text
//!  jobs ─┬─► routed: payload, releases, slots (held ones say where), confirmations
//!        └─► item ─► push: queue of a memory, or fences
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | jobs, routed | in, out | copy jobs; a held confirmation does not go on |
//! | owner, wants | out | whose job; it is to be held in a queue |
//! | owner_holds, owner_queue, of_owner_0 | in | of that owner something is held, and where |
//! | room, places | in | of queues 1 to 3: a bit each; place of the next item, from bit 0 |
//! | any_held, fence_room | in | something is held; there is room for a fence |
//! | drained | in | every job that went on was announced |
//! | item, push, push_fence | out | what is held, and where: a bit for each queue |
//!
//! Timing: combinational; what `owner_holds` says was decided a cycle before.
//!
//! Invariants:
//! 1. A slot whose payload lies in memories but 0 is held. So is every slot and confirmation of an
//!    owner of whom something is held: in the same queue.
//! 2. Owner 0's confirmations are held as fences while anything is held, each behind all that went
//!    on before it.
//! 3. While its queue is full a job waits, and those behind it.
//! 4. A job that is to be held stays so while it waits.
//! 5. No payload shares its last beat with a slot that is held.

use crate::messages::{CopyJob, CopyKind, HeldItem};
use stream::prelude::*;

/// The decision. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct HoldRoute {
    /// Jobs.
    pub jobs: MessageSink<CopyJob>,
    /// Jobs that go on.
    pub routed: MessageSource<CopyJob>,
    /// Owner of the job.
    pub owner: Signal<Out, Bits<8>>,
    /// It is to be held in a queue.
    pub wants: Signal<Out, Bit>,
    /// Something of its owner is held.
    pub owner_holds: Signal<In, Bit>,
    /// In this queue.
    pub owner_queue: Signal<In, Bits<2>>,
    /// It is owner 0.
    pub of_owner_0: Signal<In, Bit>,
    /// Queues with room, a bit each; bit 0 is never set.
    pub room: Signal<In, Bits<4>>,
    /// Places of the next items, queue 1 in bits 7:0.
    pub places: Signal<In, Bits<24>>,
    /// Something is held.
    pub any_held: Signal<In, Bit>,
    /// There is room for a fence.
    pub fence_room: Signal<In, Bit>,
    /// Every job that went on was announced.
    pub drained: Signal<In, Bit>,
    /// What is held.
    pub item: Signal<Out, HeldItem>,
    /// Queue that takes it, a bit each.
    pub push: Signal<Out, Bits<4>>,
    /// The number of that queue.
    pub push_queue: Signal<Out, Bits<2>>,
    /// It is held as a fence.
    pub push_fence: Signal<Out, Bit>,

    job: Signal<Local, CopyJob>,
    memories: Signal<Local, Bits<4>>,
    is_slot: Signal<Local, Bit>,
    is_confirmation: Signal<Local, Bit>,
    first_memory: Signal<Local, Bits<2>>,
    queue: Signal<Local, Bits<2>>,
    queue_bit: Signal<Local, Bits<4>>,
    free: Signal<Local, Bits<4>>,
    queues: Signal<Local, Bit>,
    fences: Signal<Local, Bit>,
    goes_on: Signal<Local, Bit>,
    may: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<4>>,
}

impl Logic for HoldRoute {
    #[hdl_gen]
    fn update(&mut self) {
        self.job.next = self.jobs.payload.val();
        self.memories.next = self.job.val().memories;
        self.owner.next = self.job.val().owner;
        self.is_slot.next = (self.job.val().kind == CopyKind::Write) & self.job.val().head;
        self.is_confirmation.next = self.job.val().kind == CopyKind::Confirm;
        self.first_memory.next = bits::<2>(3);
        if self.memories.val().get_bit(2) {
            self.first_memory.next = bits::<2>(2);
        }
        if self.memories.val().get_bit(1) {
            self.first_memory.next = bits::<2>(1);
        }
        self.queue.next = self.first_memory.val();
        if self.owner_holds.val() {
            self.queue.next = self.owner_queue.val();
        }
        self.queue_bit.next = self.one.val() << self.queue.val();
        self.queues.next = (self.is_slot.val()
            & (self.memories.val().any() | self.owner_holds.val()))
            | (self.is_confirmation.val() & !self.of_owner_0.val() & self.owner_holds.val());
        self.fences.next = self.is_confirmation.val() & self.of_owner_0.val() & self.any_held.val();

        // What is held needs room; a confirmation that is held does not go on.
        self.free.next = self.room.val() & self.queue_bit.val();
        self.may.next = (!self.queues.val() | self.free.val().any())
            & (!self.fences.val() | (self.fence_room.val() & self.drained.val()));
        self.goes_on.next = !(self.is_confirmation.val() & (self.queues.val() | self.fences.val()));
        self.routed.valid.next = self.jobs.valid.val() & self.may.val() & self.goes_on.val();
        self.routed.payload.next = self.job.val();
        self.routed.payload.next.held = self.queues.val();
        self.routed.payload.next.writes =
            (self.job.val().kind == CopyKind::Write) & !self.queues.val();
        // What is held of an owner grows by slots and confirmations alone, so this one's slot finds
        // nothing held where its payload found nothing.
        self.routed.payload.next.shares = self.job.val().shares & !self.owner_holds.val();
        self.routed.payload.next.held_at = self.places.val().get_bits::<8>(16);
        if self.queue.val() == 1 {
            self.routed.payload.next.held_at = self.places.val().get_bits::<8>(0);
        }
        if self.queue.val() == 2 {
            self.routed.payload.next.held_at = self.places.val().get_bits::<8>(8);
        }
        self.taken.next = self.jobs.valid.val()
            & self.may.val()
            & (!self.goes_on.val() | self.routed.ready.val());
        self.jobs.ready.next = self.may.val() & (!self.goes_on.val() | self.routed.ready.val());

        self.push.next = bits::<4>(0);
        if self.taken.val() & self.queues.val() {
            self.push.next = self.queue_bit.val();
        }
        self.wants.next = self.jobs.valid.val() & self.queues.val();
        self.push_queue.next = self.queue.val();
        self.push_fence.next = self.taken.val() & self.fences.val();
        self.item.next.confirms = self.is_confirmation.val();
        self.item.next.owner = self.job.val().owner;
        self.item.next.index = self.job.val().index;
        self.item.next.status = self.job.val().status;
        self.item.next.address = self.job.val().address;
        self.item.next.bytes = bit_cast::<8, 14>(self.job.val().bytes);
        self.item.next.publish = self.job.val().publish;
        self.item.next.memories = self.memories.val();
        if self.is_confirmation.val() {
            self.item.next.memories = bits::<4>(0);
        }
    }
}
