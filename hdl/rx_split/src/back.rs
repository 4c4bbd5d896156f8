//! The last part of the receive path: from plans to writes.
//!
//! ```text
//!  plans, piece ─► split ─► copy ─► write_job, write_data, flush_job, confirmation
//!  settings ──────► control ───┘└──► running
//! ```
//! Timing: that of the stages.

use crate::align::BeatPair;
use crate::control::Control;
use crate::copy::Copy;
use crate::messages::{CopyJob, Piece, Plan, Release};
use crate::split::Split;
use stream::prelude::*;

/// The last part. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Back<const A: usize, const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Receive runs.
    pub running: Signal<Out, Bit>,
    /// What to write.
    pub plans: MessageSink<Plan>,
    /// Walk slot of the plan.
    pub piece_slot: Signal<Out, Bits<4>>,
    /// Number of the piece.
    pub piece_number: Signal<Out, Bits<4>>,
    /// That piece.
    pub piece: Signal<In, Piece>,
    /// The oldest walk slot is no longer needed.
    pub slot_freed: Signal<Out, Bit>,
    /// Beat to read.
    pub read_address: Signal<Out, Bits<A>>,
    /// It is read; without it the beat read last stays.
    pub read_enable: Signal<Out, Bit>,
    /// That beat and the next, one cycle later.
    pub read_data: Signal<In, BeatPair>,
    /// What the packet store may forget.
    pub release: PulseSource<Release>,

    /// Write jobs.
    pub write_job: MessageSource<WriteJob>,
    /// Their bytes.
    pub write_data: PacketSource,
    /// Flush reads.
    pub flush_job: MessageSource<ReadJob>,
    /// Their answers.
    pub flush_data: PacketSink,
    /// Confirmations behind the fence.
    pub confirmation: MessageSource<Confirmation>,
    /// A header entry was handed over.
    pub published: PulseSource<RingFetch>,

    control: Control,
    split: Split,
    copy: Copy<A, B, N>,
}

impl<const A: usize, const B: usize, const N: usize> Logic for Back<A, B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, control, split, copy);
        self.control.reset.next = self.reset.val();
        self.split.reset.next = self.reset.val();
        self.copy.reset.next = self.reset.val();
        MessageSink::<Plan>::link(&mut self.plans, &mut self.split.plans);
        self.piece_slot.next = self.split.piece_slot.val();
        self.piece_number.next = self.split.piece_number.val();
        self.split.piece.next = self.piece.val();
        self.slot_freed.next = self.split.slot_freed.val();
        MessageSource::<CopyJob>::join(&mut self.split.jobs, &mut self.copy.jobs);
        self.copy.next_owner.next = self.split.next_owner.val();
        self.split.slot_passes.next = self.copy.slot_passes.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.control.settings);
        self.running.next = self.control.running.val();
        self.control.memory.next = self.copy.memory.val();
        self.copy.flush_address.next = self.control.flush_address.val();
        self.read_address.next = self.copy.read_address.val();
        self.read_enable.next = self.copy.read_enable.val();
        self.copy.read_data.next = self.read_data.val();
        PulseSource::<Release>::link(&mut self.release, &mut self.copy.release);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.copy.write_job);
        PacketSource::link(&mut self.write_data, &mut self.copy.write_data);
        MessageSource::<ReadJob>::link(&mut self.flush_job, &mut self.copy.flush_job);
        PacketSink::link(&mut self.flush_data, &mut self.copy.flush_data);
        MessageSource::<Confirmation>::link(&mut self.confirmation, &mut self.copy.confirmation);
        PulseSource::<RingFetch>::link(&mut self.published, &mut self.copy.published);
    }
}
