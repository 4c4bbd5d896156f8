//! Carries out one host request after the other.
//!
//! ```text
//!          ┌─ pushed line, access of the board window ────────┐
//!          ├─ memory write ──► [write] ───────────────────────┤
//!  Idle ───┼─ memory read ───► [read] ──────► Reply ──────────┼──► Idle
//!          ├─ refused ──────────────────────► Reply ──────────┤
//!          └─ ignored ────────────────────────────────────────┘
//! ```
//! Timing: one dword per cycle while writing, a pushed line in one cycle. The source holds the
//! request until it is done: `request.ready` is high in the last cycle.
//!
//! Invariants: those of [`crate::completer`].

use crate::completer::completer_check::CompleterCheck;
use crate::completer::completer_read::CompleterRead;
use crate::completer::completer_reply::HostReply;
use crate::completer::completer_request::HostRequest;
use crate::completer::completer_write::CompleterWrite;
use crate::completer::execute_step::ExecuteStep;
use crate::completer::window_gate::WindowGate;
use crate::messages::WindowAccess;
use stream::prelude::*;

/// The executor. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompleterExecute {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the request in work.
    pub reset: Signal<In, Bit>,

    /// Requests of the host, each held until it is done.
    pub request: MessageSink<HostRequest>,

    /// Full dwords that the host wrote, in order.
    pub register_write: PulseSource<RegisterWrite>,
    /// Lines of 64 bytes written to a push window.
    pub pushed: PulseSource<PushedLine>,
    /// Byte offset in BAR 0 of a dword to read; one at a time.
    pub read_request: MessageSource<Bits<24>>,
    /// Value of the dword requested.
    pub read_reply: MessageSink<Bits<32>>,
    /// Accesses of the board window. One that is not taken at once is refused.
    pub access: MessageSource<WindowAccess>,
    /// An access of the board window was refused (one cycle).
    pub access_refused: Signal<Out, Bit>,
    /// Completions to send.
    pub reply: MessageSource<HostReply>,
    /// A dword or a packet was ignored (one cycle).
    pub malformed: Signal<Out, Bit>,
    /// A request was refused (one cycle).
    pub unsupported: Signal<Out, Bit>,

    check: CompleterCheck,
    write: CompleterWrite,
    read: CompleterRead,
    gate: WindowGate,
    step: ExecuteStep,
    refused: DFF<Bit>,
    no_answer: DFF<Bit>,

    held: Signal<Local, HostRequest>,
    starts: Signal<Local, Bit>,
    /// An access of the board window ends at once: it is a write, or it is taken.
    has_place: Signal<Local, Bit>,
    #[value(0xffff_ffff)]
    all_ones: Constant<Bits<32>>,
}

impl Logic for CompleterExecute {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, refused, no_answer);
        clock!(self, clock, write, read, step);
        self.step.reset.next = self.reset.val();
        self.write.reset.next = self.reset.val();
        self.read.reset.next = self.reset.val();

        self.held.next = self.request.payload.val();
        self.check.request.next = self.held.val();
        self.step.offered.next = self.request.valid.val();
        self.starts.next = self.step.begins.val();
        self.write.start.next = self.starts.val() & self.check.write.val();
        self.write.address.next = self.check.address.val();
        self.write.dwords.next = self.check.dwords.val();
        self.write.request.next = self.held.val();
        PulseSource::<RegisterWrite>::link(
            &mut self.register_write,
            &mut self.write.register_write,
        );
        self.read.start.next = self.starts.val() & self.check.read.val();
        self.read.flush.next = self.check.flush.val();
        self.read.address.next = self.check.address.val();
        self.read.dwords.next = self.check.dwords.val();
        MessageSource::<Bits<24>>::link(&mut self.read_request, &mut self.read.read_request);
        MessageSink::<Bits<32>>::link(&mut self.read_reply, &mut self.read.read_reply);
        self.reply.valid.next = self.step.replying.val();
        self.reply.payload.next.refused = self.refused.q.val();
        self.reply.payload.next.request = self.held.val();
        self.reply.payload.next.data = self.read.data.val();
        if self.no_answer.q.val() {
            self.reply.payload.next.data = bit_cast::<512, 32>(self.all_ones.val());
        }

        self.gate.starts.next = self.starts.val() & self.check.board.val();
        self.gate.writes.next = self.check.board_writes.val();
        self.gate.address.next = self.check.address.val();
        self.gate.request.next = self.held.val();
        MessageSource::<WindowAccess>::link(&mut self.access, &mut self.gate.access);
        self.access_refused.next = self.gate.refused.val();

        self.malformed.next =
            self.write.malformed.val() | (self.starts.val() & self.check.ignore.val());
        self.unsupported.next = self.starts.val() & self.check.refuse.val();
        self.pushed.valid.next = self.starts.val() & self.check.push.val();
        self.pushed.payload.next.owner = self.check.address.val().get_bits::<8>(12);
        self.pushed.payload.next.second = self.check.address.val().get_bit(6);
        self.pushed.payload.next.data = self.held.val().data;

        self.has_place.next = self.check.board_writes.val() | self.access.ready.val();
        self.step.ends.next = self.check.ignore.val()
            | self.check.push.val()
            | (self.check.board.val() & self.has_place.val());
        self.step.writes.next = self.check.write.val();
        self.step.written.next = self.write.done.val();
        self.step.reads.next = self.check.read.val();
        self.step.read.next = self.read.done.val();
        self.step.replies.next =
            self.check.refuse.val() | (self.check.board.val() & !self.has_place.val());
        self.step.replied.next = self.reply.ready.val();
        if self.starts.val() {
            self.refused.d.next = self.check.refuse.val();
            self.no_answer.d.next = self.check.board.val();
        }
        self.request.ready.next = self.step.finished.val();
    }
}
