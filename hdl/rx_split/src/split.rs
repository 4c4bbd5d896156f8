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
use crate::job::JobMaker;
use crate::messages::{CopyJob, Piece, Placement, Plan};
use crate::progress::Progress;
use crate::split_control::SplitControl;
use crate::split_state::SplitState;
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
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

    control: SplitControl,
    entry: Entry,
    maker: JobMaker,
    progress: Progress,
    plan: DFF<Plan>,

    state: Signal<Local, SplitState>,
    packet: Signal<Local, Placement>,
    new_packet: Signal<Local, Placement>,
    take_piece: Signal<Local, Bit>,
    forget_piece: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
}

impl Logic for Split {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, plan);
        self.progress.clock.next = self.clock.val();
        self.control.clock.next = self.clock.val();
        self.control.reset.next = self.reset.val();
        self.state.next = self.control.step.val();
        self.packet.next = self.plan.q.val().packet;
        self.new_packet.next = self.plans.payload.val().packet;
        self.plans.ready.next = self.state.val() == SplitState::Idle;

        self.entry.packet.next = self.packet.val();
        self.entry.reservation.next = self.plan.q.val().place;
        self.entry.is_event.next = self.plan.q.val().kind == 2;
        self.entry.two_slots.next = self.plan.q.val().two_slots;
        self.entry.needs_slow.next = self.plan.q.val().needs_slow;
        self.maker.step.next = self.state.val();
        self.maker.plan.next = self.plan.q.val();
        self.maker.metadata.next = self.entry.metadata.val();
        self.maker.piece.next = self.pieces.payload.val();
        self.maker.offset.next = self.progress.at.val();
        self.maker.flush_memory.next = self.progress.memory.val();

        // A step offers one job; pieces need a piece, flushes a memory, releases that no piece is
        // left.
        self.jobs.payload.next = self.maker.job.val();
        self.offered.next = self.state.val() != SplitState::Idle;
        if self.state.val() == SplitState::Pieces {
            self.offered.next = self.pieces.valid.val();
        }
        if self.state.val() == SplitState::Flush {
            self.offered.next = self.progress.has_flush.val();
        }
        if self.state.val() == SplitState::Discard {
            self.offered.next = !self.progress.has_pieces.val();
        }
        self.jobs.valid.next = self.offered.val();
        self.forget_piece.next =
            (self.state.val() == SplitState::Discard) & self.progress.has_pieces.val();
        self.take_piece.next = (self.state.val() == SplitState::Pieces) & self.jobs.ready.val();
        self.pieces.ready.next = self.take_piece.val() | self.forget_piece.val();
        self.control.plan_valid.next = self.plans.valid.val();
        self.control.plan.next = self.plans.payload.val();
        self.control.two_slots.next = self.plan.q.val().two_slots;
        self.control.taken.next = self.jobs.ready.val() & self.offered.val();
        self.control.last_piece.next = self.progress.last_piece.val();
        self.control.flushed.next = !self.progress.has_flush.val();

        self.progress.start.next = self.state.val() == SplitState::Idle;
        self.progress.packet.next = self.new_packet.val();
        self.progress.piece.next = self.pieces.payload.val();
        self.progress.taken.next =
            self.pieces.valid.val() & (self.take_piece.val() | self.forget_piece.val());
        self.progress.flush_taken.next =
            (self.state.val() == SplitState::Flush) & self.jobs.ready.val();
        if self.state.val() == SplitState::Idle {
            self.plan.d.next = self.plans.payload.val();
        }
    }
}
