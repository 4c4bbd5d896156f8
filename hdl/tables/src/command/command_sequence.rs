//! The order of the steps of one command.
//!
//! ```text
//!  idle ─► wait ─► read ─► compare ─► check ─► judge ─┬─► act ─┬──────────► idle
//!   (take)                                            │        └─► work ───► idle
//!                                                     └─ (refused) ────────► idle
//! ```
//! Timing: eight cycles from `take` to the next `take`, or six and the wait for the flow when
//! refused; four more where a list is [far](CommandSequence::far). `acting` is a register; `take`,
//! `finish` and `status` depend on the inputs that the state waits for.
//!
//! Invariants:
//! 1. `act` is reached with status `ok` only.
//! 2. There is one `finish` for each `take`.
//! 3. `take` waits while `CONFIRMATIONS_MAX` commands are between it and `fence_passed`.
//!
//! Source: `docs/specification.md`, Fence.

use abi::reason::CommandStatus;
use stream::prelude::*;

/// Bits of a count up to [`CONFIRMATIONS_MAX`].
const UNDER_WAY_BITS: usize = 10;
const _: () = assert!(CONFIRMATIONS_MAX < 1 << UNDER_WAY_BITS);

/// Cycles that verdicts take more, to a list that is two cycles away and back.
const FAR_LAG_CYCLES: u64 = 4;

/// State of the processor.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CommandState {
    /// Waits for a command, and requests the state of its flow.
    Idle,
    /// Waits for the state of the flow.
    Wait,
    /// Waits until the list has been read.
    Read,
    /// Waits for the verdicts of the lists.
    Compare,
    /// Waits for the checks.
    Check,
    /// Decides.
    Judge,
    /// Changes the tables.
    Act,
    /// Waits until a table has completed a change that takes longer.
    Work,
}

/// Decides whether a command is taken. A block of its own, because the send side's queries depend
/// on it.
#[derive(LogicBlock, Default)]
pub struct CommandTake {
    /// State of the processor.
    pub state: Signal<In, CommandState>,
    /// A command is offered.
    pub command_valid: Signal<In, Bit>,
    /// There is free space for the confirmation of the command.
    pub has_space: Signal<In, Bit>,
    /// The command is taken.
    pub take: Signal<Out, Bit>,
}

impl Logic for CommandTake {
    #[hdl_gen]
    fn update(&mut self) {
        self.take.next = (self.state.val() == CommandState::Idle)
            & self.command_valid.val()
            & self.has_space.val();
    }
}

/// Counts the commands between `take` and the last fence.
#[derive(LogicBlock, BlockDefault)]
pub struct CommandsUnderWay {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: sets the count to 0.
    pub reset: Signal<In, Bit>,
    /// A command is taken.
    pub take: Signal<In, Bit>,
    /// A confirmation has left the last fence; counted one cycle later.
    pub fence_passed: Signal<In, Bit>,
    /// Fewer than `CONFIRMATIONS_MAX` commands are in flight.
    pub has_places: Signal<Out, Bit>,

    count: DFF<Bits<UNDER_WAY_BITS>>,
    passed: DFF<Bit>,

    #[value(CONFIRMATIONS_MAX as u64)]
    most: Constant<Bits<UNDER_WAY_BITS>>,
}

impl Logic for CommandsUnderWay {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count, passed);
        self.has_places.next = self.count.q.val() < self.most.val();
        self.passed.d.next = self.fence_passed.val() & !self.reset.val();
        if self.take.val() & !self.passed.q.val() {
            self.count.d.next = self.count.q.val() + 1;
        } else if self.passed.q.val() & !self.take.val() {
            self.count.d.next = self.count.q.val() - 1;
        }
        if self.reset.val() {
            self.count.d.next = 0.into();
        }
    }
}

/// How long the sequence waits for the verdicts of the lists: one cycle, and more for a far one.
#[derive(LogicBlock, BlockDefault)]
pub struct VerdictLag {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// State of the processor.
    pub state: Signal<In, CommandState>,
    /// What follows `Compare`: itself, until the verdicts are there.
    pub next_state: Signal<Out, CommandState>,

    left: DFF<Bits<3>>,

    #[value(0)]
    cycles: Constant<Bits<3>>,
    #[value(1)]
    one: Constant<Bits<3>>,
}

impl Logic for VerdictLag {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, left);
        self.left.d.next = self.left.q.val() - self.one.val();
        if self.state.val() != CommandState::Compare {
            self.left.d.next = self.cycles.val();
        }
        self.next_state.next = CommandState::Compare;
        if !self.left.q.val().any() {
            self.next_state.next = CommandState::Check;
        }
    }
}

