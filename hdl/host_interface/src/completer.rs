//! Carries out what the host does to BAR 0: register writes and reads.
//!
//! ```text
//!  CQ ──► [request] ──► write: one dword a cycle ──────────────► register_write
//!                  ├──► write of a line to a push window ───────► pushed
//!                  └──► read:  read_request ──► read_reply ──► [reply] ──► CC
//! ```
//! | port | meaning and duty |
//! |---|---|
//! | `m_axis_cq`, `s_axis_cc` | the core's ports, straddle off, dword aligned |
//! | `register_write` | one full dword written, in order |
//! | `pushed` | 64 bytes written at once to one half of an owner's push window |
//! | `read_request`, `read_reply` | byte address of a dword, and its value; one at a time |
//! | `malformed` | a dword or packet was ignored (one cycle) |
//! | `unsupported` | a request was refused (one cycle) |
//!
//! Timing: a write takes effect 3 cycles after its last beat, then one dword a cycle; a line is
//! pushed 1 cycle after its last beat, and at least 3 cycles after a register write before it; a
//! read waits for `read_reply`. One request at a time.
//!
//! Invariants:
//! 1. Requests take effect in the order they came; a read is answered after every earlier write
//!    took effect.
//! 2. Memory writes of 1 to 16 dwords: a dword with all four byte enables is written, one with none
//!    is not touched, one with some is ignored and counted as malformed. Registers have no part
//!    writes.
//!    Exactly 64 aligned bytes to a push window are one pulse of `pushed` instead.
//! 3. Memory reads of 1 to 16 dwords get one completion; a read of no byte is answered without a
//!    read.
//! 4. Every other non-posted request, and every one to another BAR, is refused. Every other posted
//!    one (longer writes, messages) and what the core discontinued is ignored and counted as
//!    malformed.
//!
//! Source: PG213, completer interface; `docs/specification.md`.

pub mod completer_check;
pub mod completer_execute;
pub mod completer_fields;
pub mod completer_packet;
pub mod completer_read;
pub mod completer_reply;
pub mod completer_request;
pub mod completer_write;

use crate::completer::completer_execute::CompleterExecute;
use crate::completer::completer_reply::{CompleterReply, HostReply};
use crate::completer::completer_request::{CompleterRequest, HostRequest};
use ip::pcie::{HostReplyPort, HostRequestPort};
use stream::prelude::*;

/// The completer. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Completer {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the request in work.
    pub reset: Signal<In, Bit>,

    /// Requests of the host.
    pub m_axis_cq: HostRequestPort,
    /// Completions.
    pub s_axis_cc: HostReplyPort,

    /// Registers written.
    pub register_write: PulseSource<RegisterWrite>,
    /// Lines pushed.
    pub pushed: PulseSource<PushedLine>,
    /// Registers read.
    pub read_request: MessageSource<Bits<24>>,
    /// Their values.
    pub read_reply: MessageSink<Bits<32>>,
    /// Something was ignored.
    pub malformed: Signal<Out, Bit>,
    /// A request was refused.
    pub unsupported: Signal<Out, Bit>,

    request: CompleterRequest,
    execute: CompleterExecute,
    reply: CompleterReply,
    write_valid: DFF<Bit>,
    write: DFF<RegisterWrite>,
    line_valid: DFF<Bit>,
    line: DFF<PushedLine>,
}

impl Logic for Completer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_valid, write, line_valid, line);
        clock!(self, clock, request, execute, reply);
        self.request.reset.next = self.reset.val();
        self.execute.reset.next = self.reset.val();
        self.reply.reset.next = self.reset.val();

        self.request.tdata.next = self.m_axis_cq.tdata.val();
        self.request.tuser.next = self.m_axis_cq.tuser.val();
        self.request.tvalid.next = self.m_axis_cq.tvalid.val();
        self.request.tlast.next = self.m_axis_cq.tlast.val();
        self.m_axis_cq.tready.next = self.request.tready.val();
        MessageSource::<HostRequest>::join(&mut self.request.request, &mut self.execute.request);

        // Half the card decodes what is written: it leaves in registers.
        self.write_valid.d.next = self.execute.register_write.valid.val() & !self.reset.val();
        if self.execute.register_write.valid.val() {
            self.write.d.next = self.execute.register_write.payload.val();
        }
        self.line_valid.d.next = self.execute.pushed.valid.val() & !self.reset.val();
        if self.execute.pushed.valid.val() {
            self.line.d.next = self.execute.pushed.payload.val();
        }
        self.register_write.valid.next = self.write_valid.q.val();
        self.register_write.payload.next = self.write.q.val();
        self.pushed.valid.next = self.line_valid.q.val();
        self.pushed.payload.next = self.line.q.val();
        self.read_request.valid.next = self.execute.read_request.valid.val();
        self.read_request.payload.next = self.execute.read_request.payload.val();
        self.execute.read_request.ready.next = self.read_request.ready.val();
        self.execute.read_reply.valid.next = self.read_reply.valid.val();
        self.execute.read_reply.payload.next = self.read_reply.payload.val();
        self.read_reply.ready.next = self.execute.read_reply.ready.val();
        self.malformed.next = self.execute.malformed.val();
        self.unsupported.next = self.execute.unsupported.val();

        MessageSource::<HostReply>::join(&mut self.execute.reply, &mut self.reply.reply);
        self.s_axis_cc.tdata.next = self.reply.tdata.val();
        self.s_axis_cc.tkeep.next = self.reply.tkeep.val();
        self.s_axis_cc.tuser.next = self.reply.tuser.val();
        self.s_axis_cc.tvalid.next = self.reply.tvalid.val();
        self.s_axis_cc.tlast.next = self.reply.tlast.val();
        self.reply.tready.next = self.s_axis_cc.tready.val().get_bit(0);
    }
}
