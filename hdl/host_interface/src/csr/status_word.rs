//! The words of STATUS and PCIE_STATE.
//!
//! ```text
//!  state ──► status, pcie_state
//! ```
//! Timing: combinational.
//!
//! Source: `abi::registers`, STATUS and PCIE_STATE.

use abi::registers as r;
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(
    r::STATUS_TABLES_BUSY == 1 << 3
        && r::STATUS_REQUESTS_PENDING == 1 << 4
        && r::STATUS_WIRE_BIT == 8
);

/// The words. See the module's head.
#[derive(LogicBlock, Default)]
pub struct StatusWord {
    /// A tag is in quarantine.
    pub tag_quarantined: Signal<In, Bit>,
    /// The host allows the card to send requests.
    pub bus_master: Signal<In, Bit>,
    /// The PCIe link is up.
    pub link_up: Signal<In, Bit>,
    /// Commands wait for the tables.
    pub tables_busy: Signal<In, Bit>,
    /// Requests of an earlier epoch have not ended.
    pub requests_pending: Signal<In, Bit>,
    /// Bits of STATUS from `STATUS_WIRE_BIT` on.
    pub wire_status: Signal<In, Bits<7>>,
    /// State of link training of the hard block.
    pub ltssm_state: Signal<In, Bits<6>>,
    /// Power state of the function: 1 D0, 4 D3hot.
    pub power_state: Signal<In, Bits<3>>,
    /// Value of STATUS.
    pub status: Signal<Out, Bits<32>>,
    /// Value of PCIE_STATE.
    pub pcie_state: Signal<Out, Bits<32>>,
}

impl Logic for StatusWord {
    #[hdl_gen]
    fn update(&mut self) {
        self.status.next = (bit_cast::<32, 1>(self.tag_quarantined.val().into()))
            | (bit_cast::<32, 1>(self.bus_master.val().into()) << 1)
            | (bit_cast::<32, 1>(self.link_up.val().into()) << 2)
            | (bit_cast::<32, 1>(self.tables_busy.val().into()) << 3)
            | (bit_cast::<32, 1>(self.requests_pending.val().into()) << 4)
            | (bit_cast::<32, 7>(self.wire_status.val()) << 8);
        self.pcie_state.next = (bit_cast::<32, 6>(self.ltssm_state.val()))
            | (bit_cast::<32, 3>(self.power_state.val()) << 8);
    }
}
