//! Decides what the state of the wire means: whether frames can leave, who pauses whom, and what
//! software is told.
//!
//! ```text
//!  report ──► clock alive? ──► link_up, status ──► link_event
//!    └ paused ──► limit ──► hold          rx_buffer_beats ──► pause
//!  settings ──► MAC_CONTROL, PAUSE_LIMIT, PAUSE_BEATS
//! ```
//! Timing: `link_up` and `status` are registers, one cycle after the report.
//!
//! Invariants:
//! 1. A report whose `flips` does not change for 255 cycles is of a clock that stands.
//! 2. `hold` is high while the other end asks for a pause that software allows, for
//!    `PAUSE_LIMIT` cycles at most. A longer pause is ignored until it ends, and counted.
//! 3. `pause` is high while the packet buffer holds `PAUSE_BEATS` or more and software allows it,
//!    and for 256 cycles at least.
//! 4. Each change of `link_up` makes an event. One that finds the event before it still waiting
//!    joins it: the event tells the state of the moment in which it is taken.
//!
//! Source: IEEE 802.3, 31B (pause) and 81.3.4 (faults); docs/specification.md, Wire.

use abi::header_entry::FLOW_NONE;
use abi::reason::SendError;
use abi::registers as r;
use stream::prelude::*;

use super::link::MacReport;

// The literals of the kernel.
const _: () = assert!(
    r::MAC_CONTROL_SENDS_FAIL == 1 && r::MAC_CONTROL_PAUSE_TX == 2 && r::MAC_CONTROL_PAUSE_RX == 4
);

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

    control: DFF<Bits<3>>,
    limit: DFF<Bits<32>>,
    trust: DFF<Bits<8>>,
    had_flipped: DFF<Bit>,
    up: DFF<Bit>,
    was_up: DFF<Bit>,
    changed: DFF<Bit>,
    seen: DFF<MacReport>,
    paused_cycles: DFF<Bits<32>>,
    was_paused: DFF<Bit>,
    ignored: DFF<Bit>,
    was_ignored: DFF<Bit>,
    threshold: DFF<Bits<16>>,
    is_full: DFF<Bit>,
    asks: DFF<Bit>,
    asks_cycles: DFF<Bits<8>>,

    address: Signal<Local, Bits<24>>,
    value: Signal<Local, Bits<32>>,
    limit_cycles: Signal<Local, Bits<32>>,
    threshold_beats: Signal<Local, Bits<16>>,
    runs: Signal<Local, Bit>,
    paused: Signal<Local, Bit>,
    status_bits: Signal<Local, Bits<7>>,
    #[value(u64::from(r::MAC_CONTROL))]
    control_at: Constant<Bits<24>>,
    #[value(u64::from(r::PAUSE_LIMIT))]
    limit_at: Constant<Bits<24>>,
    #[value(u64::from(r::PAUSE_LIMIT_CYCLES))]
    limit_value: Constant<Bits<32>>,
    #[value(u64::from(r::PAUSE_BEATS))]
    beats_at: Constant<Bits<24>>,
    #[value(u64::from(r::PAUSE_BEATS_START))]
    beats_value: Constant<Bits<16>>,
    #[value(SendError::LinkDown as u64)]
    link_down: Constant<SendErrorCode>,
    #[value(u64::from(FLOW_NONE))]
    no_flow: Constant<Bits<16>>,
    #[value(255)]
    all_trust: Constant<Bits<8>>,
    #[value(1)]
    one_8: Constant<Bits<8>>,
    #[value(1)]
    one_32: Constant<Bits<32>>,
}

