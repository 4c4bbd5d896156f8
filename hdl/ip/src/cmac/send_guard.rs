//! Lets frames to the MAC's side while there is a link and nothing of an old epoch is left there.
//!
//! ```text
//!  frames ──► link up? ── yes ──► beats (to the crossing)
//!               └ no: taken and counted as unsent
//!  reset ──► flush ──────► the MAC's side empties itself ──► flushed
//! ```
//! An epoch does not wait for the MAC's clock. `flush` rises with it and stays until the MAC's side
//! has answered; until then no beat enters the crossing, however many epochs begin meanwhile. So
//! nothing on the MAC's side needs a number to be known as old.
//!
//! Timing: combinational from `frames` to `beats`.
//!
//! Invariants:
//! 1. While `flush` or `flushed` is high no beat enters `beats`.
//! 2. A frame that has begun and finds the link down is closed with `abort`; the rest of it is
//!    taken. A frame that begins while the link is down is taken whole. Each is one `unsent`.
//! 3. While the link is down, `frames` never waits, except for the rest of a reset.
//!
//! Source: decision 12; docs/specification.md, Wire.

use stream::prelude::*;

/// The guard. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SendGuard {
    /// PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An epoch begins: a frame begun on `frames` is not finished.
    pub reset: Signal<In, Bit>,
    /// Frames can leave: the MAC's clock runs and both ends of the wire are aligned.
    pub link_up: Signal<In, Bit>,

    /// Frames to send.
    pub frames: PacketSink,
    /// Beats for the MAC's side.
    pub beats: MessageSource<PacketBeat>,
    /// The MAC's side is to empty itself.
    pub flush: Signal<Out, Bit>,
    /// The MAC's side has emptied itself; falls after `flush`.
    pub flushed: Signal<In, Bit>,

    /// The last beat of a frame leaves; aborted frames are not counted.
    pub frame_done: Signal<Out, Bit>,
    /// The last beat of a frame that is not sent: the link is down.
    pub unsent: Signal<Out, Bit>,
    /// A beat of `frames` was taken.
    pub beat_taken: Signal<Out, Bit>,
    /// A beat of `frames` waits.
    pub beat_stalled: Signal<Out, Bit>,

    flushing: DFF<Bit>,
    in_frame: DFF<Bit>,
    discarding: DFF<Bit>,
    closing: DFF<Bit>,

    beat: Signal<Local, PacketBeat>,
    open: Signal<Local, Bit>,
    discards: Signal<Local, Bit>,
    cuts: Signal<Local, Bit>,
    passes: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    #[value(64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for SendGuard {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, flushing, in_frame, discarding, closing);
        self.flush.next = self.flushing.q.val();
        self.open.next = !self.flushing.q.val() & !self.flushed.val() & !self.reset.val();
        if self.flushing.q.val() {
            self.flushing.d.next = !self.flushed.val();
        } else if self.reset.val() & !self.flushed.val() {
            self.flushing.d.next = true;
        }

        // What is begun without a link is discarded; what has lost it is cut, then discarded.
        self.discards.next =
            self.discarding.q.val() | (!self.in_frame.q.val() & !self.link_up.val());
        self.cuts.next = self.in_frame.q.val() & !self.discarding.q.val() & !self.link_up.val();
        self.passes.next =
            self.open.val() & !self.closing.q.val() & !self.discards.val() & !self.cuts.val();
        self.takes.next = !self.reset.val()
            & (self.discards.val() | (self.passes.val() & self.beats.ready.val()));
        self.frames.ready.next = self.takes.val();
        self.beat_taken.next = self.frames.valid.val() & self.takes.val();
        self.beat_stalled.next = self.frames.valid.val() & !self.takes.val();

        self.beat.next.data = self.frames.data.val();
        self.beat.next.byte_count = self.frames.byte_count.val();
        self.beat.next.last = self.frames.last.val();
        self.beat.next.abort = self.frames.abort.val();
        self.beats.valid.next = self.frames.valid.val() & self.passes.val();
        if self.closing.q.val() {
            self.beat.next.byte_count = self.beat_bytes.val();
            self.beat.next.last = true;
            self.beat.next.abort = true;
            self.beats.valid.next = self.open.val();
        }
        self.beats.payload.next = self.beat.val();

        self.frame_done.next = false;
        self.unsent.next = false;
        if self.closing.q.val() & self.open.val() {
            self.closing.d.next = !self.beats.ready.val();
        }
        if self.cuts.val() {
            self.closing.d.next = true;
            self.discarding.d.next = true;
        }
        if self.frames.valid.val() & self.takes.val() {
            self.in_frame.d.next = !self.frames.last.val();
            self.discarding.d.next = self.discards.val() & !self.frames.last.val();
            self.frame_done.next =
                self.passes.val() & self.frames.last.val() & !self.frames.abort.val();
            self.unsent.next =
                self.discards.val() & self.frames.last.val() & !self.frames.abort.val();
        }
        if self.reset.val() {
            self.in_frame.d.next = false;
            self.discarding.d.next = false;
            self.closing.d.next = false;
        }
    }
}
