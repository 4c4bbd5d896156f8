//! Bad input at the whole card: frames that are none, and a host that answers wrong or not at all.
//!
//! Proven: every bad frame moves the counter of the first check that it fails, as on the golden
//! card, and never a byte of memory; a failed PCIe access is counted and told to the owner of its
//! flow, while other flows go on with exact data; and the card works on after all of it.

mod frames;
mod pcie;
