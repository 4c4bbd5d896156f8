//! Between the 100G MAC's AXI4-Stream ports and the card's packet streams; sending, with the clock
//! crossing.
//!
//! ```text
//!  rx_axis ─► byte count ─► frames                                            [MacReceive]
//!  frames  ─► guard ─► AsyncFifo ─► FrameFifo (whole frames) ─► tx_axis       [MacSend]
//!             └ clock ┘           └────── mac_clock ─────┘
//! ```
//! | port of the MAC | duty |
//! |---|---|
//! | `rx_axis_*` | 512 bit, no ready: cannot be stalled. `tuser` on the last beat: bad frame |
//! | `tx_axis_*` | 512 bit, `tvalid` stays up inside a frame of 60 bytes or more, FCS excluded |
//!
//! Receiving stays in the MAC's clock: the packet store of `rx_split` is where it crosses.
//!
//! Timing: receive adds a cycle, send stores the whole frame. One beat a cycle; sending, of the
//! slower clock.
//!
//! Invariants:
//! 1. A received beat is offered for one cycle: whoever takes `frames` is always ready.
//! 2. A bad frame passes with its abort: the receive stages count it.
//! 3. `tx_axis_tvalid` does not fall inside a frame. A frame that `reset` cut short never leaves.
//!
//! Source: PG203 (CMAC UltraScale+), AXI4-Stream user interface.

use stream::prelude::*;

use super::keep_count::KeepCount;

/// Send FIFO: log2 beats.
const TX_BEATS_BITS: usize = 9;
/// Crossing: log2 beats.
const CROSSING_BITS: usize = 4;

/// From the MAC's receive port to the card.
#[derive(LogicBlock, Default)]
pub struct MacReceive {
    /// Clock of the MAC.
    pub mac_clock: Signal<In, Clock>,

    /// Frame bytes.
    pub rx_axis_tdata: Signal<In, Bits<512>>,
    /// Bytes valid, contiguous from bit 0; all but on the last beat.
    pub rx_axis_tkeep: Signal<In, Bits<64>>,
    /// A beat is there.
    pub rx_axis_tvalid: Signal<In, Bit>,
    /// Last beat.
    pub rx_axis_tlast: Signal<In, Bit>,
    /// On the last beat: the frame is bad.
    pub rx_axis_tuser: Signal<In, Bit>,

    /// Frames, in the MAC's clock.
    pub frames: PacketSource,

    beat: DFF<PacketBeat>,
    beat_valid: DFF<Bit>,
    keep_count: KeepCount,
}

impl Logic for MacReceive {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, mac_clock, beat, beat_valid);
        self.keep_count.keep.next = self.rx_axis_tkeep.val();
        self.beat.d.next.data = self.rx_axis_tdata.val();
        self.beat.d.next.byte_count = self.keep_count.byte_count.val();
        self.beat.d.next.last = self.rx_axis_tlast.val();
        self.beat.d.next.abort = self.rx_axis_tlast.val() & self.rx_axis_tuser.val();
        self.beat_valid.d.next = self.rx_axis_tvalid.val();
        self.frames.valid.next = self.beat_valid.q.val();
        self.frames.data.next = self.beat.q.val().data;
        self.frames.byte_count.next = self.beat.q.val().byte_count;
        self.frames.last.next = self.beat.q.val().last;
        self.frames.abort.next = self.beat.q.val().abort;
    }
}

/// From the card to the MAC's send port.
#[derive(LogicBlock, BlockDefault)]
pub struct MacSend {
    /// Clock of the card.
    pub clock: Signal<In, Clock>,
    /// Clock of the MAC.
    pub mac_clock: Signal<In, Clock>,
    /// A new epoch begins: a frame begun on `frames` will not be finished.
    pub reset: Signal<In, Bit>,

    /// Frames, in the card's clock.
    pub frames: PacketSink,
    /// A frame went over to the MAC's clock.
    pub frame_done: Signal<Out, Bit>,
    /// A beat was taken from the card.
    pub beat_taken: Signal<Out, Bit>,
    /// A beat of the card waits.
    pub beat_stalled: Signal<Out, Bit>,
    /// Beats that wait for the MAC, the highest of an interval, in the card's clock.
    pub beats_peak: Signal<Out, Bits<16>>,

