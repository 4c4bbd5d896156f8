//! Payload memory of the writes: 64 beats, of which any 16 consecutive dwords are read at once.
//!
//! ```text
//!   beat ──► 16 lanes of a dword ──► rotated to the window ──► dwords   16 from any position on
//!        └─► 4 dwords of each half ─► half ─────────────────► half_head    where a job may begin
//! ```
//! Beats are numbered in the order in which they are stored, modulo 2^12. Position p is dword `p
//! mod 16` of beat `p / 16`; the memory has the place `p / 16 mod 64` for it.
//!
//! Timing: a beat can be read in the cycle after its handshake. Reads are combinational from
//! `window` and `half`. `beat.ready` is a register: it depends on the fill level and `hold` of the
//! cycle before.
//!
//! Invariants:
//! 1. `window` with `advance` gives up all beats before the one that holds its first dword. A beat
//!    is not overwritten before it is given up. `window` never moves back.
//! 2. `flush` gives up everything; `hold` refuses beats from the next cycle on.

use stream::prelude::*;

/// One dword of each beat: lane `index`, 0 to 15.
///
/// Timing: a stored dword can be read in the next cycle; reads are combinational.
#[derive(LogicBlock, BlockDefault)]
#[new(index: u64)]
pub struct PayloadLane {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// A beat is stored in this cycle.
    pub store: Signal<In, Bit>,
    /// Place in the memory where the beat is stored.
    pub store_beat: Signal<In, Bits<6>>,
    /// The beat to store.
    pub data: Signal<In, Bits<512>>,

    /// Place of the beat that holds the window's first dword.
    pub window_beat: Signal<In, Bits<6>>,
    /// Place of the beat after it.
    pub window_behind: Signal<In, Bits<6>>,
    /// Lane of the window's first dword. Lanes below it return the dword of `window_behind`.
    pub window_lane: Signal<In, Bits<4>>,
    /// Dword of this lane.
    pub dword: Signal<Out, Bits<32>>,

    memory: LutRam<Bits<32>, 6>,
    #[value(index)]
    index: Constant<Bits<4>>,
    #[value(32 * index)]
    first_bit: Constant<Bits<9>>,
}

impl Logic for PayloadLane {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, memory);
        self.memory.write_enable.next = self.store.val();
        self.memory.write_address.next = self.store_beat.val();
        self.memory.write_data.next = self.data.val().get_bits::<32>(self.first_bit.val().index());
        self.memory.read_address.next = self.window_beat.val();
        if self.index.val() < self.window_lane.val() {
            self.memory.read_address.next = self.window_behind.val();
        }
        self.dword.next = self.memory.read_data.val();
    }
}

/// The first four dwords of each half of a beat, where a job may begin.
///
/// Timing: as [`PayloadLane`].
#[derive(LogicBlock, Default)]
pub struct HalfHeads {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// A beat is stored in this cycle.
    pub store: Signal<In, Bit>,
    /// Place in the memory where the beat is stored.
    pub store_beat: Signal<In, Bits<6>>,
    /// The beat to store.
    pub data: Signal<In, Bits<512>>,
    /// Half beat to read: the place of the beat, and in bit 0 which half (1: the second).
    pub half: Signal<In, Bits<7>>,
    /// Dwords 0 to 3 of that half.
    pub head: Signal<Out, Bits<128>>,

    first: LutRam<Bits<128>, 6>,
    second: LutRam<Bits<128>, 6>,
}

impl Logic for HalfHeads {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, first, second);
        self.first.write_enable.next = self.store.val();
        self.first.write_address.next = self.store_beat.val();
        self.first.write_data.next = self.data.val().get_bits::<128>(0);
        self.first.read_address.next = self.half.val().get_bits::<6>(1);
        self.second.write_enable.next = self.store.val();
        self.second.write_address.next = self.store_beat.val();
        self.second.write_data.next = self.data.val().get_bits::<128>(256);
        self.second.read_address.next = self.half.val().get_bits::<6>(1);
        self.head.next = self.first.read_data.val();
        if self.half.val().get_bit(0) {
            self.head.next = self.second.read_data.val();
        }
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PayloadMemory {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Gives up all stored beats.
    pub flush: Signal<In, Bit>,
    /// Refuses beats from the next cycle on.
    pub hold: Signal<In, Bit>,

    /// Beats to store.
    pub beat: MessageSink<Bits<512>>,
    /// Number of beats stored so far, modulo 2^12. It is not cleared by `flush`.
    pub written: Signal<Out, Bits<12>>,
    /// A beat is stored in this cycle.
    pub stores: Signal<Out, Bit>,
    /// Number of beats that are stored and not given up.
    pub beats_held: Signal<Out, Bits<7>>,

    /// Position of the first dword to read.
    pub window: Signal<In, Bits<16>>,
    /// Place of the beat after the one that holds it: `(window / 16 + 1) mod 64`.
    pub window_behind: Signal<In, Bits<6>>,
    /// The 16 dwords from `window` on. Those that are not stored yet are undefined.
    pub dwords: Signal<Out, Bits<512>>,
    /// Gives up all beats before the one that holds the window's first dword.
    pub advance: Signal<In, Bit>,
    /// Half beat whose first dwords are read: `position / 8 mod 128`, so bit 0 is set for the
    /// second half.
    pub half: Signal<In, Bits<7>>,
    /// Dwords 0 to 3 of that half beat.
    pub half_head: Signal<Out, Bits<128>>,

    #[value(std::array::from_fn(|index| PayloadLane::new(index as u64)))]
    lanes: [PayloadLane; 16],
    rotate: RotateDwords,
    heads: HalfHeads,
    stored: DFF<Bits<12>>,
    released: DFF<Bits<12>>,
    has_space: DFF<Bit>,

    held: Signal<Local, Bits<12>>,
    store: Signal<Local, Bit>,
    window_lane: Signal<Local, Bits<4>>,
    quarter_0: Signal<Local, Bits<512>>,
    quarter_1: Signal<Local, Bits<512>>,
    quarter_2: Signal<Local, Bits<512>>,
    quarter_3: Signal<Local, Bits<512>>,
}

