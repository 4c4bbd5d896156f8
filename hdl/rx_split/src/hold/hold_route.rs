//! Routes copy jobs: to the copy engine, or, for slots and confirmations that must wait, to a queue
//! of the hold or to its fences.
//!
//! ```text
//!  jobs ─┬─► routed: payload, releases, slots (held ones with their place), confirmations
//!        └─► item ─► push: queue of a memory, or fences
//! ```
//! A held slot goes both ways: its job goes on, so that its bytes are read into the hold memory at
//! `held_at`, and its item waits in the queue. A held confirmation goes to the queue or the fences
//! alone.
//!
//! Timing: combinational; `owner_holds`, `owner_queue` and `of_owner_0` are registers of the
//! caller, valid for the owner of the job at hand.
//!
//! Invariants:
//! 1. A slot whose payload lies in memories other than 0 is held, in the queue of the lowest one.
//!    So is every slot and confirmation of an owner of whom something is held: in the same queue.
//! 2. Owner 0's confirmations are held as fences while anything is held, each after everything that
//!    went on before it.
//! 3. While its queue is full a job waits, and so do those after it.
//! 4. A job that is to be held stays so while it waits.
//! 5. No payload shares its last beat with a slot that is held.
//!
//! Source: docs/specification.md, Hold; decision 6.

use crate::hold::messages::HeldItem;
use crate::messages::{CopyJob, CopyKind};
use stream::prelude::*;

/// The route. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct HoldRoute {
    /// Copy jobs in order.
    pub jobs: MessageSink<CopyJob>,
    /// Jobs that go on to the copy engine; a held slot is marked with its place, a held
    /// confirmation is left out.
    pub routed: MessageSource<CopyJob>,
    /// Owner of the job at hand.
    pub owner: Signal<Out, Bits<8>>,
    /// The job at hand is to be held in queue `push_queue`.
    pub wants: Signal<Out, Bit>,
    /// Something of the owner of the job at hand is held in a queue.
    pub owner_holds: Signal<In, Bit>,
    /// With `owner_holds`: that queue.
    pub owner_queue: Signal<In, Bits<2>>,
    /// The job at hand is of owner 0.
    pub of_owner_0: Signal<In, Bit>,
    /// Queues with space for one item more, one bit each; bit 0 is never set.
    pub queue_space: Signal<In, Bits<4>>,
    /// Places of the next items in the hold memory: queue 1 in bits 7:0, then queue 2, queue 3.
    pub places: Signal<In, Bits<24>>,
    /// Something is held, of any owner.
    pub any_held: Signal<In, Bit>,
    /// There is space for one fence more.
    pub fence_has_space: Signal<In, Bit>,
    /// Every job that went on was announced.
    pub drained: Signal<In, Bit>,
    /// The slot or confirmation that is held.
    pub item: Signal<Out, HeldItem>,
    /// Queue that takes `item` in this cycle, one bit each.
    pub push: Signal<Out, Bits<4>>,
    /// Number of the queue that the job at hand is to be held in.
    pub push_queue: Signal<Out, Bits<2>>,
    /// `item` is held as a fence from this cycle on.
    pub push_fence: Signal<Out, Bit>,

    job: Signal<Local, CopyJob>,
    memories: Signal<Local, Bits<4>>,
    is_slot: Signal<Local, Bit>,
    keeps: Signal<Local, Bit>,
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
        self.is_slot.next =
            (self.job.val().kind == CopyKind::Write) & self.job.val().head & !self.job.val().keeps;
        self.keeps.next = self.job.val().head & self.job.val().keeps;
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

        // What is held needs space; a confirmation that is held does not go on.
        self.free.next = self.queue_space.val() & self.queue_bit.val();
        self.may.next = (!self.queues.val() | self.free.val().any())
            & (!self.fences.val() | (self.fence_has_space.val() & self.drained.val()));
        self.goes_on.next = !(self.is_confirmation.val() & (self.queues.val() | self.fences.val()));
        self.routed.valid.next = self.jobs.valid.val() & self.may.val() & self.goes_on.val();
        self.routed.payload.next = self.job.val();
        self.routed.payload.next.held = self.queues.val();
        self.routed.payload.next.writes =
            (self.job.val().kind == CopyKind::Write) & !self.queues.val() & !self.keeps.val();
        // Only slots and confirmations add to what is held of an owner, so this packet's slot finds
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

        self.push.next = 0.into();
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
            self.item.next.memories = 0.into();
        }
    }
}
