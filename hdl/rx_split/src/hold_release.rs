//! Hands out what waits no longer: slots as writes, confirmations as such.
//!
//! ```text
//!  fences, queue 1, queue 2, queue 3 ─► choice ─► [item] ─┬─► write_job, write_data
//!                 hold memory ───────────────────────────►┘└─► confirmation
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | fence, queue_1, queue_2, queue_3 | in | the oldest of each |
//! | pop, pop_fence | out | it is taken: a bit for each queue |
//! | popped_owner | out | owner of what a queue's pop takes |
//! | read_address, read_data | out, in | the hold memory, one cycle latency |
//! | write_job, write_data | out | to the join with the direct writes |
//! | confirmation | out | to the fence of sending |
//! | published | out | a header entry was handed over |
//!
//! Timing: a slot takes four cycles, a confirmation two.
//!
//! Invariants:
//! 1. A slot is popped when its write job was taken: what follows it directly is written behind it.
//! 2. No queue is served twice while another one is ready.
//!
//! On error: a slot whose flush read failed twice says so in its metadata (`unflushed`).

use crate::messages::{HeldHead, HeldItem};
use abi::config::SLOT_BYTES;
use abi::header_entry::UNFLUSHED;
use stream::prelude::*;

/// What the release waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReleaseState {
    /// An item that is ready.
    Idle,
    /// Its write job to be taken.
    Job,
    /// Its first beat to be taken.
    First,
    /// Its last beat to be taken.
    Last,
    /// Its confirmation to be taken.
    Confirm,
}

/// The release. See the module's head.
#[derive(LogicBlock)]
pub struct HoldRelease {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// The oldest fence.
    pub fence: Signal<In, HeldHead>,
    /// The oldest of queue 1.
    pub queue_1: Signal<In, HeldHead>,
    /// The oldest of queue 2.
    pub queue_2: Signal<In, HeldHead>,
    /// The oldest of queue 3.
    pub queue_3: Signal<In, HeldHead>,
    /// The oldest of a queue is taken, a bit each.
    pub pop: Signal<Out, Bits<4>>,
    /// Its owner.
    pub popped_owner: Signal<Out, Bits<8>>,
    /// The oldest fence is taken.
    pub pop_fence: Signal<Out, Bit>,
    /// Beat of the hold memory to read.
    pub read_address: Signal<Out, Bits<9>>,
    /// That beat, one cycle later.
    pub read_data: Signal<In, Bits<512>>,

    /// Write jobs.
    pub write_job: MessageSource<WriteJob>,
    /// Their bytes.
    pub write_data: PacketSource,
    /// Confirmations.
    pub confirmation: MessageSource<Confirmation>,
    /// A header entry was handed over.
    pub published: PulseSource<RingFetch>,

    state: DFF<ReleaseState>,
    item: DFF<HeldItem>,
    at: DFF<Bits<8>>,
    unflushed: DFF<Bit>,
    from: DFF<Bits<2>>,

    chosen: Signal<Local, HeldHead>,
    chosen_item: Signal<Local, HeldItem>,
    source: Signal<Local, Bits<2>>,
    step: Signal<Local, Bits<2>>,
    right: Signal<Local, Bits<4>>,
    left: Signal<Local, Bits<4>>,
    around: Signal<Local, Bits<4>>,
    waiting: Signal<Local, Bits<4>>,
    from_bit: Signal<Local, Bits<4>>,
    handed_out: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    beat_of: Signal<Local, Bits<9>>,
    whole_turn: Constant<Bits<4>>,
    queue_bits: Constant<Bits<4>>,
    one: Constant<Bits<4>>,
    slot_bytes: Constant<Bits<16>>,
    mark: Constant<Bits<512>>,
}

impl Default for HoldRelease {
    fn default() -> Self {
        let mark: Bits<512> = (1u64 << UNFLUSHED.offset).to_bits();
        Self {
            clock: Default::default(),
            reset: Default::default(),
            fence: Default::default(),
            queue_1: Default::default(),
            queue_2: Default::default(),
            queue_3: Default::default(),
            pop: Default::default(),
            popped_owner: Default::default(),
            pop_fence: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            write_job: Default::default(),
            write_data: Default::default(),
            confirmation: Default::default(),
            published: Default::default(),
            state: Default::default(),
            item: Default::default(),
            at: Default::default(),
            unflushed: Default::default(),
            from: Default::default(),
            chosen: Default::default(),
            chosen_item: Default::default(),
            source: Default::default(),
            step: Default::default(),
            right: Default::default(),
            left: Default::default(),
            around: Default::default(),
            waiting: Default::default(),
            from_bit: Default::default(),
            handed_out: Default::default(),
            is_last: Default::default(),
            beat_of: Default::default(),
            whole_turn: Constant::new(4u64.to_bits()),
            queue_bits: Constant::new(0xeu64.to_bits()),
            one: Constant::new(1u64.to_bits()),
            slot_bytes: Constant::new((SLOT_BYTES as u64).to_bits()),
            mark: Constant::new(mark),
        }
    }
}

