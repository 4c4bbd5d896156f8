//! The door: admits frames beat by beat and judges them as the MAC does.
//!
//! ```text
//!  frames ──► [room?] ──► count, first/last, full, stopped, runt, giant, bad FCS ──► beats
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | frames | in | whole frames; `abort` is a bad FCS; never held back |
//! | room | in | the packet store can take all that is on its way, and one beat more |
//! | gate | in | receive runs, and how many epochs have begun |
//! | beats | out | numbered beats; `refused` on the last one of a frame to be dropped |
//!
//! Timing: one beat a cycle, latency one cycle. It is the MAC's clock: a MAC waits for nobody.
//!
//! Invariants:
//! 1. Every frame that comes in leaves at least its last beat in `beats`: it is counted further on.
//! 2. The beats of a frame in `beats` are numbered from 0 without a gap; the first has `first`.
//! 3. No frame leaves more than 145 beats: a giant is cut, its last beat tells.
//! 4. A frame that finds no room for one of its beats leaves only its last from there on, refused.
//! 5. A frame that began while receive was stopped, or before the latest epoch known here, is
//!    refused as `stopped`.
//! 6. The first check that fails names the reason: rx_fifo_full, stopped, giant, runt, bad_fcs.

use crate::messages::{Gate, RxBeat};
use abi::config::{BEAT_BYTES, FRAME_BYTES_MAX, FRAME_BYTES_MIN};
use abi::reason::DropReason;
use stream::prelude::*;

/// The door. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Ingress {
    /// Clock of the MAC.
    pub clock: Signal<In, Clock>,

    /// Frames from the MAC.
    pub frames: PacketSink,
    /// Beats to the parser.
    pub beats: PulseSource<RxBeat>,

    /// The store has room for one beat more.
    pub room: Signal<In, Bit>,
    /// Whether receive runs, and in which epoch.
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
        dff_setup!(
            self,
            clock,
            index,
            in_frame,
            stopped,
            full,
            epoch_begins,
            beat,
            beat_valid
        );
        self.frames.ready.next = true;
        self.beats.valid.next = self.beat_valid.q.val();
        self.beats.payload.next = self.beat.q.val();

        // What is decided at the first beat, or by an epoch that begins within the frame, stays.
        self.stop.next =
            self.stopped.q.val() | (self.gate.val().epoch_begins != self.epoch_begins.q.val());
        self.is_full.next = self.full.q.val() | !self.room.val();
        if !self.in_frame.q.val() {
            self.stop.next = !self.gate.val().running;
            self.is_full.next = !self.room.val();
            self.epoch_begins.d.next = self.gate.val().epoch_begins;
        }
        self.first_beat.next = self.index.q.val() == 0;
        self.giant.next = self.index.q.val() == self.beats_max.val();
        self.runt.next =
            self.first_beat.val() & (self.frames.byte_count.val() < self.bytes_min.val());
        self.reason.next = self.reason_bad_fcs.val();
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
                self.index.d.next = bits::<8>(0);
            } else if self.passes.val() {
                self.index.d.next = self.index.q.val() + 1;
            }
        }
    }
}
