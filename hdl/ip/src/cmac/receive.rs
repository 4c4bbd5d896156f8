//! From the MAC's receive port to the card's packet stream.
//!
//! ```text
//!  rx_axis ─► byte count, as far as two levels go ─► register ─► bits 0 and 1 ─► frames, cut
//!  usr_rx_reset ─► closes an open frame ─┘
//! ```
//! Timing: latency one cycle, one beat per cycle. The port cannot be stalled. `byte_count` has one
//! level of logic behind its register, so that no path from the port has more than two.
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

    beat: DFF<PacketBeat>,
    beat_valid: DFF<Bit>,
    beat_cut: DFF<Bit>,
    odd: [DFF<Bit>; 6],
    in_frame: DFF<Bit>,
    keep_count: KeepCount,

    taken: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    is_odd: Signal<Local, Bit>,
    has_two: Signal<Local, Bit>,
    byte_count: Signal<Local, Bits<7>>,
    #[value(64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for MacReceive {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, mac_clock, beat, beat_valid, beat_cut, in_frame);
        for i in 0..6 {
            self.odd[i].clock.next = self.mac_clock.val();
            self.odd[i].d.next = self.keep_count.odd[i].val();
        }
        self.keep_count.keep.next = self.rx_axis_tkeep.val();
        self.taken.next = self.rx_axis_tvalid.val() & !self.usr_rx_reset.val();
        self.closes.next = self.in_frame.q.val() & self.usr_rx_reset.val();
        self.beat.d.next.data = self.rx_axis_tdata.val();
        self.beat.d.next.byte_count = (bit_cast::<7, 1>(self.keep_count.odd[6].val().into()) << 2)
            | (bit_cast::<7, 1>(self.keep_count.odd[7].val().into()) << 3)
            | (bit_cast::<7, 1>(self.keep_count.odd[8].val().into()) << 4)
            | (bit_cast::<7, 1>(self.keep_count.odd[9].val().into()) << 5)
            | (bit_cast::<7, 1>(self.keep_count.odd[10].val().into()) << 6);
        self.beat.d.next.last = self.rx_axis_tlast.val();
        self.beat.d.next.abort = self.rx_axis_tlast.val() & self.rx_axis_tuser.val();
        self.beat_cut.d.next = self.closes.val();
        if self.closes.val() {
            self.beat.d.next.last = true;
            self.beat.d.next.abort = true;
        }
        self.beat_valid.d.next = self.taken.val() | self.closes.val();
        if self.taken.val() {
            self.in_frame.d.next = !self.rx_axis_tlast.val();
        }
        if self.usr_rx_reset.val() {
            self.in_frame.d.next = false;
        }
        self.frames.valid.next = self.beat_valid.q.val();
        self.frames.data.next = self.beat.q.val().data;
        self.is_odd.next =
            self.odd[0].q.val() ^ self.odd[1].q.val() ^ self.odd[2].q.val() ^ self.odd[3].q.val();
        self.has_two.next = self.odd[4].q.val() ^ self.odd[5].q.val();
        self.byte_count.next = self.beat.q.val().byte_count
            | bit_cast::<7, 1>(self.is_odd.val().into())
            | (bit_cast::<7, 1>(self.has_two.val().into()) << 1);
        if self.beat_cut.q.val() {
            self.byte_count.next = self.beat_bytes.val();
        }
        self.frames.byte_count.next = self.byte_count.val();
        self.frames.last.next = self.beat.q.val().last;
        self.frames.abort.next = self.beat.q.val().abort;
        self.cut.next = self.beat_cut.q.val();
    }
}
