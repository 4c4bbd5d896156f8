//! The configuration port of the device, as registers: which image is loaded, and what was loaded.
//!
//! ```text
//!   COMMAND ──► one of three operations ──► program ══ ICAPE3
//!   STATUS, BOOT_STATUS ◄────────────────────┘
//! ```
//! Timing: a reply one cycle after its access. The words of a load begin 131 us after its command,
//! so that the reply reaches the host first.
//!
//! Invariants:
//! 1. The port loads the golden or the user's slot, or reads BOOTSTS; nothing else reaches it.
//! 2. A command while one runs is refused, and changes nothing.
//!
//! On error: STATUS says that the last command was refused.
//!
//! Source: `abi::window`.

use crate::description::FlashPlan;
use crate::window::access::{WindowAccess, WindowReply};
use crate::window::port_program::{PortLines, PortProgram};
use abi::window::PortOperation;
use stream::prelude::*;

/// The port of a device with flash chips of this plan.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(plan: FlashPlan)]
pub struct ConfigurationPort {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// The device's port.
    pub lines: PortLines,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    command: DFF<Bits<32>>,
    begins: DFF<Bit>,
    refused: DFF<Bit>,
    #[value(PortProgram::new(plan))]
    steps: PortProgram,

    address: Signal<Local, Bits<20>>,
    at: Signal<Local, Bits<10>>,
    written: Signal<Local, Bits<32>>,
    is_known: Signal<Local, Bit>,
    is_busy: Signal<Local, Bit>,
    reads: Signal<Local, Bit>,
    #[value(PortOperation::BootGolden as u64)]
    boot_golden: Constant<Bits<32>>,
    #[value(PortOperation::BootUser as u64)]
    boot_user: Constant<Bits<32>>,
    #[value(PortOperation::ReadStatus as u64)]
    read_status: Constant<Bits<32>>,
}

impl Logic for ConfigurationPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, answer, command, begins, refused);
        clock!(self, clock, steps);
        PortLines::link(&mut self.lines, &mut self.steps.lines);
        self.address.next = self.access.payload.val().address;
        self.at.next = self.address.val().get_bits::<10>(2);
        self.written.next = self.access.payload.val().data;
        self.is_known.next = (self.written.val() == self.boot_golden.val())
            | (self.written.val() == self.boot_user.val())
            | (self.written.val() == self.read_status.val());
        self.is_busy.next = self.steps.busy.val() | self.begins.q.val();
        self.begins.d.next = false;
        if self.access.valid.val()
            & self.access.payload.val().write
            & (self.at.val() == bits::<10>(0))
        {
            self.refused.d.next = self.is_busy.val() | !self.is_known.val();
            if !self.is_busy.val() & self.is_known.val() {
                self.command.d.next = self.written.val();
                self.begins.d.next = true;
            }
        }
        self.reads.next = self.command.q.val() == self.read_status.val();
        self.steps.loads.next = self.begins.q.val() & !self.reads.val();
        self.steps.asks.next = self.begins.q.val() & self.reads.val();
        self.steps.is_user.next = self.command.q.val() == self.boot_user.val();

        self.valid.d.next = self.access.valid.val();
        self.answer.d.next.response = bits::<2>(0);
        self.answer.d.next.data = bits::<32>(0);
        if self.at.val() == bits::<10>(0) {
            self.answer.d.next.data = self.command.q.val();
        } else if self.at.val() == bits::<10>(1) {
            self.answer.d.next.data = bit_cast::<32, 1>(self.is_busy.val().into())
                | (bit_cast::<32, 1>(self.refused.q.val().into()) << 1);
        } else if self.at.val() == bits::<10>(2) {
            self.answer.d.next.data = self.steps.boot_status.val();
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
