//! Makes the checksums of a frame out of its sums.
//!
//! ```text
//!  sums, frame_end ──► fold to 16 bits ──► register ──► pseudo header, fold, invert ──┐
//!  patch ◄─────────────────────────────────────────────────────────── register ◄─────┘
//! ```
//! Timing: two cycles, one frame a cycle.
//!
//! Invariants:
//! 1. The sums are of words that start at even offsets; for a layer at an odd one the bytes of the
//!    folded sum are exchanged.
//! 2. A UDP checksum of 0 becomes 0xffff.

use crate::plan::{ChecksumPatch, HeaderLayout};
use stream::prelude::*;

/// What is known at the end of a frame.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameEnd {
    /// Layers and insertions.
    pub layout: HeaderLayout,
    /// Bytes of the frame, without padding.
    pub frame_bytes: Bits<16>,
    /// The frame is dropped.
    pub abort: Bit,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ChecksumFold {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,
    /// The sums of a frame are there.
    pub valid: Signal<In, Bit>,
    /// Sum of the IPv4 header.
    pub ip_sum: Signal<In, Bits<32>>,
    /// Sum of the addresses and of everything from the L4 header on.
    pub l4_sum: Signal<In, Bits<32>>,
    /// The frame.
    pub frame_end: Signal<In, FrameEnd>,
    /// The patch is there, for this cycle.
    pub patch_valid: Signal<Out, Bit>,
    /// Where to insert what.
    pub patch: Signal<Out, ChecksumPatch>,

    stage_valid: DFF<Bit>,
    stage: DFF<FrameEnd>,
    ip_stage: DFF<Bits<16>>,
    l4_stage: DFF<Bits<16>>,
    result_valid: DFF<Bit>,
    result: DFF<ChecksumPatch>,

    layout: Signal<Local, HeaderLayout>,
    ip_once: Signal<Local, Bits<17>>,
    l4_once: Signal<Local, Bits<17>>,
    l4_length: Signal<Local, Bits<16>>,
    l4_even: Signal<Local, Bits<16>>,
    ip_even: Signal<Local, Bits<16>>,
    l4_pseudo: Signal<Local, Bits<18>>,
    l4_fold_1: Signal<Local, Bits<17>>,
    l4_fold_2: Signal<Local, Bits<16>>,
    l3_offset: Signal<Local, Bits<8>>,
    l4_offset: Signal<Local, Bits<8>>,
    protocol: Signal<Local, Bits<18>>,
}

impl Logic for ChecksumFold {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            stage_valid,
            stage,
            ip_stage,
            l4_stage,
            result_valid,
            result
        );
        // Fold both sums to 16 bits.
        self.ip_once.next = bit_cast::<17, 16>(self.ip_sum.val().get_bits::<16>(0))
            + bit_cast::<17, 16>(self.ip_sum.val().get_bits::<16>(16));
        self.l4_once.next = bit_cast::<17, 16>(self.l4_sum.val().get_bits::<16>(0))
            + bit_cast::<17, 16>(self.l4_sum.val().get_bits::<16>(16));
        self.ip_stage.d.next = self.ip_once.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.ip_once.val().get_bits::<1>(16));
        self.l4_stage.d.next = self.l4_once.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.l4_once.val().get_bits::<1>(16));
        self.stage.d.next = self.frame_end.val();
        self.stage_valid.d.next = self.valid.val() & !self.reset.val();

        // Put them in the layer's byte order, add what the pseudo header adds, fold again.
        self.layout.next = self.stage.q.val().layout;
        self.l3_offset.next = self.layout.val().l3_offset;
        self.l4_offset.next = self.layout.val().l4_offset;
        self.ip_even.next = self.ip_stage.q.val();
        if self.l3_offset.val().get_bit(0) {
            self.ip_even.next = (self.ip_stage.q.val() << 8) | (self.ip_stage.q.val() >> 8);
        }
        self.l4_even.next = self.l4_stage.q.val();
        if self.l4_offset.val().get_bit(0) {
            self.l4_even.next = (self.l4_stage.q.val() << 8) | (self.l4_stage.q.val() >> 8);
        }
        self.l4_length.next =
            self.stage.q.val().frame_bytes - bit_cast::<16, 8>(self.layout.val().l4_offset);
        self.protocol.next = 0x0600.into();
        if self.layout.val().udp {
            self.protocol.next = 0x1100.into();
        }
        self.l4_pseudo.next = bit_cast::<18, 16>(self.l4_even.val())
            + self.protocol.val()
            + bit_cast::<18, 8>(self.l4_length.val().get_bits::<8>(8))
            + (bit_cast::<18, 8>(self.l4_length.val().get_bits::<8>(0)) << 8);
        self.l4_fold_1.next = bit_cast::<17, 16>(self.l4_pseudo.val().get_bits::<16>(0))
            + bit_cast::<17, 2>(self.l4_pseudo.val().get_bits::<2>(16));
        self.l4_fold_2.next = self.l4_fold_1.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.l4_fold_1.val().get_bits::<1>(16));
        self.result.d.next.ip_enable = self.layout.val().ip_checksum;
        self.result.d.next.ip_offset = self.l3_offset.val() + 10;
        self.result.d.next.ip_value = !self.ip_even.val();
        self.result.d.next.l4_enable = self.layout.val().l4_checksum;
        self.result.d.next.l4_offset = self.l4_offset.val() + 16;
        self.result.d.next.l4_value = !self.l4_fold_2.val();
        if self.layout.val().udp {
            self.result.d.next.l4_offset = self.l4_offset.val() + 6;
            if self.l4_fold_2.val().all() {
                self.result.d.next.l4_value = 0xffff.into();
            }
        }
        self.result_valid.d.next =
            self.stage_valid.q.val() & !self.stage.q.val().abort & !self.reset.val();
        self.patch_valid.next = self.result_valid.q.val();
        self.patch.next = self.result.q.val();
    }
}
