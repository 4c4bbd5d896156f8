//! Rotates bytes: byte i of the result is byte (i + bytes) of the data, modulo its length.
//!
//! ```text
//!                ┌──────────────── Rotate ─────────────────┐
//!   data, 512 ──►│ 0 to 3 x 16 ──► 0 to 3 x 4 ──► 0 to 3   │──► result
//!                └─ RotateDwords ───────────┘──────────────┘
//!   data, 128 ──► 0 to 3 x 4 ──► 0 to 3 ──► result                           RotateBlock
//! ```
//! A stage chooses one of four for each bit, which takes one look-up table of six inputs. Each is a
//! block of its own, so that tools that keep the hierarchy map it as such.
//!
//! Timing: combinational, one level of LUTs for each stage.

use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};

/// One stage: rotates the data by 0 to 3 times a fixed number of bytes, the argument of `new`.
#[derive(LogicBlock, BlockDefault)]
#[new(bytes: usize)]
pub struct RotateStage<const BITS: usize> {
    /// Data to rotate.
    pub data: Signal<In, Bits<BITS>>,
    /// How many times the fixed number of bytes to rotate by.
    pub times: Signal<In, Bits<2>>,
    /// The rotated data.
    pub result: Signal<Out, Bits<BITS>>,

    #[value(8 * bytes as u64)]
    once: Constant<Bits<9>>,
    #[value(8 * bytes as u64 * 2)]
    twice: Constant<Bits<9>>,
    #[value(8 * bytes as u64 * 3)]
    thrice: Constant<Bits<9>>,
    #[value(BITS as u64 - 8 * bytes as u64)]
    once_round: Constant<Bits<9>>,
    #[value(BITS as u64 - 8 * (bytes * 2) as u64)]
    twice_round: Constant<Bits<9>>,
    #[value(BITS as u64 - 8 * (bytes * 3) as u64)]
    thrice_round: Constant<Bits<9>>,
}

impl<const BITS: usize> Logic for RotateStage<BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.result.next = self.data.val();
        if self.times.val() == 1 {
            self.result.next =
                (self.data.val() >> self.once.val()) | (self.data.val() << self.once_round.val());
        }
        if self.times.val() == 2 {
            self.result.next =
                (self.data.val() >> self.twice.val()) | (self.data.val() << self.twice_round.val());
        }
        if self.times.val() == 3 {
            self.result.next = (self.data.val() >> self.thrice.val())
                | (self.data.val() << self.thrice_round.val());
        }
    }
}

/// Rotates a beat by dwords. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RotateDwords {
    /// Beat to rotate.
    pub data: Signal<In, Bits<512>>,
    /// Dwords to rotate by.
    pub dwords: Signal<In, Bits<4>>,
    /// The rotated beat.
    pub result: Signal<Out, Bits<512>>,

    #[value(RotateStage::new(16))]
    by_16: RotateStage<512>,
    #[value(RotateStage::new(4))]
    by_4: RotateStage<512>,
}

impl Logic for RotateDwords {
    #[hdl_gen]
    fn update(&mut self) {
        self.by_16.data.next = self.data.val();
        self.by_16.times.next = self.dwords.val().get_bits::<2>(2);
        self.by_4.data.next = self.by_16.result.val();
        self.by_4.times.next = self.dwords.val().get_bits::<2>(0);
        self.result.next = self.by_4.result.val();
    }
}

/// Rotates a beat by bytes. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Rotate {
    /// Beat to rotate.
    pub data: Signal<In, Bits<512>>,
    /// Bytes to rotate by.
    pub bytes: Signal<In, Bits<6>>,
    /// The rotated beat.
    pub result: Signal<Out, Bits<512>>,

    by_dwords: RotateDwords,
    #[value(RotateStage::new(1))]
    by_1: RotateStage<512>,
}

impl Logic for Rotate {
    #[hdl_gen]
    fn update(&mut self) {
        self.by_dwords.data.next = self.data.val();
        self.by_dwords.dwords.next = self.bytes.val().get_bits::<4>(2);
        self.by_1.data.next = self.by_dwords.result.val();
        self.by_1.times.next = self.bytes.val().get_bits::<2>(0);
        self.result.next = self.by_1.result.val();
    }
}

/// Rotates 16 bytes by bytes. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RotateBlock {
    /// Block of 16 bytes to rotate.
    pub data: Signal<In, Bits<128>>,
    /// Bytes to rotate by.
    pub bytes: Signal<In, Bits<4>>,
    /// The rotated block.
    pub result: Signal<Out, Bits<128>>,

    #[value(RotateStage::new(4))]
    by_4: RotateStage<128>,
    #[value(RotateStage::new(1))]
    by_1: RotateStage<128>,
}

impl Logic for RotateBlock {
    #[hdl_gen]
    fn update(&mut self) {
        self.by_4.data.next = self.data.val();
        self.by_4.times.next = self.bytes.val().get_bits::<2>(2);
        self.by_1.data.next = self.by_4.result.val();
        self.by_1.times.next = self.bytes.val().get_bits::<2>(0);
        self.result.next = self.by_1.result.val();
    }
}