impl Logic for LinkControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            control,
            limit,
            trust,
            had_flipped,
            up,
            was_up,
            changed
        );
        dff_setup!(
            self,
            clock,
            seen,
            paused_cycles,
            was_paused,
            ignored,
            was_ignored,
            asks,
            asks_cycles
        );
        dff_setup!(self, clock, threshold, is_full);
        self.address.next = self.settings.payload.val().address;
        self.value.next = self.settings.payload.val().data;
        if self.settings.valid.val() & (self.address.val() == self.control_at.val()) {
            self.control.d.next = self.value.val().get_bits::<3>(0);
        }
        if self.settings.valid.val() & (self.address.val() == self.limit_at.val()) {
            self.limit.d.next = self.value.val() ^ self.limit_value.val();
        }
        if self.settings.valid.val() & (self.address.val() == self.beats_at.val()) {
            self.threshold.d.next = self.value.val().get_bits::<16>(0) ^ self.beats_value.val();
        }
        // These registers hold the difference to the value of power-up.
        self.threshold_beats.next = self.threshold.q.val() ^ self.beats_value.val();
        self.is_full.d.next = self.rx_buffer_beats.val() >= self.threshold_beats.val();
        self.limit_cycles.next = self.limit.q.val() ^ self.limit_value.val();

        // The MAC's clock runs while reports come.
        self.seen.d.next = self.report.val();
        self.had_flipped.d.next = self.report.val().flips;
        if self.report.val().flips != self.had_flipped.q.val() {
            self.trust.d.next = self.all_trust.val();
        } else if self.trust.q.val().any() {
            self.trust.d.next = self.trust.q.val() - self.one_8.val();
        }
        self.runs.next = self.trust.q.val().any();
        self.up.d.next = self.runs.val()
            & self.seen.q.val().aligned
            & !self.seen.q.val().local_fault
            & !self.seen.q.val().remote_fault;
        self.link_up.next = self.up.q.val();
        self.sends_fail.next = self.control.q.val().get_bit(0) & !self.up.q.val();

        // The event of a change.
        self.was_up.d.next = self.up.q.val();
        if self.link_event.ready.val() {
            self.changed.d.next = false;
        }
        if self.up.q.val() != self.was_up.q.val() {
            self.changed.d.next = true;
        }
        self.link_event.valid.next = self.changed.q.val();
        self.link_event.payload.next.owner = 0.into();
        self.link_event.payload.next.flow = self.no_flow.val();
        self.link_event.payload.next.generation = 0.into();
        self.link_event.payload.next.error = self.link_down.val();

        // The other end asks for a pause: obeyed up to the limit.
        self.paused.next =
            self.seen.q.val().paused & self.control.q.val().get_bit(2) & self.up.q.val();
        self.was_paused.d.next = self.paused.val();
        self.paused_cycles.d.next = 0.into();
        if self.paused.val() & !self.ignored.q.val() {
            self.paused_cycles.d.next = self.paused_cycles.q.val() + self.one_32.val();
            self.ignored.d.next = self.paused_cycles.q.val() >= self.limit_cycles.val();
        }
        if !self.paused.val() {
            self.ignored.d.next = false;
        }
        self.was_ignored.d.next = self.ignored.q.val();
        self.hold.next = self.paused.val() & !self.ignored.q.val();

        // The packet buffer fills: the other end is asked.
        if self.asks.q.val() {
            if !self.asks_cycles.q.val().all() {
                self.asks_cycles.d.next = self.asks_cycles.q.val() + self.one_8.val();
            }
            self.asks.d.next = self.control.q.val().get_bit(1)
                & (self.is_full.q.val() | !self.asks_cycles.q.val().all());
        } else {
            self.asks_cycles.d.next = 0.into();
            self.asks.d.next = self.control.q.val().get_bit(1) & self.is_full.q.val();
        }
        self.pause.next = self.asks.q.val();

        self.status_bits.next = (bit_cast::<7, 1>(self.up.q.val().into()))
            | (bit_cast::<7, 1>(self.runs.val().into()) << 1)
            | (bit_cast::<7, 1>(self.seen.q.val().aligned.into()) << 2)
            | (bit_cast::<7, 1>(self.seen.q.val().local_fault.into()) << 3)
            | (bit_cast::<7, 1>(self.seen.q.val().remote_fault.into()) << 4)
            | (bit_cast::<7, 1>(self.paused.val().into()) << 5)
            | (bit_cast::<7, 1>(self.ignored.q.val().into()) << 6);
        self.link_event.payload.next.position = bit_cast::<32, 7>(self.status_bits.val());
        self.status.next = self.status_bits.val();
        self.events.next.tx_frames_unsent = false;
        self.events.next.tx_frames_cut = false;
        self.events.next.link_losses = self.was_up.q.val() & !self.up.q.val();
        self.events.next.pauses_asked = self.asks.q.val() & !self.asks_cycles.q.val().any();
        self.events.next.pauses_obeyed = self.paused.val() & !self.was_paused.q.val();
        self.events.next.pauses_ignored = self.ignored.q.val() & !self.was_ignored.q.val();
        self.events.next.mac_overflows = false;
        self.events.next.mac_underflows = false;

        if self.reset.val() {
            self.control.d.next = 0.into();
            self.limit.d.next = 0.into();
            self.threshold.d.next = 0.into();
            self.changed.d.next = false;
        }
    }
}