impl Logic for HoldRelease {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, item, at, unflushed, from);

        // The first that is ready behind the one served last; `around` begins behind it.
        self.waiting.next = bit_cast::<4, 1>(self.fence.val().ready.into())
            | (bit_cast::<4, 1>(self.queue_1.val().ready.into()) << 1)
            | (bit_cast::<4, 1>(self.queue_2.val().ready.into()) << 2)
            | (bit_cast::<4, 1>(self.queue_3.val().ready.into()) << 3);
        self.right.next = bit_cast::<4, 2>(self.from.q.val()) + 1;
        self.left.next = self.whole_turn.val() - self.right.val();
        self.around.next =
            (self.waiting.val() >> self.right.val()) | (self.waiting.val() << self.left.val());
        self.step.next = bits::<2>(0);
        if self.around.val().get_bit(2) {
            self.step.next = bits::<2>(3);
        }
        if self.around.val().get_bit(1) {
            self.step.next = bits::<2>(2);
        }
        if self.around.val().get_bit(0) {
            self.step.next = bits::<2>(1);
        }
        self.source.next = self.from.q.val() + self.step.val();
        self.chosen.next = self.fence.val();
        if self.source.val() == 1 {
            self.chosen.next = self.queue_1.val();
        }
        if self.source.val() == 2 {
            self.chosen.next = self.queue_2.val();
        }
        if self.source.val() == 3 {
            self.chosen.next = self.queue_3.val();
        }
        self.chosen_item.next = self.chosen.val().item;

        self.beat_of.next = bit_cast::<9, 8>(self.at.q.val()) << 1;
        self.read_address.next = self.beat_of.val();
        self.is_last.next = self.state.q.val() == ReleaseState::Last;
        self.write_job.valid.next = self.state.q.val() == ReleaseState::Job;
        self.write_job.payload.next.address = self.item.q.val().address;
        self.write_job.payload.next.bytes = self.slot_bytes.val();
        self.write_job.payload.next.relaxed = false;
        self.write_data.valid.next =
            (self.state.q.val() == ReleaseState::First) | self.is_last.val();
        self.write_data.data.next = self.read_data.val();
        self.write_data.byte_count.next = bits::<7>(64);
        self.write_data.last.next = self.is_last.val();
        self.write_data.abort.next = false;
        self.confirmation.valid.next = self.state.q.val() == ReleaseState::Confirm;
        self.confirmation.payload.next.owner = self.item.q.val().owner;
        self.confirmation.payload.next.index = self.item.q.val().index;
        self.confirmation.payload.next.status = self.item.q.val().status;
        self.published.valid.next =
            self.is_last.val() & self.write_data.ready.val() & self.item.q.val().publish;
        self.published.payload.next.owner = self.item.q.val().owner;
        self.published.payload.next.index = self.item.q.val().index;
        self.handed_out.next = false;
        match self.state.q.val() {
            ReleaseState::Idle => {
                self.item.d.next = self.chosen_item.val();
                self.at.d.next = self.chosen.val().at;
                self.unflushed.d.next = self.chosen.val().unflushed;
                if self.waiting.val().any() {
                    self.from.d.next = self.source.val();
                    self.state.d.next = ReleaseState::Job;
                    if self.chosen_item.val().confirms {
                        self.state.d.next = ReleaseState::Confirm;
                    }
                }
            }
            ReleaseState::Job => {
                if self.write_job.ready.val() {
                    self.handed_out.next = true;
                    self.state.d.next = ReleaseState::First;
                }
            }
            ReleaseState::First => {
                if self.unflushed.q.val() {
                    self.write_data.data.next = self.read_data.val() | self.mark.val();
                }
                if self.write_data.ready.val() {
                    self.read_address.next = self.beat_of.val() + 1;
                    self.state.d.next = ReleaseState::Last;
                }
            }
            ReleaseState::Last => {
                self.read_address.next = self.beat_of.val() + 1;
                if self.write_data.ready.val() {
                    self.state.d.next = ReleaseState::Idle;
                }
            }
            _ => {
                if self.confirmation.ready.val() {
                    self.handed_out.next = true;
                    self.state.d.next = ReleaseState::Idle;
                }
            }
        }
        self.from_bit.next = self.one.val() << self.from.q.val();
        self.popped_owner.next = self.item.q.val().owner;
        self.pop.next = bits::<4>(0);
        if self.handed_out.val() {
            self.pop.next = self.from_bit.val() & self.queue_bits.val();
        }
        self.pop_fence.next = self.handed_out.val() & (self.from.q.val() == 0);
        if self.reset.val() {
            self.state.d.next = ReleaseState::Idle;
        }
    }
}
