//! The phases of a host request.
//!
//! ```text
//!          ┌─ ends at once ───────────────────────┐
//!  Idle ───┼─ writes ──► Write ───────────────────┼──► Idle
//!          ├─ reads ───► Read ─────► Reply ───────┤
//!          └─ replies ─────────────► Reply ───────┘
//! ```
//! Timing: `finished` is high in the last cycle of a request, in the same cycle as its cause.
//!
//! Invariants:
//! 1. `begins` is high only in Idle. `replying` is high until the reply is taken.

use stream::prelude::*;

/// What is done with the request.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ExecutePhase {
    /// Waits for a request.
    Idle,
    /// Waits for the last dword written.
    Write,
    /// Waits for the last dword read.
    Read,
    /// Waits until the reply is taken.
    Reply,
}

/// The phases. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ExecuteStep {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the request in work.
    pub reset: Signal<In, Bit>,
    /// A request is offered.
    pub offered: Signal<In, Bit>,
    /// The request begins in this cycle.
    pub begins: Signal<Out, Bit>,
    /// The request that begins ends at once.
    pub ends: Signal<In, Bit>,
    /// The request that begins writes registers.
    pub writes: Signal<In, Bit>,
    /// The last dword is written.
    pub written: Signal<In, Bit>,
    /// The request that begins reads registers.
    pub reads: Signal<In, Bit>,
    /// The last dword is read.
    pub read: Signal<In, Bit>,
    /// The request that begins gets a reply without a register.
    pub replies: Signal<In, Bit>,
    /// A reply is offered.
    pub replying: Signal<Out, Bit>,
    /// The reply is taken.
    pub replied: Signal<In, Bit>,
    /// The request ends in this cycle.
    pub finished: Signal<Out, Bit>,

    phase: DFF<ExecutePhase>,

    starts: Signal<Local, Bit>,
}

impl Logic for ExecuteStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase);
        self.starts.next = self.offered.val() & (self.phase.q.val() == ExecutePhase::Idle);
        self.begins.next = self.starts.val();
        self.replying.next = self.phase.q.val() == ExecutePhase::Reply;
        self.finished.next = self.starts.val() & self.ends.val();
        match self.phase.q.val() {
            ExecutePhase::Idle => {
                if self.starts.val() & self.writes.val() {
                    self.phase.d.next = ExecutePhase::Write;
                } else if self.starts.val() & self.reads.val() {
                    self.phase.d.next = ExecutePhase::Read;
                } else if self.starts.val() & self.replies.val() {
                    self.phase.d.next = ExecutePhase::Reply;
                }
            }
            ExecutePhase::Write => {
                self.finished.next = self.written.val();
                if self.written.val() {
                    self.phase.d.next = ExecutePhase::Idle;
                }
            }
            ExecutePhase::Read => {
                if self.read.val() {
                    self.phase.d.next = ExecutePhase::Reply;
                }
            }
            ExecutePhase::Reply => {
                self.finished.next = self.replied.val();
                if self.replied.val() {
                    self.phase.d.next = ExecutePhase::Idle;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = ExecutePhase::Idle;
        }
    }
}
