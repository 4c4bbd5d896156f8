//! Computes the tables of [`crate::flow_table::toeplitz_hash`] from the secrets, one entry per
//! cycle.
//!
//! ```text
//!  settings ──► words of both secrets ──► window of 24 bits (3 bytes) ──► row of a key bit
//!                                                                          │
//!                    write ◄── register ◄── entry ◄──────────────── ^ ◄────┘
//! ```
//! Table `t` has for every value of key byte `t` the sum (exclusive or) of the rows of that byte's
//! ones; the row of key bit `k` is bits `k + 15 : k` of each secret. The entries come in Gray
//! order: each differs from the one before by one row.
//!
//! Timing: from power-up, and from every write of a secret, `busy` lasts [`REWRITE_CYCLES`], that
//! is 12,339 cycles. A write in between starts again.
//!
//! Invariants:
//! 1. While `busy` is low the tables are those of the secrets; secrets never written are 0.
//! 2. A start of an epoch changes neither secrets nor tables.
//!
//! Source: `docs/specification.md`, Hash secrets.

use abi::flow_key::{KEY_BYTES, SECRET_WORDS};
use abi::registers::{HASH_SECRET, HASH_SECRET_STRIDE};
use stream::prelude::*;

const _: () = assert!(KEY_BYTES == 48 && SECRET_WORDS <= 16);
const _: () =
    assert!(HASH_SECRET.is_multiple_of(2 * HASH_SECRET_STRIDE) && HASH_SECRET_STRIDE == 64);

/// Cycles from power-up, and from the write of a secret, until the tables belong to it.
pub const REWRITE_CYCLES: u64 = KEY_BYTES as u64 * 257 + 3;

/// One entry of one table.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ToeplitzEntry {
    /// Number of the table: the byte of the key.
    pub table: Bits<6>,
    /// Number of the entry: the value of the key byte.
    pub address: Bits<8>,
    /// What the byte adds to the hashes: bank 0 in bits 15:0, bank 1 in bits 31:16.
    pub data: Bits<32>,
}

/// The computation. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ToeplitzFill {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Register writes of the host; the secrets are taken from them.
    pub settings: PulseSink<RegisterWrite>,
    /// The tables do not yet belong to the secrets.
    pub busy: Signal<Out, Bit>,
    /// Entries to write in the cycle of the pulse.
    pub write: PulseSource<ToeplitzEntry>,

    filled: DFF<Bit>,
    summing: DFF<Bit>,
    place: DFF<Bits<6>>,
    step: DFF<Bits<8>>,
    window_low: DFF<Bits<24>>,
    window_high: DFF<Bits<24>>,
    entry: DFF<Bits<32>>,
    written: DFF<Bit>,
    held: DFF<ToeplitzEntry>,

    words_low: LutRam<Bits<32>, 4>,
    words_high: LutRam<Bits<32>, 4>,

    named: Signal<Local, Bits<24>>,
    chosen: Signal<Local, Bit>,
    shift: Signal<Local, Bits<5>>,
    byte_low: Signal<Local, Bits<32>>,
    byte_high: Signal<Local, Bits<32>>,
    rank: Signal<Local, Bits<3>>,
    row_low: Signal<Local, Bits<24>>,
    row_high: Signal<Local, Bits<24>>,

    #[value(u64::from(HASH_SECRET / (2 * HASH_SECRET_STRIDE)))]
    page: Constant<Bits<17>>,
    #[value(1)]
    one_place: Constant<Bits<6>>,
    #[value(2)]
    ahead: Constant<Bits<6>>,
    #[value(KEY_BYTES as u64 + 2)]
    places: Constant<Bits<6>>,
    #[value(1)]
    one_step: Constant<Bits<8>>,
    #[value(255)]
    last_step: Constant<Bits<8>>,
}

