//! The user side of the PCIe hard block as bundles whose fields carry the vendor's port names.
//!
//! ```text
//!   bundle s_axis_rq, field tdata  ──►  port s_axis_rq_tdata of the emitted Verilog
//! ```
//! Invariants:
//! 1. A bundle named as in the table of ports, anywhere down the hierarchy, emits exactly the
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

/// Requests of the card, straddle on.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct RequestPort {
    /// Data.
    pub tdata: Signal<Out, Bits<512>>,
    /// Dwords valid: all.
    pub tkeep: Signal<Out, Bits<16>>,
    /// Side band.
    pub tuser: Signal<Out, Bits<137>>,
    /// A beat is offered.
    pub tvalid: Signal<Out, Bit>,
    /// Without meaning: straddle is on.
    pub tlast: Signal<Out, Bit>,
    /// The hard block takes the beat; four copies of one signal.
    pub tready: Signal<In, Bits<4>>,
}

/// Completions for the card, straddle on.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct CompletionPort {
    /// Data.
    pub tdata: Signal<In, Bits<512>>,
    /// Dwords valid.
    pub tkeep: Signal<In, Bits<16>>,
    /// Side band.
    pub tuser: Signal<In, Bits<161>>,
    /// A beat is offered.
    pub tvalid: Signal<In, Bit>,
    /// Without meaning: straddle is on.
    pub tlast: Signal<In, Bit>,
    /// The card takes the beat.
    pub tready: Signal<Out, Bit>,
}

/// Requests for the card, straddle off.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct HostRequestPort {
    /// Data.
    pub tdata: Signal<In, Bits<512>>,
    /// Dwords valid.
    pub tkeep: Signal<In, Bits<16>>,
    /// Side band.
    pub tuser: Signal<In, Bits<183>>,
    /// A beat is offered.
    pub tvalid: Signal<In, Bit>,
    /// Last beat of a packet.
    pub tlast: Signal<In, Bit>,
    /// The card takes the beat.
    pub tready: Signal<Out, Bit>,
}

/// Completions of the card, straddle off.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct HostReplyPort {
    /// Data.
    pub tdata: Signal<Out, Bits<512>>,
    /// Dwords valid.
    pub tkeep: Signal<Out, Bits<16>>,
    /// Side band.
    pub tuser: Signal<Out, Bits<81>>,
    /// A beat is offered.
    pub tvalid: Signal<Out, Bit>,
    /// Last beat of a packet.
    pub tlast: Signal<Out, Bit>,
    /// The hard block takes the beat; four copies of one signal.
    pub tready: Signal<In, Bits<4>>,
}

/// Sequence numbers of requests that have left.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct SequencePort {
    /// First number of the cycle.
    pub num0: Signal<In, Bits<6>>,
    /// It is valid.
    pub num_vld0: Signal<In, Bit>,
    /// Second number of the cycle.
    pub num1: Signal<In, Bits<6>>,
    /// It is valid.
    pub num_vld1: Signal<In, Bit>,
}

/// What the host has configured, and the flow control credits.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct Configuration {
    /// Maximum payload size: 128 bytes shifted by this.
    pub max_payload: Signal<In, Bits<2>>,
    /// Maximum read request size: 128 bytes shifted by this.
    pub max_read_req: Signal<In, Bits<3>>,
    /// Read completion boundary of each function: 0 is 64 bytes.
    pub rcb_status: Signal<In, Bits<4>>,
    /// Four bits a function: I/O, memory, bus master, interrupt disable.
    pub function_status: Signal<In, Bits<16>>,
    /// Function level reset of each function.
    pub flr_in_process: Signal<In, Bits<4>>,
    /// Its end.
    pub flr_done: Signal<Out, Bits<4>>,
    /// MSI-X enable of each function.
    pub interrupt_msix_enable: Signal<In, Bits<4>>,
    /// MSI-X mask of each function.
    pub interrupt_msix_mask: Signal<In, Bits<4>>,
    /// Which credits the hard block shows; always 4: available for sending.
    pub fc_sel: Signal<Out, Bits<3>>,
    /// Posted header credits.
    pub fc_ph: Signal<In, Bits<8>>,
    /// Posted data credits, 16 bytes each.
    pub fc_pd: Signal<In, Bits<12>>,
}

/// Access to the function's own configuration space.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct ConfigurationSpace {
    /// Dword address.
    pub addr: Signal<Out, Bits<10>>,
    /// Function.
    pub function_number: Signal<Out, Bits<8>>,
    /// Read; held until done.
    pub read: Signal<Out, Bit>,
    /// What was read, with done.
    pub read_data: Signal<In, Bits<32>>,
    /// The access is done.
    pub read_write_done: Signal<In, Bit>,
    /// Write; never.
    pub write: Signal<Out, Bit>,
    /// What to write.
    pub write_data: Signal<Out, Bits<32>>,
    /// Bytes to write.
    pub byte_enable: Signal<Out, Bits<4>>,
    /// Write read-only fields; never.
    pub debug_access: Signal<Out, Bit>,
}
