//! The vendor's 100G MAC core with its transceivers, registers and RS-FEC, as a black box.
//!
//! ```text
//!   gt lanes ══ │ core │ rx_axis ──► card ──► tx_axis
//!               │      │ s_axi: control, status, FEC, pause, statistics (PG203)
//! ```
//! The ports depend on the core's parameters: these are those of `bitstream/ip.tcl`. Outputs that
//! nothing reads and that are registers too (`stat_...`) are left out.
//!
//! Timing: the core's. `gt_txusrclk2` is 322.265625 MHz and clocks both directions.
//!
//! Invariants:
//! 1. Port names, widths and directions are the core's.
//!
//! Source: PG203, port descriptions, transceivers in the core, AXI4-Lite.

use crate::mac_sides::{CoreRegisters, FaultSide, ReceiveSide, ResetSide, SendSide, StateSide};
use stream::prelude::*;

/// Name of the core's module.
pub const MODULE: &str = "cmac_usplus_0";

/// The core. See the module's head.
#[derive(LogicBlock, Default)]
pub struct MacCore {
    /// Registers: control, status, FEC, statistics.
    pub s_axi: CoreRegisters,
    /// Receive lanes, positive.
    pub gt_rxp_in: Signal<In, Bits<4>>,
    /// Receive lanes, negative.
    pub gt_rxn_in: Signal<In, Bits<4>>,
    /// Loopback of each lane; a register does the same.
    pub gt_loopback_in: Signal<In, Bits<12>>,
    /// Latch the statistics; a register does the same.
    pub pm_tick: Signal<In, Bit>,
    /// Ask the other end for a pause: eight priorities, all.
    pub ctl_tx_pause_req: Signal<In, Bits<9>>,
    /// Send the pause again at once.
    pub ctl_tx_resend_pause: Signal<In, Bit>,
    /// Reference clock, positive.
    pub gt_ref_clk_p: Signal<In, Bit>,
    /// Reference clock, negative.
    pub gt_ref_clk_n: Signal<In, Bit>,
    /// Clock of `rx_axis`.
    pub rx_clk: Signal<In, Clock>,
    /// Resets core and transceivers.
    pub sys_reset: Signal<In, Bit>,
    /// Resets the receive side.
    pub core_rx_reset: Signal<In, Bit>,
    /// Resets the send side.
    pub core_tx_reset: Signal<In, Bit>,
    /// Resets the transmitters.
    pub gtwiz_reset_tx_datapath: Signal<In, Bit>,
    /// Resets the receivers.
    pub gtwiz_reset_rx_datapath: Signal<In, Bit>,
    /// Free-running clock, 100 MHz.
    pub init_clk: Signal<In, Clock>,
    /// Clock of the registers.
    pub s_axi_aclk: Signal<In, Clock>,
    /// Resets the registers.
    pub s_axi_sreset: Signal<In, Bit>,
    /// Frames to send.
    pub tx_axis: SendSide,
    /// Preamble of the frame to send.
    pub tx_preamblein: Signal<In, Bits<56>>,
    /// Send idles; a register does the same.
    pub ctl_tx_send_idle: Signal<In, Bit>,
    /// Send remote fault; a register does the same.
    pub ctl_tx_send_rfi: Signal<In, Bit>,
    /// Send local fault; a register does the same.
    pub ctl_tx_send_lfi: Signal<In, Bit>,
    /// Resets the access to the configuration.
    pub core_drp_reset: Signal<In, Bit>,
    /// Clock of that access.
    pub drp_clk: Signal<In, Clock>,
    /// Word of the configuration.
    pub drp_addr: Signal<In, Bits<10>>,
    /// Word to write.
    pub drp_di: Signal<In, Bits<16>>,
    /// Access the configuration.
    pub drp_en: Signal<In, Bit>,
    /// The access writes.
    pub drp_we: Signal<In, Bit>,
    /// Transmit lanes, positive.
    pub gt_txp_out: Signal<Out, Bits<4>>,
    /// Transmit lanes, negative.
    pub gt_txn_out: Signal<Out, Bits<4>>,
    /// Power of the transceivers is good.
    pub gt_powergoodout: Signal<Out, Bits<4>>,
    /// Reference clock, through fabric.
    pub gt_ref_clk_out: Signal<Out, Clock>,
    /// Clock of each received lane.
    pub gt_rxrecclkout: Signal<Out, Bits<4>>,
    /// Clock recovered from the wire.
    pub gt_rxusrclk2: Signal<Out, Clock>,
    /// Clock of the user side, 322.265625 MHz.
    pub gt_txusrclk2: Signal<Out, Clock>,
    /// Resets of the core's user sides.
    pub usr: ResetSide,
    /// Received frames.
    pub rx_axis: ReceiveSide,
    /// Preamble of the received frame.
    pub rx_preambleout: Signal<Out, Bits<56>>,
    /// Faults of the send side.
    pub tx: FaultSide,
    /// State of the wire.
    pub stat_rx: StateSide,
    /// Word read from the core's own configuration.
    pub drp_do: Signal<Out, Bits<16>>,
    /// The access to the configuration is done.
    pub drp_rdy: Signal<Out, Bit>,
}

impl Logic for MacCore {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.s_axi.link_connect_source();
        self.rx_axis.link_connect_source();
        self.tx_axis.link_connect_source();
        self.usr.link_connect_source();
        self.stat_rx.link_connect_source();
        self.tx.link_connect_source();
        self.gt_txp_out.connect();
        self.gt_txn_out.connect();
        self.gt_powergoodout.connect();
        self.gt_ref_clk_out.connect();
        self.gt_rxrecclkout.connect();
        self.gt_rxusrclk2.connect();
        self.gt_txusrclk2.connect();
        self.rx_preambleout.connect();
        self.drp_do.connect();
        self.drp_rdy.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Blackbox(BlackBox { code: String::new(), name: MODULE.to_owned() })
    }
}
