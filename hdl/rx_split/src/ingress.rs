//! The door: admits frames beat by beat and judges them as the MAC does.
//!
//! ```text
//!  frames ──► [room?] ──► count, first/last, runt, giant, bad FCS, stopped ──► beats
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | frames | in | whole frames; `abort` is a bad FCS |
//! | room | in | the packet store can take all that is on its way, and one beat more |
//! | running | in | receive runs |
//! | beats | out | numbered beats; `refused` on the last one of a frame to be dropped |
//! | frame_done | out | a frame came in to its end |
//!
//! Timing: one beat a cycle, latency one cycle; `frames.ready` is `room`.
//!
//! Invariants:
//! 1. Every frame that comes in leaves at least its last beat in `beats`: it is counted further on.
//! 2. No frame leaves more than 145 beats: a giant is cut, its last beat tells.
//! 3. A frame that began while receive was stopped, or during a reset, is refused as `stopped`.
//! 4. The first check that fails names the reason: stopped, giant, runt, bad_fcs.

use crate::messages::RxBeat;
use abi::config::{BEAT_BYTES, FRAME_BYTES_MAX, FRAME_BYTES_MIN};
use abi::reason::DropReason;
use stream::prelude::*;

/// The door. See the module's head.
#[derive(LogicBlock)]
pub struct Ingress {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Frames from the MAC.
    pub frames: PacketSink,
    /// Beats to the parser.
    pub beats: PulseSource<RxBeat>,
    /// A frame came in to its end.
    pub frame_done: Signal<Out, Bit>,

    /// The store has room for one beat more.
    pub room: Signal<In, Bit>,
    /// Receive runs.
    pub running: Signal<In, Bit>,

    index: DFF<Bits<8>>,
    in_frame: DFF<Bit>,
    stopped: DFF<Bit>,
    beat: DFF<RxBeat>,
    beat_valid: DFF<Bit>,
    done: DFF<Bit>,

    take: Signal<Local, Bit>,
    stop: Signal<Local, Bit>,
    giant: Signal<Local, Bit>,
    first_beat: Signal<Local, Bit>,
    runt: Signal<Local, Bit>,
    reason: Signal<Local, Bits<4>>,
    beats_max: Constant<Bits<8>>,
    bytes_min: Constant<Bits<7>>,
    reason_bad_fcs: Constant<Bits<4>>,
    reason_runt: Constant<Bits<4>>,
    reason_giant: Constant<Bits<4>>,
    reason_stopped: Constant<Bits<4>>,
}

impl Default for Ingress {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            frames: Default::default(),
            beats: Default::default(),
            frame_done: Default::default(),
            room: Default::default(),
            running: Default::default(),
            index: Default::default(),
            in_frame: Default::default(),
            stopped: Default::default(),
            beat: Default::default(),
            beat_valid: Default::default(),
            done: Default::default(),
            take: Default::default(),
            stop: Default::default(),
            giant: Default::default(),
            first_beat: Default::default(),
            runt: Default::default(),
            reason: Default::default(),
            beats_max: Constant::new(((FRAME_BYTES_MAX / BEAT_BYTES) as u64).to_bits()),
            bytes_min: Constant::new((FRAME_BYTES_MIN as u64).to_bits()),
            reason_bad_fcs: Constant::new((DropReason::BadFcs as u64).to_bits()),
            reason_runt: Constant::new((DropReason::Runt as u64).to_bits()),
            reason_giant: Constant::new((DropReason::Giant as u64).to_bits()),
            reason_stopped: Constant::new((DropReason::Stopped as u64).to_bits()),
        }
    }
}

impl Logic for Ingress {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, index, in_frame, stopped, beat, beat_valid, done);
        self.frames.ready.next = self.room.val();
        self.take.next = self.frames.valid.val() & self.room.val();
        self.beats.valid.next = self.beat_valid.q.val();
        self.beats.payload.next = self.beat.q.val();
        self.frame_done.next = self.done.q.val();

        self.stop.next = self.stopped.q.val();
        if !self.in_frame.q.val() {
            self.stop.next = !self.running.val() | self.reset.val();
        }
        self.giant.next = self.index.q.val() == self.beats_max.val();
        self.first_beat.next = self.index.q.val() == 0;
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

        self.beat.d.next.data = self.frames.data.val();
        self.beat.d.next.byte_count = self.frames.byte_count.val();
        self.beat.d.next.index = self.index.q.val();
        self.beat.d.next.first = !self.in_frame.q.val() | self.stop.val();
        self.beat.d.next.last = self.frames.last.val();
        self.beat.d.next.refused =
            self.frames.abort.val() | self.runt.val() | self.giant.val() | self.stop.val();
        self.beat.d.next.reason = self.reason.val();
        if self.stop.val() {
            self.beat.d.next.index = bits::<8>(0);
        }
        self.beat_valid.d.next =
            self.take.val() & (self.frames.last.val() | !(self.stop.val() | self.giant.val()));
        self.done.d.next = self.take.val() & self.frames.last.val();

        if self.take.val() {
            self.in_frame.d.next = !self.frames.last.val();
            self.stopped.d.next = self.stop.val();
            if self.frames.last.val() {
                self.index.d.next = bits::<8>(0);
            } else if !self.giant.val() {
                self.index.d.next = self.index.q.val() + 1;
            }
        }
        if self.reset.val() {
            self.stopped.d.next = true;
        }
    }
}
