//! From the card to the MAC's send port.
//!
//! ```text
//!  frames ─► [guard] ─► AsyncFifo ─► FrameFifo (whole frames) ─► [port] ─► tx_axis
//!               └ clock ┘        └────────── mac_clock ─────────────┘
//!  flush ────────────────► drains, empties, ends ─► flushed
//! ```
//! Timing: the whole frame is stored before its first beat is offered. One beat per cycle, of the
//! slower clock.
//!
//! Invariants:
//! 1. `tx_axis_tvalid` does not fall inside a frame. A frame that `reset` cut off is never sent.
//! 2. Nothing of an epoch leaves after it that the MAC had not taken whole: see
//!    [`send_port`](super::send_port).
//! 3. While the link is down frames are taken and counted as unsent: see
//!    [`send_guard`](super::send_guard).
//! 4. `flushed` rises when nothing of what entered before `flush` is left, and falls after it.
//!
//! Source: PG203 (CMAC UltraScale+), AXI4-Stream user interface; decision 12.

use stream::prelude::*;

use super::send_guard::SendGuard;
use super::send_port::SendPort;

/// Depth of the send FIFO: log2 of its beats.
const TX_BEATS_BITS: usize = 9;
/// Depth of the clock crossing: log2 of its beats.
const CROSSING_BITS: usize = 4;

/// The send side. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct MacSend {
    /// PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// MAC clock, 322 MHz.
    pub mac_clock: Signal<In, Clock>,
    /// An epoch begins: a frame begun on `frames` is not finished.
    pub reset: Signal<In, Bit>,
    /// Frames can leave.
    pub link_up: Signal<In, Bit>,

    /// Frames to send, in the domain of `clock`.
    pub frames: PacketSink,
    /// The last beat of a frame crosses to the MAC's clock domain; aborted frames are not counted.
    pub frame_done: Signal<Out, Bit>,
    /// A frame ends on `frames` that is not sent, since the link is down.
    pub unsent: Signal<Out, Bit>,
    /// A beat of `frames` was taken.
    pub beat_taken: Signal<Out, Bit>,
    /// A beat of `frames` waits.
    pub beat_stalled: Signal<Out, Bit>,
    /// Highest number of beats that waited for the MAC in an interval, in the domain of `clock`.
    pub beats_peak: Signal<Out, Bits<16>>,
    /// A frame was cut off at the port, in the domain of `clock`.
    pub cut: Signal<Out, Bit>,

    /// The MAC's side is to empty itself, in the domain of `clock`.
    pub flush_request: Signal<Out, Bit>,
    /// It has done so, in the domain of `clock`.
    pub flush_done: Signal<In, Bit>,
    /// `flush_request` in `mac_clock`.
    pub flush: Signal<In, Bit>,
    /// The answer, in `mac_clock`.
    pub flushed: Signal<Out, Bit>,
    /// No frame is to begin, in `mac_clock`.
    pub hold: Signal<In, Bit>,

    /// The MAC's send side is in reset.
    pub usr_tx_reset: Signal<In, Bit>,
    /// Frame bytes, byte 0 in bits 7:0. A frame has at least 60 bytes, without FCS.
    pub tx_axis_tdata: Signal<Out, Bits<512>>,
    /// Valid bytes, contiguous from bit 0.
    pub tx_axis_tkeep: Signal<Out, Bits<64>>,
    /// A beat is offered. It does not fall inside a frame.
    pub tx_axis_tvalid: Signal<Out, Bit>,
    /// Last beat of the frame.
    pub tx_axis_tlast: Signal<Out, Bit>,
    /// The frame is to be marked bad: an epoch has ended it. Valid on the last beat.
    pub tx_axis_tuser: Signal<Out, Bit>,
    /// The MAC takes the beat.
    pub tx_axis_tready: Signal<In, Bit>,

    guard: SendGuard,
    crossing: AsyncFifo<PacketBeat, { CROSSING_BITS }, { CROSSING_BITS + 1 }>,
    #[value(FrameFifo::new(false, true))]
    fifo: FrameFifo<{ TX_BEATS_BITS }, { TX_BEATS_BITS + 1 }>,
    port: SendPort,
    level: PeakCrossing,
    cuts: CountCrossing,
    quiet: DFF<Bits<4>>,
    empty: DFF<Bit>,

    #[value(1)]
    one: Constant<Bits<4>>,
}

impl Logic for MacSend {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, mac_clock, quiet, empty);
        clock!(self, clock, guard);
        clock!(self, mac_clock, fifo, port);
        self.crossing.write_clock.next = self.clock.val();
        self.crossing.read_clock.next = self.mac_clock.val();
        self.level.write_clock.next = self.mac_clock.val();
        self.level.read_clock.next = self.clock.val();
        self.level.level.next = bit_cast::<16, 10>(self.fifo.level.val());
        self.beats_peak.next = self.level.peak.val();
        self.cuts.write_clock.next = self.mac_clock.val();
        self.cuts.read_clock.next = self.clock.val();
        self.cuts.occurs.next = self.port.cut.val();
        self.cut.next = self.cuts.pulse.val();

        self.guard.reset.next = self.reset.val();
        self.guard.link_up.next = self.link_up.val();
        self.flush_request.next = self.guard.flush.val();
        self.guard.flushed.next = self.flush_done.val();
        PacketSink::link(&mut self.frames, &mut self.guard.frames);
        MessageSource::<PacketBeat>::join(&mut self.guard.beats, &mut self.crossing.sink);
        self.frame_done.next = self.guard.frame_done.val();
        self.unsent.next = self.guard.unsent.val();
        self.beat_taken.next = self.guard.beat_taken.val();
        self.beat_stalled.next = self.guard.beat_stalled.val();

        // A flush: what still crosses is taken, until nothing has come for 15 cycles.
        self.fifo.reset.next = self.flush.val();
        self.fifo.sink.valid.next = self.crossing.source.valid.val() & !self.flush.val();
        self.fifo.sink.data.next = self.crossing.source.payload.val().data;
        self.fifo.sink.byte_count.next = self.crossing.source.payload.val().byte_count;
        self.fifo.sink.last.next = self.crossing.source.payload.val().last;
        self.fifo.sink.abort.next = self.crossing.source.payload.val().abort;
        self.crossing.source.ready.next = self.fifo.sink.ready.val() | self.flush.val();
        if !self.quiet.q.val().all() {
            self.quiet.d.next = self.quiet.q.val() + self.one.val();
        }
        if !self.flush.val() | self.crossing.source.valid.val() {
            self.quiet.d.next = 0.into();
        }
        self.empty.d.next = self.flush.val() & self.quiet.q.val().all();
        self.flushed.next = self.empty.q.val();

        PacketSource::join(&mut self.fifo.source, &mut self.port.frames);
        self.port.flush.next = self.flush.val();
        self.port.hold.next = self.hold.val();
        self.port.mac_reset.next = self.usr_tx_reset.val();
        self.tx_axis_tdata.next = self.port.tdata.val();
        self.tx_axis_tkeep.next = self.port.tkeep.val();
        self.tx_axis_tvalid.next = self.port.tvalid.val();
        self.tx_axis_tlast.next = self.port.tlast.val();
        self.tx_axis_tuser.next = self.port.tuser.val();
        self.port.tready.next = self.tx_axis_tready.val();
    }
}