/// The sequence. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CommandSequence {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the command in work and the commands in flight.
    pub reset: Signal<In, Bit>,

    /// A command is offered.
    pub command_valid: Signal<In, Bit>,
    /// There is free space for the confirmation of the command, and `has_places` was high, both as
    /// of the cycle before.
    pub has_space: Signal<In, Bit>,
    /// Fewer than `CONFIRMATIONS_MAX` commands are in flight; those of the last two cycles are left
    /// out.
    pub has_places: Signal<Out, Bit>,
    /// A confirmation has left the last fence (one cycle).
    pub fence_passed: Signal<In, Bit>,
    /// The state of the flow is valid in this cycle.
    pub flow_valid: Signal<In, Bit>,
    /// Status that the judge gives: a `CommandStatus`.
    pub judged: Signal<In, Bits<8>>,
    /// The status that the judge gives is `ok`.
    pub judged_ok: Signal<In, Bit>,
    /// The tables take the change in this cycle.
    pub act_ready: Signal<In, Bit>,
    /// The change takes longer than a cycle.
    pub works: Signal<In, Bit>,
    /// The change is in progress.
    pub busy: Signal<In, Bit>,
    /// The change was not carried out, because it was out of range.
    pub refused: Signal<In, Bit>,

    /// The command is taken.
    pub take: Signal<Out, Bit>,
    /// Change the tables.
    pub acting: Signal<Out, Bit>,
    /// The command ends in this cycle.
    pub finish: Signal<Out, Bit>,
    /// Status of the command that ends: a `CommandStatus`.
    pub status: Signal<Out, StatusCode>,

    taking: CommandTake,
    state: DFF<CommandState>,
    acts: DFF<Bit>,
    lag: VerdictLag,
    under_way: CommandsUnderWay,

    #[value(CommandStatus::Ok as u64)]
    ok: Constant<Bits<8>>,
    #[value(CommandStatus::BadRange as u64)]
    bad_range: Constant<Bits<8>>,
}

impl CommandSequence {
    /// A sequence that waits for the verdicts of a list that is two cycles away.
    pub fn far() -> Self {
        Self {
            lag: VerdictLag {
                cycles: Constant::new(FAR_LAG_CYCLES.to_bits()),
                ..VerdictLag::default()
            },
            ..Self::default()
        }
    }
}

impl Logic for CommandSequence {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, acts);
        clock!(self, clock, under_way, lag);
        self.lag.state.next = self.state.q.val();
        self.under_way.reset.next = self.reset.val();
        self.under_way.take.next = self.taking.take.val();
        self.under_way.fence_passed.next = self.fence_passed.val();
        self.has_places.next = self.under_way.has_places.val();
        self.taking.state.next = self.state.q.val();
        self.taking.command_valid.next = self.command_valid.val();
        self.taking.has_space.next = self.has_space.val();
        self.take.next = self.taking.take.val();
        self.acting.next = self.acts.q.val();
        self.acts.d.next = false;
        self.finish.next = false;
        self.status.next = self.ok.val();

        match self.state.q.val() {
            // Waits for a command.
            CommandState::Idle => {
                if self.taking.take.val() {
                    self.state.d.next = CommandState::Wait;
                }
            }
            // Waits for the flow; its list is read meanwhile.
            CommandState::Wait => {
                if self.flow_valid.val() {
                    self.state.d.next = CommandState::Read;
                }
            }
            CommandState::Read => self.state.d.next = CommandState::Compare,
            CommandState::Compare => self.state.d.next = self.lag.next_state.val(),
            CommandState::Check => self.state.d.next = CommandState::Judge,
            CommandState::Judge => {
                self.state.d.next = CommandState::Act;
                self.acts.d.next = self.judged_ok.val();
                if !self.judged_ok.val() {
                    self.finish.next = true;
                    self.status.next = self.judged.val();
                    self.state.d.next = CommandState::Idle;
                }
            }
            // Waits until all tables take the change in one cycle.
            CommandState::Act => {
                self.acts.d.next = !self.act_ready.val();
                if self.act_ready.val() {
                    self.finish.next = !self.works.val();
                    self.state.d.next = CommandState::Idle;
                    if self.works.val() {
                        self.state.d.next = CommandState::Work;
                    }
                }
            }
            // Waits until the change is done.
            CommandState::Work => {
                if !self.busy.val() {
                    self.finish.next = true;
                    if self.refused.val() {
                        self.status.next = self.bad_range.val();
                    }
                    self.state.d.next = CommandState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.finish.next = false;
            self.state.d.next = CommandState::Idle;
            self.acts.d.next = false;
        }
    }
}
