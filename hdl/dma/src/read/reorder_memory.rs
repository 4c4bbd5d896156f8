//! Stores read data at their places: 512 beats of 64 bytes, in natural byte order.
//!
//! ```text
//!   placed ──► rotated for the tail, rotated for the start
//!              lane 0 │ lane 1 │ ... │ lane 15    16 memories with addresses of their own
//!                 └───────┴───────────────┴──► beat of 64 bytes at `read_address`, 2 cycles later
//! ```
//! [`crate::read::read_issue`] gives each request its beats.
//!
//! Timing: data placed in a cycle can be addressed in the next one. Read latency is two cycles, one
//! read per cycle.
//!
//! Invariants:
//! 1. A part that crosses a boundary of 64 bytes is written in one cycle: lanes below its first one
//!    go to the next beat.
//! 2. Tail and start never need the same lane (see [`crate::read::rc_split`]).

use crate::read::rc_check::{Placed, PlacedPart};
use stream::prelude::*;

/// One lane of the memory: lane `index`, 0 to 15.
///
/// It stores its dword of the beat rotated for the tail or of the beat rotated for the start.
#[derive(LogicBlock, BlockDefault)]
#[new(index: u64)]
pub struct ReorderLane {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// A beat is placed in this cycle.
    pub valid: Signal<In, Bit>,
    /// Place of the tail.
    pub tail: Signal<In, PlacedPart>,
    /// The RC beat, rotated for the tail.
    pub tail_beat: Signal<In, Bits<512>>,
    /// Place of the start.
    pub start: Signal<In, PlacedPart>,
    /// The RC beat, rotated for the start.
    pub start_beat: Signal<In, Bits<512>>,
    /// Beat to read.
    pub read_address: Signal<In, Bits<9>>,
    /// This lane's dword of the beat, two cycles later.
    pub read_data: Signal<Out, Bits<32>>,

    memory: BlockRam<Bits<32>, 9>,
    part: Signal<Local, PlacedPart>,
    tail_mask: Signal<Local, Bits<16>>,
    mask: Signal<Local, Bits<16>>,
    stores: Signal<Local, Bit>,
    #[value(index)]
    index: Constant<Bits<4>>,
    #[value(32 * index)]
    first_bit: Constant<Bits<9>>,
}

impl Logic for ReorderLane {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, memory);
        self.tail_mask.next = self.tail.val().mask;
        self.part.next = self.start.val();
        self.memory.write_data.next =
            self.start_beat.val().get_bits::<32>(self.first_bit.val().index());
        if self.tail_mask.val().get_bit(self.index.val().index()) {
            self.part.next = self.tail.val();
            self.memory.write_data.next =
                self.tail_beat.val().get_bits::<32>(self.first_bit.val().index());
        }
        self.mask.next = self.part.val().mask;
        self.stores.next = self.part.val().stores;
        self.memory.write_address.next = self.part.val().address;
        if self.index.val() < self.part.val().lane {
            self.memory.write_address.next = self.part.val().address_next;
        }
        self.memory.write_enable.next = self.valid.val()
            & self.stores.val()
            & self.mask.val().get_bit(self.index.val().index());
        self.memory.read_enable.next = true;
        self.memory.register_enable.next = true;
        self.memory.read_address.next = self.read_address.val();
        self.read_data.next = self.memory.read_data.val();
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ReorderMemory {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// RC beats with the places of their dwords.
    pub placed: PulseSink<Placed>,
    /// Beat to read.
    pub read_address: Signal<In, Bits<9>>,
    /// The beat that was addressed two cycles before.
    pub read_data: Signal<Out, Bits<512>>,

    tail_rotate: RotateDwords,
    start_rotate: RotateDwords,
    #[value(std::array::from_fn(|index| ReorderLane::new(index as u64)))]
    lanes: [ReorderLane; 16],
    tail: Signal<Local, PlacedPart>,
    start: Signal<Local, PlacedPart>,
    quarter_0: Signal<Local, Bits<512>>,
    quarter_1: Signal<Local, Bits<512>>,
    quarter_2: Signal<Local, Bits<512>>,
    quarter_3: Signal<Local, Bits<512>>,
}

impl Logic for ReorderMemory {
    #[hdl_gen]
    fn update(&mut self) {
        self.tail.next = self.placed.payload.val().tail;
        self.tail_rotate.data.next = self.placed.payload.val().beat;
        self.tail_rotate.dwords.next = self.tail.val().rotate;
        self.start.next = self.placed.payload.val().start;
        self.start_rotate.data.next = self.placed.payload.val().beat;
        self.start_rotate.dwords.next = self.start.val().rotate;
        for i in 0..16 {
            self.lanes[i].clock.next = self.clock.val();
            self.lanes[i].valid.next = self.placed.valid.val();
            self.lanes[i].tail.next = self.tail.val();
            self.lanes[i].tail_beat.next = self.tail_rotate.result.val();
            self.lanes[i].start.next = self.start.val();
            self.lanes[i].start_beat.next = self.start_rotate.result.val();
            self.lanes[i].read_address.next = self.read_address.val();
        }
        self.quarter_0.next = bit_cast::<512, 32>(self.lanes[0].read_data.val())
            | (bit_cast::<512, 32>(self.lanes[1].read_data.val()) << 32)
            | (bit_cast::<512, 32>(self.lanes[2].read_data.val()) << 64)
            | (bit_cast::<512, 32>(self.lanes[3].read_data.val()) << 96);
        self.quarter_1.next = (bit_cast::<512, 32>(self.lanes[4].read_data.val()) << 128)
            | (bit_cast::<512, 32>(self.lanes[5].read_data.val()) << 160)
            | (bit_cast::<512, 32>(self.lanes[6].read_data.val()) << 192)
            | (bit_cast::<512, 32>(self.lanes[7].read_data.val()) << 224);
        self.quarter_2.next = (bit_cast::<512, 32>(self.lanes[8].read_data.val()) << 256)
            | (bit_cast::<512, 32>(self.lanes[9].read_data.val()) << 288)
            | (bit_cast::<512, 32>(self.lanes[10].read_data.val()) << 320)
            | (bit_cast::<512, 32>(self.lanes[11].read_data.val()) << 352);
        self.quarter_3.next = (bit_cast::<512, 32>(self.lanes[12].read_data.val()) << 384)
            | (bit_cast::<512, 32>(self.lanes[13].read_data.val()) << 416)
            | (bit_cast::<512, 32>(self.lanes[14].read_data.val()) << 448)
            | (bit_cast::<512, 32>(self.lanes[15].read_data.val()) << 480);
        self.read_data.next = self.quarter_0.val()
            | self.quarter_1.val()
            | self.quarter_2.val()
            | self.quarter_3.val();
    }
}
