//! The one shared realigner: shifts a run of beats down by a number of bytes.
//!
//! ```text
//!  beats ──► {beat behind, beat} >> 8 bytes x n ──► >> 0..7 bytes, zeros behind `keep` ──► source
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | sink | in | beats of a run, each with the one behind it, or with metadata in front |
//! | source | out | one beat for each |
//! | hold, held, hold_beat | out | a beat of a held slot is there, for the hold memory; its place |
//! | published | out | the last beat of a header entry was taken |
//! | idle | out | nothing is inside |
//!
//! Timing: one beat a cycle, latency two cycles; `sink.ready` follows `source.ready`
//! combinationally.
//!
//! Invariants:
//! 1. Bytes beyond `keep` are zero.
//! 2. `reset` forgets what is inside.

use stream::prelude::*;

/// A beat to realign.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AlignBeat {
    /// The beat, and the one behind it in the packet store.
    pub pair: BeatPair,
    /// The metadata stand in front of the beat; the one behind it has no meaning.
    pub head: Bit,
    /// These.
    pub metadata: Bits<256>,
    /// Bytes to shift down, the same for the whole run.
    pub shift: Bits<6>,
    /// Bytes used of the beat that this one completes.
    pub byte_count: Bits<7>,
    /// Bytes of it that are not zeroed.
    pub keep: Bits<7>,
    /// It is the last of the run.
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
}

/// Two beats, the earlier in the low half.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BeatPair {
    /// The earlier beat.
    pub low: Bits<512>,
    /// The later beat.
    pub high: Bits<512>,
}

/// The realigner. See the module's head.
#[derive(LogicBlock)]
pub struct Align {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Beats of a run.
    pub sink: MessageSink<AlignBeat>,
    /// Realigned packets.
    pub source: PacketSource,
    /// A beat of a held slot is there; `source` does not offer it.
    pub hold: Signal<Out, Bit>,
    /// That beat.
    pub held: Signal<Out, Bits<512>>,
    /// Its place in the hold memory; bit 0 is set for the last beat.
    pub hold_beat: Signal<Out, Bits<9>>,
    /// A header entry was handed over.
    pub published: PulseSource<RingFetch>,
    /// Nothing is inside.
    pub idle: Signal<Out, Bit>,

    coarse: DFF<Bits<568>>,
    coarse_beat: DFF<AlignBeat>,
    coarse_valid: DFF<Bit>,
    fine: DFF<Bits<512>>,
    fine_beat: DFF<AlignBeat>,
    fine_valid: DFF<Bit>,

    advance: Signal<Local, Bit>,
    offered: Signal<Local, BeatPair>,
    pair: Signal<Local, BeatPair>,
    pair_bits: Signal<Local, Bits<1024>>,
    coarse_shift: Signal<Local, Bits<10>>,
    coarse_shifted: Signal<Local, Bits<1024>>,
    fine_shift: Signal<Local, Bits<6>>,
    fine_shifted: Signal<Local, Bits<568>>,
    keep_shift: Signal<Local, Bits<10>>,
    drop_mask: Signal<Local, Bits<512>>,
    keep_mask: Signal<Local, Bits<512>>,
    shift: Signal<Local, Bits<6>>,
    later_shift: Signal<Local, Bits<6>>,
    ones: Constant<Bits<512>>,
}

impl Default for Align {
    fn default() -> Self {
        let zeros: Bits<512> = 0u64.to_bits();
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sink: Default::default(),
            source: Default::default(),
            hold: Default::default(),
            held: Default::default(),
            hold_beat: Default::default(),
            published: Default::default(),
            idle: Default::default(),
            coarse: Default::default(),
            coarse_beat: Default::default(),
            coarse_valid: Default::default(),
            fine: Default::default(),
            fine_beat: Default::default(),
            fine_valid: Default::default(),
            advance: Default::default(),
            offered: Default::default(),
            pair: Default::default(),
            pair_bits: Default::default(),
            coarse_shift: Default::default(),
            coarse_shifted: Default::default(),
            fine_shift: Default::default(),
            fine_shifted: Default::default(),
            keep_shift: Default::default(),
            drop_mask: Default::default(),
            keep_mask: Default::default(),
            shift: Default::default(),
            later_shift: Default::default(),
            ones: Constant::new(!zeros),
        }
    }
}

impl Logic for Align {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, coarse, coarse_beat, coarse_valid);
        dff_setup!(self, clock, fine, fine_beat, fine_valid);
        self.hold.next = self.fine_valid.q.val() & self.fine_beat.q.val().held;
        self.held.next = self.fine.q.val();
        self.hold_beat.next = (bit_cast::<9, 8>(self.fine_beat.q.val().held_at) << 1)
            | bit_cast::<9, 1>(self.fine_beat.q.val().last.into());
        self.source.valid.next = self.fine_valid.q.val() & !self.fine_beat.q.val().held;
        self.source.data.next = self.fine.q.val();
        self.source.byte_count.next = self.fine_beat.q.val().byte_count;
        self.source.last.next = self.fine_beat.q.val().last;
        self.source.abort.next = false;
        self.advance.next =
            !self.fine_valid.q.val() | self.fine_beat.q.val().held | self.source.ready.val();
        self.sink.ready.next = self.advance.val();
        self.idle.next = !(self.coarse_valid.q.val() | self.fine_valid.q.val());
        self.published.valid.next = self.fine_valid.q.val()
            & !self.fine_beat.q.val().held
            & self.source.ready.val()
            & self.fine_beat.q.val().last
            & self.fine_beat.q.val().publish;
        self.published.payload.next.owner = self.fine_beat.q.val().owner;
        self.published.payload.next.index = self.fine_beat.q.val().index;

        // Shift by multiples of 8 bytes.
        self.offered.next = self.sink.payload.val().pair;
        self.pair.next = self.offered.val();
        if self.sink.payload.val().head {
            self.pair.next.low = bit_cast::<512, 256>(self.sink.payload.val().metadata) << 256;
            self.pair.next.high = self.offered.val().low;
        }
        self.pair_bits.next = self.pair.val().into();
        self.shift.next = self.sink.payload.val().shift;
        self.coarse_shift.next = bit_cast::<10, 3>(self.shift.val().get_bits::<3>(3)) << 6;
        self.coarse_shifted.next = self.pair_bits.val() >> self.coarse_shift.val();

        // Shift by the rest, and blank what is not kept.
        self.later_shift.next = self.coarse_beat.q.val().shift;
        self.fine_shift.next = bit_cast::<6, 3>(self.later_shift.val().get_bits::<3>(0)) << 3;
        self.fine_shifted.next = self.coarse.q.val() >> self.fine_shift.val();
        self.keep_shift.next = bit_cast::<10, 7>(self.coarse_beat.q.val().keep) << 3;
        self.drop_mask.next = self.ones.val() << self.keep_shift.val();
        self.keep_mask.next = !self.drop_mask.val();

        if self.advance.val() {
            self.coarse_valid.d.next = self.sink.valid.val();
            self.coarse.d.next = self.coarse_shifted.val().get_bits::<568>(0);
            self.coarse_beat.d.next = self.sink.payload.val();
            self.fine_valid.d.next = self.coarse_valid.q.val();
            self.fine.d.next = self.fine_shifted.val().get_bits::<512>(0) & self.keep_mask.val();
            self.fine_beat.d.next = self.coarse_beat.q.val();
        }
        if self.reset.val() {
            self.coarse_valid.d.next = false;
            self.fine_valid.d.next = false;
        }
    }
}
