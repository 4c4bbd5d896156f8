//! The sum of the TCP or UDP pseudo header.
//!
//! Timing: latency four cycles; words are little endian as in [`crate::verify::beat_sum`].
//!
//! Source: RFC 9293, 3.1; RFC 8200, 8.1.

use crate::messages::{NetworkInfo, Word16};
use crate::verify::quarter_sum::QuarterSum;
use stream::prelude::*;

/// The sum. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PseudoSum {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// What the frame's first beat holds.
    pub network: Signal<In, NetworkInfo>,
    /// Sum of addresses, protocol and length, not folded, four cycles after `network`.
    pub sum: Signal<Out, Bits<32>>,

    quarter: [QuarterSum; 4],
    fixed_1: DFF<Bits<18>>,
    total: DFF<Bits<32>>,
    total_3: DFF<Bits<32>>,
    total_4: DFF<Bits<32>>,

    remote_address: Signal<Local, Bits<128>>,
    local_address: Signal<Local, Bits<128>>,
    l4_bytes: Signal<Local, Bits<16>>,
    swapped: Signal<Local, Word16>,
    protocol: Signal<Local, Bits<18>>,
    #[value(|word| 16 * word as u64)]
    offsets: [Constant<Bits<7>>; 8],
}

impl Logic for PseudoSum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, fixed_1, total, total_3, total_4);
        self.remote_address.next = self.network.val().remote;
        self.local_address.next = self.network.val().local;
        self.l4_bytes.next = self.network.val().l4_bytes;
        self.swapped.next.low = self.l4_bytes.val().get_bits::<8>(8);
        self.swapped.next.high = self.l4_bytes.val().get_bits::<8>(0);
        self.protocol.next = bits::<18>(0x1100);
        if self.network.val().tcp {
            self.protocol.next = bits::<18>(0x0600);
        }
        for i in 0..4 {
            self.quarter[i].clock.next = self.clock.val();
            self.quarter[i].word_0.next =
                self.remote_address.val().get_bits::<16>(self.offsets[i].val().index());
            self.quarter[i].word_1.next =
                self.remote_address.val().get_bits::<16>(self.offsets[i + 4].val().index());
            self.quarter[i].word_2.next =
                self.local_address.val().get_bits::<16>(self.offsets[i].val().index());
            self.quarter[i].word_3.next =
                self.local_address.val().get_bits::<16>(self.offsets[i + 4].val().index());
        }
        self.fixed_1.d.next = bit_cast::<18, 16>(self.swapped.val().into()) + self.protocol.val();
        self.total.d.next = bit_cast::<32, 21>(self.quarter[0].sum.val())
            + bit_cast::<32, 21>(self.quarter[1].sum.val())
            + bit_cast::<32, 21>(self.quarter[2].sum.val())
            + bit_cast::<32, 21>(self.quarter[3].sum.val())
            + bit_cast::<32, 18>(self.fixed_1.q.val());
        self.total_3.d.next = self.total.q.val();
        self.total_4.d.next = self.total_3.q.val();
        self.sum.next = self.total_4.q.val();
    }
}
