//! The MAC's send port: a register that ends what it may not finish.
//!
//! ```text
//!  frames ──► [beat register] ──► tx_axis
//!  flush ─────► withdraws a frame that has not begun, ends one that has with tuser 1
//!  mac_reset ─► forgets the frame at the port, skips the rest of it; one that just came waits
//!  hold ──────► no frame begins
//! ```
//! Timing: latency one cycle, one beat per cycle. All outputs but `frames_ready` are registers.
//!
//! Invariants:
//! 1. `tx_axis_tvalid` does not fall inside a frame, and an offered beat stays until it is taken;
//!    only `flush` and a reset of the MAC break that.
//! 2. After `flush` nothing of an earlier frame leaves but the end of one of which the MAC has
//!    taken a beat: one beat of zeros with `tlast` and `tuser` 1.
//! 3. After a reset of the MAC the first beat is that of a frame. None begins within 64 cycles of
//!    it: where the clock stood before, a `flush` that was asked for meanwhile has come by then.
//!
//! Each frame that is ended so or skipped is one pulse of `cut`.
//!
//! Source: PG203 (CMAC UltraScale+), AXI4-Stream user interface, resets.

use stream::prelude::*;

/// Says whether a frame may begin.
#[derive(LogicBlock, BlockDefault)]
pub struct BeginGate {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// No frame is to begin.
    pub hold: Signal<In, Bit>,
    /// The MAC's send side is in reset.
    pub mac_reset: Signal<In, Bit>,
    /// A frame may begin. Low for 64 cycles from the second cycle of `mac_reset` on, anew in each.
    pub open: Signal<Out, Bit>,

    /// Cycles left in which no frame begins.
    settling: DFF<Bits<6>>,
    /// No cycle was left.
    settled: DFF<Bit>,

    is_settling: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<6>>,
    #[value(63)]
    settling_cycles: Constant<Bits<6>>,
}

impl Logic for BeginGate {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, settling, settled);
        self.is_settling.next = self.settling.q.val().any();
        self.settled.d.next = !self.is_settling.val() & !self.mac_reset.val();
        if self.is_settling.val() {
            self.settling.d.next = self.settling.q.val() - self.one.val();
        }
        if self.mac_reset.val() {
            self.settling.d.next = self.settling_cycles.val();
        }
        self.open.next = !self.hold.val() & self.settled.q.val();
    }
}

/// Skips the rest of a frame that was cut off.
#[derive(LogicBlock, Default)]
pub struct SkipRest {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// The source empties itself.
    pub forgets: Signal<In, Bit>,
    /// The last beat of a frame is offered.
    pub ends: Signal<In, Bit>,
    /// The frame at the port is cut off.
    pub cuts: Signal<In, Bit>,
    /// The port takes the beat that is offered.
    pub loads: Signal<In, Bit>,
    /// Beats are skipped, to the end of a frame.
    pub skips: Signal<Out, Bit>,

    skipping: DFF<Bit>,
}

impl Logic for SkipRest {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, skipping);
        self.skips.next = self.skipping.q.val();
        if self.ends.val() {
            self.skipping.d.next = false;
        }
        if self.cuts.val() {
            self.skipping.d.next = !(self.loads.val() & self.ends.val());
        }
        if self.forgets.val() {
            self.skipping.d.next = false;
        }
    }
}

