//! Carries accesses of the board window out on the registers of the MAC's core.
//!
//! ```text
//!   request ──► AXI4-Lite: address, word ──► core ──► answer ──► reply
//! ```
//! Timing: one access at a time, as fast as the core answers.
//!
//! Invariants:
//! 1. Those of AXI4-Lite: what is offered stands until it is taken.
//! 2. A request is taken when the core has answered it; its reply goes out in the same cycle.
//!
//! Source: ARM IHI 0022 (AXI4-Lite), PG203.

use crate::window::access::{WindowAccess, WindowReply};
use ip::mac_sides::CoreMaster;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CoreAccess {
    /// Clock of the core's registers.
    pub clock: Signal<In, Clock>,
    /// Accesses to carry out.
    pub request: MessageSink<WindowAccess>,
    /// Their ends. The sink must be ready: one is outstanding.
    pub reply: MessageSource<WindowReply>,
    /// Registers of the core.
    pub core: CoreMaster,

    active: DFF<Bit>,
    address_open: DFF<Bit>,
    word_open: DFF<Bit>,
    read_open: DFF<Bit>,

    writes: Signal<Local, Bit>,
    offset: Signal<Local, Bits<32>>,
    ends: Signal<Local, Bit>,
    #[value(0xf)]
    all_bytes: Constant<Bits<4>>,
}

impl Logic for CoreAccess {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, active, address_open, word_open, read_open);
        self.writes.next = self.request.payload.val().write;
        self.offset.next = bit_cast::<32, 16>(self.request.payload.val().address.get_bits::<16>(0));
        self.core.awaddr.next = self.offset.val();
        self.core.awvalid.next = self.address_open.q.val();
        self.core.wdata.next = self.request.payload.val().data;
        self.core.wstrb.next = self.all_bytes.val();
        self.core.wvalid.next = self.word_open.q.val();
        self.core.araddr.next = self.offset.val();
        self.core.arvalid.next = self.read_open.q.val();
        self.core.bready.next = self.active.q.val() & self.writes.val();
        self.core.rready.next = self.active.q.val() & !self.writes.val();
        self.ends.next = (self.core.bvalid.val() & self.core.bready.val())
            | (self.core.rvalid.val() & self.core.rready.val());

        if !self.active.q.val() & self.request.valid.val() {
            self.active.d.next = true;
            self.address_open.d.next = self.writes.val();
            self.word_open.d.next = self.writes.val();
            self.read_open.d.next = !self.writes.val();
        }
        if self.address_open.q.val() & self.core.awready.val() {
            self.address_open.d.next = false;
        }
        if self.word_open.q.val() & self.core.wready.val() {
            self.word_open.d.next = false;
        }
        if self.read_open.q.val() & self.core.arready.val() {
            self.read_open.d.next = false;
        }
        if self.ends.val() {
            self.active.d.next = false;
        }
        self.request.ready.next = self.ends.val();
        self.reply.valid.next = self.ends.val();
        self.reply.payload.next.data = self.core.rdata.val();
        self.reply.payload.next.response = self.core.rresp.val();
        if self.writes.val() {
            self.reply.payload.next.data = bits::<32>(0);
            self.reply.payload.next.response = self.core.bresp.val();
        }
    }
}
