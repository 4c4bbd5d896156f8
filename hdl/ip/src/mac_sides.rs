//! The user side of the vendor's MAC core as bundles whose fields carry the vendor's port names:
//! `...Side` is seen from the core, `...Port` from the card.
//!
//! | bundle | name |
//! |---|---|
//! | [`ReceiveSide`], [`ReceivePort`] | `rx_axis` |
//! | [`SendSide`], [`SendPort`] | `tx_axis` |
//! | [`ResetSide`], [`ResetPort`] | `usr` |
//! | [`StateSide`], [`StatePort`] | `stat_rx` |
//! | [`FaultSide`], [`FaultPort`] | `tx` |
//! | [`CoreRegisters`], [`CoreMaster`] | `s_axi` |
//!
//! Source: PG203, port descriptions.

use stream::prelude::*;

/// Registers of the core: AXI4-Lite seen from the core.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "CoreMaster"]
pub struct CoreRegisters {
    /// Byte address of a write.
    pub awaddr: Signal<In, Bits<32>>,
    /// A write address is offered.
    pub awvalid: Signal<In, Bit>,
    /// The core takes the write address.
    pub awready: Signal<Out, Bit>,
    /// Word to write.
    pub wdata: Signal<In, Bits<32>>,
    /// Bytes to write.
    pub wstrb: Signal<In, Bits<4>>,
    /// A word to write is offered.
    pub wvalid: Signal<In, Bit>,
    /// The core takes the word.
    pub wready: Signal<Out, Bit>,
    /// How the write ended.
    pub bresp: Signal<Out, Bits<2>>,
    /// A write has ended.
    pub bvalid: Signal<Out, Bit>,
    /// The end of a write is taken.
    pub bready: Signal<In, Bit>,
    /// Byte address of a read.
    pub araddr: Signal<In, Bits<32>>,
    /// A read address is offered.
    pub arvalid: Signal<In, Bit>,
    /// The core takes the read address.
    pub arready: Signal<Out, Bit>,
    /// Word read.
    pub rdata: Signal<Out, Bits<32>>,
    /// How the read ended.
    pub rresp: Signal<Out, Bits<2>>,
    /// A word was read.
    pub rvalid: Signal<Out, Bit>,
    /// The word is taken.
    pub rready: Signal<In, Bit>,
}

/// AXI4-Lite seen from what accesses the core's registers.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "CoreRegisters"]
pub struct CoreMaster {
    /// Byte address of a write.
    pub awaddr: Signal<Out, Bits<32>>,
    /// A write address is offered.
    pub awvalid: Signal<Out, Bit>,
    /// The core takes the write address.
    pub awready: Signal<In, Bit>,
    /// Word to write.
    pub wdata: Signal<Out, Bits<32>>,
    /// Bytes to write.
    pub wstrb: Signal<Out, Bits<4>>,
    /// A word to write is offered.
    pub wvalid: Signal<Out, Bit>,
    /// The core takes the word.
    pub wready: Signal<In, Bit>,
    /// How the write ended.
    pub bresp: Signal<In, Bits<2>>,
    /// A write has ended.
    pub bvalid: Signal<In, Bit>,
    /// The end of a write is taken.
    pub bready: Signal<Out, Bit>,
    /// Byte address of a read.
    pub araddr: Signal<Out, Bits<32>>,
    /// A read address is offered.
    pub arvalid: Signal<Out, Bit>,
    /// The core takes the read address.
    pub arready: Signal<In, Bit>,
    /// Word read.
    pub rdata: Signal<In, Bits<32>>,
    /// How the read ended.
    pub rresp: Signal<In, Bits<2>>,
    /// A word was read.
    pub rvalid: Signal<In, Bit>,
    /// The word is taken.
    pub rready: Signal<Out, Bit>,
}

/// Received frames, seen from the core; called `rx_axis`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ReceivePort"]
pub struct ReceiveSide {
    /// Bytes of a received frame, byte 0 in bits 7:0.
    pub tdata: Signal<Out, Bits<512>>,
    /// Valid bytes of the received beat.
    pub tkeep: Signal<Out, Bits<64>>,
    /// A received beat is present.
    pub tvalid: Signal<Out, Bit>,
    /// Last beat of the received frame.
    pub tlast: Signal<Out, Bit>,
    /// The received frame is bad; on the last beat.
    pub tuser: Signal<Out, Bit>,
}

