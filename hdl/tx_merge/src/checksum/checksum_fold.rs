//! Makes the checksums of a frame out of its sums.
//!
//! ```text
//!  sums, frame_end ──► fold to 16 bits ──► register ──► pseudo header ──► register ──┐
//!  patch ◄── register ◄───────────────────────────────────────── fold, invert ◄──────┘
//! ```
//! Timing: three cycles, one frame per cycle. All outputs are registers.
//!
//! Invariants:
//! 1. The sums are of words that start at even offsets; the bytes of the folded sum are exchanged
//!    for a layer that starts at an odd one.
//! 2. A UDP checksum of 0 becomes 0xffff.
//!
//! On error: an aborted frame gets no patch.
//!
//! Source: RFC 1071; RFC 9293, RFC 768 and RFC 8200 (pseudo headers).

use crate::messages::{ChecksumPatch, HeaderLayout};
use stream::prelude::*;

/// What is known of a frame at its end.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameEnd {
    /// Layers and insertions.
    pub layout: HeaderLayout,
    /// Bytes of the frame, without padding.
    pub frame_bytes: Bits<16>,
    /// The frame is aborted: it is dropped.
    pub abort: Bit,
}

/// Folds a sum of 16-bit words to 16 bits: what is carried out of them is added again.
/// Combinational.
#[derive(LogicBlock, Default)]
pub struct SumFold {
    /// Sum of 16-bit words.
    pub sum: Signal<In, Bits<32>>,
    /// The same sum modulo 2^16 - 1.
    pub folded: Signal<Out, Bits<16>>,

    once: Signal<Local, Bits<17>>,
}

impl Logic for SumFold {
    #[hdl_gen]
    fn update(&mut self) {
        self.once.next = bit_cast::<17, 16>(self.sum.val().get_bits::<16>(0))
            + bit_cast::<17, 16>(self.sum.val().get_bits::<16>(16));
        self.folded.next = self.once.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.once.val().get_bits::<1>(16));
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ChecksumFold {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the frames under way.
    pub reset: Signal<In, Bit>,
    /// The sums of a frame are there.
    pub valid: Signal<In, Bit>,
    /// Sum of the IPv4 header.
    pub ip_sum: Signal<In, Bits<32>>,
    /// Sum of the addresses and of everything from the L4 header on.
    pub l4_sum: Signal<In, Bits<32>>,
    /// Layers, length and abort of the frame whose sums are there.
    pub frame_end: Signal<In, FrameEnd>,
    /// The patch of a frame is there, for one cycle; it must be taken.
    pub patch_valid: Signal<Out, Bit>,
    /// Offsets and values of the checksums to insert.
    pub patch: Signal<Out, ChecksumPatch>,

    ip_fold: SumFold,
    l4_fold: SumFold,
    stage_valid: DFF<Bit>,
    stage: DFF<FrameEnd>,
    ip_stage: DFF<Bits<16>>,
    l4_stage: DFF<Bits<16>>,
    l4_length: DFF<Bits<16>>,
    sum_valid: DFF<Bit>,
    sum_end: DFF<FrameEnd>,
    ip_sum_even: DFF<Bits<16>>,
    l4_pseudo: DFF<Bits<18>>,
    result_valid: DFF<Bit>,
    result: DFF<ChecksumPatch>,

    layout_in: Signal<Local, HeaderLayout>,
    stage_layout: Signal<Local, HeaderLayout>,
    layout: Signal<Local, HeaderLayout>,
    l4_even: Signal<Local, Bits<16>>,
    l4_fold_1: Signal<Local, Bits<17>>,
    l4_fold_2: Signal<Local, Bits<16>>,
    protocol: Signal<Local, Bits<18>>,
}

impl Logic for ChecksumFold {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stage_valid, stage, ip_stage, l4_stage, l4_length);
        dff_setup!(self, clock, sum_valid, sum_end, ip_sum_even, l4_pseudo);
        dff_setup!(self, clock, result_valid, result);
        // Fold both sums to 16 bits.
        self.ip_fold.sum.next = self.ip_sum.val();
        self.l4_fold.sum.next = self.l4_sum.val();
        self.ip_stage.d.next = self.ip_fold.folded.val();
        self.l4_stage.d.next = self.l4_fold.folded.val();
        self.layout_in.next = self.frame_end.val().layout;
        self.l4_length.d.next =
            self.frame_end.val().frame_bytes - bit_cast::<16, 8>(self.layout_in.val().l4_offset);
        self.stage.d.next = self.frame_end.val();
        self.stage_valid.d.next = self.valid.val() & !self.reset.val();

        // Put them in the layer's byte order, add what the pseudo header adds.
        self.stage_layout.next = self.stage.q.val().layout;
        self.ip_sum_even.d.next = self.ip_stage.q.val();
        if self.stage_layout.val().l3_offset.get_bit(0) {
            self.ip_sum_even.d.next = (self.ip_stage.q.val() << 8) | (self.ip_stage.q.val() >> 8);
        }
        self.l4_even.next = self.l4_stage.q.val();
        if self.stage_layout.val().l4_offset.get_bit(0) {
            self.l4_even.next = (self.l4_stage.q.val() << 8) | (self.l4_stage.q.val() >> 8);
        }
        self.protocol.next = 0x0600.into();
        if self.stage_layout.val().udp {
            self.protocol.next = 0x1100.into();
        }
        self.l4_pseudo.d.next = bit_cast::<18, 16>(self.l4_even.val())
            + self.protocol.val()
            + bit_cast::<18, 8>(self.l4_length.q.val().get_bits::<8>(8))
            + (bit_cast::<18, 8>(self.l4_length.q.val().get_bits::<8>(0)) << 8);
        self.sum_end.d.next = self.stage.q.val();
        self.sum_valid.d.next = self.stage_valid.q.val() & !self.reset.val();

        // Fold again, invert. All ones come only from a first fold that did not carry.
        self.layout.next = self.sum_end.q.val().layout;
        self.l4_fold_1.next = bit_cast::<17, 16>(self.l4_pseudo.q.val().get_bits::<16>(0))
            + bit_cast::<17, 2>(self.l4_pseudo.q.val().get_bits::<2>(16));
        self.l4_fold_2.next = self.l4_fold_1.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.l4_fold_1.val().get_bits::<1>(16));
        self.result.d.next.ip_enable = self.layout.val().ip_checksum;
        self.result.d.next.ip_offset = self.layout.val().l3_offset + 10;
        self.result.d.next.ip_value = !self.ip_sum_even.q.val();
        self.result.d.next.l4_enable = self.layout.val().l4_checksum;
        self.result.d.next.l4_offset = self.layout.val().l4_offset + 16;
        self.result.d.next.l4_value = !self.l4_fold_2.val();
        if self.layout.val().udp {
            self.result.d.next.l4_offset = self.layout.val().l4_offset + 6;
            if self.l4_fold_1.val() == 0xffff {
                self.result.d.next.l4_value = 0xffff.into();
            }
        }
        self.result_valid.d.next =
            self.sum_valid.q.val() & !self.sum_end.q.val().abort & !self.reset.val();
        self.patch_valid.next = self.result_valid.q.val();
        self.patch.next = self.result.q.val();
    }
}
