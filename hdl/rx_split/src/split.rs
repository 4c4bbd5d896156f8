//! Turns a plan into copy jobs: payload first, header entry last, its second slot before its first.
//!
//! ```text
//!  plans ──┬─► pieces or slow buffer ─► flush ─► second slot ─► first slot ─┬─► jobs
//!          └─► release of a dropped packet, confirmation ───────────────────┘
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | plans, pieces | in | packets, events, confirmations; where a placed payload goes |
//! | jobs | out | to the copy engine |
//!
//! Timing: one job a cycle, two cycles between plans.
//!
//! Invariants:
//! 1. The jobs of a packet are contiguous, in the order of the plans.
//! 2. Every memory but 0 that a piece lies in is flushed before the header entry.
//! 3. A dropped packet yields its release and nothing else.

use crate::entry::Entry;
use crate::messages::{CopyJob, Piece, Placement, Plan, Reservation};
use abi::config::{METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES};
use stream::prelude::*;

/// What `split` waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SplitState {
    /// A plan.
    Idle,
    /// The copy engine takes the pieces.
    Pieces,
    /// It takes the slow buffer's job.
    Slow,
    /// It takes the flush reads.
    Flush,
    /// It takes the second slot.
    Second,
    /// It takes the first slot.
    First,
    /// The pieces of a dropped packet are forgotten, then its beats.
    Discard,
    /// It takes the confirmation.
    Confirm,
}

/// The stage. See the module's head.
#[derive(LogicBlock)]
pub struct Split {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// What to write.
    pub plans: MessageSink<Plan>,
    /// Where placed payloads go.
    pub pieces: MessageSink<Piece>,
    /// To the copy engine.
    pub jobs: MessageSource<CopyJob>,

    entry: Entry,
    state: DFF<SplitState>,
    plan: DFF<Plan>,
    offset: DFF<Bits<16>>,
    pieces_left: DFF<Bits<5>>,
    flushes: DFF<Bits<4>>,

    packet: Signal<Local, Placement>,
    place: Signal<Local, Reservation>,
    fence: Signal<Local, Confirmation>,
    is_event: Signal<Local, Bit>,
    job: Signal<Local, CopyJob>,
    payload_start: Signal<Local, Bits<16>>,
    piece_memory: Signal<Local, Bits<4>>,
    flush_now: Signal<Local, Bits<4>>,
    flush_memory: Signal<Local, Bits<2>>,
    flush_keep: Signal<Local, Bits<4>>,
    new_packet: Signal<Local, Placement>,
    slot_bytes: Constant<Bits<14>>,
    metadata_bytes: Constant<Bits<14>>,
    slot_header_bytes: Constant<Bits<14>>,
    unit: Constant<Bits<4>>,
    not_host: Constant<Bits<4>>,
}

impl Default for Split {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            plans: Default::default(),
            pieces: Default::default(),
            jobs: Default::default(),
            entry: Default::default(),
            state: Default::default(),
            plan: Default::default(),
            offset: Default::default(),
            pieces_left: Default::default(),
            flushes: Default::default(),
            packet: Default::default(),
            place: Default::default(),
            fence: Default::default(),
            is_event: Default::default(),
            job: Default::default(),
            payload_start: Default::default(),
            piece_memory: Default::default(),
            flush_now: Default::default(),
            flush_memory: Default::default(),
            flush_keep: Default::default(),
            new_packet: Default::default(),
            slot_bytes: Constant::new((SLOT_BYTES as u64).to_bits()),
            metadata_bytes: Constant::new((METADATA_BYTES as u64).to_bits()),
            slot_header_bytes: Constant::new((SLOT_HEADER_BYTES as u64).to_bits()),
            unit: Constant::new(1u64.to_bits()),
            not_host: Constant::new(0xeu64.to_bits()),
        }
    }
}

