//! The PCIe core with its reference clock and all the ports that the card does not use.
//!
//! ```text
//!   refclk ─► ReferenceClock ══ sys_clk_gt, sys_clk ─► core ══ RQ RC CQ CC cfg ══ card
//!   PERST# ───────────────────────────► sys_reset        ▲
//!                                                        └─ constants
//! ```
//! Every tie-off is in `docs/hardware.md`, with its reason.
//!
//! Timing: the core's.
//!
//! Invariants:
//! 1. No input of the core is left open.
//! 2. Nothing but the core hangs at the slot's reference clock: the core has the clock buffer for
//!    it inside (BUFG_GT, `ext_sys_clk_bufg` false), and there can be no second one.
//!
//! Source: PG213, UG572; Corundum and LitePCIe join `sys_clk` so.

use ip::buffers::ReferenceClock;
use ip::pcie_core::PcieCore;
use ip::pcie_sides::{
    CompletionSide, ConfigurationSide, ConfigurationSpaceSide, HostReplySide, HostRequestSide,
    Lanes, RequestSide, SequenceSide,
};
use stream::prelude::*;

/// The side, with the core of this name.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(core_name: &'static str)]
pub struct PcieSide {
    /// Reference clock of the slot, positive pad.
    pub refclk_p: Signal<In, Clock>,
    /// Reference clock of the slot, negative pad.
    pub refclk_n: Signal<In, Clock>,
    /// PERST#, active low.
    pub reset_n: Signal<In, Bit>,
    /// Lanes of the slot.
    pub pci_exp: Lanes,
    /// User clock, 250 MHz.
    pub user_clk: Signal<Out, Clock>,
    /// The core is in reset.
    pub user_reset: Signal<Out, Bit>,
    /// The link is up.
    pub user_lnk_up: Signal<Out, Bit>,
    /// Requests of the card.
    pub s_axis_rq: RequestSide,
    /// Completions for the card.
    pub m_axis_rc: CompletionSide,
    /// Requests of the host.
    pub m_axis_cq: HostRequestSide,
    /// Completions of the card.
    pub s_axis_cc: HostReplySide,
    /// Sequence numbers of the requests that have left the core.
    pub pcie_rq_seq: SequenceSide,
    /// Settings of the host, and credits.
    pub cfg: ConfigurationSide,
    /// Access to the configuration space.
    pub cfg_mgmt: ConfigurationSpaceSide,
    /// Non-posted header credits available.
    pub pcie_tfc_nph_av: Signal<Out, Bits<4>>,
    /// Accepts non-posted requests of the host.
    pub pcie_cq_np_req: Signal<In, Bits<2>>,

    clocks: ReferenceClock,
    #[value(PcieCore::new(core_name))]
    core: PcieCore,
}

impl Logic for PcieSide {
    #[hdl_gen]
    fn update(&mut self) {
        self.clocks.p.next = self.refclk_p.val();
        self.clocks.n.next = self.refclk_n.val();
        self.core.sys_clk_gt.next = self.clocks.transceiver.val();
        self.core.sys_clk.next = self.clocks.divided.val();
        self.core.sys_reset.next = self.reset_n.val();
        Lanes::link(&mut self.pci_exp, &mut self.core.pci_exp);
        self.user_clk.next = self.core.user_clk.val();
        self.user_reset.next = self.core.user_reset.val();
        self.user_lnk_up.next = self.core.user_lnk_up.val();
        RequestSide::link(&mut self.s_axis_rq, &mut self.core.s_axis_rq);
        CompletionSide::link(&mut self.m_axis_rc, &mut self.core.m_axis_rc);
        HostRequestSide::link(&mut self.m_axis_cq, &mut self.core.m_axis_cq);
        HostReplySide::link(&mut self.s_axis_cc, &mut self.core.s_axis_cc);
        SequenceSide::link(&mut self.pcie_rq_seq, &mut self.core.pcie_rq_seq);
        ConfigurationSide::link(&mut self.cfg, &mut self.core.cfg);
        ConfigurationSpaceSide::link(&mut self.cfg_mgmt, &mut self.core.cfg_mgmt);
        self.pcie_tfc_nph_av.next = self.core.pcie_tfc_nph_av.val();
        self.core.pcie_cq_np_req.next = self.pcie_cq_np_req.val();

        // At 0, the host does not find the card, trains no link, or waits for a power state.
        self.core.cfg_config_space_enable.next = true;
        self.core.cfg_link_training_enable.next = true;
        self.core.cfg_power_state_change_ack.next = true;

        self.core.cfg_dsn.next = 0.into();
        self.core.cfg_err_cor_in.next = false;
        self.core.cfg_err_uncor_in.next = false;
        self.core.cfg_msg_transmit.next = false;
        self.core.cfg_msg_transmit_type.next = bits::<3>(0);
        self.core.cfg_msg_transmit_data.next = bits::<32>(0);
        self.core.cfg_vf_flr_func_num.next = bits::<8>(0);
        self.core.cfg_vf_flr_done.next = false;
        self.core.cfg_interrupt_int.next = bits::<4>(0);
        self.core.cfg_interrupt_pending.next = bits::<4>(0);
        self.core.cfg_interrupt_msix_address.next = 0.into();
        self.core.cfg_interrupt_msix_data.next = bits::<32>(0);
        self.core.cfg_interrupt_msix_int.next = false;
        self.core.cfg_interrupt_msix_vec_pending.next = bits::<2>(0);
        self.core.cfg_interrupt_msi_function_number.next = bits::<8>(0);
        self.core.cfg_pm_aspm_l1_entry_reject.next = false;
        self.core.cfg_pm_aspm_tx_l0s_entry_disable.next = false;
        self.core.cfg_req_pm_transition_l23_ready.next = false;
        self.core.cfg_hot_reset_in.next = false;
        self.core.cfg_ds_port_number.next = bits::<8>(0);
        self.core.cfg_ds_bus_number.next = bits::<8>(0);
        self.core.cfg_ds_device_number.next = bits::<5>(0);
    }
}
