//! Takes fetched pieces of command rings and gives out single commands, once the whole piece is
//! known good.
//!
//! ```text
//!  command_fetch ─┐
//!  commands ──────┴─► 16 beats ──► (last beat without abort) ──► command
//! ```
//! | Port | Direction | Meaning and duty |
//! |---|---|---|
//! | `command_fetch` | in | owner and index of the first command, one before each packet |
//! | `commands` | in | 1 to 16 beats of 64 bytes, one command each |
//! | `command` | out | the commands in order |
//! | `command_read_failed` | out | pulse: a packet was aborted or too long; none of it comes out |
//!
//! Timing: one beat a cycle in, then, three cycles behind the last, one command every third cycle
//! out, of which each takes longer. The beats lie in block RAM, whose register is the command; the
//! valid and ready signals are functions of registers.
//!
//! Invariants:
//! 1. No command of an aborted packet comes out.
//! 2. `reset` forgets a packet kept; a packet that is under way then must be ended by its source.

use crate::messages::CommandBeat;
use stream::prelude::*;

/// What the batch is doing.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum BatchState {
    /// Waits for a fetch.
    Idle,
    /// Takes beats.
    Fill,
    /// Gives commands out.
    Drain,
}

/// The batch. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CommandBatch {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Whose commands follow.
    pub command_fetch: MessageSink<RingFetch>,
    /// The commands.
    pub commands: PacketSink,
    /// Commands, one by one.
    pub command: MessageSource<CommandBeat>,
    /// A packet was given up.
    pub command_read_failed: Signal<Out, Bit>,

    beats: BlockRam<Bits<512>, 4>,
    at: DFF<BatchState>,
    latched: DFF<Bit>,
    gives: DFF<Bit>,
    fetch: DFF<RingFetch>,
    filled: DFF<Bits<5>>,
    drained: DFF<Bits<5>>,
    failed: DFF<Bit>,

    full: Signal<Local, Bit>,
    filled_after: Signal<Local, Bits<5>>,
    drained_after: Signal<Local, Bits<5>>,
    #[value(16)]
    capacity: Constant<Bits<5>>,
    #[value(1)]
    one: Constant<Bits<5>>,
    #[value(0)]
    zero: Constant<Bits<5>>,
}

impl Logic for CommandBatch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, at, latched, gives, fetch, filled, drained, failed);
        clock!(self, clock, beats);

        self.full.next = self.filled.q.val() == self.capacity.val();
        self.filled_after.next = self.filled.q.val() + self.one.val();
        self.drained_after.next = self.drained.q.val() + self.one.val();
        self.command_fetch.ready.next = self.at.q.val() == BatchState::Idle;
        self.commands.ready.next = self.at.q.val() == BatchState::Fill;
        self.command.valid.next = self.gives.q.val();
        self.command.payload.next.owner = self.fetch.q.val().owner;
        self.command.payload.next.index =
            self.fetch.q.val().index + bit_cast::<32, 5>(self.drained.q.val());
        self.command.payload.next.data = self.beats.read_data.val();
        self.beats.read_enable.next = true;
        self.beats.register_enable.next = true;
        self.beats.read_address.next = bit_cast::<4, 5>(self.drained.q.val());
        self.latched.d.next = false;
        self.beats.write_address.next = bit_cast::<4, 5>(self.filled.q.val());
        self.beats.write_data.next = self.commands.data.val();
        self.beats.write_enable.next = false;
        self.failed.d.next = false;
        self.command_read_failed.next = self.failed.q.val();

        match self.at.q.val() {
            // Waits for a fetch, then takes its packet.
            BatchState::Idle => {
                if self.command_fetch.valid.val() {
                    self.fetch.d.next = self.command_fetch.payload.val();
                    self.filled.d.next = self.zero.val();
                    self.drained.d.next = self.zero.val();
                    self.at.d.next = BatchState::Fill;
                }
            }
            // Waits for the last beat, then gives the commands out or gives up.
            BatchState::Fill => {
                if self.commands.valid.val() {
                    self.beats.write_enable.next = !self.full.val();
                    if !self.full.val() {
                        self.filled.d.next = self.filled_after.val();
                    }
                    if self.commands.last.val() {
                        self.at.d.next = BatchState::Drain;
                        if self.commands.abort.val() | self.full.val() {
                            self.failed.d.next = true;
                            self.at.d.next = BatchState::Idle;
                        }
                    }
                }
            }
            // Gives the commands out, each when it is latched and registered, then waits for the
            // next fetch.
            BatchState::Drain => {
                self.latched.d.next = true;
                self.gives.d.next = self.latched.q.val();
                if self.gives.q.val() & self.command.ready.val() {
                    self.drained.d.next = self.drained_after.val();
                    self.latched.d.next = false;
                    self.gives.d.next = false;
                    if self.drained_after.val() == self.filled.q.val() {
                        self.at.d.next = BatchState::Idle;
                    }
                }
            }
        }
        if self.reset.val() {
            self.gives.d.next = false;
            self.at.d.next = BatchState::Idle;
        }
    }
}
