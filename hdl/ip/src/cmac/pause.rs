//! Pauses (802.3x), both ways.
//!
//! ```text
//!  asked ──► limit ──► hold                  (the other end asks)
//!  rx_buffer_beats ──► threshold ──► pause   (the other end is asked)
//! ```
//! Timing: `hold` follows `asked` in the same cycle, `pause` follows the level after two.
//!
//! Invariants:
//! 1. `hold` is high while `asked` is and software allows it, for `limit_cycles` at most. A longer
//!    pause is ignored until it ends.
//! 2. `pause` is high while the packet buffer holds `pause_beats` or more and software allows it,
//!    and for 256 cycles at least.
//!
//! Source: IEEE 802.3, 31B; docs/specification.md, Wire.

use stream::prelude::*;

use super::messages::WireSettings;

/// The pauses. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Pause {
    /// PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// What software has set.
    pub values: Signal<In, WireSettings>,
    /// The other end asks for a pause, and the link is up.
    pub asked: Signal<In, Bit>,
    /// Beats in use in the packet buffer.
    pub rx_buffer_beats: Signal<In, Bits<16>>,

    /// No frame is to begin.
    pub hold: Signal<Out, Bit>,
    /// The other end is to pause.
    pub pause: Signal<Out, Bit>,
    /// The other end asks for a pause that software allows.
    pub paused: Signal<Out, Bit>,
    /// That pause is longer than its limit.
    pub ignored: Signal<Out, Bit>,
    /// A pause begins that the other end asks for (one cycle).
    pub obeys: Signal<Out, Bit>,
    /// A pause is ignored from now on (one cycle).
    pub ignores: Signal<Out, Bit>,
    /// The other end is asked for one more pause (one cycle).
    pub asks: Signal<Out, Bit>,

    cycles: DFF<Bits<32>>,
    was_paused: DFF<Bit>,
    is_ignored: DFF<Bit>,
    was_ignored: DFF<Bit>,
    is_full: DFF<Bit>,
    asking: DFF<Bit>,
    asking_cycles: DFF<Bits<8>>,

    is_paused: Signal<Local, Bit>,
    #[value(1)]
    one_8: Constant<Bits<8>>,
    #[value(1)]
    one_32: Constant<Bits<32>>,
}

impl Logic for Pause {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, cycles, was_paused, is_ignored, was_ignored);
        dff_setup!(self, clock, is_full, asking, asking_cycles);
        self.is_paused.next = self.asked.val() & self.values.val().obeys_pause;
        self.was_paused.d.next = self.is_paused.val();
        self.was_ignored.d.next = self.is_ignored.q.val();
        self.cycles.d.next = 0.into();
        if self.is_paused.val() & !self.is_ignored.q.val() {
            self.cycles.d.next = self.cycles.q.val() + self.one_32.val();
            self.is_ignored.d.next = self.cycles.q.val() >= self.values.val().limit_cycles;
        }
        if !self.is_paused.val() {
            self.is_ignored.d.next = false;
        }
        self.hold.next = self.is_paused.val() & !self.is_ignored.q.val();
        self.paused.next = self.is_paused.val();
        self.ignored.next = self.is_ignored.q.val();
        self.obeys.next = self.is_paused.val() & !self.was_paused.q.val();
        self.ignores.next = self.is_ignored.q.val() & !self.was_ignored.q.val();

        self.is_full.d.next = self.rx_buffer_beats.val() >= self.values.val().pause_beats;
        if self.asking.q.val() {
            if !self.asking_cycles.q.val().all() {
                self.asking_cycles.d.next = self.asking_cycles.q.val() + self.one_8.val();
            }
            self.asking.d.next = self.values.val().asks_pause
                & (self.is_full.q.val() | !self.asking_cycles.q.val().all());
        } else {
            self.asking_cycles.d.next = 0.into();
            self.asking.d.next = self.values.val().asks_pause & self.is_full.q.val();
        }
        self.pause.next = self.asking.q.val();
        self.asks.next = self.asking.q.val() & !self.asking_cycles.q.val().any();
    }
}
