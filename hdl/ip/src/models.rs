//! Models of the vendor's blocks for simulators and linters, in Verilog.
//!
//! ```text
//!   models/vendor.v ──► text(core) ──► beside an emitted top
//! ```
//! They have the ports that the black boxes of this crate have, and no more behaviour than it takes
//! to run a top. Synthesis never reads them.

/// The name of the PCIe core's module in the text.
const PCIE_CORE: &str = "PCIE_CORE_0";

/// The models, the PCIe core called as `core` says.
pub fn text(core: &str) -> String {
    include_str!("../models/vendor.v").replace(PCIE_CORE, &format!("{core}_0"))
}
