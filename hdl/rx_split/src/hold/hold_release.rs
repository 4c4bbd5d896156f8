//! Hands out what waits no longer: slots as writes, confirmations as such.
//!
//! ```text
//!  fences, queue 1, queue 2, queue 3 ─► arbiter ─► [item] ─┬─► write_job, write_data
//!                 hold memory ────────────────────────────►┘└─► confirmation
//! ```
//! Timing: a slot takes five cycles, four if one beat holds it, a confirmation three.
//!
//! Invariants:
//! 1. A slot is popped when its write job was taken: what follows it directly is written after it.
//! 2. No queue is served twice while another one is ready.
//! 3. What is offered stands until it is taken. That relies on the hold memory, whose read data
//!    change only a cycle after `register_enable`.
//!
//! On error: a slot whose flush read failed twice leaves with `unflushed` set in its metadata.
//!
//! Source: docs/specification.md, Hold.

use crate::hold::hold_arbiter::HoldArbiter;
use crate::hold::messages::{HeldHead, HeldItem};
use abi::header_entry::UNFLUSHED;
use stream::prelude::*;

/// What the release waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReleaseState {
    /// An item that is ready.
    Idle,
    /// The write job of the item to be taken.
    Job,
    /// The first of two beats to be taken.
    First,
    /// The last beat to be taken.
    Last,
    /// The confirmation to be taken.
    Confirm,
    /// The queue to show its next item.
    Popped,
}

/// What is known of a beat before it is known whether it is taken: a block of its own, because that
/// is known late.
#[derive(LogicBlock, Default)]
pub struct HeldBeat {
    /// Bytes of the slot, 1 to 128.
    pub bytes: Signal<In, Bits<8>>,
    /// What the release waits for.
    pub state: Signal<In, ReleaseState>,
    /// A beat is there.
    pub is_there: Signal<In, Bit>,
    /// One beat holds the slot.
    pub is_single: Signal<Out, Bit>,
    /// The beat is the slot's last.
    pub is_last: Signal<Out, Bit>,
    /// The beat is the slot's last, and it is there.
    pub may_end: Signal<Out, Bit>,
    /// Bytes used of the beat.
    pub byte_count: Signal<Out, Bits<7>>,

    last: Signal<Local, Bit>,
    rest: Signal<Local, Bits<6>>,
}

impl Logic for HeldBeat {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_single.next = !(self.bytes.val().get_bit(7)
            | (self.bytes.val().get_bit(6) & self.bytes.val().get_bits::<6>(0).any()));
        self.last.next = self.state.val() == ReleaseState::Last;
        self.is_last.next = self.last.val();
        self.may_end.next = self.last.val() & self.is_there.val();
        // Full except the last one; a full beat has no bytes in the low bits of its count.
        self.rest.next = self.bytes.val().get_bits::<6>(0);
        self.byte_count.next = bits::<7>(64);
        if self.last.val() & self.rest.val().any() {
            self.byte_count.next = bit_cast::<7, 6>(self.rest.val());
        }
    }
}

/// The beats of a slot, one or two, from the hold memory to its write.
#[derive(LogicBlock, BlockDefault)]
pub struct HeldBeats {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: the slot at hand is forgotten.
    pub reset: Signal<In, Bit>,

    /// The slot at hand.
    pub slot: Signal<In, HeldHead>,
    /// What the release waits for.
    pub state: Signal<In, ReleaseState>,
    /// Beat of the hold memory to latch: the first one before the slot's job is taken, then the
    /// last one.
    pub read_address: Signal<Out, Bits<9>>,
    /// The beat latched before is put on `read_data` in the next cycle.
    pub register_enable: Signal<Out, Bit>,
    /// Beat of the hold memory that was requested last.
    pub read_data: Signal<In, Bits<512>>,
    /// What the release waits for once the job is taken.
    pub begins: Signal<Out, ReleaseState>,
    /// Bytes of the slot.
    pub write_data: PacketSource,
    /// A beat is taken.
    pub taken: Signal<Out, Bit>,
    /// The beat taken is the slot's last.
    pub ends: Signal<Out, Bit>,

