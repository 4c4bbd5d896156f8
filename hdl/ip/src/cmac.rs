//! Between the AXI4-Stream ports of the 100G MAC and the card's packet streams; in the send
//! direction with the clock-domain crossing.
//!
//! ```text
//!  rx_axis ─► byte count ─► frames                                            [MacReceive]
//!  frames  ─► guard ─► AsyncFifo ─► FrameFifo (whole frames) ─► tx_axis       [MacSend]
//!             └ clock ┘           └────── mac_clock ─────┘
//! ```
//! The receive direction stays in the MAC's clock domain: it crosses in the packet buffer of
//! `rx_split`.
//!
//! Timing: receive has a latency of one cycle. Send stores the whole frame before it offers the
//! first beat. One beat per cycle; in the send direction, of the slower clock. The receive port of
//! the MAC cannot be stalled.
//!
//! Invariants:
//! 1. A received beat is offered for one cycle: the block that takes `frames` must always be ready.
//! 2. A bad frame passes with `abort` set on its last beat: the receive stages count it.
//! 3. `tx_axis_tvalid` does not fall inside a frame. A frame that `reset` cut off is never sent.
//!
//! Source: PG203 (CMAC UltraScale+), AXI4-Stream user interface.

use stream::prelude::*;

use super::keep_count::KeepCount;

/// Depth of the send FIFO: log2 of its beats.
const TX_BEATS_BITS: usize = 9;
/// Depth of the clock crossing: log2 of its beats.
const CROSSING_BITS: usize = 4;

/// From the MAC's receive port to the card.
#[derive(LogicBlock, Default)]
pub struct MacReceive {
    /// MAC clock, 322 MHz.
    pub mac_clock: Signal<In, Clock>,

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
    /// PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// MAC clock, 322 MHz.
    pub mac_clock: Signal<In, Clock>,
    /// An epoch begins: a frame begun on `frames` is not finished and is discarded. Frames that
    /// have crossed are still sent.
    pub reset: Signal<In, Bit>,

    /// Frames to send, in the domain of `clock`.
    pub frames: PacketSink,
    /// The last beat of a frame crosses to the MAC's clock domain; aborted frames are not counted.
    pub frame_done: Signal<Out, Bit>,
    /// A beat of `frames` was taken.
    pub beat_taken: Signal<Out, Bit>,
    /// A beat of `frames` waits.
    pub beat_stalled: Signal<Out, Bit>,
    /// Highest number of beats that waited for the MAC in an interval, in the domain of `clock`.
    pub beats_peak: Signal<Out, Bits<16>>,

    /// Frame bytes, byte 0 in bits 7:0. A frame has at least 60 bytes, without FCS.
    pub tx_axis_tdata: Signal<Out, Bits<512>>,
    /// Valid bytes, contiguous from bit 0.
    pub tx_axis_tkeep: Signal<Out, Bits<64>>,
    /// A beat is offered. It does not fall inside a frame.
    pub tx_axis_tvalid: Signal<Out, Bit>,
    /// Last beat of the frame.
    pub tx_axis_tlast: Signal<Out, Bit>,
    /// The frame is to be marked bad: always 0.
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

        // Guard: a frame that a reset cuts off is closed with an aborted beat.
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
