//! Picks the bytes of a beat that count for each of a frame's two sums.
//!
//! ```text
//!  beat number, layout ──► 4 masks ─┬─► ip_keep: the IP header
//!                                   └─► l4_keep: the addresses, and all from the L4 header on
//! ```
//! Timing: combinational.

use crate::checksum::checksum_mask::ChecksumMask;
use crate::messages::HeaderLayout;
use stream::prelude::*;

/// The choice. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ChecksumWords {
    /// Number of the beat in its frame; 4 stands for all after the fourth beat.
    pub beat: Signal<In, Bits<3>>,
    /// Where the layers of the frame lie.
    pub layout: Signal<In, HeaderLayout>,
    /// Bytes of the IP header in the beat, one bit each.
    pub ip_keep: Signal<Out, Bits<64>>,
    /// Bytes of the IP addresses, and all from the L4 header on, in the beat, one bit each.
    pub l4_keep: Signal<Out, Bits<64>>,

    from_l3: ChecksumMask,
    from_l4: ChecksumMask,
    from_addresses: ChecksumMask,
    from_addresses_end: ChecksumMask,

    addresses_at: Signal<Local, Bits<8>>,
    addresses_end_at: Signal<Local, Bits<8>>,
}

impl Logic for ChecksumWords {
    #[hdl_gen]
    fn update(&mut self) {
        self.from_l3.beat.next = self.beat.val();
        self.from_l4.beat.next = self.beat.val();
        self.from_addresses.beat.next = self.beat.val();
        self.from_addresses_end.beat.next = self.beat.val();
        self.from_l3.offset.next = self.layout.val().l3_offset;
        self.from_l4.offset.next = self.layout.val().l4_offset;
        self.addresses_at.next = bits::<8>(12);
        self.addresses_end_at.next = bits::<8>(20);
        if self.layout.val().ipv6 {
            self.addresses_at.next = bits::<8>(8);
            self.addresses_end_at.next = bits::<8>(40);
        }
        self.from_addresses.offset.next = self.layout.val().l3_offset + self.addresses_at.val();
        self.from_addresses_end.offset.next =
            self.layout.val().l3_offset + self.addresses_end_at.val();
        self.ip_keep.next = self.from_l3.mask.val() & !self.from_l4.mask.val();
        self.l4_keep.next = (self.from_addresses.mask.val() & !self.from_addresses_end.mask.val())
            | self.from_l4.mask.val();
    }
}
