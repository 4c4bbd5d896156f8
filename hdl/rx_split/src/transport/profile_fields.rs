//! The fields of a profile header, cut to their length.
//!
//! ```text
//!  11 and 15 bytes ──► >> bytes (offset mod 8) ──► byte swap, mask ──► position, message key
//! ```
//! Timing: latency one cycle; outputs hold until the next packet.
//!
//! Invariants:
//! 1. A position of n bytes is the big-endian number that they form; n is 1 to 4.
//! 2. A message key of n bytes keeps wire order; the bytes beyond are zero; n is 0 to 8.
//!
//! Source: `abi::profile`.

use crate::messages::Word32;
use crate::transport::messages::LayoutDraft;
use stream::prelude::*;

/// The fields. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ProfileFields {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// There is a packet.
    pub valid: Signal<In, Bit>,
    /// Packet with its lengths.
    pub draft: Signal<In, LayoutDraft>,
    /// Stream position in the profile header, one cycle after `valid`.
    pub position: Signal<Out, Bits<32>>,
    /// Message key in the profile header, one cycle after `valid`.
    pub message_key: Signal<Out, Bits<64>>,

    position_held: DFF<Bits<32>>,
    message_key_held: DFF<Bits<64>>,
    layout: Signal<Local, Bits<32>>,
    position_shift: Signal<Local, Bits<7>>,
    position_fine: Signal<Local, Bits<88>>,
    position_word: Signal<Local, Word32>,
    position_wide: Signal<Local, Bits<32>>,
    position_unused: Signal<Local, Bits<6>>,
    key_shift: Signal<Local, Bits<7>>,
    key_fine: Signal<Local, Bits<120>>,
    key_bits: Signal<Local, Bits<7>>,
    key_mask: Signal<Local, Bits<64>>,
    #[value(u64::MAX)]
    ones: Constant<Bits<64>>,
}

impl Logic for ProfileFields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, position_held, message_key_held);
        self.position.next = self.position_held.q.val();
        self.message_key.next = self.message_key_held.q.val();
        self.layout.next = self.draft.val().layout;
        self.position_shift.next = bit_cast::<7, 3>(self.layout.val().get_bits::<3>(8)) << 3;
        self.position_fine.next = self.draft.val().position_bytes >> self.position_shift.val();
        self.position_word.next.byte0 = self.position_fine.val().get_bits::<8>(0);
        self.position_word.next.byte1 = self.position_fine.val().get_bits::<8>(8);
        self.position_word.next.byte2 = self.position_fine.val().get_bits::<8>(16);
        self.position_word.next.byte3 = self.position_fine.val().get_bits::<8>(24);
        self.position_wide.next = self.position_word.val().into();
        self.position_unused.next =
            bits::<6>(32) - (bit_cast::<6, 3>(self.layout.val().get_bits::<3>(16)) << 3);
        self.key_shift.next = bit_cast::<7, 3>(self.layout.val().get_bits::<3>(20)) << 3;
        self.key_fine.next = self.draft.val().key_bytes >> self.key_shift.val();
        self.key_bits.next = bit_cast::<7, 4>(self.layout.val().get_bits::<4>(26)) << 3;
        self.key_mask.next = !(self.ones.val() << self.key_bits.val());
        if self.valid.val() {
            self.position_held.d.next = self.position_wide.val() >> self.position_unused.val();
            self.message_key_held.d.next =
                self.key_fine.val().get_bits::<64>(0) & self.key_mask.val();
        }
    }
}
