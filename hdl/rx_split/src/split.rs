//! Turns a plan into copy jobs: payload first, header entry last, its second slot before its first.
//!
//! ```text
//!  plans ──┬─► pieces or slow buffer ─► second slot ─► first slot ─┬─► jobs
//!          └─► release of a dropped packet, confirmation ──────────┘
//! ```
//! Timing: one job per cycle. A plan is loaded together with the job of a slot that is taken for
//! certain, so that its own jobs follow without a pause; after other jobs one cycle later.
//!
//! Invariants:
//! 1. The jobs of a packet are consecutive, in the order of the plans.
//! 2. The slots of a packet name every memory except 0 that a piece of it lies in.
//! 3. A dropped packet makes its release and no other job.
//! 4. Every plan with a walk slot frees it once.
//! 5. A job that shares its last beat is followed by the slot that begins there.
//! 6. A job stands until it is taken. That relies on `piece`, which is what the walk wrote last,
//!    and on `slot_passes`: a slot that waits for no memory and is offered while it is high is
//!    taken.
//!
//! Source: docs/specification.md, Delivery; decision 6.

pub mod entry;
pub mod job_maker;
pub mod payload_job;
pub mod progress;
pub mod split_control;
pub mod split_state;

use crate::messages::{CopyJob, Piece, Plan, PlanItem, RunPart, RunSummary};
use crate::split::entry::Entry;
use crate::split::job_maker::JobMaker;
use crate::split::progress::Progress;
use crate::split::split_control::{SplitControl, StepEffects};
use crate::split::split_state::SplitState;
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Split {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: the plan inside is forgotten.
    pub reset: Signal<In, Bit>,

    /// Packets, events, confirmations and releases in order.
    pub plans: MessageSink<Plan>,
    /// One summary for each plan that sums; it is there as its plan is, and taken with it.
    pub summaries: MessageSink<RunSummary>,
    /// Walk slot of the plan at hand.
    pub piece_slot: Signal<Out, Bits<4>>,
    /// Number of the piece that is requested.
    pub piece_number: Signal<Out, Bits<4>>,
    /// Piece that `piece_slot` and `piece_number` name, in the same cycle.
    pub piece: Signal<In, Piece>,
    /// The walk slot of the plan is no longer needed.
    pub slot_freed: Signal<Out, Bit>,
    /// Jobs to the copy engine.
    pub jobs: MessageSource<CopyJob>,
    /// Owner of the job that is offered in the next cycle, if one is.
    pub next_owner: Signal<Out, Bits<8>>,
    /// A slot that waits for no memory is taken if it is offered; from registers.
    pub slot_passes: Signal<In, Bit>,

    control: SplitControl,
    effects: StepEffects,
    entry: Entry,
    maker: JobMaker,
    progress: Progress,
    plan: DFF<Plan>,
    summary: DFF<RunSummary>,

    state: Signal<Local, SplitState>,
    packet: Signal<Local, PlanItem>,
    new_packet: Signal<Local, PlanItem>,
    run: Signal<Local, RunPart>,
    new_run: Signal<Local, RunPart>,
    loads: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
}

impl Logic for Split {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, plan, summary);
        clock!(self, clock, progress, control);
        self.control.reset.next = self.reset.val();
        self.state.next = self.control.step.val();
        self.packet.next = self.plan.q.val().packet;
        self.new_packet.next = self.plans.payload.val().packet;
        self.run.next = self.plan.q.val().run;
        self.new_run.next = self.plans.payload.val().run;
        self.entry.sums.next = self.run.val().sums;
        self.entry.summary.next = self.summary.q.val();
        self.control.no_entry.next = self.run.val().joins & !self.run.val().ends;
        self.progress.ends_run.next = self.new_run.val().ends;
        self.effects.step.next = self.state.val();
        self.effects.memories.next = self.progress.memories.val();
        self.effects.last_piece.next = self.progress.last_piece.val();
        self.loads.next = self.effects.loads.val()
            | (self.effects.loads_with_slot.val() & self.slot_passes.val());
        self.plans.ready.next = self.loads.val();
        self.summaries.ready.next =
            self.loads.val() & self.plans.valid.val() & self.new_run.val().sums;
        self.control.loads.next = self.loads.val();

        self.entry.packet.next = self.packet.val();
        self.entry.cursor.next = self.plan.q.val().cursor;
        self.entry.reservation.next = self.plan.q.val().place;
        self.entry.two_slots.next = self.plan.q.val().two_slots;
        self.entry.needs_slow.next = self.plan.q.val().needs_slow;
        self.maker.step.next = self.state.val();
        self.maker.plan.next = self.plan.q.val();
        self.maker.metadata.next = self.entry.metadata.val();
        self.maker.piece.next = self.piece.val();
        self.maker.offset.next = self.progress.at.val();
        self.maker.last_piece.next = self.progress.last_piece.val();
        self.maker.memories.next = self.progress.memories.val();

        // A step offers one job.
        self.jobs.payload.next = self.maker.job.val();
        self.offered.next = self.state.val() != SplitState::Idle;
        self.jobs.valid.next = self.offered.val();
        self.control.plan_valid.next = self.plans.valid.val();
        self.control.plan.next = self.plans.payload.val();
        self.control.two_slots.next = self.plan.q.val().two_slots;
        self.control.taken.next = self.jobs.ready.val() & self.offered.val();
        self.control.last_piece.next = self.progress.last_piece.val();

        // The walk slot is freed with the last piece, or at once where none is placed.
        self.piece_slot.next = self.packet.val().slot;
        self.piece_number.next = self.progress.number.val();
        self.slot_freed.next = self.control.frees_with_plan.val()
            | (self.effects.frees_with_piece.val() & self.jobs.ready.val());

        self.progress.start.next = self.loads.val();
        self.progress.packet.next = self.new_packet.val();
        self.progress.piece.next = self.piece.val();
        self.progress.taken.next = (self.state.val() == SplitState::Pieces) & self.jobs.ready.val();
        self.next_owner.next = self.packet.val().owner;
        if self.loads.val() {
            self.plan.d.next = self.plans.payload.val();
            self.summary.d.next = self.summaries.payload.val();
            self.next_owner.next = self.new_packet.val().owner;
        }
    }
}
