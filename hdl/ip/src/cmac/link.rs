//! The state of the wire, as the MAC reports it, and what the card asks of the MAC's side.
//!
//! ```text
//!  stat_rx_*, flushed ──► register ──┬── ValueCrossing ──► [control] ──► status, link_up, event
//!  ctl_tx_pause_req, flush, hold ◄───┴── ValueCrossing ◄──────┘
//!         └──────── mac_clock ─────────┘           └───────── clock ────────┘
//! ```
//! Each value that crosses from the MAC's side flips a bit. While it flips the MAC's clock runs.
//!
//! Timing: a change of the wire shows after some ten cycles; a clock that stands, after one
//! microsecond.
//!
//! Invariants:
//! 1. The link is up if the MAC's clock runs, its receiver is aligned, and neither end reports a
//!    fault.
//! 2. The state of the wire begins no epoch, and nothing here waits for the MAC's clock.
//! 3. `hold` is high from the second cycle of `mac_clock` on in which the wire is down.
//!
//! Source: PG203 (CMAC UltraScale+), status and pause signals; IEEE 802.3, 31B and 81.3.4;
//! docs/specification.md, Wire.

use stream::prelude::*;

use super::link_control::LinkControl;
use super::messages::{MacReport, MacRequest};

/// The link. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct MacLink {
    /// PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// MAC clock, 322 MHz.
    pub mac_clock: Signal<In, Clock>,
    /// An epoch begins: the settings are those of power-up, a pending event is forgotten.
    pub reset: Signal<In, Bit>,
    /// Register writes; those of the wire are kept.
    pub settings: PulseSink<RegisterWrite>,

    /// The receiver is aligned, in `mac_clock`.
    pub stat_rx_aligned: Signal<In, Bit>,
    /// Local fault, in `mac_clock`.
    pub stat_rx_local_fault: Signal<In, Bit>,
    /// Remote fault, in `mac_clock`.
    pub stat_rx_remote_fault: Signal<In, Bit>,
    /// The MAC's send side has lost bytes, in `mac_clock`.
    pub tx_ovfout: Signal<In, Bit>,
    /// The MAC's send side was given a gap inside a frame, in `mac_clock`.
    pub tx_unfout: Signal<In, Bit>,
    /// Pause asked by the other end, in `mac_clock`: bits 7:0 by priority, bit 8 for all.
    pub stat_rx_pause_req: Signal<In, Bits<9>>,
    /// Pause to ask of the other end, in `mac_clock`: bits as above.
    pub ctl_tx_pause_req: Signal<Out, Bits<9>>,

    /// The send side is to empty itself, in `clock`.
    pub flush_request: Signal<In, Bit>,
    /// It has done so, in `clock`.
    pub flush_done: Signal<Out, Bit>,
    /// `flush_request`, in `mac_clock`.
    pub flush: Signal<Out, Bit>,
    /// The answer of the send side, in `mac_clock`.
    pub flushed: Signal<In, Bit>,
    /// No frame is to begin, in `mac_clock`: the other end asks for a pause, or the wire is down.
    pub hold: Signal<Out, Bit>,
    /// Beats in use in the packet buffer, in `clock`.
    pub rx_buffer_beats: Signal<In, Bits<16>>,

    /// Frames can leave, in `clock`. All further ports are in `clock`.
    pub link_up: Signal<Out, Bit>,
    /// Sends are to fail while the link is down, instead of being dropped.
    pub sends_fail: Signal<Out, Bit>,
    /// Bits of STATUS from [`abi::registers::STATUS_WIRE_BIT`] on.
    pub status: Signal<Out, Bits<7>>,
    /// Event of owner 0: the link went up or down.
    pub link_event: MessageSource<SendEvent>,
    /// Counter events; those of the send side are not set here.
    pub events: Signal<Out, WireEvents>,

    report: DFF<MacReport>,
    pause: DFF<Bit>,
    holds: DFF<Bit>,
    was_over: DFF<Bit>,
    was_under: DFF<Bit>,
    reports: ValueCrossing<MacReport>,
    requests: ValueCrossing<MacRequest>,
    overflows: CountCrossing,
    underflows: CountCrossing,
    control: LinkControl,
}

impl Logic for MacLink {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, mac_clock, report, pause, holds, was_over, was_under);
        clock!(self, clock, control);
        self.reports.write_clock.next = self.mac_clock.val();
        self.reports.read_clock.next = self.clock.val();
        self.requests.write_clock.next = self.clock.val();
        self.requests.read_clock.next = self.mac_clock.val();
        self.overflows.write_clock.next = self.mac_clock.val();
        self.overflows.read_clock.next = self.clock.val();
        self.underflows.write_clock.next = self.mac_clock.val();
        self.underflows.read_clock.next = self.clock.val();

        // The MAC's side.
        self.report.d.next.aligned = self.stat_rx_aligned.val();
        self.report.d.next.local_fault = self.stat_rx_local_fault.val();
        self.report.d.next.remote_fault = self.stat_rx_remote_fault.val();
        self.report.d.next.paused = self.stat_rx_pause_req.val().get_bit(8);
        self.report.d.next.flushed = self.flushed.val();
        self.report.d.next.flips = self.report.q.val().flips ^ self.reports.taken.val();
        self.reports.value.next = self.report.q.val();
        self.flush.next = self.requests.latest.val().flush;
        // Frames that wait here wait for the wire: known here at once, and not after two crossings.
        self.holds.d.next = self.requests.latest.val().hold
            | !self.stat_rx_aligned.val()
            | self.stat_rx_local_fault.val()
            | self.stat_rx_remote_fault.val();
        self.hold.next = self.holds.q.val();
        self.pause.d.next = self.requests.latest.val().pause;
        self.ctl_tx_pause_req.next = bit_cast::<9, 1>(self.pause.q.val().into()) << 8;
        self.was_over.d.next = self.tx_ovfout.val();
        self.was_under.d.next = self.tx_unfout.val();
        self.overflows.occurs.next = self.tx_ovfout.val() & !self.was_over.q.val();
        self.underflows.occurs.next = self.tx_unfout.val() & !self.was_under.q.val();

        // The card's side.
        self.control.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.control.settings);
        self.control.report.next = self.reports.latest.val();
        self.control.rx_buffer_beats.next = self.rx_buffer_beats.val();
        self.requests.value.next.flush = self.flush_request.val();
        self.requests.value.next.hold = self.control.hold.val();
        self.requests.value.next.pause = self.control.pause.val();
        self.flush_done.next = self.reports.latest.val().flushed;
        self.link_up.next = self.control.link_up.val();
        self.sends_fail.next = self.control.sends_fail.val();
        self.status.next = self.control.status.val();
        MessageSource::<SendEvent>::link(&mut self.link_event, &mut self.control.link_event);
        self.events.next = self.control.events.val();
        self.events.next.mac_overflows = self.overflows.pulse.val();
        self.events.next.mac_underflows = self.underflows.pulse.val();
    }
}
