//! The board window: accesses of the host beyond the card, one after the other, over AXI4-Lite.
//!
//! ```text
//!  access ──► queue (16) ──► [one at a time] ══ m_axil
//!                                │ 10 us
//!                                └──► reply (of a read)
//! ```
//! Timing: an access leaves two cycles after it came, when those before it have ended. Nothing else
//! of the card waits for it.
//!
//! Invariants:
//! 1. Accesses end in the order in which they came. At most one is outstanding at `m_axil`; what is
//!    offered there stays until it is taken.
//! 2. An access without an answer within [`TIMEOUT_CYCLES`] of its turn ends, a read with all ones.
//!    An answer that comes later is taken and discarded; until then no other access is issued, and
//!    each that waits for it so long ends in the same way.
//! 3. `forget` is the reset of `m_axil`: it ends what waits without a reply, and the access at the
//!    port. What answers there must have the same reset (`user_reset` of the PCIe core), and no
//!    other: a reset that software begins ends no access.
//! 4. An access that finds the queue full is not taken: the completer refuses it.
//!
//! On error: an answer other than OKAY pulses `failed`, a missing one `timed_out`; a read returns
//! all ones then.
//!
//! Source: AMBA AXI and ACE protocol, AXI4-Lite; decision 18.

pub mod axi_port;

use ip::axi_lite::AxiLiteMaster;
use stream::prelude::*;

use crate::board_window::axi_port::AxiPort;
use crate::completer::completer_reply::HostReply;
use crate::completer::completer_request::HostRequest;
use crate::messages::WindowAccess;

/// Longest wait for an answer: 10 us in cycles of 4 ns.
pub const TIMEOUT_CYCLES: u64 = 2_500;

/// What is done with the access in turn.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum WindowPhase {
    /// Waits for an access.
    Idle,
    /// Waits until the port is free.
    Turn,
    /// Waits for the answer.
    Answer,
    /// Waits until the reply is taken.
    Reply,
}

/// The window. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct BoardWindow {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The host has lost its requests: nothing that waits is replied to.
    pub forget: Signal<In, Bit>,

    /// Accesses of the host.
    pub access: MessageSink<WindowAccess>,
    /// Replies to reads.
    pub reply: MessageSource<HostReply>,
    /// The port to the board.
    pub m_axil: AxiLiteMaster,

    /// An answer was an error (one cycle).
    pub failed: Signal<Out, Bit>,
    /// No answer came in time (one cycle).
    pub timed_out: Signal<Out, Bit>,

    queue: Fifo<WindowAccess, 4, 5>,
    port: AxiPort,
    turn: DFF<WindowAccess>,
    phase: DFF<WindowPhase>,
    cycles: DFF<Bits<12>>,
    data: DFF<Bits<32>>,

    request: Signal<Local, HostRequest>,
    ends: Signal<Local, Bit>,
    /// Every phase that waits ends in this one cycle: none passes the limit.
    late: Signal<Local, Bit>,
    #[value(TIMEOUT_CYCLES)]
    limit: Constant<Bits<12>>,
    #[value(0xffff_ffff)]
    all_ones: Constant<Bits<32>>,
    #[value(1)]
    one: Constant<Bits<12>>,
    #[value(HostRequest::default())]
    no_request: Constant<HostRequest>,
}

impl Logic for BoardWindow {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, turn, phase, cycles, data);
        clock!(self, clock, queue, port);
        self.queue.reset.next = self.forget.val();
        self.port.reset.next = self.forget.val();
        MessageSink::<WindowAccess>::link(&mut self.access, &mut self.queue.sink);
        AxiLiteMaster::link(&mut self.m_axil, &mut self.port.m_axil);
        self.port.access.next = self.turn.q.val();
        self.cycles.d.next = self.cycles.q.val() + self.one.val();
        self.late.next = self.cycles.q.val() == self.limit.val();
        self.port.issue.next =
            (self.phase.q.val() == WindowPhase::Turn) & !self.port.is_open.val() & !self.late.val();
        self.ends.next = false;
        self.failed.next = false;
        self.timed_out.next = false;
        self.queue.source.ready.next = self.phase.q.val() == WindowPhase::Idle;
        self.reply.valid.next = self.phase.q.val() == WindowPhase::Reply;
        self.request.next = self.no_request.val();
        self.request.next.descriptor = self.turn.q.val().descriptor;
        self.request.next.first_be = self.turn.q.val().first_be;
        self.reply.payload.next.request = self.request.val();
        self.reply.payload.next.data = bit_cast::<512, 32>(self.data.q.val());
        self.reply.payload.next.refused = false;
        match self.phase.q.val() {
            WindowPhase::Idle => {
                self.cycles.d.next = 0.into();
                if self.queue.source.valid.val() {
                    self.turn.d.next = self.queue.source.payload.val();
                    self.phase.d.next = WindowPhase::Turn;
                }
            }
            WindowPhase::Turn => {
                if self.late.val() {
                    self.ends.next = true;
                    self.timed_out.next = true;
                } else if !self.port.is_open.val() {
                    self.phase.d.next = WindowPhase::Answer;
                }
            }
            WindowPhase::Answer => {
                if self.port.answered.val() {
                    self.ends.next = true;
                    self.failed.next = !self.port.good.val();
                } else if self.late.val() {
                    self.ends.next = true;
                    self.timed_out.next = true;
                }
            }
            WindowPhase::Reply => {
                if self.reply.ready.val() {
                    self.phase.d.next = WindowPhase::Idle;
                }
            }
        }
        if self.ends.val() {
            self.data.d.next = self.all_ones.val();
            if !self.failed.val() & !self.timed_out.val() {
                self.data.d.next = self.port.data.val();
            }
            self.phase.d.next = WindowPhase::Reply;
            if self.turn.q.val().write {
                self.phase.d.next = WindowPhase::Idle;
            }
        }
        if self.forget.val() {
            self.phase.d.next = WindowPhase::Idle;
        }
    }
}
