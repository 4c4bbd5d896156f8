//! Takes the commands of one fetch and hands out single commands, once the whole fetch is known to
//! be good.
//!
//! ```text
//!  command_fetch ─┐
//!  commands ──────┴─► 16 beats ──► (last beat without abort) ──► command
//! ```
//! Timing: one beat per cycle in; then, from three cycles after the last one, one command every
//! third cycle out, if it is taken at once. The beats lie in block RAM, whose register is the
//! command; the valid and ready signals are functions of registers.
//!
//! Invariants:
//! 1. No command of an aborted packet is handed out, nor one of a packet of more than 16 beats.
//! 2. `reset` forgets a packet that is kept. The source must end a packet that it is sending then.
//!
//! On error: a packet that is aborted or too long pulses `command_read_failed`.

use crate::messages::CommandBeat;
use stream::prelude::*;

/// State of the batch.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum BatchState {
    /// Waits for a fetch.
    Idle,
    /// Takes beats.
    Fill,
    /// Hands out commands.
    Drain,
}

/// The batch. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CommandBatch {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the batch.
    pub reset: Signal<In, Bit>,

    /// Owner and index of the first command, one message before each packet.
    pub command_fetch: MessageSink<RingFetch>,
    /// Packets of 1 to 16 beats of 64 bytes, one command each.
    pub commands: PacketSink,
    /// Commands, one by one, in order.
    pub command: MessageSource<CommandBeat>,
    /// A packet was aborted or too long and is dropped (one cycle).
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
    drained_after: Signal<Local, Bits<5>>,
    #[value(16)]
    capacity: Constant<Bits<5>>,
    #[value(1)]
    one: Constant<Bits<5>>,
}

impl Logic for CommandBatch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, at, latched, gives, fetch, filled, drained, failed);
        clock!(self, clock, beats);

        self.full.next = self.filled.q.val() == self.capacity.val();
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
                    self.filled.d.next = 0.into();
                    self.drained.d.next = 0.into();
                    self.at.d.next = BatchState::Fill;
                }
            }
            // Waits for the last beat, then gives the commands out or gives up.
            BatchState::Fill => {
                if self.commands.valid.val() {
                    self.beats.write_enable.next = !self.full.val();
                    if !self.full.val() {
                        self.filled.d.next = self.filled.q.val() + self.one.val();
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
