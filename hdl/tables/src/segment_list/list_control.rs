//! How the command processor and a list updater talk: one change at a time, first judged, then
//! done.
//!
//! ```text
//!  command ── change, commit ──► updater
//!          ◄─ full, range_bad, busy, refused ──
//! ```
//! Timing: `ListVerdicts` is combinational.
//!
//! Invariants:
//! 1. `change` is steady from five cycles before `commit` until the last cycle of `busy`.
//! 2. `full` and `range_bad` judge the `change` of four cycles ago and later; `commit` comes only
//!    when both were low.
//! 3. `busy` rises in the cycle after `commit` or not at all; `refused` is valid when it has
//!    fallen.

use crate::messages::ListUpdate;
use stream::prelude::*;

/// The end that requests changes.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ListControlSink"]
pub struct ListControlSource {
    /// Change that a command requests.
    pub change: Signal<Out, ListUpdate>,
    /// Carry out the change.
    pub commit: Signal<Out, Bit>,
    /// The segments do not fit, or the index is not the tail.
    pub full: Signal<In, Bit>,
    /// A length or an index is outside its limits.
    pub range_bad: Signal<In, Bit>,
    /// The change is being carried out.
    pub busy: Signal<In, Bit>,
    /// The truncate was not carried out: its segment would have grown.
    pub refused: Signal<In, Bit>,
}

/// The end that carries changes out.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ListControlSource"]
pub struct ListControlSink {
    /// Change that a command requests.
    pub change: Signal<In, ListUpdate>,
    /// Carry out the change.
    pub commit: Signal<In, Bit>,
    /// The segments do not fit, or the index is not the tail.
    pub full: Signal<Out, Bit>,
    /// A length or an index is outside its limits.
    pub range_bad: Signal<Out, Bit>,
    /// The change is being carried out.
    pub busy: Signal<Out, Bit>,
    /// The truncate was not carried out: its segment would have grown.
    pub refused: Signal<Out, Bit>,
}

/// The verdict of the lists that a command changes. An install, which changes both, is refused by
/// neither.
#[derive(LogicBlock, Default)]
pub struct ListVerdicts {
    /// The command changes the receive list.
    pub rx: Signal<In, Bit>,
    /// `full` of the receive list.
    pub rx_full: Signal<In, Bit>,
    /// `range_bad` of the receive list.
    pub rx_range_bad: Signal<In, Bit>,
    /// `refused` of the receive list.
    pub rx_refused: Signal<In, Bit>,
    /// The command changes the send list.
    pub tx: Signal<In, Bit>,
    /// `full` of the send list.
    pub tx_full: Signal<In, Bit>,
    /// `range_bad` of the send list.
    pub tx_range_bad: Signal<In, Bit>,
    /// `refused` of the send list.
    pub tx_refused: Signal<In, Bit>,
    /// The segments do not fit, or the index is not the tail.
    pub full: Signal<Out, Bit>,
    /// A length or an index is outside its limits.
    pub range_bad: Signal<Out, Bit>,
    /// The change was not carried out.
    pub refused: Signal<Out, Bit>,
}

impl Logic for ListVerdicts {
    #[hdl_gen]
    fn update(&mut self) {
        self.full.next =
            (self.rx.val() & self.rx_full.val()) | (self.tx.val() & self.tx_full.val());
        self.range_bad.next =
            (self.rx.val() & self.rx_range_bad.val()) | (self.tx.val() & self.tx_range_bad.val());
        self.refused.next =
            (self.rx.val() & self.rx_refused.val()) | (self.tx.val() & self.tx_refused.val());
    }
}