/// Received frames, seen from the card; called `rx_axis`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ReceiveSide"]
pub struct ReceivePort {
    /// Bytes of a received frame, byte 0 in bits 7:0.
    pub tdata: Signal<In, Bits<512>>,
    /// Valid bytes of the received beat.
    pub tkeep: Signal<In, Bits<64>>,
    /// A received beat is present.
    pub tvalid: Signal<In, Bit>,
    /// Last beat of the received frame.
    pub tlast: Signal<In, Bit>,
    /// The received frame is bad; on the last beat.
    pub tuser: Signal<In, Bit>,
}

/// Frames to send, seen from the core; called `tx_axis`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "SendPort"]
pub struct SendSide {
    /// Bytes of the frame to send, byte 0 in bits 7:0.
    pub tdata: Signal<In, Bits<512>>,
    /// Valid bytes of the beat to send.
    pub tkeep: Signal<In, Bits<64>>,
    /// A beat to send is offered.
    pub tvalid: Signal<In, Bit>,
    /// Last beat of the frame to send.
    pub tlast: Signal<In, Bit>,
    /// Mark the frame to send as bad.
    pub tuser: Signal<In, Bit>,
    /// The MAC takes the beat.
    pub tready: Signal<Out, Bit>,
}

/// Frames to send, seen from the card; called `tx_axis`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "SendSide"]
pub struct SendPort {
    /// Bytes of the frame to send, byte 0 in bits 7:0.
    pub tdata: Signal<Out, Bits<512>>,
    /// Valid bytes of the beat to send.
    pub tkeep: Signal<Out, Bits<64>>,
    /// A beat to send is offered.
    pub tvalid: Signal<Out, Bit>,
    /// Last beat of the frame to send.
    pub tlast: Signal<Out, Bit>,
    /// Mark the frame to send as bad.
    pub tuser: Signal<Out, Bit>,
    /// The MAC takes the beat.
    pub tready: Signal<In, Bit>,
}

/// Resets of the core's user sides, seen from the core; called `usr`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ResetPort"]
pub struct ResetSide {
    /// The receive side is in reset; in `rx_clk`.
    pub rx_reset: Signal<Out, Bit>,
    /// The send side is in reset; in `gt_txusrclk2`.
    pub tx_reset: Signal<Out, Bit>,
}

/// Resets of the core's user sides, seen from the card; called `usr`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ResetSide"]
pub struct ResetPort {
    /// The receive side is in reset; in `rx_clk`.
    pub rx_reset: Signal<In, Bit>,
    /// The send side is in reset; in `gt_txusrclk2`.
    pub tx_reset: Signal<In, Bit>,
}

/// State of the wire, seen from the core; called `stat_rx`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "StatePort"]
pub struct StateSide {
    /// The lanes are aligned: the link is up.
    pub aligned: Signal<Out, Bit>,
    /// This end cannot receive.
    pub local_fault: Signal<Out, Bit>,
    /// The other end cannot receive.
    pub remote_fault: Signal<Out, Bit>,
    /// The other end asks for a pause: eight priorities, all.
    pub pause_req: Signal<Out, Bits<9>>,
}

/// State of the wire, seen from the card; called `stat_rx`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "StateSide"]
pub struct StatePort {
    /// The lanes are aligned: the link is up.
    pub aligned: Signal<In, Bit>,
    /// This end cannot receive.
    pub local_fault: Signal<In, Bit>,
    /// The other end cannot receive.
    pub remote_fault: Signal<In, Bit>,
    /// The other end asks for a pause: eight priorities, all.
    pub pause_req: Signal<In, Bits<9>>,
}

/// Faults of the send side, seen from the core; called `tx`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "FaultPort"]
pub struct FaultSide {
    /// The send side has overflowed: reset it.
    pub ovfout: Signal<Out, Bit>,
    /// A frame to send has stopped half-way: reset the send side.
    pub unfout: Signal<Out, Bit>,
}

/// Faults of the send side, seen from the card; called `tx`.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "FaultSide"]
pub struct FaultPort {
    /// The send side has overflowed: reset it.
    pub ovfout: Signal<In, Bit>,
    /// A frame to send has stopped half-way: reset the send side.
    pub unfout: Signal<In, Bit>,
}
