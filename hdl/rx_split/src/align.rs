//! The realigner: shifts a run of beats down by a number of bytes, to the place in the beat that
//! their bus address needs.
//!
//! ```text
//!  two beats ──► each lane of the one it needs ──► rotate by 4 bytes x n ──► register
//!            ──► rotate by 0..3 bytes ──► source
//! ```
//! A lane is a byte of a beat. Lanes from `shift` on come from the beat, those below from the next
//! one: so 64 bytes are rotated, not 128 shifted.
//!
//! Timing: one beat per cycle, latency one cycle; `sink.ready` follows `source.ready`
//! combinationally.
//!
//! Invariants:
//! 1. Bytes beyond `byte_count` are undefined; consumers ignore them.
//! 2. `reset` forgets what is inside.

use stream::prelude::*;

/// A beat to realign.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AlignBeat {
    /// The beat, and the next one in the packet buffer.
    pub pair: BeatPair,
    /// The metadata stand before the beat's first byte, and the next beat is not used; `shift` is
    /// 32.
    pub head: Bit,
    /// Metadata that stand before the beat, or that share it.
    pub metadata: Bits<256>,
    /// Bytes to shift down, the same for the whole run.
    pub shift: Bits<6>,
    /// Bytes used of the beat that is made of this one.
    pub byte_count: Bits<7>,
    /// The second half of the beat that is made is the metadata, and the run's packet continues
    /// with the next run.
    pub shared: Bit,
    /// The beat is the last of its packet.
    pub last: Bit,
    /// With `last`: a header entry ends here.
    pub publish: Bit,
    /// Owner of the header entry.
    pub owner: Bits<8>,
    /// Producer index after the header entry.
    pub index: Bits<32>,
    /// The beat belongs to a slot that is held.
    pub held: Bit,
    /// With `held`: place of its slot in the hold memory.
    pub held_at: Bits<8>,
    /// With `held`: the memories except 0 that its packet's payload lies in, one bit each.
    pub memories: Bits<4>,
    /// The beat is kept for a run, and goes nowhere else.
    pub keeps: Bit,
    /// The beat is one that was kept: it comes from `kept`, not from `pair`.
    pub kept: Bit,
    /// With `keeps` or `kept`: place of the run.
    pub place: Bits<5>,
}

/// Two consecutive beats, as the packet buffer returns them.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BeatPair {
    /// Beat of even address.
    pub even: Bits<512>,
    /// Beat of odd address.
    pub odd: Bits<512>,
    /// The beat of odd address is the earlier one.
    pub odd_first: Bit,
}

/// The lanes of a beat before they are rotated, each from one of four: even and odd beat, kept
/// beat, metadata. Combinational.
#[derive(LogicBlock, BlockDefault)]
pub struct LaneRow {
    /// The beat, with the pair that it is taken from.
    pub beat: Signal<In, AlignBeat>,
    /// The kept beat, if it is one.
    pub kept: Signal<In, Bits<512>>,
    /// The lanes.
    pub row: Signal<Out, Bits<512>>,

    pair: Signal<Local, BeatPair>,
    shift_bits: Signal<Local, Bits<9>>,
    later: Signal<Local, Bits<512>>,
    is_odd: Signal<Local, Bits<512>>,
    of_other: Signal<Local, Bits<512>>,
    of_pair: Signal<Local, Bits<512>>,
    second: Signal<Local, Bits<512>>,
    first: Signal<Local, Bits<512>>,
    #[value(Bits::<512>::mask())]
    ones: Constant<Bits<512>>,
    #[value(Bits::<512>::mask() << 256)]
    high_half: Constant<Bits<512>>,
}

impl Logic for LaneRow {
    #[hdl_gen]
    fn update(&mut self) {
        // Each lane of the pair from the beat that it needs.
        self.pair.next = self.beat.val().pair;
        self.shift_bits.next = bit_cast::<9, 6>(self.beat.val().shift) << 3;
        self.later.next = !(self.ones.val() << self.shift_bits.val());
        if self.beat.val().head {
            self.later.next = 0.into();
        }
        self.is_odd.next = self.later.val();
        if self.pair.val().odd_first {
            self.is_odd.next = !self.later.val();
        }
        // Each lane from one of four: even and odd beat, kept beat, metadata.
        self.of_other.next = 0.into();
        self.second.next = self.is_odd.val();
        if self.beat.val().kept {
            self.of_other.next = self.ones.val();
            self.second.next = 0.into();
        }
        if self.beat.val().head {
            self.of_other.next = self.of_other.val() | self.high_half.val();
            self.second.next = self.second.val() | self.high_half.val();
        }
        self.of_pair.next = !self.of_other.val();
        self.first.next = !self.second.val();
        self.row.next = (self.pair.val().even & self.first.val() & self.of_pair.val())
            | (self.pair.val().odd & self.second.val() & self.of_pair.val())
            | (self.kept.val() & self.first.val() & self.of_other.val())
            | ((bit_cast::<512, 256>(self.beat.val().metadata) << 256)
                & self.second.val()
                & self.of_other.val());
    }
}

