//! The vendor's PCIe core, as a black box with all its ports.
//!
//! ```text
//!   slot lanes ══ pci_exp │ core │ RQ RC CQ CC, sequence numbers, configuration ══ card
//! ```
//! One name for both kinds: `pcie4_uscale_plus` (PCIE40E4) and `pcie4c_uscale_plus` (PCIE4CE4) have
//! the same ports. The bundles are the card's seen from the other side.
//!
//! Timing: the core's. `user_clk` is 250 MHz.
//!
//! Invariants:
//! 1. Port names, widths and directions are the core's.
//!
//! Source: PG213, port descriptions, 512 bit. `sim/board/tests/boards` compares with the primitive
//! that Yosys knows.

use crate::pcie_sides::{
    CompletionSide, ConfigurationSide, ConfigurationSpaceSide, HostReplySide, HostRequestSide,
    Lanes, RequestSide, SequenceSide,
};
use stream::prelude::*;

/// The core. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(core: &'static str)]
pub struct PcieCore {
    /// Lanes of the slot.
    pub pci_exp: Lanes,
    /// User clock, 250 MHz.
    pub user_clk: Signal<Out, Clock>,
    /// The core is in reset: it has lost every TLP.
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
    /// Tag that the block gave the first request of the cycle: only with tags of its own.
    pub pcie_rq_tag0: Signal<Out, Bits<8>>,
    /// Tag that the block gave the second request of the cycle.
    pub pcie_rq_tag1: Signal<Out, Bits<8>>,
    /// Tags that the block has left.
    pub pcie_rq_tag_av: Signal<Out, Bits<4>>,
    /// `pcie_rq_tag0` is valid.
    pub pcie_rq_tag_vld0: Signal<Out, Bit>,
    /// `pcie_rq_tag1` is valid.
    pub pcie_rq_tag_vld1: Signal<Out, Bit>,
    /// Non-posted header credits available, at most 15.
    pub pcie_tfc_nph_av: Signal<Out, Bits<4>>,
    /// Non-posted data credits available, at most 15.
    pub pcie_tfc_npd_av: Signal<Out, Bits<4>>,
    /// Non-posted requests of the host that may still be delivered.
    pub pcie_cq_np_req_count: Signal<Out, Bits<6>>,
    /// The physical layer has no link.
    pub cfg_phy_link_down: Signal<Out, Bit>,
    /// State of the physical layer's link.
    pub cfg_phy_link_status: Signal<Out, Bits<2>>,
    /// Lanes in use, log2.
    pub cfg_negotiated_width: Signal<Out, Bits<3>>,
    /// Speed in use: 2 is 8.0 GT/s.
    pub cfg_current_speed: Signal<Out, Bits<2>>,
    /// Status of the virtual functions.
    pub cfg_vf_status: Signal<Out, Bits<504>>,
    /// Power states of the virtual functions.
    pub cfg_vf_power_state: Signal<Out, Bits<756>>,
    /// Power state of the link.
    pub cfg_link_power_state: Signal<Out, Bits<2>>,
    /// A correctable error was found.
    pub cfg_err_cor_out: Signal<Out, Bit>,
    /// A non-fatal error was found.
    pub cfg_err_nonfatal_out: Signal<Out, Bit>,
    /// A fatal error was found.
    pub cfg_err_fatal_out: Signal<Out, Bit>,
    /// Power state of the receiver.
    pub cfg_rx_pm_state: Signal<Out, Bits<2>>,
    /// Power state of the transmitter.
    pub cfg_tx_pm_state: Signal<Out, Bits<2>>,
    /// The host allows buffer flush and fill.
    pub cfg_obff_enable: Signal<Out, Bits<2>>,
    /// The physical layer's status has changed.
    pub cfg_pl_status_change: Signal<Out, Bit>,
    /// The host allows processing hints, each function.
    pub cfg_tph_requester_enable: Signal<Out, Bits<4>>,
    /// Mode of steering tags, three bits each function.
    pub cfg_tph_st_mode: Signal<Out, Bits<12>>,
    /// The same of the virtual functions.
    pub cfg_vf_tph_requester_enable: Signal<Out, Bits<252>>,
    /// The same of the virtual functions.
    pub cfg_vf_tph_st_mode: Signal<Out, Bits<756>>,
    /// A message has come.
    pub cfg_msg_received: Signal<Out, Bit>,
    /// Its bytes.
    pub cfg_msg_received_data: Signal<Out, Bits<8>>,
    /// Its type.
    pub cfg_msg_received_type: Signal<Out, Bits<5>>,
    /// The message to send has left.
    pub cfg_msg_transmit_done: Signal<Out, Bit>,
    /// Non-posted header credits, of the kind selected.
    pub cfg_fc_nph: Signal<Out, Bits<8>>,
    /// Non-posted data credits, of the kind selected.
    pub cfg_fc_npd: Signal<Out, Bits<12>>,
    /// Completion header credits, of the kind selected.
    pub cfg_fc_cplh: Signal<Out, Bits<8>>,
    /// Completion data credits, of the kind selected.
    pub cfg_fc_cpld: Signal<Out, Bits<12>>,
    /// The host asks for another power state.
    pub cfg_power_state_change_interrupt: Signal<Out, Bit>,
    /// Function level resets of virtual functions.
    pub cfg_vf_flr_in_process: Signal<Out, Bits<252>>,
    /// The legacy interrupt has left.
    pub cfg_interrupt_sent: Signal<Out, Bit>,
    /// MSI-X enable of the virtual functions.
    pub cfg_interrupt_msix_vf_enable: Signal<Out, Bits<252>>,
    /// MSI-X mask of the virtual functions.
    pub cfg_interrupt_msix_vf_mask: Signal<Out, Bits<252>>,
    /// Pending bit of the vector asked for.
    pub cfg_interrupt_msix_vec_pending_status: Signal<Out, Bit>,
    /// The interrupt has left.
    pub cfg_interrupt_msi_sent: Signal<Out, Bit>,
    /// The interrupt was not sent.
    pub cfg_interrupt_msi_fail: Signal<Out, Bit>,
    /// The transceivers are ready.
    pub phy_rdy_out: Signal<Out, Bit>,
    /// Accepts non-posted requests of the host.
    pub pcie_cq_np_req: Signal<In, Bits<2>>,
    /// A message is to be sent.
    pub cfg_msg_transmit: Signal<In, Bit>,
    /// Its type.
    pub cfg_msg_transmit_type: Signal<In, Bits<3>>,
    /// Its bytes.
    pub cfg_msg_transmit_data: Signal<In, Bits<32>>,
    /// Serial number of the device.
    pub cfg_dsn: Signal<In, Bits<64>>,
    /// The change of the power state may happen.
    pub cfg_power_state_change_ack: Signal<In, Bit>,
    /// The card has found a correctable error.
    pub cfg_err_cor_in: Signal<In, Bit>,
    /// The card has found an uncorrectable error.
    pub cfg_err_uncor_in: Signal<In, Bit>,
    /// Virtual function whose reset is done.
    pub cfg_vf_flr_func_num: Signal<In, Bits<8>>,
    /// The reset of that virtual function is done.
    pub cfg_vf_flr_done: Signal<In, Bit>,
    /// The link may be trained.
    pub cfg_link_training_enable: Signal<In, Bit>,
    /// Legacy interrupts.
    pub cfg_interrupt_int: Signal<In, Bits<4>>,
    /// A legacy interrupt is pending, each function.
    pub cfg_interrupt_pending: Signal<In, Bits<4>>,
    /// Address of a message to send.
    pub cfg_interrupt_msix_address: Signal<In, Bits<64>>,
    /// Data of a message to send.
    pub cfg_interrupt_msix_data: Signal<In, Bits<32>>,
    /// A message is to be sent.
    pub cfg_interrupt_msix_int: Signal<In, Bit>,
    /// What to do with a pending bit.
    pub cfg_interrupt_msix_vec_pending: Signal<In, Bits<2>>,
    /// Function that interrupts.
    pub cfg_interrupt_msi_function_number: Signal<In, Bits<8>>,
    /// Refuse the power state L1.
    pub cfg_pm_aspm_l1_entry_reject: Signal<In, Bit>,
    /// Do not enter the power state L0s.
    pub cfg_pm_aspm_tx_l0s_entry_disable: Signal<In, Bit>,
    /// Answer configuration requests.
    pub cfg_config_space_enable: Signal<In, Bit>,
    /// Ready for the power state L2 or L3.
    pub cfg_req_pm_transition_l23_ready: Signal<In, Bit>,
    /// Reset the link; of a root port alone.
    pub cfg_hot_reset_in: Signal<In, Bit>,
    /// Port number below; of a root port alone.
    pub cfg_ds_port_number: Signal<In, Bits<8>>,
    /// Bus number below; of a root port alone.
    pub cfg_ds_bus_number: Signal<In, Bits<8>>,
    /// Device number below; of a root port alone.
    pub cfg_ds_device_number: Signal<In, Bits<5>>,
    /// Reference clock of the slot for the core's own clock buffer, 100 MHz.
    pub sys_clk: Signal<In, Clock>,
    /// Reference clock of the slot for the transceivers, 100 MHz.
    pub sys_clk_gt: Signal<In, Clock>,
    /// PERST#, active low.
    pub sys_reset: Signal<In, Bit>,

