//! Decides what the state of the wire means: whether frames can leave, who pauses whom, and what
//! software is told.
//!
//! ```text
//!  report ──► clock alive? ──► link_up, status ──► link_event
//!    └─────► [pause] ──► hold, pause ◄── rx_buffer_beats
//!  settings ──► [registers]
//! ```
//! Timing: `link_up` and `status` are registers, two cycles after the report.
//!
//! Invariants:
//! 1. A report whose `flips` does not change for 255 cycles is of a clock that stands.
//! 2. Each change of `link_up` makes an event. One that finds the event before it still waiting
//!    joins it: the event tells the state of the moment in which it is taken.
//!
//! Source: IEEE 802.3, 81.3.4 (faults); docs/specification.md, Wire.

use abi::header_entry::FLOW_NONE;
use abi::reason::SendError;
use stream::prelude::*;

use super::messages::MacReport;
use super::pause::Pause;
use super::wire_registers::WireRegisters;

/// The decisions. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct LinkControl {
    /// PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An epoch begins: settings are those of power-up, a pending event is forgotten.
    pub reset: Signal<In, Bit>,
    /// Register writes; those of the wire are kept.
    pub settings: PulseSink<RegisterWrite>,
    /// What the MAC's side reports.
    pub report: Signal<In, MacReport>,
    /// Beats in use in the packet buffer.
    pub rx_buffer_beats: Signal<In, Bits<16>>,

    /// Frames can leave.
    pub link_up: Signal<Out, Bit>,
    /// Sends are to fail while the link is down.
    pub sends_fail: Signal<Out, Bit>,
    /// No frame is to begin.
    pub hold: Signal<Out, Bit>,
    /// The other end is to pause.
    pub pause: Signal<Out, Bit>,
    /// The bits of STATUS, from `STATUS_WIRE_BIT` on: link up, clock runs, aligned, local fault,
    /// remote fault, paused, pause ignored.
    pub status: Signal<Out, Bits<7>>,
    /// Event of owner 0.
    pub link_event: MessageSource<SendEvent>,
    /// Counter events of the link and of pauses.
    pub events: Signal<Out, WireEvents>,

    registers: WireRegisters,
    pauses: Pause,
    trust: DFF<Bits<8>>,
    up: DFF<Bit>,
    was_up: DFF<Bit>,
    changed: DFF<Bit>,
    seen: DFF<MacReport>,

    runs: Signal<Local, Bit>,
    status_bits: Signal<Local, Bits<7>>,
    #[value(SendError::LinkDown as u64)]
    link_down: Constant<SendErrorCode>,
    #[value(u64::from(FLOW_NONE))]
    no_flow: Constant<Bits<16>>,
    #[value(255)]
    all_trust: Constant<Bits<8>>,
    #[value(1)]
    one: Constant<Bits<8>>,
}

impl Logic for LinkControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, trust, up, was_up, changed, seen);
        clock!(self, clock, registers, pauses);
        self.registers.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.registers.settings);

        // The MAC's clock runs while reports come.
        self.seen.d.next = self.report.val();
        if self.report.val().flips != self.seen.q.val().flips {
            self.trust.d.next = self.all_trust.val();
        } else if self.trust.q.val().any() {
            self.trust.d.next = self.trust.q.val() - self.one.val();
        }
        self.runs.next = self.trust.q.val().any();
        self.up.d.next = self.runs.val()
            & self.seen.q.val().aligned
            & !self.seen.q.val().local_fault
            & !self.seen.q.val().remote_fault;
        self.link_up.next = self.up.q.val();
        self.sends_fail.next = self.registers.values.val().sends_fail & !self.up.q.val();

        self.pauses.values.next = self.registers.values.val();
        self.pauses.asked.next = self.seen.q.val().paused & self.up.q.val();
        self.pauses.rx_buffer_beats.next = self.rx_buffer_beats.val();
        self.hold.next = self.pauses.hold.val();
        self.pause.next = self.pauses.pause.val();

        self.status_bits.next = (bit_cast::<7, 1>(self.up.q.val().into()))
            | (bit_cast::<7, 1>(self.runs.val().into()) << 1)
            | (bit_cast::<7, 1>(self.seen.q.val().aligned.into()) << 2)
            | (bit_cast::<7, 1>(self.seen.q.val().local_fault.into()) << 3)
            | (bit_cast::<7, 1>(self.seen.q.val().remote_fault.into()) << 4)
            | (bit_cast::<7, 1>(self.pauses.paused.val().into()) << 5)
            | (bit_cast::<7, 1>(self.pauses.ignored.val().into()) << 6);
        self.status.next = self.status_bits.val();

        // The event of a change.
        self.was_up.d.next = self.up.q.val();
        if self.link_event.ready.val() {
            self.changed.d.next = false;
        }
        if self.up.q.val() != self.was_up.q.val() {
            self.changed.d.next = true;
        }
        if self.reset.val() {
            self.changed.d.next = false;
        }
        self.link_event.valid.next = self.changed.q.val();
        self.link_event.payload.next.owner = 0.into();
        self.link_event.payload.next.flow = self.no_flow.val();
        self.link_event.payload.next.generation = 0.into();
        self.link_event.payload.next.error = self.link_down.val();
        self.link_event.payload.next.position = bit_cast::<32, 7>(self.status_bits.val());

        self.events.next.tx_frames_unsent = false;
        self.events.next.tx_frames_cut = false;
        self.events.next.link_losses = self.was_up.q.val() & !self.up.q.val();
        self.events.next.pauses_asked = self.pauses.asks.val();
        self.events.next.pauses_obeyed = self.pauses.obeys.val();
        self.events.next.pauses_ignored = self.pauses.ignores.val();
        self.events.next.mac_overflows = false;
        self.events.next.mac_underflows = false;
    }
}
