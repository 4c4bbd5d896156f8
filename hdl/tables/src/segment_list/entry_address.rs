//! Where a list's entry lies among all entries: a list is a ring of `mask` + 1 entries from `base`
//! on.
//!
//! Timing: combinational.

use stream::prelude::*;

/// The address of an entry. See the module's head.
#[derive(LogicBlock, Default)]
pub struct EntryAddress {
    /// First entry of the list among all entries.
    pub base: Signal<In, Bits<24>>,
    /// Entries of the list's place, less 1.
    pub mask: Signal<In, Bits<16>>,
    /// List index of the entry.
    pub index: Signal<In, Bits<16>>,
    /// Address of the entry among all entries.
    pub address: Signal<Out, Bits<24>>,
}

impl Logic for EntryAddress {
    #[hdl_gen]
    fn update(&mut self) {
        self.address.next =
            self.base.val() + bit_cast::<24, 16>(self.index.val() & self.mask.val());
    }
}