impl Logic for Split {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, plan, offset, pieces_left, flushes);
        self.packet.next = self.plan.q.val().packet;
        self.place.next = self.plan.q.val().place;
        self.fence.next = self.plan.q.val().confirmation;
        self.is_event.next = self.plan.q.val().kind == 2;
        self.entry.packet.next = self.packet.val();
        self.entry.reservation.next = self.place.val();
        self.entry.is_event.next = self.is_event.val();
        self.entry.two_slots.next = self.plan.q.val().two_slots;
        self.entry.needs_slow.next = self.plan.q.val().needs_slow;
        self.plans.ready.next = self.state.q.val() == SplitState::Idle;
        self.pieces.ready.next = false;

        // Where the payload goes on, and which memory is flushed next.
        self.payload_start.next = self.offset.q.val() >> 6;
        self.piece_memory.next = self.unit.val() << self.pieces.payload.val().memory;
        self.flush_memory.next = bits::<2>(1);
        self.flush_now.next = bits::<4>(2);
        if !self.flushes.q.val().get_bit(1) {
            self.flush_memory.next = bits::<2>(2);
            self.flush_now.next = bits::<4>(4);
            if !self.flushes.q.val().get_bit(2) {
                self.flush_memory.next = bits::<2>(3);
                self.flush_now.next = bits::<4>(8);
            }
        }
        self.flush_keep.next = !self.flush_now.val();

        // The job at hand: by default the first slot.
        self.jobs.valid.next = self.state.q.val() != SplitState::Idle;
        self.job.next.kind = bits::<2>(0);
        self.job.next.start = self.packet.val().start;
        self.job.next.head = true;
        self.job.next.shift = bits::<6>(32);
        self.job.next.address = self.place.val().slot_address;
        self.job.next.bytes = self.slot_bytes.val();
        self.job.next.keep =
            bit_cast::<14, 8>(self.packet.val().header_bytes) + self.metadata_bytes.val();
        self.job.next.relaxed = false;
        self.job.next.metadata = self.entry.metadata.val();
        self.job.next.release = !self.is_event.val();
        self.job.next.release_pointer = self.packet.val().stop;
        self.job.next.publish = true;
        self.job.next.owner = self.packet.val().owner;
        self.job.next.index = self.place.val().header_producer;
        self.job.next.status = bits::<8>(0);
        self.job.next.memory = self.flush_memory.val();

        self.new_packet.next = self.plans.payload.val().packet;

        match self.state.q.val() {
            // Waits for a plan.
            SplitState::Idle => {
                self.plan.d.next = self.plans.payload.val();
                self.offset.d.next = bit_cast::<16, 8>(self.new_packet.val().header_bytes)
                    + bit_cast::<16, 14>(self.new_packet.val().trimmed_bytes);
                self.flushes.d.next = bits::<4>(0);
                self.pieces_left.d.next = bits::<5>(0);
                if self.new_packet.val().walk {
                    self.pieces_left.d.next = self.new_packet.val().pieces;
                }
                if self.plans.valid.val() {
                    self.state.d.next = SplitState::First;
                    if self.plans.payload.val().two_slots {
                        self.state.d.next = SplitState::Second;
                    }
                    if self.plans.payload.val().needs_slow {
                        self.state.d.next = SplitState::Slow;
                    }
                    if self.new_packet.val().walk {
                        self.state.d.next = SplitState::Pieces;
                    }
                    if self.plans.payload.val().kind == 1 {
                        self.state.d.next = SplitState::Discard;
                    }
                    if self.plans.payload.val().kind == 2 {
                        self.state.d.next = SplitState::First;
                    }
                    if self.plans.payload.val().kind == 3 {
                        self.state.d.next = SplitState::Confirm;
                    }
                }
            }
            // One job for each piece.
            SplitState::Pieces => {
                self.job.next.start = self.packet.val().start + self.payload_start.val();
                self.job.next.head = false;
                self.job.next.shift = self.offset.q.val().get_bits::<6>(0);
                self.job.next.address = self.pieces.payload.val().address;
                self.job.next.bytes = self.pieces.payload.val().bytes;
                self.job.next.keep = self.pieces.payload.val().bytes;
                self.job.next.relaxed = true;
                self.job.next.release = false;
                self.job.next.publish = false;
                self.jobs.valid.next = self.pieces.valid.val();
                self.pieces.ready.next = self.jobs.ready.val();
                if self.pieces.valid.val() & self.jobs.ready.val() {
                    self.offset.d.next =
                        self.offset.q.val() + bit_cast::<16, 14>(self.pieces.payload.val().bytes);
                    self.flushes.d.next =
                        self.flushes.q.val() | (self.piece_memory.val() & self.not_host.val());
                    self.pieces_left.d.next = self.pieces_left.q.val() - 1;
                    if self.pieces_left.q.val() == 1 {
                        self.state.d.next = SplitState::Flush;
                    }
                }
            }
            // The whole payload in one job.
            SplitState::Slow => {
                self.job.next.start = self.packet.val().start + self.payload_start.val();
                self.job.next.head = false;
                self.job.next.shift = self.offset.q.val().get_bits::<6>(0);
                self.job.next.address = self.place.val().slow_address;
                self.job.next.bytes = self.packet.val().payload_bytes;
                self.job.next.keep = self.packet.val().payload_bytes;
                self.job.next.relaxed = true;
                self.job.next.release = false;
                self.job.next.publish = false;
                if self.jobs.ready.val() {
                    self.state.d.next = SplitState::Flush;
                }
            }
            // One flush read for each memory that was written.
            SplitState::Flush => {
                self.job.next.kind = bits::<2>(3);
                self.jobs.valid.next = self.flushes.q.val().any();
                if self.flushes.q.val().any() {
                    if self.jobs.ready.val() {
                        self.flushes.d.next = self.flushes.q.val() & self.flush_keep.val();
                    }
                } else {
                    self.state.d.next = SplitState::First;
                    if self.plan.q.val().two_slots {
                        self.state.d.next = SplitState::Second;
                    }
                }
            }
            // The rest of a long header, from its byte 96: half of the packet's second beat is left out.
            SplitState::Second => {
                self.job.next.start = self.packet.val().start + 1;
                self.job.next.head = false;
                self.job.next.address = self.place.val().second_address;
                self.job.next.keep = bit_cast::<14, 8>(self.packet.val().header_bytes)
                    - self.slot_header_bytes.val();
                self.job.next.release = false;
                self.job.next.publish = false;
                if self.jobs.ready.val() {
                    self.state.d.next = SplitState::First;
                }
            }
            // The slot with the metadata.
            SplitState::First => {
                if self.jobs.ready.val() {
                    self.state.d.next = SplitState::Idle;
                }
            }
            // Forgets the pieces, then the packet.
            SplitState::Discard => {
                self.job.next.kind = bits::<2>(1);
                self.jobs.valid.next = !self.pieces_left.q.val().any();
                if self.pieces_left.q.val().any() {
                    self.pieces.ready.next = true;
                    if self.pieces.valid.val() {
                        self.pieces_left.d.next = self.pieces_left.q.val() - 1;
                    }
                } else if self.jobs.ready.val() {
                    self.state.d.next = SplitState::Idle;
                }
            }
            // Passes the confirmation on.
            SplitState::Confirm => {
                self.job.next.kind = bits::<2>(2);
                self.job.next.owner = self.fence.val().owner;
                self.job.next.index = self.fence.val().index;
                self.job.next.status = self.fence.val().status;
                if self.jobs.ready.val() {
                    self.state.d.next = SplitState::Idle;
                }
            }
        }
        self.jobs.payload.next = self.job.val();
        if self.reset.val() {
            self.state.d.next = SplitState::Idle;
        }
    }
}