impl Logic for ToeplitzFill {
    #[hdl_gen]
    #[rustfmt::skip]
    fn update(&mut self) {
        dff_setup!(
            self, clock, filled, summing, place, step, window_low, window_high, entry, written, held
        );
        clock!(self, clock, words_low, words_high);
        self.busy.next = !self.filled.q.val() | self.written.q.val();
        self.write.valid.next = self.written.q.val();
        self.write.payload.next = self.held.q.val();

        // The secrets, and the byte of each that enters the window next.
        self.named.next = self.settings.payload.val().address;
        self.chosen.next = self.settings.valid.val()
            & (self.named.val().get_bits::<17>(7) == self.page.val());
        self.words_low.write_address.next = self.named.val().get_bits::<4>(2);
        self.words_low.write_data.next = self.settings.payload.val().data;
        self.words_low.write_enable.next = self.chosen.val() & !self.named.val().get_bit(6);
        self.words_high.write_address.next = self.named.val().get_bits::<4>(2);
        self.words_high.write_data.next = self.settings.payload.val().data;
        self.words_high.write_enable.next = self.chosen.val() & self.named.val().get_bit(6);
        self.words_low.read_address.next = self.place.q.val().get_bits::<4>(2);
        self.words_high.read_address.next = self.place.q.val().get_bits::<4>(2);
        self.shift.next = bit_cast::<5, 6>(self.place.q.val()) << 3;
        self.byte_low.next = self.words_low.read_data.val() >> self.shift.val();
        self.byte_high.next = self.words_high.read_data.val() >> self.shift.val();

        // Step s to s + 1 changes the bit of the Gray code whose number is the ones at s's end.
        self.rank.next = 7.into();
        if !self.step.q.val().get_bit(6) { self.rank.next = 6.into(); }
        if !self.step.q.val().get_bit(5) { self.rank.next = 5.into(); }
        if !self.step.q.val().get_bit(4) { self.rank.next = 4.into(); }
        if !self.step.q.val().get_bit(3) { self.rank.next = 3.into(); }
        if !self.step.q.val().get_bit(2) { self.rank.next = 2.into(); }
        if !self.step.q.val().get_bit(1) { self.rank.next = 1.into(); }
        if !self.step.q.val().get_bit(0) { self.rank.next = 0.into(); }
        self.row_low.next = self.window_low.q.val() >> self.rank.val();
        self.row_high.next = self.window_high.q.val() >> self.rank.val();

        self.written.d.next = self.summing.q.val();
        if self.summing.q.val() {
            // Writes one table, entry after entry.
            self.held.d.next.address = self.step.q.val() ^ (self.step.q.val() >> 1);
            self.held.d.next.data = self.entry.q.val();
            self.step.d.next = self.step.q.val() + self.one_step.val();
            self.entry.d.next = self.entry.q.val()
                ^ bit_cast::<32, 16>(self.row_low.val().get_bits::<16>(0))
                ^ (bit_cast::<32, 16>(self.row_high.val().get_bits::<16>(0)) << 16);
            if self.step.q.val() == self.last_step.val() {
                self.summing.d.next = false;
                self.filled.d.next = self.place.q.val() == self.places.val();
            }
        } else if !self.filled.q.val() {
            // Moves the windows on by a byte; from the third byte on one is whole.
            self.window_low.d.next = (self.window_low.q.val() >> 8)
                | (bit_cast::<24, 32>(self.byte_low.val()) << 16);
            self.window_high.d.next = (self.window_high.q.val() >> 8)
                | (bit_cast::<24, 32>(self.byte_high.val()) << 16);
            self.held.d.next.table = self.place.q.val() - self.ahead.val();
            self.place.d.next = self.place.q.val() + self.one_place.val();
            self.entry.d.next = 0.into();
            self.summing.d.next = self.place.q.val() >= self.ahead.val();
        }
        if self.chosen.val() {
            self.filled.d.next = false;
            self.summing.d.next = false;
            self.place.d.next = 0.into();
            self.step.d.next = 0.into();
        }
    }
}
