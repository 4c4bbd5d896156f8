//! The copy job of each step of a plan.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. The first slot is the last job of its packet: it publishes the entry and releases the packet.
//! 2. Slots name the memories that wait for a flush read; other jobs need not look at them.
//! 3. A second slot repeats the metadata, with the phase of its own pass over the queue, and goes
//!    on at header byte 64, the packet's second beat: no slot ever holds a stale phase.
//! 4. A slot write is exactly metadata plus header long, to save link bandwidth.
//!
//! Source: docs/specification.md, Delivery; `abi::header_entry`.

use crate::messages::{CopyJob, CopyKind, Piece, Plan, PlanItem, Reservation, RunPart, RxItemKind};
use crate::split::payload_job::{PayloadJob, PayloadRange};
use crate::split::split_state::SplitState;
use abi::config::{METADATA_BYTES, SLOT_BYTES};
use abi::header_entry::{PHASE, SECOND_SLOT_HEADER_AT};
use stream::prelude::*;

/// Header bytes before those of the second slot, less the metadata in front of them.
const SECOND_SKIPPED_BYTES: u64 = (SECOND_SLOT_HEADER_AT - METADATA_BYTES) as u64;

/// The kind of job that a step offers: a block of its own, so that later logic is not in its path.
#[derive(LogicBlock, Default)]
pub struct StepKind {
    /// Step of the plan.
    pub step: Signal<In, SplitState>,
    /// Kind of the step's job.
    pub kind: Signal<Out, CopyKind>,
    /// The job is a slot: the metadata go before its bytes.
    pub is_slot: Signal<Out, Bit>,
}

impl Logic for StepKind {
    #[hdl_gen]
    fn update(&mut self) {
        self.kind.next = CopyKind::Write;
        self.is_slot.next = false;
        match self.step.val() {
            SplitState::First => self.is_slot.next = true,
            SplitState::Second => self.is_slot.next = true,
            SplitState::Discard => self.kind.next = CopyKind::Release,
            SplitState::Confirm => self.kind.next = CopyKind::Confirm,
            _ => {}
        }
    }
}

/// The jobs. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct JobMaker {
    /// Step of the plan.
    pub step: Signal<In, SplitState>,
    /// Plan at hand.
    pub plan: Signal<In, Plan>,
    /// Metadata of the plan's header entry.
    pub metadata: Signal<In, Bits<256>>,
    /// Piece that is written next.
    pub piece: Signal<In, Piece>,
    /// Byte of the packet at which the piece begins.
    pub offset: Signal<In, Bits<16>>,
    /// The piece is the last one.
    pub last_piece: Signal<In, Bit>,
    /// Memories except 0 that the payload was written to, one bit each.
    pub memories: Signal<In, Bits<4>>,
    /// Job of the step.
    pub job: Signal<Out, CopyJob>,

    sort: StepKind,
    payload: PayloadJob,

    packet: Signal<Local, PlanItem>,
    place: Signal<Local, Reservation>,
    run: Signal<Local, RunPart>,
    range: Signal<Local, PayloadRange>,
    slot: Signal<Local, CopyJob>,
    second: Signal<Local, CopyJob>,
    #[value(CopyJob::default())]
    none: Constant<CopyJob>,
    #[value(SLOT_BYTES as u64)]
    slot_bytes: Constant<Bits<14>>,
    #[value(METADATA_BYTES as u64)]
    metadata_bytes: Constant<Bits<14>>,
    #[value(SECOND_SKIPPED_BYTES)]
    second_skipped_bytes: Constant<Bits<14>>,
    #[value(1 << PHASE.offset)]
    phase_bit: Constant<Bits<256>>,
}

impl Logic for JobMaker {
    #[hdl_gen]
    fn update(&mut self) {
        self.packet.next = self.plan.val().packet;
        self.place.next = self.plan.val().place;
        self.run.next = self.plan.val().run;

        self.sort.step.next = self.step.val();
        self.slot.next = self.none.val();
        self.slot.next.kind = self.sort.kind.val();
        self.slot.next.start = self.packet.val().start;
        self.slot.next.head = self.sort.is_slot.val();
        self.slot.next.shift = bits::<6>(32);
        self.slot.next.address = self.place.val().slot_address;
        self.slot.next.bytes =
            bit_cast::<14, 8>(self.packet.val().header_bytes) + self.metadata_bytes.val();
        if self.plan.val().two_slots {
            self.slot.next.bytes = self.slot_bytes.val();
        }
        self.slot.next.metadata = self.metadata.val();
        self.slot.next.release = (self.packet.val().kind != RxItemKind::Event)
            & (self.packet.val().kind != RxItemKind::Run);
        self.slot.next.release_pointer = self.packet.val().stop;
        self.slot.next.charge = self.packet.val().charge;
        self.slot.next.publish = !self.run.val().keeps;
        self.slot.next.keeps = self.run.val().keeps;
        self.slot.next.kept = self.run.val().ends;
        self.slot.next.place = self.packet.val().flow.get_bits::<5>(0);
        self.slot.next.owner = self.packet.val().owner;
        self.slot.next.index = self.place.val().header_producer;
        self.slot.next.memories = self.memories.val();

        self.second.next = self.slot.val();
        self.second.next.start = self.packet.val().start + 1;
        self.second.next.address = self.place.val().second_address;
        self.second.next.bytes =
            bit_cast::<14, 8>(self.packet.val().header_bytes) - self.second_skipped_bytes.val();
        if self.place.val().second_address < self.place.val().slot_address {
            // The second slot is in the next pass.
            self.second.next.metadata = self.metadata.val() ^ self.phase_bit.val();
        }
        self.second.next.release = false;
        self.second.next.publish = false;

        self.payload.is_piece.next = self.step.val() == SplitState::Pieces;
        self.payload.is_slow.next = self.step.val() == SplitState::Slow;
        self.payload.plan.next = self.plan.val();
        self.payload.piece.next = self.piece.val();
        self.payload.offset.next = self.offset.val();
        self.payload.last_piece.next = self.last_piece.val();
        self.payload.memories.next = self.memories.val();

        self.range.next = self.payload.job.val();
        self.job.next = self.slot.val();
        if self.step.val() == SplitState::Second {
            self.job.next = self.second.val();
        }
        if (self.step.val() == SplitState::Pieces) | (self.step.val() == SplitState::Slow) {
            // A payload job has no head: it neither publishes nor keeps, nor releases the packet.
            self.job.next.release = false;
            self.job.next.publish = false;
            self.job.next.start = self.range.val().start;
            self.job.next.shift = self.range.val().shift;
            self.job.next.address = self.range.val().address;
            self.job.next.bytes = self.range.val().bytes;
        }
        self.job.next.shares = self.range.val().shares;
        if self.step.val() == SplitState::Confirm {
            self.job.next.index = self.packet.val().position;
            self.job.next.status = self.packet.val().generation;
        }
    }
}
