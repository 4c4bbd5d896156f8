//! An AXI4-Lite port as a bundle whose fields carry the standard's names.
//!
//! ```text
//!   bundle m_axil, field awaddr  ──►  port m_axil_awaddr of the emitted Verilog
//! ```
//! Source: AMBA AXI and ACE protocol, AXI4-Lite.

use stream::prelude::*;

/// Bits of an address: the low 20 of a byte offset in BAR 0.
pub const ADDRESS_BITS: usize = 20;

/// The port of a master: 32 bits of data, byte addresses.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "AxiLiteSlave"]
pub struct AxiLiteMaster {
    /// Byte address of a write.
    pub awaddr: Signal<Out, Bits<20>>,
    /// Protection of a write: always 0.
    pub awprot: Signal<Out, Bits<3>>,
    /// The address of a write is offered.
    pub awvalid: Signal<Out, Bit>,
    /// The address of a write is taken.
    pub awready: Signal<In, Bit>,
    /// Data of a write.
    pub wdata: Signal<Out, Bits<32>>,
    /// Bytes of a write: always all.
    pub wstrb: Signal<Out, Bits<4>>,
    /// The data of a write are offered.
    pub wvalid: Signal<Out, Bit>,
    /// The data of a write are taken.
    pub wready: Signal<In, Bit>,
    /// End of a write: 0 is good.
    pub bresp: Signal<In, Bits<2>>,
    /// The end of a write is offered.
    pub bvalid: Signal<In, Bit>,
    /// The end of a write is taken.
    pub bready: Signal<Out, Bit>,
    /// Byte address of a read.
    pub araddr: Signal<Out, Bits<20>>,
    /// Protection of a read: always 0.
    pub arprot: Signal<Out, Bits<3>>,
    /// The address of a read is offered.
    pub arvalid: Signal<Out, Bit>,
    /// The address of a read is taken.
    pub arready: Signal<In, Bit>,
    /// Data of a read.
    pub rdata: Signal<In, Bits<32>>,
    /// End of a read: 0 is good.
    pub rresp: Signal<In, Bits<2>>,
    /// Data of a read are offered.
    pub rvalid: Signal<In, Bit>,
    /// Data of a read are taken.
    pub rready: Signal<Out, Bit>,
}

/// The port of a slave: [`AxiLiteMaster`] from the other side.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "AxiLiteMaster"]
pub struct AxiLiteSlave {
    /// Byte address of a write.
    pub awaddr: Signal<In, Bits<20>>,
    /// Protection of a write.
    pub awprot: Signal<In, Bits<3>>,
    /// The address of a write is offered.
    pub awvalid: Signal<In, Bit>,
    /// The address of a write is taken.
    pub awready: Signal<Out, Bit>,
    /// Data of a write.
    pub wdata: Signal<In, Bits<32>>,
    /// Bytes of a write.
    pub wstrb: Signal<In, Bits<4>>,
    /// The data of a write are offered.
    pub wvalid: Signal<In, Bit>,
    /// The data of a write are taken.
    pub wready: Signal<Out, Bit>,
    /// End of a write: 0 is good.
    pub bresp: Signal<Out, Bits<2>>,
    /// The end of a write is offered.
    pub bvalid: Signal<Out, Bit>,
    /// The end of a write is taken.
    pub bready: Signal<In, Bit>,
    /// Byte address of a read.
    pub araddr: Signal<In, Bits<20>>,
    /// Protection of a read.
    pub arprot: Signal<In, Bits<3>>,
    /// The address of a read is offered.
    pub arvalid: Signal<In, Bit>,
    /// The address of a read is taken.
    pub arready: Signal<Out, Bit>,
    /// Data of a read.
    pub rdata: Signal<Out, Bits<32>>,
    /// End of a read: 0 is good.
    pub rresp: Signal<Out, Bits<2>>,
    /// Data of a read are offered.
    pub rvalid: Signal<Out, Bit>,
    /// Data of a read are taken.
    pub rready: Signal<In, Bit>,
}
