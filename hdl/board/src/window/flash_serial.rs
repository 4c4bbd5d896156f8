//! One command of a flash chip at its pins.
//!
//! ```text
//!             enable (0x06)   gap   head: opcode, address   data            gap
//!   select  __/‾‾‾‾‾‾‾‾‾‾‾\_________/‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾\___________ ends
//!   mosi        8 bits              8 or 40 bits            page, or what miso is
//! ```
//! Timing: a bit is 64 ns: `serial_clock` is low for eight cycles and high for eight. `miso` is
//! taken 13 cycles after the falling edge: 52 ns for pads and chip.
//!
//! Invariants:
//! 1. `mosi` changes while the clock is low; the chip takes it at the rising edge (mode 0).
//! 2. While a chip is selected, it gets the enable opcode alone, or the head of the command taken
//!    and what follows it.
//!
//! Source: data sheet of the MT25QU01G (extended SPI, chapters on timing and commands).

use crate::window::flash_sequence::{FlashSequence, SerialCommand, SerialPhase};
use stream::prelude::*;

/// Pins of the flash chips, as levels.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "FlashSide"]
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

/// [`FlashLines`] from the other side.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "FlashLines"]
pub struct FlashSide {
    /// Clock of both chips.
    pub serial_clock: Signal<In, Bit>,
    /// Bit n: chip n is selected.
    pub select: Signal<In, Bits<2>>,
    /// Data to the chips.
    pub mosi: Signal<In, Bit>,
    /// Data of each chip.
    pub miso: Signal<Out, Bits<2>>,
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

    steps: FlashSequence,
    level: DFF<Bit>,
    selected: DFF<Bits<2>>,
    out: DFF<Bit>,
    come: DFF<Bits<2>>,
    shifted: DFF<Bits<8>>,
    low_bytes: DFF<Bits<24>>,

    taken: Signal<Local, SerialCommand>,
    phase: Signal<Local, SerialPhase>,
    place: Signal<Local, Bits<6>>,
    tick: Signal<Local, Bits<4>>,
    is_selected: Signal<Local, Bit>,
    chip: Signal<Local, Bits<2>>,
    head: Signal<Local, Bits<40>>,
    head_bit: Signal<Local, Bits<6>>,
    data_bit: Signal<Local, Bits<6>>,
    sampled: Signal<Local, Bit>,
    newest: Signal<Local, Bits<8>>,
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
        dff_setup!(self, clock, level, selected, out, come, shifted, low_bytes);
        clock!(self, clock, steps);
        PulseSink::<SerialCommand>::link(&mut self.command, &mut self.steps.command);
        self.taken.next = self.steps.taken.val();
        self.phase.next = self.steps.phase.val();
        self.place.next = self.steps.place.val();
        self.tick.next = self.steps.tick.val();
        self.busy.next = self.phase.val() != SerialPhase::Idle;
        self.word.next = self.steps.done.val().get_bits::<6>(0);

        // Pins, a cycle later, each from a register.
        self.head.next = self.taken.val().head;
        self.head_bit.next = self.head_first.val() - self.place.val();
        self.data_bit.next = self.place.val() ^ self.byte_first.val();
        self.out.d.next = false;
        if self.phase.val() == SerialPhase::Enable {
            self.out.d.next = self.enable.val().get_bit(self.data_bit.val().index());
        } else if self.phase.val() == SerialPhase::Head {
            self.out.d.next = self.head.val().get_bit(self.head_bit.val().index());
        } else if self.phase.val() == SerialPhase::Data {
            self.out.d.next =
                self.page_word.val().get_bit(self.data_bit.val().index()) & self.taken.val().writes;
        }
        self.is_selected.next = (self.phase.val() == SerialPhase::Enable)
            | (self.phase.val() == SerialPhase::Head)
            | (self.phase.val() == SerialPhase::Data);
        self.chip.next = bits::<2>(1);
        if self.taken.val().chip {
            self.chip.next = bits::<2>(2);
        }
        self.selected.d.next = bits::<2>(0);
        if self.is_selected.val() {
            self.selected.d.next = self.chip.val();
        }
        self.level.d.next = self.is_selected.val() & self.tick.val().get_bit(3);
        self.lines.serial_clock.next = self.level.q.val();
        self.lines.select.next = self.selected.q.val();
        self.lines.mosi.next = self.out.q.val();

        // The first byte of a word ends in its low bits.
        self.come.d.next = self.lines.miso.val();
        self.sampled.next = self.come.q.val().get_bit(0);
        if self.taken.val().chip {
            self.sampled.next = self.come.q.val().get_bit(1);
        }
        self.newest.next =
            (self.shifted.q.val() << 1) | bit_cast::<8, 1>(self.sampled.val().into());
        if self.steps.ends_bit.val() {
            self.shifted.d.next = self.newest.val();
            if self.place.val().get_bits::<3>(0) == bits::<3>(7) {
                self.low_bytes.d.next =
                    (self.low_bytes.q.val() >> 8) | (bit_cast::<24, 8>(self.newest.val()) << 16);
            }
        }
        self.gathered.next = bit_cast::<32, 24>(self.low_bytes.q.val())
            | (bit_cast::<32, 8>(self.newest.val()) << 24);
        self.arrives.next = (self.phase.val() == SerialPhase::Data)
            & self.steps.ends.val()
            & !self.taken.val().writes;
    }
}
