//! The MSI-X table: message address, data and mask of each vector.
//!
//! ```text
//!  settings ──► address, data, mask ──┬──► of `vector`, for the interrupt
//!                                     └──► word `read_index`, for the host
//! ```
//! Timing: reads are combinational; a write counts in the cycle after its pulse.
//!
//! Invariants:
//! 1. Every vector is masked after `reset`, until the host clears bit 0 of its control word.
//! 2. `TABLE_BITS` is `OWNER_BITS` + 2: four words for each vector.
//!
//! Source: PCI Local Bus 3.0, 6.8.2; `abi::registers::MSIX_TABLE`.

use crate::owner::owner_set::OwnerSet;
use abi::registers;
use stream::prelude::*;

/// The table. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(TABLE_BITS == OWNER_BITS + 2, "TABLE_BITS must be OWNER_BITS + 2")]
pub struct MsixTable<const OWNER_BITS: usize, const TABLE_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Masks every vector; addresses and data are kept.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,

    /// Vector whose message is requested by the interrupt.
    pub vector: Signal<In, Bits<OWNER_BITS>>,
    /// Message address of `vector`.
    pub address: Signal<Out, Bits<64>>,
    /// Message data of `vector`.
    pub data: Signal<Out, Bits<32>>,
    /// Vectors that are not masked.
    pub unmasked: Signal<Out, Bits<OWNERS>>,

    /// Index of the table word that the host reads.
    pub read_index: Signal<In, Bits<TABLE_BITS>>,
    /// Value of the word at `read_index`.
    pub read_value: Signal<Out, Bits<32>>,

    low: LutRam<Bits<32>, OWNER_BITS>,
    high: LutRam<Bits<32>, OWNER_BITS>,
    message: LutRam<Bits<32>, OWNER_BITS>,
    read_copy: LutRam<Bits<32>, TABLE_BITS>,
    open: OwnerSet<OWNER_BITS, OWNERS>,

    offset: Signal<Local, Bits<24>>,
    written: Signal<Local, Bit>,
    word: Signal<Local, Bits<2>>,
    written_vector: Signal<Local, Bits<OWNER_BITS>>,
    value: Signal<Local, Bits<32>>,
    high_wide: Signal<Local, Bits<64>>,
    read_word: Signal<Local, Bits<2>>,
    read_vector: Signal<Local, Bits<OWNER_BITS>>,
    members: Signal<Local, Bits<OWNERS>>,
    #[value(u64::from(registers::MSIX_TABLE))]
    table_start: Constant<Bits<24>>,
    #[value(16 << OWNER_BITS)]
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

impl<const OWNER_BITS: usize, const TABLE_BITS: usize, const OWNERS: usize> Logic
    for MsixTable<OWNER_BITS, TABLE_BITS, OWNERS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, low, high, message, read_copy, open);
        self.open.reset.next = self.reset.val();

        self.offset.next = self.settings.payload.val().address - self.table_start.val();
        self.value.next = self.settings.payload.val().data;
        self.written.next =
            self.settings.valid.val() & (self.offset.val() < self.table_bytes.val());
        self.word.next = self.offset.val().get_bits::<2>(2);
        self.written_vector.next = self.offset.val().get_bits::<OWNER_BITS>(4);
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
        self.read_copy.write_address.next = self.offset.val().get_bits::<TABLE_BITS>(2);
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
        self.read_vector.next = self.read_index.val().get_bits::<OWNER_BITS>(2);
        self.read_value.next = self.read_copy.read_data.val();
        if self.read_word.val() == self.control_word.val() {
            self.read_value.next = self.is_masked.val();
            if self.members.val().get_bit(self.read_vector.val().index()) {
                self.read_value.next = self.is_open.val();
            }
        }
    }
}
