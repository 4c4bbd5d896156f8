//! Chooses which drop of the placement stages is counted in a cycle: one of `admit` first, then one
//! of the share check, then one of the packets that a reset flushed.
//!
//! ```text
//!  admit_drop ─────┐
//!  share_drop ─────┼─► first that is there ──► source
//!  reset_waits ────┘        │
//!  drop_busy ───────────────┴─► share_busy, reset_busy
//! ```
//! Timing: combinational. `share_busy` follows from `drop_busy` and `admit_drop`, `reset_busy` from
//! `share_drop`, too; no input may depend on the busy signals of a later one.
//!
//! Invariants:
//! 1. `source` has at most one pulse per cycle, and none while `drop_busy`: for this `admit_drop`
//!    and `share_drop` have no pulse while they are kept busy.
//! 2. No drop is passed over: a pulse of `admit_drop` or `share_drop` is counted in its cycle, a
//!    flushed packet in the first cycle in which `reset_busy` is low.

use stream::prelude::*;

/// The choice. See the module's head.
#[derive(LogicBlock, Default)]
pub struct DropSelect {
    /// A drop from elsewhere is counted in this cycle: none of these is.
    pub drop_busy: Signal<In, Bit>,

    /// A packet that `admit` drops, with its reason; none comes while `drop_busy`.
    pub admit_drop: PulseSink<DropCode>,
    /// A packet that the share check drops, with its reason; none comes while `share_busy`.
    pub share_drop: PulseSink<DropCode>,
    /// The share check must not drop in this cycle: another drop is counted.
    pub share_busy: Signal<Out, Bit>,
    /// A packet that a reset flushed waits to be counted.
    pub reset_waits: Signal<In, Bit>,
    /// DropReason of packets that a reset flushed.
    pub reset_reason: Signal<In, DropCode>,
    /// No flushed packet is counted in this cycle: another drop is.
    pub reset_busy: Signal<Out, Bit>,
    /// The drop that is counted, with its reason.
    pub source: PulseSource<DropCode>,

    drops: Signal<Local, Bit>,
}

impl Logic for DropSelect {
    #[hdl_gen]
    fn update(&mut self) {
        self.drops.next = self.admit_drop.valid.val() | self.share_drop.valid.val();
        self.share_busy.next = self.drop_busy.val() | self.admit_drop.valid.val();
        self.reset_busy.next = self.drop_busy.val() | self.drops.val();
        self.source.valid.next =
            self.drops.val() | (self.reset_waits.val() & !self.drop_busy.val());
        self.source.payload.next = self.reset_reason.val();
        if self.share_drop.valid.val() {
            self.source.payload.next = self.share_drop.payload.val();
        }
        if self.admit_drop.valid.val() {
            self.source.payload.next = self.admit_drop.payload.val();
        }
    }
}