impl Logic for PayloadMemory {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stored, released, has_space);
        clock!(self, clock, heads);

        self.held.next = self.stored.q.val() - self.released.q.val();
        // One more beat may come before the level shows it.
        self.has_space.d.next = (self.held.val() < 63) & !self.hold.val();
        self.store.next = self.has_space.q.val() & self.beat.valid.val();
        self.beat.ready.next = self.has_space.q.val();
        self.stores.next = self.store.val();
        self.written.next = self.stored.q.val();
        self.beats_held.next = bit_cast::<7, 12>(self.held.val());
        self.heads.store.next = self.store.val();
        self.heads.store_beat.next = bit_cast::<6, 12>(self.stored.q.val());
        self.heads.data.next = self.beat.payload.val();
        if self.store.val() {
            self.stored.d.next = self.stored.q.val() + 1;
        }

        // Each lane reads the window's beat or the one after it; the rotation brings the window's
        // first dword to the front.
        self.window_lane.next = self.window.val().get_bits::<4>(0);
        for i in 0..16 {
            self.lanes[i].clock.next = self.clock.val();
            self.lanes[i].store.next = self.store.val();
            self.lanes[i].store_beat.next = bit_cast::<6, 12>(self.stored.q.val());
            self.lanes[i].data.next = self.beat.payload.val();
            self.lanes[i].window_beat.next = self.window.val().get_bits::<6>(4);
            self.lanes[i].window_behind.next = self.window_behind.val();
            self.lanes[i].window_lane.next = self.window_lane.val();
        }
        self.quarter_0.next = bit_cast::<512, 32>(self.lanes[0].dword.val())
            | (bit_cast::<512, 32>(self.lanes[1].dword.val()) << 32)
            | (bit_cast::<512, 32>(self.lanes[2].dword.val()) << 64)
            | (bit_cast::<512, 32>(self.lanes[3].dword.val()) << 96);
        self.quarter_1.next = (bit_cast::<512, 32>(self.lanes[4].dword.val()) << 128)
            | (bit_cast::<512, 32>(self.lanes[5].dword.val()) << 160)
            | (bit_cast::<512, 32>(self.lanes[6].dword.val()) << 192)
            | (bit_cast::<512, 32>(self.lanes[7].dword.val()) << 224);
        self.quarter_2.next = (bit_cast::<512, 32>(self.lanes[8].dword.val()) << 256)
            | (bit_cast::<512, 32>(self.lanes[9].dword.val()) << 288)
            | (bit_cast::<512, 32>(self.lanes[10].dword.val()) << 320)
            | (bit_cast::<512, 32>(self.lanes[11].dword.val()) << 352);
        self.quarter_3.next = (bit_cast::<512, 32>(self.lanes[12].dword.val()) << 384)
            | (bit_cast::<512, 32>(self.lanes[13].dword.val()) << 416)
            | (bit_cast::<512, 32>(self.lanes[14].dword.val()) << 448)
            | (bit_cast::<512, 32>(self.lanes[15].dword.val()) << 480);
        self.rotate.data.next = self.quarter_0.val()
            | self.quarter_1.val()
            | self.quarter_2.val()
            | self.quarter_3.val();
        self.rotate.dwords.next = self.window_lane.val();
        self.dwords.next = self.rotate.result.val();
        self.heads.half.next = self.half.val();
        self.half_head.next = self.heads.head.val();

        if self.advance.val() {
            self.released.d.next = self.window.val().get_bits::<12>(4);
        }
        if self.flush.val() {
            self.released.d.next = self.stored.q.val();
        }
    }
}
