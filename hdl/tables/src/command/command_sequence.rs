//! The order of the steps of one command.
//!
//! ```text
//!  idle ─► wait ─► read ─► compare ─► check ─► judge ─┬─► act ─┬──────────► idle
//!   (take)                                            │        └─► work ───► idle
//!                                                     └─ (refused) ────────► idle
//! ```
//! Timing: eight cycles from `take` to the next `take`, six and the wait for the flow when refused.
//! `acting` is a register; `take`, `finish` and `status` depend on the inputs that the
//! state waits for.
//!
//! Invariants:
//! 1. `act` is reached with status `ok` only.
//! 2. One `finish` for each `take`.
//! 3. `take` waits while `CONFIRMATIONS_MAX` commands are between it and `fence_passed`.

use abi::reason::CommandStatus;
use stream::prelude::*;

/// Bits of a count up to [`CONFIRMATIONS_MAX`].
const UNDER_WAY_BITS: usize = 10;
const _: () = assert!(CONFIRMATIONS_MAX < 1 << UNDER_WAY_BITS);

/// Where the processor is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CommandState {
    /// Waits for a command, and asks for its flow.
    Idle,
    /// Waits for the flow.
    Wait,
    /// Lets the list be read,
    Read,
    /// the lists answer,
    Compare,
    /// and the checks.
    Check,
    /// Decides.
    Judge,
    /// Changes the tables.
    Act,
    /// Waits until a table has done what takes longer.
    Work,
}

/// Whether a command is taken: in a block of its own, since the send side's queries wait for it.
#[derive(LogicBlock, Default)]
pub struct CommandTake {
    /// Where the processor is.
    pub state: Signal<In, CommandState>,
    /// A command is there.
    pub command_valid: Signal<In, Bit>,
    /// And room for its confirmation.
    pub has_room: Signal<In, Bit>,
    /// It is taken.
    pub take: Signal<Out, Bit>,
}

impl Logic for CommandTake {
    #[hdl_gen]
    fn update(&mut self) {
        self.take.next = (self.state.val() == CommandState::Idle)
            & self.command_valid.val()
            & self.has_room.val();
    }
}

/// Counts the commands between `take` and the last fence.
#[derive(LogicBlock, BlockDefault)]
pub struct CommandsUnderWay {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,
    /// A command is taken.
    pub take: Signal<In, Bit>,
    /// A confirmation has left the last fence: counted one cycle later.
    pub fence_passed: Signal<In, Bit>,
    /// Fewer than `CONFIRMATIONS_MAX` are under way.
    pub has_places: Signal<Out, Bit>,

    count: DFF<Bits<UNDER_WAY_BITS>>,
    passed: DFF<Bit>,

    #[value(CONFIRMATIONS_MAX as u64)]
    most: Constant<Bits<UNDER_WAY_BITS>>,
    #[value(0)]
    none: Constant<Bits<UNDER_WAY_BITS>>,
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
            self.count.d.next = self.none.val();
        }
    }
}

/// The sequence. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CommandSequence {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A command is there.
    pub command_valid: Signal<In, Bit>,
    /// And room for its confirmation: as it was, and `has_places`, a cycle before.
    pub has_room: Signal<In, Bit>,
    /// Fewer than `CONFIRMATIONS_MAX` are under way, those of the last two cycles left out.
    pub has_places: Signal<Out, Bit>,
    /// A confirmation has left the last fence.
    pub fence_passed: Signal<In, Bit>,
    /// The flow's state is there.
    pub flow_valid: Signal<In, Bit>,
    /// CommandStatus of the judge.
    pub judged: Signal<In, Bits<8>>,
    /// It is `ok`.
    pub judged_ok: Signal<In, Bit>,
    /// The tables take the change.
    pub act_ready: Signal<In, Bit>,
    /// The change takes longer than a cycle.
    pub works: Signal<In, Bit>,
    /// It is under way.
    pub busy: Signal<In, Bit>,
    /// It was not done, for it was out of range.
    pub refused: Signal<In, Bit>,

    /// The command is taken.
    pub take: Signal<Out, Bit>,
    /// Change the tables.
    pub acting: Signal<Out, Bit>,
    /// The command ends in this cycle.
    pub finish: Signal<Out, Bit>,
    /// Its CommandStatus.
    pub status: Signal<Out, StatusCode>,

    taking: CommandTake,
    state: DFF<CommandState>,
    acts: DFF<Bit>,
    under_way: CommandsUnderWay,

    #[value(CommandStatus::Ok as u64)]
    ok: Constant<Bits<8>>,
    #[value(CommandStatus::BadRange as u64)]
    bad_range: Constant<Bits<8>>,
}

impl Logic for CommandSequence {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, acts);
        clock!(self, clock, under_way);
        self.under_way.reset.next = self.reset.val();
        self.under_way.take.next = self.taking.take.val();
        self.under_way.fence_passed.next = self.fence_passed.val();
        self.has_places.next = self.under_way.has_places.val();
        self.taking.state.next = self.state.q.val();
        self.taking.command_valid.next = self.command_valid.val();
        self.taking.has_room.next = self.has_room.val();
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
            CommandState::Compare => self.state.d.next = CommandState::Check,
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
