//! Begins an epoch whenever nothing of the last one may stay valid.
//!
//! ```text
//!  user_reset, hot_reset, powered_down ──►┌────────┐──► epoch, reset
//!  flr_in_process, bus_master, command ──►└────────┘──► flr_done
//! ```
//! Timing: `reset` rises one cycle after its cause. It lasts 16 cycles at least, and as long as the
//! cause.
//!
//! Invariants:
//! 1. `command`, `user_reset`, a hot reset, D3hot, a function level reset, or the loss of bus
//!    mastering begins one epoch: `epoch` changes in the first cycle of `reset`. It counts from 1
//!    to `EPOCH_MAX`, then from 1 again. Causes that overlap begin one epoch.
//! 2. `flr_done` rises when a function level reset has had its epoch, and falls with
//!    `flr_in_process`.
//!
//! Source: PCI Express Base 3.0, 5.3.1.4 (D3hot), 6.6.1 (hot reset), 6.6.2 (function level reset);
//! `docs/specification.md`, Reset; decision 12.

use abi::config::{EPOCH_MAX, RESET_CYCLES};
use stream::prelude::*;

/// The epochs. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Epochs {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset or the link is down.
    pub user_reset: Signal<In, Bit>,
    /// The link partner begins a hot reset.
    pub hot_reset: Signal<In, Bit>,
    /// The function is in D3hot: it may send nothing.
    pub powered_down: Signal<In, Bit>,
    /// A function level reset runs.
    pub flr_in_process: Signal<In, Bit>,
    /// The host allows the card to send requests.
    pub bus_master: Signal<In, Bit>,
    /// Software requests a new epoch (one cycle).
    pub command: Signal<In, Bit>,

    /// Current epoch, 1 to `EPOCH_MAX`.
    pub epoch: Signal<Out, Bits<16>>,
    /// An epoch begins: high for 16 cycles at least.
    pub reset: Signal<Out, Bit>,
    /// The function level reset has had its epoch.
    pub flr_done: Signal<Out, Bit>,

    index: DFF<Bits<16>>,
    left: DFF<Bits<4>>,
    resetting: DFF<Bit>,
    was_held: DFF<Bit>,
    was_master: DFF<Bit>,
    flr_served: DFF<Bit>,

    held: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    next: Signal<Local, Bits<16>>,
    #[value(RESET_CYCLES - 1)]
    cycles: Constant<Bits<4>>,
    #[value(1)]
    one_4: Constant<Bits<4>>,
    #[value(1)]
    one_16: Constant<Bits<16>>,
    #[value(u64::from(EPOCH_MAX - 1))]
    last_index: Constant<Bits<16>>,
}

impl Logic for Epochs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, index, left, resetting);
        dff_setup!(self, clock, was_held, was_master, flr_served);

        // A cause that lasts begins one epoch and holds the reset.
        self.held.next = self.user_reset.val()
            | self.hot_reset.val()
            | self.powered_down.val()
            | (self.flr_in_process.val() & !self.flr_served.q.val());
        self.starts.next = (self.held.val() & !self.was_held.q.val())
            | (self.was_master.q.val() & !self.bus_master.val())
            | self.command.val();
        self.was_held.d.next = self.held.val();
        self.was_master.d.next = self.bus_master.val();

        // A register of its own: every stage of the card has it in its paths.
        self.reset.next = self.resetting.q.val();
        // The register counts from 0 to EPOCH_MAX - 1, the epoch from 1 to EPOCH_MAX.
        self.next.next = self.index.q.val() + self.one_16.val();
        self.epoch.next = self.next.val();
        if self.resetting.q.val() & !self.held.val() {
            self.left.d.next = self.left.q.val() - self.one_4.val();
            self.resetting.d.next = self.left.q.val().any();
        }
        if self.resetting.q.val() & self.flr_in_process.val() {
            // The reset has begun: it may count down, and is done when it has.
            self.flr_served.d.next = true;
        }
        if self.starts.val() {
            self.left.d.next = self.cycles.val();
            self.resetting.d.next = true;
            self.index.d.next = self.next.val();
            if self.index.q.val() == self.last_index.val() {
                self.index.d.next = bits::<16>(0);
            }
        }
        if !self.flr_in_process.val() {
            self.flr_served.d.next = false;
        }
        self.flr_done.next = self.flr_served.q.val() & !self.resetting.q.val();
    }
}
