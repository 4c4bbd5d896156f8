//! One command of a flash chip, bit by bit.
//!
//! ```text
//!             enable (0x06)   gap   head: opcode, address   data            gap
//!   select  __/‾‾‾‾‾‾‾‾‾‾‾\_________/‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾\___________ ends
//!   mosi        8 bits              8 or 40 bits            page, or what miso is
//! ```
//! Timing: a bit is 16 cycles, 64 ns: `serial_clock` is low for eight and high for eight. A gap is
//! four bits long. `miso` is taken 13 cycles after the falling edge: 52 ns for pads and chip.
//!
//! Invariants:
//! 1. `mosi` changes while the clock is low; the chip takes it at the rising edge (mode 0).
//! 2. While a chip is selected, it gets the enable opcode alone, or the head of the command taken
//!    and what follows it.
//! 3. A command once taken is sent to its end, whatever else happens: there is no reset.
//!
//! Source: data sheet of the MT25QU01G (extended SPI, chapters on timing and commands).

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

/// Pins of the flash chips, as levels.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct FlashLines {
    /// Clock of both chips.
    pub serial_clock: Signal<Out, Bit>,
    /// Bit n: chip n is selected (its CS# is low).
    pub select: Signal<Out, Bits<2>>,
    /// Data to the chips.
    pub mosi: Signal<Out, Bit>,
    /// Data of each chip, in no clock.
    pub miso: Signal<In, Bits<2>>,
}

/// Opcode before every program and erase.
pub const WRITE_ENABLE: u64 = 0x06;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FlashSerial {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Commands, taken while `busy` is low.
    pub command: PulseSink<SerialCommand>,
    /// A command is under way.
    pub busy: Signal<Out, Bit>,
    /// Word of the page to send or to keep, 0 to 63.
    pub word: Signal<Out, Bits<6>>,
    /// That word of the page.
    pub page_word: Signal<In, Bits<32>>,
    /// `gathered` is word `word` of what was read (one cycle).
    pub arrives: Signal<Out, Bit>,
    /// The last 32 bits read, first byte in bits 7:0.
    pub gathered: Signal<Out, Bits<32>>,
    /// Pins of the chips.
    pub lines: FlashLines,

    phase: DFF<SerialPhase>,
    taken: DFF<SerialCommand>,
    /// Cycle of the bit.
    tick: DFF<Bits<4>>,
    /// Bit of the opcode, the head, the word or the gap.
    place: DFF<Bits<6>>,
    /// Words of data that are done.
    done: DFF<Bits<7>>,
    level: DFF<Bit>,
    selected: DFF<Bits<2>>,
    out: DFF<Bit>,
    come: DFF<Bits<2>>,
    shifted: DFF<Bits<8>>,
    low_bytes: DFF<Bits<24>>,

    ends_bit: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    last_bit: Signal<Local, Bits<6>>,
    is_selected: Signal<Local, Bit>,
    chip: Signal<Local, Bits<2>>,
    head: Signal<Local, Bits<40>>,
    head_bit: Signal<Local, Bits<6>>,
    data_bit: Signal<Local, Bits<6>>,
    sampled: Signal<Local, Bit>,
    newest: Signal<Local, Bits<8>>,
    more: Signal<Local, Bits<7>>,
    #[value(1)]
    one: Constant<Bits<6>>,
    #[value(1)]
    one_tick: Constant<Bits<4>>,
    #[value(1)]
    one_word: Constant<Bits<7>>,
    #[value(15)]
    last_tick: Constant<Bits<4>>,
    #[value(WRITE_ENABLE)]
    enable: Constant<Bits<8>>,
    #[value(39)]
    head_first: Constant<Bits<6>>,
    /// Bits of a byte go highest first, bytes of a word lowest first.
    #[value(7)]
    byte_first: Constant<Bits<6>>,
}

