//! The AXI4-Lite end of the board window: one access at a time, as pulses.
//!
//! ```text
//!   m_axil ══► one access ──► access          reply ──► answer ══► m_axil
//! ```
//! Timing: `access` one cycle after the address was taken; the answer is offered one cycle after
//! `reply`, and stands until it is taken.
//!
//! Invariants:
//! 1. Nothing is taken between an address and the end of its answer.
//! 2. A write takes its address and its word together. Between a write and a read the write goes
//!    first.
//! 3. What was taken is answered, unless `reset` came between: the card's end of the port has the
//!    same one, and both forget the access. Blocks answer within 8 us, in which a reset of the PCIe
//!    core has not ended.
//!
//! On error: a write of less than four bytes is answered with SLVERR and reaches no block.
//!
//! Source: ARM IHI 0022 (AXI4-Lite).

use crate::window::access::{WindowAccess, WindowReply, SLAVE_ERROR};
use ip::axi_lite::AxiLiteSlave;
use stream::prelude::*;

/// The port. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct WindowPort {
    /// Clock of the block.
    pub clock: Signal<In, Clock>,
    /// Forgets the access under way.
    pub reset: Signal<In, Bit>,
    /// The card's port.
    pub bus: AxiLiteSlave,
    /// Accesses; the next one follows its reply.
    pub access: PulseSource<WindowAccess>,
    /// Ends of the accesses.
    pub reply: PulseSink<WindowReply>,

    busy: DFF<Bit>,
    asks: DFF<Bit>,
    ended: DFF<Bit>,
    asked: DFF<WindowAccess>,
    answer: DFF<WindowReply>,

    takes_write: Signal<Local, Bit>,
    takes_read: Signal<Local, Bit>,
    is_whole: Signal<Local, Bit>,
    #[value(0xf)]
    all_bytes: Constant<Bits<4>>,
    #[value(SLAVE_ERROR)]
    refused: Constant<Bits<2>>,
}

impl Logic for WindowPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, asks, ended, asked, answer);
        self.takes_write.next = !self.busy.q.val() & self.bus.awvalid.val() & self.bus.wvalid.val();
        self.takes_read.next =
            !self.busy.q.val() & self.bus.arvalid.val() & !self.takes_write.val();
        self.is_whole.next = self.bus.wstrb.val() == self.all_bytes.val();
        self.bus.awready.next = self.takes_write.val();
        self.bus.wready.next = self.takes_write.val();
        self.bus.arready.next = self.takes_read.val();

        self.access.valid.next = self.asks.q.val();
        self.access.payload.next = self.asked.q.val();
        self.asks.d.next = false;
        if self.takes_write.val() {
            self.busy.d.next = true;
            self.asks.d.next = self.is_whole.val();
            self.ended.d.next = !self.is_whole.val();
            self.asked.d.next.write = true;
            self.asked.d.next.address = self.bus.awaddr.val();
            self.asked.d.next.data = self.bus.wdata.val();
            self.answer.d.next.response = self.refused.val();
        } else if self.takes_read.val() {
            self.busy.d.next = true;
            self.asks.d.next = true;
            self.asked.d.next.write = false;
            self.asked.d.next.address = self.bus.araddr.val();
            self.asked.d.next.data = bits::<32>(0);
        }
        if self.reply.valid.val() {
            self.ended.d.next = true;
            self.answer.d.next = self.reply.payload.val();
        }

        self.bus.bvalid.next = self.ended.q.val() & self.asked.q.val().write;
        self.bus.bresp.next = self.answer.q.val().response;
        self.bus.rvalid.next = self.ended.q.val() & !self.asked.q.val().write;
        self.bus.rresp.next = self.answer.q.val().response;
        self.bus.rdata.next = self.answer.q.val().data;
        if (self.bus.bvalid.val() & self.bus.bready.val())
            | (self.bus.rvalid.val() & self.bus.rready.val())
        {
            self.ended.d.next = false;
            self.busy.d.next = false;
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.asks.d.next = false;
            self.ended.d.next = false;
        }
    }
}
