//! How the command processor and a list updater speak: one change at a time, judged, then done.
//!
//! Invariants:
//! 1. `change` is steady from five cycles before `commit` until the last cycle of `busy`.
//! 2. `full` and `range_bad` judge the `change` of four cycles ago and after; `commit` comes only
//!    when both were low.
//! 3. `busy` rises in the cycle after `commit` or not at all; `refused` is right when it has
//!    fallen.

use crate::messages::ListUpdate;
use stream::prelude::*;

/// The end that asks.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ListControlSink"]
pub struct ListControlSource {
    /// What a command asks.
    pub change: Signal<Out, ListUpdate>,
    /// Do it.
    pub commit: Signal<Out, Bit>,
    /// It does not fit, or is not the tail's turn.
    pub full: Signal<In, Bit>,
    /// A length or an index outside its limits.
    pub range_bad: Signal<In, Bit>,
    /// It is being done.
    pub busy: Signal<In, Bit>,
    /// The truncate was not done: its segment would have grown.
    pub refused: Signal<In, Bit>,
}

/// The end that does it.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ListControlSource"]
pub struct ListControlSink {
    /// What a command asks.
    pub change: Signal<In, ListUpdate>,
    /// Do it.
    pub commit: Signal<In, Bit>,
    /// It does not fit, or is not the tail's turn.
    pub full: Signal<Out, Bit>,
    /// A length or an index outside its limits.
    pub range_bad: Signal<Out, Bit>,
    /// It is being done.
    pub busy: Signal<Out, Bit>,
    /// The truncate was not done: its segment would have grown.
    pub refused: Signal<Out, Bit>,
}

/// What the list concerned says; a command that changes both can be refused by none.
#[derive(LogicBlock, Default)]
pub struct ListAnswers {
    /// The command changes the receive list.
    pub rx: Signal<In, Bit>,
    /// What that list says.
    pub rx_full: Signal<In, Bit>,
    /// The same.
    pub rx_range_bad: Signal<In, Bit>,
    /// The same.
    pub rx_refused: Signal<In, Bit>,
    /// The command changes the send list.
    pub tx: Signal<In, Bit>,
    /// What that list says.
    pub tx_full: Signal<In, Bit>,
    /// The same.
    pub tx_range_bad: Signal<In, Bit>,
    /// The same.
    pub tx_refused: Signal<In, Bit>,
    /// It does not fit.
    pub full: Signal<Out, Bit>,
    /// Something of it is out of range.
    pub range_bad: Signal<Out, Bit>,
    /// It was not done.
    pub refused: Signal<Out, Bit>,
}

impl Logic for ListAnswers {
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
