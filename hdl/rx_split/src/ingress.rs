//! The ingress gate: admits received frames beat by beat and judges what the MAC knows of them.
//!
//! ```text
//!  frames ──► [free space?] ──► count, first/last, full, stopped, runt, giant, bad FCS ──► beats
//! ```
//! Timing: one beat per cycle, latency one cycle, no back-pressure: a MAC cannot be stalled.
//!
//! Invariants:
//! 1. Every frame that enters leaves at least its last beat in `beats`, so it is counted later.
//! 2. The beats of a frame in `beats` are numbered from 0 without a gap; the first has `first`.
//! 3. No frame leaves more than 145 beats: a giant is cut, and its last beat is refused.
//! 4. A frame that finds no space for one of its beats leaves only its last beat from there on,
//!    refused.
//! 5. A frame that began while receive was stopped, or before the latest epoch known here, is
//!    refused as `stopped`.
//! 6. The first check that fails is the reason: rx_fifo_full, stopped, giant, runt, mac_reset,
//!    bad_fcs.
//!
//! On error: the frame is marked with `refused` and its reason; it is dropped after the last beat.
//!
//! Source: docs/specification.md, Checks and Reset.

use crate::messages::{Gate, RxBeat};
use abi::config::{BEAT_BYTES, FRAME_BYTES_MAX, FRAME_BYTES_MIN};
use abi::reason::DropReason;
use stream::prelude::*;

/// The ingress gate. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Ingress {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// Whole frames from the MAC without FCS, never stalled; `abort` marks a bad FCS.
    pub frames: PacketSink,
    /// With the last beat in `frames`, which has `abort`: a reset of the MAC cut the frame off.
    pub cut: Signal<In, Bit>,
    /// Numbered beats to the parser; `refused` is set on the last beat of a frame that is to be
    /// dropped.
    pub beats: PulseSource<RxBeat>,

    /// The packet buffer has space for everything on its way and for one beat more.
    pub has_space: Signal<In, Bit>,
    /// State of the ingress gate: whether receive runs, and how many epochs have begun.
    pub gate: Signal<In, Gate>,

    index: DFF<Bits<8>>,
    in_frame: DFF<Bit>,
    stopped: DFF<Bit>,
    full: DFF<Bit>,
    epoch_begins: DFF<Bits<4>>,
    beat: DFF<RxBeat>,
    beat_valid: DFF<Bit>,

    is_full: Signal<Local, Bit>,
    passes: Signal<Local, Bit>,
    stop: Signal<Local, Bit>,
    giant: Signal<Local, Bit>,
    first_beat: Signal<Local, Bit>,
    runt: Signal<Local, Bit>,
    reason: Signal<Local, DropCode>,
    #[value((FRAME_BYTES_MAX / BEAT_BYTES) as u64)]
    beats_max: Constant<Bits<8>>,
    #[value(FRAME_BYTES_MIN as u64)]
    bytes_min: Constant<Bits<7>>,
    #[value(DropReason::BadFcs as u64)]
    reason_bad_fcs: Constant<DropCode>,
    #[value(DropReason::MacReset as u64)]
    reason_cut: Constant<DropCode>,
    #[value(DropReason::Runt as u64)]
    reason_runt: Constant<DropCode>,
    #[value(DropReason::Giant as u64)]
    reason_giant: Constant<DropCode>,
    #[value(DropReason::Stopped as u64)]
    reason_stopped: Constant<DropCode>,
    #[value(DropReason::RxFifoFull as u64)]
    reason_full: Constant<DropCode>,
}

impl Logic for Ingress {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, index, in_frame, stopped, full);
        dff_setup!(self, clock, epoch_begins, beat, beat_valid);
        self.frames.ready.next = true;
        self.beats.valid.next = self.beat_valid.q.val();
        self.beats.payload.next = self.beat.q.val();

        // What is decided at the first beat, or by an epoch that begins within the frame, stays.
        self.stop.next =
            self.stopped.q.val() | (self.gate.val().epoch_begins != self.epoch_begins.q.val());
        self.is_full.next = self.full.q.val() | !self.has_space.val();
        if !self.in_frame.q.val() {
            self.stop.next = !self.gate.val().running;
            self.is_full.next = !self.has_space.val();
            self.epoch_begins.d.next = self.gate.val().epoch_begins;
        }
        self.first_beat.next = self.index.q.val() == 0;
        self.giant.next = self.index.q.val() == self.beats_max.val();
        self.runt.next =
            self.first_beat.val() & (self.frames.byte_count.val() < self.bytes_min.val());
        self.reason.next = self.reason_bad_fcs.val();
        if self.cut.val() {
            self.reason.next = self.reason_cut.val();
        }
        if self.runt.val() {
            self.reason.next = self.reason_runt.val();
        }
        if self.giant.val() {
            self.reason.next = self.reason_giant.val();
        }
        if self.stop.val() {
            self.reason.next = self.reason_stopped.val();
        }
        if self.is_full.val() {
            self.reason.next = self.reason_full.val();
        }

        self.beat.d.next.data = self.frames.data.val();
        self.beat.d.next.byte_count = self.frames.byte_count.val();
        self.beat.d.next.index = self.index.q.val();
        self.beat.d.next.first = self.first_beat.val();
        self.beat.d.next.last = self.frames.last.val();
        self.beat.d.next.refused = self.frames.abort.val()
            | self.runt.val()
            | self.giant.val()
            | self.stop.val()
            | self.is_full.val();
        self.beat.d.next.reason = self.reason.val();
        self.passes.next =
            self.frames.last.val() | !(self.stop.val() | self.giant.val() | self.is_full.val());
        self.beat_valid.d.next = self.frames.valid.val() & self.passes.val();

        if self.frames.valid.val() {
            self.in_frame.d.next = !self.frames.last.val();
            self.stopped.d.next = self.stop.val();
            self.full.d.next = self.is_full.val();
            if self.frames.last.val() {
                self.index.d.next = 0.into();
            } else if self.passes.val() {
                self.index.d.next = self.index.q.val() + 1;
            }
        }
    }
}
