//! The user side of the PCIe hard block as bundles whose fields carry the vendor's port names.
//!
//! ```text
//!   bundle s_axis_rq, field tdata  ──►  port s_axis_rq_tdata of the emitted Verilog
//! ```
//! Invariants:
//! 1. A bundle with the name that the table gives, anywhere in the hierarchy, emits exactly the
//!    vendor's names, widths and directions.
//!
//! | bundle | name |
//! |---|---|
//! | [`RequestPort`] | `s_axis_rq` |
//! | [`CompletionPort`] | `m_axis_rc` |
//! | [`HostRequestPort`] | `m_axis_cq` |
//! | [`HostReplyPort`] | `s_axis_cc` |
//! | [`SequencePort`] | `pcie_rq_seq` |
//! | [`Configuration`] | `cfg` |
//! | [`ConfigurationSpace`] | `cfg_mgmt` |
//!
//! Source: PG213, port descriptions, 512 bit.

use stream::prelude::*;

/// Byte offset of the PCI Express capability in the configuration space (PG213).
pub const PCIE_CAPABILITY_BYTES: u64 = 0x70;

/// Requester request interface (RQ): requests of the card, straddle on.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct RequestPort {
    /// Request beat: descriptors and payload.
    pub tdata: Signal<Out, Bits<512>>,
    /// Valid dwords: always all.
    pub tkeep: Signal<Out, Bits<16>>,
    /// Side band: starts, ends, byte enables, sequence numbers.
    pub tuser: Signal<Out, Bits<137>>,
    /// A beat is offered.
    pub tvalid: Signal<Out, Bit>,
    /// Ignored by the hard block: straddle is on.
    pub tlast: Signal<Out, Bit>,
    /// The hard block takes the beat; four copies of one signal.
    pub tready: Signal<In, Bits<4>>,
}

/// Requester completion interface (RC): completions for the card, straddle on.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct CompletionPort {
    /// Completion beat: descriptors and payload.
    pub tdata: Signal<In, Bits<512>>,
    /// Valid dwords; the card ignores it.
    pub tkeep: Signal<In, Bits<16>>,
    /// Side band: starts, ends, discontinue.
    pub tuser: Signal<In, Bits<161>>,
    /// A beat is offered.
    pub tvalid: Signal<In, Bit>,
    /// Ignored by the card: straddle is on.
    pub tlast: Signal<In, Bit>,
    /// The card takes the beat.
    pub tready: Signal<Out, Bit>,
}

/// Completer request interface (CQ): requests of the host, straddle off.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct HostRequestPort {
    /// Request beat: descriptor and payload.
    pub tdata: Signal<In, Bits<512>>,
    /// Valid dwords.
    pub tkeep: Signal<In, Bits<16>>,
    /// Side band: byte enables, start, discontinue.
    pub tuser: Signal<In, Bits<183>>,
    /// A beat is offered.
    pub tvalid: Signal<In, Bit>,
    /// Last beat of a request.
    pub tlast: Signal<In, Bit>,
    /// The card takes the beat.
    pub tready: Signal<Out, Bit>,
}

/// Completer completion interface (CC): completions of the card, straddle off.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct HostReplyPort {
    /// Completion beat: descriptor and payload.
    pub tdata: Signal<Out, Bits<512>>,
    /// Valid dwords.
    pub tkeep: Signal<Out, Bits<16>>,
    /// Side band.
    pub tuser: Signal<Out, Bits<81>>,
    /// A beat is offered.
    pub tvalid: Signal<Out, Bit>,
    /// Last beat of a completion.
    pub tlast: Signal<Out, Bit>,
    /// The hard block takes the beat; four copies of one signal.
    pub tready: Signal<In, Bits<4>>,
}

/// Sequence numbers of requests that have left the hard block.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct SequencePort {
    /// First sequence number of the cycle.
    pub num0: Signal<In, Bits<6>>,
    /// The first sequence number is valid.
    pub num_vld0: Signal<In, Bit>,
    /// Second sequence number of the cycle.
    pub num1: Signal<In, Bits<6>>,
    /// The second sequence number is valid.
    pub num_vld1: Signal<In, Bit>,
}

/// Settings of the host, and flow control credits.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct Configuration {
    /// Maximum payload size: 128 bytes shifted left by this.
    pub max_payload: Signal<In, Bits<2>>,
    /// Maximum read request size: 128 bytes shifted left by this.
    pub max_read_req: Signal<In, Bits<3>>,
    /// Read completion boundary of each function: 0 is 64 bytes, 1 is 128.
    pub rcb_status: Signal<In, Bits<4>>,
    /// Four bits for each function: I/O, memory, bus master, interrupt disable.
    pub function_status: Signal<In, Bits<16>>,
    /// Function level reset of each function is in progress.
    pub flr_in_process: Signal<In, Bits<4>>,
    /// The card has finished the function level reset of each function.
    pub flr_done: Signal<Out, Bits<4>>,
    /// MSI-X enable of each function.
    pub interrupt_msix_enable: Signal<In, Bits<4>>,
    /// MSI-X mask of each function.
    pub interrupt_msix_mask: Signal<In, Bits<4>>,
    /// Kind of credits that the hard block reports; always 4: available for sending.
    pub fc_sel: Signal<Out, Bits<3>>,
    /// Posted header credits available.
    pub fc_ph: Signal<In, Bits<8>>,
    /// Posted data credits available, 16 bytes each.
    pub fc_pd: Signal<In, Bits<12>>,
    /// Three bits of power state for each function: 0 D0 not initialised, 1 D0, 2 D1, 4 D3hot.
    pub function_power_state: Signal<In, Bits<12>>,
    /// The link partner begins a hot reset.
    pub hot_reset_out: Signal<In, Bit>,
    /// State of link training (LTSSM).
    pub ltssm_state: Signal<In, Bits<6>>,
    /// Kind of error that the hard block has found.
    pub local_error_out: Signal<In, Bits<5>>,
    /// `local_error_out` is valid: one cycle for each error.
    pub local_error_valid: Signal<In, Bit>,
}

/// Access to the configuration space of the card's own function.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct ConfigurationSpace {
    /// Dword address of the access.
    pub addr: Signal<Out, Bits<10>>,
    /// Number of the function.
    pub function_number: Signal<Out, Bits<8>>,
    /// Read request; it is held until the access is done.
    pub read: Signal<Out, Bit>,
    /// Data of a read; valid with `read_write_done`.
    pub read_data: Signal<In, Bits<32>>,
    /// The access is done.
    pub read_write_done: Signal<In, Bit>,
    /// Write request; always 0.
    pub write: Signal<Out, Bit>,
    /// Data to write.
    pub write_data: Signal<Out, Bits<32>>,
    /// Bytes to write.
    pub byte_enable: Signal<Out, Bits<4>>,
    /// Allows writes to read-only fields; always 0.
    pub debug_access: Signal<Out, Bit>,
}
