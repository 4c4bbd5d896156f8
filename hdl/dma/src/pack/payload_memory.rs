//! Holds the payload of writes until it is sent: 64 beats, read 16 dwords at a time from any dword.
//!
//! ```text
//!   beat ──► 16 lanes of a dword ──► turned to the window ──► dwords      16 from any position
//!        └─► 4 dwords of each half ─► fresh ────────────────► fresh_head  where a job may begin
//! ```
//! Timing: a beat can be read in the cycle after it came. Reads are combinational from `window` and
//! `fresh`. `beat.ready` is a register: what it says was so a cycle before.
//!
//! Invariants:
//! 1. Beats before the one of the last `window` with `advance` are given up; a beat is never
//!    overwritten before. `window` does not go back.
//! 2. `flush` gives up everything; `hold` refuses beats from the next cycle on.

use stream::prelude::*;

/// One dword of each beat.
///
/// Lane `index`, 0 to 15.
#[derive(LogicBlock, BlockDefault)]
#[new(index: u64)]
pub struct PayloadLane {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A beat is stored.
    pub store: Signal<In, Bit>,
    /// Where.
    pub store_beat: Signal<In, Bits<6>>,
    /// The beat.
    pub data: Signal<In, Bits<512>>,

    /// Beat of the window's first dword.
    pub window_beat: Signal<In, Bits<6>>,
    /// The beat behind it.
    pub window_behind: Signal<In, Bits<6>>,
    /// Lane of the window's first dword; lanes below it show the beat behind.
    pub window_lane: Signal<In, Bits<4>>,
    /// The dword of this lane.
    pub dword: Signal<Out, Bits<32>>,

    memory: LutRam<Bits<32>, 6>,
    #[value(index)]
    index: Constant<Bits<4>>,
    #[value((32 * index) as u64)]
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

/// The first dwords of each half of a beat, where a job may begin.
#[derive(LogicBlock, Default)]
pub struct HalfHeads {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A beat is stored.
    pub store: Signal<In, Bit>,
    /// Where.
    pub store_beat: Signal<In, Bits<6>>,
    /// The beat.
    pub data: Signal<In, Bits<512>>,
    /// Half of a beat: bit 0 is set for the second one.
    pub half: Signal<In, Bits<7>>,
    /// Its first four dwords.
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
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Gives up everything.
    pub flush: Signal<In, Bit>,
    /// Refuses beats.
    pub hold: Signal<In, Bit>,

    /// Beats in.
    pub beat: MessageSink<Bits<512>>,
    /// Beats stored so far, modulo 2^12.
    pub written: Signal<Out, Bits<12>>,
    /// One more is stored in this cycle.
    pub stores: Signal<Out, Bit>,
    /// Beats stored and not given up.
    pub beats_held: Signal<Out, Bits<7>>,

    /// Position of the first dword to read.
    pub window: Signal<In, Bits<16>>,
    /// The beat behind the one in which it lies.
    pub window_behind: Signal<In, Bits<6>>,
    /// The dwords from there on.
    pub dwords: Signal<Out, Bits<512>>,
    /// The window's beats before its first dword are no longer needed.
    pub advance: Signal<In, Bit>,
    /// Half of a beat whose first dwords are wanted: bit 0 is set for the second one.
    pub fresh: Signal<In, Bits<7>>,
    /// Dwords 0 to 3 of that half.
    pub fresh_head: Signal<Out, Bits<128>>,

    #[value(std::array::from_fn(|index| PayloadLane::new(index as u64)))]
    lanes: [PayloadLane; 16],
    rotate: RotateDwords,
    heads: HalfHeads,
    stored: DFF<Bits<12>>,
    released: DFF<Bits<12>>,
    has_room: DFF<Bit>,

    held: Signal<Local, Bits<12>>,
    store: Signal<Local, Bit>,
    window_beat: Signal<Local, Bits<6>>,
    window_lane: Signal<Local, Bits<4>>,
    quarter_0: Signal<Local, Bits<512>>,
    quarter_1: Signal<Local, Bits<512>>,
    quarter_2: Signal<Local, Bits<512>>,
    quarter_3: Signal<Local, Bits<512>>,
}

impl Logic for PayloadMemory {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stored, released, has_room);
        clock!(self, clock, heads);

        self.held.next = self.stored.q.val() - self.released.q.val();
        // One more may come before it shows here.
        self.has_room.d.next = (self.held.val() < 63) & !self.hold.val();
        self.store.next = self.has_room.q.val() & self.beat.valid.val();
        self.beat.ready.next = self.has_room.q.val();
        self.stores.next = self.store.val();
        self.written.next = self.stored.q.val();
        self.beats_held.next = bit_cast::<7, 12>(self.held.val());
        self.heads.store.next = self.store.val();
        self.heads.store_beat.next = bit_cast::<6, 12>(self.stored.q.val());
        self.heads.data.next = self.beat.payload.val();
        if self.store.val() {
            self.stored.d.next = self.stored.q.val() + 1;
        }

        // Each lane shows the window's beat or the one behind; turned, the window's first dword
        // leads.
        self.window_beat.next = self.window.val().get_bits::<6>(4);
        self.window_lane.next = self.window.val().get_bits::<4>(0);
        for i in 0..16 {
            self.lanes[i].clock.next = self.clock.val();
            self.lanes[i].store.next = self.store.val();
            self.lanes[i].store_beat.next = bit_cast::<6, 12>(self.stored.q.val());
            self.lanes[i].data.next = self.beat.payload.val();
            self.lanes[i].window_beat.next = self.window_beat.val();
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
        self.heads.half.next = self.fresh.val();
        self.fresh_head.next = self.heads.head.val();

        if self.advance.val() {
            self.released.d.next = self.window.val().get_bits::<12>(4);
        }
        if self.flush.val() {
            self.released.d.next = self.stored.q.val();
        }
    }
}