    is_there: DFF<Bit>,
    beat: HeldBeat,

    item: Signal<Local, HeldItem>,
    is_last: Signal<Local, Bit>,
    is_single: Signal<Local, Bit>,
    gives: Signal<Local, Bit>,
    is_done: Signal<Local, Bit>,
    #[value(1 << UNFLUSHED.offset)]
    mark: Constant<Bits<512>>,
}

impl Logic for HeldBeats {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_there);
        self.item.next = self.slot.val().item;
        self.beat.bytes.next = self.item.val().bytes;
        self.beat.state.next = self.state.val();
        self.beat.is_there.next = self.is_there.q.val();
        self.is_last.next = self.beat.is_last.val();
        self.is_single.next = self.beat.is_single.val();
        self.begins.next = ReleaseState::First;
        if self.is_single.val() {
            self.begins.next = ReleaseState::Last;
        }
        self.read_address.next = bit_cast::<9, 8>(self.slot.val().at) << 1;
        if (self.state.val() != ReleaseState::Job) | self.is_single.val() {
            self.read_address.next = (bit_cast::<9, 8>(self.slot.val().at) << 1) | 1;
        }
        self.register_enable.next = !self.is_there.q.val() | self.write_data.ready.val();
        self.write_data.valid.next = self.is_there.q.val();
        self.write_data.data.next = self.read_data.val();
        if (!self.is_last.val() | self.is_single.val()) & self.slot.val().unflushed {
            self.write_data.data.next = self.read_data.val() | self.mark.val();
        }
        self.write_data.byte_count.next = self.beat.byte_count.val();
        self.write_data.last.next = self.is_last.val();
        self.write_data.abort.next = false;
        self.taken.next = self.write_data.ready.val() & self.is_there.q.val();
        self.is_done.next = self.write_data.ready.val() & self.beat.may_end.val();
        self.ends.next = self.is_done.val();

        // A beat is there from the second cycle of `First` until the last one is taken.
        self.gives.next = (self.state.val() == ReleaseState::First) | self.is_last.val();
        self.is_there.d.next = self.gives.val() & !self.is_done.val() & !self.reset.val();
    }
}

/// The release. See the module's head.
#[derive(LogicBlock, Default)]
pub struct HoldRelease {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: the item at hand is forgotten.
    pub reset: Signal<In, Bit>,

    /// The oldest fence.
    pub fence: Signal<In, HeldHead>,
    /// The oldest item of queue 1.
    pub queue_1: Signal<In, HeldHead>,
    /// The oldest item of queue 2.
    pub queue_2: Signal<In, HeldHead>,
    /// The oldest item of queue 3.
    pub queue_3: Signal<In, HeldHead>,
    /// The oldest item of a queue was taken a cycle before: one bit for each queue.
    pub pop: Signal<Out, Bits<4>>,
    /// With `pop`: owner of the item that was taken.
    pub popped_owner: Signal<Out, Bits<8>>,
    /// The oldest fence was taken a cycle before.
    pub pop_fence: Signal<Out, Bit>,
    /// Beat of the hold memory to latch: the first one before the slot's job is taken, then the
    /// last one.
    pub read_address: Signal<Out, Bits<9>>,
    /// The beat latched before is put on `read_data` in the next cycle.
    pub register_enable: Signal<Out, Bit>,
    /// Beat of the hold memory that was requested last, one cycle after `register_enable`.
    pub read_data: Signal<In, Bits<512>>,

    /// Write jobs of slots, to the join with the direct writes.
    pub write_job: MessageSource<WriteJob>,
    /// Bytes of the slots.
    pub write_data: PacketSource,
    /// Confirmations, to the fences of `copy`.
    pub confirmation: MessageSource<Confirmation>,
    /// One pulse for each header entry whose last beat was taken.
    pub published: PulseSource<RingFetch>,

