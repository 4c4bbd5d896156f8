//! Sums a frame's beats and makes its checksums.
//!
//! ```text
//!  beats ──► words ──► two sums ──► fold ──► patch
//!    └─ end of frame ──► queue ──────┘
//! ```
//! Timing: one beat per cycle; the patch comes seven cycles after the last beat. Both outputs
//! are functions of registers.
//!
//! Invariants:
//! 1. One patch for each frame that is not aborted, in order.

use crate::checksum::checksum_fold::{ChecksumFold, FrameEnd};
use crate::checksum::checksum_sum::ChecksumSum;
use crate::checksum::checksum_words::ChecksumWords;
use crate::messages::{ChecksumPatch, HeaderLayout};
use stream::prelude::*;

/// The unit. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ChecksumUnit {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the frames under way; the next beat is a frame's first.
    pub reset: Signal<In, Bit>,
    /// A beat is there.
    pub valid: Signal<In, Bit>,
    /// Beat of a frame; its bytes beyond the count are zero.
    pub beat: Signal<In, PacketBeat>,
    /// Layers and insertions of the frame that the beat is part of.
    pub layout: Signal<In, HeaderLayout>,
    /// The next beat is its frame's first.
    pub is_first: Signal<Out, Bit>,
    /// The checksums of a frame.
    pub patch: PulseSource<ChecksumPatch>,

    words: ChecksumWords,
    ip_sum: ChecksumSum,
    l4_sum: ChecksumSum,
    ends: Fifo<FrameEnd, 3, 4>,
    fold: ChecksumFold,
    beat_number: DFF<Bits<3>>,
    bytes_sent: DFF<Bits<16>>,
}

impl Logic for ChecksumUnit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat_number, bytes_sent);
        clock!(self, clock, ip_sum, l4_sum, ends, fold);
        self.ip_sum.reset.next = self.reset.val();
        self.l4_sum.reset.next = self.reset.val();
        self.ends.reset.next = self.reset.val();
        self.fold.reset.next = self.reset.val();

        self.is_first.next = !self.beat_number.q.val().any();
        if self.valid.val() {
            self.bytes_sent.d.next = self.bytes_sent.q.val() + 64;
            if self.beat_number.q.val() < 4 {
                self.beat_number.d.next = self.beat_number.q.val() + 1;
            }
        }
        if self.reset.val() | (self.valid.val() & self.beat.val().last) {
            self.bytes_sent.d.next = 0.into();
            self.beat_number.d.next = 0.into();
        }

        self.words.beat.next = self.beat_number.q.val();
        self.words.layout.next = self.layout.val();
        self.ip_sum.valid.next = self.valid.val();
        self.ip_sum.data.next = self.beat.val().data;
        self.ip_sum.keep.next = self.words.ip_keep.val();
        self.ip_sum.last.next = self.beat.val().last;
        self.l4_sum.valid.next = self.valid.val();
        self.l4_sum.data.next = self.beat.val().data;
        self.l4_sum.keep.next = self.words.l4_keep.val();
        self.l4_sum.last.next = self.beat.val().last;

        self.ends.sink.valid.next = self.valid.val() & self.beat.val().last;
        self.ends.sink.payload.next.layout = self.layout.val();
        self.ends.sink.payload.next.frame_bytes =
            self.bytes_sent.q.val() + bit_cast::<16, 7>(self.beat.val().byte_count);
        self.ends.sink.payload.next.abort = self.beat.val().abort;
        self.ends.source.ready.next = self.ip_sum.sum_valid.val();
        self.fold.valid.next = self.ip_sum.sum_valid.val();
        self.fold.ip_sum.next = self.ip_sum.sum.val();
        self.fold.l4_sum.next = self.l4_sum.sum.val();
        self.fold.frame_end.next = self.ends.source.payload.val();
        self.patch.valid.next = self.fold.patch_valid.val();
        self.patch.payload.next = self.fold.patch.val();
    }
}
