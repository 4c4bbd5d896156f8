//! The user side of the vendor's PCIe core, seen from the core: each bundle is the other side of
//! one of [`crate::pcie`].
//!
//! Source: PG213, port descriptions, 512 bit.

use crate::pcie::{
    CompletionPort, Configuration, ConfigurationSpace, HostReplyPort, HostRequestPort, RequestPort,
    SequencePort,
};
use stream::prelude::*;

/// Serial lanes of the slot.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct Lanes {
    /// Transmit, negative.
    pub txn: Signal<Out, Bits<16>>,
    /// Transmit, positive.
    pub txp: Signal<Out, Bits<16>>,
    /// Receive, negative.
    pub rxn: Signal<In, Bits<16>>,
    /// Receive, positive.
    pub rxp: Signal<In, Bits<16>>,
}

/// RQ at the core: the other side of [`RequestPort`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "RequestPort"]
pub struct RequestSide {
    /// Request beat: descriptors and payload.
    pub tdata: Signal<In, Bits<512>>,
    /// Valid dwords.
    pub tkeep: Signal<In, Bits<16>>,
    /// Side band: starts, ends, byte enables, sequence numbers.
    pub tuser: Signal<In, Bits<137>>,
    /// A beat is offered.
    pub tvalid: Signal<In, Bit>,
    /// Ignored: straddle is on.
    pub tlast: Signal<In, Bit>,
    /// The core takes the beat; four copies of one signal.
    pub tready: Signal<Out, Bits<4>>,
}

/// RC at the core: the other side of [`CompletionPort`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "CompletionPort"]
pub struct CompletionSide {
    /// Completion beat: descriptors and payload.
    pub tdata: Signal<Out, Bits<512>>,
    /// Valid dwords.
    pub tkeep: Signal<Out, Bits<16>>,
    /// Side band: starts, ends, discontinue.
    pub tuser: Signal<Out, Bits<161>>,
    /// A beat is offered.
    pub tvalid: Signal<Out, Bit>,
    /// Without meaning: straddle is on.
    pub tlast: Signal<Out, Bit>,
    /// The card takes the beat.
    pub tready: Signal<In, Bit>,
}

/// CQ at the core: the other side of [`HostRequestPort`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "HostRequestPort"]
pub struct HostRequestSide {
    /// Request beat: descriptor and payload.
    pub tdata: Signal<Out, Bits<512>>,
    /// Valid dwords.
    pub tkeep: Signal<Out, Bits<16>>,
    /// Side band: byte enables, start, discontinue.
    pub tuser: Signal<Out, Bits<183>>,
    /// A beat is offered.
    pub tvalid: Signal<Out, Bit>,
    /// Last beat of a request.
    pub tlast: Signal<Out, Bit>,
    /// The card takes the beat.
    pub tready: Signal<In, Bit>,
}

/// CC at the core: the other side of [`HostReplyPort`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "HostReplyPort"]
pub struct HostReplySide {
    /// Completion beat: descriptor and payload.
    pub tdata: Signal<In, Bits<512>>,
    /// Valid dwords.
    pub tkeep: Signal<In, Bits<16>>,
    /// Side band.
    pub tuser: Signal<In, Bits<81>>,
    /// A beat is offered.
    pub tvalid: Signal<In, Bit>,
    /// Last beat of a completion.
    pub tlast: Signal<In, Bit>,
    /// The core takes the beat; four copies of one signal.
    pub tready: Signal<Out, Bits<4>>,
}

/// Sequence numbers at the core: the other side of [`SequencePort`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "SequencePort"]
pub struct SequenceSide {
    /// First sequence number of the cycle.
    pub num0: Signal<Out, Bits<6>>,
    /// The first sequence number is valid.
    pub num_vld0: Signal<Out, Bit>,
    /// Second sequence number of the cycle.
    pub num1: Signal<Out, Bits<6>>,
    /// The second sequence number is valid.
    pub num_vld1: Signal<Out, Bit>,
}

/// Settings and credits at the core: the other side of [`Configuration`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "Configuration"]
pub struct ConfigurationSide {
    /// Maximum payload size: 128 bytes shifted left by this.
    pub max_payload: Signal<Out, Bits<2>>,
    /// Maximum read request size: 128 bytes shifted left by this.
    pub max_read_req: Signal<Out, Bits<3>>,
    /// Read completion boundary of each function: 0 is 64 bytes, 1 is 128.
    pub rcb_status: Signal<Out, Bits<4>>,
    /// Four bits for each function: I/O, memory, bus master, interrupt disable.
    pub function_status: Signal<Out, Bits<16>>,
    /// Function level reset of each function is in progress.
    pub flr_in_process: Signal<Out, Bits<4>>,
    /// The card has finished the function level reset of each function.
    pub flr_done: Signal<In, Bits<4>>,
    /// MSI-X enable of each function.
    pub interrupt_msix_enable: Signal<Out, Bits<4>>,
    /// MSI-X mask of each function.
    pub interrupt_msix_mask: Signal<Out, Bits<4>>,
    /// Kind of credits to report.
    pub fc_sel: Signal<In, Bits<3>>,
    /// Posted header credits.
    pub fc_ph: Signal<Out, Bits<8>>,
    /// Posted data credits, 16 bytes each.
    pub fc_pd: Signal<Out, Bits<12>>,
    /// Power state of each function, three bits each.
    pub function_power_state: Signal<Out, Bits<12>>,
    /// The host resets the link.
    pub hot_reset_out: Signal<Out, Bit>,
    /// State of link training.
    pub ltssm_state: Signal<Out, Bits<6>>,
    /// An error inside the core.
    pub local_error_out: Signal<Out, Bits<5>>,
    /// `local_error_out` is valid.
    pub local_error_valid: Signal<Out, Bit>,
}

/// Access to the configuration space at the core: the other side of [`ConfigurationSpace`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ConfigurationSpace"]
pub struct ConfigurationSpaceSide {
    /// Dword address of the access.
    pub addr: Signal<In, Bits<10>>,
    /// Number of the function.
    pub function_number: Signal<In, Bits<8>>,
    /// Read request; it is held until the access is done.
    pub read: Signal<In, Bit>,
    /// Data of a read; valid with `read_write_done`.
    pub read_data: Signal<Out, Bits<32>>,
    /// The access is done.
    pub read_write_done: Signal<Out, Bit>,
    /// Write request.
    pub write: Signal<In, Bit>,
    /// Data to write.
    pub write_data: Signal<In, Bits<32>>,
    /// Bytes to write.
    pub byte_enable: Signal<In, Bits<4>>,
    /// Allows writes to read-only fields.
    pub debug_access: Signal<In, Bit>,
}
