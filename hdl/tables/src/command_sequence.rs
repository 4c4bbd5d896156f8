//! The order of the steps of one command.
//!
//! ```text
//!  idle ─► query ─► wait ─► judge ─┬─► list ask ─► list wait ─┬─► change ─┬─► settle ─► confirm
//!                                  │       ▲───── (tx) ───────┤           │
//!                                  └─► write ─────────────────┼───────────┘
//!                                      (refused, nop, done) ──┴─► confirm
//! ```
//! Timing: `at` and `status` are registers; every input is looked at in the one state that waits
//! for it.
//!
//! Invariants:
//! 1. `change` and `write` are reached with status `ok` only.
//! 2. One confirm for each command taken.

use crate::command_kind::CommandKind;
use abi::reason::CommandStatus;
use stream::prelude::*;

/// Where the processor is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CommandState {
    /// Waits for a command.
    Idle,
    /// Asks for the flow.
    Query,
    /// Waits for the flow.
    Wait,
    /// Decides.
    Judge,
    /// Asks a list.
    ListAsk,
    /// Waits for the list.
    ListWait,
    /// Changes the flow's state.
    Change,
    /// Writes a key slot, a region or a page entry.
    Write,
    /// Lets the write reach the memories.
    Settle,
    /// Hands out the confirmation.
    Confirm,
}

/// Which step follows, for each kind. Combinational.
#[derive(LogicBlock, Default)]
pub struct StepOrder {
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// The second half of a flow install.
    pub install_tx: Signal<In, Bit>,
    /// The step after the decision.
    pub first: Signal<Out, CommandState>,
    /// The step after a list has changed.
    pub after_list: Signal<Out, CommandState>,
}

impl Logic for StepOrder {
    #[hdl_gen]
    fn update(&mut self) {
        match self.kind.val() {
            CommandKind::Unknown => self.first.next = CommandState::Confirm,
            CommandKind::Nop => self.first.next = CommandState::Confirm,
            CommandKind::FlowRemove => self.first.next = CommandState::Change,
            CommandKind::KeySet => self.first.next = CommandState::Write,
            CommandKind::KeyClear => self.first.next = CommandState::Write,
            CommandKind::RegionInstall => self.first.next = CommandState::Write,
            CommandKind::RegionRemove => self.first.next = CommandState::Write,
            CommandKind::PageSet => self.first.next = CommandState::Write,
            _ => self.first.next = CommandState::ListAsk,
        }
        self.after_list.next = CommandState::Confirm;
        match self.kind.val() {
            CommandKind::FlowInstall => {
                self.after_list.next = CommandState::ListAsk;
                if self.install_tx.val() {
                    self.after_list.next = CommandState::Change;
                }
            }
            CommandKind::FloorSet => self.after_list.next = CommandState::Change,
            CommandKind::SendFloorSet => self.after_list.next = CommandState::Change,
            _ => {}
        }
    }
}

/// The sequence. See the module's head.
#[derive(LogicBlock)]
pub struct CommandSequence {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A command is there.
    pub command_valid: Signal<In, Bit>,
    /// The flow's state is there.
    pub flow_valid: Signal<In, Bit>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// Status so far.
    pub judged: Signal<In, Bits<8>>,
    /// The list takes the change.
    pub list_ready: Signal<In, Bit>,
    /// The list's result is there.
    pub list_done: Signal<In, Bit>,
    /// The result.
    pub list_status: Signal<In, Bits<8>>,
    /// The flow table takes the change.
    pub change_ready: Signal<In, Bit>,
    /// A write is under way.
    pub busy: Signal<In, Bit>,
    /// The confirmation is taken.
    pub confirm_ready: Signal<In, Bit>,

    /// Where the processor is.
    pub at: Signal<Out, CommandState>,
    /// The second half of a flow install.
    pub install_tx: Signal<Out, Bit>,
    /// CommandStatus of the confirmation.
    pub status: Signal<Out, Bits<8>>,

    state: DFF<CommandState>,
    half: DFF<Bit>,
    result: DFF<Bits<8>>,

    order: StepOrder,

    ok: Constant<Bits<8>>,
}

impl Default for CommandSequence {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            command_valid: Default::default(),
            flow_valid: Default::default(),
            kind: Default::default(),
            judged: Default::default(),
            list_ready: Default::default(),
            list_done: Default::default(),
            list_status: Default::default(),
            change_ready: Default::default(),
            busy: Default::default(),
            confirm_ready: Default::default(),
            at: Default::default(),
            install_tx: Default::default(),
            status: Default::default(),
            state: Default::default(),
            half: Default::default(),
            result: Default::default(),
            order: Default::default(),
            ok: Constant::new((CommandStatus::Ok as u64).to_bits()),
        }
    }
}

impl Logic for CommandSequence {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, half, result);
        self.order.kind.next = self.kind.val();
        self.order.install_tx.next = self.half.q.val();
        self.at.next = self.state.q.val();
        self.install_tx.next = self.half.q.val();
        self.status.next = self.result.q.val();

        match self.state.q.val() {
            // Waits for a command, then asks for its flow.
            CommandState::Idle => {
                self.half.d.next = false;
                if self.command_valid.val() {
                    self.state.d.next = CommandState::Query;
                }
            }
            CommandState::Query => self.state.d.next = CommandState::Wait,
            // Waits for the flow, then decides.
            CommandState::Wait => {
                if self.flow_valid.val() {
                    self.state.d.next = CommandState::Judge;
                }
            }
            CommandState::Judge => {
                self.result.d.next = self.judged.val();
                self.state.d.next = self.order.first.val();
                if self.judged.val() != self.ok.val() {
                    self.state.d.next = CommandState::Confirm;
                }
            }
            // Waits until the list takes the change, then for its result.
            CommandState::ListAsk => {
                if self.list_ready.val() {
                    self.state.d.next = CommandState::ListWait;
                }
            }
            CommandState::ListWait => {
                if self.list_done.val() {
                    self.result.d.next = self.list_status.val();
                    self.state.d.next = CommandState::Confirm;
                    if self.list_status.val() == self.ok.val() {
                        self.half.d.next = true;
                        self.state.d.next = self.order.after_list.val();
                    }
                }
            }
            // Waits until the flow table takes the change.
            CommandState::Change => {
                if self.change_ready.val() {
                    self.state.d.next = CommandState::Settle;
                }
            }
            CommandState::Write => self.state.d.next = CommandState::Settle,
            // Waits until the memories are written.
            CommandState::Settle => {
                if !self.busy.val() {
                    self.state.d.next = CommandState::Confirm;
                }
            }
            // Waits until the confirmation is taken.
            CommandState::Confirm => {
                if self.confirm_ready.val() {
                    self.state.d.next = CommandState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = CommandState::Idle;
        }
    }
}
