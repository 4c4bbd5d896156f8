//! The last part of the receive path: from plans to writes. Instances and joins only.
//!
//! ```text
//!  plans, piece ─► split ─► copy ─► write_job, write_data, flush_job, confirmation
//!  settings ──────► control ───┘└──► running
//! ```
//! Timing: that of the stages.
//!
//! Invariants: those of the stages. They rely on the piece of a slot and number, which stands until
//! the slot is freed.
//!
//! Source: docs/specification.md, Delivery and Hold.

use crate::align::BeatPair;
use crate::control::Control;
use crate::copy::Copy;
use crate::messages::{CopyJob, Piece, Plan, Release, RunSummary};
use crate::split::Split;
use stream::prelude::*;

/// The delivery stages, for a packet buffer of 2^BUFFER_BITS beats and 2^OWNER_BITS owners. See the
/// module's head.
#[derive(LogicBlock, Default)]
pub struct Delivery<const BUFFER_BITS: usize, const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: plans and jobs inside are forgotten, receive is stopped; flush addresses
    /// are kept.
    pub reset: Signal<In, Bit>,

    /// Register writes: `CONTROL` and flush addresses.
    pub settings: PulseSink<RegisterWrite>,
    /// Receive runs.
    pub running: Signal<Out, Bit>,
    /// Plans from `admit`, in order.
    pub plans: MessageSink<Plan>,
    /// One summary for each plan that sums.
    pub summaries: MessageSink<RunSummary>,
    /// Walk slot of the plan at hand.
    pub piece_slot: Signal<Out, Bits<4>>,
    /// Number of the piece that is requested.
    pub piece_number: Signal<Out, Bits<4>>,
    /// Piece that `piece_slot` and `piece_number` name, in the same cycle.
    pub piece: Signal<In, Piece>,
    /// The oldest walk slot is no longer needed.
    pub slot_freed: Signal<Out, Bit>,
    /// Beat of the packet buffer to read.
    pub read_address: Signal<Out, Bits<BUFFER_BITS>>,
    /// Reads `read_address`; without it `read_data` must keep its value.
    pub read_enable: Signal<Out, Bit>,
    /// Beat that was read and the one after it, one cycle after `read_enable`.
    pub read_data: Signal<In, BeatPair>,
    /// Packets that were read for the last time: the beats before the pointer are free.
    pub release: PulseSource<Release>,

    /// Jobs to `dma.write`.
    pub write_job: MessageSource<WriteJob>,
    /// Bytes of the write jobs.
    pub write_data: PacketSource,
    /// Flush reads to `dma.read`.
    pub flush_job: MessageSource<ReadJob>,
    /// Read data of the flush reads, in order.
    pub flush_data: PacketSink,
    /// Confirmations whose fence has passed on the receive side.
    pub confirmation: MessageSource<Confirmation>,
    /// One pulse for each header entry that was handed over, with its owner and the slots produced
    /// so far.
    pub published: PulseSource<RingFetch>,

    control: Control,
    split: Split,
    copy: Copy<BUFFER_BITS, OWNER_BITS, OWNERS>,
}

impl<const BUFFER_BITS: usize, const OWNER_BITS: usize, const OWNERS: usize> Logic
    for Delivery<BUFFER_BITS, OWNER_BITS, OWNERS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, control, split, copy);
        self.control.reset.next = self.reset.val();
        self.split.reset.next = self.reset.val();
        self.copy.reset.next = self.reset.val();
        MessageSink::<Plan>::link(&mut self.plans, &mut self.split.plans);
        MessageSink::<RunSummary>::link(&mut self.summaries, &mut self.split.summaries);
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
