//! Joins rotated items into beats: the last stage of [`crate::merge::align`].
//!
//! ```text
//!  item (first byte at `fill`) ──► bytes kept | item ──► mask ──► register ──► frames
//!                                       ▲          │ rest
//!                                       └──────────┘
//! ```
//! Timing: one item per cycle; one cycle more for the rest of a frame's last item. `step` follows
//! `frames.ready` in the same cycle.
//!
//! Invariants:
//! 1. Bytes of a beat beyond its `byte_count` are zero.

use crate::messages::SendItem;
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct AlignJoin {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the beat under construction and the one that is offered.
    pub reset: Signal<In, Bit>,

    /// An item is offered.
    pub valid: Signal<In, Bit>,
    /// The item; its first byte is at byte `fill`.
    pub item: Signal<In, SendItem>,
    /// Bytes of the frame in the beat under construction.
    pub fill: Signal<In, Bits<6>>,
    /// An item would be taken, and all stages before may step.
    pub step: Signal<Out, Bit>,
    /// Frames in full beats.
    pub frames: PacketSource,

    kept: DFF<Bits<512>>,
    spill: DFF<Bit>,
    spill_bytes: DFF<Bits<7>>,
    spill_abort: DFF<Bit>,
    data: MaskedBeat,
    byte_count: DFF<Bits<7>>,
    last: DFF<Bit>,
    abort: DFF<Bit>,
    beat_valid: DFF<Bit>,

    free: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    total: Signal<Local, Bits<7>>,
    upper: Signal<Local, Bits<512>>,
    joined: Signal<Local, Bits<512>>,
    next_data: Signal<Local, Bits<512>>,
    next_last: Signal<Local, Bit>,
    next_abort: Signal<Local, Bit>,
    count: Signal<Local, Bits<7>>,
    #[value(Bits::<512>::mask())]
    ones: Constant<Bits<512>>,
    #[value(Bits::<64>::mask())]
    byte_ones: Constant<Bits<64>>,
}

impl Logic for AlignJoin {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            kept,
            spill,
            spill_bytes,
            spill_abort,
            byte_count,
            last,
            abort,
            beat_valid
        );
        clock!(self, clock, data);
        self.frames.valid.next = self.beat_valid.q.val();
        self.frames.data.next = self.data.result.val();
        self.frames.byte_count.next = self.byte_count.q.val();
        self.frames.last.next = self.last.q.val();
        self.frames.abort.next = self.abort.q.val();
        self.free.next = !self.beat_valid.q.val() | self.frames.ready.val();
        self.step.next = self.free.val() & !self.spill.q.val();
        self.take.next = self.valid.val() & self.free.val() & !self.spill.q.val();

        self.total.next = bit_cast::<7, 6>(self.fill.val()) + self.item.val().byte_count;
        self.upper.next = self.ones.val() << (bit_cast::<9, 6>(self.fill.val()) << 3);
        self.joined.next =
            (self.kept.q.val() & !self.upper.val()) | (self.item.val().data & self.upper.val());

        // The beat that would leave now: the rest of the last item, or what the item completes.
        self.next_data.next = self.joined.val();
        self.next_last.next = self.item.val().last & (self.total.val() <= 64);
        self.next_abort.next = self.item.val().abort;
        self.count.next = self.total.val();
        if self.spill.q.val() {
            self.next_data.next = self.kept.q.val();
            self.next_last.next = true;
            self.next_abort.next = self.spill_abort.q.val();
            self.count.next = self.spill_bytes.q.val();
        } else if self.total.val() > 64 {
            self.count.next = 64.into();
        }
        self.data.step.next = self.free.val();
        self.data.data.next = self.next_data.val();
        self.data.keep.next = !(self.byte_ones.val() << self.count.val());

        if self.free.val() {
            self.byte_count.d.next = self.count.val();
            self.last.d.next = self.next_last.val();
            self.abort.d.next = self.next_abort.val();
            self.beat_valid.d.next = self.spill.q.val()
                | (self.take.val() & ((self.total.val() > 63) | self.item.val().last));
            self.spill.d.next = self.take.val() & self.item.val().last & (self.total.val() > 64);
        }
        if self.take.val() {
            self.kept.d.next = self.joined.val();
            if self.total.val() > 63 {
                self.kept.d.next = self.item.val().data;
            }
            self.spill_bytes.d.next = self.total.val() - 64;
            self.spill_abort.d.next = self.item.val().abort;
        }
        if self.reset.val() {
            self.beat_valid.d.next = false;
            self.spill.d.next = false;
        }
    }
}
