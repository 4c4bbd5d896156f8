//! Where a list's entry lies among all entries: lists are rings of `mask` + 1 entries from `base`.
//!
//! Combinational.

use stream::prelude::*;

/// The place. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SearchPlace {
    /// First entry of the list.
    pub base: Signal<In, Bits<24>>,
    /// Entries of the list - 1.
    pub mask: Signal<In, Bits<16>>,
    /// List index.
    pub index: Signal<In, Bits<16>>,
    /// The entry's place.
    pub place: Signal<Out, Bits<24>>,
}

impl Logic for SearchPlace {
    #[hdl_gen]
    fn update(&mut self) {
        self.place.next = self.base.val() + bit_cast::<24, 16>(self.index.val() & self.mask.val());
    }
}
