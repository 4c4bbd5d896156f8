//! Everything of a board but its pads: PCIe, MAC, card and window.
//!
//! ```text
//!   slot ══ pcie ══ card ══ mac ══ wire
//!                    ║ m_axil    ║ registers
//!                    window ═════╝── GPIO, I2C, LEDs, flash, configuration port
//! ```
//! The block only connects.
//!
//! Timing: that of the blocks.
//!
//! Invariants:
//! 1. `user_clk` clocks card and window, `gt_txusrclk2` the MAC's side of the card. 100 MHz, made
//!    of the board's free clock, are that of the MAC's registers and of the configuration port.

use crate::card_box::CardBox;
use crate::description::FlashPlan;
use crate::device_side::DeviceSide;
use crate::mac_side::MacSide;
use crate::pads::{ClockPads, FlashPads, SidePins, SlotPads, WirePads};
use crate::pcie_side::PcieSide;
use crate::window::flash_serial::FlashLines;
use crate::window::port_program::PortLines;
use crate::window::Window;
use ip::axi_lite::AxiLiteMaster;
use ip::board_clock::BoardClock;
use ip::mac_sides::{CoreMaster, FaultSide, ReceiveSide, ResetSide, SendSide, StateSide};
use ip::pcie_sides::{
    CompletionSide, ConfigurationSide, ConfigurationSpaceSide, HostReplySide, HostRequestSide,
    RequestSide, SequenceSide,
};
use stream::prelude::*;

/// What tells one shell from another.
#[derive(Clone, Copy, Debug)]
pub struct ShellPlan<'a> {
    /// Name of the vendor's PCIe core.
    pub pcie_core: &'static str,
    /// Number of the board.
    pub board: u32,
    /// Name of the card's configuration.
    pub config: &'a str,
    /// Name of the card's module.
    pub card: &'a str,
    /// The board brings the pins of the QSFP module to the device.
    pub wired: bool,
    /// The board's flash.
    pub flash: FlashPlan,
    /// Period of the board's free clock, ps.
    pub free_clock_ps: u32,
}

/// The shell. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(plan: ShellPlan<'_>)]
pub struct Shell {
    /// Pads at the slot.
    pub pcie: SlotPads,
    /// Pads at the QSFP connector.
    pub qsfp: WirePads,
    /// Pads of the free-running clock.
    pub free_clock: ClockPads,
    /// Levels of the pads that are not serial.
    pub pins: SidePins,
    /// Pads of the second flash chip.
    pub flash: FlashPads,

    #[value(PcieSide::new(plan.pcie_core))]
    pcie_side: PcieSide,
    mac_side: MacSide,
    #[value(CardBox::new(plan.card))]
    card: CardBox,
    #[value(Window::new(plan.board, plan.config, plan.wired, plan.flash))]
    window: Window,
    #[value(BoardClock::new(plan.free_clock_ps))]
    free: BoardClock,
    device_side: DeviceSide,
}

impl Logic for Shell {
    #[hdl_gen]
    fn update(&mut self) {
        self.pcie_side.refclk_p.next = self.pcie.refclk_p.val();
        self.pcie_side.refclk_n.next = self.pcie.refclk_n.val();
        self.pcie_side.reset_n.next = self.pcie.reset_n.val();
        self.pcie_side.pci_exp.rxp.next = self.pcie.rx_p.val();
        self.pcie_side.pci_exp.rxn.next = self.pcie.rx_n.val();
        self.pcie.tx_p.next = self.pcie_side.pci_exp.txp.val();
        self.pcie.tx_n.next = self.pcie_side.pci_exp.txn.val();
        self.mac_side.refclk_p.next = self.qsfp.refclk_p.val();
        self.mac_side.refclk_n.next = self.qsfp.refclk_n.val();
        self.mac_side.rx_p.next = self.qsfp.rx_p.val();
        self.mac_side.rx_n.next = self.qsfp.rx_n.val();
        self.qsfp.tx_p.next = self.mac_side.tx_p.val();
        self.qsfp.tx_n.next = self.mac_side.tx_n.val();
        self.free.p.next = self.free_clock.p.val();
        self.free.n.next = self.free_clock.n.val();

        self.card.user_clk.next = self.pcie_side.user_clk.val();
        self.card.user_reset.next = self.pcie_side.user_reset.val();
        self.card.user_lnk_up.next = self.pcie_side.user_lnk_up.val();
        RequestSide::join(&mut self.pcie_side.s_axis_rq, &mut self.card.s_axis_rq);
        CompletionSide::join(&mut self.pcie_side.m_axis_rc, &mut self.card.m_axis_rc);
        HostRequestSide::join(&mut self.pcie_side.m_axis_cq, &mut self.card.m_axis_cq);
        HostReplySide::join(&mut self.pcie_side.s_axis_cc, &mut self.card.s_axis_cc);
        SequenceSide::join(&mut self.pcie_side.pcie_rq_seq, &mut self.card.pcie_rq_seq);
        ConfigurationSide::join(&mut self.pcie_side.cfg, &mut self.card.cfg);
        ConfigurationSpaceSide::join(&mut self.pcie_side.cfg_mgmt, &mut self.card.cfg_mgmt);
        self.card.pcie_tfc_nph_av.next = self.pcie_side.pcie_tfc_nph_av.val();
        self.pcie_side.pcie_cq_np_req.next = self.card.pcie_cq_np_req.val();

        self.card.gt_txusrclk2.next = self.mac_side.mac_clock.val();
        ResetSide::join(&mut self.mac_side.usr, &mut self.card.usr);
        StateSide::join(&mut self.mac_side.stat_rx, &mut self.card.stat_rx);
        FaultSide::join(&mut self.mac_side.tx, &mut self.card.tx);
        ReceiveSide::join(&mut self.mac_side.rx_axis, &mut self.card.rx_axis);
        SendSide::join(&mut self.mac_side.tx_axis, &mut self.card.tx_axis);
        self.mac_side.ctl_tx_pause_req.next = self.card.ctl_tx_pause_req.val();
        self.mac_side.base_clock.next = self.free.base.val();
        self.mac_side.locked.next = self.free.locked.val();
        CoreMaster::join(&mut self.window.core, &mut self.mac_side.registers);

        AxiLiteMaster::join(&mut self.card.m_axil, &mut self.window.bus);
        self.window.clock.next = self.pcie_side.user_clk.val();
        self.window.base_clock.next = self.free.base.val();
        self.window.reset.next = self.pcie_side.user_reset.val();
        self.window.mac_clock.next = self.mac_side.mac_clock.val();
        self.window.free_clock.next = self.free.free.val();
        self.window.aligned.next = self.mac_side.stat_rx.aligned.val();
        self.window.link_up.next = self.pcie_side.user_lnk_up.val();
        SidePins::link(&mut self.pins, &mut self.window.pins);

        self.device_side.clock.next = self.free.base.val();
        FlashLines::join(&mut self.window.flash, &mut self.device_side.flash);
        PortLines::join(&mut self.window.device, &mut self.device_side.port);
        FlashPads::link(&mut self.flash, &mut self.device_side.pads);
    }
}
