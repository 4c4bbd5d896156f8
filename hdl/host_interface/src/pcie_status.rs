//! Registers on what the PCIe hard block says of itself: its logic is behind those ports.
//!
//! ```text
//!  cfg_*, pcie_tfc_nph_av ──► registers ──► state
//!  flr_done ──► cfg_flr_done              4 ──► cfg_fc_sel
//! ```
//! Of the values of four functions that of the first, the only one, is kept.
//!
//! Timing: one cycle.
//!
//! Invariants:
//! 1. No logic is between these ports and a register.
//!
//! Source: PG213, configuration status interface, flow control.

use ip::pcie::Configuration;
use stream::prelude::*;

/// What the hard block says.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PcieState {
    /// Maximum payload size: 128 bytes shifted left by this.
    pub max_payload: Bits<2>,
    /// Maximum read request size: 128 bytes shifted left by this.
    pub max_read_req: Bits<3>,
    /// Read completion boundary: low is 64 bytes, high is 128.
    pub rcb: Bit,
    /// Bus mastering is enabled.
    pub bus_master: Bit,
    /// A function level reset runs.
    pub flr_in_process: Bit,
    /// MSI-X is enabled.
    pub msix_enable: Bit,
    /// All vectors are masked.
    pub msix_mask: Bit,
    /// Posted header credits available.
    pub fc_ph: Bits<8>,
    /// Posted data credits available, 16 bytes each.
    pub fc_pd: Bits<12>,
    /// Non-posted header credits available, at most 15.
    pub nph_av: Bits<4>,
    /// Power state: 0 D0 not initialised, 1 D0, 2 D1, 4 D3hot.
    pub power_state: Bits<3>,
    /// The link partner begins a hot reset.
    pub hot_reset: Bit,
    /// State of link training (LTSSM).
    pub ltssm_state: Bits<6>,
    /// The hard block has found an error.
    pub local_error: Bit,
}

/// The registers. See the module's head.
#[derive(LogicBlock, Default)]
pub struct PcieStatus {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Configuration and status ports of the hard block.
    pub cfg: Configuration,
    /// Non-posted header credits that the link partner offers, up to 15.
    pub nph_av: Signal<In, Bits<4>>,
    /// A function level reset has had its epoch; to the port at once.
    pub flr_done: Signal<In, Bit>,
    /// What the ports said one cycle before.
    pub state: Signal<Out, PcieState>,

    held: DFF<PcieState>,
}

impl Logic for PcieStatus {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.held.d.next.max_payload = self.cfg.max_payload.val();
        self.held.d.next.max_read_req = self.cfg.max_read_req.val();
        self.held.d.next.rcb = self.cfg.rcb_status.val().get_bit(0);
        self.held.d.next.bus_master = self.cfg.function_status.val().get_bit(2);
        self.held.d.next.flr_in_process = self.cfg.flr_in_process.val().get_bit(0);
        self.held.d.next.msix_enable = self.cfg.interrupt_msix_enable.val().get_bit(0);
        self.held.d.next.msix_mask = self.cfg.interrupt_msix_mask.val().get_bit(0);
        self.held.d.next.fc_ph = self.cfg.fc_ph.val();
        self.held.d.next.fc_pd = self.cfg.fc_pd.val();
        self.held.d.next.nph_av = self.nph_av.val();
        self.held.d.next.power_state = self.cfg.function_power_state.val().get_bits::<3>(0);
        self.held.d.next.hot_reset = self.cfg.hot_reset_out.val();
        self.held.d.next.ltssm_state = self.cfg.ltssm_state.val();
        self.held.d.next.local_error = self.cfg.local_error_valid.val();
        self.state.next = self.held.q.val();
        self.cfg.flr_done.next = bit_cast::<4, 1>(self.flr_done.val().into());
        self.cfg.fc_sel.next = bits::<3>(4);
    }
}
