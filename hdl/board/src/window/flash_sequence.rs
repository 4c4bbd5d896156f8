//! Where a command of a flash chip is: phase, bit and cycle of the bit.
//!
//! ```text
//!   Idle ──► Enable ──► Gap ──► Head ──► Data ──► Close ──► Idle
//!       └─ no enable ───────────►   └─ no data ────►
//! ```
//! Timing: a bit is 16 cycles, 64 ns. Enable has 8 bits, the head 8 or 40, a word of data 32, the
//! gaps 4 each.
//!
//! Invariants:
//! 1. A command once taken goes to its end, whatever else happens: there is no reset.
//! 2. The command stays as it was taken until the next one is.

use stream::prelude::*;

/// A command of a chip.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SerialCommand {
    /// The second chip; otherwise the first.
    pub chip: Bit,
    /// The enable opcode goes first.
    pub enables: Bit,
    /// Opcode in bits 39:32, address in bits 31:0.
    pub head: Bits<40>,
    /// The address is sent.
    pub has_address: Bit,
    /// Words of data behind the head, 0 to 64.
    pub words: Bits<7>,
    /// Data are sent; otherwise they are read.
    pub writes: Bit,
}

/// Where a command is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SerialPhase {
    /// There is none.
    Idle,
    /// The enable opcode is sent.
    Enable,
    /// No chip is selected, before the head.
    Gap,
    /// Opcode and address are sent.
    Head,
    /// Data go or come.
    Data,
    /// No chip is selected, before the end.
    Close,
}

/// The sequence. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FlashSequence {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Commands, taken in phase `Idle`.
    pub command: PulseSink<SerialCommand>,
    /// The command under way.
    pub taken: Signal<Out, SerialCommand>,
    /// Where it is.
    pub phase: Signal<Out, SerialPhase>,
    /// Cycle of the bit.
    pub tick: Signal<Out, Bits<4>>,
    /// Bit of the opcode, the head, the word or the gap, first bit 0.
    pub place: Signal<Out, Bits<6>>,
    /// Words of data that are done.
    pub done: Signal<Out, Bits<7>>,
    /// Last cycle of a bit.
    pub ends_bit: Signal<Out, Bit>,
    /// Last cycle of a phase, or of a word of data.
    pub ends: Signal<Out, Bit>,

    kept: DFF<SerialCommand>,
    at: DFF<SerialPhase>,
    cycle: DFF<Bits<4>>,
    number: DFF<Bits<6>>,
    words: DFF<Bits<7>>,

    last_place: Signal<Local, Bits<6>>,
    more: Signal<Local, Bits<7>>,
    #[value(1)]
    one: Constant<Bits<6>>,
    #[value(1)]
    one_tick: Constant<Bits<4>>,
    #[value(1)]
    one_word: Constant<Bits<7>>,
}

impl Logic for FlashSequence {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, kept, at, cycle, number, words);
        self.taken.next = self.kept.q.val();
        self.phase.next = self.at.q.val();
        self.tick.next = self.cycle.q.val();
        self.place.next = self.number.q.val();
        self.done.next = self.words.q.val();
        self.more.next = self.words.q.val() + self.one_word.val();
        self.ends_bit.next = self.cycle.q.val().all();
        self.last_place.next = bits::<6>(3);
        if self.at.q.val() == SerialPhase::Data {
            self.last_place.next = bits::<6>(31);
        } else if (self.at.q.val() == SerialPhase::Head) & self.kept.q.val().has_address {
            self.last_place.next = bits::<6>(39);
        } else if (self.at.q.val() == SerialPhase::Head) | (self.at.q.val() == SerialPhase::Enable)
        {
            self.last_place.next = bits::<6>(7);
        }
        self.ends.next = self.ends_bit.val() & (self.number.q.val() == self.last_place.val());

        self.cycle.d.next = self.cycle.q.val() + self.one_tick.val();
        if self.ends_bit.val() {
            self.number.d.next = self.number.q.val() + self.one.val();
        }
        if self.ends.val() {
            self.number.d.next = bits::<6>(0);
        }
        if self.at.q.val() == SerialPhase::Idle {
            self.cycle.d.next = bits::<4>(0);
            self.number.d.next = bits::<6>(0);
            self.words.d.next = bits::<7>(0);
            if self.command.valid.val() {
                self.kept.d.next = self.command.payload.val();
                self.at.d.next = SerialPhase::Head;
                if self.command.payload.val().enables {
                    self.at.d.next = SerialPhase::Enable;
                }
            }
        } else if self.ends.val() {
            if self.at.q.val() == SerialPhase::Enable {
                self.at.d.next = SerialPhase::Gap;
            } else if self.at.q.val() == SerialPhase::Gap {
                self.at.d.next = SerialPhase::Head;
            } else if (self.at.q.val() == SerialPhase::Head)
                & (self.kept.q.val().words != bits::<7>(0))
            {
                self.at.d.next = SerialPhase::Data;
            } else if self.at.q.val() == SerialPhase::Data {
                self.words.d.next = self.more.val();
                if self.more.val() == self.kept.q.val().words {
                    self.at.d.next = SerialPhase::Close;
                }
            } else if self.at.q.val() == SerialPhase::Head {
                self.at.d.next = SerialPhase::Close;
            } else {
                self.at.d.next = SerialPhase::Idle;
            }
        }
    }
}