/// The realigner. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Align {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: beats inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// Beats of a run, each with the next one, or with metadata before it.
    pub sink: MessageSink<AlignBeat>,
    /// The kept beat of `sink`, if it is one.
    pub kept: Signal<In, Bits<512>>,
    /// A beat is kept.
    pub keep: Signal<Out, Bit>,
    /// Place of that beat: of its run, and bit 0 for the last one of its slot.
    pub keep_beat: Signal<Out, Bits<6>>,
    /// That beat, as it lies before it is rotated; others replace the metadata in it.
    pub keep_data: Signal<Out, Bits<512>>,
    /// Realigned packets: one beat for each beat of `sink` that is not held.
    pub source: PacketSource,
    /// The second half of the beat at `source` is `metadata`; in `source` that half is undefined.
    pub shared: Signal<Out, Bit>,
    /// Metadata of the packet at `source`.
    pub metadata: Signal<Out, Bits<256>>,
    /// A beat of a held slot is at `held`; `source` does not offer it. It is not stalled.
    pub hold: Signal<Out, Bit>,
    /// Beat of a held slot, with `hold`.
    pub held: Signal<Out, Bits<512>>,
    /// Place of that beat in the hold memory; bit 0 is set for the last one of its slot.
    pub hold_beat: Signal<Out, Bits<9>>,
    /// Memories that its slot waits for, one bit each.
    pub hold_memories: Signal<Out, Bits<4>>,
    /// One pulse for each header entry whose last beat is taken at `source`.
    pub published: PulseSource<RingFetch>,

    lanes: LaneRow,
    #[value(RotateStage::new(16))]
    by_16: RotateStage<512>,
    #[value(RotateStage::new(4))]
    by_4: RotateStage<512>,
    #[value(RotateStage::new(1))]
    by_1: RotateStage<512>,
    turned: DFF<Bits<512>>,
    beat: DFF<AlignBeat>,
    is_open: DFF<Bit>,
    holds: DFF<Bit>,

    advance: Signal<Local, Bit>,
    shift: Signal<Local, Bits<6>>,
}

impl Logic for Align {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, turned, beat, is_open, holds);
        self.hold.next = self.holds.q.val();
        self.held.next = self.by_1.result.val();
        self.hold_beat.next = (bit_cast::<9, 8>(self.beat.q.val().held_at) << 1)
            | bit_cast::<9, 1>(self.beat.q.val().last.into());
        self.hold_memories.next = self.beat.q.val().memories;
        self.source.valid.next = self.is_open.q.val();
        self.source.data.next = self.by_1.result.val();
        self.source.byte_count.next = self.beat.q.val().byte_count;
        self.source.last.next = self.beat.q.val().last;
        self.source.abort.next = false;
        self.shared.next = self.beat.q.val().shared;
        self.metadata.next = self.beat.q.val().metadata;
        self.advance.next = !self.is_open.q.val() | self.source.ready.val();
        self.sink.ready.next = self.advance.val();
        self.published.valid.next = self.is_open.q.val()
            & self.source.ready.val()
            & self.beat.q.val().last
            & self.beat.q.val().publish;
        self.published.payload.next.owner = self.beat.q.val().owner;
        self.published.payload.next.index = self.beat.q.val().index;

        // The row, then rotated by multiples of 4 bytes.
        self.lanes.beat.next = self.sink.payload.val();
        self.lanes.kept.next = self.kept.val();
        self.shift.next = self.sink.payload.val().shift;
        self.keep.next = self.sink.valid.val() & self.advance.val() & self.sink.payload.val().keeps;
        self.keep_beat.next = (bit_cast::<6, 5>(self.sink.payload.val().place) << 1)
            | bit_cast::<6, 1>(self.sink.payload.val().last.into());
        self.keep_data.next = self.lanes.row.val();
        self.by_16.data.next = self.lanes.row.val();
        self.by_16.times.next = self.shift.val().get_bits::<2>(4);

        self.by_4.data.next = self.by_16.result.val();
        self.by_4.times.next = self.shift.val().get_bits::<2>(2);

        self.by_1.data.next = self.turned.q.val(); // Rotated by the rest.
        self.by_1.times.next = bit_cast::<2, 6>(self.beat.q.val().shift);

        if self.advance.val() {
            self.turned.d.next = self.by_4.result.val();
            self.beat.d.next = self.sink.payload.val();
            self.is_open.d.next = self.sink.valid.val()
                & !(self.sink.payload.val().held | self.sink.payload.val().keeps);
            self.holds.d.next = self.sink.valid.val() & self.sink.payload.val().held;
        }
        if self.reset.val() {
            self.is_open.d.next = false;
            self.holds.d.next = false;
        }
    }
}
