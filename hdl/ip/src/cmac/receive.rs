//! From the MAC's receive port to the card's packet stream.
//!
//! ```text
//!  rx_axis ──────► register ─► byte count ─────────► register ─► frames, cut
//!  usr_rx_reset ─► register ─► closes an open frame ─┘
//! ```
//! Timing: latency two cycles, one beat per cycle. The port cannot be stalled; no logic is between
//! it and a register.
//!
//! Invariants:
//! 1. A received beat is offered for one cycle: the block that takes `frames` must always be ready.
//! 2. A bad frame passes with `abort` set on its last beat: the receive stages count it.
//! 3. A reset of the MAC inside a frame ends it, with `abort` and `cut`: what comes after the reset
//!    is a frame of its own. What the port shows during the reset is ignored.
//!
//! Source: PG203 (CMAC UltraScale+), AXI4-Stream user interface, resets.

use stream::prelude::*;

use crate::keep_count::KeepCount;

/// The receive side. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct MacReceive {
    /// MAC clock, 322 MHz.
    pub mac_clock: Signal<In, Clock>,
    /// The MAC's receive side is in reset.
    pub usr_rx_reset: Signal<In, Bit>,

    /// Frame bytes, byte 0 in bits 7:0.
    pub rx_axis_tdata: Signal<In, Bits<512>>,
    /// Valid bytes, contiguous from bit 0; all ones except on the last beat.
    pub rx_axis_tkeep: Signal<In, Bits<64>>,
    /// A beat is present. There is no ready: the port cannot be stalled.
    pub rx_axis_tvalid: Signal<In, Bit>,
    /// Last beat of the frame.
    pub rx_axis_tlast: Signal<In, Bit>,
    /// The frame is bad. Valid on the last beat.
    pub rx_axis_tuser: Signal<In, Bit>,

    /// Received frames, in the MAC's clock domain. The sink must always be ready.
    pub frames: PacketSource,
    /// With the last beat in `frames`: a reset of the MAC cut the frame off.
    pub cut: Signal<Out, Bit>,

    data: DFF<Bits<512>>,
    keep: DFF<Bits<64>>,
    valid: DFF<Bit>,
    last: DFF<Bit>,
    bad: DFF<Bit>,
    in_reset: DFF<Bit>,

    beat: DFF<PacketBeat>,
    beat_valid: DFF<Bit>,
    beat_cut: DFF<Bit>,
    in_frame: DFF<Bit>,
    keep_count: KeepCount,

    taken: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    #[value(64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for MacReceive {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, mac_clock, data, keep, valid, last, bad, in_reset);
        dff_setup!(self, mac_clock, beat, beat_valid, beat_cut, in_frame);
        self.data.d.next = self.rx_axis_tdata.val();
        self.keep.d.next = self.rx_axis_tkeep.val();
        self.valid.d.next = self.rx_axis_tvalid.val();
        self.last.d.next = self.rx_axis_tlast.val();
        self.bad.d.next = self.rx_axis_tuser.val();
        self.in_reset.d.next = self.usr_rx_reset.val();

        self.keep_count.keep.next = self.keep.q.val();
        self.taken.next = self.valid.q.val() & !self.in_reset.q.val();
        self.closes.next = self.in_frame.q.val() & self.in_reset.q.val();
        self.beat.d.next.data = self.data.q.val();
        self.beat.d.next.byte_count = self.keep_count.byte_count.val();
        self.beat.d.next.last = self.last.q.val();
        self.beat.d.next.abort = self.last.q.val() & self.bad.q.val();
        self.beat_cut.d.next = self.closes.val();
        if self.closes.val() {
            self.beat.d.next.byte_count = self.beat_bytes.val();
            self.beat.d.next.last = true;
            self.beat.d.next.abort = true;
        }
        self.beat_valid.d.next = self.taken.val() | self.closes.val();
        if self.taken.val() {
            self.in_frame.d.next = !self.last.q.val();
        }
        if self.in_reset.q.val() {
            self.in_frame.d.next = false;
        }
        self.frames.valid.next = self.beat_valid.q.val();
        self.frames.data.next = self.beat.q.val().data;
        self.frames.byte_count.next = self.beat.q.val().byte_count;
        self.frames.last.next = self.beat.q.val().last;
        self.frames.abort.next = self.beat.q.val().abort;
        self.cut.next = self.beat_cut.q.val();
    }
}
