//! The MSI-X table: where each owner's interrupt is written and what.
//!
//! ```text
//!  settings ──► address, data, mask ──┬──► of `vector`, for the interrupt
//!                                     └──► word `read_index`, for the host
//! ```
//! Timing: reads are combinational; a write counts in the cycle after its pulse.
//!
//! Invariants:
//! 1. Every vector is masked after `reset`, and until the host clears bit 0 of its control word.
//!
//! Source: PCI Local Bus 3.0, 6.8.2; `abi::registers::MSIX_TABLE`. W must be O + 2.

use crate::owner::owner_set::OwnerSet;
use abi::registers;
use stream::prelude::*;

/// The table. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(W == O + 2, "W must be O + 2")]
pub struct MsixTable<const O: usize, const W: usize, const OWNERS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Masks every vector.
    pub reset: Signal<In, Bit>,
    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,

    /// Vector asked for by the interrupt.
    pub vector: Signal<In, Bits<O>>,
    /// Its message address.
    pub address: Signal<Out, Bits<64>>,
    /// Its message data.
    pub data: Signal<Out, Bits<32>>,
    /// Vectors that are not masked.
    pub unmasked: Signal<Out, Bits<OWNERS>>,

    /// Word of the table asked for by the host.
    pub read_index: Signal<In, Bits<W>>,
    /// Its value.
    pub read_value: Signal<Out, Bits<32>>,

    low: LutRam<Bits<32>, O>,
    high: LutRam<Bits<32>, O>,
    message: LutRam<Bits<32>, O>,
    read_copy: LutRam<Bits<32>, W>,
    open: OwnerSet<O, OWNERS>,

    offset: Signal<Local, Bits<24>>,
    written: Signal<Local, Bit>,
    word: Signal<Local, Bits<2>>,
    written_vector: Signal<Local, Bits<O>>,
    value: Signal<Local, Bits<32>>,
    high_wide: Signal<Local, Bits<64>>,
    read_word: Signal<Local, Bits<2>>,
    read_vector: Signal<Local, Bits<O>>,
    members: Signal<Local, Bits<OWNERS>>,
    #[value(u64::from(registers::MSIX_TABLE))]
    table_start: Constant<Bits<24>>,
    #[value(16 << O)]
    table_bytes: Constant<Bits<24>>,
    #[value(0)]
    low_word: Constant<Bits<2>>,
    #[value(1)]
    high_word: Constant<Bits<2>>,
    #[value(2)]
    data_word: Constant<Bits<2>>,
    #[value(3)]
    control_word: Constant<Bits<2>>,
    #[value(1)]
    is_masked: Constant<Bits<32>>,
    #[value(0)]
    is_open: Constant<Bits<32>>,
}

impl<const O: usize, const W: usize, const OWNERS: usize> Logic for MsixTable<O, W, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, low, high, message, read_copy, open);
        self.open.reset.next = self.reset.val();

        self.offset.next = self.settings.payload.val().address - self.table_start.val();
        self.value.next = self.settings.payload.val().data;
        self.written.next =
            self.settings.valid.val() & (self.offset.val() < self.table_bytes.val());
        self.word.next = self.offset.val().get_bits::<2>(2);
        self.written_vector.next = self.offset.val().get_bits::<O>(4);
        self.low.write_address.next = self.written_vector.val();
        self.low.write_data.next = self.value.val();
        self.low.write_enable.next = self.written.val() & (self.word.val() == self.low_word.val());
        self.high.write_address.next = self.written_vector.val();
        self.high.write_data.next = self.value.val();
        self.high.write_enable.next =
            self.written.val() & (self.word.val() == self.high_word.val());
        self.message.write_address.next = self.written_vector.val();
        self.message.write_data.next = self.value.val();
        self.message.write_enable.next =
            self.written.val() & (self.word.val() == self.data_word.val());
        self.read_copy.write_address.next = self.offset.val().get_bits::<W>(2);
        self.read_copy.write_data.next = self.value.val();
        self.read_copy.write_enable.next = self.written.val();
        self.open.add.next = self.written.val()
            & (self.word.val() == self.control_word.val())
            & !self.value.val().get_bit(0);
        self.open.add_owner.next = self.written_vector.val();
        self.open.remove.next = self.written.val() & (self.word.val() == self.control_word.val());
        self.open.remove_owner.next = self.written_vector.val();

        self.low.read_address.next = self.vector.val();
        self.high.read_address.next = self.vector.val();
        self.message.read_address.next = self.vector.val();
        self.high_wide.next = bit_cast::<64, 32>(self.high.read_data.val());
        self.address.next =
            (self.high_wide.val() << 32) | bit_cast::<64, 32>(self.low.read_data.val());
        self.data.next = self.message.read_data.val();
        self.members.next = self.open.members.val();
        self.unmasked.next = self.members.val();

        self.read_copy.read_address.next = self.read_index.val();
        self.read_word.next = self.read_index.val().get_bits::<2>(0);
        self.read_vector.next = self.read_index.val().get_bits::<O>(2);
        self.read_value.next = self.read_copy.read_data.val();
        if self.read_word.val() == self.control_word.val() {
            self.read_value.next = self.is_masked.val();
            if self.members.val().get_bit(self.read_vector.val().index()) {
                self.read_value.next = self.is_open.val();
            }
        }
    }
}
