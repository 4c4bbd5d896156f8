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

use crate::board_window::WindowAccess;
use crate::completer::completer_check::CompleterCheck;
use crate::completer::completer_read::CompleterRead;
use crate::completer::completer_reply::HostReply;
use crate::completer::completer_request::HostRequest;
use crate::completer::completer_write::CompleterWrite;
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
    /// Accesses of the board window. One that is not taken at once is refused: a read gets all ones.
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
    phase: DFF<ExecutePhase>,
    refused: DFF<Bit>,
    no_answer: DFF<Bit>,

    held: Signal<Local, HostRequest>,
    bytes: Signal<Local, Bits<512>>,
    starts: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    reads_nothing: Signal<Local, Bit>,
    #[value(0xffff_ffff)]
    all_ones: Constant<Bits<32>>,
}

impl Logic for CompleterExecute {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, refused, no_answer);
        clock!(self, clock, write, read);
        self.write.reset.next = self.reset.val();
        self.read.reset.next = self.reset.val();

        self.held.next = self.request.payload.val();
        self.bytes.next = self.held.val().data;
        self.check.request.next = self.held.val();
        self.starts.next = self.request.valid.val() & (self.phase.q.val() == ExecutePhase::Idle);
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
        self.reply.valid.next = self.phase.q.val() == ExecutePhase::Reply;
        self.reply.payload.next.refused = self.refused.q.val();
        self.reply.payload.next.request = self.held.val();
        self.reply.payload.next.data = self.read.data.val();
        if self.no_answer.q.val() {
            self.reply.payload.next.data = bit_cast::<512, 32>(self.all_ones.val());
        }

        // The board window: what it cannot take is refused at once, so that nothing waits for it.
        self.access.valid.next = self.starts.val() & self.check.board.val();
        self.access.payload.next.write = self.check.board_writes.val();
        self.access.payload.next.address = self.check.address.val().get_bits::<20>(0);
        self.access.payload.next.data = self.bytes.val().get_bits::<32>(0);
        self.access.payload.next.descriptor = self.held.val().descriptor;
        self.access.payload.next.first_be = self.held.val().first_be;
        self.access_refused.next =
            self.starts.val() & self.check.board.val() & !self.access.ready.val();
        self.reads_nothing.next = self.access_refused.val() & !self.check.board_writes.val();

        self.malformed.next =
            self.write.malformed.val() | (self.starts.val() & self.check.ignore.val());
        self.unsupported.next = self.starts.val() & self.check.refuse.val();
        self.pushed.valid.next = self.starts.val() & self.check.push.val();
        self.pushed.payload.next.owner = self.check.address.val().get_bits::<8>(12);
        self.pushed.payload.next.second = self.check.address.val().get_bit(6);
        self.pushed.payload.next.data = self.held.val().data;
        self.finished.next = self.starts.val()
            & (self.check.ignore.val()
                | self.check.push.val()
                | (self.check.board.val() & !self.reads_nothing.val()));
        match self.phase.q.val() {
            ExecutePhase::Idle => {
                self.refused.d.next = self.check.refuse.val();
                self.no_answer.d.next = self.reads_nothing.val();
                if self.starts.val() & self.check.write.val() {
                    self.phase.d.next = ExecutePhase::Write;
                } else if self.starts.val() & self.check.read.val() {
                    self.phase.d.next = ExecutePhase::Read;
                } else if (self.starts.val() & self.check.refuse.val()) | self.reads_nothing.val() {
                    self.phase.d.next = ExecutePhase::Reply;
                }
            }
            ExecutePhase::Write => {
                self.finished.next = self.write.done.val();
                if self.write.done.val() {
                    self.phase.d.next = ExecutePhase::Idle;
                }
            }
            ExecutePhase::Read => {
                if self.read.done.val() {
                    self.phase.d.next = ExecutePhase::Reply;
                }
            }
            ExecutePhase::Reply => {
                self.finished.next = self.reply.ready.val();
                if self.reply.ready.val() {
                    self.phase.d.next = ExecutePhase::Idle;
                }
            }
        }
        self.request.ready.next = self.finished.val();
        if self.reset.val() {
            self.phase.d.next = ExecutePhase::Idle;
        }
    }
}
