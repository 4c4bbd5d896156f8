//! The configuration port of the device, as registers: which image is loaded, and what was loaded.
//!
//! ```text
//!   COMMAND, KEY ──► one of three operations ──► requests (crossing) ──► program ══ ICAPE3
//!   STATUS, BOOT_STATUS ◄────────────────────── replies (crossing) ◄────────┘
//!                        clock                  │            base_clock
//! ```
//! Timing: a reply one cycle after its access. The words of a load begin 164 us after its command,
//! so that the reply reaches the host first.
//!
//! Invariants:
//! 1. The port loads the golden or the user's slot, or reads BOOTSTS; nothing else reaches it.
//! 2. A command while one runs is refused, and changes nothing.
//! 3. A load needs both words of the key directly before it, and no flash chip that erases or
//!    programs. From its acceptance on `is_loading` keeps all chips from it.
//!
//! On error: STATUS says that the last command was refused. While `base_clock` stands an operation
//! does not end, and all commands are refused.
//!
//! Source: `abi::window`.

use crate::description::FlashPlan;
use crate::window::access::{WindowAccess, WindowReply};
use crate::window::port_key::PortKey;
use crate::window::port_program::{PortLines, PortProgram, PortRequest};
use abi::window::PortOperation;
use stream::prelude::*;

/// The port of a device with flash chips of this plan.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(plan: FlashPlan)]
pub struct ConfigurationPort {
    /// Clock of the registers, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Clock of the device's port, 100 MHz.
    pub base_clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// A flash chip erases or programs, or may.
    pub is_flash_busy: Signal<In, Bit>,
    /// A load has been accepted: no chip may begin to erase or program.
    pub is_loading: Signal<Out, Bit>,
    /// The device's port, in `base_clock`.
    pub lines: PortLines,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    command: DFF<Bits<32>>,
    begins: DFF<Bit>,
    busy: DFF<Bit>,
    refused: DFF<Bit>,
    booted: DFF<Bits<32>>,
    key: PortKey,
    requests: AsyncFifo<PortRequest, 4, 5>,
    replies: AsyncFifo<Bits<32>, 4, 5>,
    #[value(PortProgram::new(plan))]
    steps: PortProgram,

    at: Signal<Local, Bits<10>>,
    written: Signal<Local, Bits<32>>,
    writes: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
    is_allowed: Signal<Local, Bit>,
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
        dff_setup!(self, clock, valid, answer, command, begins, busy, refused, booted);
        clock!(self, clock, key);
        self.requests.write_clock.next = self.clock.val();
        self.requests.read_clock.next = self.base_clock.val();
        self.replies.write_clock.next = self.base_clock.val();
        self.replies.read_clock.next = self.clock.val();
        self.steps.clock.next = self.base_clock.val();
        MessageSource::<PortRequest>::join(&mut self.requests.source, &mut self.steps.request);
        MessageSource::<Bits<32>>::join(&mut self.steps.reply, &mut self.replies.sink);
        PortLines::link(&mut self.lines, &mut self.steps.lines);
        self.at.next = self.access.payload.val().address.get_bits::<10>(2);
        self.written.next = self.access.payload.val().data;
        self.writes.next = self.access.valid.val() & self.access.payload.val().write;

        self.key.writes.next = self.writes.val();
        self.key.is_key.next = self.at.val() == bits::<10>(3);
        self.key.written.next = self.written.val();
        self.loads.next = (self.written.val() == self.boot_golden.val())
            | (self.written.val() == self.boot_user.val());
        self.is_allowed.next = !self.busy.q.val()
            & ((self.written.val() == self.read_status.val())
                | (self.loads.val() & self.key.is_complete.val() & !self.is_flash_busy.val()));
        self.begins.d.next = false;
        if self.writes.val() & (self.at.val() == bits::<10>(0)) {
            self.refused.d.next = !self.is_allowed.val();
            if self.is_allowed.val() {
                self.command.d.next = self.written.val();
                self.begins.d.next = true;
                self.busy.d.next = true;
            }
        }
        self.reads.next = self.command.q.val() == self.read_status.val();
        self.is_loading.next = self.busy.q.val() & !self.reads.val();
        self.requests.sink.valid.next = self.begins.q.val();
        self.requests.sink.payload.next.reads = self.reads.val();
        self.requests.sink.payload.next.is_user = self.command.q.val() == self.boot_user.val();
        self.replies.source.ready.next = true;
        if self.replies.source.valid.val() {
            self.busy.d.next = false;
            if self.reads.val() {
                self.booted.d.next = self.replies.source.payload.val();
            }
        }

        self.valid.d.next = self.access.valid.val();
        self.answer.d.next.response = bits::<2>(0);
        self.answer.d.next.data = bits::<32>(0);
        if self.at.val() == bits::<10>(0) {
            self.answer.d.next.data = self.command.q.val();
        } else if self.at.val() == bits::<10>(1) {
            self.answer.d.next.data = bit_cast::<32, 1>(self.busy.q.val().into())
                | (bit_cast::<32, 1>(self.refused.q.val().into()) << 1)
                | (bit_cast::<32, 1>(self.is_flash_busy.val().into()) << 2);
        } else if self.at.val() == bits::<10>(2) {
            self.answer.d.next.data = self.booted.q.val();
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