impl Logic for FlashSerial {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, taken, tick, place, done, level, selected, out);
        dff_setup!(self, clock, come, shifted, low_bytes);
        self.head.next = self.taken.q.val().head;
        self.more.next = self.done.q.val() + self.one_word.val();
        self.ends_bit.next = self.tick.q.val() == self.last_tick.val();
        self.is_selected.next = (self.phase.q.val() == SerialPhase::Enable)
            | (self.phase.q.val() == SerialPhase::Head)
            | (self.phase.q.val() == SerialPhase::Data);

        // What each phase sends, and how many bits it has.
        self.head_bit.next = self.head_first.val() - self.place.q.val();
        self.data_bit.next = self.place.q.val() ^ self.byte_first.val();
        self.last_bit.next = bits::<6>(3);
        self.out.d.next = false;
        match self.phase.q.val() {
            SerialPhase::Idle => {}
            SerialPhase::Enable => {
                self.last_bit.next = bits::<6>(7);
                self.out.d.next = self.enable.val().get_bit(self.data_bit.val().index());
            }
            SerialPhase::Gap => {}
            SerialPhase::Head => {
                self.last_bit.next = bits::<6>(7);
                if self.taken.q.val().has_address {
                    self.last_bit.next = bits::<6>(39);
                }
                self.out.d.next = self.head.val().get_bit(self.head_bit.val().index());
            }
            SerialPhase::Data => {
                self.last_bit.next = bits::<6>(31);
                self.out.d.next = self.page_word.val().get_bit(self.data_bit.val().index())
                    & self.taken.q.val().writes;
            }
            SerialPhase::Close => {}
        }
        self.is_last.next = self.ends_bit.val() & (self.place.q.val() == self.last_bit.val());

        self.tick.d.next = self.tick.q.val() + self.one_tick.val();
        if self.ends_bit.val() {
            self.place.d.next = self.place.q.val() + self.one.val();
        }
        if self.is_last.val() {
            self.place.d.next = bits::<6>(0);
        }
        match self.phase.q.val() {
            SerialPhase::Idle => {
                self.tick.d.next = bits::<4>(0);
                self.place.d.next = bits::<6>(0);
                self.done.d.next = bits::<7>(0);
                if self.command.valid.val() {
                    self.taken.d.next = self.command.payload.val();
                    self.phase.d.next = SerialPhase::Head;
                    if self.command.payload.val().enables {
                        self.phase.d.next = SerialPhase::Enable;
                    }
                }
            }
            SerialPhase::Enable => {
                if self.is_last.val() {
                    self.phase.d.next = SerialPhase::Gap;
                }
            }
            SerialPhase::Gap => {
                if self.is_last.val() {
                    self.phase.d.next = SerialPhase::Head;
                }
            }
            SerialPhase::Head => {
                if self.is_last.val() {
                    self.phase.d.next = SerialPhase::Data;
                    if self.taken.q.val().words == bits::<7>(0) {
                        self.phase.d.next = SerialPhase::Close;
                    }
                }
            }
            SerialPhase::Data => {
                if self.is_last.val() {
                    self.done.d.next = self.more.val();
                    if self.more.val() == self.taken.q.val().words {
                        self.phase.d.next = SerialPhase::Close;
                    }
                }
            }
            SerialPhase::Close => {
                if self.is_last.val() {
                    self.phase.d.next = SerialPhase::Idle;
                }
            }
        }

        // Pins, a cycle later, each from a register.
        self.chip.next = bits::<2>(1);
        if self.taken.q.val().chip {
            self.chip.next = bits::<2>(2);
        }
        self.selected.d.next = bits::<2>(0);
        if self.is_selected.val() {
            self.selected.d.next = self.chip.val();
        }
        self.level.d.next = self.is_selected.val() & self.tick.q.val().get_bit(3);
        self.lines.serial_clock.next = self.level.q.val();
        self.lines.select.next = self.selected.q.val();
        self.lines.mosi.next = self.out.q.val();

        // The first byte of a word ends in its low bits.
        self.come.d.next = self.lines.miso.val();
        self.sampled.next = self.come.q.val().get_bit(0);
        if self.taken.q.val().chip {
            self.sampled.next = self.come.q.val().get_bit(1);
        }
        self.newest.next =
            (self.shifted.q.val() << 1) | bit_cast::<8, 1>(self.sampled.val().into());
        if self.ends_bit.val() {
            self.shifted.d.next = self.newest.val();
            if self.place.q.val().get_bits::<3>(0) == bits::<3>(7) {
                self.low_bytes.d.next =
                    (self.low_bytes.q.val() >> 8) | (bit_cast::<24, 8>(self.newest.val()) << 16);
            }
        }
        self.gathered.next = bit_cast::<32, 24>(self.low_bytes.q.val())
            | (bit_cast::<32, 8>(self.newest.val()) << 24);
        self.word.next = self.done.q.val().get_bits::<6>(0);
        self.arrives.next = (self.phase.q.val() == SerialPhase::Data)
            & self.is_last.val()
            & !self.taken.q.val().writes;
        self.busy.next = self.phase.q.val() != SerialPhase::Idle;
    }
}
