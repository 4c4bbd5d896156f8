//! Holds the item that is judged, with all that it is judged by.
//!
//! Timing: what is loaded shows in the next cycle, and stays until the next load.

use crate::messages::Decided;
use crate::runs::messages::{RunFacts, RunFirst, RunLast, RunMatch};
use stream::prelude::*;

/// The registers. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RunHeld {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An item is decided: it is loaded.
    pub load: Signal<In, Bit>,
    /// The item as decided.
    pub plan: Signal<In, Decided>,
    /// Facts of its headers.
    pub facts: Signal<In, RunFacts>,
    /// First packet of the run at its place.
    pub first: Signal<In, RunFirst>,
    /// Last packet of that run.
    pub last: Signal<In, RunLast>,
    /// How it compares with the run.
    pub compared: Signal<In, RunMatch>,
    /// The same as it was loaded: `plan`.
    pub held_plan: Signal<Out, Decided>,
    /// The same as it was loaded: `facts`.
    pub held_facts: Signal<Out, RunFacts>,
    /// The same as it was loaded: `first`.
    pub held_first: Signal<Out, RunFirst>,
    /// The same as it was loaded: `last`.
    pub held_last: Signal<Out, RunLast>,
    /// The same as it was loaded: `compared`.
    pub held_compared: Signal<Out, RunMatch>,

    plan_kept: DFF<Decided>,
    facts_kept: DFF<RunFacts>,
    first_kept: DFF<RunFirst>,
    last_kept: DFF<RunLast>,
    compared_kept: DFF<RunMatch>,
}

impl Logic for RunHeld {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, plan_kept, facts_kept, first_kept, last_kept, compared_kept);
        self.held_plan.next = self.plan_kept.q.val();
        self.held_facts.next = self.facts_kept.q.val();
        self.held_first.next = self.first_kept.q.val();
        self.held_last.next = self.last_kept.q.val();
        self.held_compared.next = self.compared_kept.q.val();
        if self.load.val() {
            self.plan_kept.d.next = self.plan.val();
            self.facts_kept.d.next = self.facts.val();
            self.first_kept.d.next = self.first.val();
            self.last_kept.d.next = self.last.val();
            self.compared_kept.d.next = self.compared.val();
        }
    }
}