/// The port. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SendPort {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// Whole frames; a frame that has begun never pauses.
    pub frames: PacketSink,
    /// Nothing of what came before is to leave. The source empties itself.
    pub flush: Signal<In, Bit>,
    /// The MAC's send side is in reset.
    pub mac_reset: Signal<In, Bit>,
    /// No frame is to begin.
    pub hold: Signal<In, Bit>,
    /// A frame was ended or skipped that the MAC has not taken whole.
    pub cut: Signal<Out, Bit>,

    /// Frame bytes, byte 0 in bits 7:0. A frame has at least 60 bytes, without FCS.
    pub tdata: Signal<Out, Bits<512>>,
    /// Valid bytes, contiguous from bit 0.
    pub tkeep: Signal<Out, Bits<64>>,
    /// A beat is offered.
    pub tvalid: Signal<Out, Bit>,
    /// Last beat of the frame.
    pub tlast: Signal<Out, Bit>,
    /// The frame is to be marked bad. Valid on the last beat.
    pub tuser: Signal<Out, Bit>,
    /// The MAC takes the beat.
    pub tready: Signal<In, Bit>,

    data: DFF<Bits<512>>,
    keep: DFF<Bits<64>>,
    valid: DFF<Bit>,
    last: DFF<Bit>,
    bad: DFF<Bit>,
    /// More beats of the frame at the port are to come.
    goes_on: DFF<Bit>,
    /// The MAC has taken a beat of the frame, and not its last one.
    begun: DFF<Bit>,
    ended: DFF<Bit>,
    /// The first beat of a frame that came as a reset of the MAC began is kept in the register.
    kept: DFF<Bit>,
    gate: BeginGate,
    rest: SkipRest,

    is_free: Signal<Local, Bit>,
    may: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
    /// The first beat of a frame comes.
    begins: Signal<Local, Bit>,
    is_begun: Signal<Local, Bit>,
    #[value(u64::MAX)]
    full_keep: Constant<Bits<64>>,
    #[value(64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for SendPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, data, keep, valid, last, bad, goes_on, begun, ended, kept);
        clock!(self, clock, gate, rest);
        self.gate.hold.next = self.hold.val();
        self.gate.mac_reset.next = self.mac_reset.val();
        self.tdata.next = self.data.q.val();
        self.tkeep.next = self.keep.q.val();
        self.tvalid.next = self.valid.q.val();
        self.tlast.next = self.last.q.val();
        self.tuser.next = self.bad.q.val();
        self.cut.next = self.ended.q.val();

        self.is_free.next = !self.kept.q.val() & (!self.valid.q.val() | self.tready.val());
        self.may.next = (self.goes_on.q.val() | self.gate.open.val())
            & !self.rest.skips.val()
            & !self.flush.val();
        self.loads.next = self.is_free.val() & self.may.val() & self.frames.valid.val();
        self.frames.ready.next = (self.is_free.val() & self.may.val()) | self.rest.skips.val();
        self.is_begun.next = self.begun.q.val();
        if self.valid.q.val() & self.tready.val() {
            self.is_begun.next = !self.last.q.val();
        }
        self.begun.d.next = self.is_begun.val();
        self.ended.d.next = false;

        if self.is_free.val() {
            self.valid.d.next = self.loads.val();
        }
        self.rest.forgets.next = self.flush.val();
        self.rest.ends.next = self.frames.valid.val() & self.frames.last.val();
        self.rest.cuts.next = self.mac_reset.val() & self.goes_on.q.val() & !self.kept.q.val();
        self.rest.loads.next = self.loads.val();
        self.begins.next = self.loads.val() & !self.goes_on.q.val();
        if self.kept.q.val() {
            self.valid.d.next = self.gate.open.val();
            self.kept.d.next = !self.gate.open.val();
        }
        if self.loads.val() {
            self.data.d.next = self.frames.data.val();
            self.keep.d.next =
                self.full_keep.val() >> (self.beat_bytes.val() - self.frames.byte_count.val());
            self.last.d.next = self.frames.last.val();
            self.bad.d.next = false;
            self.goes_on.d.next = !self.frames.last.val();
        }
        if self.flush.val() {
            self.kept.d.next = false;
            self.goes_on.d.next = false;
            self.valid.d.next = self.is_begun.val();
            if self.is_begun.val() {
                self.data.d.next = 0.into();
                self.keep.d.next = self.full_keep.val();
                self.last.d.next = true;
                self.bad.d.next = true;
            }
            self.ended.d.next = self.is_begun.val() & !(self.bad.q.val() & self.valid.q.val());
        }
        if self.mac_reset.val() {
            self.valid.d.next = false;
            self.begun.d.next = false;
            // A frame that comes in the first cycle waits in the register: the reset would come
            // late to the source if it held that up.
            self.kept.d.next = !self.flush.val() & (self.kept.q.val() | self.begins.val());
            if !self.kept.q.val() & !self.begins.val() {
                self.goes_on.d.next = false;
            }
            self.ended.d.next = self.valid.q.val() | self.begun.q.val();
        }
    }
}
