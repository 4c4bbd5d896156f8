//! The MAC's core and all the ports that the card does not use.
//!
//! ```text
//!   refclk, lanes ══ core ── rx_axis, state ──► card ── tx_axis, pause ──► core
//!   base_clock ──► init_clk, s_axi_aclk, drp_clk; StartReset ──► resets
//! ```
//! One clock, `gt_txusrclk2`, drives both directions. What the core's registers can do is left to
//! them: enables, FEC, loopback, faults, statistics.
//!
//! Timing: the core's.
//!
//! Invariants:
//! 1. No input of the core is left open.
//! 2. A reset of the slot does not reset the MAC: the wire stays up.
//!
//! Source: PG203.

use crate::start_reset::StartReset;
use ip::mac_core::MacCore;
use ip::mac_sides::{CoreRegisters, FaultSide, ReceiveSide, ResetSide, SendSide, StateSide};
use stream::prelude::*;

/// The side. See the module's head.
#[derive(LogicBlock, Default)]
pub struct MacSide {
    /// Reference clock of the transceivers, positive pad.
    pub refclk_p: Signal<In, Bit>,
    /// Reference clock of the transceivers, negative pad.
    pub refclk_n: Signal<In, Bit>,
    /// Receive lanes, positive.
    pub rx_p: Signal<In, Bits<4>>,
    /// Receive lanes, negative.
    pub rx_n: Signal<In, Bits<4>>,
    /// Send lanes, positive.
    pub tx_p: Signal<Out, Bits<4>>,
    /// Send lanes, negative.
    pub tx_n: Signal<Out, Bits<4>>,
    /// Clock of start-up and registers, 100 MHz.
    pub base_clock: Signal<In, Clock>,
    /// `base_clock` has its frequency.
    pub locked: Signal<In, Bit>,
    /// Registers of the core, in `base_clock`.
    pub registers: CoreRegisters,

    /// Clock of all that follows, 322.265625 MHz.
    pub mac_clock: Signal<Out, Clock>,
    /// Resets of the user sides.
    pub usr: ResetSide,
    /// State of the wire.
    pub stat_rx: StateSide,
    /// Asks the other end for a pause.
    pub ctl_tx_pause_req: Signal<In, Bits<9>>,
    /// Faults of the send side.
    pub tx: FaultSide,
    /// Received frames.
    pub rx_axis: ReceiveSide,
    /// Frames to send.
    pub tx_axis: SendSide,

    start: StartReset,
    core: MacCore,
}

impl Logic for MacSide {
    #[hdl_gen]
    fn update(&mut self) {
        self.core.gt_ref_clk_p.next = self.refclk_p.val();
        self.core.gt_ref_clk_n.next = self.refclk_n.val();
        self.core.gt_rxp_in.next = self.rx_p.val();
        self.core.gt_rxn_in.next = self.rx_n.val();
        self.tx_p.next = self.core.gt_txp_out.val();
        self.tx_n.next = self.core.gt_txn_out.val();
        self.start.clock.next = self.base_clock.val();
        self.start.locked.next = self.locked.val();
        self.core.init_clk.next = self.base_clock.val();
        self.core.s_axi_aclk.next = self.base_clock.val();
        self.core.drp_clk.next = self.base_clock.val();
        self.core.sys_reset.next = self.start.reset.val();
        self.core.s_axi_sreset.next = self.start.reset.val();
        self.core.core_drp_reset.next = self.start.reset.val();
        CoreRegisters::link(&mut self.registers, &mut self.core.s_axi);
        self.mac_clock.next = self.core.gt_txusrclk2.val();
        self.core.rx_clk.next = self.core.gt_txusrclk2.val();

        ResetSide::link(&mut self.usr, &mut self.core.usr);
        StateSide::link(&mut self.stat_rx, &mut self.core.stat_rx);
        self.core.ctl_tx_pause_req.next = self.ctl_tx_pause_req.val();
        FaultSide::link(&mut self.tx, &mut self.core.tx);
        ReceiveSide::link(&mut self.rx_axis, &mut self.core.rx_axis);
        SendSide::link(&mut self.tx_axis, &mut self.core.tx_axis);

        self.core.gt_loopback_in.next = bits::<12>(0);
        self.core.pm_tick.next = false;
        self.core.ctl_tx_resend_pause.next = false;
        self.core.core_rx_reset.next = false;
        self.core.core_tx_reset.next = false;
        self.core.gtwiz_reset_tx_datapath.next = false;
        self.core.gtwiz_reset_rx_datapath.next = false;
        self.core.tx_preamblein.next = 0.into();
        self.core.ctl_tx_send_idle.next = false;
        self.core.ctl_tx_send_rfi.next = false;
        self.core.ctl_tx_send_lfi.next = false;
        self.core.drp_addr.next = bits::<10>(0);
        self.core.drp_di.next = bits::<16>(0);
        self.core.drp_en.next = false;
        self.core.drp_we.next = false;
    }
}