    #[value(core)]
    _core: &'static str,
}

impl Logic for PcieCore {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.s_axis_rq.link_connect_source();
        self.m_axis_rc.link_connect_source();
        self.m_axis_cq.link_connect_source();
        self.s_axis_cc.link_connect_source();
        self.pcie_rq_seq.link_connect_source();
        self.cfg.link_connect_source();
        self.cfg_mgmt.link_connect_source();
        self.pci_exp.link_connect_source();
        self.user_clk.connect();
        self.user_reset.connect();
        self.user_lnk_up.connect();
        self.pcie_rq_tag0.connect();
        self.pcie_rq_tag1.connect();
        self.pcie_rq_tag_av.connect();
        self.pcie_rq_tag_vld0.connect();
        self.pcie_rq_tag_vld1.connect();
        self.pcie_tfc_nph_av.connect();
        self.pcie_tfc_npd_av.connect();
        self.pcie_cq_np_req_count.connect();
        self.cfg_phy_link_down.connect();
        self.cfg_phy_link_status.connect();
        self.cfg_negotiated_width.connect();
        self.cfg_current_speed.connect();
        self.cfg_vf_status.connect();
        self.cfg_vf_power_state.connect();
        self.cfg_link_power_state.connect();
        self.cfg_err_cor_out.connect();
        self.cfg_err_nonfatal_out.connect();
        self.cfg_err_fatal_out.connect();
        self.cfg_rx_pm_state.connect();
        self.cfg_tx_pm_state.connect();
        self.cfg_obff_enable.connect();
        self.cfg_pl_status_change.connect();
        self.cfg_tph_requester_enable.connect();
        self.cfg_tph_st_mode.connect();
        self.cfg_vf_tph_requester_enable.connect();
        self.cfg_vf_tph_st_mode.connect();
        self.cfg_msg_received.connect();
        self.cfg_msg_received_data.connect();
        self.cfg_msg_received_type.connect();
        self.cfg_msg_transmit_done.connect();
        self.cfg_fc_nph.connect();
        self.cfg_fc_npd.connect();
        self.cfg_fc_cplh.connect();
        self.cfg_fc_cpld.connect();
        self.cfg_power_state_change_interrupt.connect();
        self.cfg_vf_flr_in_process.connect();
        self.cfg_interrupt_sent.connect();
        self.cfg_interrupt_msix_vf_enable.connect();
        self.cfg_interrupt_msix_vf_mask.connect();
        self.cfg_interrupt_msix_vec_pending_status.connect();
        self.cfg_interrupt_msi_sent.connect();
        self.cfg_interrupt_msi_fail.connect();
        self.phy_rdy_out.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Blackbox(BlackBox { code: String::new(), name: format!("{}_0", self._core) })
    }
}