    arbiter: HoldArbiter,
    beats: HeldBeats,
    state: DFF<ReleaseState>,
    held: DFF<HeldHead>,
    from: DFF<Bits<2>>,
    pops: DFF<Bits<4>>,
    pops_fence: DFF<Bit>,
    pops_owner: DFF<Bits<8>>,

    item: Signal<Local, HeldItem>,
    handed_out: Signal<Local, Bit>,
}

impl Logic for HoldRelease {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, held, from, pops, pops_fence, pops_owner);
        clock!(self, clock, beats);
        self.arbiter.fence.next = self.fence.val();
        self.arbiter.queue_1.next = self.queue_1.val();
        self.arbiter.queue_2.next = self.queue_2.val();
        self.arbiter.queue_3.next = self.queue_3.val();
        self.arbiter.served.next = self.from.q.val();

        self.item.next = self.held.q.val().item;
        self.write_job.valid.next = self.state.q.val() == ReleaseState::Job;
        self.write_job.payload.next.address = self.item.val().address;
        self.write_job.payload.next.bytes = bit_cast::<16, 8>(self.item.val().bytes);
        self.write_job.payload.next.relaxed = false;
        self.write_job.payload.next.shares = false;
        self.confirmation.valid.next = self.state.q.val() == ReleaseState::Confirm;
        self.confirmation.payload.next.owner = self.item.val().owner;
        self.confirmation.payload.next.index = self.item.val().index;
        self.confirmation.payload.next.status = self.item.val().status;

        self.beats.slot.next = self.held.q.val();
        self.beats.state.next = self.state.q.val();
        self.beats.reset.next = self.reset.val();
        self.read_address.next = self.beats.read_address.val();
        self.register_enable.next = self.beats.register_enable.val();
        self.beats.read_data.next = self.read_data.val();
        PacketSource::link(&mut self.write_data, &mut self.beats.write_data);
        self.published.valid.next = self.beats.ends.val() & self.item.val().publish;
        self.published.payload.next.owner = self.item.val().owner;
        self.published.payload.next.index = self.item.val().index;

        self.handed_out.next = (self.write_job.valid.val() & self.write_job.ready.val())
            | (self.confirmation.valid.val() & self.confirmation.ready.val());

        if self.state.q.val() == ReleaseState::Idle {
            if self.arbiter.head.val().ready {
                self.held.d.next = self.arbiter.head.val();
                self.from.d.next = self.arbiter.source.val();
                self.state.d.next = ReleaseState::Job;
                if self.arbiter.confirms.val() {
                    self.state.d.next = ReleaseState::Confirm;
                }
            }
        } else if self.state.q.val() == ReleaseState::Popped {
            self.state.d.next = ReleaseState::Idle;
        } else if self.handed_out.val() {
            self.state.d.next = ReleaseState::Popped;
            if self.write_job.valid.val() {
                self.state.d.next = self.beats.begins.val();
            }
        } else if self.beats.taken.val() {
            self.state.d.next = ReleaseState::Last;
            if self.beats.ends.val() {
                self.state.d.next = ReleaseState::Idle;
            }
        }

        self.arbiter.taken.next = self.handed_out.val();
        self.pops.d.next = self.arbiter.pop.val();
        self.pops_fence.d.next = self.arbiter.pop_fence.val();
        self.pops_owner.d.next = self.item.val().owner;
        self.pop.next = self.pops.q.val();
        self.pop_fence.next = self.pops_fence.q.val();
        self.popped_owner.next = self.pops_owner.q.val();
        if self.reset.val() {
            self.state.d.next = ReleaseState::Idle;
            self.pops.d.next = 0.into();
            self.pops_fence.d.next = false;
        }
    }
}
