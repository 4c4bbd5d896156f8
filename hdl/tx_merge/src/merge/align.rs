//! Packs items of any start and length into full beats: the one realigner of the send path.
//!
//! ```text
//!  item ──► register ──► rotate ──► register ──► join with the rest kept ──► register ──► frames
//! ```
//! The fill of the beat under construction decides the rotation: byte `start` of an item goes to
//! byte `fill`. What wraps around belongs to the next beat and already lies where it must.
//!
//! Timing: latency three cycles, one item per cycle; a frame whose last item spills over a beat
//! takes one cycle more. `item.ready` follows `frames.ready` in the same cycle.
//!
//! Invariants:
//! 1. The bytes of a frame are those of its items, in order, without gaps.
//! 2. Bytes of the last beat beyond `byte_count` are zero.

use crate::merge::align_join::AlignJoin;
use crate::messages::SendItem;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Align {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the frame under construction.
    pub reset: Signal<In, Bit>,

    /// Bytes to append, in order.
    pub item: MessageSink<SendItem>,
    /// Frames in full beats.
    pub frames: PacketSource,

    rotate: Rotate,
    joiner: AlignJoin,
    fill: DFF<Bits<6>>,
    item_valid: DFF<Bit>,
    item_held: DFF<SendItem>,
    item_fill: DFF<Bits<6>>,
    rotation: DFF<Bits<6>>,
    rotated_valid: DFF<Bit>,
    rotated: DFF<SendItem>,
    rotated_fill: DFF<Bits<6>>,
}

impl Logic for Align {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            fill,
            item_valid,
            item_held,
            item_fill,
            rotation,
            rotated_valid,
            rotated,
            rotated_fill
        );
        clock!(self, clock, joiner);
        self.joiner.reset.next = self.reset.val();
        PacketSource::link(&mut self.frames, &mut self.joiner.frames);

        // Take an item and find its rotation; `fill` runs ahead with the items, not with the beats.
        self.item.ready.next = self.joiner.step.val();
        self.rotate.data.next = self.item_held.q.val().data;
        self.rotate.bytes.next = self.rotation.q.val();
        if self.joiner.step.val() {
            self.item_valid.d.next = self.item.valid.val();
            self.item_held.d.next = self.item.payload.val();
            self.item_fill.d.next = self.fill.q.val();
            self.rotation.d.next = self.item.payload.val().start - self.fill.q.val();
            if self.item.valid.val() {
                self.fill.d.next =
                    self.fill.q.val() + bit_cast::<6, 7>(self.item.payload.val().byte_count);
                if self.item.payload.val().last {
                    self.fill.d.next = 0.into();
                }
            }
            // Rotate it.
            self.rotated_valid.d.next = self.item_valid.q.val();
            self.rotated.d.next = self.item_held.q.val();
            self.rotated.d.next.data = self.rotate.result.val();
            self.rotated_fill.d.next = self.item_fill.q.val();
        }
        self.joiner.valid.next = self.rotated_valid.q.val();
        self.joiner.item.next = self.rotated.q.val();
        self.joiner.fill.next = self.rotated_fill.q.val();
        if self.reset.val() {
            self.fill.d.next = 0.into();
            self.item_valid.d.next = false;
            self.rotated_valid.d.next = false;
        }
    }
}
