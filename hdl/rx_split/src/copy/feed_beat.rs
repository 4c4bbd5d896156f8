//! The beat of a job that is read next. For a payload: the beat with the next one. For a slot:
//! first the packet's first beat alone, after the metadata, then as for a payload.
//!
//! Timing: combinational.

use crate::align::AlignBeat;
use crate::messages::{CopyJob, CopyKind};
use abi::config::BEAT_BYTES;
use stream::prelude::*;

/// How far a job is read.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FeedPlace {
    /// Beat to read.
    pub pointer: Bits<16>,
    /// Bytes left to write.
    pub left: Bits<14>,
    /// One beat holds what is left to write.
    pub is_last: Bit,
}

/// Whether one beat holds so many bytes: from single bits, because a carry chain takes longer.
#[derive(LogicBlock, Default)]
pub struct FitsBeat {
    /// Number of bytes.
    pub bytes: Signal<In, Bits<14>>,
    /// One beat holds `bytes`.
    pub fits: Signal<Out, Bit>,
}

impl Logic for FitsBeat {
    #[hdl_gen]
    fn update(&mut self) {
        self.fits.next = !(self.bytes.val().get_bits::<6>(8).any()
            | self.bytes.val().get_bit(7)
            | (self.bytes.val().get_bit(6) & self.bytes.val().get_bits::<6>(0).any()));
    }
}

/// The beat. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FeedBeat {
    /// Job at hand.
    pub job: Signal<In, CopyJob>,
    /// The job has begun: `place` is valid.
    pub begun: Signal<In, Bit>,
    /// How far the job is read after the beat before.
    pub place: Signal<In, FeedPlace>,
    /// Beat to read, without its data.
    pub beat: Signal<Out, AlignBeat>,
    /// Where the beat lies in the packet buffer.
    pub pointer: Signal<Out, Bits<16>>,
    /// The beat is the last of the job, and of the packet unless it is shared.
    pub last: Signal<Out, Bit>,
    /// How far the job is read after this beat.
    pub next_place: Signal<Out, FeedPlace>,

    now: Signal<Local, FeedPlace>,
    is_head: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    is_shared: Signal<Local, Bit>,
    left: Signal<Local, Bits<14>>,
    #[value(AlignBeat::default())]
    none: Constant<AlignBeat>,
    #[value(BEAT_BYTES as u64)]
    beat_bytes: Constant<Bits<14>>,
}

impl Logic for FeedBeat {
    #[hdl_gen]
    fn update(&mut self) {
        self.now.next = self.place.val();
        if !self.begun.val() {
            self.now.next.pointer = self.job.val().start;
            self.now.next.left = self.job.val().bytes;
        }
        self.pointer.next = self.now.val().pointer;
        self.is_head.next = !self.begun.val() & self.job.val().head;
        self.left.next = self.now.val().left;
        self.is_last.next = (self.job.val().kind != CopyKind::Write)
            | (self.begun.val() & self.place.val().is_last)
            | (!self.begun.val() & self.job.val().fits_beat);
        self.last.next = self.is_last.val();

        self.beat.next = self.none.val();
        self.beat.next.head = self.is_head.val();
        self.beat.next.metadata = self.job.val().metadata;
        self.beat.next.shift = self.job.val().shift;
        // A packet continues after a beat that is shared.
        self.is_shared.next = self.is_last.val() & self.job.val().shares;
        self.beat.next.shared = self.is_shared.val();
        self.beat.next.byte_count = bits::<7>(64);
        if (self.now.val().left < self.beat_bytes.val()) & !self.is_shared.val() {
            self.beat.next.byte_count = bit_cast::<7, 14>(self.now.val().left);
        }
        self.beat.next.last = self.is_last.val() & !self.is_shared.val();
        self.beat.next.publish = self.job.val().publish;
        self.beat.next.owner = self.job.val().owner;
        self.beat.next.index = self.job.val().index;
        self.beat.next.held = self.job.val().held;
        self.beat.next.held_at = self.job.val().held_at;
        self.beat.next.memories = self.job.val().memories;
        self.beat.next.keeps = self.job.val().head & self.job.val().keeps;
        self.beat.next.kept = self.job.val().head & self.job.val().kept;
        self.beat.next.place = self.job.val().place;

        self.next_place.next = self.now.val();
        self.next_place.next.is_last = !(self.left.val().get_bits::<6>(8).any()
            | (self.left.val().get_bit(7) & self.left.val().get_bits::<7>(0).any()));
        if !self.is_head.val() {
            self.next_place.next.pointer = self.now.val().pointer + 1;
        }
        self.next_place.next.left = self.now.val().left - self.beat_bytes.val();
    }
}
