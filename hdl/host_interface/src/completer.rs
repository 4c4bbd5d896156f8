//! Carries out what the host does to BAR 0: register writes and reads.
//!
//! ```text
//!  CQ ──► [request] ──► write: one dword per cycle ────────────► register_write
//!                  ├──► write of a line to a push window ──────► pushed
//!                  ├──► board window ──► [board_window] ══ m_axil
//!                  └──► read:  read_request ──► read_reply ──► [reply] ──► CC
//! ```
//! Timing: a write takes effect 3 cycles after its last beat, then one dword per cycle. A line is
//! pushed 1 cycle after its last beat, and at least 3 cycles after a register write before it. A
//! read waits for `read_reply`. One request is in work at a time.
//!
//! Invariants:
//! 1. Requests take effect in the order in which they came. A read is carried out after every
//!    earlier write took effect. The board window has an order of its own: nothing else waits for
//!    it, so replies of registers pass those of the window.
//! 2. Memory writes of 1 to 16 dwords: a dword with all four byte enables is written, one with none
//!    is not touched, one with some is ignored and counted as malformed. Registers have no partial
//!    writes. Exactly 64 aligned bytes to a push window are one pulse of `pushed` instead.
//! 3. Memory reads of 1 to 16 dwords get one completion. A read of no byte gets a completion
//!    without a register read.
//! 4. Every other non-posted request, and every one to another BAR, is refused.
//! 5. Every other posted request (longer writes, messages) and what the hard block discontinued is
//!    ignored and counted as malformed.
//!
//! 6. Accesses of the board window are one whole dword; others are malformed or refused, as above.
//!
//! On error: `malformed` and `unsupported` pulse; a refused request gets a completion with status
//! Unsupported Request.
//!
//! Source: PG213, completer interface; `docs/specification.md`, Settings and Pushed slots.

pub mod completer_check;
pub mod completer_execute;
pub mod completer_fields;
pub mod completer_packet;
pub mod completer_read;
pub mod completer_reply;
pub mod completer_request;
pub mod completer_write;
pub mod execute_step;
pub mod reply_merge;
pub mod window_gate;

use crate::board_window::BoardWindow;
use crate::completer::completer_execute::CompleterExecute;
use crate::completer::completer_reply::{CompleterReply, HostReply};
use crate::completer::completer_request::{CompleterRequest, HostRequest};
use crate::completer::reply_merge::ReplyMerge;
use crate::messages::WindowAccess;
use ip::axi_lite::AxiLiteMaster;
use ip::pcie::{HostReplyPort, HostRequestPort};
use stream::prelude::*;

/// The completer. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Completer {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the request in work.
    pub reset: Signal<In, Bit>,

    /// Completer requests of the hard block: straddle off, dword aligned.
    pub m_axis_cq: HostRequestPort,
    /// Completer completions to the hard block: straddle off, dword aligned.
    pub s_axis_cc: HostReplyPort,

    /// The port to the board.
    pub m_axil: AxiLiteMaster,
    /// An access of the board window was answered with an error (one cycle).
    pub window_failed: Signal<Out, Bit>,
    /// An access of the board window got no answer in time (one cycle).
    pub window_timed_out: Signal<Out, Bit>,
    /// An access of the board window found the queue full (one cycle).
    pub window_refused: Signal<Out, Bit>,

    /// Full dwords that the host wrote, in order.
    pub register_write: PulseSource<RegisterWrite>,
    /// Lines of 64 bytes, each written at once to one half of an owner's push window.
    pub pushed: PulseSource<PushedLine>,
    /// Byte offset in BAR 0 of a dword to read; one at a time.
    pub read_request: MessageSource<Bits<24>>,
    /// Value of the dword requested.
    pub read_reply: MessageSink<Bits<32>>,
    /// A dword or a packet was ignored (one cycle).
    pub malformed: Signal<Out, Bit>,
    /// A request was refused (one cycle).
    pub unsupported: Signal<Out, Bit>,

    request: CompleterRequest,
    execute: CompleterExecute,
    window: BoardWindow,
    merge: ReplyMerge,
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
        clock!(self, clock, request, execute, window, merge, reply);
        self.request.reset.next = self.reset.val();
        self.execute.reset.next = self.reset.val();
        self.reply.reset.next = self.reset.val();
        self.merge.reset.next = self.reset.val();
        self.window.forget.next = self.reset.val();

        self.request.tdata.next = self.m_axis_cq.tdata.val();
        self.request.tuser.next = self.m_axis_cq.tuser.val();
        self.request.tvalid.next = self.m_axis_cq.tvalid.val();
        self.request.tlast.next = self.m_axis_cq.tlast.val();
        self.m_axis_cq.tready.next = self.request.tready.val();
        MessageSource::<HostRequest>::join(&mut self.request.request, &mut self.execute.request);

        // Half the card decodes what is written, so it leaves in registers.
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
        MessageSource::<Bits<24>>::link(&mut self.read_request, &mut self.execute.read_request);
        MessageSink::<Bits<32>>::link(&mut self.read_reply, &mut self.execute.read_reply);
        self.malformed.next = self.execute.malformed.val();
        self.unsupported.next = self.execute.unsupported.val();

        MessageSource::<WindowAccess>::join(&mut self.execute.access, &mut self.window.access);
        AxiLiteMaster::link(&mut self.m_axil, &mut self.window.m_axil);
        self.window_failed.next = self.window.failed.val();
        self.window_timed_out.next = self.window.timed_out.val();
        self.window_refused.next = self.execute.access_refused.val();
        MessageSource::<HostReply>::join(&mut self.execute.reply, &mut self.merge.registers);
        MessageSource::<HostReply>::join(&mut self.window.reply, &mut self.merge.window);
        MessageSource::<HostReply>::join(&mut self.merge.reply, &mut self.reply.reply);
        self.s_axis_cc.tdata.next = self.reply.tdata.val();
        self.s_axis_cc.tkeep.next = self.reply.tkeep.val();
        self.s_axis_cc.tuser.next = self.reply.tuser.val();
        self.s_axis_cc.tvalid.next = self.reply.tvalid.val();
        self.s_axis_cc.tlast.next = self.reply.tlast.val();
        self.reply.tready.next = self.s_axis_cc.tready.val().get_bit(0);
    }
}
