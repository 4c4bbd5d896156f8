//! The one shared realigner: shifts a run of beats down by a number of bytes.
//!
//! ```text
//!  two beats ──► each lane of the one it needs ──► turn by 4 bytes x n ──► register
//!            ──► turn by 0..3 bytes ──► source
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | sink | in | beats of a run, each with the one behind it, or with metadata in front |
//! | source | out | one beat for each |
//! | shared, metadata | out | that beat's second half is these; in `source` it means nothing |
//! | hold, held, hold_beat | out | a beat of a held slot is there, for the hold memory; its place |
//! | hold_memories | out | memories that the held slot waits for |
//! | published | out | the last beat of a header entry was taken |
//!
//! A lane is a byte of a beat. Lanes from `shift` on come from the beat, those below from the one
//! behind it: so 64 bytes are turned, not 128 shifted.
//!
//! Timing: one beat a cycle, latency one cycle; `sink.ready` follows `source.ready`
//! combinationally.
//!
//! Invariants:
//! 1. Bytes beyond `byte_count` are any: whoever takes a beat uses none of them.
//! 2. `reset` forgets what is inside.

use stream::prelude::*;

/// A beat to realign.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AlignBeat {
    /// The beat, and the one behind it in the packet store.
    pub pair: BeatPair,
    /// The metadata stand in front of the beat; the one behind it has no meaning. `shift` is 32.
    pub head: Bit,
    /// These, or those that share the beat.
    pub metadata: Bits<256>,
    /// Bytes to shift down, the same for the whole run.
    pub shift: Bits<6>,
    /// Bytes used of the beat that this one completes.
    pub byte_count: Bits<7>,
    /// Its second half is the metadata, and the run's packet goes on with the next run.
    pub shared: Bit,
    /// It is the last of the packet.
    pub last: Bit,
    /// With `last`: a header entry ends here.
    pub publish: Bit,
    /// Owner of that entry.
    pub owner: Bits<8>,
    /// Producer index behind it.
    pub index: Bits<32>,
    /// It belongs to a slot that is held.
    pub held: Bit,
    /// With `held`: its slot's place in the hold memory.
    pub held_at: Bits<8>,
    /// With `held`: the memories but 0 that its packet's payload lies in, a bit each.
    pub memories: Bits<4>,
}

/// Two beats that follow each other, as the packet store shows them.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BeatPair {
    /// The beat of even address.
    pub even: Bits<512>,
    /// The beat of odd address.
    pub odd: Bits<512>,
    /// The odd one is the earlier.
    pub odd_first: Bit,
}

/// The realigner. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Align {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Beats of a run.
    pub sink: MessageSink<AlignBeat>,
    /// Realigned packets.
    pub source: PacketSource,
    /// The second half of the beat offered is `metadata`.
    pub shared: Signal<Out, Bit>,
    /// Metadata of its packet.
    pub metadata: Signal<Out, Bits<256>>,
    /// A beat of a held slot is there; `source` does not offer it.
    pub hold: Signal<Out, Bit>,
    /// That beat.
    pub held: Signal<Out, Bits<512>>,
    /// Its place in the hold memory; bit 0 is set for the last beat.
    pub hold_beat: Signal<Out, Bits<9>>,
    /// Memories that its slot waits for, a bit each.
    pub hold_memories: Signal<Out, Bits<4>>,
    /// A header entry was handed over.
    pub published: PulseSource<RingFetch>,

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
    pair: Signal<Local, BeatPair>,
    shift: Signal<Local, Bits<6>>,
    shift_bits: Signal<Local, Bits<9>>,
    from_shift: Signal<Local, Bits<512>>,
    later: Signal<Local, Bits<512>>,
    is_odd: Signal<Local, Bits<512>>,
    chosen: Signal<Local, Bits<512>>,
    rest: Signal<Local, Bits<2>>,
    #[value(Bits::<512>::mask())]
    ones: Constant<Bits<512>>,
    #[value(Bits::<512>::mask() >> 256)]
    low_half: Constant<Bits<512>>,
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

        // Each lane from the beat that it needs, then turned by multiples of 4 bytes.
        self.pair.next = self.sink.payload.val().pair;
        self.shift.next = self.sink.payload.val().shift;
        self.shift_bits.next = bit_cast::<9, 6>(self.shift.val()) << 3;
        self.from_shift.next = self.ones.val() << self.shift_bits.val();
        self.later.next = !self.from_shift.val();
        if self.sink.payload.val().head {
            self.later.next = 0.into();
        }
        self.is_odd.next = self.later.val();
        if self.pair.val().odd_first {
            self.is_odd.next = !self.later.val();
        }
        self.chosen.next =
            (self.pair.val().even & !self.is_odd.val()) | (self.pair.val().odd & self.is_odd.val());
        self.by_16.data.next = self.chosen.val();
        if self.sink.payload.val().head {
            self.by_16.data.next = (self.chosen.val() & self.low_half.val())
                | (bit_cast::<512, 256>(self.sink.payload.val().metadata) << 256);
        }
        self.by_16.times.next = self.shift.val().get_bits::<2>(4);

        self.by_4.data.next = self.by_16.result.val();
        self.by_4.times.next = self.shift.val().get_bits::<2>(2);

        // Turned by the rest.
        self.rest.next = bit_cast::<2, 6>(self.beat.q.val().shift);
        self.by_1.data.next = self.turned.q.val();
        self.by_1.times.next = self.rest.val();

        if self.advance.val() {
            self.turned.d.next = self.by_4.result.val();
            self.beat.d.next = self.sink.payload.val();
            self.is_open.d.next = self.sink.valid.val() & !self.sink.payload.val().held;
            self.holds.d.next = self.sink.valid.val() & self.sink.payload.val().held;
        }
        if self.reset.val() {
            self.is_open.d.next = false;
            self.holds.d.next = false;
        }
    }
}
