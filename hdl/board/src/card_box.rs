//! The card as the tops see it: a black box with the card's ports.
//!
//! ```text
//!   PCIe core ══ RQ RC CQ CC cfg │ zeronic │ rx_axis, tx_axis ══ MAC core
//!                                └─ m_axil ══ board window
//! ```
//! A top is emitted apart from the card, so it is the same for every configuration. The tests
//! compare these ports with those of the emitted card.
//!
//! Timing: the card's.
//!
//! Invariants:
//! 1. Names, widths and directions are those of the card's module.
//!
//! Source: `hdl::card`.

use ip::axi_lite::AxiLiteMaster;
use ip::mac_sides::{FaultPort, ReceivePort, ResetPort, SendPort, StatePort};
use ip::pcie::{
    CompletionPort, Configuration, ConfigurationSpace, HostReplyPort, HostRequestPort, RequestPort,
    SequencePort,
};
use stream::prelude::*;

/// The card in a configuration whose module is called `module`.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(module: &str)]
pub struct CardBox {
    /// PCIe user clock, 250 MHz.
    pub user_clk: Signal<In, Clock>,
    /// Reset of the PCIe core: it has lost every TLP.
    pub user_reset: Signal<In, Bit>,
    /// The PCIe link is up.
    pub user_lnk_up: Signal<In, Bit>,
    /// Requests of the card.
    pub s_axis_rq: RequestPort,
    /// Completions for the card.
    pub m_axis_rc: CompletionPort,
    /// Requests of the host.
    pub m_axis_cq: HostRequestPort,
    /// Completions of the card.
    pub s_axis_cc: HostReplyPort,
    /// Sequence numbers of the requests that have left the core.
    pub pcie_rq_seq: SequencePort,
    /// Settings of the host, and flow control credits.
    pub cfg: Configuration,
    /// Access to the configuration space of the card's own function.
    pub cfg_mgmt: ConfigurationSpace,
    /// Non-posted header credits available, at most 15.
    pub pcie_tfc_nph_av: Signal<In, Bits<4>>,
    /// Accepts non-posted requests of the host.
    pub pcie_cq_np_req: Signal<Out, Bits<2>>,
    /// The board window.
    pub m_axil: AxiLiteMaster,

    /// MAC clock, 322 MHz, for both directions.
    pub gt_txusrclk2: Signal<In, Clock>,
    /// Resets of the MAC's user sides.
    pub usr: ResetPort,
    /// State of the wire.
    pub stat_rx: StatePort,
    /// Asks the other end for a pause.
    pub ctl_tx_pause_req: Signal<Out, Bits<9>>,
    /// Faults of the MAC's send side.
    pub tx: FaultPort,
    /// Received frames.
    pub rx_axis: ReceivePort,
    /// Frames to send.
    pub tx_axis: SendPort,

    #[value(module.to_owned())]
    _module: String,
}

impl Logic for CardBox {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.s_axis_rq.link_connect_source();
        self.m_axis_rc.link_connect_source();
        self.m_axis_cq.link_connect_source();
        self.s_axis_cc.link_connect_source();
        self.pcie_rq_seq.link_connect_source();
        self.cfg.link_connect_source();
        self.cfg_mgmt.link_connect_source();
        self.m_axil.link_connect_source();
        self.usr.link_connect_source();
        self.stat_rx.link_connect_source();
        self.tx.link_connect_source();
        self.rx_axis.link_connect_source();
        self.tx_axis.link_connect_source();
        self.pcie_cq_np_req.connect();
        self.ctl_tx_pause_req.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Blackbox(BlackBox { code: String::new(), name: self._module.clone() })
    }
}
