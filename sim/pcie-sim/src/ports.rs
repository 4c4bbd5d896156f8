//! The flat ports between the hard block and the card, as plain values of one clock cycle.
//!
//! ```text
//!            CardOutputs (rq, cc, readies, sel, done)
//!   card  ------------------------------------------>  hard block
//!         <------------------------------------------
//!            CardInputs (rc, cq, readies, seq nums, cfg_*)
//! ```
//!
//! Names are those of the vendor's product guide without the `s_axis_`/`m_axis_` prefix. Wide
//! vectors are arrays of 32-bit words, least significant first, which is how Verilator stores them.
//! Bit positions inside `tdata` and `tuser` are in [`crate::descriptor`].
//!
//! Source: PG213, port descriptions.

pub(crate) mod cc;
pub(crate) mod cq;
pub(crate) mod rc;
pub(crate) mod rq;

/// Dwords of one 512-bit beat.
pub const BEAT_DWORDS: usize = 16;

/// One cycle of an AXI4-Stream port of 512 bits with `USER_WORDS` 32-bit words of side band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat<const USER_WORDS: usize> {
    /// Data, dword 0 first.
    pub tdata: [u32; BEAT_DWORDS],
    /// One bit per dword.
    pub tkeep: u16,
    /// Side band.
    pub tuser: [u32; USER_WORDS],
    /// The beat is offered.
    pub tvalid: bool,
    /// Last beat of a packet; without meaning where straddle is on.
    pub tlast: bool,
}

impl<const USER_WORDS: usize> Default for Beat<USER_WORDS> {
    fn default() -> Self {
        Self {
            tdata: [0; BEAT_DWORDS],
            tkeep: 0,
            tuser: [0; USER_WORDS],
            tvalid: false,
            tlast: false,
        }
    }
}

/// Requester request, `tuser` of 137 bits.
pub type RqBeat = Beat<5>;
/// Requester completion, `tuser` of 161 bits.
pub type RcBeat = Beat<6>;
/// Completer request, `tuser` of 183 bits.
pub type CqBeat = Beat<6>;
/// Completer completion, `tuser` of 81 bits.
pub type CcBeat = Beat<3>;

/// What the card drives in one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardOutputs {
    /// Requests of the card; straddle on.
    pub rq: RqBeat,
    /// The card takes the RC beat of this cycle.
    pub rc_tready: bool,
    /// The card takes the CQ beat of this cycle.
    pub cq_tready: bool,
    /// Completions of the card; straddle off.
    pub cc: CcBeat,
    /// `pcie_cq_np_req`, 2 bits: each cycle that it is 1 or 3 admits one more non-posted request.
    pub pcie_cq_np_req: u8,
    /// `cfg_fc_sel`, 3 bits: which credits the `cfg_fc_*` outputs show: 4 those available for
    /// sending, 5 their limit, 6 those consumed; the receive side (0 to 3) shows 0.
    pub cfg_fc_sel: u8,
    /// `cfg_flr_done`, one bit per physical function.
    pub cfg_flr_done: u8,
    /// `cfg_mgmt_addr`, 10 bits: dword of the configuration space.
    pub cfg_mgmt_addr: u16,
    /// `cfg_mgmt_function_number`.
    pub cfg_mgmt_function_number: u8,
    /// `cfg_mgmt_read`: held until done.
    pub cfg_mgmt_read: bool,
    /// `cfg_mgmt_write`: held until done.
    pub cfg_mgmt_write: bool,
}

/// What the card sees in one cycle; every value is registered in the hard block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardInputs {
    /// The hard block takes the RQ beat of this cycle (all four bits of `s_axis_rq_tready`).
    pub rq_tready: bool,
    /// Completions for the card; straddle on, up to four TLPs a beat.
    pub rc: RcBeat,
    /// Requests for the card; straddle off.
    pub cq: CqBeat,
    /// The hard block takes the CC beat of this cycle (all four bits of `s_axis_cc_tready`).
    pub cc_tready: bool,
    /// First sequence number of requests that completions and interrupts can no longer overtake.
    pub pcie_rq_seq_num0: u8,
    /// `pcie_rq_seq_num0` is valid.
    pub pcie_rq_seq_num_vld0: bool,
    /// Second sequence number of the cycle.
    pub pcie_rq_seq_num1: u8,
    /// `pcie_rq_seq_num1` is valid.
    pub pcie_rq_seq_num_vld1: bool,
    /// Non-posted requests that may still be delivered on CQ, 0 to 32.
    pub pcie_cq_np_req_count: u8,
    /// Non-posted header credits available, saturated to 4 bits.
    pub pcie_tfc_nph_av: u8,
    /// Non-posted data credits available, saturated to 4 bits.
    pub pcie_tfc_npd_av: u8,
    /// 0 is 128 bytes, each step doubles.
    pub cfg_max_payload: u8,
    /// 0 is 128 bytes, each step doubles.
    pub cfg_max_read_req: u8,
    /// One bit per function: 0 is 64 bytes, 1 is 128 bytes.
    pub cfg_rcb_status: u8,
    /// Four bits per function: I/O, memory, bus master, interrupt disable.
    pub cfg_function_status: u16,
    /// Posted header credits chosen by `cfg_fc_sel`.
    pub cfg_fc_ph: u8,
    /// Posted data credits.
    pub cfg_fc_pd: u16,
    /// Non-posted header credits.
    pub cfg_fc_nph: u8,
    /// Non-posted data credits.
    pub cfg_fc_npd: u16,
    /// Completion header credits.
    pub cfg_fc_cplh: u8,
    /// Completion data credits.
    pub cfg_fc_cpld: u16,
    /// The link is down.
    pub cfg_phy_link_down: bool,
    /// 3 when the link is up, else 0.
    pub cfg_phy_link_status: u8,
    /// Binary logarithm of the lane count: 4 is x16.
    pub cfg_negotiated_width: u8,
    /// 2 is 8 GT/s.
    pub cfg_current_speed: u8,
    /// Reset of the user side; high while the link is down.
    pub user_reset: bool,
    /// The link is up.
    pub user_lnk_up: bool,
    /// A function level reset runs, one bit per function, until the card raises `cfg_flr_done`.
    pub cfg_flr_in_process: u8,
    /// MSI-X enabled, one bit per function.
    pub cfg_interrupt_msix_enable: u8,
    /// MSI-X function mask, one bit per function.
    pub cfg_interrupt_msix_mask: u8,
    /// What `cfg_mgmt_read` asked for, with `cfg_mgmt_read_write_done`.
    pub cfg_mgmt_read_data: u32,
    /// The access to the configuration space is done, for one cycle.
    pub cfg_mgmt_read_write_done: bool,
}
