//! The port of the board window: one access at a time over AXI4-Lite.
//!
//! ```text
//!  issue, access ──► address, data channels ══ m_axil ══► answered, good, data
//! ```
//! Timing: an access is offered in the cycle after `issue`. The answer shows in the cycle in which
//! it is taken.
//!
//! Invariants:
//! 1. `issue` comes only while `is_open` is low.
//! 2. What is offered stays until it is taken, or until `reset`, after which nothing is open: what
//!    hangs at `m_axil` must have the same reset.
//!
//! Source: AMBA AXI and ACE protocol, AXI4-Lite.

use crate::messages::WindowAccess;
use ip::axi_lite::AxiLiteMaster;
use stream::prelude::*;

/// The port. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct AxiPort {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the access.
    pub reset: Signal<In, Bit>,
    /// Begin this access.
    pub issue: Signal<In, Bit>,
    /// The access to begin.
    pub access: Signal<In, WindowAccess>,
    /// An access has begun that has no answer yet.
    pub is_open: Signal<Out, Bit>,
    /// The answer comes in this cycle.
    pub answered: Signal<Out, Bit>,
    /// The answer is OKAY.
    pub good: Signal<Out, Bit>,
    /// Data of a read, with its answer.
    pub data: Signal<Out, Bits<32>>,
    /// The port to the board.
    pub m_axil: AxiLiteMaster,

    issued: DFF<WindowAccess>,
    write_address_waits: DFF<Bit>,
    write_data_waits: DFF<Bit>,
    write_open: DFF<Bit>,
    read_address_waits: DFF<Bit>,
    read_open: DFF<Bit>,

    #[value(0xf)]
    all_bytes: Constant<Bits<4>>,
}

impl Logic for AxiPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, issued, write_address_waits, write_data_waits, write_open);
        dff_setup!(self, clock, read_address_waits, read_open);
        self.m_axil.awaddr.next = self.issued.q.val().address;
        self.m_axil.awprot.next = 0.into();
        self.m_axil.awvalid.next = self.write_address_waits.q.val();
        self.m_axil.wdata.next = self.issued.q.val().data;
        self.m_axil.wstrb.next = self.all_bytes.val();
        self.m_axil.wvalid.next = self.write_data_waits.q.val();
        self.m_axil.bready.next = self.write_open.q.val();
        self.m_axil.araddr.next = self.issued.q.val().address;
        self.m_axil.arprot.next = 0.into();
        self.m_axil.arvalid.next = self.read_address_waits.q.val();
        self.m_axil.rready.next = self.read_open.q.val();
        if self.m_axil.awready.val() {
            self.write_address_waits.d.next = false;
        }
        if self.m_axil.wready.val() {
            self.write_data_waits.d.next = false;
        }
        if self.m_axil.arready.val() {
            self.read_address_waits.d.next = false;
        }
        if self.m_axil.bvalid.val() {
            self.write_open.d.next = false;
        }
        if self.m_axil.rvalid.val() {
            self.read_open.d.next = false;
        }
        self.is_open.next = self.write_open.q.val() | self.read_open.q.val();
        self.answered.next = (self.write_open.q.val() & self.m_axil.bvalid.val())
            | (self.read_open.q.val() & self.m_axil.rvalid.val());
        self.good.next = !self.m_axil.rresp.val().any();
        if self.write_open.q.val() {
            self.good.next = !self.m_axil.bresp.val().any();
        }
        self.data.next = self.m_axil.rdata.val();
        if self.issue.val() {
            self.issued.d.next = self.access.val();
            self.write_address_waits.d.next = self.access.val().write;
            self.write_data_waits.d.next = self.access.val().write;
            self.write_open.d.next = self.access.val().write;
            self.read_address_waits.d.next = !self.access.val().write;
            self.read_open.d.next = !self.access.val().write;
        }
        if self.reset.val() {
            self.write_address_waits.d.next = false;
            self.write_data_waits.d.next = false;
            self.write_open.d.next = false;
            self.read_address_waits.d.next = false;
            self.read_open.d.next = false;
        }
    }
}