    /// Frame bytes.
    pub tx_axis_tdata: Signal<Out, Bits<512>>,
    /// Bytes valid.
    pub tx_axis_tkeep: Signal<Out, Bits<64>>,
    /// A beat is offered.
    pub tx_axis_tvalid: Signal<Out, Bit>,
    /// Last beat.
    pub tx_axis_tlast: Signal<Out, Bit>,
    /// Always 0: no frame is marked bad.
    pub tx_axis_tuser: Signal<Out, Bit>,
    /// The MAC takes the beat.
    pub tx_axis_tready: Signal<In, Bit>,

    in_frame: DFF<Bit>,
    cut_short: DFF<Bit>,
    crossing: AsyncFifo<PacketBeat, { CROSSING_BITS }, { CROSSING_BITS + 1 }>,
    #[value(FrameFifo::new(false, true))]
    fifo: FrameFifo<{ TX_BEATS_BITS }, { TX_BEATS_BITS + 1 }>,
    level: PeakCrossing,

    beat: Signal<Local, PacketBeat>,
    takes: Signal<Local, Bit>,
    closing: Signal<Local, Bit>,
    unused_bytes: Signal<Local, Bits<7>>,
    #[value(u64::MAX)]
    full_keep: Constant<Bits<64>>,
    #[value(64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for MacSend {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_frame, cut_short);
        clock!(self, mac_clock, fifo);
        self.crossing.write_clock.next = self.clock.val();
        self.crossing.read_clock.next = self.mac_clock.val();
        self.fifo.reset.next = false;
        self.level.write_clock.next = self.mac_clock.val();
        self.level.read_clock.next = self.clock.val();
        self.level.level.next = bit_cast::<16, 10>(self.fifo.level.val());
        self.beats_peak.next = self.level.peak.val();

        // Guard: a frame that a reset cut short is closed with an aborted beat.
        self.closing.next = self.cut_short.q.val();
        self.beat.next.data = self.frames.data.val();
        self.beat.next.byte_count = self.frames.byte_count.val();
        self.beat.next.last = self.frames.last.val();
        self.beat.next.abort = self.frames.abort.val();
        self.crossing.sink.valid.next = self.frames.valid.val() & !self.reset.val();
        self.takes.next = self.crossing.sink.ready.val() & !self.reset.val() & !self.closing.val();
        self.frames.ready.next = self.takes.val();
        self.beat_taken.next = self.frames.valid.val() & self.takes.val();
        self.beat_stalled.next = self.frames.valid.val() & !self.takes.val();
        if self.closing.val() {
            self.beat.next.byte_count = self.beat_bytes.val();
            self.beat.next.last = true;
            self.beat.next.abort = true;
            self.crossing.sink.valid.next = true;
        }
        self.crossing.sink.payload.next = self.beat.val();

        self.frame_done.next = false;
        if self.reset.val() & self.in_frame.q.val() {
            self.cut_short.d.next = true;
            self.in_frame.d.next = false;
        } else if self.closing.val() {
            self.cut_short.d.next = !self.crossing.sink.ready.val();
        } else if self.frames.valid.val() & self.crossing.sink.ready.val() & !self.reset.val() {
            self.in_frame.d.next = !self.frames.last.val();
            self.frame_done.next = self.frames.last.val() & !self.frames.abort.val();
        }

        self.fifo.sink.valid.next = self.crossing.source.valid.val();
        self.fifo.sink.data.next = self.crossing.source.payload.val().data;
        self.fifo.sink.byte_count.next = self.crossing.source.payload.val().byte_count;
        self.fifo.sink.last.next = self.crossing.source.payload.val().last;
        self.fifo.sink.abort.next = self.crossing.source.payload.val().abort;
        self.crossing.source.ready.next = self.fifo.sink.ready.val();

        self.tx_axis_tvalid.next = self.fifo.source.valid.val();
        self.tx_axis_tdata.next = self.fifo.source.data.val();
        self.tx_axis_tlast.next = self.fifo.source.last.val();
        self.tx_axis_tuser.next = false;
        self.unused_bytes.next = self.beat_bytes.val() - self.fifo.source.byte_count.val();
        self.tx_axis_tkeep.next = self.full_keep.val() >> self.unused_bytes.val();
        self.fifo.source.ready.next = self.tx_axis_tready.val();
    }
}
