//! A register for a beat that clears the bytes which are not kept.
//!
//! ```text
//!  data ──────────────► D ┌────────┐
//!  step ──────────────► CE│64 bytes├──► result
//!  step, not keep(i) ─► R └────────┘
//! ```
//! The mask of a byte is the synchronous reset of its eight flip-flops: masking takes no look-up
//! table for each bit.
//!
//! Timing: `result` follows a `step` by one cycle.
//!
//! Invariants:
//! 1. Byte i is that of the last step's `data` if bit i of its `keep` was set, else zero.

use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;

/// Sixteen bytes of the register. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct MaskedBlock {
    /// Clock of the register.
    pub clock: Signal<In, Clock>,
    /// The register takes a value.
    pub step: Signal<In, Bit>,
    /// The value to take.
    pub data: Signal<In, Bits<128>>,
    /// Bytes that are kept, one bit each.
    pub keep: Signal<In, Bits<16>>,
    /// The bytes kept; the others are zero.
    pub result: Signal<Out, Bits<128>>,

    bytes: [DFF<Bits<8>>; 16],

    low: Signal<Local, Bits<128>>,
    high: Signal<Local, Bits<128>>,
    #[value(|byte| 8 * byte as u64)]
    offsets: [Constant<Bits<7>>; 16],
}

impl Logic for MaskedBlock {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..16 {
            self.bytes[i].clock.next = self.clock.val();
            self.bytes[i].d.next = self.bytes[i].q.val();
            if self.step.val() {
                self.bytes[i].d.next = 0.into();
                if self.keep.val().get_bit(i) {
                    self.bytes[i].d.next =
                        self.data.val().get_bits::<8>(self.offsets[i].val().index());
                }
            }
        }
        self.low.next = bit_cast::<128, 8>(self.bytes[0].q.val())
            | (bit_cast::<128, 8>(self.bytes[1].q.val()) << 8)
            | (bit_cast::<128, 8>(self.bytes[2].q.val()) << 16)
            | (bit_cast::<128, 8>(self.bytes[3].q.val()) << 24)
            | (bit_cast::<128, 8>(self.bytes[4].q.val()) << 32)
            | (bit_cast::<128, 8>(self.bytes[5].q.val()) << 40)
            | (bit_cast::<128, 8>(self.bytes[6].q.val()) << 48)
            | (bit_cast::<128, 8>(self.bytes[7].q.val()) << 56);
        self.high.next = (bit_cast::<128, 8>(self.bytes[8].q.val()) << 64)
            | (bit_cast::<128, 8>(self.bytes[9].q.val()) << 72)
            | (bit_cast::<128, 8>(self.bytes[10].q.val()) << 80)
            | (bit_cast::<128, 8>(self.bytes[11].q.val()) << 88)
            | (bit_cast::<128, 8>(self.bytes[12].q.val()) << 96)
            | (bit_cast::<128, 8>(self.bytes[13].q.val()) << 104)
            | (bit_cast::<128, 8>(self.bytes[14].q.val()) << 112)
            | (bit_cast::<128, 8>(self.bytes[15].q.val()) << 120);
        self.result.next = self.low.val() | self.high.val();
    }
}

/// The register. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct MaskedBeat {
    /// Clock of the register.
    pub clock: Signal<In, Clock>,
    /// The register takes a beat.
    pub step: Signal<In, Bit>,
    /// The beat to take.
    pub data: Signal<In, Bits<512>>,
    /// Bytes that are kept, one bit each.
    pub keep: Signal<In, Bits<64>>,
    /// The bytes kept; the others are zero.
    pub result: Signal<Out, Bits<512>>,

    blocks: [MaskedBlock; 4],

    #[value(|block| 128 * block as u64)]
    data_offsets: [Constant<Bits<9>>; 4],
    #[value(|block| 16 * block as u64)]
    keep_offsets: [Constant<Bits<6>>; 4],
}

impl Logic for MaskedBeat {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..4 {
            self.blocks[i].clock.next = self.clock.val();
            self.blocks[i].step.next = self.step.val();
            self.blocks[i].data.next =
                self.data.val().get_bits::<128>(self.data_offsets[i].val().index());
            self.blocks[i].keep.next =
                self.keep.val().get_bits::<16>(self.keep_offsets[i].val().index());
        }
        self.result.next = bit_cast::<512, 128>(self.blocks[0].result.val())
            | (bit_cast::<512, 128>(self.blocks[1].result.val()) << 128)
            | (bit_cast::<512, 128>(self.blocks[2].result.val()) << 256)
            | (bit_cast::<512, 128>(self.blocks[3].result.val()) << 384);
    }
}
